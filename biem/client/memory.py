"""A memory on a server, under the facade's own names."""

import inspect
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any, BinaryIO, Unpack, cast

from biem.client.calls import Call, call_of
from biem.client.http import Connection, address_of, body_of, query_of
from biem.client.items import RemoteItems
from biem.client.methods import remote_methods, stated
from biem.client.wire import AboutServer, Stored, decoded
from biem.domain.node import Node, Receipt, parse_id
from biem.domain.note import NoteFinding
from biem.domain.notes.library import Library, NoteHit, NotePassage, NoteVerdict, NoteVerdictStatus
from biem.domain.prompt.contents import as_message
from biem.domain.scope import Scope
from biem.domain.text import require_path
from biem.domain.transfer import ExportReport, MoveReport, TransferReport
from biem.engine.query.request import Conditions
from biem.engine.remember.importing import ImportReport
from biem.engine.remember.revise import require_revision
from biem.engine.remember.writer import before_it, details_of, require_items
from biem.engine.transfer.files import opened, path_of, whole_file
from biem.errors import InvalidInput
from biem.layers.sessions import Sessions
from biem.memory import Memory
from biem.notes.notebook import Notebook
from biem.notes.related_chunks import Relation
from biem.ports import EmbedderInfo
from biem.telemetry import Telemetry

_AT_ONCE = 200
"""Texts in one request of `remember_many`."""
_FLUSH_S = 5.0
_MOST_DEPTH = 100


@remote_methods("memory")
class RemoteMemory(Memory):
    """A `Memory` whose methods call a server. Thread-safe; use it as a context manager, or call `close`."""

    def __init__(self, connection: Connection, scope: Scope | None = None, *, owner: bool = True) -> None:
        self._connection = connection
        self._named = scope
        self._owner = owner
        self._about: AboutServer | None = None
        self._telemetry = Telemetry()

    def __repr__(self) -> str:
        return f"<RemoteMemory {self._named or 'of its key'}>"

    def _call(self, call: Call, arguments: Mapping[str, Any]) -> Any:
        if isinstance(held := arguments.get("exclude"), Sequence) and not isinstance(held, str):
            arguments = {**arguments, "exclude": [as_message(one) or one for one in held]}
        return self._connection.call(self._named, call, arguments)

    # -- what it is -------------------------------------------------------------------------------------------------

    @property
    def about(self) -> AboutServer:
        """What the server says of itself and of the key; asked once."""
        if self._about is None:
            self._about = self._connection.send(self._named, "GET", "/v1/about", AboutServer)
        return self._about

    @property
    def bound_to(self) -> Scope:  # type: ignore[override]
        """The scope of its calls: named, or the key's. Raises `InvalidInput` where neither names a user."""
        if self._named is not None:
            return self._named
        if self.about.user is None:
            raise InvalidInput("this key is bound to no user: name one by scope(user=…)")
        return Scope(self.about.tenant, self.about.user, self.about.project or "")

    @property
    def telemetry(self) -> Telemetry:
        """Handlers of this process; the server's spans are its own."""
        return self._telemetry

    @property
    def embedder(self) -> EmbedderInfo:
        """The server's embedding model."""
        about = self.about
        return EmbedderInfo(about.embedder, about.dimension, about.languages, about.max_tokens)

    @property
    def layout(self) -> str:
        """The layout of memories in a prompt."""
        return self.about.layout

    @property
    def notes(self) -> "RemoteNotebook":
        """The notes of the scope; folders are registered on the server's machine."""
        return RemoteNotebook(self._connection, self._named)

    @property
    def sessions(self) -> "RemoteSessions":
        """Conversations of the scope."""
        return RemoteSessions(self._connection, self._named)

    @property
    def items(self) -> RemoteItems:
        """JSON documents of the scope."""
        return RemoteItems(self._connection, self._named)

    def now(self) -> datetime:
        """The current time of this machine."""
        return datetime.fromtimestamp(time.time_ns() / 1e9, UTC)

    def scope(
        self, *, tenant: str | None = None, user: str | None = None, project: str | None = None
    ) -> "RemoteMemory":
        """The same server for another scope within the key's binding; omitted names stay as they are.

        Closing it closes nothing. A scope outside the binding raises `AccessDenied` when it is used.
        """
        if self._named is None and user is not None:  # the key may be open for every user
            bound = Scope(self.about.tenant, user, self.about.project or "")
        else:
            bound = self.bound_to
        if tenant not in (None, bound.tenant):
            raise InvalidInput(f"the key is of tenant {bound.tenant!r}; connect with a key of {tenant!r}")
        named = Scope(bound.tenant, bound.user if user is None else user, bound.project if project is None else project)
        found = RemoteMemory(self._connection, named, owner=False)
        found._about = self._about
        return found

    def close(self) -> None:
        """Close the connections. Idempotent."""
        if self._owner:
            self._connection.close()

    # -- calls whose arguments or answers are more than JSON ------------------------------------------------------

    def remember(self, text: str, **details: Any) -> str:
        """As `Memory.remember`."""
        found: Stored = self._call(call_of("memory", "remember"), stated(_REMEMBER, self, text, **details))
        return found.ids[0]

    def remember_many(
        self,
        items: Iterable[Mapping[str, Any]],
        *,
        wait: bool = False,
        on_progress: Callable[[int], None] | None = None,
    ) -> list[str]:
        """As `Memory.remember_many`, two hundred a request."""
        require_items(items)
        ids: list[str] = []
        batch: list[Mapping[str, Any]] = []
        call = call_of("memory", "remember")

        def sent(place: int, item: Mapping[str, Any]) -> dict[str, Any]:
            try:
                return body_of(call, details_of(item))
            except InvalidInput as error:
                raise InvalidInput(f"item {place}: {error}; {before_it(len(ids))}") from None

        def store() -> None:
            body = {"items": [sent(place, item) for place, item in enumerate(batch, len(ids))], "wait": wait}
            try:
                found: Stored = self._connection.send(self._named, "POST", call.path, Stored, body=body)
            except InvalidInput as error:
                raise type(error)(f"counted from item {len(ids)}: {error}" if ids else str(error)) from None
            ids.extend(found.ids)
            batch.clear()
            if on_progress:
                on_progress(len(ids))

        for item in items:
            batch.append(item)
            if len(batch) == _AT_ONCE:
                store()
        if batch:
            store()
        return ids

    def revise(self, memory_id: str, *, expect: int | None = None, **changes: Any) -> Node:
        """As `Memory.revise`."""
        call = call_of("memory", "revise")
        if expect is not None:
            require_revision(expect, "expect")
        given = stated(_REVISE, self, memory_id, **changes)
        given.pop("memory_id")
        body = body_of(call, given)
        headers = {} if expect is None else {"If-Match": f'"{expect}"'}
        path = address_of(call, {"memory_id": memory_id})
        found: Node = self._connection.send(self._named, call.verb, path, Node, body=body, headers=headers)
        return found

    def conflicts(self, *, status: str | None = "pending", limit: int = 100, after: str = "") -> list[Any]:
        """As `Memory.conflicts`."""
        given = {"status": "all" if status is None else status, "limit": limit, "after": after}
        found: list[Any] = self._call(call_of("memory", "conflicts"), given)
        return found

    def flush(self, timeout_s: float = 60.0, on_progress: Callable[[int], None] | None = None) -> bool:
        """As `Memory.flush`; `on_progress` is called with 0 at the end only."""
        if isinstance(timeout_s, bool) or not isinstance(timeout_s, int | float) or not timeout_s >= 0:
            raise InvalidInput(f"timeout_s must be a number of seconds from 0 on, not {timeout_s!r}")
        deadline = time.monotonic() + timeout_s
        while True:
            left = max(0.0, min(_FLUSH_S, deadline - time.monotonic()))
            if self._call(call_of("memory", "flush"), {"timeout_s": left}):
                if on_progress:
                    on_progress(0)
                return True
            if time.monotonic() >= deadline:
                return False

    def erase(self, target: str | Scope | None = None, *, user: str | None = None) -> Receipt:
        """As `Memory.erase`; a scope and a user lie within the key's binding."""
        if (target is None) == (user is None):
            raise InvalidInput("pass what to erase: either an id or a scope, or user=…")
        if isinstance(target, Scope):
            return self.scope(tenant=target.tenant, user=target.user, project=target.project)._erased("scope")
        if user is not None:
            return self.scope(user=user, project="")._erased("user")
        body = {"id": parse_id(cast(str, target))}
        found: Receipt = self._connection.send(self._named, "POST", _ERASE.path, Receipt, body=body)
        return found

    def _erased(self, everything: str) -> Receipt:
        body = {"everything": everything}
        found: Receipt = self._connection.send(self._named, "POST", _ERASE.path, Receipt, body=body)
        return found

    def move(
        self,
        to: Scope,
        *,
        ids: Sequence[str] | None = None,
        every: bool = False,
        on_progress: Callable[[int, int], None] | None = None,
        **where: Unpack[Conditions],
    ) -> MoveReport:
        """As `Memory.move`; the target lies within the key's binding."""
        if not isinstance(to, Scope):
            raise InvalidInput(f"to must be a Scope, such as Scope(user=…, project=…), not {type(to).__name__}")
        call = call_of("memory", "move")
        given = stated(inspect.signature(Memory.move), self, to, ids=ids, every=every, **where)
        given.pop("to")
        body = body_of(call, given)
        body["to"] = {"user": to.user, "project": to.project}
        found: MoveReport = self._connection.send(self._named, "POST", call.path, MoveReport, body=body)
        if on_progress:
            on_progress(found.memories, found.memories)
        return found

    # -- files ------------------------------------------------------------------------------------------------------

    def export(
        self,
        out: str | Path | BinaryIO,
        format: str = "jsonl",  # noqa: A002  the facade's own name
        *,
        overwrite: bool = False,
        on_progress: Callable[[int], None] | None = None,
        **where: Unpack[Conditions],
    ) -> ExportReport:
        """As `Memory.export`, to a file of this machine; as `jsonl` only."""
        if format != "jsonl":
            raise InvalidInput("a remote memory exports jsonl only; make Markdown on the server's machine")
        query = query_of(call_of("memory", "export"), dict(where))
        path = path_of(out, "write", "out")
        if path is None:
            return self._exported(query, cast(BinaryIO, out).write, "", on_progress)
        with whole_file(path, overwrite=overwrite) as file:
            return self._exported(query, file.write, str(path), on_progress)

    def _exported(
        self,
        query: Mapping[str, Any],
        write: Callable[[bytes], object],
        path: str,
        on_progress: Callable[[int], None] | None,
    ) -> ExportReport:
        told = self._connection.download(self._named, "/v1/exports", query, write)
        report: ExportReport = decoded(ExportReport, told.encode())
        if on_progress:
            on_progress(sum(report.lines.values()))
        return ExportReport(report.format, path, report.memories, report.lines)

    def import_(
        self,
        source: str | Path | BinaryIO,
        *,
        on_conflict: str = "error",
        dry_run: bool = False,
        on_progress: Callable[[int], None] | None = None,
    ) -> TransferReport:
        """As `Memory.import_`, of a file of this machine."""
        query = {"on_conflict": on_conflict, "dry_run": dry_run}
        with opened(source) as file:
            found: TransferReport = self._uploaded("/v1/imports", TransferReport, query, file)
        if on_progress:
            on_progress(sum(found.lines.values()))
        return found

    def import_file(
        self,
        path: str | os.PathLike[str] | Sequence[str],
        *,
        format: str | None = None,  # noqa: A002  the facade's own name
        dry_run: bool = False,
        per_conversation: bool = False,
        skip_bad: bool = False,
        on_progress: Callable[[ImportReport], None] | None = None,
    ) -> ImportReport:
        """As `Memory.import_file`, of one file or archive of this machine."""
        if not isinstance(path, str | os.PathLike) or (file_path := Path(path)).is_dir():
            raise InvalidInput("a remote memory imports one file or archive at a time; put a folder into an archive")
        query: dict[str, Any] = {"dry_run": dry_run, "per_conversation": per_conversation, "skip_bad": skip_bad}
        query |= {"name": file_path.name} | ({} if format is None else {"format": format})
        with opened(file_path) as file:
            found: ImportReport = self._uploaded("/v1/imports/files", ImportReport, query, file)
        if on_progress:
            on_progress(found)
        return found

    def _uploaded(self, path: str, returns: Any, query: Mapping[str, Any], file: IO[bytes]) -> Any:
        return self._connection.send(self._named, "POST", path, returns, query=query, file=file)


_ADD, _LINT, _EXPAND, _VERDICTS = (call_of("notes", name) for name in ("add", "lint", "expand", "verdicts"))
_REMEMBER, _REVISE = inspect.signature(Memory.remember), inspect.signature(Memory.revise)
_ERASE = call_of("memory", "erase")


@remote_methods("sessions")
class RemoteSessions(Sessions):
    """`memory.sessions` of a remote memory."""

    def __init__(self, connection: Connection, scope: Scope | None) -> None:
        self._connection = connection
        self._within = scope

    def _call(self, call: Call, arguments: Mapping[str, Any]) -> Any:
        return self._connection.call(self._within, call, arguments)


@remote_methods("notes")
class RemoteNotebook(Notebook):
    """`memory.notes` of a remote memory."""

    def __init__(self, connection: Connection, scope: Scope | None) -> None:
        self._connection = connection
        self._within = scope

    def _call(self, call: Call, arguments: Mapping[str, Any]) -> Any:
        return self._connection.call(self._within, call, arguments)

    def add(
        self,
        root: str | os.PathLike[str],
        *,
        name: str = "",
        exclude: Sequence[str] = (),
        any_host: bool = True,
    ) -> Library:
        """As `Notebook.add`, of a folder of the server, in one that its operator opened with `--notes-root`.

        A relative `root` begins there. All machines of the server have these folders, unless `any_host` is False.
        """
        where = require_path(root, "the folder")
        given: dict[str, Any] = {"root": where, "name": name, "exclude": exclude, "any_host": any_host}
        found: Library = self._call(_ADD, given)
        return found

    def lint(self, target: str | os.PathLike[str] | None = None) -> list[NoteFinding]:
        """As `Notebook.lint`, of one library or all; other files are read where they are, by `biem notes lint`."""
        given = {} if target is None else {"target": require_path(target, "the target")}
        found: list[NoteFinding] = self._call(_LINT, given)
        return found

    def expand(self, hit: NoteHit | str, relation: Relation, **more: Any) -> list[NotePassage]:
        """As `Notebook.expand`."""
        given = {"hit": hit.chunk.id if isinstance(hit, NoteHit) else hit, "relation": relation, **more}
        found: list[NotePassage] = self._call(_EXPAND, given)
        return found

    def verdicts(self, *, status: NoteVerdictStatus | None = "open", limit: int = 100) -> list[NoteVerdict]:
        """As `Notebook.verdicts`."""
        given = {"status": "all" if status is None else status, "limit": limit}
        found: list[NoteVerdict] = self._call(_VERDICTS, given)
        return found
