"""Chooses the env file, and restricts an implicit `.env` of the current folder.

A user in a folder made by others (a repository, a shared disk) has not agreed to its contents. So an implicit `.env`
may set numbers and names, but neither the destinations of texts, passwords and keys nor code to load. A file named with
`--env-file` or `BIEM_ENV_FILE` was chosen, and may set anything.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import Field
from pydantic_settings import BaseSettings, DotEnvSettingsSource, EnvSettingsSource, SettingsConfigDict

from biem.config import Settings
from biem.errors import ConfigError

VARIABLE = "BIEM_ENV_FILE"
"""Environment variable with the file's path; `--env-file` overrides it."""
FOUND = Path(".env")

_PLACES = (
    "HOME", "POSTGRES_DSN", "POSTGRES_HOST", "REDIS_URL", "MILVUS_URI", "MILVUS_HOST", "BROKER_URL", "METRICS_HOST",
    "EMBEDDER__URL", "RERANKER__URL", "REASONER__URL",
)  # fmt: skip
"""Destinations of texts, passwords and keys: servers, brokers, the folder of the embedded servers."""
_CODE = ("RESCAN", "NAMES_PIPELINE", "EMBEDDER__MODEL", "RERANKER__MODEL")
"""Code and data that is loaded: a function, a package, the files of a model."""
_PROVIDERS: Mapping[str, tuple[str, ...]] = {
    "EMBEDDER__PROVIDER": ("openai", "ollama"),
    "RERANKER__PROVIDER": ("jina", "tei"),
}
"""Values that select a server, maybe at a default address; the packaged models send nothing."""
_PARTS: Mapping[str, tuple[str, ...]] = {
    "POSTGRES_PORT": ("POSTGRES_HOST",),
    "POSTGRES_DB": ("POSTGRES_HOST",),
    "POSTGRES_USER": ("POSTGRES_HOST",),
    "MILVUS_PORT": ("MILVUS_HOST",),
    "MILVUS_CA": ("MILVUS_URI", "MILVUS_HOST"),
}
"""Settings that modify an address of the environment, without effect otherwise."""


class _Named(BaseSettings):
    model_config = SettingsConfigDict(extra="ignore", env_ignore_empty=True)

    env_file: Path | None = Field(None, validation_alias=VARIABLE)


def chosen(named: Path | None = None) -> Path | None:
    """The env file to read: `named`, else that of `BIEM_ENV_FILE`, else `.env` of the current folder, if there is one.

    Raises `ConfigError` if that last one sets more than an implicit file may.
    """
    named = named or _Named().env_file
    if named is not None:
        return named
    if not FOUND.is_file():
        return None
    _require_harmless(FOUND)
    return FOUND


def _require_harmless(env_file: Path) -> None:
    """Raise `ConfigError` if this file sets a destination of texts and keys, or code to run, that the environment does
    not set."""
    own = _flat(EnvSettingsSource(Settings)())
    found = _flat(DotEnvSettingsSource(Settings, env_file=env_file)())
    wrong = [name for name in (*_PLACES, *_CODE) if found.get(name)]
    wrong += [
        name
        for name, servers in _PROVIDERS.items()
        if str(found.get(name, "")).lower() in servers and not own.get(name.replace("PROVIDER", "URL"))
    ]
    wrong += [name for name, whole in _PARTS.items() if found.get(name) and any(own.get(one) for one in whole)]
    wrong = [f"BIEM_{name}" for name in wrong if not own.get(name)]
    if wrong:
        them = "it" if len(wrong) == 1 else "them"
        raise ConfigError(
            f"{', '.join(wrong)} in {env_file} would decide where your texts and keys are sent, or what code runs; a "
            f"file that only lies in the current folder may not. If you trust it, give --env-file {env_file} or set "
            f"{VARIABLE}={env_file.absolute()}; else set {them} in the environment"
        )


def _flat(given: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Each setting, flat or nested, by its name without our prefix."""
    flat: dict[str, Any] = {}
    for name, value in given.items():
        full = prefix + name.upper().removeprefix("BIEM_")
        flat |= _flat(value, f"{full}__") if isinstance(value, Mapping) else {full: value}
    return flat
