"""A turn of an agent under each fault: the reply is made, what failed is counted and logged, and all comes back."""

import logging
import re
import uuid

import pytest

import biem
from biem.adapters.telemetry.prometheus import Prometheus
from biem.config import Settings
from biem.errors import EmbedderUnavailable
from tests.support.fakes import WordEmbedder, eventually
from tests.support.workloads import Door, Doors

BASE = "You are a helpful assistant."
_COUNTER = re.compile(r"^biem_(?:span_errors|recall_degraded)_total\{.*\} ([0-9.e+]+)$", re.MULTILINE)


def failures(exporter: Prometheus) -> float:
    """Errors and answers without a server, as a scrape shows them."""
    return sum(map(float, _COUNTER.findall(exporter.page().decode())))


@pytest.mark.req("G65")
@pytest.mark.parametrize("fault", ["postgres", "redis", "milvus", "embedder"])
def test_under_each_fault_the_reply_is_made_and_the_failure_is_counted_and_logged(
    fault: str, doors: Doors, caplog: pytest.LogCaptureFixture
) -> None:
    embedder = WordEmbedder()
    settings = Settings(**doors.urls, close_timeout_s=0.2)  # type: ignore[arg-type]
    exporter = Prometheus()
    with biem.connect(settings, scope=biem.Scope(user=uuid.uuid4().hex), embedder=embedder) as memory:
        memory._system.telemetry.attach(exporter)
        memory.remember("The lantern hangs in the hall", wait=True)
        plugin = biem.BIEMContextPlugin(memory, conversation="c")
        assert "lantern" in plugin.system_prompt(BASE, "Where is the lantern?")
        before = failures(exporter)
        # Given a fault
        door: Door | None = getattr(doors, fault, None)
        if door is not None:
            door.shut()
        else:
            embedder.failure = EmbedderUnavailable("no model today")
        # When a turn takes place
        with caplog.at_level(logging.WARNING):
            prompt = plugin.system_prompt(BASE, "Does the lantern still hang in the hall?")
            plugin.record_user_message("Does the lantern still hang in the hall?")
            # Then the model has its prompt, the failure was counted, and the log tells of it
            assert prompt.startswith(BASE)
            eventually(lambda: failures(exporter) > before)
            eventually(lambda: any(record.name.startswith("biem") for record in caplog.records))
        # And when the fault is over, so are its effects
        embedder.failure = None
        if door is not None:
            door.open()
        eventually(lambda: "hangs in the hall" in plugin.system_prompt(BASE, "lantern hall hangs?"))
