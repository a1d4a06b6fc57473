"""Whether two statements give values of the same people."""

import re

from biem.adapters.contradiction.lexicon import marks
from biem.adapters.contradiction.statements.core import Core
from biem.adapters.contradiction.statements.former import former_of
from biem.adapters.contradiction.statements.likeness import are_across, relatives_alike, same

_ROLE = re.compile(r"^(?:my|our) [\w' ]{2,30} (?:is|['’]s) (?-i:[A-Z])|^我们?的?[^，。,是叫]{2,8}[是叫]", re.IGNORECASE)


def are_of_same_persons(old: Core, new: Core) -> bool:
    """The same people; a name in only one of them is a value if the statement gives a name."""
    if old.persons != new.persons and not relatives_alike(old.persons, new.persons):
        left = old.persons - new.persons
        return new.persons <= old.persons and any(_ROLE.search(old.text) for _ in left) and bool(former_of(old, new)[0])
    if any(_is_companion(one, old.text) != _is_companion(one, new.text) for one in old.persons & new.persons):
        return False
    naming = "name" in old.classes | new.classes
    spoken = [one.text.lower() for one in (old, new)]
    return (
        naming
        or marks.REPLACES.search(new.text) is not None
        or all(name in text for name in old.names ^ new.names for text in spoken)
        or (are_across(old, new) and all(_is_translated(name, old, new) for name in old.names ^ new.names))
    )


def _is_companion(person: str, text: str) -> bool:
    """Whether the speaker does something with a relative, who is not its subject: 我搬去跟儿子住."""
    relative = re.escape(person.rpartition(".")[2])
    return re.search(rf"(?:我|\bI\b)[^，。！？,.!?]{{0,40}}(?:[跟和同与陪]我?|\bwith my ){relative}", text) is not None


def _is_translated(name: str, old: Core, new: Core) -> bool:
    """Whether the other language has a word for what is taken for a name: 多伦多, Lilies."""
    own = [piece for core in (old, new) for piece in core.words if piece.stem in name or name in piece.stem]
    other = [piece for core in (old, new) for piece in core.words if piece.stem.isascii() != name.isascii()]
    return any(same(piece, one) for piece in own for one in other)
