"""Whether a newer statement says by its own words that what the older tells is as before, or is about another one."""

import re

from biem.adapters.contradiction.statements.core import Core
from biem.adapters.contradiction.statements.likeness import HAN, share_characters
from biem.adapters.contradiction.statements.number_kinds import kind_of

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
_IS_BACK = re.compile(
    r"\bback (?:up |down |in |on |out )?(?:there|in (?:its|their) (?:usual )?place|where (?:it|they) (?:was|were"
    r"|belongs?))\b"
    r"|放回(?:去|原处|原位)|又放回|的是(?:上[一个次]?|前[一个]|去年|别|另|隔壁)",
    re.IGNORECASE,
)
_SAME_AGAIN = re.compile(
    r"\bas (?:always|usual|ever|before)\b|\b(?:the (?:exact )?same (?:one|model|kind|make|type)|an identical"
    r"|exactly the same)\b|一模一样|同款"
    r"|同一[款个种]的?",
    re.IGNORECASE,
)
"""What comes is no other than what went."""
_YEARS_AGO = re.compile(
    r"\b(?:back )?in (?:19\d\d|20[01]\d|202[0-4])\b|\b(?:\d+|two|three|four|five|ten|many|some) years ago\b|(?:19\d\d"
    r"|20[01]\d|202[0-4])年(?!起|开始|以来|至今|级)|[零〇]几年|[几\d两三四五六七八九十]年前|前些年"
    r"|[前去]年[^，。]{0,8}[改换搬戒停]的",
    re.IGNORECASE,
)
_CHANGED_ITS = re.compile(
    r"\b(?:changed|raised|updated|redone|redecorated|repainted|extended|renamed|swapped|put up) (?:its|their|his"
    r"|her) (?P<what>[a-z]+)",
    re.IGNORECASE,
)
"""Names the attribute that changed."""
_PART_CHANGED = re.compile(
    "换了?(?:[一个套副双根块张条只层])*(?:新的?)?(?P<what>(?i:logo)|键帽|屏幕|电池|外壳|手机壳|贴膜|钢化膜|表带|鞋带"
    "|轮胎|刀片|滤芯|灯泡|把手|坐垫|镜片|镜框|窗帘|桌椅|招牌|名片|制服|工服|装修|门锁|锁芯|水管|床垫|床单|封面|头像"
    "|桌布|皮肤|硒鼓|墨盒|碳粉|灯管|插座|机油|零件|轮子)"
)
_ANOTHER_OF_BRAND = re.compile(
    "(?P<whose>[\u4e00-\u9fffA-Za-z]{2,6}?)那[台个辆只张条把间部套块本双](?P<thing>[\u4e00-\u9fff]{2,6}?)(?=[不没坏扔换丢送退已也被早都，,。]"
    "|$)"
)
_PART_RENEWED = re.compile(
    "(?P<what>[\u4e00-\u9fff]{2})(?:不行|坏|掉|断|磨[\u4e00-\u9fff]|裂|旧|松|瘪)了?[，,].{0,4}换了?.{0,4}(?P=what)"
)
_CALLED = re.compile(r"\b(?:called|named) (?P<name>[A-Z]\w+)")
_BESIDE = re.compile(r"\b(?:next to|beside|alongside) (?:the|my|our|his|her) (?P<thing>[a-z]{3,})", re.IGNORECASE)
_IS_TASK = re.compile(
    r"^(?:请|麻烦)?你?帮[我忙](?:把[^：:“\"]{0,10})?(?:翻|译|写|改写|润色|校对|总结|念)[^：:“\"]{0,8}[：:“\"]"
    r"|^(?:please |can you )?(?:translate|proofread|rewrite|summari[sz]e|correct|check)\b[^\"“:]{0,40}[:\"“]",
    re.IGNORECASE,
)
"""Gives a text to work on."""
_NOT_CHANGED = re.compile(
    r"\b(?:did|have|has|had|never|will|do)(?: not)? (?:really |actually )?(?<=not )(?:given? up|stop(?:ped)?"
    r"|quit|switch(?:ed)?|changed?|moved?|drop(?:ped)?|left|leave|cancel(?:led)?|sold|sell)\b",
    re.IGNORECASE,
)
_OF_EARLIER = re.compile("前年|那届|上届|往年|上一届")
_KIN_OF = re.compile("(?P<whose>[\u4e00-\u9fff]{2,3})的(?P<who>同桌|同学|朋友|老师|队友|室友|同事|邻居|[爸妈哥姐弟妹])")
_SOME_DAY = re.compile("再[^，。,]{1,6}我?们?就|^等[^，。,]{1,8}(?:了|再|就)|猴年马月|八字没一撇")
_FROM = re.compile(r"(?:从\s?|\bfrom (?:the )?[$€£¥]?)$", re.IGNORECASE)
_TO_FORMER = re.compile(
    "(?:从(?P<of>[^，。]{1,10}?)(?:换|改|搬|转|升|调)[\u4e00-\u9fff]?(?:到|成|为|去)|(?:换|改|搬|调|转|变)回(?:到"
    "|成)?)(?P<to>[\u4e00-\u9fffA-Za-z]{2,10})"
)
_NEW_OF_VALUE = re.compile(r"\b[Nn]ew (?P<value>[A-Z][\w-]+) (?P<what>[a-z]+)")
_OTHERS_BEGIN = re.compile(
    "(?:隔壁|对门|别人|人家|楼上|楼下)[^，]{1,6}|我?(?:同学|同事|室友|朋友|师[兄姐弟妹]|闺蜜|哥们)"
    "|[小老阿][\u4e00-\u9fff](?=[辞换改退搬停卖])"
)
_OF_ANOTHER_KIND = re.compile("(?P<of>[^，的我]{2,5})的(?P<thing>[\u4e00-\u9fff]{1,3}?)(?=[退停换卖没不坏丢过到取])")
_WITHIN = re.compile("在(?P<place>[\u4e00-\u9fff]{2,6}?)里?[换改]了?个")
_OTHER_ONE = re.compile(
    "我?那[辆台部把张只件](?P<thing>[\u4e00-\u9fff]{2,6}?)(?=挂|卖|送|坏|丢|扔|换|被|给|不|没|已|也|[，,。])"
)
_BEGINS_WITH_OTHER = re.compile("^(?P<thing>[^\\W\\d我你他她去在到把是都不没给跟和用]{2,6}?)那[套个台边家]")
_OF_THEN = re.compile("那年|那时|那会儿|当时|去年|前年|上学期|小时候")
_PLACE_OF = re.compile(
    "^(?:我们?)?(?P<where>老家|镇上|村里|公司|单位|学校|隔壁|对面|楼下|县里|城里|国外|婆家|娘家|[爸妈哥姐弟妹]家"
    "|别人家)[^，把给让将我]{0,3}的"
)
_MINE_CALLED = re.compile("我的(?P<what>[\u4e00-\u9fff]{1,3})叫")
_OWNED = re.compile(r"^(?:the|a|an|my|our) (?P<owner>[a-z]+)['’]s (?P<thing>[a-z][\w-]+)\b", re.IGNORECASE)
_MINE = re.compile(r"^(?:my|our) (?P<thing>[a-z][\w-]+)\b", re.IGNORECASE)
_SUBJECT = re.compile(
    r"^(?:the|my|our) (?P<np>(?:[a-z]+ ){0,2}[a-z]+) (?:is|are|was|were)\b(?P<not> not)?", re.IGNORECASE
)
_THING = re.compile(r"^(?:the|my|our) (?P<thing>[a-z]+(?: [a-z]+)?) (?:is|are)\b", re.IGNORECASE)
_THEN_IT = re.compile(
    r"\b(?:the|my|our) (?P<thing>[a-z]+)\b[^,.;]{0,40}[,.;] (?:it|they)(?:['’]s| is| are| went| has| have| was"
    r"| were| got| turned)\b",
    re.IGNORECASE,
)
"""Names a thing, and goes on about it."""
_IS_REFUSED = re.compile(
    r"\b(?:asked|applied|wanted|tried|proposed|suggested|request(?:ed)?)\b.{0,80}?\b(?:(?:(?:was|were|got"
    r"|been) )?(?:refused|rejected|denied|turned down|voted down|shot down)|said no)\b"
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
    r"(?: (?:next door|upstairs|downstairs|at work|now|also|already|just))* (?:earn|weigh|live|work|drive|take|pay"
    r"|wear|make|speak|play|run|own|study|studie|sleep|start|eat|drink|use|went|has|had|was|is|got|gave|quit|switched"
    r"|moved|changed|stopped)s?\b(?!.{0,60}\b(?:my|our|me|us)\b)|^(?:(?:the|our|my) )?(?P<whose>neighbou?r|colleague"
    r"|friend|parent|grandparent|in-law|kid|boy|girl|tenant)s['’] "
    r"|^(?P<he>新来的|实习生|学徒|临时工|小伙子|小姑娘|那个?[男女]的)(?!.{0,20}[我咱])",
    re.IGNORECASE,
)
"""Begins with what someone has or does who is not named."""
_NAMED_SUBJECT = re.compile(
    r"^(?!(?:It|That|This|There|Here|What|Who|Where|How|When|He|She|Let|Everything"
    r"|Nothing)\b)(?P<name>[A-Z][a-z]+)['’]s (?:been|now|just|got|gone|moved|switched|started|given|on"
    r"|in)\b(?!.{0,60}\b(?:my|our|me|us)\b)"
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
_SINCE = frozenset(("weekday", "month", "date"))
"""Kinds of numbers that tell since when."""
_LONGEST, _LONGEST_HAN = 120, 60
"""Maximum characters of a brief message: a longer text tells of several things and times."""
_SHORT_VALUE = 2
_LETTERS = 4
"""Of an English word, that another form of it has, too."""


def is_unaffected(old: Core, new: Core) -> bool:
    """Whether the older holds still, though the newer is like it."""
    if _NAMED.search(old.text) and _USES.search(new.text) and not _NAMED.search(new.text):
        return True
    if _IS_REFUSED.search(new.text) or _THAT_IS_WHEN.search(new.text) or _LONG_AGO.search(new.text):
        return True
    brief = max(len(old.text), len(new.text)) <= (_LONGEST_HAN if HAN.search(new.text) else _LONGEST)
    if brief and (_is_as_before(old, new) or _is_of_another(old, new)):
        return True
    if old.numbers and _RETURNED.search(new.text):  # a state without numbers may be what ended: it was broken
        return True
    return (
        _tells_of_someone(old, new)
        or _says_so(old, new)
        or _replaces_another(old, new)
        or _names_place_of_another(old, new)
    )


def _is_as_before(old: Core, new: Core) -> bool:
    """Whether a brief message tells of other times, of a task, or that the same value holds on."""
    if _OF_THEN.search(old.text) and not _OF_THEN.search(new.text):
        return True
    if _OF_EARLIER.search(new.text) and not _OF_EARLIER.search(old.text):
        return True
    if any(shape.search(new.text) for shape in (_IS_TASK, _SOME_DAY, _NOT_CHANGED, _IS_BACK, _SAME_AGAIN, _YEARS_AGO)):
        return True
    return _was_another_number(old, new) or _arrives_at(old, new)


def _is_of_another(old: Core, new: Core) -> bool:
    """Whether a brief message is about another attribute, thing, person or place."""
    return (
        _is_of_another_attribute(old, new)
        or _is_of_another_thing(old, new)
        or _begins_elsewhere(old, new)
        or _tells_of_named(old, new)
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


def _is_of_another_attribute(old: Core, new: Core) -> bool:
    """Whether it names what changed, and the older lacks that: "they've changed their hours", 换了套键帽."""
    part = _PART_CHANGED.search(new.text) or _PART_RENEWED.search(new.text)
    if part is not None and part["what"] not in old.text:
        return True
    found = _CHANGED_ITS.search(new.text)
    return found is not None and not old.numbers and found["what"][:_LETTERS].lower() not in old.text.lower()


def _is_of_another_thing(old: Core, new: Core) -> bool:
    """Whether it is about a thing that has a word with that of the older in common: 宜家那个书架, after a table."""
    for found in _ANOTHER_OF_BRAND.finditer(new.text):
        if found["whose"] in old.text and found["thing"] not in old.text:
            return old.text.rstrip("。.").endswith(("的", found["whose"]))
    thing, other = _THING.search(old.text), _THEN_IT.search(new.text)
    if thing is None or other is None or old.numbers:
        return False
    own = thing["thing"].lower().split()
    return not any(one in new.text.lower() for one in own) and other["thing"].lower() not in old.text.lower()


def _was_another_number(old: Core, new: Core) -> bool:
    """Whether a number rose or fell from one that the older lacks: 从9000涨到11000."""
    had = {one.stem for one in old.numbers}
    amounts = (one for one in new.numbers if kind_of(one.stem) not in _SINCE)
    return any(_FROM.search(new.text, 0, one.start) and one.stem not in had for one in amounts)


def _arrives_at(old: Core, new: Core) -> bool:
    """Whether the value that comes in is that of the older: 又换回小熊了; or only names a new thing of that value."""
    for found in _TO_FORMER.finditer(new.text):
        came = found["to"].rstrip("了的")
        if came[:_SHORT_VALUE] in old.text and (found["of"] is None or found["of"] not in old.text):
            return True
    thing = _NEW_OF_VALUE.search(new.text)
    return thing is not None and thing["value"] in old.text and thing["what"] not in old.text


def _tells_of_named(old: Core, new: Core) -> bool:
    """Whether it tells something of the bearer of the name in the older, or of a thing at the side of its thing."""
    beside = _BESIDE.search(new.text)
    if beside is not None and beside["thing"].lower() in old.text.lower():
        return True
    called = _CALLED.search(old.text)
    return called is not None and re.match(rf"{called['name']} (?:is|was|has|does)\b", new.text) is not None


def _begins_elsewhere(old: Core, new: Core) -> bool:
    """Whether it begins with another place, or denies of another subject: 老家镇上的菜场; "the brownies are not …"."""
    someone = _OTHERS_BEGIN.match(new.text)
    if someone is not None and someone.group()[:_SHORT_VALUE] not in old.text:
        return True
    thing = _OF_ANOTHER_KIND.match(new.text)
    if thing is not None and thing["of"] not in old.text and f"的{thing['thing']}" in old.text:
        return True
    within = _WITHIN.search(new.text)
    if within is not None and within["place"] in old.text:
        return True
    for shape in (_OTHER_ONE, _BEGINS_WITH_OTHER):
        other_one = shape.match(new.text)
        if other_one is not None and not share_characters(other_one["thing"], old.text):
            return True
    pets = _MINE_CALLED.search(old.text), _MINE_CALLED.search(new.text)
    if pets[0] is not None and pets[1] is not None and set(pets[0]["what"]).isdisjoint(pets[1]["what"]):
        return True
    kin = _KIN_OF.match(new.text)
    if kin is not None and kin["whose"] in old.text and kin["who"] not in old.text:
        return True
    owned, mine = _OWNED.match(new.text), _MINE.match(old.text)
    if owned is not None and mine is not None and owned["owner"].lower() not in old.text.lower():
        return owned["thing"].lower() == mine["thing"].lower()
    where = _PLACE_OF.match(new.text)
    if where is not None and where["where"] not in old.text:
        return True
    mine, other = _SUBJECT.match(old.text), _SUBJECT.match(new.text)
    if mine is None or other is None or other["not"] is None:
        return False
    return frozenset(mine["np"].lower().split()).isdisjoint(other["np"].lower().split())


def _names_place_of_another(old: Core, new: Core) -> bool:
    """Whether it says by its place which thing it means, and the older has one elsewhere: 出租屋那台冰箱."""
    for found in _HAN_THAT.finditer(new.text):
        place, thing = found["place"], found["thing"]
        if thing in old.text and place not in old.text and not _OF_NO_PLACE.search(place):
            return True
    return False
