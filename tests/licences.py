"""Compares every text file of the repository with a folder of evaluation data: `make licences DATA=FOLDER`.

Evaluation data have their own licences, and some forbid that a line of them is passed on. A passage of eight words
or twelve Chinese characters that stands in both is a copy, also with other characters between the words; so is a
whole statement of the data that is shorter and stands alone in a file.
"""

import argparse
import gzip
import json
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.secret_scan import ROOT, files

_TOKEN = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]|[^\W_\u3400-\u9fff\uf900-\ufaff]+(?:['’][^\W_]+)*")
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|[nrt])")
_ENDS = re.compile(r"[\n.!?。！？；;|\"“”「」]|\\n|(?<!\w)'|'(?!\w)")
_WORD, _CHARACTER, PASSAGE, STATEMENT = 3, 2, 24, 16
"""Eight words weigh as much as twelve characters: a passage. What weighs less than STATEMENT is a mere phrase."""
_ABOUT = frozenset({"id", "source", "licence", "timestamp", "label", "subtype"})
"""What the data say about themselves; docs name sources and labels, too."""


@dataclass(frozen=True)
class Copy:
    """A passage of a file that also stands in the data."""

    file: str
    line: int
    passage: str


def tokens(text: str) -> list[str]:
    """Words in lower case and single Chinese characters, without what stands between them."""
    return [found.group().lower().replace("’", "'") for found in _TOKEN.finditer(text)]


def weight(token: str) -> int:
    """What a token counts for a passage."""
    return _CHARACTER if _is_character(token) else _WORD


def _is_character(token: str) -> bool:
    return len(token) == 1 and ("\u3400" <= token <= "\u9fff" or "\uf900" <= token <= "\ufaff")


def passages(words: list[str]) -> Iterator[tuple[int, str]]:
    """Where each passage begins, and the passage: the shortest run of tokens that weighs enough."""
    end = total = 0
    for start in range(len(words)):
        while total < PASSAGE and end < len(words):
            total += weight(words[end])
            end += 1
        if total < PASSAGE:
            return
        yield start, " ".join(words[start:end])
        total -= weight(words[start])


def statement(text: str) -> str | None:
    """The tokens of a text that is shorter than a passage and long enough to be its own statement."""
    words = tokens(text)
    return " ".join(words) if STATEMENT <= sum(map(weight, words)) < PASSAGE else None


def statements(text: str) -> Iterator[str]:
    """The short statements of a text, sentence by sentence."""
    return (found for part in _ENDS.split(text) if (found := statement(part)) is not None)


def readable(text: str) -> str:
    """A file's text with the escapes of Python and JSON undone, so that copies in string literals are seen."""
    return _ESCAPE.sub(lambda found: chr(int(found[1], 16)) if found[1] else " ", text)


class Fingerprint:
    """Passages and short statements of files, and where each stands first."""

    def __init__(self) -> None:
        self._places: dict[str, tuple[str, int]] = {}

    def add(self, file: str, text: str) -> None:
        """Remember what stands in a file."""
        words: list[str] = []
        lines: list[int] = []
        for number, line in enumerate(text.splitlines(), 1):
            found = tokens(readable(line))
            words += found
            lines += [number] * len(found)
            for short in statements(line):
                self._places.setdefault(short, (file, number))
        for start, passage in passages(words):
            self._places.setdefault(passage, (file, lines[start]))

    def copies(self, texts: Iterable[str]) -> list[Copy]:
        """What of it stands in these texts, by file and line."""
        found = set()
        for text in texts:
            found |= {passage for _, passage in passages(tokens(text)) if passage in self._places}
            found |= {short for short in statements(text) if short in self._places}
        return sorted((Copy(*self._places[one], one) for one in found), key=lambda one: (one.file, one.line))


def texts(folder: Path) -> Iterator[str]:
    """Every text of the `*.jsonl.gz` files of a folder.

    Raises:
        FileNotFoundError: there is none, so that a wrong path does not pass for a clean repository.
    """
    every = sorted(folder.glob("*.jsonl.gz"))
    if not every:
        raise FileNotFoundError(f"{folder} holds no *.jsonl.gz; name the folder of the evaluation data")
    for path in every:
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for line in lines:
                yield from _strings(json.loads(line))


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for one in value:
            yield from _strings(one)
    elif isinstance(value, dict):
        for key, one in value.items():
            if key not in _ABOUT:
                yield from _strings(one)


def repository(root: Path = ROOT) -> Fingerprint:
    """What stands in the text files that a commit would hold."""
    every = Fingerprint()
    for name in files():
        try:
            every.add(name, (root / name).read_text(encoding="utf-8"))
        except UnicodeDecodeError:  # no text
            continue
    return every


def main(arguments: list[str] | None = None) -> None:
    """Say what was copied; exit 1 if anything was."""
    parser = argparse.ArgumentParser(description=__doc__, prog="python -m tests.licences")
    parser.add_argument("data", type=Path, help="folder with *.jsonl.gz files of evaluation data")
    try:
        found = repository().copies(texts(parser.parse_args(arguments).data))
    except FileNotFoundError as missing:
        sys.exit(str(missing))
    for copy in found:
        sys.stderr.write(f"{copy.file}:{copy.line}: stands in the evaluation data: {copy.passage}\n")
    if found:
        sys.exit("write sentences of your own instead")
    sys.stdout.write("no passage of the evaluation data in the repository\n")


if __name__ == "__main__":
    main()
