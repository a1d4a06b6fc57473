"""What a block of an agent's memory is worth: judged by the turns that its lines stand for, never by their words."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from benchmarks.lives.facts import Question

MEASURES = (
    *(
        "answer",
        "things",
        "first",
        "recall_first",
        "precision",
        "stale_above",
        "stale_unmarked",
        "silent",
        "told_unknown",
    ),
    *("told_unmarked", "doubted", "tokens", "lines", "acknowledgements"),
)

PLACES = {"first": "begins a dialogue", "follow-up": "follows up", "other": "stands on its own in a dialogue"}


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a block: the turns that it tells, and what it says of their standing."""

    turns: frozenset[str]
    marked: bool = False
    """It says that it no longer holds or is disputed."""
    dated: bool = False
    """It says when it was said."""
    text: str = ""


@dataclass(frozen=True, slots=True)
class Shown:
    """What one system put before the model for one question."""

    question: Question
    lines: tuple[Line, ...]
    tokens: int
    recalled: tuple[frozenset[str], ...] | None = None
    """The turns of each hit of a recall, best first, where the system has one besides the block."""
    history: frozenset[str] = frozenset()
    """Turns that the model has anyway: those of the running conversation."""
    notes: Mapping[str, object] = field(default_factory=dict)
    doubted: bool = False
    """The block says that it may not answer."""

    @property
    def judged(self) -> bool:
        """Whether the question is one for the memory: the running conversation does not answer it."""
        return self.history.isdisjoint(self.question.answers)

    @property
    def answered(self) -> bool:
        """Whether every value asked for stands in the block."""
        told = frozenset[str]().union(*(line.turns for line in self.lines))
        return bool(self.question.groups) and all(not group.isdisjoint(told) for group in self.question.groups)

    @property
    def things(self) -> float:
        """The share of the values asked for that stand in the block."""
        told = frozenset[str]().union(*(line.turns for line in self.lines))
        groups = self.question.groups
        return sum(not group.isdisjoint(told) for group in groups) / len(groups) if groups else 0.0

    @property
    def first(self) -> bool:
        """Whether the first line answers."""
        return bool(self.lines) and not self.lines[0].turns.isdisjoint(self.question.answers)

    @property
    def recalled_first(self) -> bool:
        """Whether the first hit of a recall answers."""
        return bool(self.recalled) and not self.recalled[0].isdisjoint(self.question.answers)  # type: ignore[index]

    @property
    def relevant(self) -> int:
        """The number of lines that tell of the matter."""
        return sum(not line.turns.isdisjoint(self.question.relevant | self.question.answers) for line in self.lines)

    @property
    def stale_above(self) -> bool:
        """Whether a value that no longer holds stands above the one that does, or in its place."""
        places = self._stale()
        return bool(places) and places[0] < self._answer_place()

    @property
    def stale_unmarked(self) -> bool:
        """Whether a value that no longer holds stands there as if it did.

        A mark is "until", "disputed" and the like, or its date below the value that holds.
        """
        answer = self._answer_place()
        return any(
            not self.lines[place].marked and not (self.lines[place].dated and place > answer) for place in self._stale()
        )

    def _stale(self) -> list[int]:
        answers, stale = self.question.answers, self.question.stale
        return [
            place
            for place, line in enumerate(self.lines)
            if not line.turns.isdisjoint(stale) and line.turns.isdisjoint(answers)
        ]

    def _answer_place(self) -> int:
        answers = self.question.answers
        places = (place for place, line in enumerate(self.lines) if not line.turns.isdisjoint(answers))
        return next(places, len(self.lines))


def measure(shown: Iterable[Shown], acknowledging: frozenset[str]) -> dict[str, object]:
    """The row of one system. `acknowledging`: the turns that only acknowledge or greet."""
    judged = [one for one in shown if one.judged]
    known = [one for one in judged if one.question.groups]
    unknown = [one for one in judged if not one.question.groups]
    answered = [one for one in known if one.answered]
    updated = [one for one in known if one.question.stale]
    lines = [line for one in judged for line in one.lines]
    with_recall = [one for one in answered if one.recalled is not None]
    return {
        "n": len(judged),
        "known": len(known),
        "updated": len(updated),
        "unknown": len(unknown),
        "answer": _share(one.answered for one in known),
        "things": _ratio(sum(one.things for one in known), len(known)),
        "first": _share(one.first for one in answered),
        "recall_first": _share(one.recalled_first for one in with_recall),
        "precision": _ratio(sum(one.relevant for one in known), sum(len(one.lines) for one in known)),
        "stale_above": _share(one.stale_above for one in updated),
        "stale_unmarked": _share(one.stale_unmarked for one in updated),
        "silent": _share(not one.lines for one in known),
        "told_unknown": _share(bool(one.lines) for one in unknown),
        "told_unmarked": _share(bool(one.lines) and not one.doubted for one in unknown),
        "doubted": _share(one.doubted for one in answered),
        "tokens": _ratio(sum(one.tokens for one in judged), len(judged)),
        "lines": _ratio(len(lines), len(judged)),
        "acknowledgements": _share(bool(line.turns) and line.turns <= acknowledging for line in lines),
    }


def breakdown(shown: Iterable[Shown]) -> list[dict[str, object]]:
    """The share of answers in the block and first there, by time and type of question, and by kind of fact."""
    groups: dict[str, list[Shown]] = defaultdict(list)
    known = [one for one in shown if one.judged and one.question.groups]
    for one in sorted(known, key=lambda one: one.question.kind):
        groups[f"asked {one.question.when}, of {one.question.category}"].append(one)
    for one in known:
        if one.question.place:
            groups[PLACES[one.question.place]].append(one)
    for one in sorted(known, key=lambda one: one.question.kind):
        groups[one.question.kind].append(one)
    return [
        {
            "what": name,
            "n": len(group),
            "answer": _share(one.answered for one in group),
            "first": _share(one.first for one in group if one.answered),
            "stale_above": _share(one.stale_above for one in group if one.question.stale),
        }
        for name, group in groups.items()
    ]


def failures(shown: Sequence[Shown]) -> dict[str, list[Shown]]:
    """The questions at which each measure fails."""
    judged = [one for one in shown if one.judged]
    known = [one for one in judged if one.question.groups]
    return {
        "not answered": [one for one in known if not one.answered],
        "not first": [one for one in known if one.answered and not one.first],
        "stale above": [one for one in known if one.stale_above],
        "stale unmarked": [one for one in known if one.stale_unmarked],
        "silent": [one for one in known if not one.lines],
        "told though unknown": [one for one in judged if not one.question.groups and one.lines],
    }


def _share(values: Iterable[bool]) -> float | None:
    every = list(values)
    return sum(every) / len(every) if every else None


def _ratio(part: float, whole: float) -> float | None:
    return part / whole if whole else None
