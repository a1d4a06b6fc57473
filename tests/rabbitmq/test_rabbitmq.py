"""Worker and beat on a RabbitMQ of the caller's: `make test-rabbitmq BIEM_TEST_AMQP_URL=amqp://…`."""

import os
import re
from pathlib import Path

import pytest

import biem
from biem.adapters.probes import CeleryWorkers
from biem.config import Settings
from biem.domain.policies.jobs import SleepPolicy
from tests.integration.remember.test_celery import PERIODS, celery, worker
from tests.support.fakes import eventually

BROKER = os.environ.get("BIEM_TEST_AMQP_URL", "")
"""Its queues `encode` and `maintain` are used, and nothing else of it."""


@pytest.mark.skipif(not BROKER, reason="BIEM_TEST_AMQP_URL names no broker")
@pytest.mark.req("X2", partly="every job runs within one period on RabbitMQ, too")
def test_memories_are_encoded_and_every_job_runs_by_way_of_rabbitmq(tmp_path: Path) -> None:
    home, log = tmp_path / "home", tmp_path / "worker.log"
    settings = Settings(home=home, queue="celery", broker_url=BROKER)
    environment = PERIODS | {"BIEM_BROKER_URL": BROKER}
    with biem.connect(settings) as memory:
        # Given a worker that a writer's wake-ups reach before any beat runs
        with worker(home, log, **environment):
            eventually(lambda: b"ready." in log.read_bytes(), 300.0)
            assert CeleryWorkers(BROKER).alive()
            ids = [memory.remember("The violin lesson is on Monday"), memory.remember("小提琴课在星期一")]
            eventually(lambda: all(memory.get(key).status == "active" for key in ids), 300.0)

            # When beat runs with periods of a second / Then every job of its table has run
            with celery(home, tmp_path / "beat.log", "beat", **environment):

                def ran() -> set[str]:
                    return set(re.findall(r"succeeded in \S+: \{'job': '(\w+)'", log.read_text(errors="replace")))

                eventually(lambda: ran() == set(SleepPolicy().periods()), 300.0)
        assert memory.recall("When is the violin lesson?")[0].node.id in ids
    assert "Traceback" not in log.read_text(errors="replace")
