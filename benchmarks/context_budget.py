"""How many tokens the context block takes for the evidence it tells, beside ten raw turns.

Every system tells what it found for the same questions; `evidence_recall` is the share of a question's evidence that is
told, and `tokens` is what the text costs, by biem's own estimate (a CJK character or four others are one token).

    raw-hybrid   the ten best turns of a plain Milvus hybrid search, speaker and text, one a line
    raw-biem     the ten best turns of biem's recall, in the same form
    biem         biem's block with its defaults, which tells nothing where it is not sure enough
    biem-equal   biem's block with the fewest memories at which it tells as much evidence as raw-hybrid does

`ratio` compares with raw-hybrid; that of `biem-equal` is the price of the same evidence recall. Its number of memories
is chosen on these very questions, as one constant for all of them. An item counts as told although a long text is cut
to the sentences that the question is about: `answer_kept` is the share of the answer's words in the evidence told that
the text still shows (words of the question apart), so that a block cannot win by cutting answers out.
"""

import argparse
import gzip
import json
import sys
import tempfile
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import biem
from benchmarks import _report
from benchmarks._data import Conversation, Question, Turn, data_name, read_conversations
from benchmarks._embedders import PassageCache, choose_embedder
from benchmarks._hybrid import MilvusHybrid
from benchmarks._options import on_conversations
from benchmarks._systems import Biem
from biem.adapters.analyzers import RuleAnalyzer
from biem.bootstrap import servers
from biem.config import load_settings
from biem.engine.context import Reader, estimate_tokens, render
from biem.errors import BiemError

_MOST = 10
_ROOM = 1_000_000
_COLUMNS = ("data", "system", "n", "items", "evidence_recall", "tokens", "ratio", "answer_kept")


@dataclass
class Told:
    """What one system told, summed over the questions."""

    questions: int = 0
    items: int = 0
    recall: float = 0.0
    tokens: int = 0
    answer_words: int = 0
    answer_words_kept: int = 0

    def row(self, data: str, system: str, raw: "Told") -> dict[str, object]:
        """The averages."""
        count = max(1, self.questions)
        kept = self.answer_words_kept / self.answer_words if self.answer_words else None
        return {
            "data": data,
            "system": system,
            "n": self.questions,
            "items": self.items / count,
            "evidence_recall": self.recall / count,
            "tokens": self.tokens / count,
            "ratio": self.tokens / max(1, raw.tokens),
            "answer_kept": kept,
        }


@dataclass
class Tally:
    """All systems; `blocks[k]` is biem's block of at most k memories."""

    raw: Told = field(default_factory=Told)
    own: Told = field(default_factory=Told)
    blocks: dict[int, Told] = field(default_factory=lambda: {k: Told() for k in range(1, _MOST + 1)})

    def rows(self, data: str, default: int) -> Iterator[dict[str, object]]:
        """A row a system; none for an equal recall that ten memories do not reach."""
        yield self.raw.row(data, "raw-hybrid", self.raw)
        yield self.own.row(data, "raw-biem", self.raw)
        yield self.blocks[default].row(data, "biem", self.raw)
        enough = (k for k in self.blocks if self.blocks[k].recall >= self.raw.recall)
        if (fewest := next(enough, None)) is not None:
            yield self.blocks[fewest].row(data, f"biem-equal (k={fewest})", self.raw)


class Judge:
    """Counts what was told of a question's evidence and answer."""

    def __init__(self, answers: Mapping[tuple[str, str], str]) -> None:
        self._answers = answers
        self._terms = RuleAnalyzer().lexemes

    def count(self, told: Told, conversation: Conversation, question: Question, ids: Sequence[str], text: str) -> None:
        """Add one question, for which `text` told these turns."""
        turns: Mapping[str, Turn] = {turn.id: turn for turn in conversation.turns}
        told.questions += 1
        told.items += len(ids)
        told.tokens += estimate_tokens(text)
        told.recall += sum(not group.isdisjoint(ids) for group in question.groups) / len(question.groups)
        answer = set(self._terms(self._answers.get((conversation.id, question.id), "")))
        answer -= set(self._terms(question.text))
        shown, gold = set(self._terms(text)), set().union(*question.groups)
        for key in ids:
            if key in gold and answer:
                there = answer & set(self._terms(turns[key].text))
                told.answer_words += len(there)
                told.answer_words_kept += len(there & shown)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; biem's exit codes."""
    parser = argparse.ArgumentParser("python -m benchmarks.context_budget", description=__doc__)
    on_conversations(parser)
    options = parser.parse_args(arguments)
    rows: list[dict[str, object]] = []
    try:
        for file in options.data:
            rows += measure(file, options)
    except BiemError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    _report.print_table("Tokens for evidence", _COLUMNS, rows)
    if options.json:
        line = _report.command("benchmarks.context_budget", sys.argv[1:] if arguments is None else arguments)
        _report.write_json(options.json, line, rows, embedder=options.embedder)
    return 0


def measure(file: Path, options: argparse.Namespace) -> list[dict[str, object]]:
    """The rows of one file."""
    conversations = list(read_conversations(file, options.limit_conversations, options.limit_questions))
    judge, tally, terms_of = Judge(_answers(file)), Tally(), RuleAnalyzer().lexemes
    policy = load_settings().context
    with _built(options, conversations[0].lang) as (hybrid, own), _report.progress() as bar:
        for system in (hybrid, own):
            task = bar.add_task(f"load {system.name}", total=len(conversations))
            for conversation in conversations:
                system.load(conversation)
                bar.advance(task)
            system.ready()
        task = bar.add_task("ask", total=sum(len(conversation.questions) for conversation in conversations))
        for conversation in conversations:
            lines = {turn.id: turn.indexed_text for turn in conversation.turns}
            for question in conversation.questions:
                found = hybrid.ask(conversation, question)[:_MOST]
                judge.count(tally.raw, conversation, question, found, "\n".join(lines[key] for key in found))
                hits = own.recalled(conversation, question)
                keys = [hit.node.ref or "" for hit in hits]
                judge.count(tally.own, conversation, question, keys, "\n".join(lines[key] for key in keys))
                reader = Reader(set(terms_of(question.text)), terms_of)
                for count, told in tally.blocks.items():
                    sure = hits[:count] if hits.confidence >= policy.min_confidence else []
                    block = render(sure, policy, _ROOM, (), reader)
                    shown = [hit.node.ref or "" for hit in block.hits]
                    judge.count(told, conversation, question, shown, block.text)
                bar.advance(task)
    return list(tally.rows(data_name(file), policy.top_k))


class Recalling(Biem):
    """biem's ten best hits themselves."""

    def recalled(self, conversation: Conversation, question: Question) -> biem.Hits:
        """One `recall`; `before` becomes `until` the time of that turn."""
        until = None
        if question.before is not None and question.before < len(conversation.turns):
            until = conversation.turns[question.before].at
        return self._scopes[conversation.id].recall(question.text, top_k=_MOST, until=until)


@contextmanager
def _built(options: argparse.Namespace, lang: str) -> Iterator[tuple[MilvusHybrid, Recalling]]:
    with ExitStack() as stack:
        home = stack.enter_context(tempfile.TemporaryDirectory(prefix="biem-bench-", ignore_cleanup_errors=True))
        settings = load_settings().model_copy(update={"home": Path(home)})
        embedder = PassageCache(choose_embedder(options.embedder, settings), options.cache)
        stack.enter_context(closing(embedder))
        where = stack.enter_context(servers(settings))
        memory = stack.enter_context(biem.connect(settings, embedder=embedder))
        name = uuid.uuid4().hex[:12]
        hybrid = stack.enter_context(closing(MilvusHybrid(where, embedder, lang, f"benchmark_context_{name}")))
        yield hybrid, stack.enter_context(closing(Recalling(where, memory, f"benchmark-{name}")))


def _answers(file: Path) -> dict[tuple[str, str], str]:
    """The answer of each question, where the data has one."""
    opener = gzip.open if file.suffix == ".gz" else open
    with opener(file, "rt", encoding="utf-8") as lines:
        return {
            (str(raw["id"]), str(question.get("qid") or question["question"])): str(question.get("answer") or "")
            for raw in map(json.loads, filter(str.strip, lines))
            for question in raw["questions"]
        }


if __name__ == "__main__":
    sys.exit(main())
