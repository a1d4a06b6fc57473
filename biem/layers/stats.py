"""Numbers of the layers of one scope."""

from dataclasses import dataclass

from biem.domain.scope import Scope
from biem.layers.sessions import Sessions
from biem.ports import VectorIndex
from biem.ports.layers.sessions import LayerCount, ShelfReader, TokenCounter


@dataclass(frozen=True, slots=True)
class LayerStats:
    """What the layers hold, of a scope and, from a project, of the user's own level."""

    core_tokens: int
    """Of the texts of core memories."""
    session_tokens: int
    """Of the session that was named, without trimmed messages; 0 without one."""
    session_usage_ratio: float
    """These as a share of `BIEM_SESSION__MAX_TOKENS`."""
    short_term_count: int
    """Tasks, notes and contexts of the scope itself, which are limited in number."""
    long_term_count: int
    indexed_count: int
    """Memories that have a vector, of all layers."""
    vector_count: int
    """Rows in the vector index."""


class LayerCounter:
    """Counts. Thread-safe."""

    def __init__(self, *, shelf: ShelfReader, index: VectorIndex, count: TokenCounter, most: int) -> None:
        """`most`: core memories that are read."""
        self._shelf = shelf
        self._index = index
        self._count = count
        self._most = most

    def stats(self, scope: Scope, chats: Sessions, session: str) -> LayerStats:
        """The numbers now. Raises `NotFound`, `StoreUnavailable`."""
        chat = chats.get(session) if session else None
        layers = self._shelf.counts(scope)
        core = self._shelf.read(scope, self._most).core
        return LayerStats(
            core_tokens=sum(self._count(node.text) for node in core),
            session_tokens=chat.tokens if chat else 0,
            session_usage_ratio=chats.usage(chat) if chat else 0.0,
            short_term_count=sum(
                one.memories for one in layers if one.layer == "short_term" and one.project == bool(scope.project)
            ),
            long_term_count=sum(one.memories for one in layers if one.layer == "long_term"),
            indexed_count=sum(one.indexed for one in layers),
            vector_count=self._index.held(scope.readable),
        )

    def storage(self, scope: Scope) -> list[LayerCount]:
        """Live memories by level and layer, with the bytes of their texts; messages of chats are the layer `events`."""
        return self._shelf.counts(scope)
