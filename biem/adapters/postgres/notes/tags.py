"""Tags of notes."""

from collections.abc import Sequence

from biem.adapters.postgres.notes.reading import PostgresNoteRows
from biem.domain.scope import Scope
from biem.errors import NotFound
from biem.ports.notes import TagInfo, TagName


class PostgresNoteTags(PostgresNoteRows):
    """Looks tags up, and renames them."""

    def tags(self, scopes: Sequence[Scope], ids: Sequence[int]) -> dict[int, TagInfo]:
        rows = self._read(scopes, "note_tags", {"ids": list(ids)}) if ids else []
        return {row.id: TagInfo(**{**row._asdict(), "sha": bytes(row.sha)}) for row in rows}

    def aliases(self, scopes: Sequence[Scope]) -> dict[int, int]:
        return {row.id: row.same_as for row in self._read(scopes, "note_aliases", {})}

    def named(self, scopes: Sequence[Scope], names: Sequence[str]) -> list[int]:
        return [row.id for row in self._read(scopes, "note_named_tags", {"names": list(names)})] if names else []

    def tagged(self, scopes: Sequence[Scope], tags: Sequence[int], limit: int) -> list[str]:
        if not tags:
            return []
        return [row.id for row in self._read(scopes, "note_tagged", {"tags": list(tags), "most": limit})]

    def tag_list(self, scope: Scope, prefix: str, limit: int) -> list[TagInfo]:
        wanted = {"ns": scope.ns, "prefix": prefix, "limit": limit}
        ids = [row.id for row in self._database.fetch(scope.ns, "note_tag_list", wanted)]
        found = self.tags([scope], ids)
        return [found[key] for key in ids if key in found]

    def rename_tag(self, scope: Scope, old: str, new: TagName) -> int:
        ns = scope.ns

        def attempt() -> int:
            with self._database.connection() as connection, connection.transaction():
                connection.execute(self._sql["see_scopes"], (ns,))
                former = connection.execute(self._sql["note_tags_ids"], {"ns": ns, "names": [old]}).fetchone()
                if former is None:
                    raise NotFound(f"no note in {scope} has the tag {old!r}; `biem notes tags` lists them")
                target = self._tag_ids(connection, ns, [new])[new.name]
                connection.execute(self._sql["note_rename_tag"], {"ns": ns, "old": former.id, "new": target})
            return target

        return self._database.retrying(attempt)

    def restore_tag(self, scope: Scope, old: str) -> bool:
        if not self._database.fetch(scope.ns, "note_tags_ids", {"ns": scope.ns, "names": [old]}):
            raise NotFound(f"no note in {scope} has the tag {old!r}; `biem notes tags` lists them")
        return self._database.execute(scope.ns, "note_restore_tag", {"ns": scope.ns, "name": old}) > 0
