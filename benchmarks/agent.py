"""What an agent gets: `python -m benchmarks.agent [--lang en|zh|mixed] [--seed N] [--lives K] [--pairs N]`.

Lives are made by `benchmarks.lives` (facts, how they change, small talk, hearsay, plans, jokes, courtesies, over some
months) and told to biem message by message through `BIEMContextPlugin` with its defaults, with nights between sessions.
Questions are asked during the life, a day after its end, and of what never expires four months later. Each line of the
block is judged by the turn that it stands for, never by its words.

    answer            every value asked for stands in the block, for questions whose answer was mentioned
    things            share of the values asked for that stand in the block
    first             of these, the first line answers; `recall_first`: the first hit of `recall` does
    precision         lines about the matter that was asked for, of all lines for the same questions
    stale_above       of the questions about what changed: a former value stands above the valid one, or in its place
    stale_unmarked    … stands there without "until", "disputed", or its date below the valid value
    silent            the block is empty though the answer was mentioned; `told_unknown`: it is not, though nothing was
    told_unmarked     `told_unknown` without the sentence that the lines may not answer; `doubted`: of the blocks with
                      the answer, those with that sentence
    acknowledgements  lines that only say "Noted.", "好的" and the like

Pairs (`--pairs N`): two messages of one user in a separate scope; innocent ones agree with each other, updates
replace the first. `retired`: of a thousand innocent pairs, how often the first no longer holds afterwards; `disputed`:
how often it is marked as disputed; `displaced`: how often the second stands above the first in a block for the first,
or in its place; `effect`: share of updates after which the first no longer holds; `noticed`: or is
disputed; `shown`: or both stand in the block, the newer first and the older with its date, or the newer alone. The
block is that for the older message, asked 60 days after it. `--pairs-of FILE…`: the pairs of files written by hand.
`--rules-only` asks the rules alone, without servers.

What became of turns: `refused`: share of the user's turns that a later question needs, and of courtesies, that the
write gate refused; `retired`: share of the user's statements of what holds at the end, and of what holds no longer,
that were superseded; `archived`: of what never expires, four months later; and the share of the lines of all blocks
that the history of the same call holds already.
"""

import argparse
import sys
import tempfile
import uuid
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path

import biem
from benchmarks import _report
from benchmarks._clock import HeldClock
from benchmarks._embedders import PassageCache, choose_embedder
from benchmarks._hybrid import MilvusHybrid
from benchmarks._mem0 import Mem0
from benchmarks._options import on_lives, positive
from benchmarks.lives.agent import Agent
from benchmarks.lives.beside import last_turns, searched
from benchmarks.lives.decided import COLUMNS as PAIR_COLUMNS
from benchmarks.lives.decided import Decided, decided, wrong
from benchmarks.lives.decided import rows as rows_of_pairs
from benchmarks.lives.facts import Life
from benchmarks.lives.fates import Fates
from benchmarks.lives.judge import MEASURES, Shown, breakdown, failures, measure
from benchmarks.lives.pairs import pairs
from benchmarks.lives.schedule import START, life
from benchmarks.lives.scripted import BY_HAND, scripted
from benchmarks.lives.told import told
from biem.bootstrap import servers
from biem.config import Settings, load_settings
from biem.errors import BiemError
from biem.ports import Embedder

SYSTEMS = ("biem", "hybrid", "last-10", "mem0")
_DEFAULT = SYSTEMS[:-1]
_MEASURES = ("n", "known", "updated", "unknown", *MEASURES)
_UNSET = dict.fromkeys(("postgres_dsn", "postgres_host", "redis_url", "milvus_uri", "milvus_host"))
_ACKNOWLEDGING = ("noted", "courtesy", "unknown", "reply")


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; biem's exit codes."""
    options = _options(arguments)
    if options.embedder == "none" and (options.lives or not options.rules_only):
        raise SystemExit("--embedder none is for pairs by rules: add --rules-only --lives 0 --pairs N")
    rows: list[dict[str, object]] = []
    fates: list[dict[str, object]] = []
    shown: dict[str, list[Shown]] = {}
    try:
        with ExitStack() as stack:
            embedder = None if options.embedder == "none" else stack.enter_context(closing(_embedder(options)))
            judged = _pairs(options, embedder)
            if options.lives and embedder is not None:
                shown, fates, acknowledging = _live(options, embedder)
                rows = [{"system": name, **measure(given, acknowledging)} for name, given in shown.items()]
    except BiemError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    if rows:
        lives = "scripted lives" if options.scripted else f"{options.lives} lives, seed {options.seed}"
        title = f"An agent's memory: {lives}, {options.lang}, {options.split}"
        table = [{"what": name, **{str(row["system"]): row[name] for row in rows}} for name in _MEASURES]
        _report.print_table(title, ("what", *shown), table)
        by = breakdown(shown.get("biem", ()))
        _report.print_table("biem by question and kind of fact", ("what", "n", "answer", "first", "stale_above"), by)
        _report.print_table("Write gate, decisions, history", ("what", "n", "share"), fates)
    if judged:
        _report.print_table("Pairs: retired and disputed of a thousand", PAIR_COLUMNS, rows_of_pairs(judged))
        _show_pairs(judged, options.show or 0)
    for given in (shown["biem"],) if options.show and "biem" in shown else ():
        _show(given, options.show)
    if options.json:
        line = _report.command("benchmarks.agent", sys.argv[1:] if arguments is None else arguments)
        _report.write_json(
            options.json, line, rows, pairs=rows_of_pairs(judged), fates=fates, embedder=options.embedder
        )
    return 0


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        "python -m benchmarks.agent", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    on_lives(parser, lives=1)
    parser.add_argument("--pairs", type=positive, metavar="N", help="also so many pairs")
    parser.add_argument(
        "--pairs-of", nargs="+", type=Path, metavar="FILE", help="also the pairs of these files (benchmarks/lives/told)"
    )
    parser.add_argument("--rules-only", action="store_true", help="ask the rules about the pairs, without servers")
    parser.add_argument(
        "--scripted",
        nargs="?",
        type=Path,
        const=BY_HAND,
        metavar="FILE",
        help="lives written by hand in place of made ones: ours, or those of a file in the format of ours",
    )
    parser.add_argument("--systems", nargs="+", choices=SYSTEMS, default=_DEFAULT, help="default: all but mem0")
    parser.add_argument(
        "--embedder",
        default="e5",
        help="synthetic, a provider as in the settings, or none, for rules alone (default: e5)",
    )
    parser.add_argument("--cache", type=Path, metavar="DIR", help="keep the vectors of passages there for the next run")
    parser.add_argument("--speaker", default="", metavar="NAME", help="record the user's messages under this name")
    parser.add_argument("--unmarked", action="store_true", help="ask all questions without their question marks")
    parser.add_argument("--show", type=positive, metavar="N", help="print N failures of each measure of biem")
    parser.add_argument("--json", type=Path, metavar="OUT", help="write the rows there, too")
    options = parser.parse_args(arguments)
    if options.scripted:
        try:
            if not scripted(options.lang, options.split, options.scripted):
                parser.error(f"{options.scripted} has no life in {options.lang} of {options.split}")
        except (OSError, ValueError) as error:
            parser.error(f"--scripted: {error}")
    return options


def _unmarked(one: Life) -> Life:
    """The life, whose questions end without a question mark, as many people type them."""
    return replace(one, questions=tuple(replace(asked, text=asked.text.rstrip(" ?？")) for asked in one.questions))


def _embedder(options: argparse.Namespace) -> PassageCache:
    return PassageCache(choose_embedder(options.embedder, load_settings()), options.cache, queries=True)


def _pairs(options: argparse.Namespace, embedder: Embedder | None) -> list[Decided]:
    made = list(pairs(options.pairs, options.seed, options.lang, options.split)) if options.pairs else []
    made += told(options.pairs_of or ())
    return decided(made, embedder, held_settings(Path()), rules_only=options.rules_only)


def _live(
    options: argparse.Namespace, embedder: Embedder
) -> tuple[dict[str, list[Shown]], list[dict[str, object]], frozenset[str]]:
    """What every system showed for every question of all lives; what the gate refused; what only acknowledges."""
    shown: dict[str, list[Shown]] = {name: [] for name in SYSTEMS if name in options.systems}
    fates, acknowledging = Fates(), set[str]()
    with _report.progress() as bar:
        lives = [life(number, options.seed, options.lang, options.split) for number in range(options.lives)]
        lives = scripted(options.lang, options.split, options.scripted) if options.scripted else lives
        lives = [_unmarked(one) for one in lives] if options.unmarked else lives
        task = bar.add_task("questions", total=sum(len(one.questions) for one in lives))
        for one in lives:
            acknowledging |= {turn.id for turn in one.turns if turn.sort in _ACKNOWLEDGING}
            for name, given in _systems(one, options, embedder, fates):
                shown[name].append(given)
                if name == "biem":
                    bar.advance(task)
    return shown, fates.rows() if "biem" in shown else [], frozenset(acknowledging)


def _systems(one: Life, options: argparse.Namespace, embedder: Embedder, fates: Fates) -> Iterator[tuple[str, Shown]]:
    """A life in a separate home: its clock begins again."""
    with ExitStack() as stack:
        home = stack.enter_context(tempfile.TemporaryDirectory(prefix="biem-bench-", ignore_cleanup_errors=True))
        settings = held_settings(Path(home))
        where = stack.enter_context(servers(settings))
        if "biem" in options.systems:
            clock = HeldClock(START)
            memory = stack.enter_context(biem.connect(settings, embedder=embedder, clock=clock))
            agent = Agent(memory.scope(user=one.id), clock, one, options.speaker)
            for given in agent.shown():
                yield "biem", given
            fates.add(agent, one)
        if "hybrid" in options.systems:
            lang = "standard" if one.lang == "mixed" else one.lang
            name = f"benchmark_agent_{uuid.uuid4().hex[:12]}"
            with closing(MilvusHybrid(where, embedder, lang, name)) as hybrid:
                for given in searched(hybrid, one):
                    yield "hybrid", given
        if "mem0" in options.systems:
            with closing(Mem0(embedder)) as mem0:
                for given in searched(mem0, one):
                    yield "mem0", given
    if "last-10" in options.systems:
        for given in last_turns(one):
            yield "last-10", given


def held_settings(home: Path) -> Settings:
    """The defaults, on separate servers; jobs run at simulated nights only.

    By their timetable a clock that jumps would start them in the middle of a call.
    """
    loaded = load_settings()
    sleep = replace(
        loaded.sleep, sweep_s=0.0, build_s=0.0, forget_s=0.0, consolidate_s=0.0, crystallise_s=0.0, lifecycle_s=0.0,
        links_s=0.0, integrity_s=0.0, decisions_s=0.0,
    )  # fmt: skip
    return loaded.model_copy(update={"home": home, "sleep": sleep, **_UNSET})


def _show_pairs(judged: Sequence[Decided], most: int) -> None:
    """What went wrong with pairs of each sort."""
    for name, failed in wrong(judged).items() if most else ():
        print(f"\n=== {name}: {len(failed)}")
        for one in failed[:most]:
            print(f"    {one.pair.older}  |  {one.pair.newer}  <- {one.why}")


def _show(shown: Sequence[Shown], most: int) -> None:
    """Failures of each measure: the question, the block, and the hits of recall."""
    for name, failed in failures(shown).items():
        print(f"\n=== {name}: {len(failed)}")
        for one in failed[:most]:
            question = one.question
            print(f"\n--- {question.when}, {question.category}, {question.kind}: {question.text}")
            print(f"    answers {sorted(question.answers)}, stale {sorted(question.stale)}")
            print(f"    confidence {one.notes['confidence']:.2f}\n{one.notes['block']}")
            for text, score, why in one.notes["recalled"]:  # type: ignore[attr-defined]
                print(f"    recall {score:.3f} {text}  {why}")


if __name__ == "__main__":
    sys.exit(main())
