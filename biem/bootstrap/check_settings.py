"""Warns of misspelt settings. A name that is one letter wrong would otherwise start servers on this machine.

Only names similar to a setting are reported: other programs and other versions have variables `BIEM_…`, too.
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
"""Similarity from which a name counts as misspelt: one or two letters of ten differ."""


def warn_of_misspelt(env_file: Path | None = None) -> None:
    """Log a warning for each variable of the environment or the env file that resembles a setting."""
    given = set(EnvSettingsSource(Settings).env_vars) | set(DotEnvSettingsSource(Settings, env_file=env_file).env_vars)
    for advice in misspelt({name.upper() for name in given}):
        logger.warning("%s", advice)


def misspelt(given: set[str]) -> list[str]:
    """Warnings for names that are no settings but resemble one, or are in one of the sections."""
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
    """Whether it can be set in the environment: all plain settings, and the listed ones of policy sections."""
    section, _, rest = name.partition("__")
    return section not in OPERATOR or rest in OPERATOR[section]


def _around(name: str) -> Iterator[str]:
    """The sections that contain a setting."""
    while "__" in name:
        name = name.rpartition("__")[0]
        yield name


def _names(section: object = Settings, prefix: str = "") -> Iterator[str]:
    """All settings of a section, including those of nested sections."""
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
