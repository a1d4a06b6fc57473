"""The `biem` command: its global options, the list of its commands, and error handling."""

import atexit
import gc
import os
import platform
import signal
import sys
import threading
from collections.abc import Iterable, Sequence
from contextlib import suppress
from importlib.metadata import version as installed_version
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer
from typer.core import TyperCommand, TyperGroup

from biem.cli.commands import COMMANDS, GROUPS, resolved
from biem.cli.invocation import Invocation, of
from biem.cli.output import INTERRUPTED, Output, log_to_stderr
from biem.errors import InvalidInput

if TYPE_CHECKING:
    from biem.ports import Embedder

_FLAGS = ("--json", "--verbose")
_OPTIONS = ("--env-file", "--home", "--tenant", "--user", "--project")
_TERMINATED = 128 + signal.SIGTERM
_GARBAGE = 300_000
"""New objects before a garbage collection: more than a recall creates, nearly all of which stay."""

EPILOG = (
    "Exit codes: 0 done, 1 unexpected, 2 invalid input, 3 not found, 4 the ref is taken, the conflict decided or the "
    "memory revised, 5 settings or schema, 6 a server is down, 7 a server is full, 8 the embedder is down, "
    "9 the embedder answers another dimension, 10 diagnose, lint, sync or status needs a person, or too many writes in "
    "a minute, 11 stored but not indexed in time, 12 the key does not allow it, 130 interrupted, 143 terminated."
)


class PlainCommand(TyperCommand):
    """A command whose help says of a switch no type, where Typer says `<bool>`, and never `<list[str]>`; arguments are
    `TEXT` and `[FOLDER]`, where Typer says `{text}`.
    """

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """The parts of the line of usage."""
        return [piece.replace("{", "").replace("}", "") for piece in super().collect_usage_pieces(ctx)]

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
        elif each.metavar is None and each.param_type_name == "argument":
            each.metavar = each.name.upper()


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"biem {installed_version('biem')}")
        raise typer.Exit


def version(context: typer.Context) -> None:
    """Show the version."""
    out = of(context).out
    facts = {"biem": installed_version("biem"), "python": platform.python_version(), "platform": platform.platform()}
    out.result(facts, lambda: out.line(" · ".join(f"{name} {value}" for name, value in facts.items())))


def options(
    context: typer.Context,
    env_file: Annotated[
        Path | None,
        typer.Option(
            "--env-file", help="Settings file; the environment overrides it. Default: BIEM_ENV_FILE, else .env, if any."
        ),
    ] = None,
    home: Annotated[
        str | None,
        typer.Option(
            "--home", metavar="FOLDER", help="Folder of the embedded servers. Default: BIEM_HOME, else ~/.biem."
        ),
    ] = None,
    tenant: Annotated[
        str | None,
        typer.Option(
            "--tenant",
            help="Tenant of the scope, which is whose memories these are. Default: BIEM_TENANT, else default.",
        ),
    ] = None,
    user: Annotated[
        str | None, typer.Option("--user", help="User of the scope. Default: BIEM_USER, else default.")
    ] = None,
    project: Annotated[
        str | None,
        typer.Option(
            "--project", help="Project of the scope; empty: the user's own level. Default: BIEM_PROJECT, else empty."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document on stdout; errors on stderr.")] = False,
    verbose: Annotated[bool, typer.Option("--verbose", help="Timings, logs and tracebacks on stderr.")] = False,
    _version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    log_to_stderr(verbose=verbose)
    out = Output(as_json, verbose)
    if home == "":  # of an unset variable; as a path it would be the current folder
        raise InvalidInput("--home is empty; name a folder, or leave it out")
    folder = None if home is None else Path(home)
    context.obj = Invocation(out, env_file, folder, tenant, user, project, embedder=context.obj)


def application(command: str = "") -> typer.Typer:
    """The command line with all of its commands, in the order of the help; or with one, if `command` names one.

    Typer reads the options of every command it is given before it runs one: 0.1 s of CPU for all of them.
    """
    app = typer.Typer(
        name="biem",
        help="Long-term memory for LLM agents. Global options may stand before or after the command.",
        epilog=EPILOG,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
        cls=PlainGroup,
    )
    app.callback()(options)
    for name in [command] if command in COMMANDS or command in GROUPS else [*COMMANDS, *GROUPS]:
        if name in GROUPS:
            app.add_typer(plain(resolved(name)), name=name, cls=PlainGroup)
        else:
            app.command(name, cls=PlainCommand)(resolved(name))
    return app


def hoist(arguments: Sequence[str]) -> list[str]:
    """Return the arguments with the global options first, from any position before `--`."""
    found: list[str] = []
    rest = list(arguments)
    end = rest.index("--") if "--" in rest else len(rest)
    position = 0
    while position < end:
        name, equals, _ = rest[position].partition("=")
        width = 2 if name in _OPTIONS and not equals else 1
        if rest[position] in _FLAGS or name in _OPTIONS:
            found += rest[position : position + width]
            del rest[position : position + width]
            end -= width
        else:
            position += 1
    return found + rest


def command_of(hoisted: Sequence[str]) -> str:
    """The first argument behind the global options; empty if there is none."""
    position = 0
    while position < len(hoisted):
        name, equals, _ = hoisted[position].partition("=")
        if name not in _FLAGS and name not in _OPTIONS:
            return name
        position += 2 if name in _OPTIONS and not equals else 1
    return ""


def run(arguments: Sequence[str], embedder: "Embedder | None" = None) -> int:
    """Run one command line; returns the exit code. A program that runs many can pass a loaded embedder."""
    hoisted = hoist(arguments)
    try:
        app = application(command_of(hoisted))
        code = app(args=hoisted or ["--help"], prog_name="biem", standalone_mode=False, obj=embedder)
        if code == INTERRUPTED:
            raise KeyboardInterrupt
        return code if isinstance(code, int) else 0
    except typer.Abort:
        return Output(as_json="--json" in hoisted).error(KeyboardInterrupt())
    except (KeyboardInterrupt, Exception) as error:  # noqa: BLE001  top level: report every error
        return Output("--json" in hoisted, "--verbose" in hoisted).error(error)


def main() -> None:
    """The entry point of the `biem` script."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # closed by who started us
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115  as long as the process
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # any script prints, in any locale
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    gc.set_threshold(_GARBAGE)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(_TERMINATED))  # exit as after Ctrl-C: close open resources
    try:
        code = run(sys.argv[1:])
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    leave(code)


def leave(code: int) -> NoReturn:
    """End the process without shutting the interpreter down. The command's resources are closed by now.

    Taking apart what was loaded, only to give the memory back, takes 0.3 s of CPU after a recall. And a worker may be
    in the middle of a batch: a thread that runs C++ code during the shutdown aborts the process, which changes the
    exit code and prints to stderr.
    """
    if (bootstrap := sys.modules.get("biem.bootstrap")) is not None:
        bootstrap.close_kept()
    if threading.active_count() == 1:
        atexit._run_exitfuncs()  # what libraries clean up; with threads some of it would wait for them
    with suppress(OSError, ValueError):  # the reader of our output has closed the pipe
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code)
