"""The `symbols` of a text: identifiers, versions, file names, Greek letters and the like, matched exactly."""

import re
from collections.abc import Iterator

from biem.adapters.analyzers.characters import DENSE
from biem.domain.text import late

_NAME = r"[A-Za-z][A-Za-z0-9]*+"
_ENDINGS = (
    "py|pyi|go|rs|js|ts|tsx|jsx|java|kt|c|h|cpp|hpp|cs|rb|php|sh|sql|lua|md|txt|rst|json|jsonl|yaml|yml|toml|ini|cfg|lock|"
    "log|csv|tsv|xlsx?|docx?|pptx?|pdf|png|jpe?g|gif|svg|mp[34]|wav|zip|gz|tar|html?|css|xml|env|parquet|onnx|ipynb"
)
_PATTERN = late(
    r"`(?P<code>[^`\n]{1,80})`"
    rf"|(?P<url>(?:https?|ftp|file|s3|git|ssh|postgresql|redis)://[^\s{DENSE}<>\"'，。；）]{{1,400}})"
    r"|(?P<mail>(?<![A-Za-z0-9_.+\-@])[A-Za-z0-9][\w.+\-]{0,63}@[A-Za-z0-9\-]{1,63}(?:\.[A-Za-z0-9\-]{2,63}){1,4})"
    r"|(?P<arxiv>(?<![A-Za-z0-9_])[Aa]r[Xx]iv:\s?[0-9]{4}\.[0-9]{4,5}(?:v[0-9]+)?)"
    r"|(?P<doi>(?<![A-Za-z0-9_.])10\.[0-9]{4,9}/[A-Za-z0-9._;()/\-]{1,80})"
    rf"|(?P<file>(?<![A-Za-z0-9_.\-/])(?:\.{{0,2}}/)?(?:[A-Za-z0-9_\-]{{1,64}}[./]){{1,12}}(?<=\.)(?:{_ENDINGS})(?![A-Za-z0-9_]))"
    r"|(?P<path>(?<![A-Za-z0-9_./])[~.]{0,2}(?:/[A-Za-z0-9_\-.]{1,64}){2,12}/?)"
    r"|(?P<version>(?<![A-Za-z0-9_.])(?:[vV][0-9]{1,4}(?:\.[0-9]{1,5}){0,4}|[0-9]{1,4}(?:\.[0-9]{1,5}){2,4})"
    r"(?:-?(?:alpha|beta|rc|dev|post)\.?[0-9]*)?(?![A-Za-z0-9_]))"
    r"|(?:(?<![A-Za-z])[Vv]ersion|[Rr]elease|版本号?是?为?)\s?(?P<release>[0-9]{1,4}\.[0-9]{1,4})(?![0-9.]*[0-9])"
    rf"|(?<=[\w,;:] )[A-Z][A-Za-z]+ (?P<product>[0-9]{{1,3}}\.[0-9]{{1,3}})(?![0-9A-Za-z%])"
    rf"|(?P<product2>(?<=[{DENSE}])\s?[A-Z][A-Za-z]+\s(?P<product3>[0-9]{{1,3}}\.[0-9]{{1,3}})(?![0-9A-Za-z%]))"
    r"|(?P<flag>(?<![A-Za-z0-9_\-])--[a-z][a-z0-9\-]{1,40})"
    rf"|(?P<call>(?<![A-Za-z0-9_.]){_NAME}(?:[._]{_NAME})*+\(\))"
    r"|(?P<snake>(?<![A-Za-z0-9_])_{0,2}[A-Za-z][A-Za-z0-9]*(?:_{1,2}[A-Za-z0-9]+)+_{0,2}(?![A-Za-z0-9_]))"
    r"|(?P<dotted>(?<![A-Za-z0-9_.])[a-z]{2,}(?:\.[a-z]{2,}){2,}(?![A-Za-z0-9_.]))"
    r"|(?P<camel>(?<![A-Za-z0-9_])[a-z]{2,}[0-9]*(?:[A-Z][a-z0-9]+)+(?![A-Za-z0-9_]))"
    rf"|(?P<formula>(?<![A-Za-z0-9_])[A-Za-z][A-Za-z0-9_]{{0,16}}=[A-Za-z0-9α-ωΑ-Ω_^*+/.()\-]{{1,40}})"
    r"|(?P<model>(?<![A-Za-z0-9_])[A-Za-z]{1,20}+(?:[0-9]+[A-Za-z0-9]*+|(?:-[A-Za-z]{1,12})?-[0-9A-Z]*[0-9][A-Za-z0-9]*+|"
    r"-[A-Z][0-9]+)(?:[.\-][A-Za-z0-9]+)*(?![A-Za-z0-9_]))"
    r"|(?P<ticker>(?<![A-Za-z0-9_$])\$[A-Z]{1,5}(?![A-Za-z0-9]))"
    r"|(?P<sharp>(?<![A-Za-z0-9_])[A-Za-z](?:\+\+|\#)(?!\w))"
    r"|(?P<greek>(?<![α-ωΑ-Ωά-ώ])[α-ωΑ-Ω]{1,2}(?:[A-Za-z0-9](?![A-Za-z0-9]))?(?![α-ωΑ-Ωά-ώ]))"
    r"|(?P<math>[∑∏∂∇√∞∫≤≥≈≠∈∀∃⊂])"
)
_ANY = late(r"[`@/_=$+#0-9α-ωΑ-Ωά-ώ∑∏∂∇√∞∫≤≥≈≠∈∀∃⊂]|[.\-][A-Za-z\-]|\(\)|[a-z][A-Z]")
"""Every symbol has one of these: most texts have none, and skip the large pattern."""
_STARTS = late(
    r"(?=[`/_$α-ωΑ-Ω∑∏∂∇√∞∫≤≥≈≠∈∀∃⊂]|[~.]{1,2}/|(?<![A-Za-z0-9_\-])-[\w\-./]"
    r"|(?:https?|ftp|file|s3|git|ssh|postgresql|redis)://|[Vv]ersion|[Rr]elease|版本"
    rf"|(?<=[{DENSE}])\s?[A-Z]"
    r"|(?<![A-Za-z0-9])[A-Za-z0-9](?!(?<=[A-Za-z])[a-z]*+(?![\w.\-:/@=(+#]|\s[0-9])))"
)
"""Where a symbol can begin: not within most words, nor at a word of small letters without a joint or a number after it.

The large pattern is tried there only: trying it at every character took a fifth of the time of reading a note.
"""
_OPEN = frozenset(("code", "product", "product2", "release", "greek", "math"))
_COUNTING = frozenset(
    ("top", "age", "mid", "day", "week", "part", "step", "under", "over", "plus", "pre", "post", "type", "level", "non")
)
_TRAILING = ".,;:!?)]}'\""


def spans(text: str) -> Iterator[tuple[int, int, str, str]]:
    """Start, end, the symbol as written and its kind. An empty span hides nothing: `Python 3.11` stays a number too."""
    if not _ANY.search(text):
        return
    for found in _matches(text):
        kind = found.lastgroup or ""
        written = found.group("product3") or found.group(kind)
        if kind in ("url", "path", "doi"):
            written = written.rstrip(_TRAILING)
        if kind == "arxiv":
            written = "arXiv:" + written[6:].strip()
        if kind == "model" and _is_counting(written):
            continue
        start = found.start()
        yield start, start if kind in _OPEN or found.group("product3") else found.end(), written.strip(), kind


def _matches(text: str) -> Iterator[re.Match[str]]:
    """What the pattern finds in the text, from left to right."""
    end = 0
    for start in _STARTS.finditer(text):
        if start.start() >= end and (found := _PATTERN.match(text, start.start())):
            end = found.end()
            yield found


def _is_counting(written: str) -> bool:
    """`top-10` and `age-5` name nothing."""
    return written.partition("-")[0].lower() in _COUNTING
