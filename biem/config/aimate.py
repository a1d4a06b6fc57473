"""AIMate's configuration file: its names, and the settings that they replace."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import yaml
from pydantic import TypeAdapter, ValidationError

from biem.config import Settings, faults_of
from biem.errors import ConfigError

CONFIG = Path("~/.aimate/config.yaml")
SETTINGS: Mapping[str, tuple[str, str]] = {
    "context.total_budget": ("builder", "total_budget"),
    "context.core_ratio": ("builder", "core"),
    "context.session_ratio": ("builder", "session"),
    "context.short_term_ratio": ("builder", "short_term"),
    "context.long_term_ratio": ("builder", "long_term"),
    "session.max_tokens": ("session", "max_tokens"),
    "session.warning_ratio": ("session", "warning_ratio"),
    "session.critical_ratio": ("session", "critical_ratio"),
    "session.trim_target_ratio": ("session", "trim_target"),
    "session.protected_rounds": ("session", "protected_rounds"),
    "short_term.default_ttl_days": ("layers", "ttl_days"),
    "short_term.promote_threshold": ("retention", "promote_accesses"),
}
"""Names of the configuration file, and the settings they replace."""
_EMBEDDING = ("enabled", "provider", "model", "dimension", "url", "api_key")
_MAINTENANCE = ("enabled", "interval_minutes")
_PACKAGED = ("e5", "use", "bge", "openai", "ollama")
_STORAGE = ("storage.mirror", "storage.global_root", "storage.project_dir_name")


@dataclass(frozen=True, slots=True)
class AimateConfig:
    """What a configuration file says, and what holds without one."""

    settings: Settings
    vectors: bool = True
    """Whether searches use vectors."""
    dimension: int | None = None
    """The dimension that the embedder must have; None: any."""
    mirror: bool = True
    """Whether memories are files, too."""
    global_root: str = "~/.aimate/memory"
    """The folder of the files of the user's own level."""
    project_dir: str = ".aimate"
    """The folder in a project's; `memory` in it has the project's files."""


def configured(settings: Settings, given: Mapping[str, Any]) -> AimateConfig:
    """Settings with the values of a configuration file, and the other things that it says. Raises `ConfigError`."""
    flat = {f"{section}.{name}": value for section, values in given.items() for name, value in _pairs(section, values)}
    known = {*SETTINGS, *_STORAGE, *(f"embedding.{name}" for name in _EMBEDDING)}
    known |= {f"maintenance.{name}" for name in _MAINTENANCE}
    if unknown := sorted(flat.keys() - known):
        raise ConfigError(f"{unknown[0]!r} is no setting of AIMate; there are {', '.join(sorted(known))}")
    changes: dict[str, dict[str, Any]] = {}
    for name, (section, setting) in SETTINGS.items():
        if name in flat:
            changes.setdefault(section, {})[setting] = flat[name]
    if flat.get("maintenance.enabled") is False:
        changes["sleep"] = {"off": tuple(dict.fromkeys([*settings.sleep.off, "lifecycle"]))}
    elif "maintenance.interval_minutes" in flat:
        changes["sleep"] = {"lifecycle_s": _number(flat, "maintenance.interval_minutes") * 60.0}
    update: dict[str, Any] = {}
    for section, values in changes.items():
        try:
            update[section] = _changed(getattr(settings, section), values)
        except ValidationError as error:
            raise ConfigError(f"AIMate's configuration cannot be so: {faults_of(error, _named(section))}") from None
    embedding = {name: flat[f"embedding.{name}"] for name in _EMBEDDING if f"embedding.{name}" in flat}
    if embedding.get("enabled", True) and embedding.get("provider"):
        update["embedder"] = _embedder(settings, embedding)
    return AimateConfig(
        settings.model_copy(update=update),
        vectors=bool(embedding.get("enabled", True)),
        dimension=_dimension(embedding),
        **_storage(flat),
    )


def _named(section: str) -> Callable[[tuple[int | str, ...]], str]:
    """The name in the file of a place in a section; empty where several values do not fit together."""
    names = {setting: name for name, setting in SETTINGS.items()}
    return lambda place: f"{names[section, str(place[0])]}: " if place else ""


def _changed(policy: Any, values: Mapping[str, Any]) -> Any:
    """A section with other values, checked as all settings are."""
    known = {field.name: getattr(policy, field.name) for field in fields(policy)}
    return TypeAdapter(type(policy)).validate_python({**known, **values})


def _dimension(embedding: Mapping[str, Any]) -> int | None:
    """The dimension that is compared with the embedder's; none where vectors are not used."""
    value = embedding.get("dimension")
    if value is None or not embedding.get("enabled", True):
        return None
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ConfigError(f"embedding.dimension is a whole number above 0, not {value!r:.60}")
    return value


def _storage(flat: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if "storage.mirror" in flat:
        if not isinstance(flat["storage.mirror"], bool):
            raise ConfigError(f"storage.mirror is true or false, not {flat['storage.mirror']!r:.60}")
        found["mirror"] = flat["storage.mirror"]
    for name, field in (("storage.global_root", "global_root"), ("storage.project_dir_name", "project_dir")):
        if name in flat:
            value = flat[name]
            if not isinstance(value, str) or not value.strip() or "\0" in value:
                raise ConfigError(f"{name} is the name of a folder, not {value!r:.60}")
            found[field] = value
    folder = Path(found.get("project_dir", "."))
    if folder.is_absolute() or ".." in folder.parts:
        raise ConfigError(f"storage.project_dir_name is a folder inside of a project, not {folder}")
    return found


def _embedder(settings: Settings, embedding: Mapping[str, Any]) -> Any:
    """Providers of AIMate that are not known here are servers of the OpenAI protocol and need their address."""
    provider = str(embedding["provider"])
    values = {name: str(embedding[name]) for name in ("model", "url", "api_key") if embedding.get(name)}
    if provider not in _PACKAGED:
        if "url" not in values:
            raise ConfigError(
                f"embedding.provider {provider!r} needs embedding.url, the address of its OpenAI endpoint"
            )
        provider = "openai"
    return type(settings.embedder)(**(settings.embedder.model_dump() | values | {"provider": provider}))


def _pairs(section: str, values: Any) -> list[tuple[str, Any]]:
    if not isinstance(values, Mapping):
        raise ConfigError(f"{section!r} in AIMate's configuration is a group of settings, not {values!r:.60}")
    return [(str(name), value) for name, value in values.items()]


def _number(flat: Mapping[str, Any], name: str) -> float:
    value = flat[name]
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ConfigError(f"{name} in AIMate's configuration is a number, not {value!r:.60}")
    return float(value)


def read_config(path: Path, *, must_exist: bool) -> Mapping[str, Any]:
    if not path.is_file():
        if must_exist:
            raise ConfigError(f"AIMate's configuration {path} does not exist")
        return {}
    try:
        found = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ConfigError(f"AIMate's configuration {path} cannot be read: {error}") from None
    if found is None:
        return {}
    if not isinstance(found, Mapping):
        raise ConfigError(f"AIMate's configuration {path} is a group of settings by name, not {type(found).__name__}")
    return found
