"""One short seed of `benchmarks.chaos`, and proof that its judge sees what it is there to see."""

import json
import uuid
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

import biem
from benchmarks import chaos
from benchmarks._chaos_check import Story, Verdict, judge, stories
from benchmarks._chaos_client import TOKEN, token
from benchmarks._chaos_processes import SCOPES, VICTIMS, schedule
from biem import bootstrap
from biem.adapters.analyzers import RuleAnalyzer
from biem.adapters.embedded import stop
from biem.bootstrap import Servers
from biem.config import Settings
from tests.support.fakes import WordEmbedder

ANN, BOB = SCOPES[0], SCOPES[2]


@pytest.mark.long
@pytest.mark.req("X8", "X13", "X38", partly="one seed of chaos; benchmarks.chaos runs twenty")
def test_a_short_chaos_loses_doubles_leaks_and_raises_nothing(tmp_path: Path) -> None:
    out = tmp_path / "chaos.json"
    code = chaos.main(["--seeds", "1", "--first", "7", "--seconds", "5", "--embedder", "http", "--json", str(out)])
    [row] = json.loads(out.read_text())["rows"]
    assert (row["lost"], row["doubled"], row["leaked"], row["resurrected"]) == (0, 0, 0, 0)
    assert code == 0
    assert row["acked"] > 10
    assert row["kills"] + row["freezes"] > len(VICTIMS)


def test_a_seed_decides_everything_and_every_process_is_killed_and_frozen_once() -> None:
    plan = schedule(3, 20.0)
    assert plan == schedule(3, 20.0) != schedule(4, 20.0)
    assert sorted(fault.victim for fault in plan if not fault.freeze_s) == sorted(VICTIMS)
    assert sorted(fault.victim for fault in plan if fault.freeze_s) == sorted(VICTIMS)
    assert all(0 <= fault.at_s <= 20 for fault in plan)


def test_together_begins_with_a_power_cut_and_long_outlasts_every_call() -> None:
    plan = schedule(3, 20.0, "together")
    assert {fault.victim for fault in plan if fault.at_s == 0.0 == fault.freeze_s} == set(VICTIMS)
    assert plan == sorted(plan, key=lambda fault: fault.at_s)
    assert all(fault.freeze_s > 10 for fault in schedule(3, 20.0, "long") if fault.freeze_s)


def test_tokens_are_unique_and_one_term_of_the_index() -> None:
    words = {token(seed, who, life, n) for seed in range(3) for who in range(4) for life in range(3) for n in range(50)}
    assert len(words) == 3 * 4 * 3 * 50
    analyzer = RuleAnalyzer()
    for word in sorted(words)[:200]:
        assert TOKEN.fullmatch(word)
        assert analyzer.lexemes(f"{word}: a kite") == [word, "kite"]


@pytest.fixture
def own(tmp_path: Path) -> Iterator[tuple[Servers, biem.Memory]]:
    """Servers with nothing else on them, and a memory that works only when told to."""
    with ExitStack() as stack:
        home = tmp_path / "home"
        stack.callback(stop, home)
        where = stack.enter_context(bootstrap.servers(Settings(home=home)))
        settings = Settings(home=home, queue="none", close_timeout_s=0.0)
        yield where, stack.enter_context(biem.connect(settings, embedder=WordEmbedder()))


@pytest.mark.long
def test_the_judge_sees_what_is_lost_doubled_leaked_and_resurrected(own: tuple[Servers, biem.Memory]) -> None:
    where, memory = own
    ann, bob = (memory.scope(tenant=scope.tenant, user=scope.user, project=scope.project) for scope in (ANN, BOB))
    told: dict[str, Story] = {}

    def said(number: int, fate: str, *, memory_id: str = "") -> str:
        word = token(1, 0, 0, number)
        text = f"{word}: the kite waits by the bridge"
        told[word] = Story(ANN, text, memory_id or ann.remember(text, speaker="Ann"), fate)
        return word

    # Given memories with which all is well
    fine = said(1, "kept")
    gone = said(2, "erased")
    ann.erase(told[gone].memory_id)
    told[token(1, 0, 0, 9)] = Story(BOB, "never acknowledged")
    # And one of each that is not
    lost = said(3, "kept", memory_id=str(uuid.uuid4()))
    doubled = said(4, "kept")
    ann.remember(told[doubled].text, speaker="Ann")
    leaked = said(5, "kept")
    bob.remember(f"I heard of {leaked}")
    back = said(6, "erased")
    while memory._system.encoder():
        pass
    # When they are judged / Then just those are named
    verdict = Verdict()
    judge(where, memory, told, 1, verdict)
    assert (verdict.lost, verdict.doubled, verdict.leaked, verdict.resurrected) == ({lost}, {doubled}, {leaked}, {back})
    assert fine not in str(verdict)
    assert lost in verdict.traces[0]


def test_what_clients_noted_becomes_a_story_of_each_memory() -> None:
    one, two, three = (token(1, 0, 0, number) for number in range(3))
    events = [
        ["try", one, "a"], ["kept", one, "id1"], ["erasing", one], ["erased", one],
        ["try", two, "b"], ["kept", two, "id2"], ["archiving", two], ["restored", two],
        ["try", three, "c"], ["leaked", f"{three}: c"], ["resurrected", f"{one}: a"], ["broken", "Traceback"],
    ]  # fmt: skip
    # And one that another client of the scope erased, heard of first, and one that no one who wanted to erase it found
    four, five = (token(1, 0, 1, number) for number in range(2))
    events = [["erasing", four], ["missing", four], ["erased", four], *events]
    events += [["try", four, "d"], ["kept", four, "id4"], ["erasing", four], ["erased", four], ["restored", four]]
    events += [["try", five, "e"], ["kept", five, "id5"], ["erasing", five], ["missing", five], ["erased", five]]
    events += [["refused", "StoreUnavailable", "an outage"], ["refused", "SchemaOutdated", "no outage"]]
    verdict = Verdict()
    told = stories({ANN: events}, verdict)
    assert [(story.fate, story.memory_id) for story in told.values()] == [
        ("erased", "id1"),
        ("kept", "id2"),
        ("tried", ""),
        ("erased", "id4"),
        ("erased", "id5"),
    ]
    assert (verdict.acked, verdict.erased) == (4, 3)
    assert (verdict.leaked, verdict.resurrected, verdict.lost) == ({three}, {one}, {five})
    assert verdict.broken == ["Traceback", "SchemaOutdated: no outage"]
