"""General knowledge of words, as packaged text: `#` starts a comment line, `|` separates columns."""

import re
from importlib.resources import files


def columns(name: str) -> list[list[list[str]]]:
    """The lines of `name`.txt, each a list of columns, each a list of words; `_` in a word stands for a space."""
    text = files(__name__).joinpath(f"{name}.txt").read_text(encoding="utf-8")
    lines = (line for line in text.splitlines() if line.strip() and not line.startswith("#"))
    return [[[w.replace("_", " ") for w in column.split()] for column in line.split("|")] for line in lines]


def sets(name: str) -> dict[str, frozenset[str]]:
    """Named sets: the first column is the name, all further ones its words."""
    out: dict[str, set[str]] = {}
    for head, *rest in columns(name):
        out.setdefault(head[0], set()).update(word for column in rest for word in column)
    return {key: frozenset(words) for key, words in out.items()}


def words(*names: str) -> frozenset[str]:
    """All words of these files, first columns included."""
    return frozenset(word for name in names for line in columns(name) for column in line for word in column)


def exclusive() -> dict[str, tuple[str, str]]:
    """Values of which one thing has one at a time: the group of each, and the first of its synonyms."""
    return {value: (row[0][0], column[0]) for row in columns("exclusive") for column in row[1:] for value in column}


def denial() -> re.Pattern[str]:
    """Matches everything that a reading treats as a negation, and more: also parts of words."""
    negations = sets("grammar")["negation"]
    english = "|".join(sorted(re.escape(word) for word in negations if word.isascii()))
    chinese = "|".join(sorted(re.escape(word) for word in negations if not word.isascii()))
    made = r"n't|cannot|can not|no longer|\bquit\b|\bstopped\b|\bgave up\b|\bgiven up\b|戒"
    implied = "|".join(sorted(re.escape(word) for line in columns("implied") for word in line[0]))
    return re.compile(rf"\b(?:{english})|不|没|{chinese}|{made}|{implied}", re.IGNORECASE)
