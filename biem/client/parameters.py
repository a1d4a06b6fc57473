"""The parameters of the facade's methods, as a request carries them."""

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from types import SimpleNamespace, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints, is_typeddict

from pydantic import BeforeValidator, Field, Strict

from biem.domain.node import Kind, Layer, Mode, Tier
from biem.domain.prompt.contents import ChatMessage
from biem.domain.revision import Unchanged
from biem.domain.sessions.session import Role

Trust = Literal["untrusted", "normal", "trusted"]


_TIME = re.compile(r"\d{4}-\d{2}-\d{2}(?:[T ]|$)")
_DURATION = re.compile(r"[-+]?P")


def _time(value: object) -> object:
    """Times come as ISO 8601; a number is none."""
    if isinstance(value, str) and not _TIME.match(value):
        raise ValueError("a time in ISO 8601 is needed, such as 2026-05-04T09:30:00Z")
    return _text(value)


def _duration(value: object) -> object:
    """Durations, too."""
    if isinstance(value, str) and not _DURATION.match(value):
        raise ValueError("a duration in ISO 8601 is needed, such as P30D")
    return _text(value)


def _text(value: object) -> object:
    if isinstance(value, int | float):
        raise ValueError("a text in ISO 8601 is needed")
    return value


Moment = Annotated[datetime, Strict(strict=False), BeforeValidator(_time)]
Duration = Annotated[timedelta, Strict(strict=False), BeforeValidator(_duration)]
Pair = Annotated[tuple[float, float], Strict(strict=False)]
_ON_THE_WIRE: Mapping[Any, Any] = {
    datetime: Moment,
    timedelta: Duration,
    tuple[float, float]: Pair,
    Sequence[str]: list[str],
    Mapping[str, Any]: dict[str, Any],
    ChatMessage: dict[str, Any],
}
_NAMED: Mapping[str, Any] = {
    "hit": Annotated[str, Field(description="id of the chunk of a hit")],
    "importance": Annotated[float, Field(ge=1, le=5)],
    "kind": Kind,
    "layer": Layer,
    "limit": Annotated[int, Field(ge=1)],
    "min_confidence": Annotated[float, Field(ge=0, le=1)],
    "min_energy": Annotated[float, Field(ge=0, le=1)],
    "min_trust": Trust,
    "mode": Mode,
    "on_conflict": Literal["error", "skip"],
    "on_expiry": Literal["archive", "erase"],
    "order": Literal["newest", "oldest", "energy", "importance"],
    "resolution": Literal["keep_new", "keep_old", "merge", "keep_both", "ignore"],
    "role": Role,
    "tier": Tier,
    "top_k": Annotated[int, Field(ge=1)],
    "trust": Trust,
}
"""Values that a parameter of this name may have, for the description of the API; the facade itself checks all."""
_CALLBACKS = ("on_progress", "on_scan", "generate")
"""Functions of the caller, which stay with the caller."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """One argument of a call; without a default it is required."""

    name: str
    kind: Any
    required: bool


def parameters(method: Callable[..., Any]) -> dict[str, Parameter]:
    """The parameters of a method that travel, by name; those of its `**where` one by one."""
    hints = _hints(method)
    found: dict[str, Parameter] = {}
    for name, given in inspect.signature(method).parameters.items():
        if name == "self" or name in _CALLBACKS:
            continue
        if given.kind is inspect.Parameter.VAR_KEYWORD:
            for condition, kind in _terms(hints[name]).items():
                found[condition] = Parameter(condition, _narrowed(condition, kind), required=False)
        else:
            found[name] = Parameter(name, _narrowed(name, hints[name]), given.default is inspect.Parameter.empty)
    return found


def _hints(method: Callable[..., Any]) -> dict[str, Any]:
    """The types of the parameters; that of the result may be known to type checkers only."""
    bare = inspect.unwrap(method)
    stated = {name: kind for name, kind in bare.__annotations__.items() if name != "return"}
    return get_type_hints(SimpleNamespace(__annotations__=stated), globalns=bare.__globals__)


def _narrowed(name: str, kind: Any) -> Any:
    """The type on the wire, with the values that the name allows."""
    if name not in _NAMED:
        return wire_type(kind)
    return _NAMED[name] | None if type(None) in get_args(kind) else _NAMED[name]


def _terms(unpacked: Any) -> dict[str, Any]:
    """The keys of `Unpack[SomeTypedDict]`; nothing for `**details: Any`."""
    for terms in get_args(unpacked):
        if is_typeddict(terms):
            return get_type_hints(terms)
    return {}


def wire_type(kind: Any) -> Any:
    """A type that a JSON document can have."""
    if kind in _ON_THE_WIRE:
        return _ON_THE_WIRE[kind]
    if get_origin(kind) is None or not get_args(kind):
        return kind
    parts = [wire_type(part) for part in get_args(kind) if part is not Unchanged]
    if get_origin(kind) is Sequence:
        return list[parts[0]]  # type: ignore[valid-type]
    if get_origin(kind) in (Union, UnionType):
        joined = parts[0]
        for part in parts[1:]:
            joined = joined | part
        return joined
    return kind
