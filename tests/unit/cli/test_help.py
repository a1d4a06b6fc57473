"""What `--help` says of each command."""

from collections.abc import Iterator
from typing import Any

import pytest
from typer.main import get_command

from biem.cli.app import application, run


def commands(command: Any, *names: str) -> Iterator[tuple[tuple[str, ...], Any]]:
    yield names, command
    for name, each in getattr(command, "commands", {}).items():
        yield from commands(each, *names, name)


ALL = dict(commands(get_command(application())))


@pytest.mark.parametrize("names", ALL, ids=" ".join)
def test_a_switch_shows_no_type_and_every_option_says_what_it_does(
    names: tuple[str, ...], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert run([*names, "--help"]) == 0
    shown = capsys.readouterr().out
    lines = [line for line in shown.splitlines() if " --" in line]
    assert lines
    assert not [line for line in lines if "<bool>" in line or "<list" in line]
    silent = [each.name for each in ALL[names].params if each.param_type_name == "option" and not each.help]
    assert not silent
    options = [
        option for each in ALL[names].params for option in (*each.opts, *each.secondary_opts) if option[0] == "-"
    ]
    assert not [option for option in options if option not in shown], "a name that is cut off cannot be typed"
