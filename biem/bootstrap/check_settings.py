"""Names of settings that nobody reads. A name that is one letter wrong would else start servers on this machine.

Only what looks meant for us is told: other programs, and other versions of this one, have variables `BIEM_…`, too.
"""

import dataclasses
import logging
from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import Path

from pydantic import BaseModel
from pydantic_settings import DotEnvSettingsSource, EnvSettingsSource

from biem.config import Settings
from biem.config.operator import OPERATOR

logger = logging.getLogger("biem")

_PREFIX = "BIEM_"
_LIKE = 0.85
"""Likeness from which a name is taken for a misspelt one: one or two letters of ten."""


def warn_of_misspelt(env_file: Path | None = None) -> None:
    """Log a warning for each variable of the environment or the env file that is nearly a setting."""
    given = set(EnvSettingsSource(Settings).env_vars) | set(DotEnvSettingsSource(Settings, env_file=env_file).env_vars)
    for advice in misspelt({name.upper() for name in given}):
        logger.warning("%s", advice)


def misspelt(given: set[str]) -> list[str]:
    """What to say of each name that is no setting and resembles one, or stands in one of the sections."""
    fitted = {f"{_PREFIX}{name}".upper(): name for name in _names() if not _is_operators(name)}
    known = {f"{_PREFIX}{name}".upper() for name in _names()} - fitted.keys()
    sections = {section for name in known for section in _around(name)}
    said = [
        f"{name} is not read from the environment; set {fitted[name].replace('__', '.')} in the file of BIEM_TUNING"
        for name in sorted(given & fitted.keys())
    ]
    for name in sorted(given - known - sections - fitted.keys()):
        section = name.rpartition("__")[0]
        near = get_close_matches(name, sorted(known), 1, _LIKE) if name.startswith(_PREFIX) else []
        if near:
            said.append(f"{name} is no setting and is ignored; is {near[0]} meant?")
        elif section in sections:
            start = f"{section}__"
            there = ", ".join(sorted(each.removeprefix(start) for each in known if each.startswith(start)))
            said.append(f"{name} is no setting and is ignored; those of {section}__ are {there}")
    return said


def _is_operators(name: str) -> bool:
    """Whether the environment sets it: what is no section does, and of a section of policies what is listed."""
    section, _, rest = name.partition("__")
    return section not in OPERATOR or rest in OPERATOR[section]


def _around(name: str) -> Iterator[str]:
    """The sections that a setting stands in."""
    while "__" in name:
        name = name.rpartition("__")[0]
        yield name


def _names(section: object = Settings, prefix: str = "") -> Iterator[str]:
    """Each setting of a section, those of the sections within it among them."""
    if isinstance(section, type) and issubclass(section, BaseModel):
        parts = [(name, field.default) for name, field in section.model_fields.items()]
    elif dataclasses.is_dataclass(section):
        parts = [(part.name, getattr(section, part.name)) for part in dataclasses.fields(section)]
    else:
        yield prefix
        return
    for name, default in parts:
        inner = type(default) if isinstance(default, BaseModel) else default
        yield from _names(inner, f"{prefix}__{name}" if prefix else name)
