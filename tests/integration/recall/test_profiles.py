"""Recall as the designs rank it, on real servers: the parts of each formula, and what the formula makes of them."""

import json
import os
import subprocess
import uuid
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

import biem
from biem.domain.designs.formulas import aimate_score, biem_score, notes_score
from biem.domain.energy import initial_energy
from biem.domain.policies.designs import PROFILES
from biem.domain.policies.recall import RecallPolicy
from biem.errors import EmbedderUnavailable, InvalidInput
from tests.support.cli_process import BIEM
from tests.support.fakes import START, HeldClock, WordEmbedder, eventually
from tests.support.life_workloads import ONLY_SLEEP
from tests.support.servers import Configure

QUERY = "green tea from the garden"
TEXTS = (
    "green tea from the garden",
    "green tea for everybody",
    "the garden is green",
    "a garden far from home",
    "black coffee at noon",
    "the train to Rome",
)


def part(hit: biem.Hit, name: str) -> float:
    return float(hit.why[name])


def parts(hit: biem.Hit, *names: str) -> list[float]:
    return [part(hit, name) for name in names]


@pytest.fixture
def clock() -> HeldClock:
    return HeldClock()


@pytest.fixture
def filled(settings: Configure, clock: HeldClock) -> Iterator[Callable[..., biem.Memory]]:
    """Memories a day apart, tagged, all indexed; in a scope of the test's own."""
    opened: list[biem.Memory] = []

    def build(**more: object) -> biem.Memory:
        memory = biem.connect(
            settings(**more), scope=biem.Scope(user=uuid.uuid4().hex), embedder=WordEmbedder(), clock=clock
        )
        opened.append(memory)
        for day, text in enumerate(TEXTS):
            memory.remember(
                text,
                at=START - timedelta(days=30 * day),
                tags=["drinks"] if "tea" in text else [],
                importance=1 + day % 5,
            )
        assert memory.flush()
        return memory

    yield build
    for memory in opened:
        memory.close()


@pytest.mark.req("B46", "B44", partly="on real servers")
def test_biem_is_seven_parts_likeness_and_three_parts_activation(filled: Callable[..., biem.Memory]) -> None:
    # Given memories / When they are recalled as BIEM does / Then each score is the formula's, best first
    memory = filled()
    hits = memory.recall(QUERY, profile="biem", top_k=2)
    assert hits[0].node.text == TEXTS[0]
    assert parts(hits[0], "vector", "activation") == [pytest.approx(1.0, abs=1e-3), 1.0]
    for hit in hits:
        assert hit.score == pytest.approx(biem_score(part(hit, "vector"), part(hit, "activation")), abs=1e-9)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


@pytest.mark.req("G46", "X48", partly="on memories with tags")
def test_notes_weigh_words_content_and_tags_of_every_candidate(filled: Callable[..., biem.Memory]) -> None:
    # Given tagged memories / When a tag is asked for / Then it lifts them, and each score is the formula's
    memory = filled()
    hits = memory.recall("drinks", profile="notes")
    assert {hit.node.text for hit in hits[:2]} == {TEXTS[0], TEXTS[1]}
    assert float(hits[0].why["tag"]) > 0.9
    for hit in hits:
        assert hit.score == pytest.approx(
            notes_score(part(hit, "bm25"), part(hit, "content"), part(hit, "tag")), abs=1e-9
        )
    by_text = {hit.node.text: hit for hit in memory.recall(QUERY, profile="notes")}
    assert by_text[TEXTS[0]].why["bm25"] == 1.0
    assert float(by_text[TEXTS[4]].why["bm25"]) == 0.0


@pytest.mark.req("M36", "M38", partly="steps on real servers")
def test_aimate_merges_two_searches_and_weighs_age_importance_and_use(
    filled: Callable[..., biem.Memory], clock: HeldClock
) -> None:
    # Given memories of other ages and importance / When they are recalled as AIMate does
    memory = filled()
    hits = memory.recall(QUERY, profile="aimate", top_k=5)

    # Then what both searches found is there once, and each score is the formula's
    assert len({hit.node.id for hit in hits}) == len(hits)
    assert parts(hits[0], "vector", "keyword") == [pytest.approx(1.0, abs=1e-3), 1.0]
    for hit in hits:
        vector, keyword, days = parts(hit, "vector", "keyword", "days")
        assert vector == 0.0 or vector >= 0.6
        assert days == pytest.approx((clock.now() - hit.node.at).total_seconds() / 86_400)
        expected = aimate_score(max(vector, keyword), days, hit.node.importance, hit.node.access_count)
        assert hit.score == pytest.approx(min(1.0, expected), abs=1e-9)


@pytest.mark.req("M42")
def test_what_aimate_returned_is_counted(filled: Callable[..., biem.Memory]) -> None:
    memory = filled()
    hit = memory.recall(QUERY, profile="aimate", top_k=1)[0]
    eventually(lambda: memory.get(hit.node.id).access_count == 1)
    assert memory.get(hit.node.id).accessed_at is not None


@pytest.mark.req("M21", partly="each option changes the answer")
def test_each_option_of_aimate_counts(filled: Callable[..., biem.Memory]) -> None:
    # Given the options / When one is off / Then what it gave is gone
    from biem.domain.policies.designs import FormulaPolicy

    def parted(**options: object) -> list[dict[str, float | str]]:
        memory = filled(formulas=FormulaPolicy(**options))  # type: ignore[arg-type]
        return [dict(hit.why) for hit in memory.recall(QUERY, profile="aimate")]

    assert all(why["keyword"] == 0.0 for why in parted(aimate_keyword=False))
    assert all(why["vector"] == 0.0 for why in parted(aimate_vector=False))
    assert len(parted(aimate_keyword=False, aimate_min_similarity=0.99)) == 1


@pytest.mark.req("A33", "A34", "A35", "C11", "A13", partly="as a profile of recall")
def test_aim_requires_the_anchors_of_the_query(filled: Callable[..., biem.Memory]) -> None:
    # Given memories with quantities of other units / When one is asked for / Then only it is there, by A's own score
    memory = filled()
    for text in ("a model of 10M tokens", "a model of 128K tokens", "a model of 10 tokens"):
        memory.remember(text)
    assert memory.flush()
    hits = memory.recall("which model has 10M tokens?", profile="aim")
    assert [hit.node.text for hit in hits] == ["a model of 10M tokens"]
    base, bonus, penalty, anchor = parts(hits[0], "base", "bonus", "penalty", "anchor")
    assert base == pytest.approx(0.3 * 0.8**2)  # two were written after it
    assert bonus == pytest.approx(anchor * 2.0 * 0.8**2)
    assert hits[0].why["score"] == pytest.approx(base + bonus + penalty)
    assert hits[0].score == 1.0


@pytest.mark.req("H30", "H31", partly="as a profile of recall")
def test_hippocampus_answers_from_concepts(settings: Configure, clock: HeldClock) -> None:
    # Given a conversation that was built into concepts
    user = biem.Scope(user=uuid.uuid4().hex)
    with biem.connect(settings(sleep=ONLY_SLEEP), scope=user, embedder=WordEmbedder(), clock=clock) as memory:
        for minute, text in enumerate(("Lisbon is warm in October", "the tram in Lisbon is yellow", "we ate fish")):
            memory.remember(text, speaker="Ann", conversation="trip", at=START + timedelta(minutes=minute))
        assert memory.flush()
        clock.advance(hours=2)
        memory.sleep()

        # When it is asked for one of them / Then what was said of it answers, with its share of the activation
        hits = memory.recall("Lisbon", profile="hippocampus")
        assert hits
        assert all("Lisbon" in hit.node.text for hit in hits)
        assert hits[0].score == pytest.approx(float(hits[0].why["share"]))
        assert memory.recall("nothing of the kind", profile="hippocampus") == []

        # And drawn by chance, the seed that the answer tells draws it again
        drawn = memory.recall("Lisbon", profile="hippocampus", selection="squared_norm")
        assert drawn.selection == "squared_norm"
        again = memory.recall("Lisbon", profile="hippocampus", selection="squared_norm", seed=drawn.seed)
        assert [hit.node.id for hit in again] == [hit.node.id for hit in drawn] != []


def test_what_was_just_written_is_found_under_every_profile(settings: Configure) -> None:
    # Given a memory that no one indexes / When it is asked for at once / Then it is there
    user = biem.Scope(user=uuid.uuid4().hex)
    with biem.connect(settings(queue="none"), scope=user, embedder=WordEmbedder()) as memory:
        written = memory.remember("The parcel locker opens with code 7714")
        for profile in set(PROFILES) - {"hippocampus"}:
            assert [hit.node.id for hit in memory.recall("parcel locker 7714", profile=profile)] == [written], profile


def test_conditions_hold_under_every_profile(filled: Callable[..., biem.Memory]) -> None:
    # Given conditions / When something is recalled under them / Then nothing else is in the answer
    memory, since = filled(), START - timedelta(days=45)
    for profile in PROFILES:
        hits = memory.recall(QUERY, profile=profile, since=since, kinds=["knowledge"])
        assert bool(hits) == (profile != "hippocampus")
        assert all(hit.node.at >= since for hit in hits), profile
        assert memory.recall(QUERY, profile=profile, kinds=["skill"]) == []
        assert all("drinks" in hit.node.tags for hit in memory.recall(QUERY, profile=profile, tags=["drinks"])), profile


def test_without_the_embedder_words_answer_under_every_profile(settings: Configure) -> None:
    # Given memories, and an embedder that then fails
    embedder, user = WordEmbedder(), biem.Scope(user=uuid.uuid4().hex)
    with biem.connect(settings(), scope=user, embedder=embedder) as memory:
        memory.remember("the parcel locker opens with code 7714", tags=["post"], wait=True)
        memory.remember("包裹柜的密码是7714", wait=True)
        embedder.failure = EmbedderUnavailable("down")

        # When something is recalled as each design would / Then its words find it, and the answer says what is missing
        for profile in set(PROFILES) - {"hippocampus"}:
            hits = memory.recall("parcel locker", profile=profile)
            assert hits[0].node.text.startswith("the parcel"), profile
            assert hits.degraded == ("embedder",), profile
            assert "密码" in memory.recall("密码", profile=profile)[0].node.text, profile


@pytest.mark.long
def test_the_command_line_chooses_profile_and_selection(home: Path, environment: dict[str, str]) -> None:
    # Given a memory written by the command / When it is recalled as a design would, by chance / Then the JSON says how
    user = uuid.uuid4().hex

    def run(*words: str) -> Any:
        command = [BIEM, "--json", "--home", str(home), "--user", user, *words]
        done = subprocess.run(command, env=os.environ | environment, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    run("remember", "the key is under the mat", "--wait")
    found = run("recall", "key", "--profile", "biem", "--selection", "weighted_random", "--seed", "5")
    assert (found["selection"], found["seed"]) == ("weighted_random", 5)
    assert {"vector", "activation"} <= found["hits"][0]["why"].keys()


def test_least_confidence_means_the_same_under_every_profile(filled: Callable[..., biem.Memory]) -> None:
    # Given memories, a question that they answer and one about what no one here has heard of
    memory = filled()
    stranger = "Why did Professor Fitzgerald sell his violin?"
    sure, unsure = memory.recall(QUERY).confidence, memory.recall(stranger).confidence
    assert unsure + 0.1 < sure  # twice what a profile may differ by
    least = (sure + unsure) / 2

    for profile in PROFILES:
        # When a caller wants to be told only what is likely known
        told = memory.recall(QUERY, profile=profile, min_confidence=least)
        silent = memory.recall(stranger, profile=profile, min_confidence=least)

        # Then the stranger's question gets nothing at all, and the other what it gets without
        assert silent == []
        assert told or profile == "hippocampus"  # which has no concepts yet
        assert abs(told.confidence - sure) < 0.05
        assert abs(silent.confidence - unsure) < 0.05

    # And without it a design tells its best, however unlikely
    assert memory.recall(stranger, profile="biem")


def test_a_context_is_never_silent_where_a_design_ranks(filled: Callable[..., biem.Memory]) -> None:
    # Given a memory that ranks as BIEM does, which knows no silence
    memory = filled(recall=RecallPolicy(profile="biem"))

    # When something is asked that no one here knows / Then the block has the best there is, and a plugin the same
    question = "Why did Professor Fitzgerald sell his violin?"
    assert memory.context(question).hits
    assert biem.BIEMContextPlugin(memory).prepare_context(question)


def test_unknown_profiles_and_selections_are_refused(filled: Callable[..., biem.Memory]) -> None:
    memory = filled()
    with pytest.raises(InvalidInput, match="profile 'elephant'"):
        memory.recall("x", profile="elephant")
    with pytest.raises(InvalidInput, match="selection 'dice'"):
        memory.recall("x", selection="dice")


@pytest.mark.req("B47")
@pytest.mark.req("B34", "C19", partly="the profile biem: every recall boosts")
@pytest.mark.parametrize(("profile", "boosts"), [("default", 1), ("biem", 3)])
def test_under_biem_every_access_lifts_energy_and_by_default_one_a_minute(
    filled: Callable[..., biem.Memory], profile: str, boosts: int
) -> None:
    # Given a memory / When it is recalled three times in a moment / Then its energy says how often that counted
    memory = filled(profile=profile)
    before = memory.recall(QUERY, top_k=1)[0].node
    for count in (1, 2, 3):
        eventually(lambda count=count: memory.get(before.id).access_count == count)  # type: ignore[misc]
        if count < 3:
            memory.recall(QUERY, top_k=1)
    assert memory.get(before.id).energy == pytest.approx(min(1.0, before.energy + 0.1 * boosts), abs=1e-6)

    # And what was looked at and not returned is as it was
    for other in memory.recall(QUERY, top_k=len(TEXTS))[1:]:
        node = other.node
        assert node.access_count == 0
        assert node.energy == pytest.approx(initial_energy(node.importance, ""), abs=1e-6)


@pytest.mark.parametrize(
    ("profile", "sign"),
    [("biem", "activation"), ("angel", "occurrences"), ("aimate", "keyword"), ("aim", "anchor"), ("default", "way")],
)
def test_the_setting_decides_how_recall_ranks(filled: Callable[..., biem.Memory], profile: str, sign: str) -> None:
    # Given the one setting / When something is recalled without a word about profiles / Then its formula ranked
    memory = filled(profile=profile)
    hits = memory.recall(QUERY)
    assert hits
    assert all(sign in hit.why for hit in hits)
    assert memory.context(QUERY).text  # and the block is made of it
