"""Settings: where they come from, what is refused, what is never shown."""

import dataclasses
import json
import os
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from psycopg.conninfo import conninfo_to_dict
from pydantic import BaseModel, SecretStr

from biem.config import Settings, load_settings
from biem.config.operator import OPERATOR
from biem.domain.policies import Policies
from biem.domain.policies.context import ContextPolicy
from biem.domain.policies.jobs import SleepPolicy
from biem.errors import ConfigError

EXAMPLE = Path(__file__).parents[3] / ".env.example"
SECRET = "hunter2"
ALL = {
    "BIEM_POSTGRES_DSN": f"postgresql://u:{SECRET}@db/biem",
    "BIEM_REDIS_URL": f"redis://:{SECRET}@cache/0",
    "BIEM_MILVUS_URI": "http://vectors:19530",
}


@pytest.fixture
def env(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """An environment to fill; the suite has removed a developer's own settings already."""
    monkeypatch.setenv("HOME", "/nowhere")
    return monkeypatch


def load(env: pytest.MonkeyPatch, **variables: str) -> Settings:
    for name, value in variables.items():
        env.setenv(name, value)
    return load_settings()


class TestNames:
    @pytest.mark.req("B16")
    @pytest.mark.req("B58", "B59", "B60", partly="defaults")
    def test_the_defaults_are_those_of_the_design(self, env: pytest.MonkeyPatch) -> None:
        # Given no setting / When they are loaded
        settings = load_settings()

        # Then the design's numbers are there, and the servers are embedded
        assert (settings.milvus_port, settings.milvus_collection) == (19530, "biem_memories")
        assert (settings.milvus_use_lite, settings.disable_memory) == (False, False)
        assert (settings.postgres_port, settings.postgres_db) == (5432, "biem")
        assert (settings.postgres_url(), settings.milvus_url(), settings.redis_url) == (None, None, None)
        assert settings.policies == Policies()

    @pytest.mark.req("B58", "B59", "B60", partly="the names are understood")
    @pytest.mark.parametrize("prefix", ["", "BIEM_"])
    def test_the_designs_own_names_are_understood_with_and_without_our_prefix(
        self, env: pytest.MonkeyPatch, prefix: str
    ) -> None:
        # Given the names of the design / When they are loaded
        variables = {
            "MILVUS_HOST": "vectors",
            "MILVUS_PORT": "19531",
            "MILVUS_COLLECTION": "other",
            "POSTGRES_HOST": "db",
            "POSTGRES_PORT": "5433",
            "POSTGRES_DB": "memory",
            "POSTGRES_USER": "me",
            "POSTGRES_PASSWORD": SECRET,
            "DISABLE_MEMORY": "true",
        }
        settings = load(
            env, BIEM_REDIS_URL=ALL["BIEM_REDIS_URL"], **{prefix + name: value for name, value in variables.items()}
        )

        # Then they say where the servers are
        assert settings.milvus_url() == "http://vectors:19531"
        assert settings.milvus_collection == "other"
        assert settings.postgres_url() == f"postgresql://me:{SECRET}@db:5433/memory"
        assert settings.disable_memory is True

    @pytest.mark.req("B58")
    @pytest.mark.req("B59")  # that no secret is logged or shown: below, integration/security/test_secrets and test_tls
    def test_the_designs_environment_leads_where_its_document_says(self, env: pytest.MonkeyPatch) -> None:
        # Given the document's lines, and a Redis, of which it says nothing
        lines = """
            MILVUS_HOST=localhost
            MILVUS_PORT=19530
            MILVUS_COLLECTION=biem_memories
            MILVUS_USE_LITE=false
            POSTGRES_HOST=localhost
            POSTGRES_PORT=5432
            POSTGRES_DB=biem
            POSTGRES_USER=me
            POSTGRES_PASSWORD=hunter2
        """
        document = dict(line.strip().split("=") for line in lines.split())
        told = load(env, BIEM_REDIS_URL="redis://localhost", **document)

        # When they are loaded / Then that is where the servers are
        assert (told.milvus_url(), told.milvus_collection) == ("http://localhost:19530", "biem_memories")
        assert told.milvus_use_lite is False
        assert conninfo_to_dict(told.postgres_url() or "") == {
            "host": "localhost", "port": "5432", "dbname": "biem", "user": "me", "password": "hunter2",
        }  # fmt: skip

        # And all that has a value there is the default here: hosts and who one is are all that has to be said
        for name in set(document) - {"MILVUS_HOST", "POSTGRES_HOST", "POSTGRES_USER", "POSTGRES_PASSWORD"}:
            env.delenv(name)
        assert load_settings() == told

    def test_our_prefix_wins_over_the_bare_name(self, env: pytest.MonkeyPatch) -> None:
        # Given both / When they are loaded / Then the more deliberate one counts
        assert load(env, MILVUS_COLLECTION="bare", BIEM_MILVUS_COLLECTION="ours").milvus_collection == "ours"

    def test_whole_urls_win_over_their_parts(self, env: pytest.MonkeyPatch) -> None:
        # Given URLs and parts of other ones / When they are loaded / Then the URLs count
        settings = load(env, **ALL, POSTGRES_HOST="elsewhere", MILVUS_HOST="elsewhere")
        assert settings.postgres_url() == ALL["BIEM_POSTGRES_DSN"]
        assert settings.milvus_url() == ALL["BIEM_MILVUS_URI"]

    def test_the_collection_of_other_programs_environments_is_not_ours(self, env: pytest.MonkeyPatch) -> None:
        # Given names that only look like ours / When they are loaded / Then they mean nothing
        settings = load(
            env, HOME="/somewhere", USER="root", TENANT="x", BIEM="y", REDIS_URL="redis://x", BIEM_NONSENSE="1"
        )
        assert (settings.user, settings.tenant, settings.home) == ("default", "default", Path("~/.biem"))
        assert settings.redis_url is None

    def test_nested_settings_and_every_policy_can_be_set(self, env: pytest.MonkeyPatch) -> None:
        # Given nested names / When they are loaded
        settings = load(
            env,
            BIEM_EMBEDDER__PROVIDER="ollama",
            BIEM_EMBEDDER__THREADS="2",
            BIEM_RECALL__TOP_K="7",
            BIEM_RECALL__STRICT_WORDS='["genau", "原文"]',
            BIEM_ENERGY__DECAY_PER_HOUR="0.2",
        )

        # Then they are there, and the rest out is as it was
        assert (settings.embedder.provider, settings.embedder.threads, settings.embedder.timeout_s) == (
            "ollama",
            2,
            30.0,
        )
        assert settings.policies.recall == dataclasses.replace(
            Policies().recall, top_k=7, strict_words=("genau", "原文")
        )
        assert settings.policies.energy.decay_per_hour == 0.2

    def test_an_empty_variable_is_an_unset_one(self, env: pytest.MonkeyPatch) -> None:
        # Given a variable that a script left empty / When it is loaded / Then the default counts
        assert load(env, BIEM_POSTGRES_DSN="", MILVUS_HOST="", BIEM_QUEUE="") == Settings()


class TestServers:
    @pytest.mark.req("B59", partly="the password may have any character")
    @pytest.mark.parametrize("password", ["p@ss:w/rd?#", "%20", "爱", "a b", "'\"\\"])
    def test_every_password_and_user_arrives_as_it_is(self, env: pytest.MonkeyPatch, password: str) -> None:
        # Given a password that looks like a URL's syntax
        settings = load(
            env,
            POSTGRES_HOST="db",
            POSTGRES_USER=f"u{password}",
            POSTGRES_PASSWORD=password,
            POSTGRES_DB=f"d{password}",
            BIEM_REDIS_URL="redis://c",
            MILVUS_HOST="v",
        )

        # When PostgreSQL's own library reads the DSN / Then it finds them
        found = conninfo_to_dict(settings.postgres_url() or "")
        assert (found["user"], found["password"], found["dbname"]) == (f"u{password}", password, f"d{password}")

    @pytest.mark.req("B59", partly="hosts")
    @pytest.mark.parametrize("host", ["localhost", "10.0.0.1", "::1", "/var/run/postgresql"])
    def test_a_host_may_be_a_name_an_address_or_a_folder_of_sockets(self, env: pytest.MonkeyPatch, host: str) -> None:
        # Given a host as PostgreSQL's own tools take it
        settings = load(env, POSTGRES_HOST=host, BIEM_REDIS_URL="redis://c", MILVUS_HOST="v")

        # When PostgreSQL's own library reads the DSN / Then it goes there
        found = conninfo_to_dict(settings.postgres_url() or "")
        assert (found["host"], found["port"]) == (host, "5432")

    @pytest.mark.parametrize("missing", list(ALL))
    def test_half_a_cluster_is_refused_and_what_is_missing_is_named(
        self, env: pytest.MonkeyPatch, missing: str
    ) -> None:
        # Given two of three servers / When they are loaded
        with pytest.raises(ConfigError, match=f"{missing} not set") as caught:
            load(env, **{name: value for name, value in ALL.items() if name != missing})

        # Then no other is named as missing, and no password is shown
        assert SECRET not in str(caught.value)
        assert sum(f"{name}" in str(caught.value) for name in ALL) == 1

    @pytest.mark.parametrize("present", list(ALL))
    def test_a_single_server_is_refused_too(self, env: pytest.MonkeyPatch, present: str) -> None:
        # Given one of three servers / When it is loaded / Then both others are asked for
        with pytest.raises(ConfigError) as caught:
            load(env, **{present: ALL[present]})
        assert all((name in str(caught.value)) == (name != present) for name in ALL)

    @pytest.mark.req("B58", partly="MILVUS_USE_LITE")
    def test_milvus_may_be_embedded_next_to_other_servers_or_alone(self, env: pytest.MonkeyPatch) -> None:
        # Given the wish for the embedded Milvus / When it is loaded alone, and next to others
        alone = load(env, MILVUS_USE_LITE="true")
        beside = load(env, **ALL)

        # Then its URI is not used
        assert alone.milvus_url() is beside.milvus_url() is None
        assert beside.postgres_url() == ALL["BIEM_POSTGRES_DSN"]
        env.delenv("BIEM_REDIS_URL")
        with pytest.raises(ConfigError, match="BIEM_REDIS_URL"):
            load_settings()

    def test_all_three_servers_are_accepted(self, env: pytest.MonkeyPatch) -> None:
        # Given all three / When they are loaded / Then each is where it was said to be
        settings = load(env, **ALL)
        assert settings.postgres_url() == ALL["BIEM_POSTGRES_DSN"]
        assert settings.milvus_url() == ALL["BIEM_MILVUS_URI"]
        assert settings.redis_url is not None
        assert settings.redis_url.get_secret_value() == ALL["BIEM_REDIS_URL"]


class TestFaults:
    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("BIEM_POSTGRES_POOL", "many"),
            ("BIEM_POSTGRES_POOL", "1"),
            ("BIEM_QUEUE", "perhaps"),
            ("BIEM_PROFILE", "mine"),
            ("BIEM_CLOSE_TIMEOUT_S", "-1"),
            ("BIEM_MILVUS_COLLECTION", "a-b; drop"),
            ("MILVUS_PORT", "high"),
            ("BIEM_EMBEDDER__TIMEOUT_S", "0"),
            ("BIEM_RECALL__TOP_K", "ten"),
        ],
    )
    def test_a_value_that_cannot_be_used_is_refused_by_the_name_of_its_variable(
        self, env: pytest.MonkeyPatch, name: str, value: str
    ) -> None:
        # Given such a value / When it is loaded / Then the message has the name that a user can set
        with pytest.raises(ConfigError, match=f"settings cannot be used: (BIEM_)?{name}: "):
            load(env, **{name: value})

    def test_a_section_whose_numbers_do_not_fit_is_named_as_its_variables_begin(self, env: pytest.MonkeyPatch) -> None:
        with pytest.raises(ConfigError, match=r"BIEM_RECALL__…: recall\.top_k is at most max_top_k, 1000, not 2000"):
            load(env, BIEM_RECALL__TOP_K="2000")

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("RECALL__TOP_K", "0"),
            ("CONTEXT__MIN_CONFIDENCE", "7"),
            ("CONTEXT__MIN_CONFIDENCE", "nan"),
            ("CONFLICTS__PROTECTED_IMPORTANCE", "6"),
            ("GRAPH__MAX_LINKS", "-1"),
            ("RETENTION__PROMOTE_USEFUL", "0"),
            ("TIERS__IDLE_S", "inf"),
            ("SLEEP__SWEEP_S", "1e15"),
            ("MILVUS_PORT", "70000"),
            ("POSTGRES_PORT", "-1"),
            ("CLOSE_TIMEOUT_S", "1e15"),
            ("REASONER__DAILY_CALLS", "-1"),
            ("EMBEDDER__THREADS", "0"),
            ("MILVUS_INDEX", "zz"),
            ("QUEUE", "perhaps"),
            ("EMBEDDER__PROVIDER", "zz"),
            ("RECALL__SEARCH_TIMEOUT_S", "-1"),
            ("WRITE__MAX_TEXT_BYTES", "0"),
            ("WRITE__MAX_PER_MINUTE", "-1"),
            ("ENCODE__BATCH", "0"),
            ("ENCODE__POLL_S", "nan"),
            ("ENERGY__DECAY_PER_HOUR", "-1"),
            ("ENERGY__DECAY_PER_HOUR", "nan"),
        ],
    )
    def test_a_number_that_nothing_works_with_is_refused_at_the_start(
        self, env: pytest.MonkeyPatch, name: str, value: str
    ) -> None:
        with pytest.raises(ConfigError, match=rf", not {re.escape(value)}$") as caught:
            load(env, **{f"BIEM_{name}": value})
        assert str(caught.value).startswith(f"settings cannot be used: BIEM_{name}: Input should be ")
        assert "'" in str(caught.value) or re.search(r"than (or equal to )?-?\d+", str(caught.value))

    def test_a_policy_of_a_program_has_the_same_bounds(self) -> None:
        with pytest.raises(ValueError, match=r"context\.min_confidence"):
            Settings(context=ContextPolicy(min_confidence=7.0))

    def test_every_number_of_the_environment_has_a_largest_and_a_smallest_value(self, env: pytest.MonkeyPatch) -> None:
        # Given each number that has a variable / When it is far too large, or no number / Then it is refused
        names = [line.partition("=")[0] for line, _ in _settings() if re.search(r"=\d+(\.\d+)?$", line)]
        assert len(names) > 60
        for name in names:
            for value in ("1e300", "-1e300", "nan", "inf"):
                env.setenv(name, value)
                with pytest.raises(ConfigError, match=name):
                    load_settings()
            env.delenv(name)

    def test_a_number_of_the_tuning_file_is_named_as_it_stands_there(
        self, env: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        (tmp_path / "tuning.toml").write_text("[ranking]\nnameless = 'half'\n", encoding="utf-8")
        with pytest.raises(ConfigError, match=r"used: ranking\.nameless of BIEM_TUNING: "):
            load(env, BIEM_TUNING=str(tmp_path / "tuning.toml"))

    @pytest.mark.req("B59", "X43", partly="secrets are in no message")
    def test_a_fault_shows_no_value(self, env: pytest.MonkeyPatch) -> None:
        # Given a secret in the wrong place / When it is loaded / Then the message does not repeat it
        with pytest.raises(ConfigError) as caught:
            load(env, BIEM_POSTGRES_POOL=SECRET, BIEM_POSTGRES_PASSWORD=SECRET)
        assert SECRET not in str(caught.value)
        assert caught.value.__cause__ is None

    def test_an_env_file_that_is_not_there_is_named(self, tmp_path: Path) -> None:
        # Given a wrong path / When it is loaded / Then it is named
        with pytest.raises(ConfigError, match=r"nothing\.env"):
            load_settings(tmp_path / "nothing.env")

    def test_the_environment_wins_over_an_env_file_and_no_file_is_read_unasked(
        self, env: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        # Given a file in the working directory and a variable
        env.chdir(tmp_path)
        (tmp_path / ".env").write_text("BIEM_USER=file\nBIEM_TENANT=file\nMILVUS_COLLECTION=file\n")
        env.setenv("BIEM_USER", "environment")

        # When settings are loaded without and with naming it
        unasked, asked = load_settings(), load_settings(tmp_path / ".env")

        # Then it counts only when named, and below the environment
        assert (unasked.user, unasked.tenant, unasked.milvus_collection) == ("environment", "default", "biem_memories")
        assert (asked.user, asked.tenant, asked.milvus_collection) == ("environment", "file", "file")


class TestSecrets:
    @pytest.mark.req("B59", "X43", partly="secrets are in no representation")
    def test_no_representation_of_the_settings_shows_a_secret(self, env: pytest.MonkeyPatch) -> None:
        # Given a secret in every place that takes one
        settings = load(
            env,
            **ALL,
            BIEM_MILVUS_TOKEN=f"root:{SECRET}",
            POSTGRES_PASSWORD=SECRET,
            BIEM_EMBEDDER__API_KEY=SECRET,
        )

        # When they are shown in any way / Then it is not there
        for shown in (repr(settings), str(settings), repr(settings.model_dump()), settings.model_dump_json()):
            assert SECRET not in shown

    @pytest.mark.req("B59", "X43", partly="a Milvus URI with a password")
    def test_a_password_within_the_uri_of_milvus_is_not_shown_either(self, env: pytest.MonkeyPatch) -> None:
        # Given a URI with a login / When the settings are shown / Then its password is not
        settings = load(env, **ALL | {"BIEM_MILVUS_URI": f"https://root:{SECRET}@vectors:19530"})
        assert SECRET not in repr(settings) + settings.model_dump_json()
        assert settings.milvus_url() == f"https://root:{SECRET}@vectors:19530"


class TestExample:
    """`.env.example` holds every setting; the code is what it is compared with."""

    def test_every_setting_is_there_once_with_its_default_and_its_description(self) -> None:
        # Given the settings of the code
        lines = EXAMPLE.read_text(encoding="utf-8").splitlines()
        shown = [
            (line.removeprefix("# "), above.removeprefix("# "))
            for above, line in pairwise(lines)
            if re.match(r"# BIEM_[A-Z0-9_]+=", line)
        ]

        # When the example is read
        expected = dict(_settings())

        # Then it has each of these once, with words above it
        assert sorted(line for line, _ in shown) == sorted(expected)
        for line, description in shown:
            wanted = expected[line]
            assert description == wanted if wanted else len(description.split()) > 2, line

    def test_nothing_in_it_is_active_and_no_secret_has_a_value(self) -> None:
        # Given the example / When its lines are read / Then all are comments
        lines = EXAMPLE.read_text(encoding="utf-8").splitlines()
        assert all(line.startswith("#") or not line for line in lines)
        assert [line for line in lines if re.search("(PASSWORD|TOKEN|KEY|DSN)=.", line)] == []

    def test_uncommented_as_it_is_it_changes_nothing(self, env: pytest.MonkeyPatch, tmp_path: Path) -> None:
        # Given a copy with every setting uncommented
        text = EXAMPLE.read_text(encoding="utf-8")
        copy = tmp_path / "copy.env"
        copy.write_text(re.sub(r"(?m)^# (?=BIEM_[A-Z0-9_]+=)", "", text), encoding="utf-8")

        # When it is loaded / Then these are the defaults
        assert load_settings(copy) == load_settings()
        assert not [name for name in os.environ if name.startswith("BIEM_")]


def _settings() -> Iterator[tuple[str, str]]:
    """Each setting as a line, and its description where the code has one; what is nested comes last."""
    fields = Settings.model_fields.items()
    for nested in (False, True):
        for name, field in fields:
            if (isinstance(field.default, BaseModel) or dataclasses.is_dataclass(field.default)) == nested:
                yield from _within(name, field.default, field.description or "")


def _within(name: str, default: object, description: str) -> Iterator[tuple[str, str]]:
    if isinstance(default, BaseModel):
        for inner, field in type(default).model_fields.items():
            yield from _within(f"{name}__{inner}", field.default, field.description or "")
    elif dataclasses.is_dataclass(default):
        for part in dataclasses.fields(default):
            if part.name in OPERATOR[name]:
                yield from _within(f"{name}__{part.name}", getattr(default, part.name), "")
    else:
        yield _line(name, default), description


def _line(name: str, default: object) -> str:
    value = default.get_secret_value() if isinstance(default, SecretStr) else default
    if isinstance(value, bool):
        value = str(value).lower()
    elif isinstance(value, tuple | dict):
        value = json.dumps(value, ensure_ascii=False)
    return f"BIEM_{name.upper()}={'' if value is None else value}"


@pytest.mark.req("C15", partly="a switch for each job; the beat table and the lock are tested elsewhere")
def test_each_job_has_its_own_switch(monkeypatch: pytest.MonkeyPatch) -> None:
    # Given the jobs of a night, each of which is due now and then
    every = SleepPolicy().periods()
    assert min(every.values()) > 0

    # When one is switched off / Then it alone is never due
    for name in every:
        monkeypatch.setenv("BIEM_SLEEP__OFF", f'["{name}"]')
        switched = load_settings().policies.sleep
        assert switched.off == (name,)
        assert {job for job, period_s in switched.periods().items() if period_s == 0.0} == {name}

    # And a job that does not exist is refused
    monkeypatch.setenv("BIEM_SLEEP__OFF", '["dreaming"]')
    with pytest.raises(ConfigError, match="dreaming"):
        load_settings()


class TestTuningFile:
    """Fitted numbers come from the code or from a file, never from the environment."""

    def test_a_file_replaces_fitted_numbers_and_the_environment_does_not(
        self, env: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        # Given a file with a weight and a limit, and an environment with the same
        file = tmp_path / "tuning.toml"
        file.write_text(
            "[ranking]\nnameless = 0.7\n[ranking.weights]\nday = 2\n[recall]\ntop_k = 3\n", encoding="utf-8"
        )
        found = load(
            env, BIEM_TUNING=str(file), BIEM_RANKING__NAMELESS="0.9", BIEM_RECALL__TOP_K="4", BIEM_CONFIDENCE__BIAS="9"
        )

        # Then the file decides about the weight, and the environment, which comes first, about the limit
        assert (found.ranking.nameless, found.ranking.weights.day, found.recall.top_k) == (0.7, 2.0, 4)
        assert found.ranking.weights.words_around == Settings().ranking.weights.words_around
        assert found.confidence == Settings().confidence

    @pytest.mark.parametrize(
        ("text", "named"),
        [
            ("[rank]\nnameless = 1\n", "rank"),
            ("[ranking]\nnamless = 1\n", "ranking.namless"),
            ("[ranking.weights]\ndays = 1\n", "ranking.weights.days"),
            ("ranking = 3\n", "ranking"),
            ("[ranking\n", "cannot be read"),
            (None, "cannot be read"),
        ],
    )
    def test_what_the_file_cannot_set_is_an_error_that_names_it(
        self, env: pytest.MonkeyPatch, tmp_path: Path, text: str | None, named: str
    ) -> None:
        file = tmp_path / "tuning.toml"
        if text is not None:
            file.write_text(text, encoding="utf-8")
        with pytest.raises(ConfigError, match=re.escape(named)):
            load(env, BIEM_TUNING=str(file))

    def test_an_operator_decides_at_most_150_settings(self) -> None:
        assert len(list(_settings())) <= 150
