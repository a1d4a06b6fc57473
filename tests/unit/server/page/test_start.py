"""The start of the page: in which language it comes, and which addresses need no key."""

import pytest

from biem.server import page


@pytest.mark.parametrize(
    ("accepted", "language"),
    [
        ("", "en"),
        ("zh-CN,zh;q=0.9,en;q=0.8", "zh"),
        ("en-GB,en;q=0.9,zh;q=0.8", "en"),
        ("fr,zh;q=0.5", "zh"),
        ("de-DE,de;q=0.9", "en"),
        ("en;q=0.2, ZH-tw;q=0.9", "zh"),
        ("zh;q=0", "en"),
        ("*", "en"),
        (";;;,,zh;q=x,q=1", "en"),
    ],
)
def test_the_language_is_the_first_wanted_one_that_is_there(accepted: str, language: str) -> None:
    assert page.preferred(accepted) == language


def test_no_address_of_the_page_is_one_of_the_api() -> None:
    assert page.PATHS[0] == "/"
    assert len(page.PATHS) == len(set(page.PATHS))
    assert all(path.startswith("/page/") for path in page.PATHS[1:])
    assert [route.path for route in page.routes()] == list(page.PATHS)
