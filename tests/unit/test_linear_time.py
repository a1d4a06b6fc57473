"""No text freezes a process: the work of every function that takes text grows with its length, and no faster.

Work is counted: backtracking steps of each regular expression that a function gives a long text to, characters given to
regular expressions, calls of Python code. CPU time is a loose backstop for what happens inside C.
"""

import re
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import cache

import pytest

from biem.adapters.analyzers import RuleAnalyzer
from biem.adapters.contradiction.rules import RuleContradictions
from biem.adapters.embedders.encoder import clean
from biem.adapters.reasoner import parsing, prompts
from biem.adapters.reasoner.parsing import ModelReply
from biem.domain import anchors, energy, tokens
from biem.domain import merging as crystal
from biem.domain import text as texts
from biem.domain.conflict import Statement
from biem.domain.node import Hit, Node
from biem.domain.observing.category import BUILT_IN
from biem.domain.observing.rules import recognise
from biem.domain.policies.context import ContextPolicy
from biem.domain.prompt import lines
from biem.domain.scope import Scope
from biem.domain.speech import acts as speech_acts
from biem.domain.speech import excerpt
from biem.domain.times import asked, bare, events
from biem.domain.times import windows as times
from biem.engine.conflicts import passages
from biem.engine.context.picking import Picker
from biem.engine.encode.gate_text import GateTextReader
from biem.engine.life import implicit_feedback as echo
from biem.engine.query import question
from biem.engine.recall.rank import newer_first as currency
from biem.notes import front, indexed_text, lint
from tests.support.effort import sized
from tests.support.work import HOLD_S, Steps, calls_of, cpu_of, longest_hold, repeated, watched
from tests.unit.notes.reading import reader

NOW = datetime(2026, 5, 4, tzinfo=UTC)
SMALL, GREAT = 16 * 1024, sized(64, 256) * 1024
TIMES = GREAT // SMALL
COUNTED = sized(4 * 1024, SMALL)
"""Characters of the shorter text whose calls are counted: under a profiler they take three times as long."""
SHAPES = (
    " ", "\n", "a", "A", "1", "一", "我", '"', "“", "(", "[{", "`", ":", ".", "。", "👩\u200d💻", "2024-05-02 ", "a@",
    "a.", "a_", "a. ", "Ann ", "in may ", "1万", "ab cd. ", "x\u0301", "<a ", "\n a", "！\n", "\ufdfa", "年5月", "a1-",
    "，a", '"a', "\u0301", ", and ", "? ", "- ", "the ", "我是", "的", "=1", "a'", "#", "5月1日到",
)  # fmt: skip
HARD = (" ", "\n", "一", "a. ", "1万", "👩\u200d💻")

ANALYZER = RuleAnalyzer()
RULES = RuleContradictions()
READER = GateTextReader(ANALYZER)


NOTES = reader()
PICKER = Picker(RULES, ANALYZER, ContextPolicy())


def hits(text: str) -> list[Hit]:
    """Four memories, one after the other, two of which say it."""
    told = (text, "I moved to Graz.", f"Ann lives in Linz. {text}", "I live in Wien now.")
    return [
        Hit(
            Node(
                id=str(place), scope=Scope(), text=one, kind="event", status="active", layer="short_term",
                at=NOW + timedelta(days=place), created_at=NOW,
            ),
            0.9,
            {"likeness": 0.5},
        )
        for place, one in enumerate(told)
    ]  # fmt: skip


def noted(text: str) -> object:
    """A file of it, as a scan and as `lint` read it; keywords have their own test."""
    note = NOTES.read(f"{text[:100]}/tea.md", f"# Tea\n\n{text}".encode())
    return [
        lint.lint(note),
        [indexed_text.indexed_text(chunk.headings, chunk.body) for chunk in getattr(note, "chunks", ())],
    ]


def statement(text: str) -> Statement:
    return Statement(text, "Ann", NOW)


FUNCTIONS: dict[str, Callable[[str], object]] = {
    "lexemes": ANALYZER.lexemes,
    "analyze": ANALYZER.analyze,
    "keywords": lambda text: ANALYZER.keywords(text, 10),
    "compare": lambda text: RULES.compare(statement(text), statement(f"I moved. {text}"), 0.9),
    "told": READER.told,
    "passages": lambda text: passages.passages(text, f"I moved. {text}"),
    "passages.compare": lambda text: passages.compare(
        RULES, statement(text), statement(f"I moved. {text}"), 0.9, longest=2_000
    ),
    "crystal.sentences": crystal.sentences,
    "crystal.information": crystal.information,
    "crystal.adds_nothing": lambda text: crystal.adds_nothing(text, f"{text} x", str.split),
    "crystal.join": lambda text: crystal.join(text, [text[::-1], f"x {text}"], str.split),
    "crystal.digest": lambda text: crystal.digest(
        [crystal.Passage(one, NOW) for one in (text, text[::-1])], str.split, 600
    ),
    "newest_first": lambda text: currency.newest_first(f"Where is it? {text}", hits(text), RULES),
    "pick": lambda text: PICKER.pick(hits(text), f"Where is it? {text}", 0.9),
    "excerpt": lambda text: excerpt.excerpt(text, 200, {"a"}, str.split),
    "one_line": lambda text: texts.one_line(text, 200),
    "require_clean": lambda text: texts.require_clean(text, "text"),
    "is_courtesy": speech_acts.is_courtesy,
    "is_standing_order": speech_acts.is_standing_order,
    "windows": lambda text: times.windows(text, NOW),
    "beside": lambda text: bare.asks_for_a_time_only(times.beside(text, NOW)),
    "happening": lambda text: events.happening(text, NOW),
    "asked_time": lambda text: asked.asked_time(text, NOW),
    "names_a_bound": anchors.names_a_bound,
    "reason_quality": energy.reason_quality,
    "harmless": lambda text: lines.harmless(text, GREAT),
    "quoted": lambda text: lines.quoted(text, GREAT),
    "named": lines.named,
    "estimate_tokens": tokens.estimate_tokens,
    "sentences_of": lambda text: question.sentences_of(text, lambda piece: len(set(piece.split()))),
    "without_names": lambda text: question.without_names(text, ["Ann", "Bob"]),
    "echo": lambda text: echo._says(text, "a"),
    "parsing.concepts": lambda text: parsing.concepts(ModelReply(text), 10),
    "parsing.keywords": lambda text: parsing.keywords(ModelReply(text), [], 10),
    "parsing.merged": lambda text: parsing.merged(ModelReply(text), [text]),
    "parsing.is_placeholder": parsing.is_placeholder,
    "prompts": lambda text: prompts.fill("keywords", {"message": text, "history": text, "known": text}, limit=3),
    "clean": clean,
    "observe": lambda text: list(recognise(text, BUILT_IN)),
    "notes": noted,
    "notes.front": lambda text: front.split(f"---\na: {text}\n---\n"),
    "notes.properties": lambda text: front.split(f"tags:: {text}\n{text}:: {text}\n"),
    "notes.page": lambda text: front.split(f"# {text}\n\nTags: {text}\n{text}: {text}\n"),
}
_LONG = 500
"""A pattern that is given more characters at once is held to be linear in them."""
_SHORT, _FOUR_TIMES = 32, 128
_MOST_STEPS = 100_000
"""On the shorter text: a pattern that takes more takes exponential time."""
_BOUND = 8
"""Repeats that a constant bounds are counted as if it were no greater."""


@pytest.fixture(autouse=True)
def deep() -> None:
    sys.setrecursionlimit(max(sys.getrecursionlimit(), 60_000))


@cache
def counter(pattern: re.Pattern[str]) -> Steps:
    """One for all shapes: reading a pattern with hundreds of alternatives takes longer than most counts."""
    return Steps(pattern, bound=_BOUND)


def grows(pattern: re.Pattern[str], shape: str, method: str) -> bool:
    """Whether the steps grow faster than a text of this shape, which becomes four times as long."""
    steps = counter(pattern)
    for end in ("!", "x"):
        small, great = (repeated([shape], size)[0] + end for size in (_SHORT, _FOUR_TIMES))
        few = steps.of(small, method, _MOST_STEPS)
        if few > _MOST_STEPS:
            return True
        if few > 8 * _SHORT and steps.of(great, method, 6 * few) > 6 * few:
            return True
    return False


# -- the counters find what they are for -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pattern", "shape", "method"),
    [
        (r"\s*\n\s*", " ", "split"),
        (r"(a+)+b", "a", "match"),
        (r"\d+[a-z]", "1", "finditer"),
        (r"\w+@", "a", "search"),
        (r"\W+$", ". ", "search"),
        (r"\([^)]*\)", "(", "findall"),
        (r"(?s)<(\w+)>.*?</\1>", "<a>", "search"),
    ],
)
def test_the_steps_of_a_slow_pattern_grow_faster_than_its_text(pattern: str, shape: str, method: str) -> None:
    assert grows(re.compile(pattern), shape, method)


@pytest.mark.parametrize(
    ("pattern", "shape"),
    [(r"\s", " "), (r"(?<!\d)\d++x", "1"), (r"[^.]*\.", "ab."), (r"(?:a|b)+", "ab"), (r"a{1,9}b", "a")],
)
def test_the_steps_of_a_linear_pattern_grow_with_its_text(pattern: str, shape: str) -> None:
    assert not grows(re.compile(pattern), shape, "finditer")


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (r"(?P<q>['\"]).*?(?P=q)", "say 'it' or \"that\""),
        (r"(?i)\bano?(?!x)(?:ther)?+\b|(?<=a)b*", "An another ab abbb anx"),
        (r"(?>ab|a)b|^c$", "abab\nc"),
        (r"(?:a|ab)(?:c|bcd)(?:d*)", "abcd acd"),
        (r"[^\W_]{2,3}?x|\d\s", "abx 12 ééx"),
    ],
)
def test_the_counter_matches_as_re_does(pattern: str, text: str) -> None:
    # Given a pattern / When the counter goes over a text / Then it stops where `re` does
    compiled, steps = re.compile(pattern), Steps(re.compile(pattern))
    for start in range(len(text)):
        found = compiled.match(text, start)
        ends: list[int] = []
        steps._text, steps._groups = text, {}
        hit = steps._run(steps._tree, 0, start, lambda end, ends=ends: ends.append(end) is None)  # type: ignore[misc]
        assert (ends[0] if hit else None) == (found.end() if found else None)


def test_calls_find_a_loop_within_a_loop() -> None:
    def pairs(count: int) -> Callable[[], object]:
        return lambda: [str.lower(a) for a in "a" * count for _ in range(count)]

    assert calls_of(pairs(80)) > 12 * calls_of(pairs(20))


def test_a_call_that_holds_the_interpreter_is_seen() -> None:
    slow = re.compile(r"\s*\n\s*")
    assert longest_hold(lambda: slow.split(" " * 24_000)) > 2 * HOLD_S
    assert longest_hold(lambda: [str(number) for number in range(1_000_000)]) <= HOLD_S


# -- what they find in biem --------------------------------------------------------------------------------------------


@pytest.mark.sized
def test_no_pattern_backtracks_over_a_long_text() -> None:
    # Given every pattern that a function gives a long text to, of any shape
    shapes = sized(SHAPES[::2], SHAPES)
    used: dict[tuple[re.Pattern[str], str], None] = {}
    with watched(ANALYZER, RULES, READER, PICKER) as calls:
        for function in FUNCTIONS.values():
            for text in repeated(shapes, _LONG + 100):
                function(text)
    for pattern, method, size in calls:
        if size > _LONG:
            used[pattern, method] = None
    assert len(used) > 60  # or nothing was watched

    # When a text becomes four times as long / Then so do its steps, and not more
    slow = [
        (pattern.pattern[:80], method, shape)
        for pattern, method in used
        for shape in shapes
        if grows(pattern, shape, method)
    ]
    assert slow == []


@pytest.mark.sized
@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_work_of_a_function_grows_with_its_text(name: str) -> None:
    # Given a function that takes text / When the text becomes four (thorough: sixteen) times as long
    function = FUNCTIONS[name]
    function("a warm up. 我喜欢北京。")
    for shape in HARD:
        calls = [calls_of(lambda: function(text)) for text in (_of(shape, COUNTED), _of(shape, COUNTED * TIMES))]  # noqa: B023
        small, great = _of(shape, SMALL), _of(shape, GREAT)
        seconds = [cpu_of(lambda: function(small)), 0.0]  # noqa: B023

        def run() -> None:
            seconds[1] = cpu_of(lambda: function(great))  # noqa: B023

        # Then so does what it does, at most, and no call holds the interpreter for long
        assert calls[1] <= 1.5 * TIMES * calls[0] + 2_000, (shape, calls)
        assert longest_hold(run, tries=3) <= HOLD_S, shape
        assert seconds[1] <= max(0.5, 4 * TIMES * seconds[0]), (shape, seconds)


def _of(shape: str, size: int) -> str:
    [text] = repeated([shape], size)
    return text
