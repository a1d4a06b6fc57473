"""The questions of a message that asks several at once: "Who is my landlord, and how much is the rent?".

A vector of the whole lies between its questions, and no line is about all of them.
"""

import re

_MOST = 4
_WORDS, _CHARACTERS = 3, 4
"""Minimum length of a question, English and Chinese."""
_LONGEST = 300
"""Characters of a message that is read: a longer one tells something, and its sentences are compared each."""
_ASKS = r"(?:what|when|where|who|whom|whose|which|how|why)\b"
_VERB = r"(?:is|are|was|were|do|does|did|has|have|can|should|will|would|must)\b"
_ASKS_ENGLISH = re.compile(
    rf"^(?:(?:and|so) )?(?:{_ASKS}[^,]*?(?:{_VERB}|['’]s\b)"
    rf"|{_VERB} (?:i|you|he|she|it|we|they|my|our|the|there|this|that)\b)",
    re.IGNORECASE,
)
"""Begins as a question does: "what they want" does not."""
_ENDS_ASKING = re.compile(rf"\b{_ASKS}$", re.IGNORECASE)
"""Half a question: "Do you know when", before "and where it is"."""
_NEXT_ENGLISH = re.compile(
    rf"[?;]\s+(?:(?:and|or|also|plus),?\s+)?|,?\s+(?:and|plus|and also)\s+(?={_ASKS})|,\s+(?={_ASKS})", re.IGNORECASE
)
"""What stands before a further question."""
_ASKS_CHINESE = re.compile("什么|多少|哪|谁|几(?!乎)|怎么|为何|多[大久长高远重]|何时|[吗么](?=$|[？?])")
_NEXT_CHINESE = re.compile(r"[，,、；;？?]\s*(?:还有|以及|另外)?|(?:还有|以及)")
_TWO_ENGLISH = re.compile(
    r"\b(?P<of>my|our|his|her|their) (?P<one>[a-z]+)(?P<mine>['’]s)? (?:and|or) (?:(?P=of) )?"
    r"(?P<other>[a-z]+)(?P<its>['’]s)?",
    re.IGNORECASE,
)
_RELATIVES_ENGLISH = frozenset(
    ("mother", "father", "mum", "mom", "dad", "sister", "brother", "wife", "husband", "son", "daughter", "partner",
     "girlfriend", "boyfriend", "aunt", "uncle", "cousin", "niece", "nephew", "grandmother", "grandfather", "grandma",
     "grandpa", "granny", "boss", "neighbour", "neighbor", "roommate", "flatmate")
)  # fmt: skip
_OF_ONE = {"do": "does", "are": "is", "were": "was", "have": "has"}
_OF_SEVERAL = re.compile(r"\b(do|are|were|have)( )$", re.IGNORECASE)
_GROUP_ENGLISH = re.compile(r"\b(?P<of>my|our) siblings\b(?!['’])", re.IGNORECASE)
_KIN = (
    "(?:爸妈?|妈|父亲|母亲|哥哥?|姐姐?|弟弟?|妹妹?|老公|老婆|丈夫|妻子|对象|儿子|女儿|爷爷|奶奶|外公|外婆|姥姥|姥爷"
    "|叔叔|舅舅|姑姑|阿姨|表[哥姐弟妹]|老板|同事|室友)"
)
_TWO_CHINESE = re.compile(rf"(?P<one>我?{_KIN})(?:和|跟|与|、)(?P<other>我?{_KIN})(?:分别|各自|各|都)?")
_SAYS_HOW = re.compile("^我?(?:该|应该)?(?:怎么|如何)(?:说|回答|回复|写|办)$")
"""Asks for words, not for what is known: 我怎么说？"""


def questions_in(text: str) -> tuple[str, ...]:
    """The questions of a message that asks at least two, at most four, each in its words; empty for all others."""
    text = text.strip()
    if not text or len(text) > _LONGEST:
        return ()
    chinese = re.search("[\u4e00-\u9fff]", text) is not None
    if not (_ASKS_CHINESE.search(text) if chinese else "?" in text or _ASKS_ENGLISH.match(text)):
        return ()
    asked = _chinese(text) if chinese else _english(text)
    every = [one for question in asked for one in (_of_two_chinese if chinese else _of_two_english)(question)]
    found = tuple(dict.fromkeys(every))
    return found[:_MOST] if len(found) > 1 else ()


def _english(text: str) -> list[str]:
    asked = [piece.strip(" ?.,;") for piece in _NEXT_ENGLISH.split(text)]
    whole = all(_ASKS_ENGLISH.match(piece) and len(piece.split()) >= _WORDS for piece in asked)
    if len(asked) < 2 or not whole or any(map(_ENDS_ASKING.search, asked)):
        return [text]
    return [f"{piece[0].upper()}{piece[1:]}?" for piece in asked]


def _chinese(text: str) -> list[str]:
    asked = [piece.strip(" ？?。，,") for piece in _NEXT_CHINESE.split(text)]
    asked = [piece for piece in asked if piece and not _SAYS_HOW.match(piece)]
    if len(asked) < 2 or not all(_ASKS_CHINESE.search(piece) and len(piece) >= _CHARACTERS for piece in asked):
        return [text]
    return [f"{piece}？" for piece in asked]


def _of_two_english(question: str) -> list[str]:
    """A question about two relatives, once for each."""
    if group := _GROUP_ENGLISH.search(question):
        return [_with(question, group, f"{group['of']} {one}") for one in ("brother", "sister")]
    two = _TWO_ENGLISH.search(question)
    if two is None or not {two["one"].lower(), two["other"].lower()} <= _RELATIVES_ENGLISH:
        return [question]
    owned = two["its"] or two["mine"] or ""
    return [_with(question, two, f"{two['of']} {one}{owned}") for one in (two["one"], two["other"])]


def _of_two_chinese(question: str) -> list[str]:
    two = _TWO_CHINESE.search(question)
    if two is None:
        return [question]
    owner = "我" if two["one"].startswith("我") else ""
    other = two["other"] if two["other"].startswith("我") else owner + two["other"]
    return [_with(question, two, one) for one in (two["one"], other)]


def _with(question: str, place: re.Match[str], words: str) -> str:
    """The question about one person in the place of several."""
    before = _OF_SEVERAL.sub(lambda verb: _OF_ONE[verb[1].lower()] + verb[2], question[: place.start()])
    return before + words + question[place.end() :]
