"""The prompts: one file a use and language beside this one; above `---` what the model is, below what it is asked.

Remembered text is data: on one line, within `<data>`, unable to close it, and with chat-template markers disarmed.
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
"""Characters of data in one prompt; a small context window of 8,192 tokens holds most of them with the answer."""
_LOOKED_AT_CHARS = 4_000
_MARKERS = re.compile(r"<(?=\s*[/|｜!A-Za-z_])|(?<=[|｜])>|\[(?=/?INST\])", re.IGNORECASE)
_PLACE = re.compile(r"\{([a-z_]+)\}")


@cache
def _templates() -> dict[tuple[str, str], Prompt]:
    """System and user part of every use and language."""
    folder = files(__package__)
    out: dict[tuple[str, str], Prompt] = {}
    for tongue in get_args(Language):
        rule = folder.joinpath(f"rule.{tongue}.txt").read_text("utf-8").strip()
        for use in get_args(Use):
            system, user = folder.joinpath(f"{use}.{tongue}.txt").read_text("utf-8").split("\n---\n")
            out[use, tongue] = Prompt(f"{system.strip()}\n{rule}", user.strip())
    return out


def fill(use: Use, data: Mapping[str, str | Sequence[str]], **numbers: int) -> Prompt:
    """The prompt of a use. Each part of `data` gets an equal share of the space; a list has one text a line."""
    parts = {name: _quoted([part] if isinstance(part, str) else part, share(data)) for name, part in data.items()}
    template = _templates()[use, _language("\n".join(parts.values())[:_LOOKED_AT_CHARS])]
    values = parts | {name: str(number) for name, number in numbers.items()}
    return Prompt(template.system, _PLACE.sub(lambda place: values[place.group(1)], template.user))


def share(data: Collection[str]) -> int:
    """Characters that each part of a prompt with so many parts may take."""
    return MAX_DATA_CHARS // len(data)


def fits(texts: Sequence[str], limit: int = MAX_DATA_CHARS) -> bool:
    """Whether all of these, one a line, go into the space uncut."""
    return sum(map(len, texts)) + len(texts) <= limit


def estimate_tokens(prompt: Prompt) -> int:
    """A careful guess without a tokenizer: a CJK character is a token, four other characters are one."""
    text = prompt.system + prompt.user
    wide = sum(1 for c in text if ord(c) > 0x2E7F)
    return wide + (len(text) - wide + 3) // 4


def _quoted(texts: Iterable[str], limit: int) -> str:
    """Whole lines while there is space, the last one cut; empty texts leave no line."""
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
