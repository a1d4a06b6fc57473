"""What is written down of a program's embedder, and that no row of a table decides where texts and keys are sent."""

import json
from typing import Any

import pytest

from biem.bootstrap.embedder import of_the_model, with_choice
from biem.config import EmbedderSettings, Settings
from biem.errors import ConfigError
from biem.ports.reindexing import EmbedderChoice

LOGIN = "ann:hunter2-login"
WITH_LOGIN = f"http://{LOGIN}@embed.example.org:8080/v1"
WITHOUT = "http://embed.example.org:8080/v1"
EVIL = "http://evil.example.org/v1"


def settings(url: str, provider: str = "openai", model: str = "m", **more: Any) -> Settings:
    return Settings(embedder=EmbedderSettings(provider=provider, model=model, url=url, **more))


def chosen(said: dict[str, Any]) -> EmbedderChoice:
    return EmbedderChoice("openai:m2", 4, "c", said)


@pytest.mark.req("X43", partly="the embedder that is written down by reembed")
def test_neither_login_nor_key_nor_address_is_written_down() -> None:
    # Given an embedder behind a login, a key and a key in the query / When it is described for other programs
    told = json.dumps(of_the_model(settings(f"{WITH_LOGIN}?key=hunter2-query", api_key="hunter2-key")))

    # Then they learn no secret, and not where it is
    assert "hunter2" not in told
    assert "ann" not in told
    assert "example.org" not in told


@pytest.mark.parametrize("own", [WITH_LOGIN, WITHOUT, f"{WITHOUT}/", f"{WITHOUT}?key=k"])
@pytest.mark.parametrize("said", [{}, {"url": WITHOUT, "server": ""}], ids=["ours", "0.1.0"])
def test_a_program_takes_another_model_of_its_server(own: str, said: dict[str, str]) -> None:
    # Given a model of the same server that all memories were moved to, as this version or 0.1.0 writes it down
    row = {**of_the_model(settings(WITH_LOGIN, model="m2", query_prefix="q: ")), **said}
    built = with_choice(settings(own, api_key="mine"), chosen(row)).embedder

    # When a program with that server takes it / Then it is the model, at the program's address, with its key
    assert (built.model, built.query_prefix) == ("m2", "q: ")
    assert built.url.get_secret_value() == own
    assert built.api_key.get_secret_value() == "mine"


SAID: dict[str, dict[str, Any]] = {
    "another server": dict(of_the_model(settings(EVIL, model="m2"))),
    "an address": {"provider": "openai", "model": "m2", "url": EVIL, "query_prefix": "", "passage_prefix": ""},
    "another service": {**of_the_model(settings(WITHOUT, model="m2")), "provider": "ollama"},
    "a download": {"provider": "bge", "model": "evil/model", "url": ""},
    "nonsense": {"provider": ["openai"], "model": 7, "url": None},
    "nothing": {},
}


@pytest.mark.parametrize("said", SAID.values(), ids=SAID)
def test_a_row_leads_to_no_place_that_the_settings_do_not_name(said: dict[str, Any]) -> None:
    # Given a row that a user wrote, or that came with a backup / When a program is to take it / Then it refuses
    with pytest.raises(ConfigError, match="biem reembed") as failure:
        with_choice(settings(WITHOUT, api_key="hunter2-key"), chosen(said))
    assert "hunter2" not in str(failure.value)
    assert "evil" not in str(failure.value)


def test_a_program_without_a_server_is_not_led_to_one() -> None:
    # Given a program with the packaged model, and a row that names the default address of a service
    row = dict(of_the_model(settings("", model="m2")))
    # When it is to take it / Then it refuses, and it takes the other packaged model
    with pytest.raises(ConfigError):
        with_choice(settings("", provider="e5", api_key="hunter2-key"), chosen(row))
    taken = with_choice(settings(WITHOUT, api_key="k"), chosen(dict(of_the_model(settings("", "use", "")))))
    assert taken.embedder.provider == "use"
