"""Global options of one run of `biem`, and the settings and memory that they select."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

import biem
from biem.cli.output import Output
from biem.domain.scope import Scope

if TYPE_CHECKING:  # loaded when a command needs them: `biem --help` needs neither settings nor a memory
    from biem.config import Settings
    from biem.ports import Embedder

NO_WORKER: dict[str, Any] = {"queue": "none", "close_timeout_s": 0.0}
"""Settings of a short command: a worker would claim jobs and abandon them, or race with an erasure."""


@dataclass(slots=True)
class Invocation:
    """Global options; nothing is opened before a command needs it."""

    out: Output
    env_file: Path | None = None
    home: Path | None = None
    tenant: str | None = None
    user: str | None = None
    project: str | None = None
    embedder: "Embedder | None" = None
    """Replaces the configured one."""
    changes: dict[str, Any] = field(default_factory=dict)
    """Settings that the command overrides."""
    asks: bool = False
    """The command embeds a text, also without a worker."""

    def settings(self) -> "Settings":
        """Settings from options, environment and env file (see `bootstrap.env_file.chosen`), in this precedence."""
        from biem.bootstrap.check_settings import warn_of_misspelt
        from biem.bootstrap.env_file import chosen
        from biem.config import load_settings

        env_file = chosen(self.env_file)
        changes = self.changes | ({"home": self.home} if self.home else {})
        settings = load_settings(env_file)
        warn_of_misspelt(env_file)
        return settings.model_copy(update=changes)

    def scope(self, settings: "Settings") -> Scope:
        """The scope chosen by options and settings."""
        names = {"tenant": self.tenant, "user": self.user, "project": self.project}
        return Scope(**{part: getattr(settings, part) if name is None else name for part, name in names.items()})

    @contextmanager
    def memory(self) -> Iterator["biem.Memory"]:
        """The memory of the chosen scope, closed afterwards."""
        settings = self.settings()
        scope = self.scope(settings)
        if self.embedder is None:
            # Without a worker, most commands embed nothing: the model is loaded only when needed.
            from biem.bootstrap import connect_late

            opened = connect_late(settings, scope=scope, embeds=self.asks or settings.queue != "none")
        else:
            opened = biem.connect(settings, scope=scope, embedder=self.embedder)
        with opened as memory:
            if self.out.verbose:
                memory.telemetry.attach(
                    lambda span: self.out.note(f"{span.name} {span.duration_ms:.1f} ms {span.attributes or ''}")
                )
            yield memory


def of(context: typer.Context) -> Invocation:
    """The global options of the running command."""
    invocation = context.obj
    assert isinstance(invocation, Invocation)
    return invocation
