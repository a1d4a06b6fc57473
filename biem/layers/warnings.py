"""What a caller should know about a window and a memory, in English or Chinese."""

from collections.abc import Iterator, Mapping

from biem.domain.policies.sessions import SessionPolicy
from biem.domain.sessions.built import ContextWarning, Level

LANGUAGES = ("en", "zh")

_WORDS: Mapping[str, tuple[str, str]] = {
    "session": ("the session uses {percent}% of its context", "会话上下文已使用 {percent}%"),
    "session_critical": (
        "the session uses {percent}% of its context; open a new session",
        "会话上下文已使用 {percent}%，建议开启新会话",
    ),
    "short_term": ("{value} of {limit} short-term memories", "短期记忆 {value}/{limit} 条"),
    "core_left_out": (
        "core memories left out: {value}; their section has {limit} tokens",
        "{value} 条核心记忆未加载：该部分上限为 {limit} tokens",
    ),
    "found_left_out": (
        "found memories and notes left out: {value}; their section has {limit} tokens",
        "{value} 条检索到的记忆和笔记未加载：该部分上限为 {limit} tokens",
    ),
    "short_term_left_out": (
        "short-term memories left out: {value}; their section has {limit} tokens",
        "{value} 条短期记忆未加载：该部分上限为 {limit} tokens",
    ),
    "messages_left_out": (
        "earlier messages of the session left out: {value}; their section has {limit} tokens",
        "会话中较早的 {value} 条消息未加载：该部分上限为 {limit} tokens",
    ),
    "budget": (
        "the window has {value} tokens, more than its budget of {limit}: system messages and the newest round are "
        "never cut",
        "上下文共 {value} tokens，超过预算 {limit}：系统消息和最新一轮不会被截断",
    ),
}
_LEFT_OUT: Mapping[str, Level] = {
    "core_left_out": "warning",
    "found_left_out": "info",
    "short_term_left_out": "info",
    "messages_left_out": "info",
}


def of_session(tokens: int, policy: SessionPolicy, language: str) -> Iterator[ContextWarning]:
    """At most one: how full a session is, from `warning_ratio` on, and critical from `critical_ratio` on."""
    usage, percent = tokens / policy.max_tokens, tokens * 100 // policy.max_tokens
    if usage >= policy.critical_ratio:
        told = _text("session_critical", language, percent=percent)
        yield ContextWarning("session", "critical", told, tokens, policy.max_tokens)
    elif usage >= policy.warning_ratio:
        told = _text("session", language, percent=percent)
        yield ContextWarning("session", "warning", told, tokens, policy.max_tokens)


def of_short_term(count: int, most: int, language: str) -> Iterator[ContextWarning]:
    """At most one: how many short-term memories there are; a warning from `most` on."""
    if count:
        level: Level = "warning" if count >= most else "info"
        told = _text("short_term", language, value=count, limit=most)
        yield ContextWarning("short_term", level, told, count, most)


def of_left_out(name: str, count: int, limit: int, language: str) -> Iterator[ContextWarning]:
    """At most one: items that did not fit into a section of `limit` tokens."""
    if count:
        told = _text(name, language, value=f"{count:,}", limit=f"{limit:,}")
        yield ContextWarning(name, _LEFT_OUT[name], told, count, limit)


def of_budget(tokens: int, budget: int, language: str) -> Iterator[ContextWarning]:
    """At most one: a window that is larger than it should be."""
    if tokens > budget:
        told = _text("budget", language, value=f"{tokens:,}", limit=f"{budget:,}")
        yield ContextWarning("budget", "warning", told, tokens, budget)


def _text(name: str, language: str, **values: object) -> str:
    return _WORDS[name][LANGUAGES.index(language)].format(**values)
