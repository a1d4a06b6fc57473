"""Moving all memories to another embedder, and repeating the analysis of all texts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from biem.domain.fields import Analysis
from biem.domain.node import Node
from biem.domain.scope import Scope
from biem.ports.embedding import EmbedderInfo, Vector


@dataclass(frozen=True, slots=True)
class EmbedderChoice:
    """The embedder that memories were moved to. `settings` holds its model, but no address or key."""

    model: str
    dim: int
    collection: str
    settings: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Unmoved:
    """A memory that another model indexed, with the data of its new row. `vector` is the new model's, if known."""

    node: Node
    lexemes: str
    vector: Vector | None


class EmbedderRegistry(Protocol):
    """Which embedder all processes use after a move, and the progress of a move."""

    def current(self) -> EmbedderChoice | None:
        """The embedder in force; None until a move was completed."""

    def begin(self, choice: EmbedderChoice) -> str:
        """Begin or resume a move; returns the id up to which memories were moved, "" for none."""

    def advance(self, info: EmbedderInfo, cursor: str) -> None:
        """Note that memories up to this id are in the new collection."""

    def switch(self, info: EmbedderInfo) -> None:
        """Make this embedder the one in force and retire the one before. Safe to repeat."""

    def forget_others(self, model: str) -> None:
        """Remove all embedders except this one and the one in force, including those of unfinished moves."""

    def unmoved(self, model: str, after: str, limit: int) -> list[Unmoved]:
        """The next active memories by id that another model indexed."""

    def stored_models(self) -> Sequence[str]:
        """Models that have stored vectors."""

    def stored_dimension(self, model: str) -> int | None:
        """The dimension of the vectors stored under this name; None when there are none."""

    def drop_vectors(self, model: str, limit: int) -> int:
        """Delete at most `limit` vectors of a model; returns how many."""

    def unmoved_items(self, model: str, after: str, limit: int) -> list[tuple[str, str]]:
        """The next items of concepts, id and text, that have another model's vector."""

    def move_items(self, model: str, vectors: Mapping[str, Vector]) -> None:
        """Give items of concepts this model's vectors; those deleted meanwhile stay deleted."""

    def count_calls(self, calls: int, texts: int) -> int:
        """Count calls of this model's server, and the texts in them; returns all calls so far, of all processes."""

    def used_calls(self) -> tuple[int, float]:
        """All calls of this model's server, and the mean of a day among the last thirty."""

    def call_back(self, scope: Scope, model: str, limit: int) -> int:
        """Queue at most twice `limit` memories of a scope that another model indexed for indexing.

        Only where a move to `model` was completed; otherwise two models would take memories from each other for ever.
        """


@dataclass(frozen=True, slots=True)
class Described:
    """A memory's analysis, and its lexemes, space-separated."""

    memory_id: str
    analysis: Analysis
    lexemes: str


class Analyses(Protocol):
    """The analyses of the memories of all scopes, without those still to be encoded."""

    def page(self, after: str, limit: int) -> list[Node]:
        """At most `limit` memories whose id is above `after`, lowest first, including archived ones. "" is below
        all.
        """

    def describe(self, described: Sequence[Described]) -> int:
        """Replace the stored analyses; returns for how many memories they differed.

        Memories erased meanwhile stay erased.
        """
