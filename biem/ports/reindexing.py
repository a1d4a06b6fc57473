"""Moving all memories to another embedder, and analysing all texts anew."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from biem.domain.fields import Analysis
from biem.domain.node import Node
from biem.domain.scope import Scope
from biem.ports.embedding import EmbedderInfo, Vector


@dataclass(frozen=True, slots=True)
class EmbedderChoice:
    """The embedder that memories were moved to. `settings` names its model, and no address or key."""

    model: str
    dim: int
    collection: str
    settings: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Unmoved:
    """A memory that another model indexed, with what its new row needs. `vector` is the new model's, if known."""

    node: Node
    lexemes: str
    vector: Vector | None


class EmbedderRegistry(Protocol):
    """Which embedder all programs use since memories were moved to it, and how far a move is."""

    def current(self) -> EmbedderChoice | None:
        """The embedder that counts; None as long as no move was completed."""

    def begin(self, choice: EmbedderChoice) -> str:
        """Begin or go on with a move; returns the id up to which memories were moved, "" for none."""

    def advance(self, info: EmbedderInfo, cursor: str) -> None:
        """Note that memories up to this id are in the new collection."""

    def switch(self, info: EmbedderInfo) -> None:
        """From now on this embedder counts; the one that did until now is retired. Safe to repeat."""

    def forget_others(self, model: str) -> None:
        """Remove all embedders but this one and the one that counts, also those to which a move was only begun."""

    def unmoved(self, model: str, after: str, limit: int) -> list[Unmoved]:
        """The next active memories by id that another model indexed."""

    def stored_models(self) -> Sequence[str]:
        """Models of which vectors are kept."""

    def stored_dimension(self, model: str) -> int | None:
        """How many numbers the vectors have that are kept under this name; None when none are."""

    def drop_vectors(self, model: str, limit: int) -> int:
        """Delete at most `limit` vectors of a model; returns how many."""

    def unmoved_items(self, model: str, after: str, limit: int) -> list[tuple[str, str]]:
        """The next items of concepts, id and text, that have another model's vector."""

    def move_items(self, model: str, vectors: Mapping[str, Vector]) -> None:
        """Give items of concepts this model's vectors; those deleted meanwhile stay deleted."""

    def call_back(self, scope: Scope, model: str, limit: int) -> int:
        """Have at most twice `limit` memories of a scope that another model indexed indexed once more.

        Only where a move to `model` was completed, or two models would take memories from each other for ever.
        """


@dataclass(frozen=True, slots=True)
class Described:
    """A memory's analysis, and its words as they are indexed, with spaces between."""

    memory_id: str
    analysis: Analysis
    lexemes: str


class Analyses(Protocol):
    """The analyses of the memories of all scopes, but for those that are still to be encoded."""

    def page(self, after: str, limit: int) -> list[Node]:
        """At most `limit` memories whose id is above `after`, the lowest first; archived ones, too. "" is below all."""

    def describe(self, described: Sequence[Described]) -> int:
        """Keep these instead of what is kept; returns for how many memories it was something else.

        What was erased meanwhile stays so.
        """
