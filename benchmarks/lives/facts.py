"""The facts of a life as they are stated and changed, the turns that carry them, and questions."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal

from benchmarks.lives.grammar import Lang, Value

Role = Literal["user", "assistant", "fact"]
"""Who said a turn; `fact`: the application stores it, and it is in no history."""
When = Literal["during", "after", "late"]
Place = Literal["", "first", "follow-up", "other"]
"""Of a question in a dialogue of questions: the first; one that leans on what stands before it; one that does not."""
PERMANENT = frozenset(("birthday", "allergy", "relation", "order"))
"""Kinds that hold until they are changed, however long ago they were stated."""


@dataclass(frozen=True, slots=True)
class Key:
    """What a fact is about: whose it is (None: the user's own), its kind, and the thing where there are several."""

    possessor: Value | None
    kind: str
    thing: Value | None

    @property
    def id(self) -> str:
        """Equal for the same matter."""
        return "|".join((self.possessor.id if self.possessor else "", self.kind, self.thing.id if self.thing else ""))


def _letters(text: str) -> str:
    """Its letters and digits: a block changes marks and spaces."""
    return "".join(filter(str.isalnum, text)).casefold()


@dataclass(frozen=True, slots=True)
class Turn:
    """One message. `sort` says what it is for: tell, change, hypo, small, courtesy, echo, guess and so on."""

    id: str
    at: datetime
    session: str
    role: Role
    lang: Lang
    text: str
    sort: str
    key: str = ""
    """Of the matter that it is said about, or alludes to."""
    speaker: str = ""
    """The name under which the message is recorded, where several people talk."""
    statements: Mapping[str, str] = field(default_factory=dict)
    """Of a message of several statements those that are asked for: their words by their ids, `TURN/NUMBER`."""

    def told_by(self, text: str) -> frozenset[str]:
        """What of this message a text tells: the message, and each statement of which it has the words."""
        said = _letters(text)
        return frozenset([self.id, *(key for key, words in self.statements.items() if _letters(words) in said)])


@dataclass(frozen=True, slots=True)
class Question:
    """One question. `before` counts the turns said until then; the ids of turns say what tells the answer."""

    id: str
    text: str
    lang: Lang
    when: When
    before: int
    category: Literal["now", "past", "unknown"]
    kind: str
    groups: tuple[frozenset[str], ...] = ()
    """Turns that carry each value asked for: of each group one must be told. Empty: nothing is known."""
    stale: frozenset[str] = frozenset()
    """Turns whose value no longer holds, or never held, when asked."""
    relevant: frozenset[str] = frozenset()
    """All turns that carry a value of the matter, of any time."""
    place: Place = ""
    dialogue: tuple[tuple[Role, str], ...] = ()
    """Role and text of the messages before it in its dialogue."""

    @property
    def answers(self) -> frozenset[str]:
        """All turns that answer."""
        return frozenset[str]().union(*self.groups)


@dataclass(frozen=True, slots=True)
class Life:
    """The turns of one life in order, and its questions."""

    id: str
    lang: str
    turns: tuple[Turn, ...]
    questions: tuple[Question, ...]

    def beginning(self, turns: int) -> "Life":
        """Its first turns, and the questions that are asked among or answered by them."""
        kept = self.turns[:turns]
        ids = {turn.id for turn in kept}
        asked = (one for one in self.questions if one.answers <= ids and (one.when != "during" or one.before < turns))
        return replace(self, turns=kept, questions=tuple(asked))


@dataclass
class Matter:
    """The state of one fact during a life."""

    key: Key
    current: list[Value] = field(default_factory=list)
    former: list[Value] = field(default_factory=list)
    """Values that hold no longer, and those that were said by mistake."""
    replaced: Value | None = None
    """The value that held before the present one; None where that was said by mistake, or is the first."""
    carriers: dict[str, set[str]] = field(default_factory=dict)
    """The turns that carry a value, by the value's id."""
    allusions: set[str] = field(default_factory=set)
    """Turns that tell of another time than the present."""

    def carry(self, value: Value, turn: str) -> None:
        """A turn carries this value."""
        self.carriers.setdefault(value.id, set()).add(turn)

    def say(self, value: Value, field: str) -> None:
        """From now on this value holds: besides the others (also), in their place (change), or it always did."""
        if field != "also":
            self.replaced = self.current[-1] if field == "change" and self.current else None
            self.former += self.current
            self.current = []
        self.current.append(value)

    @property
    def groups(self) -> tuple[frozenset[str], ...]:
        """The turns that carry each value that holds."""
        return tuple(frozenset(self.carriers[value.id]) for value in self.current)

    @property
    def stale(self) -> frozenset[str]:
        """The turns that carry a value that holds no longer, and none that does."""
        return self._carrying(self.former) - self._carrying(self.current)

    @property
    def relevant(self) -> frozenset[str]:
        """The turns that carry any value of it."""
        return frozenset(self.allusions).union(*self.carriers.values())

    @property
    def before(self) -> frozenset[str]:
        """The turns that carry the value that held before the present one."""
        return self._carrying([self.replaced] if self.replaced else [])

    def _carrying(self, values: Iterable[Value]) -> frozenset[str]:
        return frozenset[str]().union(*(self.carriers[value.id] for value in values))
