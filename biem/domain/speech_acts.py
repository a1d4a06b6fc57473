"""What a message does beside telling something: a courtesy asks and tells nothing, a standing order is to be kept.

Both are told by closed lists of English and Chinese wording, matched as a whole: one other word, and it is no courtesy.
"""

import re

_LONGEST_COURTESY = 80
"""Characters; a message of more says something."""
_LONGEST_ORDER = 10_000
"""Characters in which an order is looked for."""
_QUESTION_MARKS = frozenset("?？")

_COURTESIES = (  # of two that begin alike the longer stands first: what was matched is not given back
    "thanks|thank you|thx|ty|cheers|much appreciated|appreciate it|(?:so|very) much|a lot|your help"
    "|for (?:that|everything|the help)|(?:good )?(?:morning|afternoon|evening|night|day)|good ?bye|bye-bye|bye"
    "|okay|ok|okey|alright|all right|great|good|nice|cool|perfect|awesome|excellent|amazing|wonderful|lovely|fine"
    "|fantastic|brilliant|sure|of course|yes|yeah|yep|yup|no problem|no worries|nope|nah|no|please|hello|hi|hey|there"
    "|see (?:you|ya)(?: (?:later|soon|tomorrow))?|take care|(?:ha)+|(?:he)+|lol|hm+|ah|oh|wow|got it|i see|understood"
    "|right|exactly|indeed|agreed|makes sense|sounds (?:good|great|perfect|fine)|that(?:'s| is|s)|it(?:'s| is)"
    "|you(?:'re| are) welcome|welcome|np|my pleasure|really|very|so|too|well|then|and|just|go on|continue|keep going"
    "|carry on|done|k"
)
_HAN_COURTESIES = (
    "(?:非常|十分|太|多|真是|真)?(?:谢谢|感谢|多谢)(?:你的帮助|您的帮助|你|您|大家|啦|了)?|没问题|没关系|没事儿|没事|没有|不客气"
    "|不用谢|不用|不谢|不错|不是|是的|是啊|对的|可以|早上好|上午好|中午好|下午好|晚上好|晚安|早安|大家好|你好|您好|再见|拜拜"
    "|回头见|明天见|明白|知道|了解|收到|辛苦|厉害|哈喽|嘻+|哈+|呵+|嘿+|嗯+|哦+|噢+|啊+|(?:非常|太|真|很)(?:好|棒|赞)|好(?:的|啊|吧|呀|嘞|滴)?"
    "|请?继续|接着说|行|棒|赞|嗨|早|对|是|不|懂|呀|了|啦|的|吧|呢|哟|哇|哎"
)
_COURTESY = re.compile(rf"(?:(?>\b(?:{_COURTESIES})\b|{_HAN_COURTESIES})[^\w?？]*+)++", re.IGNORECASE)

_SENTENCES = re.compile(r"[^.!?。！？；;\n]+[.!?。！？；;]?")
_ORDER = re.compile(
    r"\W*+(?:(?:please|also|and|oh|so|but|ok|okay|hey|btw|by the way|important|note)\b[\s,:!-]*+)*+(?:"
    r"never\s+(?!(?:mind|heard|been|had|knew|thought|again|seen|said|was|did)\b)[a-z]+"
    r"|always\s+(?!(?:been|had|was)\b)[a-z]+|(?:don't|do not|dont) ever\s+[a-z]+"
    r"|from now on\b|going forward\b|henceforth\b|in (?:the )?future,"
    r"|(?P<wish>(?:can|could|will|would) you\s+(?:please\s+)?)?"
    r"(?:remember|keep in mind|bear in mind|don't forget|do not forget|make a note)"
    r"(?:\s+(?:that|to|my|our|this|these|i|we|the|about|not)\b|\s*:)"
    r")",
    re.IGNORECASE,
)
_HAN_ORDER = re.compile(
    r"\W*+(?:(?:请|麻烦|帮我|另外|还有|对了|注意|你|您)[，,：:\s]*+)*+(?:"
    r"(?:一定要?|务必|千万)?(?:记住|记得|牢记|记一下|记下|别忘|不要忘|不能忘)"
    r"|(?:以后|今后|从今往后|从现在起|从现在开始|从今天起)"
    r"|(?:永远|绝对|千万|一律)(?:不要|别|不能|不可以|不许|要|都)"
    r"|(?:不要再|别再|总是要|务必)"
    r")"
)
_ASKS = re.compile(r"[?？]\s*$|吗\s*[。.]?$")


def is_courtesy(text: str) -> bool:
    """Whether a message is made of greetings, thanks, assent and the like alone, or has no word at all.

    Nothing in a memory is about it: it is answered from the conversation itself.
    """
    said = text.replace("’", "'")
    first = next((place for place, character in enumerate(said) if character.isalnum()), None)
    if first is None:
        return not _QUESTION_MARKS.intersection(said)
    return len(said) <= _LONGEST_COURTESY and _COURTESY.fullmatch(said, first) is not None


def is_standing_order(text: str) -> bool:
    """Whether a sentence of a message says what holds from now on, or asks to keep something in mind (C7).

    "Never suggest nuts", "from now on …", "please remember that …", "以后请…", "记住…"; a question is none.
    """
    return any(map(_orders, _SENTENCES.findall(text[:_LONGEST_ORDER].replace("’", "'"))))


def _orders(sentence: str) -> bool:
    wish = _ORDER.match(sentence)
    if wish is not None and wish["wish"]:  # a question in form only
        return True
    return (wish or _HAN_ORDER.match(sentence)) is not None and _ASKS.search(sentence) is None
