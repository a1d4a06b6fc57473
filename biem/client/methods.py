"""Makes methods of a class of the facade that call a server, with the signatures and docstrings of the originals."""

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from biem.client.calls import AT_HOME, CALLS, HOLDERS, Call, Holder
from biem.domain.revision import UNCHANGED
from biem.errors import BiemError

T = TypeVar("T", bound=type)


class AtHomeOnly(BiemError):
    """The method works on the machine of the server only."""


def remote_methods(holder: Holder) -> Callable[[T], T]:
    """A decorator that completes a subclass of a class of the facade: methods that it does not define call the server.

    It has a method `_call(call, arguments)`.
    """

    def complete(kind: T) -> T:
        original = HOLDERS[holder]
        for call in CALLS:
            if call.holder == holder and call.name not in vars(kind):
                setattr(kind, call.name, _calling(call, getattr(original, call.name)))
        for name, method in vars(kind).items():
            if (
                inspect.isfunction(method)
                and not name.startswith("_")
                and inspect.isfunction(vars_of(original).get(name))
            ):
                method.__signature__ = inspect.signature(getattr(original, name))  # type: ignore[attr-defined]
        for name, instead in AT_HOME[holder].items():
            whole = name if holder == "memory" else f"{holder}.{name}"
            setattr(kind, name, _refusing(whole, instead, getattr(original, name)))
        return kind

    return complete


def vars_of(kind: type) -> dict[str, Any]:
    """What a class and its bases define, by name."""
    return {name: value for base in reversed(kind.__mro__) for name, value in vars(base).items()}


def _calling(call: Call, original: Callable[..., Any]) -> Callable[..., Any]:
    signature = inspect.signature(original)

    @wraps(original)
    def method(self: Any, *places: Any, **names: Any) -> Any:
        return self._call(call, stated(signature, self, *places, **names))

    return method


def stated(signature: inspect.Signature, *places: Any, **names: Any) -> dict[str, Any]:
    """The arguments that a caller states, by name; without callbacks and unchanged values."""
    bound = signature.bind(*places, **names).arguments
    found: dict[str, Any] = {}
    for name, value in bound.items():
        if signature.parameters[name].kind is inspect.Parameter.VAR_KEYWORD:
            found |= value
        elif name != "self":
            found[name] = value
    return {name: value for name, value in found.items() if value is not UNCHANGED and not callable(value)}


def _refusing(name: str, instead: str, original: Any) -> Any:
    def refuse(*_: Any, **__: Any) -> Any:
        raise AtHomeOnly(f"{name!r} works on the machine of the server only: {instead}")

    return property(refuse) if isinstance(original, property) else wraps(original)(refuse)
