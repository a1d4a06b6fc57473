"""Which numbers the environment sets, and the file that holds all others.

A limit, a schedule or a choice is an operator's to make and has a variable `BIEM_<SECTION>__<NAME>`. Weights and
thresholds that were fitted to data (`benchmarks.fit_*`) have none; a TOML file replaces them, one table a section:

    [ranking]
    nameless = 0.5

`BIEM_TUNING` names that file. The docstrings of `biem.domain.policies` say what each number means.
"""

import dataclasses
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import AliasChoices
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, EnvSettingsSource, PydanticBaseSettingsSource

from biem.errors import ConfigError

OPERATOR: Mapping[str, tuple[str, ...]] = {
    "write": (
        "max_text_bytes", "max_tags", "max_metadata_bytes", "hot_window", "bulk_rows", "future_days", "max_per_minute",
        "trust_by_origin",
    ),
    "encode": ("batch", "lease_s", "max_attempts", "backoff_s", "poll_s"),
    "recall": (
        "profile", "selection", "top_k", "max_top_k", "max_query_chars", "strict_words",
        "search_timeout_s", "retry_down_s",
    ),
    "ranking": (),
    "confidence": (),
    "orbit": ("enabled", "sessions"),
    "aim": ("admission", "gate_form", "write_threshold", "store_evidence", "anchor_filter", "prototype", "adaptive"),
    "formulas": (),
    "typed": (),
    "rerank": ("top_n", "timeout_s"),
    "context": (
        "top_k", "item_chars", "budget_tokens", "min_confidence", "second_look", "order", "marks", "layout",
        "core_tokens", "core_most", "slots", "recent",
    ),
    "energy": ("decay_per_hour",),
    "tiers": ("max_nodes", "idle_s"),
    "retention": (
        "noise_days", "low_days", "normal_days", "high_days", "stated_days", "keep_lasting",
        "long_term_days", "promote_accesses", "promote_useful", "max_memories",
    ),
    "graph": ("max_links",),
    "conflicts": ("act_confidence", "protected_importance"),
    "consolidation": (),
    "feedback": (),
    "sleep": (
        "sweep_s", "build_s", "forget_s", "consolidate_s", "crystallise_s", "lifecycle_s", "links_s", "integrity_s",
        "decisions_s", "notes_s", "outbox_s", "task_limit_s", "off",
    ),
    "notes": ("root", "watch", "max_file_mb"),
    "note_cut": (),
    "note_ranking": (),
    "layers": ("categories", "ttl_days"),
    "builder": ("total_budget",),
    "session": ("max_tokens", "trim_target", "protected_rounds"),
    "concepts": ("enabled", "keywords", "banned", "selection", "instant"),
}  # fmt: skip
"""By section, the numbers that have a variable of the environment."""


class _Source(PydanticBaseSettingsSource):
    """A source that is read as a whole."""

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:
        """Not used: `__call__` gives every value at once."""
        raise NotImplementedError


class OperatorOnly(_Source):
    """Another source without the numbers that are no operator's."""

    def __init__(self, settings: type[BaseSettings], source: PydanticBaseSettingsSource) -> None:
        super().__init__(settings)
        self._source = source

    def __call__(self) -> dict[str, Any]:
        """The values of the other source. Raises as that does."""
        if isinstance(self._source, EnvSettingsSource) and not _names_a_setting(self._source):
            return {}  # looking for each setting takes most of the time of building them
        self._source._set_current_state(self.current_state)
        self._source._set_settings_sources_data(self.settings_sources_data)
        values = self._source()
        for section, names in OPERATOR.items():
            if isinstance(given := values.get(section), dict):
                values[section] = {name: value for name, value in given.items() if name in names}
        return values


def _names_a_setting(source: EnvSettingsSource) -> bool:
    """Whether the environment or the env file has a variable of any setting."""
    prefix, others = source.env_prefix.lower(), _names_without_prefix(source.settings_cls)
    return any((low := name.lower()).startswith(prefix) or low in others for name in source.env_vars)


@cache
def _names_without_prefix(settings: type[BaseSettings]) -> frozenset[str]:
    """The variables that the designs name, in lower case."""
    aliases = (field.validation_alias for field in settings.model_fields.values())
    return frozenset(
        str(name).lower() for alias in aliases if isinstance(alias, AliasChoices) for name in alias.choices
    )


class TuningFile(_Source):
    """The values of the file that `BIEM_TUNING` names; empty without one. Raises `ConfigError` where it is unusable."""

    def __call__(self) -> dict[str, Any]:
        """By section, the numbers of the file."""
        path = self.current_state.get("tuning")
        if not path:
            return {}
        try:
            values = tomllib.loads(Path(path).read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise ConfigError(
                f"the tuning file {path} cannot be read: {error}; correct it or unset BIEM_TUNING"
            ) from None
        known = {section: self.settings_cls.model_fields[section].default for section in OPERATOR}
        for name in _unknown(values, known):
            raise ConfigError(f"the tuning file {path} sets {name}, which does not exist; see biem/domain/policies")
        return values


def _unknown(values: Mapping[str, Any], known: Mapping[str, Any]) -> Iterator[str]:
    """Names of a file that no policy has, with the sections they stand in."""
    for name, value in values.items():
        if name not in known:
            yield name
        elif dataclasses.is_dataclass(policy := known[name]):
            if not isinstance(value, dict):
                yield f"{name} (as a number, but it is a section)"
                continue
            inner = {field.name: getattr(policy, field.name) for field in dataclasses.fields(policy)}
            yield from (f"{name}.{each}" for each in _unknown(value, inner))
