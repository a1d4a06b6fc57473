"""A setting whose name is wrong is notified of, and nothing else is."""

import logging
import re
from pathlib import Path

import pytest

from biem.bootstrap.check_settings import misspelt, warn_of_misspelt

EXAMPLE = Path(__file__).parents[3] / ".env.example"


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("BIEM_MILVUS_URL", "is BIEM_MILVUS_URI meant?"),
        ("BIEM_POSTGRES_DNS", "is BIEM_POSTGRES_DSN meant?"),
        ("BIEM_RECALL__TOPK", "is BIEM_RECALL__TOP_K meant?"),
        ("BIEM_EMBEDDER__KIND", "those of BIEM_EMBEDDER__ are API_KEY, CACHE_MB, "),
    ],
)
def test_what_is_nearly_a_setting_is_reported_with_what_was_meant(name: str, advice: str) -> None:
    # Given such a name / When names are looked through / Then it is reported, with advice
    (said,) = misspelt({name, "PATH"})
    assert said.startswith(f"{name} is no setting")
    assert advice in said


def test_a_fitted_number_in_the_environment_is_led_to_the_file_that_sets_it() -> None:
    (said,) = misspelt({"BIEM_RANKING__WEIGHTS__DAY"})
    assert said.startswith("BIEM_RANKING__WEIGHTS__DAY is not read from the environment")
    assert "ranking.weights.day" in said
    assert "BIEM_TUNING" in said


@pytest.mark.parametrize("name", ["BIEM_TEST_SERVERS", "BIEM_BENCH_MEM0", "MILVUS_URL", "DISABLE_MEMORIES", "BIEM_"])
def test_variables_of_others_are_left_alone(name: str) -> None:
    # Given a variable that is not meant for us / When names are looked through / Then nothing is said
    assert misspelt({name}) == []


def test_every_setting_is_known() -> None:
    # Given every name of the example, and a section given as a whole / When they are looked through / Then all is well
    names = set(re.findall(r"(?m)^# (BIEM_[A-Z0-9_]+)=", EXAMPLE.read_text(encoding="utf-8")))
    assert misspelt(names | {"BIEM_RECALL"}) == []


def test_the_environment_and_the_env_file_are_looked_through(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    # Given a slip in the environment and one in the env file
    monkeypatch.setenv("BIEM_REDIS_URI", "redis://example")
    env_file = tmp_path / "settings.env"
    env_file.write_text("BIEM_TENNANT=acme\nBIEM_USER=li\n", encoding="utf-8")

    # When settings are looked through / Then both are shown, and their values are not
    with caplog.at_level(logging.WARNING, "biem"):
        warn_of_misspelt(env_file)
    assert [record.getMessage() for record in caplog.records] == [
        "BIEM_REDIS_URI is no setting and is ignored; is BIEM_REDIS_URL meant?",
        "BIEM_TENNANT is no setting and is ignored; is BIEM_TENANT meant?",
    ]
