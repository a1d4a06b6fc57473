"""The lines of a file: what each type has, and a line turned into a row to store, or refused with the reason."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from biem.domain.items.item import LONGEST_TTL, encoded, require_key, require_namespace
from biem.domain.merging import sources_hash
from biem.domain.policies.writing import WritePolicy
from biem.domain.scope import Scope
from biem.domain.sessions.session import ROLES, SESSION_STATES
from biem.domain.text import cut_lexemes, sha256
from biem.domain.transfer import FORMAT, SECTIONS, VERSION, Row, Section, id_in
from biem.domain.trust import rank
from biem.engine.remember.writer import Writer, fact_key
from biem.engine.transfer import checks
from biem.engine.transfer.checks import (
    Check,
    anything,
    finite,
    flag,
    identity,
    listed,
    mapping,
    maybe,
    number,
    one_of,
    time,
    whole,
    words,
)
from biem.errors import InvalidInput
from biem.ports import Analyzer

_LONG = 20_000
_UNIT = number(0.0, 1.0)
_DRAFTED = (
    "kind", "layer", "tags", "reason", "importance", "source", "speaker", "conversation", "ref", "metadata", "origin",
    "trust", "on_expiry",
)  # fmt: skip
"""Fields of a memory that are checked as arguments of `remember`."""
_MEMORY: dict[str, Check] = {
    "id": identity,
    "text": anything,
    **dict.fromkeys(_DRAFTED, anything),
    "at": time,
    "created_at": time,
    "fact": flag,
    "status": one_of("pending", "active", "archived"),
    "archived_at": maybe(time),
    "archive_reason": words(_LONG),
    "valid_from": time,
    "valid_to": maybe(time),
    "superseded_by": maybe(identity),
    "initial_energy": _UNIT,
    "energy_anchor": _UNIT,
    "anchor_at": time,
    "boosted_at": maybe(time),
    "access_count": whole(0),
    "useful_count": whole(0),
    "accessed_at": maybe(time),
    "useful_at": maybe(time),
    "formed": flag,
    "due_at": maybe(time),
    "expires_at": maybe(time),
    "revision": whole(1),
    "revised_at": maybe(time),
}
_ENDED: dict[str, Check] = {"loser": identity, "winner": identity, "ended_at": time}


@dataclass(frozen=True, slots=True)
class Line:
    """A checked line. `memories` are the ids that it refers to, its own excluded."""

    number: int
    section: Section
    row: Row
    memories: tuple[str, ...] = ()


def header(fields: Any) -> Scope:
    """The scope that a file was written from; raises `InvalidInput` unless this is the first line of one."""
    if not isinstance(fields, dict) or fields.get("format") != FORMAT:
        raise InvalidInput("this is no export of biem: its first line must be the one that `biem export` writes")
    version = fields.get("version")
    if isinstance(version, bool) or not isinstance(version, int) or not 1 <= version <= VERSION:
        raise InvalidInput(
            f"the file has version {version!r:.20} of the format, and this program reads up to {VERSION}; import it "
            "with the version of biem that wrote it, or a later one"
        )
    names = fields.get("scope")
    if not isinstance(names, dict) or set(names) != {"tenant", "user", "project"}:
        raise InvalidInput("the first line names no scope: tenant, user and project")
    return Scope(**names)


class Lines:
    """Checks lines of one file for one scope. In another scope than the file's all ids become others (`id_in`)."""

    def __init__(
        self, scope: Scope, exported: Scope, *, writer: Writer, analyzer: Analyzer, policy: WritePolicy
    ) -> None:
        self._scope = scope
        self._same = scope == exported
        self._writer = writer
        self._analyzer = analyzer
        self._policy = policy
        self._readers: dict[Section, Callable[[int, Row], Line]] = {
            "memory": self._memory,
            "revision": self._revision,
            "link": self._link,
            "derivation": self._derivation,
            "conflict": self._conflict,
            "fact": self._fact,
            "refusal": self._refusal,
            "note": self._note,
            "feedback": self._feedback,
            "session": self._session,
            "message": self._message,
            "item": self._item,
        }

    def read(self, place: int, fields: Mapping[str, Any]) -> Line:
        """The line at a place of the file, or `InvalidInput`."""
        section = fields.get("type")
        if section not in SECTIONS:
            raise InvalidInput(f"type {section!r:.60} is unknown; known are {', '.join(SECTIONS)}")
        given = {name: value for name, value in fields.items() if name != "type"}
        return self._readers[section](place, given)

    def _own(self, memory_id: str | None) -> Any:
        return memory_id if self._same or memory_id is None else id_in(self._scope.ns, memory_id)

    def _terms(self, text: str) -> str:
        return cut_lexemes(" ".join(self._analyzer.lexemes(text)), self._policy.max_lexeme_bytes)

    def _memory(self, place: int, given: Row) -> Line:
        row = checks.fields(_MEMORY, given, "a memory")
        if (row["status"] == "archived") != (row["archived_at"] is not None):
            raise InvalidInput("status is archived exactly where archived_at is a time")
        if row["superseded_by"] == row["id"]:
            raise InvalidInput("superseded_by is the memory itself")
        drafted = {name: row[name] for name in _DRAFTED}
        draft = self._writer.draft(row["text"], at=datetime.fromisoformat(row["at"]), **drafted)
        fact = row.pop("fact")
        row |= {
            "id": self._own(row["id"]),
            "superseded_by": self._own(row["superseded_by"]),
            "importance": draft.importance,
            "tags": list(draft.tags),
            "metadata": self._metadata(dict(draft.metadata)),
            "ref": draft.ref,
            "origin": draft.origin,
            "trust": rank(draft.trust),
            "fact_key": fact_key(draft.text).hex() if fact and draft.kind != "event" else None,
            "evidence_sha": sha256(draft.text).hex(),
            "embed_sha": sha256(draft.indexed_text).hex(),
            "lexemes": self._terms(draft.indexed_text),
            "numbered": row["formed"] and row["status"] != "pending",
        }
        if not self._same and row["ref"] and row["source"] in ("crystal", "merge"):
            row["ref"] = self._ref(row["ref"], row["metadata"])
        return Line(place, "memory", row)

    def _ref(self, ref: str, metadata: Row) -> str:
        """Of what consolidation made: by its sources, or by an id."""
        sources = metadata.get("sources")
        if ref.startswith("fact:") and isinstance(sources, list):
            return f"fact:{sources_hash(map(str, sources))}"
        made, _, name = ref.partition(":")
        return f"{made}:{self._named(name)}"

    def _metadata(self, metadata: Row) -> Row:
        """With the ids that consolidation keeps there."""
        if self._same:
            return metadata
        return {
            name: self._named(value) if name in ("merged_from", "sources", "fact") else value
            for name, value in metadata.items()
        }

    def _named(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._named(each) for each in value]
        try:
            return self._own(identity(value, "an id"))
        except InvalidInput:  # a reference that its writer made
            return value

    def _revision(self, place: int, given: Row) -> Line:
        spec: dict[str, Check] = {
            "memory": identity,
            "revision": whole(1),
            "stood_until": time,
            "revised_by": words(_LONG),
            "text": self._text,
            "before": mapping(self._policy.max_metadata_bytes + _LONG * 8),
        }
        row = checks.fields(spec, given, "a revision")
        speaker = row["before"].get("speaker")
        whole_text = f"{speaker}: {row['text']}" if isinstance(speaker, str) and speaker else row["text"]
        row |= {
            "memory": self._own(row["memory"]),
            "lexemes": self._terms(whole_text),
            "evidence_sha": sha256(row["text"]).hex(),
            "embed_sha": sha256(whole_text).hex(),
        }
        return Line(place, "revision", row, (row["memory"],))

    def _text(self, value: Any, name: str) -> str:
        return str(words(self._policy.max_text_bytes)(value, name))

    def _link(self, place: int, given: Row) -> Line:
        spec: dict[str, Check] = {
            "source": identity,
            "target": identity,
            "link": one_of("temporal", "semantic", "causal", "mention", "cooccurrence"),
            "weight": _UNIT,
            "strength": whole(0),
            "created_at": time,
            "touched_at": time,
            "parked": flag,
        }
        return self._pair(place, "link", checks.fields(spec, given, "a link"), "source", "target")

    def _derivation(self, place: int, given: Row) -> Line:
        origins = one_of("dedupe", "merge", "crystal", "heir", "summary")
        spec: dict[str, Check] = {"memory": identity, "source": identity, "origin": origins, "linked": flag}
        return self._pair(place, "derivation", checks.fields(spec, given, "a derivation"), "memory", "source")

    def _pair(self, place: int, section: Section, row: Row, one: str, other: str) -> Line:
        if row[one] == row[other]:
            raise InvalidInput(f"{one} and {other} are the same memory")
        row |= {one: self._own(row[one]), other: self._own(row[other])}
        return Line(place, section, row, (row[one], row[other]))

    def _conflict(self, place: int, given: Row) -> Line:
        spec: dict[str, Check] = {
            "id": identity,
            "kind": one_of("contradiction", "update", "duplicate"),
            "older": identity,
            "newer": identity,
            "confidence": _UNIT,
            **dict.fromkeys(("rule", "attribute", "subject"), words(_LONG)),
            "claim": self._text,
            "suspected": flag,
            "status": one_of("pending", "resolved", "ignored"),
            "resolution": maybe(one_of("keep_new", "keep_old", "merge", "keep_both")),
            "decided_by": maybe(one_of("rule", "judge", "user")),
            "merged": maybe(identity),
            "unjudged": flag,
            "created_at": time,
            "resolved_at": maybe(time),
            "supersessions": listed(lambda value, _: checks.fields(_ENDED, value, "a supersession")),
        }
        row = checks.fields(spec, given, "a conflict")
        if (row["status"] == "resolved") != (row["resolution"] is not None):
            raise InvalidInput("resolution is given exactly where status is resolved")
        if (row["status"] == "pending") != (row["decided_by"] is None):
            raise InvalidInput("decided_by is given exactly where status is not pending")
        ended = [
            {**each, "loser": self._own(each["loser"]), "winner": self._own(each["winner"])}
            for each in row["supersessions"]
        ]
        if any(each["loser"] == each["winner"] for each in ended):
            raise InvalidInput("a memory cannot supersede itself")
        row |= {"id": self._own(row["id"]), "merged": self._own(row["merged"]), "supersessions": ended}
        line = self._pair(place, "conflict", row, "older", "newer")
        others = [each[side] for each in ended for side in ("loser", "winner")] + [row["merged"]]
        return Line(place, "conflict", row, (*line.memories, *filter(None, others)))

    def _fact(self, place: int, given: Row) -> Line:
        spec: dict[str, Check] = {
            "id": identity,
            "content": self._text,
            "sources": listed(identity),
            "confidence": finite,
            "created_at": time,
            "updated_at": time,
            "superseded_by": maybe(identity),
        }
        row = checks.fields(spec, given, "a fact")
        sources = [self._own(each) for each in row["sources"]]
        row |= {
            "id": self._own(row["id"]),
            "sources": sources,
            "sources_hash": sources_hash(sources),
            "superseded_by": self._own(row["superseded_by"]),
        }
        return Line(place, "fact", row, (row["id"], *sources))

    def _refusal(self, place: int, given: Row) -> Line:
        spec: dict[str, Check] = {
            "memory": identity,
            "formed": flag,
            **dict.fromkeys(("value", "threshold", "relevance", "surprise", "conflict"), finite),
            "form": one_of("raw", "centered", "classifier", "llm"),
            "decided_at": time,
        }
        row = checks.fields(spec, given, "a refusal")
        row["memory"] = self._own(row["memory"])
        return Line(place, "refusal", row, (row["memory"],))

    def _note(self, place: int, given: Row) -> Line:
        spec: dict[str, Check] = {
            "id": identity,
            "memory": identity,
            "conversation": words(self._policy.max_name_chars),
            "text": self._text,
            "keywords": listed(words(_LONG)),
            "created_at": time,
            "viewed_at": maybe(time),
            "built_at": maybe(time),
        }
        row = checks.fields(spec, given, "a note")
        row |= {"id": self._own(row["id"]), "memory": self._own(row["memory"])}
        return Line(place, "note", row, (row["memory"],))

    def _feedback(self, place: int, given: Row) -> Line:
        spec: dict[str, Check] = {"turn": words(_LONG), "at": time}
        return Line(place, "feedback", checks.fields(spec, given, "a turn"))

    def _session(self, place: int, given: Row) -> Line:
        spec: dict[str, Check] = {
            "id": identity,
            "name": words(self._policy.max_name_chars),
            "status": one_of(*SESSION_STATES),
            "opened_at": time,
            "closed_at": maybe(time),
            "archived_at": maybe(time),
            "next_seq": whole(1),
            "head_seq": whole(1),
            "round": whole(0),
            "metadata": mapping(self._policy.max_metadata_bytes),
        }
        row = checks.fields(spec, given, "a session")
        return Line(place, "session", row | {"id": self._own(row["id"])})

    def _message(self, place: int, given: Row) -> Line:
        spec: dict[str, Check] = {
            "session": identity,
            "seq": whole(1),
            "role": one_of(*ROLES),
            "content": self._text,
            "tokens": whole(0),
            "round": whole(0),
            "at": time,
            "ref": maybe(words(self._policy.max_ref_chars)),
            "memory": maybe(identity),
            "data": mapping(self._policy.max_metadata_bytes),
        }
        row = checks.fields(spec, given, "a message")
        row |= {"session": self._own(row["session"]), "memory": self._own(row["memory"])}
        return Line(place, "message", row, (row["memory"],) if row["memory"] else ())

    def _item(self, place: int, given: Row) -> Line:
        spec: dict[str, Check] = {
            **dict.fromkeys(("namespace", "key", "value"), anything),
            "memory": maybe(identity),
            "created_at": time,
            "updated_at": time,
            "ttl_s": maybe(number(1e-6, LONGEST_TTL.total_seconds())),
            "expires_at": maybe(time),
        }
        row = checks.fields(spec, given, "an item")
        namespace = require_namespace(row["namespace"])
        if not namespace:
            raise InvalidInput("the namespace of an item must have a label")
        if (row["ttl_s"] is None) != (row["expires_at"] is None):
            raise InvalidInput("ttl_s is given exactly where expires_at is")
        row |= {
            "namespace": list(namespace),
            "key": require_key(row["key"]),
            "value": encoded(row["value"]),
            "memory": self._own(row["memory"]),
        }
        return Line(place, "item", row, (row["memory"],) if row["memory"] else ())
