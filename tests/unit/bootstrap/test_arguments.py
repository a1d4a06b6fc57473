"""What `connect` is given is looked at before anything is started."""

from pathlib import Path
from typing import Any

import pytest

import biem
from biem.bootstrap import open_worker
from biem.config import Settings
from biem.errors import ConfigError
from tests.support.fakes import WordEmbedder


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"embedder": "e5"}, "embedder is of the type str; give an object as biem.ports.Embedder .* BIEM_EMBEDDER__"),
        ({"embedder": len}, "embedder is of the type builtin_function"),
        ({"embedder": WordEmbedder}, "embedder is of the type type"),
        ({"settings": {"user": "ana"}}, "settings is of the type dict; give a biem.config.Settings"),
        ({"scope": "ana"}, "scope is of the type str; give a biem.Scope"),
        ({"home": ""}, "home is empty"),
        ({"home": 3}, "home is of the type int; give the path of a folder"),
        ({"clock": 3}, "clock is of the type int; give an object as biem.ports.Clock"),
    ],
)
def test_an_argument_of_another_kind_is_named_and_nothing_is_started(
    given: dict[str, Any], said: str, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    with pytest.raises(ConfigError, match=said):
        biem.connect(**{"home": home, **given})
    assert not home.exists()


def test_a_worker_needs_an_embedder_too() -> None:
    with pytest.raises(ConfigError, match="embedder is of the type str"):
        open_worker(Settings(), embedder="e5")  # type: ignore[arg-type]
