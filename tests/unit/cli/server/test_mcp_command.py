"""`biem mcp` and the integrations say which extra is missing."""

import importlib
import sys

import pytest

from biem.cli.app import run
from biem.errors import MissingExtra


def _without(monkeypatch: pytest.MonkeyPatch, missing: str, ours: str) -> None:
    """A program in which a package is not installed, and our module was not loaded yet."""
    for name in [name for name in sys.modules if name == missing or name.startswith(f"{missing}.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, missing, None)
    monkeypatch.delitem(sys.modules, ours, raising=False)


@pytest.mark.parametrize(
    ("missing", "ours", "extra"),
    [
        ("langgraph", "biem.integrations.langgraph", "langgraph"),
        ("agents", "biem.integrations.openai_agents", "agents"),
    ],
)
def test_a_missing_framework_is_named_with_its_extra(
    monkeypatch: pytest.MonkeyPatch, missing: str, ours: str, extra: str
) -> None:
    _without(monkeypatch, missing, ours)
    with pytest.raises(MissingExtra, match=rf"biem\[{extra}\]"):
        importlib.import_module(ours)


def test_a_missing_sdk_is_named_with_its_extra(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _without(monkeypatch, "mcp", "biem.server.mcp.tools")
    assert run(["mcp"]) == 5
    assert "biem[mcp]" in capsys.readouterr().err


def test_an_address_needs_a_key(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["mcp", "--url", "http://127.0.0.1:1"]) == 2
    assert "BIEM_KEY" in capsys.readouterr().err
