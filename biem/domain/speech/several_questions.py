"""The questions of a message that asks several at once: "Who is my landlord, and how much is the rent?".

A vector of the whole lies between its questions, and no line is about all of them.
"""

import re

_MOST = 4
_WORDS, _CHARACTERS = 2, 4
"""Minimum length of a piece, English and Chinese."""
_LONGEST = 300
"""Characters of a message that is read: a longer one tells something, and its sentences are compared each."""
_HAN = re.compile("[\u4e00-\u9fff]")

# -- English -----------------------------------------------------------------------------------------------------------

_INTRODUCES = 12
"""Words, or Chinese characters, that introduce a list: "I need these for a form:"."""
_WHICH = r"(?:(?:on|at|in|by|from|for|to|with) )?(?:what|when|where|who|whom|whose|which|how|why)\b"
_VERB = r"(?:is|are|am|was|were|do|does|did|has|have|can|should|will|would|must)\b"
_SUBJECT = r"(?:i|you|he|she|it|we|they|my|our|the|there|this|that)\b"
_ASKS = re.compile(
    rf"^(?:(?:and|so|also),? )?(?:{_WHICH}[^,]*?(?:{_VERB}|['’]s\b)|who \w+s\b|{_VERB} {_SUBJECT})", re.IGNORECASE
)
"""Begins as a question does: "what they want" does not."""
_BEGINS = re.compile(rf"^(?:(?:and|so|also),? )?{_WHICH}", re.IGNORECASE)
_SENTENCE = re.compile(r"(?<=[?!;])\s+|(?<=[a-z]{4}\.)\s+")
"""Not after "Mrs."."""
_NEXT = re.compile(rf",?\s+(?:and|plus|and also|also)\s+(?={_WHICH})|,\s+(?={_WHICH})", re.IGNORECASE)
"""What stands before a further question in a sentence."""
_ITEM = re.compile(r",\s*(?:and\s+)?|\s+plus\s+|;\s*", re.IGNORECASE)
_LEADS_ON = re.compile(r"^(?:(?:and|so|also|plus),? )+", re.IGNORECASE)
_NAMES_THING = re.compile(
    r"^\W*(?i:and )?(?:(?i:my|our|the|his|her)\b|(?i:[\w’']+ of)\b|[A-Z]\w+['’]s\b)(?!.*\b(?:went|is|are)\b)"
)
_AND_WHERE = re.compile(r",? and (?P<which>where|when|why|how|who)\W*$", re.IGNORECASE)
_HALF = re.compile(rf"\b{_WHICH}$", re.IGNORECASE)
"""Half a question: "Do you know when", before "and where it is"."""
_RELATIVES = frozenset(
    ("mother", "father", "mum", "mom", "dad", "sister", "brother", "wife", "husband", "son", "daughter", "partner",
     "girlfriend", "boyfriend", "aunt", "uncle", "cousin", "niece", "nephew", "grandmother", "grandfather", "grandma",
     "grandpa", "granny", "boss", "neighbour", "neighbor", "roommate", "flatmate")
)  # fmt: skip
_TWO_RELATIVES = re.compile(
    r"\b(?P<of>my|our|his|her|their) (?P<one>[a-z]+)(?P<mine>['’]s)? (?:and|or) (?:(?P=of) )?"
    r"(?P<other>[a-z]+)(?P<its>['’]s)?",
    re.IGNORECASE,
)
_TWO_NAMED = re.compile(r"(?P<verb>\b(?:do|are|were|have|did|will) )(?P<one>[A-Z][\w-]+) and (?P<other>[A-Z][\w-]+)\b")
_SIBLINGS = re.compile(r"\b(?P<of>my|our) siblings\b(?!['’])", re.IGNORECASE)
_OF_ONE = {"do": "does", "are": "is", "were": "was", "have": "has"}
_OF_SEVERAL = re.compile(r"\b(do|are|were|have)( )$", re.IGNORECASE)

_REQUESTS = re.compile(
    r"[?]|^(?:(?:please|hey|hi|ok|so|sorry|can you|could you|would you),? )*(?:give|tell|remind|send|show|list|find"
    r"|check|look up|pull up|refresh|let me (?:know|have)|i (?:need|want to know|forgot|can['’]t remember|have no idea"
    r"|was wondering)|i['’]d like to know|kindly|not sure)\b|\b(?:please|pls)\W*$",
    re.IGNORECASE,
)
_CUT = re.compile(
    r"[,;]?\s+(?:and|or|plus|also|along with|as well as|but also)\s+|[?!;:,]\s+|(?<=[a-z]{4}\.)\s+|\s+[-+–]\s+",
    re.IGNORECASE,
)

# -- Chinese -----------------------------------------------------------------------------------------------------------

_ASKS_CHINESE = re.compile("什么|啥|多少|哪|谁|几(?!乎)|怎么|贵姓|为何|多[大久长高远重]|何时|[吗么](?=$|[？?])")
_SAYS_HOW = re.compile("^我?(?:该|应该)?(?:怎么|如何)(?:说|回答|回复|写|办)$")
"""Asks for words, not for what is known: 我怎么说？"""
_TASK = re.compile("^(?:帮我|给|替我)(?!.{0,2}(?:看|查|确认|回忆|想想|找))")
"""Asks for work, with questions on how to do it."""
_NEXT_CHINESE = re.compile("[，,、；;？?。]\\s*(?:还有|以及|另外)?|(?:还有|以及)")
_REQUEST = re.compile("[，,](?:各|都|全|分别|一起|麻烦)*(?:给我|帮我)?(?:发|告诉|列|报|写|说|填)[^，,]{0,6}$")
"""After a list: 各发我一下."""
_EACH = re.compile(
    r"^(?P<one>[^，,和跟与]{1,12})(?:和|跟|与|、)(?P<other>[^，,]{1,14}?)[，,]?(?:分别|各自|各)(?P<rest>.+)$"
)
_KIN = (
    "(?:爸|妈|父亲|母亲|哥哥?|姐姐?|弟弟?|妹妹?|老公|老婆|丈夫|妻子|对象|儿子|女儿|爷爷|奶奶|外公|外婆|姥姥|姥爷"
    "|叔叔|舅舅|姑姑|阿姨|表[哥姐弟妹]|老板|同事|室友)"
)
_TWO_CHINESE = re.compile(rf"(?P<one>我?{_KIN})(?:和|跟|与|、)(?P<other>我?{_KIN})(?:分别|各自|各|都)?")


_REQUESTS_CHINESE = re.compile(
    "[？?]|告诉我|发(?:给)?我|[给报]我|帮我[查看找]|列[一出下]|忘了|想不起|提醒我|(?:什么|啥|多少|几[点号个]|哪[儿里个])[呢啊呀来着]*$"
)
_CUT_CHINESE = re.compile(
    "[，,、；;：:？?。！!]|\\s+|还有|以及|另外|顺便|再有就是|连同|(?<=[\u4e00-\u9fff]{4})[和跟](?=[\u4e00-\u9fff]{3})"
)


def pieces_of(text: str) -> tuple[str, ...]:
    """The pieces of a request, of which each may ask for something: "Give me the wifi password and the alarm code".

    At most four; empty for a message that asks for nothing, and for one without several.
    """
    text = text.strip()
    chinese = _HAN.search(text) is not None
    if len(text) > _LONGEST or not (_REQUESTS_CHINESE if chinese else _REQUESTS).search(text):
        return ()
    cut = [piece.strip(" ？?。，,.;!呢啊呀") for piece in (_CUT_CHINESE if chinese else _CUT).split(text)]
    pieces = [piece for piece in cut if (len(piece) >= _CHARACTERS if chinese else len(piece.split()) >= _WORDS)]
    found = tuple(dict.fromkeys(pieces))
    return found[:_MOST] if len(found) > 1 else ()


def questions_in(text: str) -> tuple[str, ...]:
    """The questions of a message that asks at least two, at most four, each in its words; empty for all others.

    Words for things in a list are questions, too: "I need: the plate of the car, my tax number".
    """
    text = text.strip()
    if not text or len(text) > _LONGEST:
        return ()
    if _HAN.search(text):
        found = [one for question in _chinese(text) for one in _of_two_chinese(question)]
    else:
        found = [one for question in _english(text) for one in _of_two(question)]
    asked = tuple(dict.fromkeys(found))
    return asked[:_MOST] if len(asked) > 1 else ()


def _english(text: str) -> list[str]:
    introduction, _, listed = text.rpartition(":")
    if introduction and "?" not in introduction and len(introduction.split()) <= _INTRODUCES and listed.strip():
        found = [piece for one in _SENTENCE.split(listed.strip()) for piece in _ITEM.split(one)]
        return _sentences(found, least=2)
    sentences = _SENTENCE.split(text)
    asking = [one for one in sentences if one.endswith("?") or _ASKS.match(one)]
    if len(asking) == 1 and not _BEGINS.match(asking[0]) and len(sentences) > 1:  # "A form. My firm, and since when?"
        return _sentences(_ITEM.split(asking[0]), least=2) or asking
    if asking and sentences[-1] not in asking and _LEADS_ON.match(sentences[-1]):
        asking.append(sentences[-1])  # "Also, the number of the lock please."
    if not any(map(_BEGINS.match, asking)) and (things := _ITEM.split(text)) and all(map(_NAMES_THING.match, things)):
        return _sentences(things, least=2)
    found = [piece for one in asking for piece in _clauses(one)]
    return _sentences(found, least=3) if len(found) > 1 else found or ([text] if "?" in text else [])


def _clauses(sentence: str) -> list[str]:
    """The questions of a sentence; all of it if one of them is none."""
    if more := _AND_WHERE.search(sentence):
        first = sentence[: more.start()]
        return [first, _BEGINS.sub(more["which"], first)] if _ASKS.match(first) else [sentence]
    pieces = [piece.strip(" ?.,;") for piece in _NEXT.split(sentence)]
    asks = (_BEGINS.match(pieces[0]) or _ASKS.match(pieces[0])) and all(map(_ASKS.match, pieces[1:]))
    return pieces if len(pieces) > 1 and asks and not any(map(_HALF.search, pieces)) else [sentence]


def _sentences(pieces: list[str], least: int) -> list[str]:
    """The pieces as questions, if there are several of `least` words or more."""
    asked = [_LEADS_ON.sub("", piece.strip(" ?.,;!")) for piece in pieces]
    asked = [piece for piece in asked if len(piece.split()) >= least]
    return [f"{piece[0].upper()}{piece[1:]}?" for piece in asked] if len(asked) > 1 else []


def _of_two(question: str) -> list[str]:
    """A question about two persons, once for each."""
    if siblings := _SIBLINGS.search(question):
        return [_with(question, siblings, f"{siblings['of']} {one}") for one in ("brother", "sister")]
    two = _TWO_RELATIVES.search(question)
    if two is not None and {two["one"].lower(), two["other"].lower()} <= _RELATIVES:
        owned = two["its"] or two["mine"] or ""
        return [_with(question, two, f"{two['of']} {one}{owned}") for one in (two["one"], two["other"])]
    named = _TWO_NAMED.search(question)
    if named is None or "I" in (named["one"], named["other"]):
        return [question]
    verb = _OF_ONE.get(named["verb"].strip(), named["verb"].strip())
    return [_with(question, named, f"{verb} {one}") for one in (named["one"], named["other"])]


def _with(question: str, place: re.Match[str], words: str) -> str:
    """The question about one person in the place of several."""
    before = _OF_SEVERAL.sub(lambda verb: _OF_ONE[verb[1].lower()] + verb[2], question[: place.start()])
    return before + words + question[place.end() :]


def _chinese(text: str) -> list[str]:
    text = text.strip(" ？?。")
    introduction, _, listed = text.replace("：", ":").rpartition(":")
    request = _REQUEST.search(text)
    if introduction and len(introduction) <= _INTRODUCES and not _ASKS_CHINESE.search(introduction):
        asked = _pieces(_REQUEST.sub("", f"，{listed}"))
        if any(map(_ASKS_CHINESE.search, asked)) and not all(map(_ASKS_CHINESE.search, asked)):
            asked = _asking(_pieces(text))  # "three times: A, B, C, which is best?"
    elif request is not None and "、" in text[: request.start()]:
        asked = _pieces(text[: request.start()])
    else:
        asked = _asking(_pieces(text))
    return [f"{piece}？" for piece in asked] if len(asked) > 1 else [f"{text}？"] if _ASKS_CHINESE.search(text) else []


def _pieces(text: str) -> list[str]:
    found = (piece.strip(" ？?。，,") for piece in _NEXT_CHINESE.split(text))
    return [piece for piece in found if len(piece) > 1 and not _SAYS_HOW.match(piece)]


def _asking(pieces: list[str]) -> list[str]:
    """Those that ask, each with the words before the first that name what all are about."""
    places = [place for place, piece in enumerate(pieces) if _ASKS_CHINESE.search(piece)]
    if not places:
        return []
    about = "，".join(pieces[: places[0]])
    if _TASK.match(about):
        return []
    return [f"{about}，{pieces[place]}" if about else pieces[place] for place in places]


def _of_two_chinese(question: str) -> list[str]:
    if two := _TWO_CHINESE.search(question):
        owner = "我" if two["one"].startswith("我") else ""
        other = two["other"] if two["other"].startswith("我") else owner + two["other"]
        return [question[: two.start()] + one + question[two.end() :] for one in (two["one"], other)]
    each = _EACH.match(question)
    if each is None or not _ASKS_CHINESE.search(each["rest"]):
        return [question]
    return [f"{each['one']}{each['rest']}", f"{each['other']}{each['rest']}"]
