"""What several parts of the notes' records share: rows of some scopes only, and ids of tags."""

from collections.abc import Mapping, Sequence
from typing import Any

from biem.adapters.postgres.database import Connection, Row
from biem.adapters.postgres.node_rows import Store
from biem.domain.scope import Scope
from biem.domain.text import sha256
from biem.ports.notes import TagName


class PostgresNoteRows(Store):
    """Reads rows of scopes."""

    def _read(
        self, scopes: Sequence[Scope], name: str, parameters: Mapping[str, Any], *, binary: bool = False
    ) -> list[Row]:
        names = [scope.ns for scope in scopes]
        return self._database.fetch(",".join(names), name, {"scopes": names, **parameters}, binary=binary)

    def _tag_ids(self, connection: Connection, ns: str, tags: Sequence[TagName]) -> dict[str, int]:
        if not tags:
            return {}
        names = [tag.name for tag in tags]
        row = {
            "ns": ns,
            "names": names,
            "shown": [tag.shown for tag in tags],
            "shas": [sha256(tag.shown) for tag in tags],
            "idle": [tag.idle for tag in tags],
        }
        found = {each.name: each.id for each in connection.execute(self._sql["note_tags_ids"], row).fetchall()}
        if len(found) < len(set(names)):
            connection.execute(self._sql["note_tags_add"], row)
            found = {each.name: each.id for each in connection.execute(self._sql["note_tags_ids"], row).fetchall()}
        return found
