"""Filter options of commands, named as in `Memory.recall`, and the conditions that they mean."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from biem.domain.listing import STATUSES
from biem.domain.metadata_filter import parse_where
from biem.domain.node import KINDS, LAYERS
from biem.domain.trust import LEVELS
from biem.errors import InvalidInput
from biem.importers.times import parse_time

if TYPE_CHECKING:
    from biem.engine.query.listing import Wanted
    from biem.engine.query.request import Conditions

Metadata = Annotated[
    list[str] | None,
    typer.Option(
        metavar="KEY=VALUE", help="Any value of your own, JSON or text, which --where selects by; may be repeated."
    ),
]
AsOf = Annotated[str | None, typer.Option("--as-of", metavar="TIME", help="What held at this ISO time; default: now.")]
_UNITS = {
    unit: timedelta(seconds=seconds) for unit, seconds in zip("smhdw", (1, 60, 3_600, 86_400, 604_800), strict=True)
}
_DURATION = re.compile(r"\s*([0-9]{1,12})\s*([smhdw])\s*")
_SIGNS = {">=": "$gte", "<=": "$lte", "!=": "$ne", ">": "$gt", "<": "$lt", "=": "$eq"}
_CONDITION = re.compile(r"\s*(?P<key>[^<>=!]*[^<>=!\s])\s*(?P<sign>>=|<=|!=|>|<|==?)\s*(?P<value>.*?)\s*", re.DOTALL)


@dataclass(frozen=True, kw_only=True)
class Filters:
    """Options of every command that selects memories; see `option_groups`."""

    kind: Annotated[
        list[str] | None,
        typer.Option("--kind", help=f"Only of this kind; may be given several times: {', '.join(KINDS)}."),
    ] = None
    since: Annotated[str | None, typer.Option("--since", metavar="TIME", help="Not before this ISO time.")] = None
    until: Annotated[str | None, typer.Option("--until", metavar="TIME", help="Before this ISO time.")] = None
    speaker: Annotated[
        list[str] | None, typer.Option("--speaker", help="Only from this speaker; may be given several times.")
    ] = None
    conversation: Annotated[
        list[str] | None,
        typer.Option("--conversation", help="Only from this conversation; may be given several times."),
    ] = None
    tag: Annotated[
        list[str] | None, typer.Option("--tag", help="Only with this tag; if given several times, with all of them.")
    ] = None
    where: Annotated[
        list[str] | None,
        typer.Option(
            "--where", metavar="CONDITION", help="Only with such metadata: score>=3, project=x, or JSON; repeatable."
        ),
    ] = None
    min_trust: Annotated[
        str | None, typer.Option(metavar="LEVEL", help=f"Only at least as trusted: {', '.join(LEVELS)}.")
    ] = None

    def shared(self) -> dict[str, Any]:
        """The conditions that all these commands have; `InvalidInput` names the wrong option."""
        for one in self.kind or ():
            require_one_of("--kind", one, KINDS)
        require_one_of("--min-trust", self.min_trust, LEVELS)
        return {
            "kinds": self.kind or (),
            "since": _time(self.since, "--since"),
            "until": _time(self.until, "--until"),
            "speakers": self.speaker or (),
            "conversations": self.conversation or (),
            "tags": self.tag or (),
            "where": metadata_conditions(self.where),
            "min_trust": self.min_trust,
        }


@dataclass(frozen=True, kw_only=True)
class TransferFilters(Filters):
    """Options that say which memories of a scope an export or a move takes."""

    min_energy: Annotated[float, typer.Option(help="Minimum current energy, 0 to 1.")] = 0.0

    def conditions(self) -> "Conditions":
        """Those that were given; none for the whole scope."""
        given = self.shared() | {"min_energy": require_energy(self.min_energy)}
        return cast("Conditions", {name: value for name, value in given.items() if value not in (None, (), 0.0)})


@dataclass(frozen=True, kw_only=True)
class RecallFilters(Filters):
    """Options that say which memories a question may find."""

    exclude_conversation: Annotated[
        list[str] | None,
        typer.Option("--exclude-conversation", help="Not from this conversation; may be given several times."),
    ] = None
    as_of: AsOf = None
    min_energy: Annotated[float, typer.Option(help="Minimum current energy, 0 to 1.")] = 0.0
    sentiment: Annotated[
        tuple[float, float] | None,
        typer.Option(metavar="LEAST GREATEST", help="Only moods in this range, -1 to 1."),
    ] = None

    def conditions(self) -> "Conditions":
        """Conditions of `recall` and `context`; `InvalidInput` names the wrong option."""
        mood = self.sentiment
        if mood is not None and not -1.0 <= mood[0] <= mood[1] <= 1.0:
            raise InvalidInput(f"--sentiment must lie in -1 to 1, the least before the greatest, not {mood}")
        own = {
            "as_of": _time(self.as_of, "--as-of"),
            "min_energy": require_energy(self.min_energy),
            "sentiment": mood,
        }
        return cast("Conditions", self.shared() | own)


@dataclass(frozen=True, kw_only=True)
class ListFilters(Filters):
    """Options that say which memories are listed."""

    origin: Annotated[
        list[str] | None, typer.Option("--origin", help="Only of this origin; may be given several times.")
    ] = None
    as_of: AsOf = None
    layer: Annotated[str | None, typer.Option(help=f"Only this layer: {', '.join(LAYERS)}.")] = None
    status: Annotated[str, typer.Option(help=f"One of {', '.join(STATUSES)}; live: all but archived ones.")] = "live"

    def conditions(self) -> "Wanted":
        """Conditions of `Memory.list`; unknown values are refused before any server starts."""
        require_one_of("--layer", self.layer, LAYERS)
        require_one_of("--status", self.status, tuple(STATUSES))
        own = {
            "as_of": _time(self.as_of, "--as-of"),
            "origins": self.origin or (),
            "layer": self.layer,
            "status": self.status,
        }
        return cast("Wanted", self.shared() | own)


def require_energy(least: float) -> float:
    """Refuse what is no energy."""
    if not 0.0 <= least <= 1.0:
        raise InvalidInput(f"--min-energy must be a number from 0 to 1, not {least}")
    return least


def metadata_conditions(given: list[str] | None) -> dict[str, Any] | None:
    """The `where` of these options: each `key>=value`, whose value is JSON or else a string, or a JSON object."""
    where: dict[str, dict[str, Any]] = {}
    for text in given or ():
        for key, meant in _parsed(text).items():
            known = where.setdefault(key, {})
            for operator, value in (meant if isinstance(meant, dict) else {"$eq": meant}).items():
                if operator in known and known[operator] != value:
                    raise InvalidInput(f"--where has {operator} of {key!r} twice; give it once")
                known[operator] = value
    parse_where(where)
    return where or None


def metadata_values(given: list[str] | None) -> dict[str, Any] | None:
    """The metadata of these options: each `key=value`, whose value is JSON or else a string, or a JSON object."""
    if given is None:
        return None
    found: dict[str, Any] = {}
    for text in given:
        key, equals, value = text.partition("=")
        if text.lstrip().startswith("{"):
            values = _json_object(text, "--metadata")
        elif equals and key.strip():
            values = {key.strip(): _json(value)}
        else:
            raise InvalidInput(f"--metadata {text!r:.100} is no value; write KEY=VALUE, or a JSON object")
        if twice := found.keys() & values.keys():
            raise InvalidInput(f"--metadata has {min(twice)!r:.100} twice; give it once")
        found |= values
    return found


def _json_object(text: str, option: str) -> dict[str, Any]:
    value = _json(text)
    if isinstance(value, dict):
        return value
    raise InvalidInput(f"{option} {text!r:.100} is not a JSON object")


def _parsed(text: str) -> dict[str, Any]:
    if text.lstrip().startswith("{"):
        return _json_object(text, "--where")
    found = _CONDITION.fullmatch(text)
    signs = found is not None and found["value"].startswith(("<", ">", "="))  # a>>3; such a value stands in quotes
    if found is None or signs or (not found["value"] and found["sign"][0] in "<>"):
        raise InvalidInput(
            f"--where {text!r:.100} is no condition; write key=value with one of {' '.join(_SIGNS)}, or a JSON object"
        )
    return {found["key"]: {_SIGNS[found["sign"].replace("==", "=")]: _json(found["value"])}}


def _json(text: str) -> Any:
    """The value that a JSON text stands for; any other text stands for itself."""
    try:
        return json.loads(text, parse_constant=str)
    except (ValueError, RecursionError):
        return text


def parse_duration(text: str | None, option: str) -> timedelta | None:
    """A whole number of one unit, such as 30d; None for None."""
    if text is None:
        return None
    found = _DURATION.fullmatch(text)
    if found is None:
        raise InvalidInput(f"{option} {text!r:.40} is no duration; write 90s, 15m, 12h, 30d or 2w")
    try:
        return int(found[1]) * _UNITS[found[2]]
    except OverflowError:
        raise InvalidInput(f"{option} {text!r:.40} ends outside the calendar") from None


def require_one_of(option: str, value: str | None, known: Sequence[str]) -> None:
    """Refuse an unknown value before any server starts."""
    if value is not None and value not in known:
        raise InvalidInput(f"{option} {value!r} is unknown; choose one of {', '.join(known)}")


def _time(text: str | None, option: str) -> datetime | None:
    return None if text is None else parse_time(text, option)
