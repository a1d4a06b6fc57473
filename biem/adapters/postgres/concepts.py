"""Concepts in PostgreSQL: row-level changes only, each method one transaction."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from psycopg.types.json import Jsonb

from biem.adapters.clock import SystemClock
from biem.adapters.postgres.database import Connection, Database, Row
from biem.adapters.postgres.node_rows import FIRST_ID
from biem.domain.concept import Concept, Item, Message, Snippet, cut
from biem.domain.scope import Scope
from biem.ports import Clock
from biem.ports.concepts import Fading, InstantMemory, Named

_SCAN = 20
"""Items looked at for each concept that is picked."""


class PostgresConcepts:
    """The port `Concepts`. `model` is the embedder's id; the database is shared with other adapters."""

    def __init__(self, database: Database, *, model: str = "", clock: Clock | None = None) -> None:
        """`clock`: the system's by default; it tells what has expired."""
        self._clock = clock or SystemClock()
        self._database = database
        self._sql = database.sql
        self._model = model

    # -- reading conversation ---------------------------------------------------------------------------------------

    def collect(self, scope: Scope, *, length: int, pause_s: float, limit: int) -> int:
        def attempt() -> int:
            with self._database.connection() as connection, connection.transaction():
                self._see(connection, scope)
                connection.execute(self._sql["concept_progress_begin"], {"ns": scope.ns})
                row = connection.execute(self._sql["concept_progress"], {"ns": scope.ns}).fetchone()
                if row is None:
                    return 0
                unread = {"ns": scope.ns, "seq": row.seq, "limit": limit}
                rows = connection.execute(self._sql["concept_unread"], unread).fetchall()
                if not rows:
                    return 0
                messages = [_message(row) for row in rows if row.trust > 0]
                talks = list({message.conversation if message.spoken else "" for message in messages})
                found = connection.execute(self._sql["concept_running"], {"ns": scope.ns, "conversations": talks})
                running = [Snippet(**row._asdict()) for row in found]
                snippets = cut(messages, running, length=length, pause_s=pause_s)
                connection.cursor().executemany(
                    self._sql["concept_snippet_save"], [_snippet_row(scope, snippet) for snippet in snippets]
                )
                connection.execute(self._sql["concept_progress_save"], {"ns": scope.ns, "seq": rows[-1].seq})
            return len(rows)

        return self._database.retrying(attempt)

    def nearest(
        self, scope: Scope, at: datetime, *, length: int, quiet_since: datetime, without: Sequence[int] = ()
    ) -> Snippet | None:
        parameters = {"at": at, "length": length, "quiet_since": quiet_since, "without": list(without)}
        rows = self._fetch([scope], "concept_nearest", {"ns": scope.ns, **parameters})
        return Snippet(**rows[0]._asdict()) if rows else None

    def messages(self, scope: Scope, snippet: Snippet) -> list[Message]:
        rows = self._fetch([scope], "concept_messages", {**_snippet_row(scope, snippet), "now": self._clock.now()})
        return [Message(**row._asdict()) for row in rows]

    def used(self, scope: Scope, snippet: Snippet, uses: int) -> bool:
        def attempt() -> bool:
            with self._database.connection() as connection, connection.transaction():
                self._see(connection, scope)
                row = {**_snippet_row(scope, snippet), "uses": uses}
                marked = connection.execute(self._sql["concept_used"], row).rowcount
                connection.execute(self._sql["concept_used_up"], row)
            return marked > 0

        return self._database.retrying(attempt)

    def built(self, scope: Scope) -> int:
        rows = self._fetch([scope], "concept_built", {"ns": scope.ns})
        return int(rows[0].built) if rows else 0

    # -- concepts and items -----------------------------------------------------------------------------------------

    def find(self, scopes: Sequence[Scope], ids: Sequence[str], at: datetime) -> list[Concept]:
        if not ids:
            return []
        rows = self._fetch(scopes, "concept_find", {"ids": list(ids), "at": at})
        return [Concept(**row._asdict()) for row in rows]

    def similar(self, scope: Scope, terms: Sequence[str], *, postings: int, limit: int) -> list[Concept]:
        parameters = {"ns": scope.ns, "terms": list(dict.fromkeys(terms)), "postings": postings, "limit": limit}
        return [Concept(**row._asdict()) for row in self._fetch([scope], "concept_similar", parameters)]

    def add(self, scope: Scope, concepts: Sequence[Named], items: Sequence[Item], fading: Fading, at: datetime) -> int:
        def attempt() -> int:
            with self._database.connection() as connection, connection.transaction():
                self._see(connection, scope)
                living = self._living(connection, scope, {source for item in items for source in item.sources}, at)
                kept = {item.id: item for item in items if item.sources and living.issuperset(item.sources)}
                owners = {item.concept for item in kept.values()}
                self._name(connection, scope, [concept for concept in concepts if concept.id in owners], at)
                return self._say(connection, scope, list(kept.values()), fading, at)

        return self._database.retrying(attempt)

    def _living(
        self, connection: Connection, scope: Scope, memories: set[str], read_at: datetime | None = None
    ) -> set[str]:
        """The existing ones, without those revised after `read_at`, locked until the transaction ends; waits for a
        concurrent erasure.
        """
        row = {"ns": scope.ns, "ids": sorted(memories), "read_at": read_at}
        return {found.id for found in connection.execute(self._sql["concept_living"], row)}

    def _sources(self, connection: Connection, scope: Scope, items: Sequence[str]) -> set[str]:
        row = {"ns": scope.ns, "ids": list(items)}
        return {found.id for found in connection.execute(self._sql["concept_sources"], row)}

    def _name(self, connection: Connection, scope: Scope, concepts: Sequence[Named], at: datetime) -> None:
        rows = {concept.id: concept for concept in concepts}
        names = {"ids": list(rows), "names": [concept.name for concept in rows.values()]}
        connection.execute(self._sql["concept_add"], {"ns": scope.ns, "at": at, **names})
        terms = [(term, concept.id) for concept in rows.values() for term in dict.fromkeys(concept.terms)]
        pairs = {"terms": [term for term, _ in terms], "owners": [owner for _, owner in terms]}
        connection.execute(self._sql["concept_terms_add"], {"ns": scope.ns, **pairs})

    def _say(self, connection: Connection, scope: Scope, items: Sequence[Item], fading: Fading, at: datetime) -> int:
        rows = {
            "ns": scope.ns,
            "items": [item.id for item in items],
            "concepts": [item.concept for item in items],
            "texts": [item.text for item in items],
            "vectors": [item.vector for item in items],
            "model": self._model,
            "strength": fading.strength,
            "idle_s": fading.idle_s,
            "at": at,
        }
        new = {row.id for row in connection.execute(self._sql["concept_items_add"], rows)}
        pairs = [(item.id, source) for item in items for source in dict.fromkeys(item.sources)]
        sources = {"ns": scope.ns, "items": [item for item, _ in pairs], "memories": [memory for _, memory in pairs]}
        gained = {row.id for row in connection.execute(self._sql["concept_sources_add"], sources)}
        self._strengthen(connection, scope, gained - new, fading.strength, fading, at)
        return len(new)

    def _strengthen(
        self, connection: Connection, scope: Scope, ids: set[str], add: int, fading: Fading, at: datetime
    ) -> None:
        if ids:
            row = {"ns": scope.ns, "ids": sorted(ids), "add": add, "most": fading.most, "idle_s": fading.idle_s}
            connection.execute(self._sql["concept_items_repeat"], {**row, "at": at})

    def items(
        self, scopes: Sequence[Scope], concepts: Sequence[str], limit: int, fading: Fading, at: datetime
    ) -> dict[str, list[Item]]:
        found: dict[str, list[Item]] = {concept: [] for concept in concepts}
        if not concepts:
            return found
        parameters = {"ids": list(found), "limit": limit, "model": self._model, "idle_s": fading.idle_s, "at": at}
        for row in self._fetch(scopes, "concept_items_of", parameters):
            found[row.concept].append(Item(**{**row._asdict(), "sources": tuple(row.sources)}))
        return found

    def access(
        self,
        scopes: Sequence[Scope],
        concepts: Sequence[str],
        items: Sequence[str],
        fading: Fading,
        at: datetime,
        *,
        cooldown_s: float,
    ) -> None:
        row = {"scopes": [scope.ns for scope in scopes], "at": at, "cooldown_s": cooldown_s, "idle_s": fading.idle_s}

        def attempt() -> None:
            with self._database.connection() as connection, connection.pipeline():  # one implicit transaction
                self._see(connection, *scopes)
                connection.execute(self._sql["concept_access"], {**row, "ids": list(concepts)})
                connection.execute(self._sql["concept_access_items"], {**row, "ids": list(items)})

        self._database.retrying(attempt)

    # -- keeping it small -------------------------------------------------------------------------------------------

    def pick(self, scope: Scope, point: str, limit: int) -> list[str]:
        picked: dict[str, None] = {}
        for start in (point, FIRST_ID):
            row = {"ns": scope.ns, "point": start, "scan": _SCAN * limit, "limit": limit}
            picked |= {found.id: None for found in self._fetch([scope], "concept_pick", row)}
            if len(picked) >= limit:
                break
        return list(picked)[:limit]

    def replace(self, scope: Scope, kept: Item, others: Sequence[str], fading: Fading, at: datetime) -> bool:
        ids = list(dict.fromkeys([*others, kept.id]))

        def attempt() -> bool:
            with self._database.connection() as connection, connection.transaction():
                self._see(connection, scope)
                sources = {*kept.sources, *self._sources(connection, scope, ids)}
                if self._living(connection, scope, sources) != sources:
                    return False  # one is being erased, and takes its items along
                connection.execute(self._sql["concept_lock"], {"ns": scope.ns, "ids": [kept.concept]})
                if not sources.issuperset(self._sources(connection, scope, ids)):
                    return False  # found again meanwhile: the next run sees it
                row = {"ns": scope.ns, "concept": kept.concept, "ids": ids, "item": kept.id}
                left = {found.id: found.strength for found in connection.execute(self._sql["concept_items_lock"], row)}
                if not left.keys() >= set(others):
                    return False
                if kept.id not in left:
                    self._say(connection, scope, [kept], fading, at)
                connection.execute(self._sql["concept_sources_unite"], row)
                add = sum(strength for item, strength in left.items() if item != kept.id)
                if kept.id not in left:
                    add -= fading.strength
                self._strengthen(connection, scope, {kept.id}, add, fading, at)
                connection.execute(self._sql["concept_items_drop"], row)
            return True

        return self._database.retrying(attempt)

    def fade(self, scope: Scope, limit: int, at: datetime) -> int:
        def attempt() -> int:
            with self._database.connection() as connection, connection.transaction():
                self._see(connection, scope)
                row = {"ns": scope.ns, "limit": limit, "at": at}
                faded = connection.execute(self._sql["concept_faded"], row).fetchall()
                if not faded:
                    return 0
                row |= {"items": [found.id for found in faded], "ids": sorted({found.concept for found in faded})}
                connection.execute(self._sql["concept_lock"], row)
                removed = connection.execute(self._sql["concept_fade"], row).rowcount
                connection.execute(self._sql["concept_empty"], row)
            return removed

        return self._database.retrying(attempt)

    def vanishing(self, scope: Scope, limit: int) -> list[str]:
        return [row.id for row in self._fetch([scope], "concept_vanishing", {"ns": scope.ns, "limit": limit})]

    def vanish(self, scope: Scope, ids: Sequence[str]) -> int:
        return self._database.execute(scope.ns, "concept_vanish", {"ns": scope.ns, "ids": list(ids)})

    def sources(self, scopes: Sequence[Scope], memories: Sequence[str]) -> dict[str, bool]:
        parameters = {"ids": list(memories), "now": self._clock.now()}
        return {row.id: row.live for row in self._fetch(scopes, "concept_memories", parameters)}

    def count(self, scope: Scope) -> Mapping[str, int]:
        return self._fetch([scope], "concept_counts", {"ns": scope.ns})[0]._asdict()

    # -- plumbing ---------------------------------------------------------------------------------------------------

    def _fetch(self, scopes: Sequence[Scope], name: str, parameters: Mapping[str, Any]) -> list[Row]:
        names = [scope.ns for scope in scopes]
        return self._database.fetch(",".join(names), name, {"scopes": names, **parameters})

    def _see(self, connection: Connection, *scopes: Scope) -> None:
        connection.execute(self._sql["see_scopes"], (",".join(scope.ns for scope in scopes),))


def _message(row: Row) -> Message:
    return Message(**{name: value for name, value in row._asdict().items() if name != "trust"})


def _snippet_row(scope: Scope, snippet: Snippet) -> dict[str, Any]:
    return {
        "ns": scope.ns,
        "first_seq": snippet.first_seq,
        "last_seq": snippet.last_seq,
        "messages": snippet.messages,
        "conversation": snippet.conversation,
        "spoken": snippet.spoken,
        "started_at": snippet.started_at,
        "ended_at": snippet.ended_at,
        "received_at": snippet.received_at,
        "times": snippet.times,
    }


class PostgresInstants:
    """The port `Instants`. The database is shared with other adapters."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, scope: Scope, note: InstantMemory) -> bool:
        return self.add_all(scope, [note]) > 0

    def add_all(self, scope: Scope, notes: Sequence[InstantMemory]) -> int:
        rows = [
            {
                "id": note.id,
                "memory_id": note.memory_id,
                "text": note.text,
                "keywords": note.keywords,
                "at": note.created_at.isoformat(),
                "revision": note.revision,
            }
            for note in notes
        ]
        return self._database.execute(scope.ns, "instant_add", {"ns": scope.ns, "notes": Jsonb(rows)}) if rows else 0

    def recent(self, scope: Scope, conversation: str, limit: int, at: datetime) -> list[InstantMemory]:
        row = {"ns": scope.ns, "conversation": conversation, "limit": limit, "at": at}
        notes = [_note(found) for found in self._database.fetch(scope.ns, "instant_view", row)]
        return sorted(notes, key=lambda note: (note.created_at, note.id), reverse=True)

    def due(self, scope: Scope, before: datetime, limit: int) -> list[InstantMemory]:
        row = {"ns": scope.ns, "before": before, "limit": limit}
        return [_note(found) for found in self._database.fetch(scope.ns, "instant_due", row)]

    def done(self, scope: Scope, ids: Sequence[str], at: datetime) -> None:
        self._database.execute(scope.ns, "instant_built", {"ns": scope.ns, "ids": list(ids), "at": at})

    def forget(self, scope: Scope, before: datetime, limit: int) -> int:
        return self._database.execute(scope.ns, "instant_forget", {"ns": scope.ns, "before": before, "limit": limit})


def _note(row: Row) -> InstantMemory:
    return InstantMemory(**{**row._asdict(), "keywords": tuple(row.keywords)})
