"""Parts of ids stand for whole ones, where they are the only ones they can mean."""

from typing import Any, cast

import pytest

from biem.domain.node import id_part, new_id
from biem.domain.scope import Scope
from biem.engine.admin.browse import MemoryBrowser
from biem.errors import InvalidInput, NotFound
from biem.ports.readers import Browser

SCOPE = Scope(user="li")
IDS = [f"018f3a5e-7c01-7000-8000-00000000000{digit}" for digit in range(8)] + ["018f3a5e-7c01-7000-8000-0000deadbeef"]


class Listed:
    """Knows some ids."""

    def ids(self, scope: Scope, part: str, of: str, limit: int) -> list[str]:
        plain = [(one.replace("-", ""), one) for one in (IDS if of == "memory" else ())]
        return [one for digits, one in plain if digits.startswith(part) or digits.endswith(part)][:limit]


def look() -> MemoryBrowser:
    return MemoryBrowser(cast(Browser, cast(Any, Listed())))


@pytest.mark.parametrize(
    "part", ["deadbeef", "DEADBEEF", "adbeef", "8000-0000deadbeef", IDS[-1], IDS[-1].replace("-", "")]
)
def test_the_last_digits_of_an_id_stand_for_it(part: str) -> None:
    assert look().whole_id(SCOPE, part, "memory") == IDS[-1]


def test_a_whole_id_is_taken_as_it_is() -> None:
    unknown = new_id()
    assert look().whole_id(SCOPE, unknown, "memory") == unknown


def test_what_may_be_several_names_the_candidates() -> None:
    with pytest.raises(InvalidInput) as caught:
        look().whole_id(SCOPE, "018f3a5e", "memory")
    assert all(one in str(caught.value) for one in IDS[:5])
    assert "and more; give more digits" in str(caught.value)


def test_what_is_none_says_where_it_looked() -> None:
    with pytest.raises(NotFound, match=r"no conflict in scope default/li.* ends with deadbeef; list them"):
        look().whole_id(SCOPE, "deadbeef", "conflict")


@pytest.mark.parametrize("part", ["beef1", "", "xyzxyz", "deadbeef" * 5, "dead beef"])
def test_what_can_be_no_part_of_an_id_is_refused(part: str) -> None:
    with pytest.raises(InvalidInput, match="no id and no part of one"):
        id_part(part)
