"""Properties computed at their first use."""

from collections.abc import Callable
from typing import Any, Generic, Self, TypeVar, overload

T = TypeVar("T")


class lazy(Generic[T]):  # noqa: N801 - used as a decorator, like `property`
    """A property that is computed at its first use and kept in the object's `__dict__`.

    Like `functools.cached_property`, without the lock that it has before Python 3.12: all objects of a class share that
    lock, and a fork beside a thread that holds it leaves it locked in the child for ever. Two threads that ask for the
    first time may both compute the value.
    """

    def __init__(self, compute: Callable[[Any], T]) -> None:
        self._compute = compute
        self._name = compute.__name__
        self.__doc__ = compute.__doc__

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type) -> T: ...
    def __get__(self, instance: object | None, owner: type) -> Self | T:
        if instance is None:
            return self
        value = self._compute(instance)
        instance.__dict__[self._name] = value
        return value
