"""Dates of documents."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from biem.notes.dates import date_of, date_of_path

DAY = datetime(2025, 3, 14, tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    [
        "2025-03-14",
        "2025/3/14",
        "20250314",
        "2025年3月14日",
        "2025.03.14",
        "on 2025-03-14 x",
        "March 14, 2025",
        "Fri 14 Mar 2025 4:12 PM",
    ],
)
def test_a_day_is_read_in_every_form(text: str) -> None:
    assert date_of(text) == DAY


def test_a_moment_keeps_its_time() -> None:
    assert date_of("2025-03-14 09:30") == DAY + timedelta(hours=9, minutes=30)
    assert date_of("2025-03-14T09:30:00+08:00") == datetime(2025, 3, 14, 9, 30, tzinfo=timezone(timedelta(hours=8)))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2025-13-14",
        "2025-02-30",
        "2025-03",
        "12025-03-14",
        "20259999",
        "1850-01-01",
        "v2.1",
        "March 14",
        "March 2025",
        "202503140930",
    ],
)
def test_what_is_no_day_gives_none(text: str) -> None:
    assert date_of(text) is None


@pytest.mark.parametrize(
    "path",
    [
        "journal/2025-03-14.md",
        "2025/03/14.md",
        "2024-01-01/2025-03-14 meeting.md",
        "20250314_x.md",
        "202503140930 x.md",
        "20250314T0930.md",
    ],
)
def test_a_path_names_a_day_the_file_first(path: str) -> None:
    assert date_of_path(path) == DAY


def test_a_path_without_a_day() -> None:
    assert date_of_path("notes/2025-03/tea.md") is None
    assert date_of_path("reports of 2025/May 5 visit.md") is None
    assert date_of_path("reports/May 5, 2025 visit.md") == datetime(2025, 5, 5, tzinfo=UTC)
