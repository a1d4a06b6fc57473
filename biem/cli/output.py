"""Output of the command line: results on stdout, everything else on stderr.

With `--json`, stdout has exactly one JSON document (a command that runs on has one a line), or nothing after an error;
the error is then the last line of stderr, `{"error": {"kind", "message", "retryable", "exit_code"}}`.
"""

import dataclasses
import errno
import json
import logging
import math
import sys
import time
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, TextIO

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from biem.errors import BiemError, InvalidInput, StoreFull
from biem.redaction import hidden, traceback_of

if TYPE_CHECKING:
    from biem.domain.node import Hits

INTERRUPTED = 130
"""128 + SIGINT, as in shells."""
USAGE_ERROR: type[BaseException] = typer.BadParameter.__bases__[0]
"""The parser's error class; typer does not export it."""
SHOWN_CHARS = 200
"""Maximum characters of a text in a table or a line."""
_SHORT_ID = 8
_WHOLE = ("id", "ref", "since")
"""Columns that users copy: never wrapped."""
_PLAIN_EVERY_S = 2.0
"""Seconds between progress lines without a terminal."""


class Interrupted(BiemError):
    """Ctrl-C. The message says which data is durable."""

    exit_code = INTERRUPTED


def log_to_stderr(*, verbose: bool) -> None:
    """One line a message, before a library configures the log in another way."""
    logging.basicConfig(format="biem: %(message)s")
    logging.getLogger("biem").setLevel(logging.INFO if verbose else logging.WARNING)
    logging.getLogger("psycopg").setLevel(logging.ERROR)  # it warns of errors that we raise with an explanation


def _console(stream: TextIO) -> Console:
    return Console(file=stream, highlight=False, markup=False, emoji=False)


def plain(value: object) -> Any:
    """Convert `value` to JSON types: dataclasses by field, times in ISO 8601, bytes as hexadecimal digits, NaN and
    infinities as null.
    """
    from biem.domain.node import Hits, Receipt  # `biem mcp` prints none of these

    if isinstance(value, Hits):
        hits = [{"rank": rank, **plain(hit)} for rank, hit in enumerate(value, start=1)]
        drawn = {} if value.seed is None else {"selection": value.selection, "seed": value.seed}
        return {"hits": hits, "degraded": list(value.degraded), "indexing": value.indexing, "mode": value.mode, **drawn}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
        return fields | {"complete": value.complete} if isinstance(value, Receipt) else fields
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def to_json(value: object, *, indent: int | None = None) -> str:
    """One JSON document; non-ASCII text is not escaped."""
    return json.dumps(plain(value), ensure_ascii=False, allow_nan=False, indent=indent)


def printable(text: str) -> str:
    """`text` without control and format characters, which could control a terminal; line breaks and tabs stay."""
    return "".join(c for c in text if c in "\n\t" or unicodedata.category(c)[0] != "C" or c == "\u200d")


def on_one_line(text: str) -> str:
    """`text`, such as the path of a file, with line breaks and what `printable` leaves out as escapes: `a\\nb.md`."""
    return "".join(c if printable(c) and c not in "\n\t" else repr(c)[1:-1] for c in text)


def shown_value(value: object) -> str:
    """Format a signal or a count for people."""
    return f"{value:.2f}" if isinstance(value, float) else str(value)


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least `share` of the values do not exceed."""
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]


def shown_time(moment: datetime) -> str:
    """Format a time for people: to the minute, in the local time zone, with its name."""
    return moment.astimezone().isoformat(" ", "minutes")


@dataclass(slots=True)
class Output:
    """The two streams of one run."""

    as_json: bool = False
    verbose: bool = False
    stdout: Console = field(default_factory=lambda: _console(sys.stdout))
    stderr: Console = field(default_factory=lambda: _console(sys.stderr))
    stdin_is_terminal: bool = field(default_factory=lambda: sys.stdin.isatty())

    def result(self, document: object, show: Callable[[], None]) -> None:
        """Print one JSON document, or call `show` to print text."""
        if self.as_json:
            self.stdout.file.write(to_json(document, indent=2 if self.stdout.is_terminal else None) + "\n")
        else:
            show()
        self.stdout.file.flush()

    def report(self, document: object, show: Callable[[], None]) -> None:
        """Print one of several JSON documents, on a line, or call `show` to print text."""
        if self.as_json:
            self.stdout.file.write(to_json(document) + "\n")
        else:
            show()
        self.stdout.file.flush()

    def line(self, text: str | Text = "", style: str = "") -> None:
        """Print one line or paragraph of a result."""
        if self.stdout.is_terminal:
            self.stdout.print(Text(printable(text), style) if isinstance(text, str) else text, soft_wrap=True)
        else:  # rich would turn tabs into spaces
            self.stdout.file.write(printable(str(text)) + "\n")

    def table(self, headers: Sequence[str], rows: Sequence[Sequence[object]], *, right: Sequence[str] = ()) -> None:
        """Print columns on a terminal, else tab-separated lines without headings."""
        cells = [[printable(str(cell)) for cell in row] for row in rows]
        if not self.stdout.is_terminal:
            for row in cells:
                self.line("\t".join(cell.replace("\t", " ").replace("\n", " ") for cell in row))
            return
        table = Table(box=None, header_style="dim", pad_edge=False, padding=(0, 2, 0, 0))
        for header in headers:
            justify: Literal["left", "right"] = "right" if header in right else "left"
            table.add_column(header, justify=justify, overflow="fold", no_wrap=header in _WHOLE)
        for row in cells:
            table.add_row(*map(Text, row))
        self.stdout.print(table)

    def id(self, whole: str) -> str:
        """The last digits of an id, which commands accept; the whole id when stdout is not a terminal."""
        return whole[-_SHORT_ID:] if self.stdout.is_terminal else whole

    def pairs(self, values: Mapping[str, object]) -> None:
        """Print names and values, one per line."""
        width = max(map(len, values), default=0)
        for name, value in values.items():
            self.line(Text.assemble((name.ljust(width) + "  ", "dim"), printable(str(value))))

    def note(self, text: str) -> None:
        """Print a remark to stderr."""
        self.stderr.print(Text(printable(hidden(text)), "dim"), soft_wrap=True)

    def note_incomplete(self, hits: "Hits") -> None:
        """Name on stderr the servers that an answer went without, and how many memories were not indexed for it."""
        if hits.degraded:
            self.note(f"degraded: {', '.join(hits.degraded)}; the rest answered, and nothing is lost")
        if hits.indexing:
            self.note(f"indexing: {hits.indexing:,} left; these were asked by their words only")

    @contextmanager
    def progress(self, what: str, total: float | None = None) -> Iterator["Ticker"]:
        """Show progress: a bar on a terminal, else a line every few seconds."""
        if not self.stderr.is_terminal:
            yield Ticker(self, what, total)
            return
        rich: Any = import_module("rich.progress")  # only commands with a bar load it

        columns = (
            rich.SpinnerColumn(),
            rich.TextColumn("{task.description:<8}"),
            rich.BarColumn(30),
            rich.TextColumn("{task.fields[says]}"),
            rich.TimeElapsedColumn(),
        )
        with rich.Progress(*columns, console=self.stderr, transient=True) as bar:
            task = bar.add_task(what, total=total, says="")
            yield Ticker(
                self,
                what,
                total,
                lambda phase, done, of, says: bar.update(task, description=phase, completed=done, total=of, says=says),
            )

    def error(self, error: BaseException) -> int:
        """Print an error, with a traceback only if requested; returns the exit code."""
        kind, code, retryable = type(error).__name__, 1, False
        if isinstance(error, BiemError):
            code, retryable, message = error.exit_code, error.retryable, str(error)
        elif isinstance(error, USAGE_ERROR):
            said = str(getattr(error, "format_message", lambda: error)())
            code, message = 2, said.replace(": Value error, ", ": ")  # as pydantic begins its message
        elif isinstance(error, KeyboardInterrupt):
            kind, code, message = "Interrupted", INTERRUPTED, "interrupted; acknowledged memories are kept"
        elif isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
            code, message = StoreFull.exit_code, f"the output cannot be written ({error.strerror}); free some space"
        else:
            hint = "" if self.verbose else " (--verbose shows the traceback)"
            message = f"unexpected {kind}: {str(error) or 'no message'}{hint}"
        message = hidden(message)
        if self.verbose and not isinstance(error, USAGE_ERROR | KeyboardInterrupt):
            self.stderr.file.write(traceback_of(error))
        if self.as_json:
            body = {"kind": kind, "message": message, "retryable": retryable, "exit_code": code}
            self.stderr.file.write(to_json({"error": body}) + "\n")
        else:
            text = Text.assemble(("biem: ", "bold red"), printable(message), *(_hint(error) if code == 2 else ()))
            self.stderr.print(text, soft_wrap=True)
        return code


def _hint(error: BaseException) -> Iterator[tuple[str, str]]:
    context = getattr(error, "ctx", None)
    if context is not None:
        yield f"\ntry: {context.command_path} --help", "dim"


@dataclass(slots=True)
class Ticker:
    """Progress, of one phase at a time; calls of `update` are cheap."""

    output: Output
    what: str
    total: float | None = None
    draw: Callable[[str, float, float | None, str], None] | None = None
    _started: float = field(default_factory=time.monotonic)
    _spoken: float = field(default_factory=time.monotonic)

    def enter(self, what: str, total: float) -> None:
        """Go on to another phase, whose rate counts from now; within the same one, set the total."""
        if what != self.what:
            self.what, self._started = what, time.monotonic()
        self.total = total

    def update(self, done: float, count: int) -> None:
        """Set the progress: `done` of `total` (any unit), which is `count` messages."""
        now = time.monotonic()
        says = f"{count:,} ({_pace(count / max(now - self._started, 1e-3))})"
        if self.draw:
            self.draw(self.what, done, self.total, says)
        elif now - self._spoken >= _PLAIN_EVERY_S:
            self._spoken = now
            share = f" {done / self.total:.0%}" if self.total else ""
            self.output.note(f"{self.what}{share}: {says}")


def _pace(rate: float) -> str:
    """Messages a second; a minute where that would be less than one."""
    return f"{rate:,.0f}/s" if rate >= 1 else f"{60 * rate:,.0f}/min"


def read_stdin() -> str:
    """All of stdin as text, without the last line break."""
    return decode(sys.stdin.buffer.read(), "stdin")


def decode(data: bytes, what: str) -> str:
    """UTF-8 text; the error names the first wrong byte."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        byte = f"byte 0x{data[error.start]:02X} at position {error.start}"
        raise InvalidInput(f"{what} is not UTF-8 ({byte}); convert it, for example with iconv -t utf-8") from None
    return text.removesuffix("\n").removesuffix("\r")
