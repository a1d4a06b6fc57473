"""A setting whose name is wrong is notified of, and nothing else is."""

import logging
import os
import re
from pathlib import Path

import pytest

from biem.bootstrap.check_settings import misspelt, unknown_settings, warn_of_misspelt
from biem.domain.diagnosis import Diagnosis

EXAMPLE = Path(__file__).parents[3] / ".env.example"


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("BIEM_MILVUS_URL", "is BIEM_MILVUS_URI meant?"),
        ("BIEM_POSTGRES_URL", "is BIEM_POSTGRES_DSN meant?"),
        ("BIEM_CONTEXT_TOPK", "is BIEM_CONTEXT__TOP_K meant?"),
        ("BIEM_TOP_K", "is BIEM_CONTEXT__TOP_K or BIEM_RECALL__MAX_TOP_K or BIEM_RECALL__TOP_K meant?"),
        ("BIEM_LLM__URL", "sections of settings are BIEM_AIM__, "),
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


def test_a_program_that_connects_often_is_warned_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("BIEM_PROJEKT", "garden")
    with caplog.at_level(logging.WARNING, "biem"):
        for _ in range(2):
            warn_of_misspelt()
    assert [record.getMessage() for record in caplog.records] == [
        "BIEM_PROJEKT is no setting and is ignored; is BIEM_PROJECT meant?"
    ]


def test_a_diagnosis_lists_every_variable_without_a_meaning_and_calls_none_a_fault(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    # Given a slip, variables of others, one of the containers, and variables that are read
    for name in [name for name in os.environ if name.startswith("BIEM_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("BIEM_REDIS_URI", "redis://example")
    monkeypatch.setenv("BIEM_USERNAME", "li")
    monkeypatch.setenv("BIEM_FEATURE_FLAG_9", "on")
    monkeypatch.setenv("BIEM_ENV_FILE", "settings.env")
    monkeypatch.setenv("BIEM_KEY", "secret")
    env_file = tmp_path / "settings.env"
    env_file.write_text("BIEM_COMPOSE_CONCURRENCY=2\nBIEM_USER=li\n", encoding="utf-8")

    # When they are looked through / Then each that means nothing is a note, with the nearest setting if there is one
    found = unknown_settings(env_file)
    assert [finding.what for finding in found] == [
        "BIEM_REDIS_URI is no setting and is ignored; is BIEM_REDIS_URL meant?",
        "BIEM_FEATURE_FLAG_9 is no setting and is ignored",
        "BIEM_USERNAME is no setting and is ignored; the nearest one is BIEM_USER",
    ]
    assert Diagnosis(tuple(found), {}, whole=True).healthy
