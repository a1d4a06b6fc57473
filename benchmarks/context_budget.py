"""How many tokens the context block takes for the evidence in it, compared with ten raw turns.

Every system tells what it found for the same questions; `evidence_recall` is the share of a question's evidence that is
told, and `tokens` is what the text costs, by biem's own estimate (a CJK character or four others are one token).

    raw-hybrid   the ten best turns of a plain Milvus hybrid search, speaker and text, one a line
    raw-biem     the ten best turns of biem's recall, in the same form
    biem         biem's block with its defaults, which tells nothing where it is not sure enough
    biem-equal   biem's block with the `top_k` and `budget_tokens` that cost least of those with which it tells as much
                 evidence as raw-hybrid does

`ratio` compares with raw-hybrid; that of `biem-equal` is the price of the same evidence recall. Its two settings are
chosen on these very questions, as constants for all of them. An item counts as told although a long text is cut
to the sentences that the question is about: `answer_kept` is the share of the answer's words in the evidence told that
the text still shows (words of the question apart), so that a block cannot win by cutting answers out.
"""

import argparse
import gzip
import json
import sys
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path

import biem
from benchmarks import _report
from benchmarks._data import Conversation, Question, Turn, data_name
from benchmarks._embedders import PassageCache
from benchmarks._hybrid import MilvusHybrid
from benchmarks._memories import Told, arguments, drawn, load, opened_beside
from biem.adapters import contradiction
from biem.adapters.analyzers import RuleAnalyzer
from biem.bootstrap import Servers
from biem.config import load_settings
from biem.domain.tokens import estimate_tokens
from biem.engine.context.block import BlockReader, render
from biem.engine.context.picking import LOOKED_AT, Picker
from biem.errors import BiemError

_MOST = 10
_COUNTS = (3, 4, 5, 10)
_BUDGETS = (80, 100, 120, 140, 150, 160, 175, 190, 205, 220, 260, 320, 400, 500)
"""Settings of the block that are tried: memories, and tokens, finer where most answers lie."""
_COLUMNS = ("data", "system", "n", "items", "evidence_recall", "tokens", "ratio", "answer_kept")


@dataclass
class Shown:
    """What one system told, summed over the questions."""

    questions: int = 0
    items: int = 0
    recall: float = 0.0
    tokens: int = 0
    answer_words: int = 0
    answer_words_kept: int = 0

    def row(self, data: str, system: str, raw: "Shown") -> dict[str, object]:
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
    """All systems; `blocks[k, budget]` is biem's block of at most k memories and this many tokens."""

    raw: Shown = field(default_factory=Shown)
    own: Shown = field(default_factory=Shown)
    blocks: dict[tuple[int, int], Shown] = field(default_factory=dict)

    def rows(self, data: str, default: tuple[int, int]) -> Iterator[dict[str, object]]:
        """A row a system; none for an equal recall that no block reaches."""
        yield self.raw.row(data, "raw-hybrid", self.raw)
        yield self.own.row(data, "raw-biem", self.raw)
        yield self.blocks[default].row(data, "biem", self.raw)
        enough = [setting for setting, told in self.blocks.items() if told.recall >= self.raw.recall]
        if enough:
            count, budget = min(enough, key=lambda setting: self.blocks[setting].tokens)
            name = f"biem-equal (top_k={count}, budget_tokens={budget})"
            yield self.blocks[count, budget].row(data, name, self.raw)


@dataclass(frozen=True, slots=True)
class Beside:
    """What the plain search shares with biem."""

    where: Servers
    embedder: PassageCache


class Judge:
    """Counts the returned parts of a question's evidence and answer."""

    def __init__(self, answers: Mapping[tuple[str, str], str]) -> None:
        self._answers = answers
        self._lexemes = RuleAnalyzer().lexemes
        self._known: dict[str, Sequence[str]] = {}

    def terms(self, text: str) -> Sequence[str]:
        """The index terms of a text; most texts come again."""
        found = self._known.get(text)
        if found is None:
            found = self._known[text] = self._lexemes(text)
        return found

    def count(self, told: Shown, conversation: Conversation, question: Question, ids: Sequence[str], text: str) -> None:
        """Add one question, for which `text` told these turns."""
        told.questions += 1
        told.items += len(ids)
        told.tokens += estimate_tokens(text)
        told.recall += sum(not group.isdisjoint(ids) for group in question.groups) / len(question.groups)
        answer = set(self.terms(self._answers.get((conversation.id, question.id), "")))
        answer -= set(self.terms(question.text))
        gold = [key for key in ids if key in set().union(*question.groups)]
        if not answer or not gold:
            return
        turns: Mapping[str, Turn] = {turn.id: turn for turn in conversation.turns}
        shown = set(self._lexemes(text))
        for key in gold:
            if there := answer & set(self.terms(turns[key].text)):
                told.answer_words += len(there)
                told.answer_words_kept += len(there & shown)


def main(argv: Sequence[str] | None = None) -> int:
    """The command line; biem's exit codes."""
    parser = argparse.ArgumentParser("python -m benchmarks.context_budget", description=__doc__)
    arguments(parser)
    parser.add_argument("--questions", type=int, default=0, metavar="N", help="at most so many of each file, drawn")
    options = parser.parse_args(argv)
    rows: list[dict[str, object]] = []
    try:
        with opened_beside(options) as (memory, where, embedder):
            for file in options.data:
                rows += measure(memory, Beside(where, embedder), file, options)
    except BiemError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    _report.print_table("Tokens for evidence", _COLUMNS, rows)
    if options.json:
        line = _report.command("benchmarks.context_budget", sys.argv[1:] if argv is None else argv)
        _report.write_json(options.json, line, rows, embedder=options.embedder)
    return 0


def measure(memory: biem.Memory, beside: Beside, file: Path, options: argparse.Namespace) -> list[dict[str, object]]:
    """The rows of one file."""
    told = load(memory, file, options)
    chosen = drawn(told, options.questions)
    policy = load_settings().context
    default = policy.top_k, policy.budget_tokens
    settings = dict.fromkeys([default, *product(_COUNTS, _BUDGETS)])
    picker = Picker(contradiction.build(), RuleAnalyzer(), policy)
    judge, tally = Judge(_answers(file)), Tally(blocks={setting: Shown() for setting in settings})
    with closing(_hybrid(beside, told)) as hybrid, _report.progress() as bar:
        task = bar.add_task("ask", total=len(chosen))
        for place, question in chosen:
            one = told[place]
            conversation = one.conversation
            lines = {turn.id: turn.indexed_text for turn in conversation.turns}
            found = hybrid.ask(conversation, question)[:_MOST]
            judge.count(tally.raw, conversation, question, found, "\n".join(lines[key] for key in found))
            hits = one.memory.recall(question.text, top_k=LOOKED_AT, **one.options(question))
            keys = [hit.node.ref or "" for hit in hits[:_MOST]]
            judge.count(tally.own, conversation, question, keys, "\n".join(lines[key] for key in keys))
            reader = BlockReader(set(judge.terms(question.text)), judge.terms)
            counts = {count for count, _ in tally.blocks}
            worth = {
                count: picker.pick(hits, question.text, hits.confidence, count, hits.grounds.get("personal", 0.0))
                for count in counts
            }
            for (count, budget), block_told in tally.blocks.items():
                block = render(worth[count], policy, budget, (), reader, count)
                refs = [hit.node.ref or "" for hit in block.hits]
                judge.count(block_told, conversation, question, refs, block.text)
            bar.advance(task)
    return list(tally.rows(data_name(file), default))


def _hybrid(beside: Beside, told: Sequence[Told]) -> MilvusHybrid:
    """The plain search, with the same turns."""
    name = f"benchmark_context_{uuid.uuid4().hex[:12]}"
    hybrid = MilvusHybrid(beside.where, beside.embedder, told[0].conversation.lang, name)
    with _report.progress() as bar:
        task = bar.add_task("load hybrid", total=len(told))
        for one in told:
            hybrid.load(one.conversation)
            bar.advance(task)
    hybrid.ready()
    return hybrid


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
