"""Hostile texts keep no other thread of the process waiting, neither while memory sleeps nor while it is asked."""

import uuid

import pytest

import biem
from tests.support.fakes import WordEmbedder
from tests.support.life_workloads import ONLY_SLEEP
from tests.support.servers import Configure
from tests.support.work import HOLD_S, longest_hold

BLANKS = f"one{' ' * 200_000}two"
HABIT = "Li Ming runs along the old river every single morning before breakfast"
CHAT = [
    f"{HABIT} {how}{' ' * 12_000}with his dog Rex" for how in ("happily", "again", "alone", "slowly", "early", "late")
]
LONG = [f"{HABIT} {(shape * 60_000)[:60_000]}" for shape in ("a", "A", "1", "一", "a'", "和我在一起。", "ab cd. ", "“")]


@pytest.mark.long
def test_no_text_keeps_other_threads_waiting_while_memory_sleeps(settings: Configure) -> None:
    with biem.connect(settings(sleep=ONLY_SLEEP), embedder=WordEmbedder(dim=512)) as memory:
        slept: list[biem.SleepReport] = []

        def night() -> None:
            # Given memories of 200,000 blanks, of 60,000 characters without end, and six alike that were of use
            own = memory.scope(user=uuid.uuid4().hex)
            for text in (BLANKS, *LONG):
                own.remember(text, layer="long_term")
            ids = [own.remember(text, speaker="Ann", conversation="c", ref=text[:90]) for text in CHAT]
            assert own.flush()
            for turn in range(4):
                own.feedback(ids, turn=str(turn))
            slept.append(own.sleep())
            for question in (BLANKS, CHAT[0], LONG[0][:1_000], "Where does Li Ming run in the morning?"):
                own.recall(question, top_k=20)
                own.context(question)

        # When memory sleeps, and when it is asked / Then another thread runs at least every 100 ms of CPU
        assert longest_hold(night, tries=3) <= HOLD_S

        # And the night made something of them
        assert [job.changes for job in slept[0].jobs if job.name == "crystallise" and any(job.changes.values())]
