"""The `definitions` of a text: the terms that it defines, or asks to define.

A definition needs a term in the subject and a defining verb; a bare "X is a Y" counts only when Y is explained ("that",
"for", "of" …), because most sentences with "is a" define nothing.
"""

import re

from biem.adapters.analyzers import words
from biem.domain.text import late

_W = r"[A-Za-zΑ-ω][A-Za-z0-9Α-ω.+\-]*+"
_PLAIN = rf"{_W}(?: (?!(?:we|I|is|are|was|means|refers|stands)\b){_W}){{0,3}}"
_ENGLISH_TERM = rf"(?:`[^`]{{1,40}}`|\"[^\"]{{1,40}}\"|“[^”]{{1,40}}”|{_PLAIN})"
_START = r"(?:^|(?<=[.!?;:\n] )|(?<=\n)|(?<=, )|(?<=[。！？；，：]))"
_ENGLISH = late(
    rf"[Bb]y (?P<by>{_ENGLISH_TERM}?),? (?:we|I) mean\b"
    rf"|{_START}(?:An? |The term |The word |In [a-z]+, )?(?P<term>{_ENGLISH_TERM})"
    r"(?:,? or [A-Z]{2,8},?| \([A-Za-z0-9 \-]{1,30}\))? "
    r"(?:(?:is|are|can be) defined as |is an? (?:abbreviation|acronym|term|synonym) |is short for |"
    r"(?:refers|refer) to (?:an?|the|how|any|when|all|[a-z]+ing|[a-z]+s)\b|stands? for (?=[A-Z\"a-z])|"
    r"means? (?:that|an?|the (?!world)|to|having|being|\"|“|(?!nothing|everything|something|anything)[a-z]+ing)\b|"
    r"(?:is|are) (?:an? |a kind of |a type of )"
    r"(?!(?:great|good|nice|bad|big|huge|lovely|perfect|real|lot|bit|few|must|fun|beautiful|wonderful|amazing|long|"
    r"hard|tough|little|true|total|complete|waste|sign|matter|part|friend|fan|member|piece|reminder|testament|source|symbol)\b)"
    r"(?:[a-z\-]+ ){1,5}"
    r"(?:that|which|for|used|of|where|in which|designed|based|built)\b)"
    rf"|(?:[Tt]he )?(?:definition|meaning) of (?:an? |the )?(?P<of>{_ENGLISH_TERM}) (?:is|:)"
    r"|(?:^|(?<=[.!?\n] ))(?:[Dd]efine |[Ww]hat (?:is|are) (?:an? )?(?:meant by )?|[Ww]hat does )"
    rf"(?P<asked>{_ENGLISH_TERM})(?: mean| stand for)?\s?[?？]"
)
_HAN = r"[\u3400-\u9fffA-Za-z0-9Α-ω.+\-·]"
_TERM = rf"(?:[“\"「《`][^”\"」》`\n]{{1,24}}[”\"」》`]|{_HAN}{{1,16}}?(?: {_HAN}{{1,16}}?){{0,3}}?)"
_CLAUSE = r"(?:^|(?<=[，。！？；：,.!?;:\n\s、]))"
_CHINESE = late(
    rf"所谓的?(?P<so>{_TERM})\s?(?:[，,]|就?是|即|指)"
    rf"|{_CLAUSE}(?P<term>{_TERM})(?:\s?[(（][^)）]{{1,40}}[)）])?\s?"
    "(?:是指|指的是|的定义[是为]|的意思是|的含义是|定义为|被定义为|的全称是|即为|即是)"
    rf"|{_CLAUSE}(?P<kind>{_TERM})\s?是一(?:种|类|款|门|套)(?=[^。！？，\n]{{0,40}}的)"
    rf"|{_CLAUSE}(?P<short>{_HAN}{{2,16}})[，,]\s?即(?![使将可便时刻日期若刻兴])(?=[\u3400-\u9fff]{{4}})"
    rf"|{_CLAUSE}(?:请问)?(?:什么是|何谓|何为|什么叫)(?P<what>{_TERM})\s?(?:[？?。]|$)"
    rf"|{_CLAUSE}(?P<asked>{_TERM})(?:是什么意思|的定义是什么|指的是什么|是啥意思)"
)
_NOT_IN_CHINESE = late(
    r"[我你他她它咱谁这那哪的了着过吗呢吧不没也都又还就很]|今天|明天|昨天|大家|现在|其实|确实|的确|具体|简直|可能|应该|保持|真$|因为|所以|如果|但是|可是|觉得|认为|这样|那样|什么|有时|对于|意思|一[次个种场]"
)
_ANY_ENGLISH = late(r"mean|efin|refer|stand|(?:is|are) an? |is short|hat (?:is|are|does) ")
_ANY_CHINESE = late("[谓指义思即称]|是一|什么|何为|啥")
"""Every definition contains one of these: most texts have none, and skip the large patterns."""
_QUOTES = "“”\"「」《》`'"


class Definitions:
    """The patterns, and the words that cannot be terms."""

    def __init__(self) -> None:
        lines = words.load("not_terms")
        self._not_first = frozenset(word for line in lines if line[0] == "first" for word in line[1:])
        self._not_inside = frozenset(word for line in lines if line[0] == "any" for word in line[1:])

    def terms(self, text: str) -> list[str]:
        """Defined terms of a normalised text in order of appearance, with repeats."""
        found: list[tuple[int, str]] = []
        if _ANY_ENGLISH.search(text):
            found += [(m.start(), _written(m)) for m in _ENGLISH.finditer(text) if self._english(_written(m))]
        if _ANY_CHINESE.search(text):
            found += [(m.start(), _written(m)) for m in _CHINESE.finditer(text) if _chinese(_written(m))]
        return [term.strip(_QUOTES + " ") for _, term in sorted(found)]

    def _english(self, term: str) -> bool:
        if term[0] in _QUOTES:
            return True
        lowered = term.lower().split()
        first = lowered[0]
        return first not in self._not_first and not self._not_inside.intersection(lowered) and not first.endswith("ly")


def _written(found: re.Match[str]) -> str:
    return next(group for group in found.groups() if group)


def _chinese(term: str) -> bool:
    if term[0] in _QUOTES:
        return True
    return (len(term) > 1 or term.isascii()) and not _NOT_IN_CHINESE.search(term)
