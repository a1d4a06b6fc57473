"""AIMate's memory system under its own names: projects, conversations, windows, search, maintenance.

    with MemorySystem() as system:
        system.initialize(api_key="")
        system.set_project("/path/to/project")
        system.process_user_input("我习惯用 Tab 缩进")
        system.add_conversation("user", "帮我重构登录模块", 20)
        built = system.build_context("登录模块怎么实现的")
        hits = system.search("React 最佳实践", 5)

Everything else is in `MemorySystem.memory`. Numbers are AIMate's (`BIEM_PROFILE=aimate`), unless the environment or
`~/.aimate/config.yaml` sets others.
"""

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import yaml
from pydantic import SecretStr

from biem.bootstrap import connect
from biem.config import Settings, load_settings
from biem.domain.mirror.project import path_key
from biem.domain.node import Hits
from biem.domain.observing.unit import Unit
from biem.domain.sessions.built import BuiltContext, ContextWarning
from biem.domain.sessions.session import Appended, ChatSession
from biem.errors import ConfigError, InvalidInput, NotFound
from biem.layers.maintain import Maintenance
from biem.layers.stats import LayerStats
from biem.memory import Memory
from biem.ports import Clock, Embedder
from biem.ports.layers.sessions import LayerCount

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
_MIRROR = ("storage.global_root", "storage.project_dir_name")
"""Folders of Markdown files: accepted, and not used here."""


class MemorySystem:
    """AIMate's memory of one user, in one conversation at a time. Use it as a context manager, or call `close`."""

    def __init__(
        self,
        config: Path | str | None = None,
        *,
        settings: Settings | None = None,
        embedder: Embedder | None = None,
        clock: Clock | None = None,
        language: str = "zh",
    ) -> None:
        """`config`: the configuration file, by default `~/.aimate/config.yaml` if it exists.

        `settings` default to the environment and AIMate's numbers; `embedder` and `clock` replace the configured ones;
        `language` is that of warnings and commands, zh or en. Nothing is opened before `initialize` or the first use.
        Raises `ConfigError`.
        """
        base = settings
        if base is None:
            base = load_settings()
            base = Settings(profile="aimate") if base.profile == "default" else base
        given = _read(CONFIG.expanduser() if config is None else Path(config), must_exist=config is not None)
        self._settings, self._uses_vectors = configured(base, given)
        self._embedder = embedder
        self._clock = clock
        self._language = language
        self._root: Memory | None = None
        self._memory: Memory | None = None
        self._session = ""

    def initialize(self, api_key: str = "") -> None:
        """Open the memory; `api_key`: of the embedder and the language model, where they need one.

        A second call does nothing. Raises as `biem.connect`.
        """
        if self._root is not None:
            return
        settings = self._settings
        if api_key:
            key = SecretStr(api_key)
            settings = settings.model_copy(
                update={
                    "embedder": settings.embedder.model_copy(update={"api_key": key}),
                    "reasoner": settings.reasoner.model_copy(update={"api_key": key}),
                }
            )
        self._root = self._memory = connect(settings, embedder=self._embedder, clock=self._clock)

    @property
    def memory(self) -> Memory:
        """The memory of the current project, or of the user where none is set."""
        if self._memory is None:
            self.initialize()
        assert self._memory is not None
        return self._memory

    @property
    def session(self) -> ChatSession:
        """The current conversation: the open one of the project, or a new one."""
        if not self._session:
            self._session = self.memory.sessions.open(exclusive=True).id
        return self.memory.sessions.get(self._session)

    def set_project(self, project: str | Path) -> ChatSession:
        """Work in a project, given by its folder or its name; resumes its open conversation."""
        memory = self.memory
        self._memory = memory.scope(project=_project_of(memory, project))
        self._session = ""
        return self.session

    def process_user_input(self, text: str) -> tuple[Unit, ...]:
        """Recognise what a message states for later, and store it; see `Memory.observe`."""
        return self.memory.observe(text, store=True)

    def add_conversation(self, role: str, content: str, tokens: int | None = None) -> Appended:
        """Append a message to the conversation; `tokens` as counted by the caller, else estimated."""
        return self.memory.sessions.append(self.session.id, role, content, tokens=tokens)

    def build_context(self, query: str, budget: int | None = None) -> BuiltContext:
        """The whole window for a model; see `Memory.build_context`."""
        return self.memory.build_context(query, budget=budget, session=self.session.id, language=self._language)

    def search(
        self,
        query: str,
        top_k: int = 5,
        *,
        use_vector: bool = True,
        use_keyword: bool = True,
        use_time_weight: bool = True,
        min_similarity: float = 0.6,
    ) -> Hits:
        """At most `top_k` memories for a query, by AIMate's ranking; see `Memory.search`."""
        return self.memory.search(
            query,
            top_k,
            use_vector=use_vector and self._uses_vectors,
            use_keyword=use_keyword,
            use_time_weight=use_time_weight,
            min_similarity=min_similarity,
        )

    def get_stats(self) -> LayerStats:
        """What the layers hold, and how full the conversation is."""
        return self.memory.layer_stats(self.session.id)

    def check_warnings(self) -> tuple[ContextWarning, ...]:
        """How full the conversation is, and how many short-term memories there are."""
        return self.memory.check_warnings(self.session.id, language=self._language)

    def run_maintenance(self) -> Maintenance:
        """Maintain the project now; see `Memory.maintain`."""
        return self.memory.maintain()

    def storage_stats(self) -> list[LayerCount]:
        """Live memories by level and layer, with the bytes of their texts."""
        return self.memory.storage_stats()

    def command(self, text: str) -> str | None:
        """The answer to a line such as `/memory stats`, `/new` or `/session list`; None for any other line."""
        answer = self.memory.command(text, session=self.session.id, language=self._language)
        if answer is None:
            return None
        self._session = answer.session
        return answer.text

    def close(self) -> None:
        """Close the memory; a second call does nothing."""
        if self._root is not None:
            self._root.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def configured(settings: Settings, given: Mapping[str, Any]) -> tuple[Settings, bool]:
    """Settings with the values of a configuration file, and whether searches use vectors. Raises `ConfigError`."""
    flat = {f"{section}.{name}": value for section, values in given.items() for name, value in _pairs(section, values)}
    known = {*SETTINGS, *_MIRROR, *(f"embedding.{name}" for name in _EMBEDDING)}
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
            update[section] = replace(getattr(settings, section), **values)
        except (TypeError, ValueError) as error:
            raise ConfigError(f"AIMate's configuration cannot be so: {error}") from None
    embedding = {name: flat[f"embedding.{name}"] for name in _EMBEDDING if f"embedding.{name}" in flat}
    if embedding.get("enabled", True) and embedding.get("provider"):
        update["embedder"] = _embedder(settings, embedding)
    return settings.model_copy(update=update), bool(embedding.get("enabled", True))


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


def _read(path: Path, *, must_exist: bool) -> Mapping[str, Any]:
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


def _project_of(memory: Memory, project: str | Path) -> str:
    """The key of a project: that which was given, or of the project that a folder is in, else of the folder itself."""
    given = os.fspath(project)
    if not isinstance(given, str) or not given.strip():
        raise InvalidInput("a project is given by its folder or by its name")
    path = Path(given).expanduser()
    if not path.is_dir():
        return given if isinstance(project, str) and os.sep not in given else path_key(str(path.resolve()))
    try:
        return memory.projects.open(path)
    except NotFound:
        return path_key(str(path.resolve()))
