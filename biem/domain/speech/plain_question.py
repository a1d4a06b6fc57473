"""A question as the fitted weights know it: alone, and with its mark.

People wrap it ("Hey, quick question: … Thanks!", 帮我看一下，…), say why they ask ("I'm at the shop. What size …?")
and type no mark ("wheres my dentist", 我住哪里). The vectors of such questions are others, and all that decides what a
block shows was fitted to plain ones.
"""

import re

from biem.domain.speech.acts import is_courtesy
from biem.domain.text import late, simplified

_UNMARKED = late(
    r"\W*+(?:(?:and|so|but|ok|okay|hey|hi|hello|then|also|now|btw|sorry|um|well|again|oh)\b\W*+)*+"
    r"(?:(?:what|where|who|when|why|how)'?s\b(?! (?:i|we|up)\b)|(?:what|where|who|when|how)'?re\b"
    r"|(?:what|where|when|who|whom|whose|which|why|how)\s+(?:is|are|was|were|am|do|does|did|can|could|should|would|will|shall"
    r"|has|have|had|about|come|many|much|old|long|far|often|big|tall|late|early|soon|to)\b"
    r"|(?:(?:on|at|in|for|by|to|from|with|since|of|up to)\s)?(?:what|which|whose|how)\s"
    r"(?!(?:i|we|he|she|they|you|it|my|our|an?|the|reminds|means)\b)(?:[\w'-]+\s){1,6}?"
    r"(?:is|are|was|were|am|do|does|did|can|could|should|would|will|shall|has|have|had)\b"
    r"|(?:do|does|did|am|are|is|was|were|can|could|will|would|should|shall|have|has|had)(?:n'?t)?\s(?:you|we|i|he|she|they"
    r"|it|there|the|my|our|his|her|their|this|that|these|those|any|anyone|anything|someone)\b(?! (?:same|best)\b)"
    r"|does\s[\w'-]+\s|(?:is|are|has)\s(?-i:[A-Z])[\w'-]+\s\w|(?:who|what)\s(?!(?:i|we|he|she|they|you|it|an?|the|my|our)\b)\w"
    r"|any(?:thing|one|body|where)?\b(?! (?:way|more|time|of these)\b)"
    r"|(?:remind me|any idea|do you know|tell me|can you remember)\s(?:what|when|where|who|why|how|which|if)\b)",
    re.IGNORECASE,
)
_UNMARKED_HAN = late(
    "(?:吗|嘛|么|没有?|不|呢)$|(?<![没不])(?:什么|啥)(?!的$|都|也|[^，]{0,6}都)|[做干]什么的|何时|何地|谁(?![^，]{0,6}[都也])"
    "|哪(?![^，]{0,6}[都也])|(?<!好)几(?![乎分天]前|个(?:朋友|同事|同学|小时|月)|位)|多[少大久高远长重宽快](?![点些有])"
    "|怎么(?!也|都)|怎样|如何|为[什啥]|咋|干[嘛啥]"
    "|(?P<verb>[是有能要会好对可在该行吃喝去爱用做还]|喜欢|知道)(?:[没不](?P=verb)|没有(?P=verb))|^[^，]{2,14}还是[^，]{1,8}$"
)
_NO_QUESTION_HAN = late(
    "^(?:不知道|谁知道|不管|无论|没想到|怪不得|难怪|我不|随便)|不知道(?:为什么|怎么|什么)|什么[^，]{0,4}[都也]|没(?:什么|啥)|多少有"
    "|怎么[^，]{0,6}[都也]|[这那]么多"
)
_HAN = late("[\u4e00-\u9fff]")
_SENTENCES = late(r"[^.!?。！？；;\n]+[.!?。！？；;]?")
_QUESTION_MARKS = frozenset("?？")
_LAST_SENTENCE = late(r"[^.!?。！？\n]+$")
_LAST_CLAUSES = late(r"(?:(?<=[，,；;：:\s])|^)[^，,；;：:\s]{1,5}[，,；;：:\s]+[^，,；;：:\s]*$|[^，,；;：:\s]+$")
"""The last clause, with the one before if that is short: 我们家, 现在几口人."""
_DECORATION = late("[\\s~～\U0001f300-\U0001faff\u2600-\u27bf\ufe0f\u200d]+$")
_LEAD_IN = late(
    r"(?:(?:hey|hi|hello|hiya|morning|good (?:morning|afternoon|evening))(?: there| again)?\s*[,.!:–—-]\s*"
    r"|(?:(?:just )?an?(?:other)? |one (?:more )?)?(?:(?:quick|small|silly|stupid|random) )?(?:question|q)\s*[:,–—-]\s*"
    r"|quick one\s*[:,–—-]\s*|(?:(?:can|could|would) you )?(?:please )?(?:tell|remind) me\s*[,:–—-]\s*"
    r"|(?:sorry,? )?i (?:forgot|forget|can'?t remember|don'?t remember|keep forgetting)(?: again)?\s*[,:;.–—-]\s*"
    r"|(?:i was )?(?:just )?(?:wondering|curious|checking)\s*[,:;–—-]\s*|(?:btw|by the way)\s*[,:]?\s*"
    r"|(?:你好|您好|嗨|哈喽|早|晚上好|早上好|在吗)[，,：:！!。\s]+|想?请问(?:一下)?"
    r"|(?:请|想|麻烦|想请)?问[你您]?(?:一?下|个事儿?|个问题)?[，,：:！!\s]+"
    r"|(?:麻烦你?|请)?帮(?:我|忙)(?:看|查|想|回忆)(?:看|查|想|一?下)?[，,：:！!\s]+"
    r"|(?:对了|话说|那个|哎|诶|我?(?:又|突然)?(?:忘|记不清|记不得|想不起来|不记得)了?)[，,：:！!。\s]+)",
    re.IGNORECASE,
)
"""Before a question: greetings, that it is one, that its answer was forgotten."""
_NEXT_SENTENCE = late(
    r"(?<=[.!?])(?<!\b(?:Dr|Mr|Ms|St|No)\.)(?<!\b(?:Mrs|etc)\.)(?<!\bProf\.)(?<!\b\w\.)\s+(?=\w)|(?<=[。！？；\n])(?=.)|\n",
    re.IGNORECASE,
)
_LEANS = late(
    r"\b(?:he|she|they|him|her|hers|them|it|its|his|their|theirs|that|this|these|those|there|then|ones?|so|such|same"
    r"|others?|else|instead|either|neither|both)\b|[他她它此其]|[这那]|呢[?？]?$|还有|^\W*[要该得能]*[住去吃买带坐穿用找约做几怎哪多什]",
    re.IGNORECASE,
)
"""May refer to another sentence of the message."""
_NAMING = late(
    r"\b(?:my|our)(?= [a-z]{3})|[我咱]|\b(?!(?:what|when|where|who|whom|whose|which|why|how|the|and|are|was|were|did"
    r"|does|has|have|had|can|could|will|would|shall|should|may|must|you|your|our|for|with|about|from|into|any|now|again|much|many|get|got|need|know|tell|just"
    r"|please|also|my)\b)[a-z][\w'-]{2,}"
    r"|[^\W\d_A-Za-z我咱你您们的是在了吗呢吧啊有没什么啥谁哪里几多少大怎样如何为和跟要能会可以该应请问下个]",
    re.IGNORECASE,
)
"""A word, or Chinese character, that names something, or whose it is."""
_LEAST_NAMED, _LEAST_NAMED_HAN = 2, 3
_LONGEST, _LONGEST_UNMARKED, _LONGEST_UNMARKED_HAN = 200, 160, 60
"""Characters of a message whose surroundings are left out, and of a sentence that is read as a question without a mark.
"""


def plain_question(text: str) -> str:
    """A message that asks something, without greetings, thanks, emoji and lead-ins around the question ("Hey, quick
    question: … Thanks! 😅", 帮我看一下，…), without other sentences if its only question needs none of them ("I'm at
    the shop. …"), and with a question mark; any other message as it is.

    What a question is like was fitted to questions that stand alone and have a mark; many people type none.
    """
    if len(text) > _LONGEST:
        return with_question_mark(text)
    said = _DECORATION.sub("", text)
    parts = [part for part in _SENTENCES.findall(said) if part.strip()]
    while len(parts) > 1 and is_courtesy(parts[-1]):
        parts.pop()
    while len(parts) > 1 and is_courtesy(parts[0]):
        parts.pop(0)
    said = _DECORATION.sub("", "".join(parts)).strip()
    while (lead := _LEAD_IN.match(said)) and lead.end() < len(said):
        said = said[lead.end() :]
    asked = with_question_mark(_only_question(said) or said)
    return asked if asked[-1:] in _QUESTION_MARKS and not is_courtesy(asked) else with_question_mark(text)


def _only_question(text: str) -> str:
    """The only sentence of several that asks, if it names what it asks for and refers to nothing; else empty."""
    sentences = [one.strip() for one in _NEXT_SENTENCE.split(text) if one.strip()]
    asking = [one for one in sentences if with_question_mark(one)[-1] in _QUESTION_MARKS]
    if len(sentences) < 2 or len(asking) != 1 or _LEANS.search(asking[0]):
        return ""
    least = _LEAST_NAMED_HAN if _HAN.search(asking[0]) else _LEAST_NAMED
    return asking[0] if len(_NAMING.findall(simplified(asking[0]))) >= least else ""


def with_question_mark(text: str) -> str:
    """The text, with a question mark where its last sentence asks something and has no mark at its end.

    Many people type none, and what a question is like was fitted to questions that have one.
    """
    said = text.rstrip()
    last = _LAST_SENTENCE.search(said[-_LONGEST_UNMARKED - 1 :])
    if last is None:
        return text
    sentence = last.group().strip().replace("’", "'")
    if _HAN.search(sentence):
        asking = _LAST_CLAUSES.search(simplified(sentence))
        asks = asking and _UNMARKED_HAN.search(asking[0]) and not _NO_QUESTION_HAN.search(asking[0])
        return f"{said}？" if asks and len(sentence) <= _LONGEST_UNMARKED_HAN else text
    return f"{said}?" if len(sentence) <= _LONGEST_UNMARKED and _UNMARKED.match(sentence) else text
