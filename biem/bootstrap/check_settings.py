"""Warns of misspelt settings, and refuses arguments of another kind.

A name that is one letter wrong would otherwise start servers on this machine.

The log has only names that resemble a setting or are written like one: other programs and other versions have variables
`BIEM_…`, too. `biem diagnose` lists all that have no meaning.
"""

import dataclasses
import logging
import re
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from functools import cache
from os import PathLike
from pathlib import Path

from pydantic import BaseModel
from pydantic_settings import DotEnvSettingsSource, EnvSettingsSource

from biem.bootstrap.env_file import VARIABLE
from biem.config import Settings
from biem.config.operator import OPERATOR
from biem.domain.diagnosis import Finding
from biem.domain.scope import Scope
from biem.errors import ConfigError

logger = logging.getLogger("biem")

_PREFIX = "BIEM_"
_LIKE = 0.85
"""Similarity from which a name counts as misspelt: one or two letters of ten differ."""
_NEAREST = 0.75
"""Similarity from which a setting is named as the nearest one."""
_ADDRESS = re.compile("(?:URL|URI|DSN)$")
"""Words for an address, which are taken for each other."""
_SHOWN = 3
_OTHERS = {VARIABLE, "BIEM_URL", "BIEM_KEY"}
"""Variables that are read, and are no settings: the last two are those of `biem mcp`."""
_COMPOSE = "BIEM_COMPOSE_"
"""Variables of the containers, in the same env file."""


def warn_of_misspelt(env_file: Path | None = None) -> None:
    """Log a warning for each variable of the environment or the env file that resembles a setting, once a process."""
    for advice in misspelt(_given(env_file)):
        _warn(advice)


@cache
def _warn(advice: str) -> None:
    logger.warning("%s", advice)


def unknown_settings(env_file: Path | None = None) -> list[Finding]:
    """What `diagnose` says of variables `BIEM_…` without a meaning. Notes: they may be meant for another program."""
    given = _given(env_file)
    known, fitted, sections = _settings()
    said = misspelt(given)
    reported = {advice.partition(" ")[0] for advice in said}
    rest = {name for name in given if name.startswith(_PREFIX) and not name.startswith(_COMPOSE)}
    for name in sorted(rest - known - fitted.keys() - sections - reported - _OTHERS):
        near = get_close_matches(name, sorted(known), 1, _NEAREST)
        said.append(f"{name} is no setting and is ignored{f'; the nearest one is {near[0]}' if near else ''}")
    mend = "correct or unset it, unless it is meant for another program"
    return [Finding("setting_unknown", "note", advice, mend) for advice in said]


def require_kinds(
    *, settings: object, embedder: object, clock: object, home: object = None, scope: object = None
) -> None:
    """Raise `ConfigError` for an argument of `connect` that is something else, before anything is started."""
    wanted = {
        "settings": (
            settings,
            isinstance(settings, Settings),
            "a biem.config.Settings; the environment sets them, too",
        ),
        "home": (home, isinstance(home, str | PathLike), "the path of a folder"),
        "scope": (scope, isinstance(scope, Scope), 'a biem.Scope, such as biem.Scope(user="ana")'),
        "embedder": (
            embedder,
            _has(embedder, ("info", "embed", "similarity", "close")),
            "an object as biem.ports.Embedder describes; BIEM_EMBEDDER__PROVIDER chooses one by its name",
        ),
        "clock": (clock, _has(clock, ("now",)), "an object as biem.ports.Clock describes"),
    }
    for name, (given, fits, what) in wanted.items():
        if given is not None and not fits:
            raise ConfigError(f"{name} is of the type {type(given).__name__}; give {what}")
    if home == "":  # as a path it would be the current folder
        raise ConfigError("home is empty; name a folder, or leave it out")


def _has(given: object, names: Iterable[str]) -> bool:
    """Whether an object, and not its class, has these attributes."""
    return not isinstance(given, type) and all(hasattr(given, name) for name in names)


def _given(env_file: Path | None) -> set[str]:
    """Names of variables, in capitals."""
    own = (
        EnvSettingsSource(Settings).env_vars.keys() | DotEnvSettingsSource(Settings, env_file=env_file).env_vars.keys()
    )
    return {name.upper() for name in own}


def _settings() -> tuple[set[str], dict[str, str], set[str]]:
    """The variables of all settings; those of numbers that only the tuning file sets; beginnings of sections."""
    fitted = {f"{_PREFIX}{name}".upper(): name for name in _names() if not _is_operators(name)}
    known = {f"{_PREFIX}{name}".upper() for name in _names()} - fitted.keys()
    return known, fitted, {section for name in known for section in _around(name)}


def misspelt(given: set[str]) -> list[str]:
    """Warnings for names that are no settings but resemble one or several, or are written like one of a section."""
    known, fitted, sections = _settings()
    said = [
        f"{name} is not read from the environment; set {fitted[name].replace('__', '.')} in the file of BIEM_TUNING"
        for name in sorted(given & fitted.keys())
    ]
    for name in sorted(name for name in given if name.startswith(_PREFIX)):
        if name in known or name in sections or name in fitted or name in _OTHERS:
            continue
        section = name.rpartition("__")[0]
        if meant := _meant(name, known):
            said.append(f"{name} is no setting and is ignored; is {' or '.join(meant)} meant?")
        elif section in sections:
            start = f"{section}__"
            there = ", ".join(sorted(each.removeprefix(start) for each in known if each.startswith(start)))
            said.append(f"{name} is no setting and is ignored; those of {section}__ are {there}")
        elif section:
            there = ", ".join(sorted(f"{each}__" for each in sections))
            said.append(f"{name} is no setting and is ignored; sections of settings are {there}")
    return said


def _meant(name: str, known: Iterable[str]) -> list[str]:
    """The settings that a name may stand for: one that it resembles, else those that have all of its words."""
    names = sorted(known)
    same = [each for each in names if _ADDRESS.sub("", each) == _ADDRESS.sub("", name)]
    if near := same or get_close_matches(name, names, 1, _LIKE):
        return near[:1]
    words = set(_words(name))
    return [each for each in names if len(words) > 1 and words <= set(_words(each))][:_SHOWN]


def _words(name: str) -> list[str]:
    return [word for word in name.removeprefix(_PREFIX).split("_") if word]


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
