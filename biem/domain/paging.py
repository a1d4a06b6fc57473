"""Pages of lists."""

from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")

MOST_ON_A_PAGE = 500


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """One page of a list, in the list's order."""

    items: tuple[T, ...]
    next: str
    """The cursor of the next page, to be passed as `after`; empty at the end of the list."""
