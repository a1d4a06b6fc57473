"""Filter options of commands, named as in `Memory.recall`."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from biem.cli.transcripts import parse_time
from biem.domain.node import KINDS
from biem.errors import InvalidInput

if TYPE_CHECKING:
    from biem.engine.query.request import Conditions

Kinds = Annotated[list[str] | None, typer.Option("--kind", help=f"Only these: {', '.join(KINDS)}.")]
Since = Annotated[str | None, typer.Option("--since", metavar="TIME", help="Not before this ISO time.")]
Until = Annotated[str | None, typer.Option("--until", metavar="TIME", help="Before this ISO time.")]
Speakers = Annotated[list[str] | None, typer.Option("--speaker", help="Only from these speakers.")]
Conversations = Annotated[list[str] | None, typer.Option("--conversation", help="Only from these conversations.")]
Excluded = Annotated[
    list[str] | None,
    typer.Option("--exclude-conversation", help="Not from this conversation; may be given several times."),
]
AsOf = Annotated[
    str | None, typer.Option("--as-of", metavar="TIME", help="Facts valid at this ISO time; default: now.")
]
MinEnergy = Annotated[float, typer.Option(help="Minimum current energy, 0 to 1.")]
Mood = Annotated[
    tuple[float, float] | None,
    typer.Option(metavar="LEAST GREATEST", help="Only moods in this range, -1 to 1."),
]


def conditions(
    kinds: list[str] | None,
    since: str | None,
    until: str | None,
    speakers: list[str] | None,
    conversations: list[str] | None,
    tags: list[str] | None,
    as_of: str | None,
    min_energy: float,
    sentiment: tuple[float, float] | None,
) -> "Conditions":
    """Convert the options to conditions of `recall` and `context`; `InvalidInput` names the wrong option."""
    for one in kinds or ():
        require_one_of("--kind", one, KINDS)
    if not 0.0 <= min_energy <= 1.0:
        raise InvalidInput(f"--min-energy must be a number from 0 to 1, not {min_energy}")
    if sentiment is not None and not -1.0 <= sentiment[0] <= sentiment[1] <= 1.0:
        raise InvalidInput(f"--sentiment must lie in -1 to 1, the least before the greatest, not {sentiment}")
    return {
        "kinds": kinds or (),
        "since": None if since is None else parse_time(since, "--since"),
        "until": None if until is None else parse_time(until, "--until"),
        "speakers": speakers or (),
        "conversations": conversations or (),
        "tags": tags or (),
        "as_of": None if as_of is None else parse_time(as_of, "--as-of"),
        "min_energy": min_energy,
        "sentiment": sentiment,
    }


def require_one_of(option: str, value: str | None, known: Sequence[str]) -> None:
    """Refuse an unknown value before any server starts."""
    if value is not None and value not in known:
        raise InvalidInput(f"{option} {value!r} is unknown; choose one of {', '.join(known)}")
