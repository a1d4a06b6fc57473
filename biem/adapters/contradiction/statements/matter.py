"""Whom and what a text speaks of, named alike in questions and answers: 妈妈, mum and mother are one."""

import re

from biem.adapters.contradiction.lexicon import marks
from biem.adapters.contradiction.lexicon.attributes import SINGLE
from biem.adapters.contradiction.lexicon.value_kinds import GIVES, WANTS
from biem.adapters.contradiction.reading.journeys import returns
from biem.adapters.contradiction.reading.reader import Reading
from biem.adapters.contradiction.statements.core import Core
from biem.adapters.contradiction.statements.matter_persons import called_in, persons_of
from biem.adapters.contradiction.statements.topics import ANY_THING, I_AM, THINGS, TOPICS, with_stated, words_of
from biem.adapters.contradiction.subjects.relations import mentions_speaker
from biem.adapters.contradiction.subjects.reports import is_reported
from biem.adapters.contradiction.subjects.subjects import Subjects
from biem.domain.conflict import Matter

_WAYS = {"去程": "outbound", "返程": "return"}
_BACK = frozenset(("return",))
_ALTERS = re.compile(
    r"\bagain\b|\bback (?:on|to)\b|(?:^|\b(?:I|we|he|she)(?:'ve| have)? (?:just )?)finished\b|\bdone with\b"
    r"|\bfed up\b|\bnext up\b"
    r"|\b(?:extended|renewed|prolonged|shortened|expanded|doubled|tripled|halved|upped|decreased)\b"
    r"|又(?:开始|[\u4e00-\u9fff]上)|重新|恢复|[看读听学用吃]完|[看听玩吃]腻|延长|续[了签]|扩[大建]|加倍|减半",
    re.IGNORECASE,
)
"""Marks an end or a return to a former habit: a change that the rules for automatic decisions do not rely on."""
_OLD_ENDED = re.compile(
    r"\bold (?:[\w-]+ ){1,3}(?:(?:has |had |is |was |got |just |finally )*"
    r"(?:died|dead|broken?|gave|given|fell|packed|conked|stolen|lost|gone|sold|smashed|cracked|worn|wrecked|scrapped|kaput|returned|retired|closed)\b).*\b(?:i|we|he|she|they)\b"
    "|[旧老][\u4e00-\u9fff]{1,4}(?:终于|已经|前几天|上周|彻底)?[\u4e00-\u9fff]?(?:坏|丢|破|碎|烂|报废|卖|停产|不行|没电)[^，。,.]{0,3}[，。,.;；].*[买换用入]",
    re.IGNORECASE,
)
"""An old thing that ended, and what came in its place."""
_COMPARED_WITH_OLD = re.compile(
    r"\b(?:than|unlike|(?:go|going|goes|went|come|came) back to|miss(?:es|ed|ing)?|better off without)"
    r" (?:(?:at|in|on|with) )?(?:my|our|the|his|her|their) (?:old|former|ex)\b",
    re.IGNORECASE,
)
"""Tells of what holds, beside what was before: "she'd never go back to the old flat"."""
_NAMES_NO_TOPIC = re.compile(
    r"(?:own|owns|owned|started|took up|took over|left(?! (?-i:[A-Z]))"
    r"|most|best|known|opens?|enters?|takes?|play(?:s|ed|ing)?"
    r"|(?<=\bto )work|(?:going|goes|go)(?! to (?:the |an? )?(?-i:[A-Z]))"
    r")\b"
    r"|开(?!的是)|去(?=[做干当学读])|一辆|辆|买了|交|出门|坚持",
    re.IGNORECASE,
)
"""Words with which a value of a topic is stated, and much else: alone they name none."""
_ASKS_OF_MINE = re.compile(r"^\W*(?!who\b)(?:what|when|where|which|how)\b.*\b(?:is|are) $", re.IGNORECASE)
""""What is my pension?" asks for no name, as "who is my boss?" does."""
_OF_QUESTIONS = frozenset(("时候", "地方"))
"""Words of questions that name no thing: 什么时候, 什么地方."""


def matter_of(reading: Reading, subjects: Subjects, core: Core) -> Matter:
    """See `Matter`. `core`: what is left of the reading."""
    text = reading.text
    words = words_of(text, subjects.about(reading).spans, chinese=reading.in_chinese)
    named = frozenset(
        name
        for name, start in core.places
        if not (_NAMES_NO_TOPIC.match(text, start) or (name == "name" and _ASKS_OF_MINE.search(text, 0, start)))
    )
    topics = named.union(*(TOPICS[word] for word in words))
    alters = _ALTERS.search(text) is not None
    replaced = _OLD_ENDED.search(text) is not None
    changes = alters or replaced or core.changes
    holds = core.holds or (changes and _is_explained(text))
    things = frozenset(piece.stem for piece in core.words) - _OF_QUESTIONS | (words & THINGS)
    persons = persons_of(reading, subjects, things)
    called = called_in(text, subjects.about(reading).spans)
    return Matter(
        persons,
        core.classes & SINGLE | (ANY_THING if I_AM.search(text) else frozenset()),
        bool(
            marks.OF_THE_PAST.search(text)
            or (core.of_old and not (core.marked or replaced or _COMPARED_WITH_OLD.search(text)))
        ),
        with_stated(topics - ANY_THING or topics, text, subjects.about(reading).spans)
        | (ANY_THING if called else frozenset()),
        things,
        frozenset(thing for thing in things if any(_is_stem(thing, kind) for kind in words & THINGS)),
        frozenset(_WAYS.get(word, word) for word in core.which) | (_BACK if returns(text) else frozenset()),
        frozenset(piece.stem for piece in core.numbers),
        holds,
        core.open,
        core.marked or (holds and (alters or replaced or (changes and not core.adds))),
        frozenset(kind for kind, pattern in WANTS.items() if pattern.search(text)),
        frozenset(kind for kind, pattern in GIVES.items() if pattern.search(text)),
        called,
    )


def _is_stem(stem: str, word: str) -> bool:
    """Whether a word may have this stem: "salary" has `salari`."""
    return word.startswith(stem) or (word.endswith("y") and f"{word[:-1]}i".startswith(stem))


def _is_explained(text: str) -> bool:
    """Whether a report only gives the reason of the speaker's own change: "I eat meat again, my doctor said so"."""
    first, comma, _ = text.replace("，", ",").partition(",")
    if not comma or is_reported(first) or not mentions_speaker(first):
        return False
    return bool(marks.CHANGES.search(first) or _ALTERS.search(first)) and not marks.LEAVES_OPEN.search(text)
