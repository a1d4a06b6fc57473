"""The designs' numbers: every row of the table is what the settings become, unless something else was set."""

import dataclasses
import re
from datetime import timedelta
from functools import cache
from pathlib import Path

import pytest

from biem.config import Settings, load_settings
from biem.config.operator import OPERATOR
from biem.domain.designs.aim import gate_value
from biem.domain.designs.numbers import DESIGNS, NUMBERS, Number
from biem.domain.energy import energy_at
from biem.domain.policies.life import EnergyPolicy
from biem.domain.retention import Lived, becomes_long_term, retention_days
from biem.errors import ConfigError
from tests.support.fakes import START

PAGE = (Path(__file__).parents[3] / "docs" / "profiles.md").read_text(encoding="utf-8")
ROWS = [(design, number) for design, numbers in NUMBERS.items() for number in numbers]


@cache
def loaded(design: str) -> Settings:
    """What is loaded with nothing but a profile set."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("BIEM_PROFILE", design)
        return load_settings()


@cache
def defaults() -> Settings:
    return Settings()


def value_of(settings: Settings, number: Number) -> object:
    section, name = number.setting.split(".")
    return getattr(getattr(settings, section), name)


def variable(number: Number) -> str:
    """As the page names it: a variable of the environment, or a name of the tuning file."""
    section, name = number.setting.split(".")
    return f"BIEM_{section}__{name}".upper() if name in OPERATOR.get(section, (name,)) else number.setting


@pytest.mark.req("C10", "C19", "C30", partly="the designs' numbers by one setting")
@pytest.mark.parametrize(("design", "number"), ROWS, ids=[f"{design}-{number.setting}" for design, number in ROWS])
def test_a_profile_sets_each_of_its_numbers(design: str, number: Number) -> None:
    # Given nothing but the profile / When settings are loaded / Then the number is the document's, of its type
    found = value_of(loaded(design), number)
    assert found == number.value
    assert type(found) is type(value_of(defaults(), number))


@pytest.mark.parametrize("design", DESIGNS)
def test_each_design_changes_something_and_the_default_nothing(design: str) -> None:
    # Given the defaults / When a profile is chosen / Then some number is another one
    defaults = Settings()
    changed = [number for number in NUMBERS[design] if value_of(defaults, number) != number.value]
    assert bool(changed) == (design != "default")
    assert len({number.setting for number in NUMBERS[design]}) == len(NUMBERS[design])


def test_what_is_set_explicitly_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    # Given a profile and a setting of one of its numbers, in the environment and as an argument
    monkeypatch.setenv("BIEM_PROFILE", "biem")
    monkeypatch.setenv("BIEM_ENERGY__DECAY_PER_HOUR", "0.2")

    # When they are loaded / Then the setting stays, and the rest of its section is the profile's or the default's
    loaded = load_settings()
    assert loaded.energy == EnergyPolicy(decay_per_hour=0.2, boost_cooldown_s=0.0)
    assert loaded.recall.profile == "biem"
    whole = EnergyPolicy(boost_cooldown_s=5.0, boost=0.2)
    assert Settings(profile="biem", energy=whole).energy == whole


def test_the_default_profile_is_no_profile(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = load_settings().policies
    monkeypatch.setenv("BIEM_PROFILE", "default")
    assert load_settings().policies == plain


def test_an_unknown_profile_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BIEM_PROFILE", "elephant")
    with pytest.raises(ConfigError, match=r"BIEM_PROFILE: .*'aimate'"):
        load_settings()


def test_the_page_has_every_number_with_its_source_and_no_other() -> None:
    # Given the page's tables, by the profile they stand under
    documented: dict[str, list[list[str]]] = {}
    design = ""
    for line in PAGE.splitlines():
        if heading := re.fullmatch(r"`BIEM_PROFILE=(\w+)`", line):
            design = heading[1]
        if re.match(r"\| `(?:BIEM_|[a-z]+\.)", line):
            documented.setdefault(design, []).append([cell.strip(" `") for cell in line.strip("|").split("|")])

    # Then they are the data, in their order
    shown = {
        design: [[variable(one), str(one.value), one.source, one.meaning] for one in numbers]
        for design, numbers in NUMBERS.items()
        if numbers
    }
    assert {
        key: [[row[0], row[1].replace("true", "True").replace("false", "False"), *row[2:]] for row in rows]
        for key, rows in documented.items()
    } == shown


# -- a behaviour of each that changes ---------------------------------------------------------------------------------


@pytest.mark.req("M50", "M62", "M75", partly="AIMate's retention verbatim, as far as one memory is judged")
def test_under_aimate_every_short_term_memory_stays_fourteen_days() -> None:
    # Given AIMate's numbers and ours / When memories of any importance are judged, used or not, with a reason or not
    aimate, ours = Settings(profile="aimate").retention, Settings().retention
    reason = "because everybody in the team must know it"

    # Then they stay 14 days, and five accesses prove them; ours tell them apart
    for importance in (1.0, 2.5, 3.0, 4.9):
        for text, source in (("My allergy is no joke", "user"), ("I may be wrong", "assistant")):
            assert retention_days(Lived(text, source, "event", "short_term", importance), aimate) == 14.0
            used = Lived(text, source, "event", "short_term", importance, reason, 4, 3)
            assert retention_days(used, aimate) == 14.0
    assert retention_days(Lived("x", "", "event", "long_term", 1.0), aimate) == 90.0
    assert retention_days(Lived("x", "", "event", "core", 1.0), aimate) is None
    assert becomes_long_term("short_term", 5, 0, aimate)
    assert not becomes_long_term("short_term", 4, 0, aimate)
    once = Lived("x", "", "event", "short_term", 1.0, access_count=1)
    assert retention_days(once, ours) != retention_days(dataclasses.replace(once, access_count=0), ours)


@pytest.mark.req("C8", partly="the raw gate as a profile")
def test_under_aim_the_gate_is_the_documents_and_refuses_nothing_below_a_half() -> None:
    # Given nothing new, related or contradictory / When the gate is asked / Then g is 0.5, where ours is near 0
    assert gate_value(0.0, Settings(profile="aim").aim.gate_form) == 0.5
    assert gate_value(0.0, Settings().aim.gate_form) < 0.05


@pytest.mark.req("B33", partly="λ of the profile")
def test_under_biem_energy_halves_in_seven_hours() -> None:
    decay = Settings(profile="biem").energy.decay_per_hour
    assert energy_at(1.0, START, START + timedelta(hours=6.931), decay) == pytest.approx(0.5, abs=1e-3)


def test_under_hippocampus_a_run_takes_a_hundredth_of_what_is_idle() -> None:
    concepts = Settings(profile="hippocampus").concepts
    assert concepts.sample_ratio * 100 == Settings().concepts.sample_ratio == 1.0
    assert dataclasses.replace(concepts, sample_ratio=1.0, selection="top_k") == Settings().concepts
