"""What is written down of a program's embedder, and how other programs build the same from it."""

import json
from typing import Any

import pytest

from biem.bootstrap.embedders import of_the_model, with_choice
from biem.config import EmbedderSettings, Settings
from biem.ports.reembed import EmbedderChoice

LOGIN = "ann:hunter2-login"
WITH_LOGIN = f"http://{LOGIN}@embed.example.org:8080/v1"
WITHOUT = "http://embed.example.org:8080/v1"


def settings(url: str, **more: Any) -> Settings:
    return Settings(embedder=EmbedderSettings(provider="openai", model="m", url=url, **more))


@pytest.mark.req("X43", partly="the embedder that is written down by reembed")
def test_neither_login_nor_key_is_written_down() -> None:
    # Given an embedder behind a login and a key / When it is described for other programs
    told = json.dumps(of_the_model(settings(WITH_LOGIN, api_key="hunter2-key")))

    # Then they learn where it is, and no secret
    assert "hunter2" not in told
    assert "ann" not in told
    assert WITHOUT in told


@pytest.mark.parametrize(
    ("own", "taken"),
    [(WITH_LOGIN, WITH_LOGIN), (WITHOUT, WITHOUT), (f"http://{LOGIN}@elsewhere.example.org/v1", WITHOUT)],
)
def test_a_program_goes_to_the_chosen_embedder_with_its_own_login_for_that_and_no_other(own: str, taken: str) -> None:
    # Given an embedder that all memories were moved to / When a program with settings of its own takes it
    choice = EmbedderChoice("m", 4, "c", dict(of_the_model(settings(WITH_LOGIN))))
    built = with_choice(settings(own, api_key="mine"), choice).embedder

    # Then a login goes only where it belongs, and the key is the program's
    assert built.url.get_secret_value() == taken
    assert built.api_key.get_secret_value() == "mine"
