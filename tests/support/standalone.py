"""A Milvus standalone server of the suite's own, from the program that `BIEM_TEST_MILVUS_SERVER` names."""

import os
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.support.fakes import eventually

PROGRAM = "BIEM_TEST_MILVUS_SERVER"
_START_S = 90.0


@dataclass(frozen=True, slots=True)
class Standalone:
    """A server that runs: its URI, and the group of its processes (a wrapper, with the server as its child)."""

    uri: str
    group: int

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """Stop it for the block: it hangs, and lives."""
        os.killpg(self.group, signal.SIGSTOP)
        try:
            yield
        finally:
            os.killpg(self.group, signal.SIGCONT)


@contextmanager
def standalone(program: str, folder: Path) -> Iterator[Standalone]:
    """Run the server on a free port with its data in `folder`, until the end of the block."""
    folder.mkdir(parents=True, exist_ok=True)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with (folder / "log").open("wb") as log:
        words = [program, "--data", str(folder / "data"), "--proxy-port", str(port)]
        process = subprocess.Popen(words, stdout=log, stderr=log, start_new_session=True)
        try:
            server = Standalone(f"http://127.0.0.1:{port}", process.pid)
            eventually(lambda: _answers(server.uri), _START_S)
            yield server
        finally:
            os.killpg(process.pid, signal.SIGKILL)  # asked politely, the wrapper leaves the server behind
            process.wait()


def _answers(uri: str) -> bool:
    from pymilvus import MilvusClient, MilvusException  # half a second, for those who need it

    try:
        client = MilvusClient(uri=uri, timeout=2.0)
        try:
            return bool(client.get_server_version(timeout=2.0))
        finally:
            client.close()
    except MilvusException:
        return False
