"""Running the real `biem` command, in this process or in its own one, and looking at what it left in PostgreSQL.

What a command does is the same in both; starting an interpreter and loading a model takes two seconds. So a command
runs here, with an embedder that all of them share, where the process is not the point of the test.
"""

import json
import logging
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BufferedReader, BytesIO, StringIO, TextIOWrapper
from pathlib import Path
from typing import Any

import psycopg
import pytest

from biem.bootstrap import build_embedder
from biem.cli.app import run
from biem.config import Settings
from biem.ports import Embedder

BIEM = str(Path(sys.executable).with_name("biem"))
_HEED_CTRL_C = ("env", "--default-signal=INT")
"""A shell that runs the tests in the background has its children ignore it. Not by `preexec_fn`: that is a fork, and
gRPC may abort the child between fork and exec, as it polls a descriptor there that Python has closed."""


@dataclass(frozen=True)
class Result:
    """What one run left behind."""

    code: int
    stdout: str
    stderr: str

    @property
    def document(self) -> Any:
        return json.loads(self.stdout)

    @property
    def error(self) -> Any:
        assert self.stdout == ""
        return json.loads(self.stderr.splitlines()[-1])["error"]


@dataclass(frozen=True)
class Cli:
    """Runs the command in one home, with an environment that only has what a test gives it.

    Called, it runs the command in this process; `start` makes a process for it.
    """

    home: Path
    dsn: str = ""
    embedder: Embedder | None = None

    def start(self, *arguments: str, env: dict[str, str] | None = None) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [*_HEED_CTRL_C, BIEM, "--home", str(self.home), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=self.home.parent,
            env=_clean() | (env or {}),
        )

    def __call__(self, *arguments: str, stdin: bytes = b"", code: int = 0) -> Result:
        given = TextIOWrapper(BufferedReader(BytesIO(stdin)))
        out, err = StringIO(), StringIO()
        with pytest.MonkeyPatch.context() as here:
            here.chdir(self.home.parent)
            for name in os.environ.keys() - _clean().keys():
                here.delenv(name)
            for name, stream in (("stdin", given), ("stdout", out), ("stderr", err)):
                here.setattr(sys, name, stream)
            here.setattr(logging.getLogger("biem"), "level", logging.WARNING)  # put back afterwards
            left = run(["--home", str(self.home), *arguments], self.embedder)
        result = Result(left, out.getvalue(), err.getvalue())
        assert "Traceback" not in result.stderr
        assert result.code == code, result
        return result

    def process(self, *arguments: str, env: dict[str, str] | None = None) -> Result:
        """Run it in its own process; it must succeed."""
        (result,) = finish(self.start(*arguments, env=env))
        assert result.code == 0, result
        return result

    def each(self, *lines: tuple[str, ...]) -> list[Result]:
        """Run several command lines, one after the other."""
        return [self(*arguments) for arguments in lines]

    def kept(self, user: str, column: str = "ref") -> list[str]:
        """A column of every row that PostgreSQL holds for a user, with repeats."""
        query = "SELECT to_jsonb(m) || to_jsonb(s) FROM memories m JOIN scopes s USING (ns) WHERE s.usr = %s"
        with psycopg.connect(self.dsn) as connection:
            return sorted(row[0][column] for row in connection.execute(query, (user,)))


@contextmanager
def running(home: Path) -> Iterator[Cli]:
    """The command on its own servers, until the end of the block."""
    alone = Cli(home)
    embedder = build_embedder(Settings(home=home))
    urls = alone.process("local", "up", "--no-indexer", "--json").document
    try:
        yield Cli(home, urls["BIEM_POSTGRES_DSN"], embedder)
    finally:
        alone.process("local", "down")
        embedder.close()


def _clean() -> dict[str, str]:
    return {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}


def finish(*processes: subprocess.Popen[bytes], stdin: bytes = b"") -> list[Result]:
    """Wait for processes that run side by side."""
    ended = [(process, process.communicate(stdin, timeout=300)) for process in processes]
    results = [Result(process.returncode, out.decode(), err.decode()) for process, (out, err) in ended]
    assert not [result for result in results if "Traceback" in result.stderr]
    return results


def lines(*values: object) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)
