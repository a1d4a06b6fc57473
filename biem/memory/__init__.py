"""The facade: every use case of one memory, in one scope, without logic; one file a group of methods."""

from contextlib import suppress
from datetime import datetime
from types import TracebackType
from typing import Self

from biem.domain.scope import Scope
from biem.errors import BiemError
from biem.memory.admin import AdminMethods
from biem.memory.aim import AimMethods
from biem.memory.conflicts import ConflictMethods
from biem.memory.layered import LayerMethods
from biem.memory.reading import ReadMethods
from biem.memory.removing import RemoveMethods
from biem.memory.revising import ReviseMethods
from biem.memory.transfer import TransferMethods
from biem.memory.writing import WriteMethods
from biem.notes.notebook import Notebook
from biem.ports import EmbedderInfo
from biem.telemetry import Telemetry


class Memory(
    WriteMethods,
    ReadMethods,
    ReviseMethods,
    ConflictMethods,
    RemoveMethods,
    TransferMethods,
    AimMethods,
    LayerMethods,
    AdminMethods,
):
    """An agent's memory in one scope. Thread-safe; use it as a context manager, or call `close`."""

    def __repr__(self) -> str:
        state = "closed" if self._shared.closed.is_set() else "open"
        return f"<{type(self).__name__} {self.bound_to} ({state}, {self._shared.embedder.id})>"

    @property
    def telemetry(self) -> Telemetry:
        """Where spans are reported: `memory.telemetry.attach(handler)`."""
        return self._shared.telemetry

    @property
    def embedder(self) -> EmbedderInfo:
        """The embedding model, its dimension and its languages."""
        return self._shared.embedder

    @property
    def notes(self) -> Notebook:
        """Folders of Markdown files that this scope searches together with its memories."""
        return Notebook(self._system.notes, self.bound_to)

    @property
    def collection(self) -> str:
        """Name of this model's collection in Milvus."""
        return self._shared.collection

    def scope(self, *, tenant: str | None = None, user: str | None = None, project: str | None = None) -> "Memory":
        """The same memory system for another scope; omitted names stay as they are.

        Closing it closes the whole system only if no other object of it is in use, see `close`.
        """
        bound = self.bound_to
        scope = Scope(
            bound.tenant if tenant is None else tenant,
            bound.user if user is None else user,
            bound.project if project is None else project,
        )
        return Memory(self._shared, scope, owner=False)

    def now(self) -> datetime:
        """The current time of this memory's clock."""
        return self._shared.clock.now()

    def close(self) -> None:
        """Index what this process wrote, for at most `BIEM_CLOSE_TIMEOUT_S`, then release all resources.

        Memories not indexed by then are safe in PostgreSQL and are indexed by the next process. Idempotent. The object
        that `scope` returned closes everything only when it is the last one in use: the memory that `connect` returned,
        and others made of it, work until they are closed or dropped. A forked child closes its own connections only.
        """
        system = self._shared
        system.views.discard(self)
        if system.closed.is_set() or (system.views and not self._owner):
            return
        if system.inherited:
            system.forsake()
            return
        try:
            if system.wrote.is_set():
                with suppress(BiemError):  # a server is down: no acknowledged memory is lost
                    system.queue.wake()
                    # Jobs held by other processes are left to them.
                    self._until(lambda: system.records.backlog(due_only=True) == 0, system.close_timeout_s)
        finally:
            system.closed.set()
            system.rest(system.close_timeout_s)
            system.recaller.close()
            system.unobserve()
            system.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
