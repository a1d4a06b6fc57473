"""One definition of options that several commands have."""

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import wraps
from inspect import Parameter, signature
from typing import Any


def with_options(command: Callable[..., None]) -> Callable[..., None]:
    """A command with the fields of its dataclass parameter as options, after its own.

    Each field of the dataclass is annotated as a parameter of a command is; the command gets them as one value.
    """
    own = signature(command)
    [(name, group)] = [(each.name, each.annotation) for each in own.parameters.values() if _is_group(each)]
    options = [
        Parameter(each.name, Parameter.KEYWORD_ONLY, default=each.default, annotation=each.type)
        for each in fields(group)
    ]

    @wraps(command)
    def run(*args: Any, **given: Any) -> None:
        chosen = {option.name: given.pop(option.name) for option in options}
        command(*args, **given, **{name: group(**chosen)})

    others = [each for each in own.parameters.values() if each.name != name]
    run.__signature__ = own.replace(parameters=[*others, *options])  # type: ignore[attr-defined]
    return run


def _is_group(parameter: Parameter) -> bool:
    return isinstance(parameter.annotation, type) and is_dataclass(parameter.annotation)
