"""`create_aim_memory`: a memory under AIM-Memory's own configuration, whole or in part."""

import logging
from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from biem.aim import AimMemory
from biem.bootstrap import connect
from biem.bootstrap.check_settings import warn_of_misspelt
from biem.config import Settings, load_settings
from biem.domain.policies.aim import PRESETS, AimPolicy, FieldWeights
from biem.domain.scope import Scope
from biem.engine.aim.snapshot_file import read
from biem.errors import ConfigError
from biem.ports import Clock, Embedder

logger = logging.getLogger("biem")

_WINDOW = "hot_window_size"
_KNOWN = (_WINDOW, *(field.name for field in fields(AimPolicy)))
_USUAL_WINDOW = range(128, 513)


def create_aim_memory(
    config: Mapping[str, Any] | str | None = None,
    *,
    settings: Settings | None = None,
    home: Path | str | None = None,
    scope: Scope | None = None,
    embedder: Embedder | None = None,
    clock: Clock | None = None,
) -> AimMemory:
    """Open a memory with AIM-Memory's configuration: any of its names and values, or a preset's name.

    Presets are `quick_dialogue`, `precise_knowledge` and `long_term`. What `config` leaves out is as in `settings`, but
    its gate decides which messages are formed unless either sets another rule. The other arguments are those of
    `connect`. Raises `ConfigError` for unknown names and impossible values.
    """
    if settings is None:
        settings = load_settings()
        warn_of_misspelt()
    given = configured(config, settings)
    return AimMemory(connect(given, home=home, scope=scope, embedder=embedder, clock=clock))


def load_aim_memory(path: Path | str, **options: Any) -> AimMemory:
    """Open a memory with the configuration of a saved one, and load that; options as for `create_aim_memory`."""
    memory = create_aim_memory(read(Path(path)).config, **options)
    try:
        memory.load(path)
    except BaseException:
        memory.close()
        raise
    return memory


def configured(config: Mapping[str, Any] | str | None, settings: Settings) -> Settings:
    """Settings with AIM-Memory's configuration in place."""
    if isinstance(config, str):
        if config not in PRESETS:
            raise ConfigError(f"preset {config!r} is unknown; choose one of {', '.join(PRESETS)}")
        config = PRESETS[config]
    wanted = dict(config or {})
    unknown = [name for name in wanted if name not in _KNOWN]
    if unknown:
        raise ConfigError(f"{unknown[0]!r} is no setting of AIM-Memory; there are {', '.join(_KNOWN)}")
    window = wanted.pop(_WINDOW, settings.write.hot_window)
    if isinstance(weights := wanted.get("field_weights"), Mapping):
        wanted["field_weights"] = _weights(weights, settings.aim.field_weights)
    if settings.aim.admission == AimPolicy().admission:
        wanted.setdefault("admission", "gate")
    try:
        aim = replace(settings.aim, **wanted)
    except (TypeError, ValueError) as error:
        raise ConfigError(f"AIM-Memory cannot be configured so: {error}") from None
    if isinstance(window, bool) or not isinstance(window, int) or window < 1:
        raise ConfigError(f"{_WINDOW} must be a whole number from 1 on, not {window!r}")
    if window not in _USUAL_WINDOW:
        logger.warning("%s is %d; the intended range is 128 to 512", _WINDOW, window)
    return settings.model_copy(update={"aim": aim, "write": replace(settings.write, hot_window=window)})


def _weights(given: Mapping[str, Any], known: FieldWeights) -> FieldWeights:
    try:
        return replace(known, **given)
    except (TypeError, ValueError) as error:
        raise ConfigError(f"field_weights cannot be so: {error}") from None
