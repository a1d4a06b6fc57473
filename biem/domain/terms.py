"""Index terms of a text as they are stored: in one string, parted by blanks, which no term holds."""

from collections.abc import Iterator, Sequence
from typing import overload


class Terms(Sequence[str]):
    """The terms of one text, taken apart when somebody asks for one: a recall reads some hundred texts of which it
    looks at few term by term. Equal to any sequence of the same terms.
    """

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text

    def __len__(self) -> int:
        return self.text.count(" ") + 1 if self.text else 0

    def __iter__(self) -> Iterator[str]:
        return iter(self.text.split(" ") if self.text else ())

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> list[str]: ...
    def __getitem__(self, place: int | slice) -> str | list[str]:
        return [*self][place]

    def __eq__(self, other: object) -> bool:
        return [*self] == [*other] if isinstance(other, Sequence) and not isinstance(other, str) else NotImplemented

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return f"Terms({self.text!r})"


def stored(terms: Sequence[str]) -> str:
    """The one string."""
    return terms.text if isinstance(terms, Terms) else " ".join(terms)
