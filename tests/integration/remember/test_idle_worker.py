"""What a worker costs that has nothing to do, when the model is somewhere else."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import pytest

import biem
from tests.support.fakes import eventually
from tests.support.model_servers.embedding import EmbeddingServer
from tests.support.servers import Configure

ROOT = Path(__file__).parents[3]
MOST_MB = 300.0


@contextmanager
def worker(environment: dict[str, str], log: Path) -> Iterator[psutil.Process]:
    """A real prefork worker of one process, with its parent."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR", "PYTHONPATH") if name in os.environ}
    words = [sys.executable, "-m", "celery", "-A", "biem.workers.app", "worker", "-Q", "encode,maintain"]
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*words, "--pool", "prefork", "--concurrency", "1", "--loglevel", "INFO"],
            cwd=ROOT, env=kept | environment, stdout=output, stderr=output, start_new_session=True,
        )  # fmt: skip
    try:
        yield psutil.Process(process.pid)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def megabytes(process: psutil.Process) -> float:
    """Proportional set size of a process and its children: pages that they share count once, as they do in memory."""
    family = [process, *process.children(recursive=True)]
    return float(sum(one.memory_full_info().pss for one in family)) / 1e6


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="proportional set size is Linux'")
def test_an_idle_worker_without_a_model_stays_below_300_mb(
    settings: Configure, environment: dict[str, str], tmp_path: Path
) -> None:
    with EmbeddingServer() as server:
        model = {"provider": "openai", "model": "remote", "url": server.url}
        # Given a worker, one process and its parent, whose model is behind HTTP
        variables = environment | {f"BIEM_EMBEDDER__{name.upper()}": value for name, value in model.items()}
        log = tmp_path / "worker.log"
        with (
            biem.connect(settings(queue="celery", embedder=model, close_timeout_s=0.0)) as memory,
            worker(variables, log) as process,
        ):
            eventually(lambda: b"ready." in log.read_bytes(), 300.0)
            # When it has worked, so that everything it needs is loaded, and is idle again
            kept = memory.remember_many({"text": f"The lighthouse keeper wrote line {n}"} for n in range(100))
            eventually(lambda: all(memory.get(key).status == "active" for key in kept), 300.0)
            # Then both together take less than the limit
            assert megabytes(process) < MOST_MB
