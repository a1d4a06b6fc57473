"""The public API against a dict: after any operations in any order, both say the same.

The model knows nothing of servers, tiers, queues or ranking: a memory is there or not, in one scope, with one text.
Texts hold a word that no one else says, so recall must find exactly what the dict has.
"""

import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test
from psycopg.conninfo import make_conninfo

import biem
from biem.bootstrap import Servers
from biem.config import Settings
from biem.errors import RefConflict
from tests.support.databases import fresh_database
from tests.support.effort import sized
from tests.support.fakes import WordEmbedder

SUBJECTS = ("harbour", "kite", "lantern", "violin", "orchard", "bicycle", "kettle", "glacier")
PLACES = ("bridge", "station", "cellar", "attic", "market", "river", "tower", "garden")
LETTERS = "bcdfghjkmnprtvwx"
PICK = st.integers(0, 1_000)
SCOPES = 3


@dataclass
class Known:
    """What the dict says of one memory."""

    id: str
    scope: int
    word: str
    text: str
    ref: str | None
    archived: bool = False
    useful: int = 0


@dataclass
class Pair:
    """Two statements that cannot both hold, and what was decided: `None` while it is open."""

    id: str
    scope: int
    word: str
    older: str
    newer: str
    decided: str | None

    @property
    def shown(self) -> set[str]:
        """Which of the two recall may answer with."""
        return {"keep_new": {self.newer}, "keep_old": {self.older}}.get(self.decided or "", {self.older, self.newer})


class Model(RuleBasedStateMachine):
    """One life in three scopes: a user's own, a project of theirs, and another user's."""

    memory: biem.Memory

    @initialize()
    def begin(self) -> None:
        user = uuid.uuid4().hex
        self.scopes = [
            self.memory.scope(user=user),
            self.memory.scope(user=user, project="p"),
            self.memory.scope(user=f"not {user}"),
        ]
        self.known: dict[str, Known] = {}
        self.pairs: list[Pair] = []
        self.erased: list[Known] = []
        self.count = 0

    def new_word(self) -> str:
        self.count += 1
        return "zq" + "".join(LETTERS[int(digit, 16)] for digit in f"{self.count:04x}") + "q"

    def pick(self, number: int, *, archived: bool | None = None) -> Known | None:
        fit = [one for one in self.known.values() if archived is None or one.archived == archived]
        return fit[number % len(fit)] if fit else None

    # -- writing ----------------------------------------------------------------------------------------------------

    @rule(scope=st.integers(0, SCOPES - 1), kind=st.sampled_from(["fact", "message", "ref"]), subject=PICK, place=PICK)
    def remember(self, scope: int, kind: str, subject: int, place: int) -> None:
        word = self.new_word()
        text = f"{word}: the {SUBJECTS[subject % 8]} waits by the {PLACES[place % 8]}"
        ref = word if kind == "ref" else None
        memory_id = self.scopes[scope].remember(text, speaker="Ann" if kind == "message" else "", ref=ref)
        assert memory_id not in self.known
        self.known[memory_id] = Known(memory_id, scope, word, text, ref)
        self.look(self.known[memory_id])

    @rule(number=PICK)
    def remember_with_the_same_ref(self, number: int) -> None:
        one = self.pick(number, archived=False)
        if one is None or one.ref is None:
            return
        assert self.scopes[one.scope].remember(one.text, ref=one.ref) == one.id
        with pytest.raises(RefConflict):
            self.scopes[one.scope].remember("something else", ref=one.ref)

    @rule()
    @precondition(lambda self: self.erased)
    def remember_what_was_erased(self) -> None:
        one = self.erased.pop()
        again = self.scopes[one.scope].remember(one.text, ref=one.ref, speaker="" if one.ref else "Ann")
        assert again != one.id
        self.known[again] = Known(again, one.scope, one.word, one.text, one.ref)
        self.look(self.known[again])

    @rule()
    def work(self) -> None:
        """Index what is pending, as a worker does at any moment."""
        while self.memory._system.encoder():
            pass

    @rule(scope=st.integers(0, SCOPES - 1))
    def sleep(self, scope: int) -> None:
        assert self.scopes[scope].sleep().failed == ()

    # -- reading ----------------------------------------------------------------------------------------------------

    @rule(number=PICK)
    def recall(self, number: int) -> None:
        if (one := self.pick(number)) is not None:
            self.look(one)

    def look(self, one: Known) -> None:
        """Every scope finds exactly what it may."""
        node = self.scopes[one.scope].get(one.id)
        assert (node.text, node.ref, node.status == "archived") == (one.text, one.ref, one.archived)
        for number, scope in enumerate(self.scopes):
            found = [hit.node.id for hit in scope.recall(one.word, top_k=5) if one.word in hit.node.text]
            readable = number == one.scope or (number == 1 and one.scope == 0)
            assert found == ([one.id] if readable and not one.archived else []), (number, one)
            if number != one.scope:
                with pytest.raises(biem.NotFound):
                    scope.get(one.id)

    # -- forgetting -------------------------------------------------------------------------------------------------

    @rule(number=PICK)
    def archive(self, number: int) -> None:
        if (one := self.pick(number)) is not None:
            assert self.scopes[one.scope].archive(one.id) is not one.archived
            one.archived = True
            self.look(one)

    @rule(number=PICK)
    def restore(self, number: int) -> None:
        if (one := self.pick(number)) is not None:
            assert self.scopes[one.scope].restore(one.id) is one.archived
            one.archived = False
            self.look(one)

    @rule(number=PICK)
    def erase(self, number: int) -> None:
        if (one := self.pick(number)) is None:
            return
        stranger = self.scopes[(one.scope + 1) % SCOPES]
        for way in (stranger.erase, stranger.archive, stranger.restore):
            with pytest.raises(biem.NotFound):
                way(one.id)
        assert self.scopes[one.scope].erase(one.id).complete
        self.gone(one)

    @rule(scope=st.integers(0, SCOPES - 1), often=st.integers(0, 4))
    def erase_a_scope(self, scope: int, often: int) -> None:
        if often == 0:
            mine = [one for one in self.known.values() if one.scope == scope]
            assert self.memory.erase(self.scopes[scope].bound_to).complete
            self.pairs = [pair for pair in self.pairs if pair.scope != scope]
            for one in mine:
                self.gone(one)

    def gone(self, one: Known) -> None:
        del self.known[one.id]
        self.erased.append(one)
        with pytest.raises(biem.NotFound):
            self.scopes[one.scope].get(one.id)
        for scope in self.scopes:
            assert not any(one.word in hit.node.text for hit in scope.recall(one.word, top_k=5))

    # -- learning ---------------------------------------------------------------------------------------------------

    @rule(number=PICK, twice=st.booleans())
    def feedback(self, number: int, twice: bool) -> None:
        one = self.pick(number, archived=False)
        if one is None:
            return
        scope, turn = self.scopes[one.scope], uuid.uuid4().hex
        for _ in range(2 if twice else 1):
            scope.feedback(useful=[one.id], turn=turn)
        one.useful += 1
        with pytest.raises(biem.NotFound):
            scope.feedback(useful=[one.id, str(uuid.uuid4())])
        assert scope.get(one.id).useful_count == one.useful

    # -- disagreeing ------------------------------------------------------------------------------------------------

    @rule(scope=st.integers(0, SCOPES - 1))
    def contradict(self, scope: int) -> None:
        word, memory = self.new_word(), self.scopes[scope]
        older = memory.remember(f"The old {word} bridge is open", at=memory.now() - timedelta(hours=1))
        newer = memory.remember(f"The old {word} bridge is closed", at=memory.now() - timedelta(minutes=1))
        self.work()
        [conflict] = [one for one in memory.conflicts(status=None) if one.older_id == older or one.newer_id == older]
        assert (conflict.newer_id, conflict.resolution) == (newer, "keep_new")
        self.pairs.append(Pair(conflict.id, scope, word, older, newer, "keep_new"))
        self.look_at_both(self.pairs[-1])

    @rule(number=PICK, how=st.sampled_from(["keep_new", "keep_old", "keep_both"]))
    def resolve(self, number: int, how: str) -> None:
        if not self.pairs:
            return
        pair = self.pairs[number % len(self.pairs)]
        memory = self.scopes[pair.scope]
        if pair.decided in (None, how):
            assert memory.resolve(pair.id, how).resolution == how
            pair.decided = how
        else:
            with pytest.raises(biem.InvalidInput):
                memory.resolve(pair.id, how)
        self.look_at_both(pair)

    @rule(number=PICK)
    def undo(self, number: int) -> None:
        if self.pairs:
            pair = self.pairs[number % len(self.pairs)]
            assert self.scopes[pair.scope].undo(pair.id).status == "pending"
            pair.decided = None
            self.look_at_both(pair)

    def look_at_both(self, pair: Pair) -> None:
        hits = self.scopes[pair.scope].recall(f"{pair.word} bridge", top_k=10)
        assert {hit.node.id for hit in hits if pair.word in hit.node.text} == pair.shown

    # -- in the end -------------------------------------------------------------------------------------------------

    def teardown(self) -> None:
        if not hasattr(self, "known"):
            return
        self.work()
        for one in self.known.values():
            self.look(one)
        for pair in self.pairs:
            self.look_at_both(pair)
        for number, scope in enumerate(self.scopes):
            mine = [one for one in self.known.values() if one.scope == number]
            pairs = 2 * sum(pair.scope == number for pair in self.pairs)
            assert scope.stats()["memories"] == len(mine) + pairs


@pytest.fixture
def alone(stack: Servers) -> Iterator[biem.Memory]:
    """A memory on its own database, where nothing works unless it is instructed to."""
    with fresh_database(stack.postgres_dsn) as name:
        chosen = Settings(
            postgres_dsn=make_conninfo(stack.postgres_dsn, dbname=name),
            redis_url=stack.redis_url,
            milvus_uri=stack.milvus_uri,
            milvus_collection=name,
            queue="none",
            close_timeout_s=0.0,
        )
        with biem.connect(chosen, embedder=WordEmbedder(dim=512)) as memory:
            yield memory


@pytest.mark.sized
@pytest.mark.req("D13", "X8", partly="the public API against a model")
def test_the_public_api_does_what_a_dict_would_in_any_order(alone: biem.Memory) -> None:
    machine = type("Machine", (Model,), {"memory": alone})
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=sized(4, 12),
            stateful_step_count=30,
            deadline=None,
            derandomize=True,
            phases=[Phase.generate],  # shrinking would take minutes; the steps that are printed suffice
            database=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
