"""Files and folders of the mirror that a person has to look at."""

from biem.adapters.postgres.database import ALL_SCOPES, Database
from biem.ports.layers.mirror import Troubled


class PostgresMirrorTrouble:
    """The port `MirrorTrouble`. The database is shared with other adapters."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def files(self, limit: int) -> list[Troubled]:
        rows = self._database.fetch(ALL_SCOPES, "mirror_troubled", {"limit": limit})
        return [Troubled(row.host, row.file, row.state, row.reason) for row in rows]

    def folders(self, limit: int) -> list[Troubled]:
        rows = self._database.fetch(ALL_SCOPES, "mirror_unsynced", {"limit": limit})
        return [Troubled(row.host, row.path, "", row.reason) for row in rows]
