"""Splits text into clauses, in both languages."""

import re
from collections.abc import Iterator

_CLAUSE = re.compile(
    r"(?P<end>[。！？；…\n~]+|[!?;]+|(?<!\.)\.++(?=\s|$)|\s[–—-]{1,2}\s)"
    r"|(?P<comma>，|,(?=[^\d\s])|,\s+(?=(?:but|and|so|then|though|although|because)?\s*(?:I|we|he|she|they|you|it|my)\b)"
    r"|\s(?=but\s)|,\s+(?=[A-Z][a-z]+\s(?:is|was|has|had|lives|works|moved|goes|likes|loves|does|did|will|can)\b))"
)


def pieces(text: str) -> Iterator[tuple[str, bool]]:
    """Clauses, and whether a question mark follows each."""
    start = 0
    for found in _CLAUSE.finditer(text):
        piece = text[start : found.start()].strip()
        start = found.end()
        if piece:
            yield piece, "?" in found.group() or "？" in found.group()
    if text[start:].strip():
        yield text[start:].strip(), False
