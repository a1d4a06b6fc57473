"""How help shows options: a switch takes no value, and one that may be repeated takes one value each time."""

from collections.abc import Iterable
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup


class PlainCommand(TyperCommand):
    """A command whose help says of a switch no type, where Typer says `<bool>`, and never `<list[str]>`."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help."""
        _simplify(self.get_params(ctx))
        super().format_help(ctx, formatter)


class PlainGroup(TyperGroup):
    """The same for a command that has commands."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help."""
        _simplify(self.get_params(ctx))
        super().format_help(ctx, formatter)


def plain(group: typer.Typer) -> typer.Typer:
    """The group, whose commands have such a help."""
    for each in group.registered_commands:
        each.cls = PlainCommand
    return group


def _simplify(parameters: Iterable[Any]) -> None:
    for each in parameters:
        if each.metavar is None and getattr(each, "is_flag", False):
            each.metavar = ""
        elif each.metavar is None and getattr(each, "multiple", False):
            each.metavar = "<str>"
