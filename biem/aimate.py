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

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

from pydantic import SecretStr

from biem.bootstrap import connect
from biem.bootstrap.check_settings import warn_of_misspelt
from biem.config import Settings, load_settings
from biem.config.aimate import CONFIG, configured, read_config
from biem.domain.mirror.project import path_key
from biem.domain.node import Hits
from biem.domain.observing.unit import Unit
from biem.domain.sessions.built import BuiltContext, ContextWarning
from biem.domain.sessions.session import Appended, ChatSession
from biem.errors import BiemError, ConfigError, InvalidInput, NotFound
from biem.layers.aimate_view import MemoryView, memory_view
from biem.layers.maintain import Maintenance
from biem.layers.sessions import Sessions
from biem.layers.shelf import LayerShelf
from biem.layers.stats import LayerStats
from biem.memory import Memory
from biem.ports import Clock, Embedder
from biem.ports.layers.sessions import LayerCount, Tokens

logger = logging.getLogger("biem.aimate")


class MemorySystem:
    """AIMate's memory of one user, in one conversation at a time. Use it as a context manager, or call `close`.

    Its memories are Markdown files, too: in `~/.aimate/memory`, and in `.aimate/memory` of each project's folder.
    """

    def __init__(
        self,
        config: Path | str | None = None,
        *,
        settings: Settings | None = None,
        embedder: Embedder | None = None,
        clock: Clock | None = None,
        tokens: Tokens | None = None,
        language: str = "zh",
    ) -> None:
        """`config`: the configuration file, by default `~/.aimate/config.yaml` if it exists.

        `settings` default to the environment and AIMate's numbers; `embedder` and `clock` replace the configured ones;
        `tokens` counts as in `biem.connect`; `language` is that of warnings and commands, zh or en.
        Nothing is opened before `initialize` or the first use. Raises `ConfigError`.
        """
        base = settings
        if base is None:
            base = load_settings()
            warn_of_misspelt()
            base = Settings(profile="aimate") if base.profile == "default" else base
        file = CONFIG.expanduser() if config is None else Path(config)
        self._config = configured(base, read_config(file, must_exist=config is not None))
        self._embedder = embedder
        self._clock = clock
        self._tokens = tokens
        self._language = language
        self._root: Memory | None = None
        self._memory: Memory | None = None
        self._session = ""
        self._mirrored: dict[Path, Memory] = {}

    def initialize(self, api_key: str = "") -> None:
        """Open the memory; `api_key`: of the embedder and the language model, where they need one.

        A second call does nothing. Raises as `biem.connect`, and `ConfigError` where the embedder has another dimension
        than the configuration says.
        """
        if self._root is not None:
            return
        settings = self._config.settings
        if api_key:
            key = SecretStr(api_key)
            settings = settings.model_copy(
                update={
                    "embedder": settings.embedder.model_copy(update={"api_key": key}),
                    "reasoner": settings.reasoner.model_copy(update={"api_key": key}),
                }
            )
        opened = connect(settings, embedder=self._embedder, clock=self._clock, tokens=self._tokens)
        wanted, dim = self._config.dimension, opened.embedder.dim
        if wanted not in (None, dim):
            opened.close()
            raise ConfigError(
                f"embedding.dimension is {wanted}, but vectors of {opened.embedder.id} have {dim} numbers: correct it, "
                "or name another model"
            )
        self._root = self._memory = opened
        self._mirror(self._root.scope(project=""), Path(self._config.global_root))

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

    @property
    def sessions(self) -> Sessions:
        """The conversations of the project."""
        return self.memory.sessions

    def shelf(self, layer: str) -> LayerShelf:
        """The memories of a layer: core, which is the user's own, or short_term or long_term, of the project."""
        return (self.memory.scope(project="") if layer == "core" else self.memory).shelf(layer)

    def set_project(self, project: str | Path) -> ChatSession:
        """Work in a project, given by its folder or its name; resumes its open conversation.

        A project given by its folder has its memories as files there, and files of a stranger's wait for `adopt`.
        """
        memory = self.memory
        key, folder = _project_of(memory, project)
        self._memory = memory.scope(project=key)
        self._session = ""
        if folder is not None:
            self._mirror(self._memory, folder / self._config.project_dir / "memory")
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
            use_vector=use_vector and self._config.vectors,
            use_keyword=use_keyword,
            use_time_weight=use_time_weight,
            min_similarity=min_similarity,
        )

    def get(self, memory_id: str) -> MemoryView:
        """A memory of the project, or of the user, as AIMate defines it. Raises `NotFound`."""
        for memory in (self.memory, self.memory.scope(project="")):
            try:
                node = memory.get(memory_id)
            except NotFound:
                continue
            return memory_view(node, now=memory.now(), file=memory.mirror.file(node.id))
        raise NotFound(f"no memory {memory_id} in the project, and none of the user's own")

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
        """Bring the files up to date and close the memory; a second call does nothing."""
        mirrored, self._mirrored = self._mirrored, {}
        for folder, memory in mirrored.items():
            with _folder_errors_logged(folder):
                for report in memory.mirror.sync(folder):
                    if report.reason:
                        logger.warning("%s is not up to date: %s", folder, report.reason)
        if self._root is not None:
            self._root.close()

    def _mirror(self, memory: Memory, folder: Path) -> None:
        """Keep the memories of a scope as files in a folder, too; where that cannot be, it works without."""
        if self._config.mirror:
            with _folder_errors_logged(folder):
                self._mirrored[Path(memory.mirror.add(folder).path)] = memory

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


@contextmanager
def _folder_errors_logged(folder: Path) -> Iterator[None]:
    """Log that a folder cannot have files, instead of refusing to remember."""
    try:
        yield
    except BiemError as error:
        logger.warning("memories are not mirrored in %s: %s", folder, error)


def _project_of(memory: Memory, project: str | Path) -> tuple[str, Path | None]:
    """The key of a project, and its folder: that which was given, or that of the project which the folder is in.

    A name has no folder; a folder that is in no project is one.
    """
    given = os.fspath(project)
    if not isinstance(given, str) or not given.strip():
        raise InvalidInput("a project is given by its folder or by its name")
    path = Path(given).expanduser()
    if not path.is_dir():
        is_name = isinstance(project, str) and os.sep not in given
        return given if is_name else path_key(str(path.resolve())), None
    path, projects = path.resolve(), memory.projects
    try:
        key, found = projects.open(path), projects.find(path)
    except NotFound:
        key, found = path_key(str(path)), None
        projects.link(path, key)  # the same key also once it is a project, as it is when it has files
    return key, path if found is None else Path(found.root)
