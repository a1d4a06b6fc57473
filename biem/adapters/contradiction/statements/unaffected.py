"""Whether a newer statement says by its own words that what the older tells is as before, or is about another one."""

import re

from biem.adapters.contradiction.statements.core import Core

_STAYS = re.compile(
    r"\b(?:stay(?:s|ed|ing)?|remain(?:s|ed)?|kept|left)\s(?:the same|put|(?:as|where) (?:it|they) (?:is|was|are|were))"
    r"|\b(?:is|are|was|were)\s(?:unchanged|untouched|the same)\b|\b(?:has|have)(?:n['’]t| not)\s(?:changed|moved)\b"
    r"|(?<!从来)没[动变换改][^，。]{0,2}$|不变$|照旧$|照租$|照常$|还是(?:原来的?|老样子)",
    re.IGNORECASE,
)
"""In a part of a statement: its thing is as before."""
_RETURNED = re.compile(
    r"\b(?:back (?:to normal|in (?:both|place)|as usual)|(?:is|are) (?:normal|fine) again)\b"
    r"|又(?:正常|照常|照旧|恢复)|恢复(?:正常|原样)|(?:照旧|照常)[。！!]?$",
    re.IGNORECASE,
)
"""At the end of what was for a while only."""
_IS_REFUSED = re.compile(
    r"\b(?:asked|applied|wanted|tried|proposed|request(?:ed)?)\b.{0,80}?"
    r"\b(?:(?:was|were|got|been) (?:refused|rejected|denied|turned down|voted down)|said no)\b"
    r"|(?:申请|要求|提出|提议|想)[^。]{0,40}(?:[没不](?:批|同意|通过|答应)|驳回|被拒|没戏)",
    re.IGNORECASE,
)
"""What was asked for does not come about."""
_THAT_IS_WHEN = re.compile(r"\bthat(?:['’]s| is) (?:when|the (?:day|time|evening) (?:when|that|of))\b", re.IGNORECASE)
"""Names a time by what takes place then: "I can't do Thursdays, that's when the choir practises"."""
_LONG_AGO = re.compile(
    r"^(?:before (?!i forget|we start)|back (?:in (?:the|my|school|college|19|20[01])|when i was)|growing up|years ago"
    r"|when i was (?:an?|young|little|small|\d|in (?:school|college|my))|as a (?:kid|child|boy|girl|student|teenager)"
    r"|long ago|in my (?:teens|twenties|youth)|in (?:19\d|20[01])\d)\b[^,.;]{0,40},?\s(?:i|we|he|she|they|my|our)\b"
    r"|^(?:小时候|当年|早年|年轻时|上学那会儿|[^，。]{1,6}之前)[，,]?我",
    re.IGNORECASE,
)
"""Tells of how it once was."""
_IN_PLACE_OF = re.compile(
    r"\b(?:instead of|rather than)\s(?:(?:the|a|an|my|our|that|those|old|usual)\s)*(?P<former>[a-z][\w-]*)",
    re.IGNORECASE,
)
_PERSON = (
    "hire|guy|girl|boy|kid|lad|lady|woman|man|bloke|intern|trainee|apprentice|temp|friend|colleague|coworker|lodger"
    "|tenant|landlord|landlady|candidate|applicant|neighbou?r|patient|customer|client|student|manager|boss|nurse"
    "|teacher|driver"
)
_SOMEONE = re.compile(
    r"^(?:(?:well|oh|so|and|btw|apparently),? )?(?:the|an?|one of the|this|that|some|our) "
    rf"(?:new |young |old |other ){{0,2}}(?P<who>{_PERSON})s?"
    r"(?: (?:next door|upstairs|downstairs|at work|now|also|already|just))*"
    r" (?:earn|weigh|live|work|drive|take|pay|wear|make|speak|play|run|own|study|studie|sleep|start|eat|drink|use)s?\b"
    r"(?!.{0,60}\b(?:my|our|me|us)\b)"
    r"|^(?:(?:the|our|my) )?(?P<whose>neighbou?r|colleague|friend|parent|grandparent|in-law|kid|boy|girl|tenant)s['’] "
    r"|^(?P<he>新来的|实习生|学徒|临时工|小伙子|小姑娘|那个?[男女]的)(?!.{0,20}[我咱])",
    re.IGNORECASE,
)
"""Begins with what someone has or does who is not named."""
_NAMED_SUBJECT = re.compile(
    r"^(?!(?:It|That|This|There|Here|What|Who|Where|How|When|He|She|Let|Everything|Nothing)\b)"
    r"(?P<name>[A-Z][a-z]+)['’]s "
    r"(?:been|now|just|got|gone|moved|switched|started|given|on|in)\b(?!.{0,60}\b(?:my|our|me|us)\b)"
)
"""Begins with what became of someone with this name: "Pavel's been switched to days"."""
_OF_I = re.compile(r"^(?:I|I['’]m|I['’]ve)\b")
_OF_SPEAKER = re.compile(r"\b(?:I|my|we|our)\b|[我咱]", re.IGNORECASE)
_NAMED = re.compile("[姓叫][\u4e00-\u9fff]|[换改]成")
_USES = re.compile("改(?:用|喝|吃|骑|坐|穿|打|教|学|练|看|读)")
"""What someone does now, whose name the older tells."""
_LONG_WORD = re.compile("[a-z]{5,}")
_PARTS = re.compile(r"[^，。！？；：,;!?\n]+")
_HAN_THAT = re.compile(r"(?P<place>[\u4e00-\u9fff]{2,6}?)那[台个辆只张条把间部套块本](?P<thing>[\u4e00-\u9fff]{2})")
_OF_NO_PLACE = re.compile("原来|以前|之前|旧的?$|老的|现在|我们?$|家里")
_LETTERS = 4
"""Of an English word, that another form of it has, too."""


def is_unaffected(old: Core, new: Core) -> bool:
    """Whether the older holds still, though the newer is like it."""
    if _NAMED.search(old.text) and _USES.search(new.text) and not _NAMED.search(new.text):
        return True
    if _IS_REFUSED.search(new.text) or _THAT_IS_WHEN.search(new.text) or _LONG_AGO.search(new.text):
        return True
    if old.numbers and _RETURNED.search(new.text):  # a state without numbers may be what ended: it was broken
        return True
    return (
        _tells_of_someone(old, new)
        or _says_so(old, new)
        or _replaces_another(old, new)
        or _names_place_of_another(old, new)
    )


def _tells_of_someone(old: Core, new: Core) -> bool:
    """Whether it tells of another person what the older tells of the speaker: "The new hire earns 60000"."""
    named = _NAMED_SUBJECT.search(new.text)
    if named is not None and _OF_I.search(old.text) and named["name"].lower() not in old.text.lower():
        return True
    found = _SOMEONE.search(new.text)
    if found is None or _OF_SPEAKER.search(old.text) is None:
        return False
    return (found["who"] or found["whose"] or found["he"]).lower() not in old.text.lower()


def _says_so(old: Core, new: Core) -> bool:
    """Whether the part of the newer that says that a thing is as before names one of the older: 备用那个没动."""
    staying = [part.group() for part in _PARTS.finditer(new.text) if _STAYS.search(part.group())]
    others = [part.group() for part in _PARTS.finditer(new.text) if part.group() not in staying]
    words = (old.text[piece.start : piece.end].lower() for piece in old.words)
    named = {*words, *_LONG_WORD.findall(old.text.lower())}
    return any(
        word in part.lower() and not any(word in other.lower() for other in others)
        for word in named
        for part in staying
    )


def _replaces_another(old: Core, new: Core) -> bool:
    """Whether it names what it takes the place of, and the older lacks that: "slate instead of the old brown"."""
    found = _IN_PLACE_OF.search(new.text)
    return found is not None and found["former"][:_LETTERS].lower() not in old.text.lower() and not old.numbers


def _names_place_of_another(old: Core, new: Core) -> bool:
    """Whether it says by its place which thing it means, and the older has one elsewhere: 出租屋那台冰箱."""
    for found in _HAN_THAT.finditer(new.text):
        place, thing = found["place"], found["thing"]
        if thing in old.text and place not in old.text and not _OF_NO_PLACE.search(place):
            return True
    return False
