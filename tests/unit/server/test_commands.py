"""`biem serve` before it serves: what is missing, what cannot be listened on, what two processes cannot share."""

import socket
import sys

import pytest

from biem.cli.app import run
from biem.cli.server.web import listening
from biem.errors import ConfigError, MissingExtra


@pytest.mark.parametrize("package", ["fastapi", "uvicorn", "starlette", "mcp"])
def test_a_missing_extra_is_named(
    package: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # Given an installation without a package of the extra / When it is to serve / Then the extra is named
    for name in [name for name in sys.modules if name.partition(".")[0] == package or name.startswith("biem.server")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    assert run(["serve"]) == MissingExtra.exit_code
    assert "pip install 'biem[server]'" in capsys.readouterr().err


def test_a_port_that_is_taken_is_an_error_that_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert run(["serve", "--port", port]) == ConfigError.exit_code
    assert "--port" in capsys.readouterr().err


def test_two_processes_share_no_port_for_metrics(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("BIEM_METRICS_PORT", "9464")
    assert run(["serve", "--workers", "2"]) == ConfigError.exit_code
    assert "BIEM_METRICS_PORT" in capsys.readouterr().err


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_the_end_of_an_answer_waits_for_no_acknowledgement(host: str) -> None:
    # Given the socket that the server listens on / When a user connects / Then their connection delays nothing
    with listening(host, 0) as listener, socket.create_connection(listener.getsockname()[:2]):
        accepted, _ = listener.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
