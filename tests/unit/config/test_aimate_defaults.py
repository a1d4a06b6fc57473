"""The numbers of AIMate's configuration hold without its own file."""

from dataclasses import replace

import pytest

from biem.config import Settings
from biem.config.aimate import AimateConfig, configured
from biem.domain.observing.category import BUILT_IN, categories_of
from biem.domain.policies.sessions import SessionPolicy
from biem.errors import ConfigError
from biem.layers.warnings import of_session


@pytest.fixture(scope="module")
def default() -> AimateConfig:
    """What holds without a file."""
    return configured(Settings(profile="aimate"), {})


@pytest.mark.req("M72")
def test_the_folders_are_those_of_the_design(default: AimateConfig) -> None:
    assert (default.global_root, default.project_dir, default.mirror) == ("~/.aimate/memory", ".aimate", True)


@pytest.mark.req("M73", partly="the defaults")
def test_the_shares_of_a_window_are_those_of_the_design(default: AimateConfig) -> None:
    builder = default.settings.builder
    assert (builder.total_budget, builder.core, builder.session) == (128_000, 0.1, 0.5)
    assert (builder.short_term, builder.long_term) == (0.2, 0.2)


@pytest.mark.req("M74")
def test_the_limits_of_a_session_are_those_of_the_design(default: AimateConfig) -> None:
    # Given the defaults / When they are read / Then they are AIMate's, and in the library, too
    session = default.settings.session
    assert session == SessionPolicy() == Settings().session
    assert (session.max_tokens, session.warning_ratio, session.critical_ratio) == (128_000, 0.7, 0.85)
    assert (session.trim_target, session.protected_rounds) == (0.5, 3)
    # And a session is said to fill up, and to be nearly full, from exactly there
    told = {
        tokens: [one.level for one in of_session(tokens, session, "zh")]
        for tokens in (89_599, 89_600, 108_799, 108_800, 128_000)
    }
    assert told == {
        89_599: [], 89_600: ["warning"], 108_799: ["warning"], 108_800: ["critical"], 128_000: ["critical"],
    }  # fmt: skip
    for wrong in ({"warning_ratio": 0.9}, {"critical_ratio": 1.1}, {"trim_target": 1.0}, {"protected_rounds": 0}):
        with pytest.raises(ValueError, match="session"):
            replace(session, **wrong)


@pytest.mark.req("M75")
def test_short_term_memories_stay_fourteen_days_and_five_accesses_promote(default: AimateConfig) -> None:
    settings = default.settings
    assert (settings.layers.ttl_days, settings.retention.promote_accesses) == (14.0, 5)
    # Given the categories / When they are read / Then those of short term, and no others, end after these days
    days = {name: one.ttl_days for name, one in categories_of({}, settings.layers.ttl_days).items()}
    assert days == {name: 14.0 if one.layer == "short_term" else None for name, one in BUILT_IN.items()}


@pytest.mark.req("M76", partly="what the configuration says of the embedder")
def test_the_embedder_is_that_of_the_configuration(default: AimateConfig) -> None:
    # Given no file: vectors are used, of the packaged model / When a file names a server / Then it is asked there
    assert default.vectors
    assert default.dimension is None
    named = {"provider": "deepseek", "model": "m", "url": "http://127.0.0.1:1", "api_key": "k", "dimension": 1536}
    found = configured(Settings(), {"embedding": named})
    embedder = found.settings.embedder
    assert (embedder.provider, embedder.model) == ("openai", "m")
    assert embedder.url is not None
    assert embedder.url.get_secret_value() == "http://127.0.0.1:1"
    assert found.dimension == 1536
    # And the dimension of an embedder that is not used is not compared, and no other value is one
    assert configured(Settings(), {"embedding": {"enabled": False, "dimension": 1536}}).dimension is None
    for wrong in (0, -1, 1.5, "1536", True):
        with pytest.raises(ConfigError, match=r"embedding\.dimension"):
            configured(Settings(), {"embedding": {"dimension": wrong}})


@pytest.mark.req("M77")
def test_maintenance_is_on_and_hourly(default: AimateConfig) -> None:
    # Given no file / When jobs are listed / Then maintenance runs every 60 minutes; a file can change both
    assert default.settings.sleep.periods()["lifecycle"] == 60 * 60
    assert default.settings.sleep.off == ()
    half = configured(Settings(), {"maintenance": {"enabled": True, "interval_minutes": 30}}).settings
    assert half.sleep.periods()["lifecycle"] == 30 * 60
    off = configured(Settings(), {"maintenance": {"enabled": False}}).settings
    assert off.sleep.periods()["lifecycle"] == 0
