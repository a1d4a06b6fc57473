"""Memories out of a scope, into one, and from one to another, in PostgreSQL."""

from biem.adapters.postgres.transfer.lines import PostgresImports, PostgresScopeLines
from biem.adapters.postgres.transfer.moving import PostgresMoves


class PostgresTransfer(PostgresScopeLines, PostgresImports, PostgresMoves):
    """The ports `ScopeLines`, `Imports` and `Moves`."""
