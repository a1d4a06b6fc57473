"""AIM-Memory under its own names: write, route, answer, count, save and load. Everything else is in `Memory`.

The route ranks as the design does, by temporal mirror and anchors; `AimMemory.memory.recall` is this package's ranking.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from biem.domain.designs.aim_node import AimMemoryNode
from biem.domain.node import Hit
from biem.engine.aim.conversation import Generate, Reply
from biem.engine.aim.route import Selected
from biem.engine.aim.system import AimSystem
from biem.errors import InvalidInput
from biem.memory import Memory

T = TypeVar("T")
_MODES = ("fast", "strict")


class AimMemory:
    """One scope's memory as AIM-Memory defines it. Thread-safe; closing it closes the memory behind it."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory

    @property
    def _aim(self) -> AimSystem:
        return self.memory.aim

    @property
    def config(self) -> dict[str, Any]:
        """The configuration in force, under the design's names."""
        return self._aim.snapshots.config

    def write_memory(
        self, text: str, context: str | Sequence[str] | None = None, *, speaker: str = "", conversation: str = ""
    ) -> bool:
        """Store a text; returns True when the gate formed a memory, which is decided before the return.

        `context`: what the text is compared with, one text or several; by default the preceding messages. A refused
        text is in HotKV and is found by `Memory.recall`, but not by a route.
        """
        said = [context] if isinstance(context, str) else context
        return self._aim.writer.write(
            self.memory.bound_to, text, said, self._settle, speaker=speaker, conversation=conversation
        )

    def route_memory(
        self, query: str, mode: str = "fast", *, conversation: str = "", top_n: int | None = None
    ) -> tuple[list[Selected], str]:
        """The nodes selected for a query, best first, and their originals in strict mode, else an empty text.

        A query with a trigger word is strict, too.
        """
        _require(query, mode)
        route = self._aim.router.route(self.memory.bound_to, query, mode=mode, conversation=conversation, top_n=top_n)
        return list(route.nodes), route.refill_text

    def answer(
        self,
        query: str,
        generate: Generate | None = None,
        mode: str = "fast",
        *,
        auto_mode: bool = True,
        conversation: str = "",
    ) -> Reply:
        """As `Memory.answer`, with the nodes of the route."""
        _require(query, mode)
        aim, scope = self._aim, self.memory.bound_to
        strict = aim.router.is_strict(query, mode, auto_mode=auto_mode)

        def recall() -> tuple[list[Hit], float]:
            way = "strict" if strict else "fast"
            route = aim.router.route(scope, query, mode=way, auto_mode=False, conversation=conversation)
            return route.hits(aim.policy), route.inertia_norm

        return aim.conversant.answer(scope, query, generate, strict=strict, conversation=conversation, recall=recall)

    def rag(self, query: str, search: Callable[[str, list[str]], T], *, conversation: str = "") -> T:
        """Restrict another retrieval to the local cluster: `search(query, ids)` gets the ids it may use.

        The ids are those of memories, nearest first; `Memory.get(id).ref` is the caller's own name for one.
        """
        _require(query, "fast")
        return search(query, self._aim.router.cluster(self.memory.bound_to, query, conversation))

    def node(self, memory_id: str) -> AimMemoryNode:
        """A node with its embedding, fields, neighbours and weight. Raises `NotFound`, also for a refused one."""
        links = self.memory.links(memory_id)
        others = [link.target if link.source == memory_id else link.source for link in links]
        return self._aim.router.node(self.memory.bound_to, memory_id, others)

    def get_stats(self, conversation: str = "") -> dict[str, Any]:
        """Sizes, weights and accesses of this scope, and the length of one conversation's inertia."""
        return asdict(self._aim.counter.stats(self.memory.bound_to, conversation))

    def save(self, path: Path | str) -> int:
        """Write everything of this scope to one JSON file; returns the number of memories."""
        return self._aim.snapshots.save(self.memory.bound_to, Path(path))

    def load(self, path: Path | str) -> int:
        """Import the output of `save`, from this system or another; returns the number of memories. Safe to repeat.

        The configuration stays this memory's; `biem.bootstrap.load_aim_memory` begins with the saved one.
        """
        return self._aim.snapshots.load(self.memory.bound_to, Path(path), self._settle)

    def close(self) -> None:
        """Close the memory; a second call does nothing."""
        self.memory.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _settle(self) -> None:
        self.memory.flush()


def _require(query: str, mode: str) -> None:
    if not isinstance(query, str) or not query.strip():
        raise InvalidInput("the query is empty; ask for something")
    if mode not in _MODES:
        raise InvalidInput(f"mode {mode!r} is unknown; choose one of {', '.join(_MODES)}")
