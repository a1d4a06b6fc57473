"""Structured fields of a text: numbers with units, names, definitions, symbols (the anchors of AIM-Memory), and its
sentiment.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Fields:
    """Normalised anchors of one text, each tuple without repeats and in order of appearance."""

    numbers: tuple[str, ...] = ()
    """Value and unit in one canonical spelling: `10M`, `128K`, `1%`, `100000` for 100,000 and １０万, `¥99`,
    `3h`, `20岁`; dates as `2024-05-02` or `05-02`, times of day as `15:30`."""
    names: tuple[str, ...] = ()
    """Proper names: people, places, works, products."""
    definitions: tuple[str, ...] = ()
    """Terms that the text defines or asks to define ("X is a … that …", "X 是指 …", "什么是 X？"): the term."""
    symbols: tuple[str, ...] = ()
    """Identifiers, Greek letters, formulas, versions, file names: matched exactly."""


@dataclass(frozen=True, slots=True)
class Analysis:
    """The result of analysing a text without a model: fields, entities (most useful first), sentiment in [−1, 1],
    language (`en`, `zh`, `und`).
    """

    fields: Fields
    entities: tuple[str, ...]
    sentiment: float
    language: str
