"""Hostile texts keep no other thread of the process waiting, neither while memory sleeps nor while it is asked."""

import uuid

import biem
from tests.support.fakes import WordEmbedder
from tests.support.life_workloads import ONLY_SLEEP
from tests.support.servers import Configure
from tests.support.work import longest_hold

BLANKS = f"one{' ' * 200_000}two"
CHAT = [
    f"Li Ming runs along the old river every single morning before breakfast {how}{' ' * 12_000}with his dog Rex"
    for how in ("happily", "again", "alone", "slowly", "early", "late")
]

_WANTED_S = 0.4
"""100 ms are wanted; a busy machine takes a few times as long for the same work. One quadratic text took minutes."""


def test_no_text_keeps_other_threads_waiting_while_memory_sleeps(settings: Configure) -> None:
    # Given a memory of 200,000 blanks and six messages alike, of 12,000 blanks each, that were of use
    scope = biem.Scope(user=uuid.uuid4().hex)
    with biem.connect(settings(sleep=ONLY_SLEEP), scope=scope, embedder=WordEmbedder(dim=512)) as memory:
        memory.remember(BLANKS, layer="long_term")
        ids = [memory.remember(text, speaker="Ann", conversation="c", ref=text[:90]) for text in CHAT]
        assert memory.flush()
        for turn in range(4):
            memory.feedback(ids, turn=str(turn))
        slept: list[biem.SleepReport] = []

        # When memory sleeps, and when it is asked / Then another thread runs at least every 100 ms of CPU
        assert longest_hold(lambda: slept.append(memory.sleep())) <= _WANTED_S
        assert longest_hold(lambda: memory.recall(BLANKS)) <= _WANTED_S
        assert longest_hold(lambda: memory.context(CHAT[0])) <= _WANTED_S

        # And the night made something of them
        assert [job.changes for job in slept[0].jobs if job.name == "crystallise" and any(job.changes.values())]
