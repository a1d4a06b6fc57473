"""Corrected memories against a dict with their histories: after any operations in any order, both say the same.

Each text holds a word that no other text ever held, so it tells which revision recall answers with.
"""

import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

import biem
from biem.bootstrap import Servers
from biem.errors import RevisionConflict
from tests.support.effort import sized
from tests.support.fakes import HeldClock, WordEmbedder
from tests.support.systems import system

SAYINGS = ("{}: the harbour waits by the bridge", "{}：明天下午三点在图书馆开会", "{}: my kite is in the attic")
LETTERS = "bcdfghjkmnprtvwx"
PICK = st.integers(0, 1_000)


@dataclass
class Known:
    """What the dict says of one memory: its texts with their words, importances, and when each was made."""

    id: str
    made: list[datetime] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    importances: list[float] = field(default_factory=list)
    archived: bool = False

    def add(self, at: datetime, word: str, text: str, importance: float) -> None:
        self.made.append(at)
        self.words.append(word)
        self.texts.append(text)
        self.importances.append(importance)


class Corrections(RuleBasedStateMachine):
    """One scope, a clock to move, and a worker that works when told to."""

    whole: biem.Memory
    clock: HeldClock

    @initialize()
    def begin(self) -> None:
        self.memory = self.whole.scope(user=uuid.uuid4().hex)
        self.known: dict[str, Known] = {}
        self.count = 0

    def new_text(self, saying: int) -> tuple[str, str]:
        self.count += 1
        word = "zq" + "".join(LETTERS[int(digit, 16)] for digit in f"{self.count:04x}") + "q"
        return word, SAYINGS[saying % 3].format(word)

    def pick(self, number: int) -> Known | None:
        return list(self.known.values())[number % len(self.known)] if self.known else None

    def pass_time(self) -> datetime:
        self.clock.advance(hours=1)
        return self.clock.now()

    @rule(saying=PICK, message=st.booleans())
    def remember(self, saying: int, message: bool) -> None:
        at, (word, text) = self.pass_time(), self.new_text(saying)
        one = Known(self.memory.remember(text, speaker="Ann" if message else ""))
        one.add(at, word, text, 3.0)
        self.known[one.id] = one
        self.look(one)

    @rule(number=PICK, saying=PICK, expected=st.booleans())
    def revise(self, number: int, saying: int, expected: bool) -> None:
        if (one := self.pick(number)) is None:
            return
        at, (word, text) = self.pass_time(), self.new_text(saying)
        if one.archived:
            with pytest.raises(biem.InvalidInput, match="restore it first"):
                self.memory.revise(one.id, text=text)
            return
        now = len(one.made)
        with pytest.raises(RevisionConflict, match=f"at revision {now}"):
            self.memory.revise(one.id, text=text, expect=now + 1)
        node = self.memory.revise(one.id, text=text, expect=now if expected else None)
        assert node.revision == now + 1
        one.add(at, word, text, one.importances[-1])
        self.look(one)

    @rule(number=PICK, importance=st.sampled_from([1.0, 3.0, 5.0]))
    def weigh(self, number: int, importance: float) -> None:
        if (one := self.pick(number)) is None or one.archived:
            return
        at = self.pass_time()
        node = self.memory.revise(one.id, importance=importance)
        if importance != one.importances[-1]:
            one.add(at, one.words[-1], one.texts[-1], importance)
        assert (node.revision, node.importance) == (len(one.made), importance)
        self.look(one)

    @rule(number=PICK, revision=PICK)
    def revert(self, number: int, revision: int) -> None:
        if (one := self.pick(number)) is None or one.archived:
            return
        at, place = self.pass_time(), revision % len(one.made)
        self.memory.revert(one.id, place + 1)
        if (one.texts[place], one.importances[place]) != (one.texts[-1], one.importances[-1]):
            one.add(at, one.words[place], one.texts[place], one.importances[place])
        self.look(one)

    @rule(number=PICK)
    def archive_or_restore(self, number: int) -> None:
        if (one := self.pick(number)) is not None:
            assert (self.memory.restore if one.archived else self.memory.archive)(one.id)
            one.archived = not one.archived
            self.look(one)

    @rule(number=PICK)
    def erase(self, number: int) -> None:
        if (one := self.pick(number)) is None:
            return
        receipt = self.memory.erase(one.id)
        assert receipt.complete
        counted = {count.store: count.before for count in receipt.stores}
        assert counted["postgres.memory_revisions"] == len(one.made) - 1
        del self.known[one.id]
        with pytest.raises(biem.NotFound):
            self.memory.revisions(one.id)
        assert not any(self.told(word, at) for word in one.words for at in (None, one.made[0]))

    @rule()
    def work(self) -> None:
        while self.memory._system.encoder():
            pass

    @rule(number=PICK)
    def recall(self, number: int) -> None:
        if (one := self.pick(number)) is not None:
            self.look(one)

    def told(self, word: str, at: datetime | None = None) -> list[str]:
        """The texts with this word that are shown, now or as of an instant."""
        return [hit.node.text for hit in self.memory.recall(word, top_k=5, as_of=at) if word in hit.node.text]

    def look(self, one: Known) -> None:
        """Now and as of each revision exactly the text that stands is shown."""
        history = self.memory.revisions(one.id)
        assert [(each.text, each.importance, each.made_at) for each in history] == list(
            zip(one.texts, one.importances, one.made, strict=True)
        )
        for place, at in enumerate(one.made):
            for word in {*one.words}:
                text = [one.texts[place]] if one.words[place] == word and not one.archived else []
                assert self.told(word, at) == text, (word, at, one)
        for word in {*one.words}:
            text = [one.texts[-1]] if one.words[-1] == word and not one.archived else []
            assert self.told(word) == text, (word, one)

    def teardown(self) -> None:
        if hasattr(self, "known"):
            self.work()
            for one in self.known.values():
                self.look(one)
                if not one.archived:
                    assert self.memory.get(one.id).status == "active"


@pytest.fixture
def clock() -> HeldClock:
    return HeldClock()


@pytest.fixture
def alone(stack: Servers, clock: HeldClock) -> Iterator[biem.Memory]:
    """A memory on its own database, where nothing works unless it is instructed to."""
    with (
        system(stack, queue="none", close_timeout_s=0.0) as town,
        biem.connect(town.settings, embedder=WordEmbedder(dim=512), clock=clock) as memory,
    ):
        yield memory


@pytest.mark.long
@pytest.mark.req("X8", partly="revisions against a model with their history")
def test_corrected_memories_are_what_a_dict_with_their_history_says(alone: biem.Memory, clock: HeldClock) -> None:
    machine = type("Machine", (Corrections,), {"whole": alone, "clock": clock})
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=sized(3, 8),
            stateful_step_count=25,
            deadline=None,
            derandomize=True,
            phases=[Phase.generate],  # shrinking would take minutes; the steps that are printed suffice
            database=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
