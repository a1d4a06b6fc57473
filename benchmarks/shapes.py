"""Does structure that is missing or misleading cost answers? `python -m benchmarks.shapes --data FOLDER…`

Every set of conversations in the folders (or files) is asked again with its structure replaced: bare facts (no speaker,
conversation or time), a label per topic, random labels, one label, shuffled turns, no times (an import within minutes),
equal times, one speaker, all conversations in one scope, ten thousand turns of other sets added; and product-like
sets made of `benchmarks.lives`: facts as an extractor keeps them, the same under topic labels, tickets, a diary, a
channel log, many short facts about many people, and three written collections (support tickets, a household's log, a
game master's notes). `--embedder` names another embedder, for a separate run.

Of each set `--conversations` are taken, of each of these `--questions` questions, and `--turns` turns: those that the
questions need, and others by chance. R@10 of biem, BM25, dense and hybrid in the same run; `margin`: biem less
the better of BM25 and hybrid. With `--offline` biem's ranking and hybrid run in memory (`benchmarks._offline`), many
times faster: to compare rankings, since links, conflicts and the servers' own search take no part.
"""

import argparse
import sys
import tempfile
import uuid
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from random import Random

import biem
from benchmarks import _report
from benchmarks._baselines import Bm25, Dense, System
from benchmarks._data import Conversation, Turn, data_name, read_conversations
from benchmarks._embedders import PassageCache, choose_embedder
from benchmarks._hybrid import MilvusHybrid
from benchmarks._offline import Fused, InMemory
from benchmarks._options import positive
from benchmarks._shapes import SHAPES, cut, products, shaped, together
from benchmarks._systems import Biem
from benchmarks.lives.grammar import Lang
from benchmarks.metrics import mean, score
from biem.bootstrap import Servers, servers
from biem.config import load_settings
from biem.errors import BiemError, InvalidInput

_SYSTEMS = ("bm25", "dense", "hybrid", "biem")
_COLUMNS = ("data", "what", "n", *_SYSTEMS, "margin")
_BESIDE = 10_000
_LANGS: tuple[Lang, ...] = ("en", "zh")


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; biem's exit codes."""
    options = _options(arguments)
    rows: list[dict[str, object]] = []
    line = _report.command("benchmarks.shapes", sys.argv[1:] if arguments is None else arguments)
    try:
        with ExitStack() as stack:
            bench = Bench(options, stack)
            for data, shape, conversations in collections(options):
                rows.append(bench.row(data, shape, conversations))
                print(f"{data}, {shape}: {rows[-1]['margin']:+.3f}", file=sys.stderr)
                if options.json:
                    _report.write_json(options.json, line, rows, embedder=options.embedder)
    except BiemError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    margins = [float(str(row["margin"])) for row in rows]
    _report.print_table("R@10 in other shapes", _COLUMNS, rows)
    if margins:
        print(f"margin: mean {sum(margins) / len(margins):+.3f}, least {min(margins):+.3f}")
    return 0


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        "python -m benchmarks.shapes", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", nargs="*", type=Path, default=[], metavar="PATH", help="files, or folders of them")
    parser.add_argument("--shapes", nargs="+", metavar="NAME", help="only these (default: all)")
    parser.add_argument("--conversations", type=positive, default=2, metavar="N", help="of each set (default: 2)")
    parser.add_argument(
        "--questions", type=positive, default=20, metavar="N", help="of each conversation (default: 20)"
    )
    parser.add_argument("--turns", type=positive, default=300, metavar="N", help="of each conversation (default: 300)")
    parser.add_argument("--beside", type=positive, default=_BESIDE, metavar="N", help="turns of other sets")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of what is drawn (default: 0)")
    parser.add_argument("--embedder", default="e5", help="synthetic, or a provider as in the settings (default: e5)")
    parser.add_argument("--offline", action="store_true", help="rank in memory, without servers")
    parser.add_argument("--cache", type=Path, metavar="DIR", help="keep the vectors of passages there for the next run")
    parser.add_argument("--json", type=Path, metavar="OUT", help="write the rows there, too")
    return parser.parse_args(arguments)


def collections(options: argparse.Namespace) -> Iterator[tuple[str, str, list[Conversation]]]:
    """Each set in each shape that was asked for."""
    sets = dict(_sets(options))
    wanted = set(options.shapes or ())

    def asked_for(shape: str) -> bool:
        return not wanted or shape in wanted

    for data, conversations in sets.items():
        for shape in filter(asked_for, SHAPES):
            yield data, shape, shaped(conversations, shape, Random(f"{options.seed} {shape}"))
        if asked_for("one scope"):
            yield data, "one scope", together(conversations)
        if asked_for("beside others"):
            yield data, "beside others", together(conversations, _others(options, data, sets))
    for lang in _LANGS:
        for name, conversations in products(options.seed, lang, options.questions).items():
            if asked_for(name):
                yield f"made_{lang}", name, conversations


def _sets(options: argparse.Namespace) -> Iterator[tuple[str, list[Conversation]]]:
    for file in _files(options.data):
        random = Random(options.seed)
        try:
            read = list(read_conversations(file, options.conversations))
        except InvalidInput:
            print(f"{file.name}: no conversations, left out", file=sys.stderr)
            continue
        found = [cut(one, options.questions, options.turns, random) for one in read if one.questions]
        if found:
            yield data_name(file), found


def _files(paths: Sequence[Path]) -> Iterator[Path]:
    for path in paths:
        yield from sorted(path.glob("*.jsonl*")) if path.is_dir() else [path]


def _others(options: argparse.Namespace, data: str, sets: dict[str, list[Conversation]]) -> list[Turn]:
    """Turns of the other sets, as many as are asked for or there are."""
    found: list[Turn] = []
    for file in _files(options.data):
        if data_name(file) != data and data_name(file) in sets:
            for one in read_conversations(file):
                found += [turn for turn in one.turns if turn.text.strip()]
                if len(found) >= 2 * options.beside:
                    break
    return Random(options.seed).sample(found, min(options.beside, len(found)))


class Bench:
    """One store for the whole run; every set and shape has its own collection and tenant."""

    def __init__(self, options: argparse.Namespace, stack: ExitStack) -> None:
        home = stack.enter_context(tempfile.TemporaryDirectory(prefix="biem-bench-", ignore_cleanup_errors=True))
        settings = load_settings().model_copy(update={"home": Path(home)})
        embedder = choose_embedder(options.embedder, settings)
        self._embedder = PassageCache(embedder, options.cache, queries=True)
        stack.enter_context(closing(self._embedder))
        self._settings = settings
        self._where: Servers | None = None if options.offline else stack.enter_context(servers(settings))
        if not options.offline:
            self._memory = stack.enter_context(biem.connect(settings, embedder=self._embedder))

    def row(self, data: str, shape: str, conversations: Sequence[Conversation]) -> dict[str, object]:
        """R@10 of every system."""
        with ExitStack() as stack:
            systems: tuple[System, ...] = (Bm25(), Dense(self._embedder), *self._systems(conversations[0].lang, stack))
            found = {system.name: _recall_10(system, conversations) for system in systems}
        count = sum(len(one.questions) for one in conversations)
        margin = found["biem"] - max(found["bm25"], found["hybrid"])
        return {"data": data, "what": shape, "n": count, **found, "margin": margin}

    def _systems(self, lang: str, stack: ExitStack) -> tuple[System, System]:
        """Hybrid and biem, closed with `stack`."""
        if self._where is None:
            return Fused(self._embedder), InMemory(self._embedder, self._settings)
        name = uuid.uuid4().hex[:12]
        own = stack.enter_context(closing(Biem(self._where, self._memory, f"shapes-{name}")))
        hybrid = stack.enter_context(closing(MilvusHybrid(self._where, self._embedder, lang, f"shapes_{name}")))
        return hybrid, own


def _recall_10(system: System, conversations: Sequence[Conversation]) -> float:
    for one in conversations:
        system.load(one)
    system.ready()
    scores = []
    for one in conversations:
        session_of = {turn.id: turn.session for turn in one.turns}
        for question in one.questions:
            found = system.ask(one, question)
            scores.append(score(found, question.groups, session_of, question.sessions))
    return float(str(mean(scores).as_row()["R@10"]))


if __name__ == "__main__":
    sys.exit(main())
