"""The line of one memory in a prompt: text in quotation marks is the memory's, the rest is generated here.

    Ann, 2026-11-22: "I will pay" (until 2026-11-30)

Every line names its speaker: the recorded name, `you` for a user and `assistant` for an assistant without a name,
`summary` for the summary of a session, `unknown` if nothing is recorded. A recorded name that resembles one of these
words or a chat role is put in single quotation marks. Text never contains a double quotation mark, a line break or
invisible characters, and a name contains no punctuation that ends its field, so neither can imitate generated
structure. Markup of chat templates and tool calls loses its opening sign.
"""

import unicodedata
from dataclasses import dataclass
from functools import lru_cache

from biem.domain.energy import indicator
from biem.domain.node import Hit, Node
from biem.domain.policies.context import ContextPolicy
from biem.domain.speech.acts import asking_part
from biem.domain.text import is_han, late, one_line
from biem.domain.trust import UNTRUSTED, unverified_mark

REASON_CHARS = 200
"""Maximum characters of the reason of a memory, of the question that it answers, and of its disputed claim."""
PLACE_CHARS = 200
"""Maximum characters of the path and line of a note."""
NAME_CHARS = 40
"""Maximum characters of a shown name of a speaker or an entity."""


@dataclass(frozen=True, slots=True)
class _Marks:
    """What stands behind a memory, in one language."""

    reason: str
    """Before its reason."""
    answers: str
    """Before the question that it answers."""
    speaks_of: str
    """Before the message that it speaks of."""
    until: str
    disputed: str
    claim: str
    """Between this and the claim in dispute."""
    note_disagrees: str


_ENGLISH = _Marks("reason: ", "asked: ", "of: ", "until {}", "disputed since {}", ": ", "a note disagrees: ")
_CHINESE = _Marks("理由：", "回答：", "指：", "有效至 {}", "{} 起有争议", "：", "与笔记不符：")
_OPENED = "‹"
"""Replaces the sign that opens markup."""
_MARKUP = late(
    # <system role=…>, </s>, <|im_start|>, <<SYS>>; a character between the sign and the name, such as an accent, helps
    # no forger, as everything that is not ASCII counts as a letter here
    r"[<＜﹤](?=[<＜﹤]{0,8}[A-Za-z_\u0080-\U0010ffff]|[<＜﹤]{0,8}[/|!?%$@:&])"
    r"|[<＜﹤](?=\s{1,8}[/／|｜!！?？])"  # < /system>
    r"|[<＜﹤](?=\s{1,8}[^\W\d][\w:.\-]{0,64}(?:\s{0,8}[/／]?\s{0,8}[>＞﹥]|\s{1,8}[\w:.\-]{1,64}\s{0,8}=))"
    r"|[\[［](?=\s{0,8}(?:[/／]\s{0,8}[^\W\d]|[a-z]?[A-Z][A-Z\d_ \-]{1,64}[\]］]|[A-Za-z]{1,32}_[A-Za-z_]{1,64}[\]］]))"
    r"|[\[［](?=\s{0,8}(?i:system|user|assistant|human|model|tool|developer|inst)\s{0,8}[\]］])"
    r"|\](?=~b\]|~!b\[)|\[(?=e~\[)"
)
"""Openings of tags, special tokens and bracketed control words such as `[INST]`. `a < b`, `<3`, `[1]` do not match."""
_CLOSING = late(r"(?<=[|｜])[>＞﹥]")
_LEADING_MARKUP = late(r"^(?:[#>\-*=`~|]++\s*+|\d++[.)]\s++)++")
_LEADING_NUMBER = late(r"^(?:[#>\-*=`~|.)(\s]++|\d++[.)]\s*+)++")
_APOSTROPHES = late("'{2,}")
_SPACES = late(r"\s+")
_PART_OF_NAMES = frozenset("'’.-_&@#+/()·")
_BREAKS_NAMES = ("QUOTATION", "PRIME", "COLON", "COMMA", "DITTO", "LISU LETTER TONE")
"""Parts of Unicode names of letters that look like the punctuation around a name."""
_RESERVED = frozenset(("you", "assistant", "unknown", "summary", "user", "system", "developer", "tool", "topic"))
_BY_SOURCE = {"user": "you", "assistant": "assistant", "session": "summary"}
_LOOK_ALIKES = str.maketrans("аеорсухіјѕкмнтвοαικυνετργσı01", "aeopcyxijskmhtboaikuvetpyoiol")
"""Cyrillic and Greek letters and digits that look like Latin letters."""
_UNLIKE = frozenset(("CJK", "IDEOGRAPHIC", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "HANGUL"))
"""Scripts, by the first word of the names of their letters, that can stand beside any other: none looks like it."""
_SCRIPTS = _UNLIKE | {
    "LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "GEORGIAN", "HEBREW", "ARABIC", "DEVANAGARI", "BENGALI", "GURMUKHI",
    "GUJARATI", "ORIYA", "TAMIL", "TELUGU", "KANNADA", "MALAYALAM", "SINHALA", "THAI", "LAO", "TIBETAN", "MYANMAR",
    "KHMER", "MONGOLIAN", "ETHIOPIC",
}  # fmt: skip
"""Scripts of names. The letters of others, such as Lisu and Cherokee, can spell English words."""
_LATIN_LETTERS = frozenset("æœøđłþðŋəħĸŧıƙɓɗƴ")
"""Of names, besides those that have an accent only."""


def harmless(text: str, limit: int) -> str:
    """`text` as one unquoted line of at most `limit` characters that cannot be mistaken for structure."""
    line = _plain(text, limit)
    return _LEADING_MARKUP.sub("", line) or line


def harmless_line(text: str, limit: int) -> str:
    """As `harmless`, for a line that stands behind a mark of ours: signs of lists and headings stay."""
    return _plain(text, limit)


def quoted(text: str, limit: int) -> str:
    """`text` as one line of at most `limit` characters between double quotation marks, with none inside."""
    line = _plain(text, limit)
    inside = line.replace('"', "'") if line.isascii() else "".join("'" if _is_quotation_mark(c) else c for c in line)
    return f'"{_APOSTROPHES.sub(chr(39), inside)}"'


@lru_cache(4_096)
def named(text: str) -> str:
    """A name that is safe outside quotation marks; empty if no character is."""
    kept = "".join(c if _belongs_to_names(c) else " " for c in one_line(text[: 16 * NAME_CHARS], 16 * NAME_CHARS))
    name = _LEADING_NUMBER.sub("", _SPACES.sub(" ", _APOSTROPHES.sub("'", kept)).strip())
    return name[:NAME_CHARS].strip(" '’")


def speaker_of(node: Node) -> str:
    """Who said it: a recorded name, `you`, `assistant`, `summary` or `unknown`."""
    name = named(node.speaker)
    if name:
        return f"'{name}'" if _reads_like_ours(name) else name
    return "unknown" if node.speaker else _BY_SOURCE.get(node.source, "unknown")


def told(node: Node, said: str, policy: ContextPolicy, *, chinese: bool = False) -> str:
    """A memory as a line without its number: with speaker and date, or only its text in the layout `bare`.

    Its reason follows, unless the text has it; not in the layout `bare`.

    The line of an untrusted memory begins with its origin, in either layout. `chinese`: what is not the memory's own is
    Chinese; otherwise only what follows a Chinese text is.
    """
    mark = f"[{unverified_mark(node.origin, chinese=chinese)}] " if node.trust == UNTRUSTED else ""
    if policy.layout == "bare":
        return mark + harmless(said, policy.item_chars)
    marks = _CHINESE if chinese or is_han(said) else _ENGLISH
    why = "" if node.reason in node.text else f" ({marks.reason}{quoted(node.reason, REASON_CHARS)})"
    return f"{mark}{speaker_of(node)}, {node.at:%Y-%m-%d}: {quoted(said, policy.item_chars)}{why}"


def item(hit: Hit, said: str, policy: ContextPolicy, *, chinese: bool = False) -> list[str]:
    """The lines of one hit, without its number: text, end of validity and entities; `chinese` as for `told`."""
    node = hit.node
    first = told(node, said, policy, chinese=chinese)
    marks = _CHINESE if chinese or is_han(said) else _ENGLISH
    if hit.answers is not None and policy.layout != "bare":
        first += f" ({marks.answers}{quoted(asking_part(hit.answers.text), REASON_CHARS)})"
    if hit.refers_to is not None and policy.layout != "bare":
        first += f" ({marks.speaks_of}{quoted(hit.refers_to.text, REASON_CHARS)})"
    if policy.marks:
        first = f"[{indicator(node.energy)} E={node.energy:.2f}] {first}"
    if "held_until" in hit.why and node.valid_to is not None:
        first += f" ({marks.until.format(node.valid_to.date())})"
    elif "disputed_by" in hit.why:
        claim = hit.why.get("disputed_claim")
        only = "" if claim is None else f"{marks.claim}{quoted(str(claim), REASON_CHARS)}"
        first += f" ({marks.disputed.format(hit.why['disputed_since'])}{only})"
    if "note_disagrees" in hit.why:
        first += f" ({marks.note_disagrees}{harmless(str(hit.why['note_disagrees']), PLACE_CHARS)})"
    names = [name for name in map(named, node.entities) if name]
    if not policy.repeat_entities:  # entities in the line would cost tokens twice
        known = first.lower()
        names = [name for name in names if name.lower() not in known]
    return [first, "   Entities: " + ", ".join(names[: policy.entities])] if names[: policy.entities] else [first]


def _plain(text: str, limit: int) -> str:
    return _CLOSING.sub("›", _MARKUP.sub(_OPENED, one_line(text, limit)))


@lru_cache(4_096)
def _reads_like_ours(name: str) -> bool:
    """Whether a name is a word of ours, or could spell one: in letters of several scripts, or in rare ones."""
    plain = unicodedata.normalize("NFKD", name).casefold()
    if "".join(c for c in plain.translate(_LOOK_ALIKES) if c.isalnum()) in _RESERVED:
        return True
    if plain.isascii():
        return False
    letters = [c for c in plain if c.isalpha() or (c.isalnum() and not c.isascii())]
    scripts = {"LATIN" if c.isascii() else _script_of(c) for c in letters}
    return not scripts <= _SCRIPTS or len(scripts - _UNLIKE) > 1


def _script_of(character: str) -> str:
    """The first word of its name; none for a letter that is Latin in its name only."""
    script = unicodedata.name(character, "").partition(" ")[0]
    return "" if script == "LATIN" and character not in _LATIN_LETTERS else script


@lru_cache(4_096)
def _is_quotation_mark(character: str) -> bool:
    """Whether a character is, or looks like, a double quotation mark, in any script."""
    if character.isascii() or (character.isalpha() and unicodedata.category(character) != "Lm"):
        return character == '"'
    name = unicodedata.name(character, "")
    return (
        '"' in unicodedata.normalize("NFKC", character)
        or ("QUOTATION MARK" in name and "SINGLE" not in name)
        or any(part in name for part in ("DOUBLE PRIME", "TRIPLE PRIME", "QUADRUPLE PRIME", "DITTO MARK", "GERSHAYIM"))
        or any(part in name for part in ("DOUBLE ACUTE", "DOUBLE APOSTROPHE", "DOUBLE TURNED COMMA", "DOUBLE COMMA"))
    )


@lru_cache(4_096)
def _belongs_to_names(character: str) -> bool:
    """Whether it is a letter, mark, number, symbol, or punctuation of names such as O'Brien and Jean-Luc."""
    if character in _PART_OF_NAMES:
        return True
    if unicodedata.category(character) not in ("Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Nd", "Nl", "No", "So"):
        return False
    plain = unicodedata.normalize("NFKC", character)
    name = unicodedata.name(character, "")
    return not (any(part in name for part in _BREAKS_NAMES) or any(c in plain for c in '":,'))
