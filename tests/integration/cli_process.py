"""Running the real `biem` command as a process, and looking at what it left in PostgreSQL."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg

BIEM = str(Path(sys.executable).with_name("biem"))


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
    """Runs the command in one home, with an environment that only has what a test gives it."""

    home: Path
    dsn: str = ""

    def start(self, *arguments: str, env: dict[str, str] | None = None) -> subprocess.Popen[bytes]:
        clean = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}
        return subprocess.Popen(
            [BIEM, "--home", str(self.home), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=self.home.parent,
            env=clean | (env or {}),
        )

    def __call__(self, *arguments: str, stdin: bytes = b"", code: int = 0, env: dict[str, str] | None = None) -> Result:
        (result,) = finish(self.start(*arguments, env=env), stdin=stdin)
        assert result.code == code, result
        return result

    def together(self, *lines: tuple[str, ...]) -> list[Result]:
        """Run several command lines side by side."""
        results = finish(*(self.start(*arguments) for arguments in lines))
        assert [result.code for result in results] == [0] * len(lines), results
        return results

    def kept(self, user: str, column: str = "ref") -> list[str]:
        """A column of every row that PostgreSQL holds for a user, with repeats."""
        query = "SELECT to_jsonb(m) || to_jsonb(s) FROM memories m JOIN scopes s USING (ns) WHERE s.usr = %s"
        with psycopg.connect(self.dsn) as connection:
            return sorted(row[0][column] for row in connection.execute(query, (user,)))


def finish(*processes: subprocess.Popen[bytes], stdin: bytes = b"") -> list[Result]:
    """Wait for processes that run side by side."""
    ended = [(process, process.communicate(stdin, timeout=90)) for process in processes]
    results = [Result(process.returncode, out.decode(), err.decode()) for process, (out, err) in ended]
    assert not [result for result in results if "Traceback" in result.stderr]
    return results


def within(seconds: float, condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "the condition did not come true in time"


def lines(*values: object) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)
