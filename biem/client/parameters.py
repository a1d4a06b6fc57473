"""The parameters of the facade's methods, as a request carries them."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints, is_typeddict

from pydantic import BeforeValidator, Strict

from biem.domain.observing.unit import Unit
from biem.domain.revision import Unchanged


def _text(value: object) -> object:
    """Times and durations come as ISO 8601; a number is none."""
    if not isinstance(value, str):
        raise ValueError("a text in ISO 8601 is needed")
    return value


Moment = Annotated[datetime, Strict(strict=False), BeforeValidator(_text)]
Duration = Annotated[timedelta, Strict(strict=False), BeforeValidator(_text)]
Pair = Annotated[tuple[float, float], Strict(strict=False)]
_ON_THE_WIRE: Mapping[Any, Any] = {
    datetime: Moment,
    timedelta: Duration,
    tuple[float, float]: Pair,
    Sequence[str]: list[str],
    Mapping[str, Any]: dict[str, Any],
}
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
    hints = get_type_hints(method, localns={"Unit": Unit})
    found: dict[str, Parameter] = {}
    for name, given in inspect.signature(method).parameters.items():
        if name == "self" or name in _CALLBACKS:
            continue
        if given.kind is inspect.Parameter.VAR_KEYWORD:
            for condition, kind in _terms(hints[name]).items():
                found[condition] = Parameter(condition, wire_type(kind), required=False)
        else:
            found[name] = Parameter(name, wire_type(hints[name]), given.default is inspect.Parameter.empty)
    return found


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
