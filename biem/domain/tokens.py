"""How many tokens a text takes, where no tokenizer of the caller counts them."""

import re

_NARROW = re.compile("[\0-\u2e7f]+")
"""Characters before those of CJK."""


def estimate_tokens(text: str) -> int:
    """A conservative estimate without a tokenizer: a CJK character is a token, four other characters are one."""
    wide = wide_characters(text)
    return wide + (len(text) - wide + 3) // 4


def wide_characters(text: str) -> int:
    """How many of its characters are a token each: CJK and everything behind it in Unicode."""
    return 0 if text.isascii() else len(_NARROW.sub("", text))


def is_wide(text: str) -> bool:
    """Whether a text is written in characters that are wide, as Chinese ones, rather than in letters."""
    return 3 * wide_characters(text) > len(text)
