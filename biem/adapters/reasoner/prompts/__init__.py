"""The prompts: one file per use and language in this folder; above `---` the system prompt, below the user prompt.

Stored text is data: on one line, within `<data>`, unable to close it, and with chat-template markers neutralised.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Literal, get_args

from biem.adapters.analyzers.extract import language
from biem.adapters.reasoner.client import Prompt
from biem.domain.text import one_line
from biem.ports.reasoner import Use

Language = Literal["en", "zh"]

MAX_DATA_CHARS = 16_000
"""Characters of data in one prompt; a small context window of 8,192 tokens fits most of them with the answer."""
_LOOKED_AT_CHARS = 4_000
_MARKERS = re.compile(r"<(?=\s*[/|｜!A-Za-z_])|(?<=[|｜])>|\[(?=/?INST\])", re.IGNORECASE)
_PLACE = re.compile(r"\{([a-z_]+)\}")


@cache
def _templates() -> dict[tuple[str, str], Prompt]:
    """System and user prompt of every use and language."""
    folder = files(__package__)
    out: dict[tuple[str, str], Prompt] = {}
    for tongue in get_args(Language):
        rule = folder.joinpath(f"rule.{tongue}.txt").read_text("utf-8").strip()
        for use in get_args(Use):
            system, user = folder.joinpath(f"{use}.{tongue}.txt").read_text("utf-8").split("\n---\n")
            out[use, tongue] = Prompt(f"{system.strip()}\n{rule}", user.strip())
    return out


def fill(use: Use, data: Mapping[str, str | Sequence[str]], **numbers: int) -> Prompt:
    """The prompt of a use. Each part of `data` gets an equal share of the space; a list has one text per line."""
    parts = {name: _quoted([part] if isinstance(part, str) else part, share(data)) for name, part in data.items()}
    template = _templates()[use, _language("\n".join(parts.values())[:_LOOKED_AT_CHARS])]
    values = parts | {name: str(number) for name, number in numbers.items()}
    return Prompt(template.system, _PLACE.sub(lambda place: values[place.group(1)], template.user))


def share(data: Collection[str]) -> int:
    """Maximum characters of each part of a prompt with this many parts."""
    return MAX_DATA_CHARS // len(data)


def fits(texts: Sequence[str], limit: int = MAX_DATA_CHARS) -> bool:
    """Whether all of these, one per line, fit uncut."""
    return sum(map(len, texts)) + len(texts) <= limit


def estimate_tokens(prompt: Prompt) -> int:
    """A conservative estimate without a tokenizer: a token per CJK character, and per four other characters."""
    text = prompt.system + prompt.user
    wide = sum(1 for c in text if ord(c) > 0x2E7F)
    return wide + (len(text) - wide + 3) // 4


def _quoted(texts: Iterable[str], limit: int) -> str:
    """Whole lines while there is space, the last one cut; empty texts are skipped."""
    lines: list[str] = []
    left = limit
    for text in texts:
        line = _MARKERS.sub("‹", one_line(text[: 2 * left], left))
        if line:
            lines.append(line)
            left -= len(line) + 1
        if left < 4:
            break
    return "\n".join(lines)


def _language(text: str) -> Language:
    return "zh" if language(text) == "zh" else "en"
