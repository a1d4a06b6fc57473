"""Front matter of a note: YAML between lines of `---`, or TOML between lines of `+++` as Hugo and Zola write it.

Below it, or without it, a note may begin with lines `name:: value`, the properties that Logseq and Dataview read, or
with a heading and lines `Name: value`, as Notion exports those of a page. They stay in the body.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any

import yaml

from biem.domain.note import FrontMatter

_MOST_CHARS = 64 << 10
_MOST_DEPTH = 16
_MOST_ITEMS = 64
_MOST_VALUE = 200
_MOST_DESCRIPTION = 2_000
_MOST_BITS = 64
"""Of a number that stands for a name; Python writes none of thousands of digits."""
_OPEN = re.compile(r"---[ \t]*\n(?=(?:[ \t]*(?:#[^\n]*)?\n){0,20}(?:---|\.\.\.|[ \t]*[^\s#][^:\n]{0,80}:(?:[ \t]|\n)))")
"""Followed by a first `name:`, or by nothing; else it is a line across, and prose below it."""
_CLOSE = re.compile(r"^(?:---|\.\.\.)[ \t]*$", re.MULTILINE)
_OPEN_TOML = re.compile(r"\+\+\+[ \t]*\n(?=(?:[ \t]*(?:#[^\n]*)?\n){0,20}(?:\+\+\+|[ \t]*(?:\[|[^\s#=][^=\n]{0,80}=)))")
"""Followed by a first `name =` or table, or by nothing."""
_CLOSE_TOML = re.compile(r"^\+\+\+[ \t]*$", re.MULTILINE)
_TOML_PLACE = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")
_WORDS = re.compile(r"[,，\s]+")
_LOADER: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
"""Takes every value for a string: a title `2024` stays one, a tag `no` is no truth value, a wrong date no error."""
_PROPERTY = re.compile(r"(?:[-*][ \t]+|[ \t]{1,4})?([^\W\d][\w -]{0,40})::(?:[ \t]+([^\n]*))?(?:\n|$)")
"""`alias:: one, two`; in Logseq also as the first item of a list."""
_PAGE = re.compile(
    r"#[ \t]++[^\n]{1,300}+\n(?:[ \t]*+\n){1,3}+"
    r"((?:[^\W\d][\w /-]{0,40}+: [^\n]{1,2000}+(?:\n|$)){1,64}+)(?=[ \t]*+\n|$)"
)
"""The heading of a page, and a paragraph of nothing but `Name: value`."""
_PAGE_PROPERTY = re.compile(r"([^:\n]+): ([^\n]*)")
_BLANK_LINES = re.compile(r"(?:[ \t]*+\n){0,20}+")
_MOST_PROPERTIES = 64
_PART = re.compile(r"#?\[\[([^\[\]\n]{1,200})\]\]|#([^\s,，#]{1,200})|([^,，#\[]{1,200})")
"""A value of a property with several: `[[a page]]`, `#[[a page]]`, `#word`, or what stands between commas."""
_DATES = (
    *("date", "created", "created_at", "created-at", "date created", "creation date", "created time"),
    *("日期", "创建时间", "创建日期"),
)
_TAGS, _ALIASES = ("tags", "tag", "标签"), ("aliases", "alias", "别名")
_DESCRIPTIONS = "description", "summary", "描述", "摘要", "简介"
_DESCRIPTION = re.compile(rf"^[\"']?(?:{'|'.join(_DESCRIPTIONS)})[\"']?[ \t]*[:=]", re.MULTILINE | re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Front:
    """Front matter and where it ends. `problem` says, with line `line` of the file, why it cannot be read."""

    fields: FrontMatter = field(default_factory=FrontMatter)
    end: int = 0
    problem: str = ""
    line: int = 0
    described: int = 1
    """The line of the file on which the description begins."""


def split(text: str) -> Front:
    """The front matter of a text that has one: from `---` in its first line to the next `---`, or from `+++` to `+++`,
    within 64 KiB.

    Broken front matter has no fields; it is no part of the body either. What it does not say, the properties at the
    beginning of the body do.
    """
    matter = _between_lines(text)
    said = _properties(text, matter.end)
    if not said:
        return matter
    fields = matter.fields
    merged = replace(
        fields,
        title=fields.title or _line(said.get("title")),
        tags=_joined(fields.tags, _parts(said, _TAGS)),
        aliases=_joined(fields.aliases, _parts(said, _ALIASES)),
        date=fields.date or next(filter(None, (_line(said.get(name)) for name in _DATES)), ""),
    )
    return replace(matter, fields=merged)


def _between_lines(text: str) -> Front:
    """The front matter alone."""
    is_toml = text.startswith("+")
    opened = (_OPEN_TOML if is_toml else _OPEN).match(text)
    closing = _CLOSE_TOML if is_toml else _CLOSE
    closed = closing.search(text, opened.end(), _MOST_CHARS) if opened else None
    if opened is None or closed is None:
        return Front()
    end, source = min(closed.end() + 1, len(text)), text[opened.end() : closed.start()]
    try:
        loaded = _load_toml(source) if is_toml else _load(source)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        return Front(end=end, problem=error.problem or error.context or "no YAML", line=mark.line + 2 if mark else 1)
    except yaml.YAMLError as error:  # a character that YAML does not allow
        return Front(end=end, problem=str(error).split("\n", 1)[0], line=1)
    except tomllib.TOMLDecodeError as error:
        place = _TOML_PLACE.search(str(error))
        line = int(place[1]) + 1 if place and place[1] else 1
        return Front(end=end, problem=_TOML_PLACE.sub("", str(error)), line=line)
    if loaded in ("", None):
        return Front(end=end)
    if not isinstance(loaded, Mapping):
        return Front()  # prose between two lines across
    known = {str(name).strip().lower(): value for name, value in loaded.items()}
    description = next(filter(None, (_line(known.get(name), _MOST_DESCRIPTION) for name in _DESCRIPTIONS)), "")
    fields = FrontMatter(
        title=_line(known.get("title")),
        tags=_several(_first(known, _TAGS), words=True),
        aliases=_several(_first(known, _ALIASES)),
        date=next(filter(None, (_line(known.get(name)) for name in _DATES)), ""),
        description=description,
    )
    return Front(fields, end, described=_described(text[:end]) if description else 1)


def _described(matter: str) -> int:
    """The line of the first name of a description."""
    found = _DESCRIPTION.search(matter)
    return matter.count("\n", 0, found.start()) + 1 if found else 1


def _properties(text: str, start: int) -> dict[str, str]:
    """The values of lines `name:: value` at the beginning of a body, or of `Name: value` below its first heading."""
    found: dict[str, str] = {}
    begin = _BLANK_LINES.match(text, start)
    place = begin.end() if begin else start
    if page := _PAGE.match(text, place):
        return {name.strip().lower(): value for name, value in _PAGE_PROPERTY.findall(page[1])}
    while len(found) < _MOST_PROPERTIES and (line := _PROPERTY.match(text, place)):
        found.setdefault(line[1].strip().lower(), line[2] or "")
        place = line.end()
    return found


def _parts(said: Mapping[str, str], names: tuple[str, ...]) -> tuple[str, ...]:
    """The parts of the first of these properties that is there."""
    value = next((said[name] for name in names if name in said), "")
    parts = (_line(next(filter(None, part.groups()))) for part in _PART.finditer(value[:_MOST_CHARS]))
    return tuple(dict.fromkeys(filter(None, parts)))[:_MOST_ITEMS]


def _joined(one: tuple[str, ...], other: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*one, *other)))


def _first(known: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    """The value of the first of these names that is there."""
    return next((known[name] for name in names if name in known), None)


def _load(source: str) -> Any:
    """The value of a YAML document; aliases, which can make it grow without end, and deep nesting are errors."""
    depth = 0
    for event in yaml.parse(source, Loader=_LOADER):
        if isinstance(event, yaml.AliasEvent):
            raise yaml.MarkedYAMLError(problem="aliases (*name) are not read", problem_mark=event.start_mark)
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > _MOST_DEPTH:
            raise yaml.MarkedYAMLError(problem=f"nested over {_MOST_DEPTH} deep", problem_mark=event.start_mark)
    return yaml.load(source, Loader=_LOADER)


def _load_toml(source: str) -> Mapping[str, Any]:
    """The fields of a TOML document."""
    try:
        return tomllib.loads(source)
    except RecursionError as error:
        raise tomllib.TOMLDecodeError("nested too deep") from error
    except tomllib.TOMLDecodeError:
        raise
    except ValueError as error:  # a number of thousands of digits
        raise tomllib.TOMLDecodeError(str(error)) from error


def _line(value: object, most: int = _MOST_VALUE) -> str:
    """A string on one line; of TOML also a date and a number, as they are written in text."""
    if isinstance(value, (date, float)) or (type(value) is int and value.bit_length() <= _MOST_BITS):
        value = str(value)
    return " ".join(value.split())[:most] if isinstance(value, str) else ""


def _several(value: object, *, words: bool = False) -> tuple[str, ...]:
    """A list, or a string: of several words where these are `words`, else of parts between commas."""
    if isinstance(value, str):
        value = _WORDS.split(value) if words else value.split(",")
    if not isinstance(value, list):
        return ()
    found = dict.fromkeys(line.strip("#") if words else line for item in value[:_MOST_ITEMS] if (line := _line(item)))
    return tuple(filter(None, found))
