"""Front matter as YAML that a person may have written: read with the place of every value, and edited there.

All other text keeps its bytes: other keys, comments, the order, the style.
"""

import json
import math
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml

_MOST_CHARS = 256 << 10
_MOST_DEPTH = 16
_OPEN = re.compile(r"---[ \t]*\n")
_CLOSE = re.compile(r"^---[ \t]*(?:\n|\Z)", re.MULTILINE)
_LOADER: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
"""Takes every value for a string: a title `2024` stays one, a tag `no` is no truth value, a wrong date no error."""
_INTEGER = re.compile(r"[-+]?(?:0|[1-9]\d{0,30})")
_FLOAT = re.compile(r"[-+]?\d{1,30}(?:\.\d{1,30})?(?:[eE][-+]?\d{1,3})?")
_CONSTANTS: Mapping[str, Any] = {"true": True, "false": False, "null": None, "~": None, "": None}
_ESCAPED = ("Cc", "Cs", "Zl", "Zp")
_ALSO_ESCAPED = "\ufeff\ufffe\uffff"


class BrokenFront(Exception):
    """Front matter that cannot be read; the message says why, `line` where in the file."""

    def __init__(self, problem: str, line: int) -> None:
        super().__init__(problem)
        self.line = line


@dataclass(frozen=True, slots=True)
class FrontValue:
    """A value and where it stands in the front matter's text: from its key to the value's end."""

    value: Any
    """As JSON has it: strings in quotation marks are strings, plain ones may be numbers, true, false or null."""
    plain: Any
    """The same with every scalar as a string."""
    span: tuple[int, int]


@dataclass(frozen=True, slots=True)
class ParsedFront:
    """The text between the two `---` lines, its values by key, and the rest of the file."""

    source: str = ""
    values: Mapping[str, FrontValue] = field(default_factory=dict)
    body: str = ""
    present: bool = False


def parse(text: str) -> ParsedFront:
    """Front matter and body of a text with `\\n` as line break. Raises `BrokenFront`."""
    opened = _OPEN.match(text)
    if opened is None:
        return ParsedFront(body=text)
    closed = _CLOSE.search(text, opened.end())
    if closed is None:
        raise BrokenFront("the front matter that begins with --- has no end: close it with a line ---", 1)
    source = text[opened.end() : closed.start()]
    if len(source) > _MOST_CHARS:
        raise BrokenFront(f"the front matter has more than {_MOST_CHARS:,} characters", 1)
    return ParsedFront(source, _values(source), text[closed.end() :], present=True)


def joined(source: str, body: str) -> str:
    """The text of a file."""
    return f"---\n{source}---\n{body}"


def rendered(values: Mapping[str, Any]) -> str:
    """Values as YAML, one line each: the same values give the same characters."""
    return "".join(f"{_key(name)}: {flow(value)}\n" for name, value in values.items())


def edited(front: ParsedFront, changes: Mapping[str, Any]) -> str:
    """The source with these values; all else keeps its characters. Keys that are new stand at the end.

    Raises `BrokenFront` where the result would not say what it should.
    """
    source = front.source
    known = sorted((name for name in changes if name in front.values), key=lambda name: -front.values[name].span[0])
    for name in known:
        start, end = front.values[name].span
        source = f"{source[:start]}{_key(name)}: {flow(changes[name])}{source[end:]}"
    if source and not source.endswith("\n"):
        source += "\n"
    source += rendered({name: value for name, value in changes.items() if name not in front.values})
    said = {name: value.value for name, value in _values(source).items()}
    wanted = {name: value.value for name, value in front.values.items()} | dict(changes)
    if said != wanted:
        raise BrokenFront("its front matter cannot be edited safely: write its values on one line each", 1)
    return source


def flow(value: Any) -> str:
    """A value on one line of YAML: JSON, whose strings show what can be shown."""
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(flow, value))}]"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_string(str(name))}: {flow(inner)}" for name, inner in value.items()) + "}"
    return json.dumps(value, allow_nan=False)


def _string(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).translate(_Escapes())


class _Escapes(dict[int, str]):
    """The characters that YAML does not allow, or takes for line breaks, as it escapes them."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        if unicodedata.category(character) in _ESCAPED or character in _ALSO_ESCAPED:
            found = f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
        else:
            found = character
        self[code] = found
        return found


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z_][\w-]*", name, re.ASCII) else _string(name)


def _values(source: str) -> dict[str, FrontValue]:
    try:
        _require_simple(source)
        node = yaml.compose(source, Loader=_LOADER)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise BrokenFront(error.problem or error.context or "no YAML", mark.line + 2 if mark else 1) from None
    except yaml.YAMLError as error:  # a character that YAML does not allow
        raise BrokenFront(str(error).split("\n", 1)[0], 1) from None
    if node is None:
        return {}
    if not isinstance(node, yaml.MappingNode):
        raise BrokenFront("the front matter has no `key: value` lines", 2)
    found: dict[str, FrontValue] = {}
    for name, value in node.value:
        line = name.start_mark.line + 2
        if not isinstance(name, yaml.ScalarNode):
            raise BrokenFront("a key of the front matter is no word", line)
        if name.value in found:
            raise BrokenFront(f"the key {name.value!r:.60} stands there twice", line)
        span = (name.start_mark.index, _end(value, source))
        found[name.value] = FrontValue(_loaded(value, typed=True), _loaded(value, typed=False), span)
    return found


def _require_simple(source: str) -> None:
    """Aliases, which can make a value grow without end, tags and deep nesting are errors."""
    depth = documents = 0
    for event in yaml.parse(source, Loader=_LOADER):
        documents += isinstance(event, yaml.DocumentStartEvent)
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise yaml.MarkedYAMLError(problem="anchors (&name, *name) are not read", problem_mark=event.start_mark)
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > _MOST_DEPTH:
            raise yaml.MarkedYAMLError(problem=f"nested over {_MOST_DEPTH} deep", problem_mark=event.start_mark)
        if documents > 1:
            raise yaml.MarkedYAMLError(problem="there are two documents", problem_mark=event.start_mark)


def _end(node: Any, source: str) -> int:
    """Where a value ends, without the line break and comments behind it."""
    if isinstance(node, yaml.ScalarNode):
        end = int(node.end_mark.index)
        return len(source[:end].rstrip("\n")) if node.style in ("|", ">") else end
    if node.flow_style or not node.value:
        return int(node.end_mark.index)
    last = node.value[-1]
    return _end(last[1] if isinstance(node, yaml.MappingNode) else last, source)


def _loaded(node: Any, *, typed: bool) -> Any:
    if isinstance(node, yaml.SequenceNode):
        return [_loaded(each, typed=typed) for each in node.value]
    if isinstance(node, yaml.MappingNode):
        return {str(_loaded(name, typed=False)): _loaded(value, typed=typed) for name, value in node.value}
    text = str(node.value)
    if not typed or node.style:  # in quotation marks
        return text
    if text.lower() in _CONSTANTS:
        return _CONSTANTS[text.lower()]
    if _INTEGER.fullmatch(text):
        return int(text)
    number = float(text) if _FLOAT.fullmatch(text) else math.inf
    return number if math.isfinite(number) else text
