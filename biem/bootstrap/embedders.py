"""Which embedder a program takes: that of its settings, or the one that all memories were moved to (`biem reembed`)."""

import logging
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import psycopg

from biem.adapters.sql import queries
from biem.config import EmbedderSettings, Settings
from biem.errors import ConfigError
from biem.ports import Embedder
from biem.ports.reembed import EmbedderChoice

logger = logging.getLogger("biem")

_OF_THE_MODEL = ("provider", "model", "url", "query_prefix", "passage_prefix")
"""Settings that decide which vectors come out; keys, threads and time limits are each program's own."""


def of_the_model(settings: Settings) -> Mapping[str, Any]:
    """What another program builds the same embedder from; no key is among it."""
    wanted = settings.embedder
    own = {name: getattr(wanted, name) for name in _OF_THE_MODEL}
    return own | {"url": _without_login(wanted.url.get_secret_value())}


def choice_of_record(dsn: str) -> EmbedderChoice | None:
    """The embedder that all memories were moved to; None when none, or when nobody can tell yet."""
    try:
        with psycopg.connect(dsn, autocommit=True, connect_timeout=5) as connection:
            connection.execute("SET ROLE biem_service")
            row = connection.execute(queries()["current_embedder"]).fetchone()
    except psycopg.Error:  # what is wrong with the server or the schema is said where more is wanted of them
        return None
    return EmbedderChoice(*row) if row else None


def with_choice(settings: Settings, choice: EmbedderChoice) -> Settings:
    """Settings that build the embedder of record, with this program's own key and limits."""
    own, chosen = settings.embedder.model_dump(), dict(choice.settings)
    if _without_login(settings.embedder.url.get_secret_value()) == chosen["url"]:
        chosen["url"] = own["url"]  # with the login that this program has
    return settings.model_copy(update={"embedder": EmbedderSettings(**(own | chosen))})


def _without_login(url: str) -> str:
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


def agreed(settings: Settings, dsn: str, mine: Embedder, build: Callable[[Settings], Embedder]) -> Embedder:
    """`mine`, or the embedder of record in its place; `ConfigError` when this program cannot build that."""
    choice = choice_of_record(dsn)
    if choice is None or choice.model == mine.info.id:
        return mine
    logger.info("all memories were moved to the embedder %s, so it is taken instead of %s", choice.model, mine.info.id)
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
    """Settings for one of so many processes that embed side by side: the packaged model computes on its part of the
    cores. Threads that were set stay as they are."""
    wanted = settings.embedder
    if wanted.provider != "e5" or wanted.threads is not None:
        return settings
    from biem.adapters.embedders.e5 import default_threads  # with the tokenizer, for those who open it anyway

    threads = default_threads(processes)
    return settings.model_copy(update={"embedder": wanted.model_copy(update={"threads": threads})})
