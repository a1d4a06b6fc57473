"""Parses a model's answer into validated values: repairs broken JSON, checks shapes, bounds lists and lengths.

Nothing here raises, for any text. Models invent: a text that replaces others may contain no number that they lack.
"""

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeVar

import json_repair
import orjson
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from biem.domain.text import one_line
from biem.ports.reasoner import Instant, Judgement, ModelVerdict, Proposal, Topic

MAX_KEYWORD_CHARS = 64
MAX_TOPIC_CHARS = 128
MAX_TEXT_CHARS = 2_000
MAX_REASON_CHARS = 300
MAX_TOPICS = 32
MAX_TAGS = 5

_MAX_REPAIRED_CHARS = 6_000
"""Maximum characters repaired. Repairing takes quadratic time in the worst case: 1.6 s for this much, 18 s for three
times as much.
"""

_THOUGHTS = re.compile(r"^\s*<(think|thinking)>.*?(?:</\1>|\Z)", re.DOTALL)
_BRACKETED = re.compile(r"<([^>]+)>")
_NOTHING = {"none", "null", "nil", "n/a", "na", "无", "没有", "空"}
_PLACEHOLDER = re.compile(
    r"(?:n/?a|none|null|nil|todo|tbd|empty|text|content|topic|summary|no summary|your summary here|insert summary here"
    r"|the summary|merged text|the merged text|无|没有|空|内容|文本|摘要|总结|主题|待定|暂无|无内容|合并后的文本)"
)
_REFUSAL = re.compile(
    r"(?:i['’]?m (?:very )?sorry|sorry,|i (?:can(?:no|['’])t|am unable|am not able)|as an ai\b|unable to "
    r"|很?抱歉|对不起|作为(?:一个|一名)?(?:ai|人工智能|语言模型)|我(?:无法|不能))",
    re.IGNORECASE,
)
_LABEL = re.compile(
    r"^(?:(?:merged|combined)(?: text| memory)?|summary|合并后?的?(?:文本|记忆)?|摘要|总结)\s*[:：]\s*", re.I
)
_QUOTES = {'"': '"', "“": "”", "「": "」", "'": "'", "`": "`"}
_NUMBER = re.compile(r"\d+")
_WORD_CHARACTER = re.compile(r"\w")

Shape = TypeVar("Shape", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class ModelReply:
    """The model's answer; `cut` if it was truncated. Token counts are None where the server does not report them."""

    text: str
    cut: bool = False
    tokens_in: int | None = None
    tokens_out: int | None = None


def without_thoughts(text: str) -> str:
    """An answer without the reasoning that a thinking model writes before it; empty if the reasoning never ends."""
    return _THOUGHTS.sub("", text, count=1).strip()


def _line(limit: int) -> BeforeValidator:
    """A non-empty string on one line of at most `limit` characters; all other values are refused."""

    def check(value: object) -> str:
        if not isinstance(value, str):
            raise ValueError("no text")
        line = one_line(value, limit)
        if is_placeholder(line):
            raise ValueError("says nothing")
        return line

    return BeforeValidator(check)


def _number(value: object) -> object:
    if isinstance(value, bool):
        raise ValueError("no number")
    return value


class _Model(BaseModel):
    model_config = ConfigDict(extra="ignore")


class _Keywords(_Model):
    keywords: list[Any]


class _Topic(_Model):
    topic: Annotated[str, _line(MAX_TOPIC_CHARS)]
    summary: Annotated[str, _line(MAX_TEXT_CHARS)]


class _Instant(_Model):
    memory_text: Annotated[str, _line(MAX_TEXT_CHARS)]
    keywords: list[Any] = Field(default_factory=list)


class _Proposal(_Model):
    judgment: Annotated[str, _line(MAX_REASON_CHARS)]
    reason: object = ""
    tags: list[Any] = Field(default_factory=list)


class _Judgement(_Model):
    kind: Annotated[
        Literal["contradiction", "update", "duplicate", "none"],
        BeforeValidator(lambda value: value.strip().lower() if isinstance(value, str) else value),
    ]
    confidence: Annotated[float, BeforeValidator(_number), Field(ge=0.0, le=1.0, allow_inf_nan=False)]
    reason: object = ""


def is_placeholder(text: str) -> bool:
    """Whether a text is a placeholder: no letter or digit, "N/A", "[summary]", "无"."""
    first, last = _WORD_CHARACTER.search(text), _WORD_CHARACTER.search(text[::-1])
    if first is None or last is None:
        return True
    return _PLACEHOLDER.fullmatch(text[first.start() : len(text) - last.start()].lower()) is not None


def concepts(said: ModelReply, limit: int) -> list[str]:
    """`<a>,<b>` as `["a", "b"]`; `<none>` and everything else as `[]`."""
    closed = said.text[: said.text.rfind(">") + 1]  # otherwise a run of `<` alone would take quadratic time
    return _words(_BRACKETED.findall(closed), limit)


def keywords(said: ModelReply, known: Iterable[str], limit: int) -> list[str]:
    """`{"keywords": ["a", "b"]}`, or the bare list; `[]` for everything else."""
    value = _json(said.text)
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        value = {"keywords": value}
    found = _shaped(_Keywords, value)
    return _words(_complete(found.keywords, said), limit, known) if found else []


def topics(said: ModelReply) -> list[Topic] | None:
    """`[{"topic": …, "summary": …}]`, also within an object; each topic once. None for everything else."""
    value = _json(said.text)
    if isinstance(value, dict):
        lists = [part for part in value.values() if isinstance(part, list)]
        value = [value] if "topic" in value else lists[0] if len(lists) == 1 else None
    if not isinstance(value, list):
        return None
    out: dict[str, Topic] = {}
    for item in _complete(value, said):
        found = _shaped(_Topic, item)
        if found:
            out.setdefault(found.topic.casefold(), Topic(found.topic, found.summary))
    return list(out.values())[:MAX_TOPICS] if out or not value else None


def worth(said: ModelReply) -> bool:
    """An exact "1"; "10", "1." and "0 (1 reason)" are a no."""
    return said.text.strip() == "1"


def instant(said: ModelReply, limit: int) -> Instant | None:
    """`{"memory_text": …, "keywords": [...]}`, complete."""
    found = None if said.cut else _shaped(_Instant, _json(said.text))
    return Instant(found.memory_text, tuple(_words(found.keywords, limit))) if found else None


def proposals(said: ModelReply, limit: int) -> list[Proposal] | None:
    """`[{"judgment": …, "reason": …, "tags": [...]}]`, also within an object. None for everything else."""
    value = _json(said.text)
    if isinstance(value, dict):
        lists = [part for part in value.values() if isinstance(part, list)]
        value = [value] if "judgment" in value else lists[0] if len(lists) == 1 else None
    if not isinstance(value, list):
        return None
    out: dict[str, Proposal] = {}
    for item in _complete(value, said):
        found = _shaped(_Proposal, item)
        if found:
            reason = one_line(found.reason, MAX_REASON_CHARS) if isinstance(found.reason, str) else ""
            reason = "" if is_placeholder(reason) else reason
            tags = tuple(_words(found.tags, MAX_TAGS))
            out.setdefault(found.judgment.casefold(), Proposal(found.judgment, reason, tags))
    return list(out.values())[:limit] if out or not value else None


def judgement(said: ModelReply) -> Judgement | None:
    """`{"kind": …, "confidence": …, "reason": …}`."""
    found = _shaped(_Judgement, _json(said.text))
    if found is None:
        return None
    kind: ModelVerdict = found.kind
    return Judgement(
        kind, found.confidence, one_line(found.reason, MAX_REASON_CHARS) if isinstance(found.reason, str) else ""
    )


def relevant(said: ModelReply, count: int) -> list[int] | None:
    """`{"relevant": [1, 3]}`, or the bare list, as indices from 0; None for all else, also where a number is
    unknown.
    """
    value = _json(said.text)
    numbers = value.get("relevant") if isinstance(value, dict) else value
    if said.cut or not isinstance(numbers, list):
        return None
    if not all(isinstance(number, int) and not isinstance(number, bool) and 1 <= number <= count for number in numbers):
        return None
    return sorted({number - 1 for number in numbers})


def merged(said: ModelReply, texts: Sequence[str]) -> str | None:
    """A text with exactly the numbers of these and not longer than all of them together."""
    text = _prose(said, max(1, sum(map(len, texts)) + len(texts)))
    return text if text and _numbers(text) == _numbers(" ".join(texts)) else None


def summary(said: ModelReply, texts: Sequence[str], max_chars: int) -> str | None:
    """A text of at most `max_chars` characters without any number that these lack."""
    text = _prose(said, max_chars)
    return text if text and _numbers(text) <= _numbers(" ".join(texts)) else None


def _prose(said: ModelReply, max_chars: int) -> str | None:
    """The complete answer on one line, without label and quotes; a longer one is refused, because a cut one
    misleads.
    """
    line = _LABEL.sub("", one_line(said.text, len(said.text) + 1))
    if len(line) > 1 and _QUOTES.get(line[0]) == line[-1] and line[-1] not in line[1:-1]:
        line = line[1:-1].strip()
    if said.cut or len(line) > max_chars or is_placeholder(line) or _REFUSAL.match(line):
        return None
    return line


def _numbers(text: str) -> set[int]:
    """Runs of digits as numbers, so that 05 is 5; very long ones by their end."""
    return {int(run[-18:]) for run in _NUMBER.findall(text)}


def _words(found: Iterable[object], limit: int, known: Iterable[str] = ()) -> list[str]:
    """Strings on one line, without repeats and without those in `known`, ignoring case."""
    seen = {one_line(word, MAX_KEYWORD_CHARS).casefold() for word in known}
    out: list[str] = []
    for item in found:
        word = one_line(item, MAX_KEYWORD_CHARS).strip("<>\"'“”「」，,、 ") if isinstance(item, str) else ""
        if is_placeholder_word(word) or word.casefold() in seen:
            continue
        seen.add(word.casefold())
        out.append(word)
        if len(out) >= limit:
            break
    return out if limit > 0 else []


def is_placeholder_word(word: str) -> bool:
    """Whether a keyword is a placeholder. Unlike as a text, "text" and "主题" may be meant."""
    return word.casefold() in _NOTHING or not any(c.isalnum() for c in word)


def _complete(items: list[Any], said: ModelReply) -> list[Any]:
    """Without the last item of a truncated answer, which may be incomplete."""
    return items[:-1] if said.cut else items


def _json(text: str) -> Any:
    """JSON, repaired if it is fenced, truncated or oddly quoted; None without any."""
    with suppress(ValueError):
        return orjson.loads(text)
    try:
        return json_repair.loads(text[:_MAX_REPAIRED_CHARS])
    except (ValueError, RecursionError, IndexError, KeyError, TypeError, AttributeError):
        return None


def _shaped(shape: type[Shape], value: object) -> Shape | None:
    try:
        return shape.model_validate(value)
    except (ValidationError, RecursionError):
        return None
