"""Sentences of the user about himself, his people and his things that tell how things are, not what happens once.

English tells it by tense: a sentence in the present, without a time, a mood or an intention, holds until it is changed
("gluten upsets my stomach"). Chinese has no tense; there no word of an occasion, a mood or an intention may stand.
"""

import re

from biem.domain.text import late

_OWN = late(
    r"\b(?:i|i'm|i've|me|my|mine|we|we're|we've|us|our|ours|mum|mom|dad|grandma|grandpa|granny|nana|hubby|wifey)\b"
    r"|[我咱俺]|本人|家里|老[婆公妈爸]|太太|爱人|[爸妈爷奶]|外[公婆]|[哥弟姐妹](?!们|们好)|儿子|女儿|孩子|婆婆"
    r"|岳[父母]",
    re.IGNORECASE,
)
_OCCASION = late(
    r"\b(?:today|tonight|tomorrow|yesterday|this|last|next|just|right now|at the moment|atm|again|still|already"
    r"|finally"
    r"|soon|later|ago|recently|lately|so far|for now|temporarily|meanwhile|suddenly|almost|nearly|o'clock"
    r"|in (?:an?|\d+|two|three|a few) (?:minutes?|hours?|days?|weeks?|months?)|(?:mon|tues|wednes|thurs|fri|satur"
    r"|sun)day|(?:on|by|until|till) (?:the )?\d+(?:st|nd|rd|th)?|expires?|due|on (?:my|our|the) way|lol|lmao"
    r"|(?:ha){2,})\b"
    r"|今[天晚早儿]|明[天早晚儿]|昨[天晚]|后天|前天|刚|正在|[这本下上]个?(?:周|星期|礼拜|月)|周末|[这那]会儿"
    r"|这两天|最近|又|马上|待会|等会|一会儿?|暂时|晚点|终于|点(?:钟|半|整)|[到至](?:期|了)|路上|分钟|小时|还?剩"
    r"|哈哈|笑死|准备"
    r"|打算|快要|[周期][一二三四五六日天](?!.{0,6}都)",
    re.IGNORECASE,
)
_PAST = late(
    r"(?<!\bis )(?<!\bare )(?<!\bam )\b(?:was|were|had|did|went|(?<!'ve )(?<!have )(?<!has )got|came|took|made|saw"
    r"|said|told|gave|left|broke|lost|found|bought|sold|met|ate|drank|ran|fell|felt|kept|slept|woke|forgot|brought"
    r"|thought|spent|sent|won|heard|paid|began|caught|drove|flew|knew|sat|stood|taught|threw|wore|wrote|used to)\b"
    r"|(?<!am )(?<!is )(?<!are )(?<!be )(?<!been )(?<!'m )(?<!'s )(?<!'re )(?<!'ve )(?<!have )(?<!has )(?<!not )"
    r"(?<!so )(?<!very )(?<!get )(?<!gets )\b(?!called|named|married|divorced|retired|engaged"
    r"|gifted)[a-z]{2,}(?<!e)(?<!hundr)ed\b(?!\s+(?:to be|by)\b)"
    r"|(?<![岁年月天])了(?![解不])|过(?![敏年期世程分])",
    re.IGNORECASE,
)
_IN_PROGRESS = late(
    r"(?:\b(?:am|is|are)|'m|'s|'re)\s+(?:(?:not|now|\w+ly)\s+)?(?!(?:living|dating|suffering|recovering|expecting"
    r"|missing|boring|interesting|allergic|nothing|king)\b)[a-z]{2,}ing\b"
    r"|在(?=[吃喝看等听想写做洗玩找聊买开忙学煮炒收打画修].{0,6}$)|没(?=[睡吃赶听看带买做写])|呢\W*$",
    re.IGNORECASE,
)
_MOOD = late(
    r"(?:\b(?:am|is|are|feels?)|'m|'s|'re)\s+(?:(?:so|very|really|quite|pretty|too|super|kind of|kinda|rather|all"
    r"|not|a bit|a little|totally|completely|feeling)\s+)*(?:tired|bored|hungry|thirsty|sleepy|busy|late|ready"
    r"|done|here|back|out|off|sure|sorry|glad|happy|sad|angry|upset|mad|annoyed|excited|nervous|stressed|exhausted"
    r"|fine|ok|okay|good|great|well|better|confused|lost|curious|thankful"
    r"|grateful|stuck|cold|hot|wet|early|free|awake|broke|worried|surprised|shocked|proud|jealous|impressed|full"
    r"|crazy)\b"
    r"|(?:我们?|咱们?)(?:现在|也|都|还|真的?|实在|有点儿?|好|很|太|超|特别|挺|快|非常)*(?:累|困|饿|渴|无聊|烦|忙"
    r"|高兴|开心"
    r"|难过|郁闷|生气|紧张|好奇|冷|热|饱|急|懵|服了)",
    re.IGNORECASE,
)
_INTENDS = late(
    r"\b(?:i|we)(?:'d|'ll| would| will| shall| want| wanna| gotta| need to| have to| hope| wish| think| guess"
    r"| suppose| wonder| bet| mean| see| understand| agree| plan| might| may| could| should)\b|\bgoing to\b"
    r"|\blet(?:'?s| me| us)\b"
    r"|吧\W*$|[我咱](?:们)?(?:也|还|就|都|不|真|很|好|可能|应该)*(?:想|要(?!是)|希望|觉得|认为|猜|估计|知道|明白"
    r"|懂|看看"
    r"|可能|应该|去)",
    re.IGNORECASE,
)
_OTHERWISE = (_OCCASION, _PAST, _IN_PROGRESS, _MOOD, _INTENDS)


def is_timeless(sentence: str) -> bool:
    """Whether a statement tells how it is with the user, his people or his things, for no particular time."""
    return _OWN.search(sentence) is not None and not any(one.search(sentence) for one in _OTHERWISE)
