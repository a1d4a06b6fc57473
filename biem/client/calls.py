"""The HTTP calls behind the facade's methods: one table, from which the server's routes and the remote memory are made.

A parameter of a method stands in the path where the path names it; else in the query of a GET and a DELETE, and in the
JSON body of the others. `AT_HOME` are the methods that work on the server's own machine only.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

from biem.client.parameters import Parameter, parameters
from biem.client.wire import Counted, Done, FoundNotes, Recalled, SentTag, Stored
from biem.domain.access.key import Grant
from biem.domain.concept import Recollection
from biem.domain.conflict import Conflict
from biem.domain.designs.aim import GateDecision
from biem.domain.designs.biem_node import BiemMemoryNode
from biem.domain.graph_part import GraphPart
from biem.domain.items.item import Namespace, StoredItem
from biem.domain.link import Link
from biem.domain.node import Node, Receipt
from biem.domain.note import NoteFinding
from biem.domain.notes.library import Library, LibraryStats, NotePage, NotePassage, NoteVerdict, SyncReport
from biem.domain.observing.unit import Unit
from biem.domain.paging import Page
from biem.domain.revision import Revision
from biem.domain.running_memory import Running
from biem.domain.scope import ScopeSummary
from biem.domain.sessions.built import BuiltContext, ContextWarning
from biem.domain.sessions.session import Appended, ChatSession, SessionMessage, Window
from biem.domain.transfer import MoveReport, TransferReport
from biem.engine.context.block import Context
from biem.engine.life.feedback import Lesson
from biem.engine.remember.importing import ImportReport
from biem.engine.sleep.jobs import SleepReport
from biem.layers.commands import CommandAnswer
from biem.layers.items import Items
from biem.layers.maintain import Maintenance
from biem.layers.sessions import Sessions
from biem.layers.stats import LayerStats
from biem.lazy import lazy
from biem.memory import Memory
from biem.notes.notebook import Notebook
from biem.ports import DeadLetter
from biem.ports.aim import Refusal
from biem.ports.concepts import InstantMemory
from biem.ports.consolidation import CrystalFact
from biem.ports.layers.sessions import LayerCount

Verb = Literal["GET", "POST", "PATCH", "DELETE"]
Holder = Literal["memory", "sessions", "notes", "items"]
HOLDERS: Mapping[Holder, type] = {"memory": Memory, "sessions": Sessions, "notes": Notebook, "items": Items}
_NONE: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, eq=False)
class Call:
    """One method of the facade over HTTP."""

    holder: Holder
    name: str
    """Of the method."""
    verb: Verb
    path: str
    returns: Any
    """Type of the answer on the wire."""
    grant: Grant = "read"
    shows: bool = False
    """Whether a call that changes something answers what was stored before, so that its key needs `read`, too."""
    paged: str = ""
    """The field of the last item that is the `after` of the next page, for answers that are lists."""
    also: Mapping[str, Any] = field(default_factory=lambda: _NONE)
    """Types of further arguments, which the method takes as `**details`."""
    special: bool = False
    """The server has a separate route for it, because the answer or the request is more than arguments."""

    @lazy
    def parameters(self) -> dict[str, Parameter]:
        """All that travels, by name."""
        found = parameters(getattr(HOLDERS[self.holder], self.name))
        return {**{name: Parameter(name, kind, required=False) for name, kind in self.also.items()}, **found}

    @property
    def in_path(self) -> tuple[str, ...]:
        """Names of the parameters in the path."""
        return tuple(name for name in self.parameters if f"{{{name}}}" in self.path)

    @property
    def has_body(self) -> bool:
        """Whether the other parameters are in a JSON body, not in the query."""
        return self.verb in ("POST", "PATCH")


def _details() -> dict[str, Any]:
    """What a message of a session may state of its memory."""
    known = parameters(Memory.remember)
    names = ("kind", "tags", "reason", "importance", "speaker", "metadata", "layer", "origin", "trust", "on_expiry")
    return {name: known[name].kind for name in names}


def _memory(name: str, verb: Verb, path: str, returns: Any, grant: Grant = "read", **more: Any) -> Call:
    return Call("memory", name, verb, f"/v1/{path}", returns, grant, **more)


def _session(name: str, verb: Verb, path: str, returns: Any, grant: Grant = "read", **more: Any) -> Call:
    return Call("sessions", name, verb, f"/v1/sessions{path}", returns, grant, **more)


def _note(name: str, verb: Verb, path: str, returns: Any, grant: Grant = "read", **more: Any) -> Call:
    return Call("notes", name, verb, f"/v1/notes{path}", returns, grant, **more)


def _item(name: str, path: str, returns: Any, grant: Grant = "read", *, special: bool = True) -> Call:
    return Call("items", name, "POST", f"/v1/items{path}", returns, grant, special=special)


_ONE = "memories/{memory_id}"
CALLS: tuple[Call, ...] = (
    _memory("remember", "POST", "memories", Stored, "write", special=True),
    _memory("remember_many", "POST", "memories", Stored, "write", special=True),
    _memory("observe", "POST", "observations", tuple[Unit, ...], "write"),
    _memory("list", "GET", "memories", Page[Node]),
    _memory("count", "GET", "count", Counted),
    _memory("timeline", "GET", "timeline", Page[Node]),
    _memory("get", "GET", _ONE, Node, special=True),
    _memory("revise", "PATCH", _ONE, Node, "write", shows=True, special=True),
    _memory("archive", "DELETE", _ONE, Done, "write"),
    _memory("restore", "POST", f"{_ONE}/restore", Done, "write"),
    _memory("revisions", "GET", f"{_ONE}/history", list[Revision]),
    _memory("revert", "POST", f"{_ONE}/revert", Node, "write", shows=True),
    _memory("quarantine", "POST", f"{_ONE}/quarantine", Done, "write"),
    _memory("release", "POST", f"{_ONE}/release", Done, "write"),
    _memory("node", "GET", f"{_ONE}/node", BiemMemoryNode),
    _memory("links", "GET", f"{_ONE}/links", list[Link]),
    _memory("graph", "GET", "graph", GraphPart),
    _memory("recall", "POST", "recall", Recalled),
    _memory("recall_typed", "POST", "recall/typed", Recalled),
    _memory("context", "POST", "context", Context),
    _memory("feedback", "POST", "feedback", Lesson, "write"),
    _memory("related", "POST", "related", list[Recollection]),
    _memory("running", "POST", "running", tuple[Running, ...]),
    _memory("instant", "GET", "instants", list[InstantMemory]),
    _memory("facts", "GET", "facts", list[CrystalFact], paged="id"),
    _memory("conflicts", "GET", "conflicts", list[Conflict], paged="id", special=True),
    _memory("resolve", "POST", "conflicts/{conflict_id}/resolve", Conflict, "write", shows=True),
    _memory("undo", "POST", "conflicts/{conflict_id}/undo", Conflict, "write", shows=True),
    _memory("refusals", "GET", "refusals", list[Refusal]),
    _memory("replay", "POST", "refusals/{memory_id}/replay", GateDecision, "write"),
    _memory("scopes", "GET", "scopes", list[ScopeSummary], special=True),
    _memory("stats", "GET", "stats", dict[str, int | str], special=True),
    _memory("sleep", "POST", "sleep", SleepReport, "write"),
    _memory("flush", "POST", "flush", Done, special=True),
    _memory("dead_letters", "GET", "dead-letters", list[DeadLetter]),
    _memory("retry", "POST", "dead-letters/retry", Counted, "write"),
    _memory("erase", "POST", "erasures", Receipt, "erase", special=True),
    _memory("export", "GET", "exports", bytes, special=True),
    _memory("import_", "POST", "imports", TransferReport, "write", special=True),
    _memory("import_file", "POST", "imports/files", ImportReport, "write", special=True),
    _memory("move", "POST", "moves", MoveReport, "write", special=True),
    _memory("build_context", "POST", "windows", BuiltContext),
    _memory("check_warnings", "GET", "warnings", tuple[ContextWarning, ...]),
    _memory("core", "GET", "core", tuple[Node, ...]),
    _memory("search", "POST", "search", Recalled),
    _memory("layer_stats", "GET", "layers", LayerStats),
    _memory("storage_stats", "GET", "layers/storage", list[LayerCount]),
    _memory("maintain", "POST", "maintenance", Maintenance, "write"),
    _memory("command", "POST", "commands", CommandAnswer | None, "write", shows=True, special=True),
    _memory("whole_id", "GET", "ids/{part}", str),
    _session("open", "POST", "", ChatSession, "write"),
    _session("list", "GET", "", tuple[ChatSession, ...]),
    _session("get", "GET", "/{session_id}", ChatSession),
    _session("append", "POST", "/{session_id}/messages", Appended, "write", also=_details()),
    _session("messages", "GET", "/{session_id}/messages", list[SessionMessage], paged="seq"),
    _session("window", "GET", "/{session_id}/window", Window),
    _session("close", "POST", "/{session_id}/close", Done, "write"),
    _session("resume", "POST", "/{session_id}/resume", ChatSession, "write", shows=True),
    _session("trim", "POST", "/{session_id}/trim", Counted, "write"),
    _session("retract", "POST", "/{session_id}/retract", list[SessionMessage], "write", shows=True),
    _note("search", "GET", "/search", FoundNotes),
    _note("get", "GET", "/page", NotePage),
    _note("expand", "POST", "/expand", list[NotePassage]),
    _note("libraries", "GET", "/libraries", list[Library]),
    _note("add", "POST", "/libraries", Library, "write", special=True),
    _note("remove", "DELETE", "/libraries", Counted, "erase"),
    _note("stats", "GET", "/stats", list[LibraryStats]),
    _note("sync", "POST", "/sync", SyncReport, "write"),
    _note("lint", "GET", "/lint", list[NoteFinding], special=True),
    _note("tags", "GET", "/tags", list[SentTag]),
    _note("rename_tag", "POST", "/tags/rename", None, "write"),
    _note("verdicts", "GET", "/verdicts", list[NoteVerdict], special=True),
    _note("decide", "POST", "/verdicts/{verdict_id}/decide", NoteVerdict, "write", shows=True),
    _note("erase", "POST", "/erasures", Receipt, "erase"),
    _item("put_many", "", list[StoredItem], "write"),
    _item("get_many", "/get", list[StoredItem | None]),
    _item("delete_many", "/delete", Counted, "erase"),
    _item("search", "/search", tuple[StoredItem, ...]),
    _item("namespaces_meeting", "/namespaces", tuple[Namespace, ...]),
    _item("sweep", "/sweep", Counted, "write", special=False),
)
"""In the order of the documentation; of two paths that match one address, the more exact one stands first."""

_CONNECT = "use biem.connect there"
AT_HOME: Mapping[Holder, Mapping[str, str]] = {
    "memory": {
        "aim": _CONNECT,
        "answer": "call `context` and give its text to your model",
        "collection": _CONNECT,
        "diagnose": "run `biem diagnose` there, or ask the address /ready",
        "mirror": "run `biem mirror` there",
        "perf": "run `biem perf` there",
        "projects": "run `biem project` there",
        "reindex": "run `biem reindex` there",
        "shelf": "call `list` with `layer`, and `remember` with `layer`",
    },
    "items": {},
    "sessions": {},
    "notes": {
        "watch": "run `biem notes watch` there, or call `notes.sync`",
    },
}
"""Calls that a remote memory refuses, each with an alternative: they concern all scopes, files of the server's machine,
or functions of the caller's program."""

COMMANDS_AT_HOME = ("diagnose", "perf", "reindex", "sync")
"""Words of the command `/memory` that do what `AT_HOME` refuses."""


def call_of(holder: Holder, name: str) -> Call:
    """The call behind a method; raises `KeyError` for one without."""
    for call in CALLS:
        if (call.holder, call.name) == (holder, name):
            return call
    raise KeyError(name)
