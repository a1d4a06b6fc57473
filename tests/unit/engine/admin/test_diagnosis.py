"""What diagnosing concludes, and how it goes through scopes."""

from collections import Counter
from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from biem.domain.diagnosis import Depth, Diagnosis, Finding, Limits
from biem.engine.admin.diagnosis import Diagnoser, IndexCheck
from biem.engine.admin.diagnosis.state_checks import around
from biem.errors import StoreUnavailable
from biem.ports import EmbedderInfo
from biem.ports.diagnosis import Collection
from biem.telemetry import Telemetry

INFO = EmbedderInfo("m", 64, ("mul",), 512)
FAULT = Finding("fault", "error", "something is wrong", "mend it")


class Index:
    """The part of the port `IndexInspection` that is asked here."""

    def __init__(self, version: tuple[int, ...] | None, *collections: Collection) -> None:
        self._version, self._collections = version, collections

    def version(self) -> tuple[int, ...] | None:
        return self._version

    def collections(self) -> Sequence[Collection]:
        return self._collections


def told(index: Index) -> list[str]:
    check = IndexCheck(index, "ours", INFO)  # type: ignore[arg-type]
    return [finding.id for finding in check.look(Depth(), Counter(), mend=False)]


@pytest.mark.parametrize(
    ("version", "collections", "expected"),
    [
        ((2, 3), [Collection("ours", 64, False, 5)], ["milvus_without_bm25"]),
        ((2, 6), [Collection("ours", 64, True, 5)], []),
        ((2, 6), [Collection("ours", 64, False, 5)], ["collection_without_bm25"]),
        (None, [Collection("ours", 64, True, 5)], []),
        (None, [Collection("ours", 32, True, 5)], ["wrong_dimension"]),
        (None, [Collection("ours", 64, True, 5), Collection("theirs", 64, True, 3)], ["other_collections"]),
        (None, [Collection("ours", 64, True, 5), Collection("empty", 64, True, 0)], []),
        (None, [], []),
    ],
)
def test_the_index_is_judged_by_version_dimension_and_what_others_left(
    version: tuple[int, ...] | None, collections: list[Collection], expected: list[str]
) -> None:
    assert told(Index(version, *collections)) == expected


@given(
    st.lists(st.text("0123456789abcdef", min_size=2, max_size=4), unique=True, max_size=30),
    st.text("0123456789abcdef", max_size=4),
    st.one_of(st.none(), st.integers(0, 40)),
)
def test_scopes_are_visited_once_around_from_anywhere(keys: list[str], start: str, most: int | None) -> None:
    ordered = sorted(keys)

    def fetch(after: str, limit: int) -> list[str]:
        return [key for key in ordered if key > after][: min(limit, 7)]

    visited = list(around(fetch, str, start, most))
    later, earlier = [k for k in ordered if k > start], [k for k in ordered if k <= start]
    assert visited == (later + earlier)[: len(keys) if most is None else most]


class Check:
    """A check that answers what it is instructed to."""

    def __init__(self, *answers: list[Finding] | Exception, needs: str = "") -> None:
        self.answers, self.needs, self.asked = list(answers), frozenset({needs} - {""}), 0

    def look(self, depth: Depth, seen: Counter[str], *, mend: bool) -> Iterator[Finding]:
        self.asked += 1
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        yield from (finding.evolve(mended="done") if mend else finding for finding in answer)


def diagnoser(places: list[Check], contents: list[Check], work: list[int] | None = None) -> Diagnoser:
    batches = iter(work or [])
    return Diagnoser(
        places,
        contents=lambda: contents,
        work=lambda: next(batches, 0),
        limits=Limits(),
        telemetry=Telemetry(),
    )


def test_what_needs_a_server_that_is_down_is_not_looked_at() -> None:
    redis_down = FAULT.evolve(id="redis_unreachable", blocks="redis")
    needs_redis, needs_other = Check([FAULT], needs="redis"), Check([FAULT], needs="milvus")
    found = diagnoser([Check([redis_down])], [needs_redis, needs_other]).look()
    assert [finding.id for finding in found.findings] == ["fault", "redis_unreachable"]
    assert (needs_redis.asked, needs_other.asked) == (0, 1)
    postgres_down = FAULT.evolve(blocks="postgres")
    assert diagnoser([Check([postgres_down])], [needs_other]).look().findings == (postgres_down,)
    assert needs_other.asked == 1


def test_a_check_that_breaks_off_is_a_finding_and_the_others_go_on() -> None:
    found = diagnoser([], [Check(StoreUnavailable("gone")), Check([FAULT])]).look()
    assert [finding.id for finding in found.findings] == ["check_failed", "fault"]
    assert "gone" in found.findings[0].what


def test_what_is_still_there_after_mending_counts_as_not_mended() -> None:
    stubborn, curable = Check([FAULT]), Check([FAULT.evolve(id="curable")], [])
    found = diagnoser([], [stubborn, curable], [3, 1]).mend()
    assert {finding.id: finding.mended for finding in found.findings} == {"fault": "", "curable": "done"}
    assert not found.healthy
    assert diagnoser([], [Check([FAULT], [])]).mend().healthy


def test_notes_are_no_problem_and_the_worst_come_first() -> None:
    note, warning = FAULT.evolve(id="a", severity="note"), FAULT.evolve(id="b", severity="warning")
    assert Diagnosis((note,), {}, True).healthy
    found = diagnoser([], [Check([note, warning, FAULT])]).look()
    assert [finding.severity for finding in found.findings] == ["error", "warning", "note"]
