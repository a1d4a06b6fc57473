"""Models of FlagEmbedding, for embedders and rerankers: the extra `bge`, 1.7 GB with torch."""

import importlib
import importlib.util
import os
from typing import Any, Literal

from biem.errors import ConfigError, MissingExtra

_FIRST: dict[str, int] = {}
"""The process that loaded torch first: its threads do not exist in forked children."""


def load(kind: str, role: Literal["embedder", "reranker"], model: str, devices: str) -> Any:
    """FlagEmbedding's class `kind` with the weights of `model`, a name or a folder; on `devices`, or the best
    available.

    Raises `MissingExtra` without the package, and `ConfigError` where the weights cannot be loaded.
    """
    if importlib.util.find_spec("FlagEmbedding") is None:
        raise MissingExtra(f"the {role} bge needs torch and FlagEmbedding (1.7 GB); run: pip install 'biem[bge]'")
    if _FIRST.setdefault("process", os.getpid()) != os.getpid():
        raise ConfigError(
            f"torch was loaded before this process was forked, so the {role} bge would hang in it; start processes "
            "with spawn, or call biem.connect() only after the fork (gunicorn: without --preload, or in post_fork)"
        )
    flag: Any = importlib.import_module("FlagEmbedding")
    try:
        return getattr(flag, kind)(model, use_fp16=devices.startswith("cuda"), devices=devices or None)
    except (OSError, ValueError, RuntimeError) as error:
        raise ConfigError(
            f"the {role} bge cannot be loaded from {model!r}: {error}; "
            f"set BIEM_{role.upper()}__MODEL to the folder of a downloaded checkpoint"
        ) from error
