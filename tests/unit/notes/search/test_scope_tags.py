"""Tags that are kept between queries: read once, and read again when one was renamed."""

from collections.abc import Sequence
from typing import cast

import pytest

from biem.domain.scope import Scope
from biem.notes.search import scope_tags
from biem.notes.search.scope_tags import ScopeTags
from biem.ports.notes.records import NoteRecords, TagInfo


class Records:
    """Tags of any scope; counts what is read."""

    def __init__(self) -> None:
        self.renamed: dict[int, int] = {}
        self.read: list[int] = []

    def tags(self, scopes: Sequence[Scope], ids: Sequence[int]) -> dict[int, TagInfo]:
        self.read += ids
        return {key: tag(key, self.renamed.get(key, key)) for key in ids if key < 100}


def tag(key: int, root: int) -> TagInfo:
    return TagInfo(key, "ns", f"tag {key}", root, f"tag {root}", b"", False, 1)


ANN = [Scope(user="ann")]


def test_a_tag_is_read_once_until_one_is_renamed_or_counted_again() -> None:
    # Given tags that one query has met
    records = Records()
    tags = ScopeTags(cast(NoteRecords, records))
    assert set(tags.now(ANN, records.renamed).infos([1, 2, 100])) == {1, 2}
    # When the next one meets them, then only others are read, and those that were not there
    assert set(tags.now(ANN, records.renamed).infos([1, 2, 3])) == {1, 2, 3}
    assert records.read == [1, 2, 100, 3]
    # When a process renames one, then the next query sees it
    records.renamed = {1: 2}
    assert tags.now(ANN, records.renamed).infos([1])[1].root == 2
    # And after a scan all are read again
    tags.changed()
    tags.now(ANN, records.renamed).infos([1])
    assert records.read == [1, 2, 100, 3, 1, 1]


def test_scopes_have_their_own_tags_and_those_not_used_lately_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scope_tags, "_MOST_SCOPES", 2)
    records = Records()
    tags = ScopeTags(cast(NoteRecords, records))
    for user in ("ann", "bob", "ann", "cid", "ann", "bob"):
        tags.now([Scope(user=user)], {}).infos([1])
    assert records.read == [1] * 4  # ann, bob, cid, and bob again


def test_tags_that_queries_met_are_found_by_any_spelling_of_their_name() -> None:
    records = Records()
    tags = ScopeTags(cast(NoteRecords, records)).now(ANN, {})
    assert tags.called(["Tag 1"]) == []
    tags.infos([1, 2])
    assert [info.id for info in tags.called(["TAG\u3000１", "tag 3"])] == [1]
