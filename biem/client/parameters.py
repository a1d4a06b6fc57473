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
        raise ValueError("must be a time in ISO 8601, such as 2026-05-04T09:30:00Z")
    return _text(value)


def _duration(value: object) -> object:
    """Durations, too."""
    if isinstance(value, str) and not _DURATION.match(value):
        raise ValueError("must be a duration in ISO 8601, such as P30D")
    return _text(value)


def _text(value: object) -> object:
    if isinstance(value, int | float):
        raise ValueError("must be a text in ISO 8601")
    return value


Moment = Annotated[datetime, Strict(strict=False), BeforeValidator(_time)]
Duration = Annotated[timedelta, Strict(strict=False), BeforeValidator(_duration)]
Pair = Annotated[tuple[float, float], Strict(strict=False)]
_ON_THE_WIRE: Mapping[Any, Any] = {
    datetime: Moment,
    timedelta: Duration,
    tuple[float, float]: Pair,
    Sequence[str]: Annotated[list[str], Strict(strict=False)],
    Mapping[str, Any]: Annotated[dict[str, Any], Strict(strict=False)],
    ChatMessage: Annotated[dict[str, Any], Strict(strict=False)],
}


def _one_of(kind: Any) -> Any:
    return Annotated[str, Field(json_schema_extra={"enum": [*get_args(kind)]})]


_FROM_ONE = Annotated[int, Field(json_schema_extra={"minimum": 1})]
_SHARE = Annotated[float, Field(json_schema_extra={"minimum": 0, "maximum": 1})]
_NAMED: Mapping[str, Any] = {
    "hit": Annotated[str, Field(description="id of the chunk of a hit")],
    "importance": Annotated[float, Field(json_schema_extra={"minimum": 1, "maximum": 5})],
    "kind": _one_of(Kind),
    "layer": _one_of(Layer),
    "limit": _FROM_ONE,
    "min_confidence": _SHARE,
    "min_energy": _SHARE,
    "min_trust": _one_of(Trust),
    "mode": _one_of(Mode),
    "on_conflict": _one_of(Literal["error", "skip"]),
    "on_expiry": _one_of(Literal["archive", "erase"]),
    "order": _one_of(Literal["newest", "oldest", "energy", "importance"]),
    "resolution": _one_of(Literal["keep_new", "keep_old", "merge", "keep_both", "ignore"]),
    "role": _one_of(Role),
    "tier": _one_of(Tier),
    "top_k": _FROM_ONE,
    "trust": _one_of(Trust),
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
    if get_origin(kind) is Literal:
        return _one_of(kind)
    if get_origin(kind) is Sequence:
        return Annotated[list[parts[0]], Strict(strict=False)]  # type: ignore[valid-type]
    if get_origin(kind) in (Union, UnionType):
        joined = parts[0]
        for part in parts[1:]:
            joined = joined | part
        return joined
    return kind
