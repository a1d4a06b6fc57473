"""Lines of a chat loop that are commands: `/memory …`, `/new`, `/session …`."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from biem.domain.diagnosis import Diagnosis, StageTime
from biem.domain.mirror.root import MirrorReport
from biem.domain.node import Hits, Node
from biem.domain.paging import Page
from biem.domain.scope import Scope
from biem.domain.sessions.built import ContextWarning
from biem.domain.text import one_line
from biem.errors import InvalidInput, NotFound
from biem.layers.maintain import Maintenance
from biem.layers.mirror.mirror import Mirror
from biem.layers.sessions import Sessions
from biem.layers.stats import LayerStats

_LISTED = 10
_LINE_CHARS = 200
_WORDS: Mapping[str, tuple[str, str]] = {
    "usage": (
        "/memory stats | perf | diagnose | reindex | search QUERY | core | recent | sync | maintenance\n"
        "/new\n/session status | list | restore ID",
        "/memory stats | perf | diagnose | reindex | search 查询 | core | recent | sync | maintenance\n"
        "/new\n/session status | list | restore ID",
    ),
    "stats": (
        "core: {core_tokens} tokens\n"
        "session: {session_tokens} tokens, {percent}% of its limit\n"
        "short-term memories: {short_term_count}\n"
        "long-term memories: {long_term_count}\n"
        "indexed: {indexed_count}, vectors: {vector_count}",
        "核心记忆：{core_tokens} tokens\n"
        "会话：{session_tokens} tokens，已使用 {percent}%\n"
        "短期记忆：{short_term_count} 条\n"
        "长期记忆：{long_term_count} 条\n"
        "已索引：{indexed_count} 条，向量：{vector_count} 条",
    ),
    "healthy": ("no fault found", "未发现问题"),
    "reindexed": ("memories indexed again: {count}", "已重新索引 {count} 条记忆"),
    "nothing": ("nothing found", "没有找到记忆"),
    "query": ("say what to search for: /memory search QUERY", "请输入查询内容：/memory search 查询"),
    "opened": ("new session {id}", "已开启新会话 {id}"),
    "restored": ("session {id} restored, messages: {messages}", "已恢复会话 {id}：{messages} 条消息"),
    "restore": ("say which session: /session restore ID", "请指定会话：/session restore ID"),
    "unknown": ("no session {id}; /session list names them", "没有会话 {id}；/session list 列出会话"),
    "session": (
        "session {id}: {tokens} tokens, {percent}% of its limit, messages: {messages}",
        "会话 {id}：{messages} 条消息，{tokens} tokens，已使用 {percent}%",
    ),
    "no_session": ("no session is open", "没有打开的会话"),
    "unmeasured": ("nothing was measured yet", "暂无性能数据"),
    "no_mirror": ("no folder is mirrored", "没有镜像目录"),
    "synced": (
        "{root}: {written} written, {taken} taken in, {revised} revised{more}",
        "{root}：写入 {written}，新增 {taken}，修订 {revised}{more}",
    ),
    "archived": (", {count} archived", "，归档 {count}"),
    "restored_files": (", {count} restored", "，恢复 {count}"),
    "moved": (", {count} moved", "，移动 {count}"),
    "strangers": (
        "; files not written by biem: {count}, which `biem mirror adopt` takes in",
        "；{count} 个文件不是 biem 写的，未收录：biem mirror adopt",
    ),
    "troubled": (
        "; files that need you: {count}, see `biem mirror status`",
        "；{count} 个文件需要处理：biem mirror status",
    ),
    "open": ("open", "进行中"),
    "closed": ("closed", "已关闭"),
    "archived_session": ("archived", "已归档"),
    "promote": ("promote", "提升"),
    "expire": ("expire", "过期"),
    "archive": ("archive", "归档"),
    "limits": ("limits", "限额"),
    "sessions": ("sessions", "会话"),
    "mirror": ("mirror", "镜像"),
    "notes": ("notes", "笔记"),
    "integrity": ("integrity", "完整性"),
    "perf": ("{stage}: {count} × P50 {p50:.1f} P90 {p90:.1f} P99 {p99:.1f} ms",) * 2,
}


_MORE = {
    "archived": "archived",
    "restored": "restored_files",
    "moved": "moved",
    "strangers": "strangers",
    "troubled": "troubled",
}
"""Counts of a sync that are named where there are any, with their words."""
_STATUS = {"open": "open", "closed": "closed", "archived": "archived_session"}
_LEAST_OF_ID = 4
"""Characters of an id that are enough, if no other listed session has them."""


class Commanded(Protocol):
    """What commands need of a memory."""

    @property
    def bound_to(self) -> Scope:
        """Its scope."""

    def scope(self, *, project: str) -> "Commanded":
        """The same memory in another project of the user."""

    @property
    def sessions(self) -> Sessions:
        """Its sessions."""

    @property
    def mirror(self) -> Mirror:
        """Its folders of Markdown files."""

    def layer_stats(self, session: str = "") -> LayerStats:
        """Numbers of its layers."""

    def check_warnings(self, session: str = "", *, language: str = "en") -> tuple[ContextWarning, ...]:
        """What its caller should know."""

    def perf(self) -> list[StageTime]:
        """Durations."""

    def diagnose(self) -> Diagnosis:
        """Faults."""

    def reindex(self) -> int:
        """Index all again."""

    def maintain(self) -> Maintenance:
        """Maintenance."""

    def core(self) -> tuple[Node, ...]:
        """Core memories."""

    def recall(self, query: str) -> Hits:
        """Search."""

    def list(self, *, limit: int = 50) -> Page[Node]:
        """The newest memories."""


@dataclass(frozen=True, slots=True)
class CommandAnswer:
    """What a command says, and the session that is current after it."""

    text: str
    session: str


def answered(memory: Commanded, text: str, session: str, language: str) -> CommandAnswer | None:
    """The answer to a line that is a command; None for any other line. `session`: the current one, if any."""
    head, *words = text.split() or [""]
    line = _Line(memory, session, ("en", "zh").index(language), words)
    if head == "/new" and not words:
        return line.new()
    if head == "/session":
        return line.of_session()
    if head == "/memory":
        return CommandAnswer(line.of_memory(), session)
    return None


@dataclass(frozen=True, slots=True)
class _Line:
    memory: Commanded
    session: str
    language: int
    words: Sequence[str]

    def new(self) -> CommandAnswer:
        """Close the current session, and open another one of its name."""
        chats = self.memory.sessions
        name = chats.get(self.session).name if self.session else ""
        if self.session:
            chats.close(self.session)
        opened = chats.open(name)
        return CommandAnswer(self._say("opened", id=opened.id), opened.id)

    def of_session(self) -> CommandAnswer:
        """`/session status`, which is the default, `list` and `restore ID`."""
        chats, (verb, *rest) = self.memory.sessions, self.words or ["status"]
        if verb == "status" and not rest:
            return CommandAnswer(self._status(), self.session)
        if verb == "list" and not rest:
            shown = [
                f"{one.id}  {self._say(_STATUS[one.status])}  {one.opened_at:%Y-%m-%d %H:%M}  {one.messages}  "
                f"{one_line(one.name, 40)}"
                for one in chats.list(limit=_LISTED)
            ]
            lines = map(str.rstrip, shown)
            return CommandAnswer("\n".join(lines) or self._say("no_session"), self.session)
        if verb == "restore":
            if len(rest) != 1:
                return CommandAnswer(self._say("restore"), self.session)
            try:
                back = chats.resume(self._listed_id(rest[0]))
            except (InvalidInput, NotFound):
                return CommandAnswer(self._say("unknown", id=one_line(rest[0], _LINE_CHARS)), self.session)
            if self.session and self.session != back.id:
                chats.close(self.session)
            return CommandAnswer(self._say("restored", id=back.id, messages=back.messages), back.id)
        return CommandAnswer(self._say("usage"), self.session)

    def _listed_id(self, given: str) -> str:
        """The id of the listed session that begins or ends with these characters; `given` where not just one does."""
        found = [
            one.id
            for one in self.memory.sessions.list(limit=_LISTED)
            if len(given) >= _LEAST_OF_ID and (one.id.startswith(given) or one.id.endswith(given))
        ]
        return found[0] if len(found) == 1 else given

    def _status(self) -> str:
        if not self.session:
            return self._say("no_session")
        chat = self.memory.sessions.get(self.session)
        percent = int(100 * self.memory.sessions.usage(chat))
        shown = self._say("session", id=chat.id, messages=chat.messages, tokens=f"{chat.tokens:,}", percent=percent)
        return "\n".join([shown, *self._warnings("session")])

    def of_memory(self) -> str:
        """`/memory …`; without a known word, how it is used."""
        verb, *rest = self.words or [""]
        verbs: Mapping[str, Callable[[], str]] = {
            "stats": self._stats,
            "perf": self._perf,
            "diagnose": self._diagnose,
            "reindex": lambda: self._say("reindexed", count=self.memory.reindex()),
            "core": lambda: self._listed(self.memory.core()),
            "recent": lambda: self._listed(self.memory.list(limit=_LISTED).items),
            "sync": self._sync,
            "maintenance": self._maintenance,
        }
        if verb == "search":
            query = " ".join(rest)
            return self._listed([hit.node for hit in self.memory.recall(query)]) if query else self._say("query")
        return verbs[verb]() if verb in verbs and not rest else self._say("usage")

    def _stats(self) -> str:
        found = self.memory.layer_stats(self.session)
        numbers = {name: getattr(found, name) for name in found.__dataclass_fields__}
        shown = self._say("stats", **numbers, percent=int(100 * found.session_usage_ratio))
        return "\n".join([shown, *self._warnings()])

    def _perf(self) -> str:
        shown = [
            self._say("perf", stage=one.stage, count=one.count, p50=one.p50_ms, p90=one.p90_ms, p99=one.p99_ms)
            for one in self.memory.perf()
        ]
        return "\n".join(shown) or self._say("unmeasured")

    def _diagnose(self) -> str:
        found = self.memory.diagnose().findings
        return "\n".join(f"{one.severity}: {one.id}: {one.what}" for one in found) or self._say("healthy")

    def _sync(self) -> str:
        reports = self.memory.mirror.sync()
        if self.memory.bound_to.project:
            reports += self.memory.scope(project="").mirror.sync()
        return "\n".join(map(self._synced, reports)) or self._say("no_mirror")

    def _synced(self, report: MirrorReport) -> str:
        counts = {"written": report.written, "taken": report.taken, "revised": report.revised}
        more = [self._say(word, count=report.counts[name]) for name, word in _MORE.items() if report.counts[name]]
        if report.reason:
            more.append(f" ({report.reason})")
        return self._say("synced", root=report.root, **counts, more="".join(more))

    def _maintenance(self) -> str:
        done = self.memory.maintain()
        return "\n".join(
            [
                *(f"{self._say(step) if step in _WORDS else step}: {count}" for step, count in done.counts.items()),
                *(f"{one.name}: {one.reason}" for one in done.failed),
            ]
        )

    def _listed(self, nodes: Sequence[Node]) -> str:
        lines = [f"{place}. {one_line(node.text, _LINE_CHARS)}" for place, node in enumerate(nodes, 1)]
        return "\n".join(lines) or self._say("nothing")

    def _warnings(self, *names: str) -> list[str]:
        found = self.memory.check_warnings(self.session, language=("en", "zh")[self.language])
        return [str(one) for one in found if not names or one.name in names]

    def _say(self, name: str, **values: Any) -> str:
        return _WORDS[name][self.language].format(**values)
