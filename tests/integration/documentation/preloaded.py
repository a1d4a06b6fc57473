"""The real `biem` command without the time in which an interpreter loads it, for pages that call it a hundred times.

A process that has loaded what commands need, compiled the patterns of the rules, and opened nothing, forks for each
call; the fork has the descriptors, environment, folder and arguments of its caller and runs `biem.cli.main`. What
stands on the path is a small program that passes these on and ends with the command's exit code.
"""

import importlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

_LOADED = (
    "biem.cli.app", "biem.cli.memories", "biem.cli.output", "biem.bootstrap.system", "biem.bootstrap.stores",
    "biem.adapters.embedded", "biem.adapters.postgres.records", "biem.adapters.milvus", "biem.adapters.redis",
    "biem.adapters.embedders", "biem.adapters.contradiction", "biem.adapters.analyzers", "numpy", "orjson",
    "rich.table", "rich.progress",
)  # fmt: skip
_CALL = """#!{python} -IS
import json, os, signal, socket, sys
line = socket.socket(socket.AF_UNIX)
line.connect({address!r})
call = json.dumps([sys.argv[1:], dict(os.environ), os.getcwd()]).encode()
socket.send_fds(line, [b"%10d" % len(call)], [0, 1, 2])
line.sendall(call)
pid = int(line.recv(10))
for number in (signal.SIGINT, signal.SIGTERM):
    signal.signal(number, lambda number, _: os.kill(pid, number))
code = line.recv(10)
os._exit(int(code or b"70"))
"""


@contextmanager
def preloaded(folder: Path) -> Iterator[Path]:
    """A folder for the path, in which `biem` is that program, while the process behind it runs."""
    address, command = folder / "calls", folder / "biem"
    command.write_text(_CALL.format(python=sys.executable, address=str(address)), encoding="utf-8")
    command.chmod(0o755)
    with subprocess.Popen([sys.executable, "-m", __name__, str(address)], stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
            yield folder
        finally:
            process.terminate()


def serve(address: str) -> NoReturn:
    """Run the calls that come in at a socket, each in its own process."""
    for name in _LOADED:
        importlib.import_module(name)
    _compile_patterns()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen()
        os.write(1, b"ready\n")
        while True:
            line, _ = listener.accept()
            if os.fork() == 0:
                listener.close()
                _answer(line)
            line.close()


def _compile_patterns() -> None:
    """Have the rules of both languages read a statement: their patterns take a second of each fork otherwise."""
    from biem.adapters.contradiction.rules import RuleContradictions
    from biem.domain.conflict import Statement

    rules = RuleContradictions()
    for one, other in (("I live in Berlin", "I live in Paris now"), ("我住在北京", "我现在住在上海")):
        rules.compare(Statement(one, "Ann", None), Statement(other, "Ann", None), 0.8)


def _answer(line: socket.socket) -> NoReturn:
    """Fork once more for the command, and say how it ended."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    size, descriptors, _, _ = socket.recv_fds(line, 10, 3)
    text = b""
    while len(text) < int(size):
        text += line.recv(1 << 16)
    arguments, environment, folder = json.loads(text)
    pid = os.fork()
    if pid == 0:
        line.close()
        for place, descriptor in enumerate(descriptors):
            os.dup2(descriptor, place)
            os.close(descriptor)
        _run(arguments, environment, folder)
    line.sendall(b"%10d" % pid)
    for descriptor in (0, 1, 2, *descriptors):
        os.close(descriptor)  # or a reader of the command's output would wait for this process
    _, status = os.waitpid(pid, 0)
    line.sendall(b"%10d" % os.waitstatus_to_exitcode(status))
    os._exit(0)


def _run(arguments: list[str], environment: dict[str, str], folder: str) -> NoReturn:
    from biem.cli import main

    os.environ.clear()
    os.environ.update(environment)
    time.tzset()
    # Those of before know what their descriptors were, such as whether one can seek. By lines, as on a terminal.
    sys.stdin, sys.stdout, sys.stderr = (open(place, mode, 1, closefd=False) for place, mode in enumerate("rww"))  # noqa: SIM115
    os.chdir(folder)
    sys.argv = ["biem", *arguments]
    try:
        main()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    serve(sys.argv[1])
