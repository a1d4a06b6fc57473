"""Facts about "the user", as extractors and models write them, in the user's own words: "User works at Otto" is
"I work at Otto", and 用户的母亲 is 我的母亲.
"""

import re
from functools import lru_cache

_KEPT = 4_096
_LONGEST = 2_000
"""Characters of a text that is read so; a longer one is a document."""
_FIRST_PERSON = re.compile(
    r"(?<!\btell )(?<!\bshow )(?<!\bgive )(?<!\bremind )\bme\b|\b(?:i|my|mine|we|us|our)\b|(?<!告诉)(?<!给)[我咱俺]",
    re.IGNORECASE,
)
_THE_USER = re.compile(r"\b(?:the )?user\b|用户", re.IGNORECASE)

_ADVERBS = (
    r"(?P<adverbs>(?:(?:also|now|currently|still|no longer|usually|often|always|never|recently|previously|just|already"
    r"|really|only|sometimes|mostly|generally|formerly|originally|occasionally|rarely|regularly) )*)"
)
_AUXILIARY = {
    **{"is": "am", "isn't": "am not", "isn’t": "am not", "has": "have", "hasn't": "haven't", "hasn’t": "haven't"},
    **{"does": "do", "doesn't": "don't", "doesn’t": "don't"},
}
_INVERTED = re.compile(
    r"\b(?P<first>is|isn['’]t|was|wasn['’]t|does|doesn['’]t|did|didn['’]t|has|hasn['’]t|had|can|can['’]t|could|will|would"
    r"|should|must|may|might) (?:the )?user(?=\s+(?!(?:in|from|at|of|with|who|that|named|called)\b)|\W*$)",
    re.IGNORECASE,
)
"""Of a question: "does the user drive", not "did the user in Leeds report"."""
_SUBJECT = re.compile(
    r"(?P<before>^|[.;!?]\s+|\b(?:that|and|but|because|since|when|if|as|so) )(?:the )?user "
    + _ADVERBS
    + r"(?P<verb>(?:is|was|has|does)n['’]t\b|[a-z]+\b(?!['’]s))(?! (?:are|were|have|do|must|should|can|will|need)\b)",
    re.IGNORECASE,
)
_POSSESSIVE = re.compile(r"\b(?:the )?user['’]s\b", re.IGNORECASE)
_OBJECT = re.compile(
    r"\b(?:the )user\b(?! (?:[a-z]+(?:s|ed)|in|from|at|of|with|who|that|named|called)\b)", re.IGNORECASE
)
_THEIR = re.compile(r"\b(?:their|his or her)\b")
_NO_SUBJECT = re.compile(
    r"^(?:(?P<verb>(?:is(?= (?:an?|from|in|allergic|based|learning|looking|married|planning|single|studying|training"
    r"|trying|working|not)\b)|has|was born|does(?: not|n['’]t)|likes|loves|enjoys|prefers|hates|dislikes|works|lives"
    r"|wants|plans|plays|drives|owns|speaks|studies|attends|wakes|drinks|eats|wears|avoids|practi[cs]es|commutes)\b)"
    r"|(?P<noun>(?:name|favou?rite \w+|birthday|hometown|nationality|occupation|employer|wife|husband|partner|son"
    r"|daughter|mother|father|sister|brother|boss|manager)(?:['’]s [\w ]{2,30})? (?:is|are|was)\b))(?!.*[?？])",
    re.IGNORECASE | re.DOTALL,
)
"""Facts without a subject, as extractors write them: "Works at Otto", "Name is Tom"."""
_NO_VERBS = frozenset(
    re.findall(
        "[a-z]+",
        "account accounts agent agents api base count data database experience feedback flow group groups "
        "guide id ids input interface interviews journey list management manual model name names number "
        "numbers page permissions persona profile profiles query queries research review reviews rights role "
        "roles segment session sessions settings stories story survey surveys table tables test tests testing "
        "token tokens type types",
    )
)
"""What follows the noun "user" in compounds."""
_CHINESE = re.compile(
    r"用户(?!们|名|群|数|量|界面|体验|增长|端|表|组|协议|手册|中心|画像|调研|访谈|故事|反馈|投诉|留存|权限|账号|账户|数据|行为|密码|信息|需求|侧|满意)(的)?"
)


@lru_cache(_KEPT)
def in_first_person(text: str, *, fact: bool = False) -> str:
    """The text with the user as its speaker; unchanged if it is in the first person already, or names no user.

    `fact`: it is no message of a talk, so that one without a subject is about the user, too.
    "The user complained …" in a message with "I" or "we" is about a user of a product.
    """
    if len(text) > _LONGEST or _FIRST_PERSON.search(text) is not None:
        return text
    if _THE_USER.search(text) is None:
        return _NO_SUBJECT.sub(_with_subject, text) if fact else text
    read = _CHINESE.sub(lambda found: "我的" if found[1] else "我", text)
    read = _INVERTED.sub(lambda found: f"{_as_first(found['first'])} I", read)
    read = _POSSESSIVE.sub("my", read)
    read = _SUBJECT.sub(_spoken, read)
    read = _OBJECT.sub("me", read)
    if read != text:
        read = _THEIR.sub("my", read)
        read = read[:1].upper() + read[1:]
    return read


def tells_of_user(text: str) -> bool:
    """Whether a text, read by `in_first_person`, is in the first person."""
    return _FIRST_PERSON.search(text) is not None


def _with_subject(found: re.Match[str]) -> str:
    if found["noun"]:
        return f"My {found['noun'][0].lower()}{found['noun'][1:]}"
    first, _, rest = found["verb"].partition(" ")
    return f"I {_as_first(first)}{' ' if rest else ''}{rest}"


def _spoken(found: re.Match[str]) -> str:
    verb = found["verb"]
    if verb.lower() in _NO_VERBS:
        return found[0]
    return f"{found['before']}I {found['adverbs']}{_as_first(verb)}"


def _as_first(verb: str) -> str:
    """The form of a verb after "I"."""
    low = verb.lower()
    if low in _AUXILIARY:
        return _AUXILIARY[low]
    if low in ("was", "wasn't", "wasn’t") or not low.endswith("s") or low.endswith(("ss", "us")):
        return low
    if low.endswith("ies") and len(low) > 4:
        return f"{low[:-3]}y"
    if low.endswith(("sses", "shes", "ches", "xes", "zes", "oes")):
        return low[:-2]
    return low[:-1]
