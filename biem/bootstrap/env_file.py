"""A `.env` that merely lies in the current folder does not decide where keys of the environment or texts are sent.

Who enters a folder that others prepared (a repository, a shared disk) has not agreed to what it says. A file that is
named with `--env-file` was chosen, and may set anything.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic_settings import DotEnvSettingsSource, EnvSettingsSource

from biem.config import Settings
from biem.errors import ConfigError

_SENT_TO: Mapping[str, tuple[str, ...]] = {
    "EMBEDDER__API_KEY": ("EMBEDDER__URL", "EMBEDDER__PROVIDER"),
    "RERANKER__API_KEY": ("RERANKER__URL", "RERANKER__PROVIDER"),
    "REASONER__API_KEY": ("REASONER__URL",),
    "MILVUS_TOKEN": ("MILVUS_URI", "MILVUS_HOST", "MILVUS_PORT", "MILVUS_CA"),
    "POSTGRES_PASSWORD": ("POSTGRES_HOST", "POSTGRES_PORT", "POSTGRES_USER"),
}
"""Each secret that stands apart from the address that it is sent to, and what makes up that address."""
_MODELS: Mapping[str, tuple[str, ...]] = {
    "EMBEDDER__URL": (),
    "RERANKER__URL": (),
    "REASONER__URL": (),
    "EMBEDDER__PROVIDER": ("openai", "ollama"),
}
"""What sends texts to a model server, and for which values; empty: for every value. A key of the file's own is no
consent: it would be the key of who wrote the file."""
_OF_LIBPQ = "PGPASSWORD"
"""What PostgreSQL's own client takes where a DSN has no password."""


def require_own_addresses(env_file: Path) -> None:
    """Raise `ConfigError` where this file, which was found and not named, decides where keys or texts are sent.

    Addresses of PostgreSQL, Redis and Milvus may stand there with their own passwords, as `make up` writes them.
    """
    environment = EnvSettingsSource(Settings)
    own, found = _flat(environment()), _flat(DotEnvSettingsSource(Settings, env_file=env_file)())
    pairs = dict(_SENT_TO)
    if environment.env_vars.get(_OF_LIBPQ.lower()):
        own[_OF_LIBPQ] = "set"
        pairs[_OF_LIBPQ] = ("POSTGRES_DSN", "POSTGRES_HOST", "POSTGRES_PORT")
    for secret, places in pairs.items():
        redirected = [place for place in places if found.get(place) and not own.get(place)]
        if own.get(secret) and redirected:
            key = secret if secret == _OF_LIBPQ else f"BIEM_{secret}"
            raise ConfigError(
                f"{key} comes from the environment, and BIEM_{redirected[0]} from {env_file} of this folder: the file "
                f"would decide where your secret is sent. Set both in the environment or both in the file, or give "
                f"--env-file {env_file} if you trust it"
            )
    for place, values in _MODELS.items():
        value = str(found.get(place, "")).lower()
        here = {place, place.replace("PROVIDER", "URL")}
        if value and (not values or value in values) and not any(own.get(name) for name in here):
            raise ConfigError(
                f"BIEM_{place} comes from {env_file} of this folder: the file would decide which server your texts are "
                f"sent to. Set it in the environment, or give --env-file {env_file} if you trust it"
            )


def _flat(given: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Each setting, flat or nested, by its name without our prefix."""
    flat: dict[str, Any] = {}
    for name, value in given.items():
        full = prefix + name.upper().removeprefix("BIEM_")
        flat |= _flat(value, f"{full}__") if isinstance(value, Mapping) else {full: value}
    return flat
