"""What `--help` says of each command."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from typer.main import get_command

from biem.cli.app import EPILOG, application, run
from biem.errors import BiemError


def commands(command: Any, *names: str) -> Iterator[tuple[tuple[str, ...], Any]]:
    yield names, command
    for name, each in getattr(command, "commands", {}).items():
        yield from commands(each, *names, name)


ALL = dict(commands(get_command(application())))


@pytest.mark.parametrize("names", ALL, ids=" ".join)
def test_a_switch_shows_no_type_and_every_option_and_argument_says_what_it_does(
    names: tuple[str, ...], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert run([*names, "--help"]) == 0
    shown = capsys.readouterr().out
    lines = [line for line in shown.splitlines() if " --" in line]
    assert lines
    assert not [line for line in lines if "<bool>" in line or "<list" in line]
    assert not [each.name for each in ALL[names].params if not each.help]
    arguments = [each for each in ALL[names].params if each.param_type_name == "argument"]
    [usage] = re.findall(r"Usage: ((?:.+\n)+)", shown)
    for each in arguments:
        word = re.escape(each.metavar or each.name.upper())
        assert re.search(rf" {word}(\.\.\.)?\s" if each.required else rf"\[{word}\]", usage)
    options = [
        option for each in ALL[names].params for option in (*each.opts, *each.secondary_opts) if option[0] == "-"
    ]
    assert not [option for option in options if option not in shown], "a name that is cut off cannot be typed"


def test_the_help_names_every_exit_code() -> None:
    kinds: list[type[BiemError]] = [BiemError, *_kinds(BiemError)]
    codes = {each.exit_code for each in kinds}
    missing = [code for code in sorted(codes) if not re.search(rf"\b{code} ", EPILOG)]
    assert not missing


def _kinds(error: type[BiemError]) -> Iterator[type[BiemError]]:
    for kind in error.__subclasses__():
        yield kind
        yield from _kinds(kind)


@pytest.mark.parametrize("command", ["remember", "revise"])
def test_the_end_of_a_memory_has_one_name_in_both_commands(command: str) -> None:
    assert "--expires-at" in {option for each in ALL[(command,)].params for option in each.opts}
