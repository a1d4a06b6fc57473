"""Chooses a program's embedder: that of its settings, or the one that all memories were moved to (`biem reembed`)."""

import hashlib
import logging
from collections.abc import Callable, Mapping
from typing import Any

from biem.adapters.postgres.reindexing import choice_of_record as choice_of_record
from biem.config import EmbedderSettings, Settings
from biem.errors import ConfigError
from biem.ports import Embedder
from biem.ports.reindexing import EmbedderChoice

logger = logging.getLogger("biem")

_OF_THE_MODEL = ("provider", "model", "query_prefix", "passage_prefix")
"""Settings that determine the vectors; addresses, keys, threads and timeouts are specific to each program."""
_PACKAGED = ("e5", "use")
"""Providers packaged with biem, which need no download, address or file."""
_SERVED = ("openai", "ollama")


def of_the_model(settings: Settings) -> Mapping[str, Any]:
    """Identifies the embedder for other programs.

    Without an address: a user who can write the row could redirect texts and keys. A digest shows whether another
    program's settings have the same server. The empty `url` is read by version 0.1.0.
    """
    wanted = settings.embedder
    own = {name: getattr(wanted, name) for name in _OF_THE_MODEL}
    return own | {"url": "", "server": _server(wanted.url.get_secret_value())}


def with_choice(settings: Settings, choice: EmbedderChoice) -> Settings:
    """Settings that build the embedder of record: its model, at this program's own address, with its own key.

    Raises `ConfigError` if these settings do not contain the address of the model: the operator must set it.
    """
    own, said = settings.embedder, choice.settings
    chosen = {name: said.get(name, "") for name in _OF_THE_MODEL}
    if not _within(own, chosen, said):
        raise ConfigError(
            f"all memories were moved to the embedder {choice.model}, which these settings do not lead to, and a table "
            "does not decide where texts and keys are sent; set BIEM_EMBEDDER__PROVIDER, BIEM_EMBEDDER__MODEL and, for "
            "a server, BIEM_EMBEDDER__URL and its key to those of that embedder, or run `biem reembed` to move all "
            "memories to the one of these settings"
        )
    return settings.model_copy(update={"embedder": own.model_copy(update=chosen)})


def _within(own: EmbedderSettings, chosen: Mapping[str, Any], said: Mapping[str, Any]) -> bool:
    """Whether the chosen model needs no address, download or file beyond those in these settings."""
    if not all(isinstance(value, str) for value in chosen.values()):
        return False
    if chosen["provider"] in _SERVED:
        server = said.get("server") or _server(str(said.get("url", "")))  # 0.1.0 wrote the address itself
        return own.provider == chosen["provider"] and _server(own.url.get_secret_value()) == server
    if chosen["provider"] in _PACKAGED:
        return True
    return bool(own.provider == chosen["provider"] and own.model == chosen["model"])


def _server(url: str) -> str:
    """A digest that distinguishes servers without revealing their addresses; logins and keys are ignored."""
    scheme, _, rest = url.strip().partition("://")
    authority, slash, path = rest.partition("?")[0].partition("#")[0].partition("/")
    place = f"{scheme}://{authority.rpartition('@')[2]}{slash}{path}".rstrip("/").casefold()
    return hashlib.sha256(place.encode()).hexdigest()


def agreed(settings: Settings, dsn: str, mine: Embedder, build: Callable[[Settings], Embedder]) -> Embedder:
    """`mine`, or instead the embedder of record; raises `ConfigError` if this program cannot build it."""
    choice = choice_of_record(dsn)
    if choice is None or choice.model == mine.info.id:
        return mine
    logger.info("all memories were moved to the embedder %s, which replaces %s", choice.model, mine.info.id)
    mine.close()
    built = build(with_choice(settings, choice))
    if built.info.id != choice.model:
        found = built.info.id
        built.close()
        raise ConfigError(
            f"all memories were moved to the embedder {choice.model}, but this installation makes {found} of its "
            "settings; install the same version of its package, or run `biem reembed`"
        )
    return built


def sharing_cores(settings: Settings, processes: int) -> Settings:
    """Settings for one of `processes` that embed concurrently: the packaged model uses its share of the cores. A
    configured number of threads is kept."""
    wanted = settings.embedder
    if wanted.provider != "e5" or wanted.threads is not None:
        return settings
    from biem.adapters.embedders.e5 import default_threads  # imports the tokenizer

    threads = default_threads(processes)
    return settings.model_copy(update={"embedder": wanted.model_copy(update={"threads": threads})})
