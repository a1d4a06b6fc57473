"""Persons and things that two statements are about, and whether they are reported: conditions for automatic rules.

An automatic rule supersedes a memory without confirmation. It may do so only if both statements are the speaker's own
words (no report, quotation or joke) about the same people and the same thing.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

from biem.adapters.analyzers.chinese_words import knowing
from biem.adapters.contradiction import lexicon
from biem.adapters.contradiction.reading.reader import Reading, StatementReader
from biem.adapters.contradiction.reading.time_phrases import OCCASION
from biem.domain.speech.acts import is_ironic
from biem.domain.speech.names import SURNAME

_KEPT = 2_048
_NAMED = 6
"""Maximum words of a thing's name in a verdict."""
_REPORT = re.compile(
    r"\b(?!(?:i|i've|i'd|as|like|just|that|be|is|are|was|were|it|scales?|watch|clock|display|sign|label|calendar|tickets?|map|screen|bill|thermometer)\b)[a-z][\w'-]{0,40}+,?\s(?:has\s|have\s|had\s|just\s|always\s|also\s|once\s)?"
    r"(?:said|says|say|told|tells|claims?|claimed|mentioned|mentions|announced|reported|reckons|insists|swears|wrote|writes"
    r"|keeps saying|keeps telling)\b"
    r"|(?<!\bi )(?<!\bwe )\b(?:said|says|asked|wrote|shouted|whispered|replied|joked)\s(?!(?:i|we)\b)[a-z]"
    r"|\baccording to\b|\brumou?rs?\b|\b(?:i|we)\s(?:heard|read|was told|were told)\b"
    r"|(?<![我别再胡瞎])(?<!我[是想要刚])(?<!我刚才)(?:(?<!地)(?<!来)(?<!跟你)(?<!和你)(?<!跟大家)说(?!来(?:惭愧|话长|也|奇怪|好笑|可笑|真?巧)|错|反|岔|混|串|漏|[多少早晚]了|不|明|法|好|服|话|真的|一下|说|到|起|实话|白了)|告诉我|告诉你|表示|声称|提到|宣布|听说|据说)",
    re.IGNORECASE,
)
_OMITS = (
    r"(?!(?:can't|cannot|couldn't|could not|never|just|still|always|really|almost|don't|do not|had|only|also)"
    r"(?:\s[a-z]+)?\s[a-z]+\s(?:that\s)?(?:i|i'm|i've|i'd|my|we|we're|we've|our)\b)"
)
"""Not "Never thought I'd say it": the speaker leaves the "I" out."""
_ATTRIBUTED = re.compile(
    rf"(?:^|[,.;:!?]|\b(?:and|but|because|since|so|when|though)\s)\s*{_OMITS}"
    r"(?:(?!\b(?:i|we|i'm|i've|i'd|we're|we've)\b)[^,.;:!?]){1,60}?\b"
    r"(?:thinks?|thought|assum(?:es?|ed)|believ(?:es?|ed)|suspect(?:s|ed)?|fear(?:s|ed)?|worr(?:y|ies|ied)|complain(?:s|ed)?"
    r"|guess(?:es|ed)?|imagin(?:es?|ed)|suppos(?:es?|ed)|expect(?:s|ed)?|conclud(?:es?|ed)|impl(?:y|ies|ied)|suggest(?:s|ed)?"
    r"|pretend(?:s|ed)?|heard|hears?|feels?|felt|hop(?:es?|ed)|doubt(?:s|ed)?|convinced|under the impression"
    r"|not(?:es?|ed)|stat(?:es?|ed))\s(?:that\s)?(?:i|i'm|i've|i'd|my|we|we're|we've|our)\b"
    r"|\b(?:not|isn't|wasn't|never|hardly)\s(?:even\s)?(?:true|correct|right|accurate|the case)\sthat\b"
    r"|\b(?:false|untrue|wrong|a lie|a myth|nonsense)\sthat\b"
    r"|听[^我你您，。,.]{1,8}[讲说提]|据[^，。,.]{1,8}[讲称传说]|传言|传闻|谣言|谣传|小道消息|有人传|都在传|盛传|没有的事|不属实"
    r"|(?:^|[，。；！？,;!?])(?!(?:别|不用|顺便|刚刚?|才|还|也|一直|总是?|真|再|先|请|都)[写登记填传讲以认觉怀猜抱埋担相断念])(?:(?!老实|坦白|实话|不瞒|[跟和对给][你您大]|忘)[^我咱，。；！？,;!?]){1,14}"
    r"(?:写|登记|记|填|传|讲|以为|认为|觉得|怀疑|猜|抱怨|埋怨|担心|相信|断定|念叨|嚷嚷|坚称|暗示|注明)(?:着|了|道|成|的是|说)?"
    r"[：:]?[我咱]",
    re.IGNORECASE,
)
"""What others say, write or think of the speaker, and what is denied as untrue."""
_JOKE = re.compile(
    r"\b(?:just kidding|kidding|joking|jk|lol|as a joke|my joke|in a (?:dream|novel|film|movie|story|game)|i dreamed"
    r"|i dreamt|(?:ha){2,})\b|开玩笑|逗你|哈哈|梦见|梦到|小说里|电影里|游戏里",
    re.IGNORECASE,
)
_QUOTE = re.compile(r"[\"“”「」『』]")
_FIRST = re.compile(r"\b(?:i|i'm|i've|i'd|my|me|mine|myself|we|our|us|ourselves)\b|[我咱俺]|本人", re.IGNORECASE)
_KIN_CHAIN = re.compile(
    r"\b(?P<owner>(?i:my|our|his|her|their|your|the)|(?!(?:Here|There|That|What|Who|Where|When|How|It|He|She|Let)['’])[A-Z][\w-]+(?:\s[A-Z][\w-]+)?['’]s)\s"
    r"(?P<before>(?:(?:ex|old|older|elder|eldest|oldest|young|younger|youngest|middle|big|little|late|twin|best|other|former|new|good|dear|step|half"
    r"|great)[\s-]){0,2})(?P<kin>[a-z]+(?:[ -]in[ -]law)?)(?P<name>(?:\s(?!I\b)[A-Z][\w-]+){0,2})"
)
_FURTHER = re.compile(
    r"['’]s?\s(?:(?:older|elder|younger|eldest|oldest|youngest|middle|big|little|twin|best|new|ex|step)[\s-])?"
    r"(?P<kin>[a-z]+(?:-in-law)?)\b"
)
"""A relative of a relative: my wife's sister."""
_OF_A_PERSON = (
    "(?:phone|mobile|fax|account|licence|number|e-?mail|address|birthday|age|name|car|house|flat|home|wife|husband|salary"
    "|shoe)"
)
_ROLE_OWNER = re.compile(
    r"\b(?:my|our|the)\s(?:[a-z]+\s)?(?P<role>land(?:lady|lord)|tenant|lodger|dentist|doctor|nurse|coach|trainer|tutor|supervisor|mentor"
    r"|therapist|lawyer|accountant|assistant|secretary|cleaner|nanny|babysitter|childminder|gardener|driver|hairdresser|barber"
    r"|plumber|electrician|builder|caretaker|housemate|pal|client|customer|student|pupil|intern|apprentice|employee|trainee"
    rf"|teammate|guest|captain|owner|bandmate|buddy)(?:s?['’]s?\s(?:new\s|old\s)?(?={_OF_A_PERSON}\b)"
    rf"|(?=\s(?:has|got|has got|has changed|changed)\s(?:(?:a\s|her\s|his\s|their\s)?(?:new\s)?{_OF_A_PERSON}\b"
    r"|(?:a\snew|her|his|their)\s(?!appointment|time|slot|date|dose|plan|offer|price)[a-z])))",
    re.IGNORECASE,
)
_HAN_OF_A_PERSON = "(?:电话|手机|号码|传真|微信|账号|车牌|邮箱|地址|住址|生日|年龄|名字|车(?!票|次|站)|工资)"
_HAN_ROLE_OWNER = re.compile(
    "(?:[我咱]们?)?的?(?P<role>房东|房客|租客|教练|医生|护士|导师|家教|律师|会计|助理|秘书|保姆|阿姨|月嫂|司机|理发师|师傅|物业|客户|学生|实习生|学徒|员工|队友|笔友|搭档)"
    f"(?=的?[新旧]?{_HAN_OF_A_PERSON}|换了?个?新?{_HAN_OF_A_PERSON}|搬家)"
)
"""People who serve or work with the user, and what they own as everybody does: my landlady's number is not mine."""
_WHICH = re.compile(r"(?:other|former|new|good|dear|big|little|best)[\s-]|\s$")
"""Adjectives that do not distinguish persons."""
_ELDEST = re.compile(r"\b(?:elder|eldest|oldest)\b[\s-]?", re.IGNORECASE)
_YOUNGEST = re.compile(r"\byoungest\b[\s-]?", re.IGNORECASE)
_NO_ONE = "Everything|Something|Anything|Nothing|Everybody|Everyone|Somebody|Someone|Anybody|Anyone|Nobody"
"""Words in capitals that name no person: "Everything runs through the shop"."""
_ASKING = rf"(?!(?:What|Who|Whose|When|Where|Which|Why|How|That|This|It|He|She|There|Here|Let|{_NO_ONE})\b)"
_OWNED = re.compile(
    rf"\b(?P<name>{_ASKING}[A-Z][\w-]+(?:\s[A-Z][\w-]+)?)['’]s\b(?!\s(?:a|an|the|not|now|been|going)\b)"
)
_AT = re.compile(r"\b(?:at|in|to|from|near|behind|opposite)\s$", re.IGNORECASE)
"""Before an owner that only names a place: "at Paul's"."""
_ACTING = re.compile(
    r"^(?:(?:so|well|and|but|also|actually|now|update|correction|hey|oh|yes|no|fyi|btw)[,:]?\s+)*"
    r"(?P<name>(?!(?:I|The|A|An|My|Our|His|Her|Their|Your|This|That|It|He|She|We|They|You|There|Correction|Update"
    rf"|What|Who|Whose|When|Where|Which|Why|How|Here|Has|Have|Had|Is|Are|Was|Were|Do|Does|Did|{_NO_ONE})\b)"
    r"[A-Z][^\W\d_][\w-]*(?:\s[A-Z][^\W\d][\w-]*)?)\s"
    r"(?:(?:now|just|also|still|never|always|no longer|not anymore|not|recently)\s)?"
    r"(?:is|was|has|had|lives|works|likes|loves|hates|moved|plays|goes|wants|owns|drives|studies|teaches|got|left|joined"
    r"|started|quit|does|did|doesn't|didn't|isn't|can|can't|will|won't|takes|runs|eats|drinks|speaks|turned|changed|said|asked|told"
    r"|keeps|thinks|[a-z]{2,}ed(?! (?:my|our|me|us)\b))\b"
)
_IN_LATIN = re.compile("[我咱]们?家?的?\\s?(?P<kin>[A-Za-z]+)(?![A-Za-z-])")
"""A relation in English within a Chinese text: 我的 manager."""
_ACTING_TOO = re.compile(
    r"(?:[,;]|\b(?:and|but|while))\s(?P<name>(?!(?:I|The|My|Our|He|She|It|We|They)\b)[A-Z][a-z]+)\s"
    r"(?:is|was|has|lives|works|plays|goes|studies|takes|does|gets|likes|eats|drinks|wears|drives|speaks)\b"
)
_PROFESSION = re.compile(r"[是当做名位为教](?:(?!的)[\u4e00-\u9fff]){0,4}$")
_PETS = frozenset(("dog", "cat", "狗", "猫"))
_HAS_ONE = re.compile("(?:已经|刚刚?|又|最近|也|终于)*[给帮把有换养买带遛](?:了|过)?[一两几]?[只条个位]?新?的?")
_OF_ONE = _PETS | frozenset(
    (
        "老板",
        "上司",
        "领导",
        "同事",
        "室友",
        "老师",
        "师父",
        "徒弟",
        "朋友",
        "女朋友",
        "男朋友",
        "女友",
        "男友",
        "对象",
        "邻居",
    )
)
"""Relations of the subject of a clause, also of a relative: 老公换老板. His mother would be 他妈妈."""
_STRAY = re.compile("(?:[野只条的]|流浪)$")
"""Before a pet without an owner that is not the user's."""
_THIRD = re.compile(
    r"\b(?P<who>he|she|they|him|her|his|hers|their|them|you|your)\b|(?P<han>(?<![其吉])[他她]们?|(?<!迷)[你您]们?)",
    re.IGNORECASE,
)
_ANAPHORS = frozenset(("he", "she", "they"))
_SAME = {
    "him": "he",
    "his": "he",
    "her": "she",
    "hers": "she",
    "their": "they",
    "them": "they",
    "your": "you",
    "您": "你",
}
_ALONE = re.compile(
    r"(?<!\bmy )(?<!\bour )(?<!\bhis )(?<!\bher )(?<!\btheir )(?<!['’]s )(?<!\b[Aa] )(?<!\bthe )\b"
    r"(?P<kin>(?i:mom|mum|mommy|mummy|mama|dad|daddy|papa|grandma|grandpa|granny|nana|auntie))\b"
)
"""Relations without an owner: the speaker's."""
_CHILD = re.compile(
    r"\b(?:my|our)\s(?P<which>eldest|oldest|youngest)(?=['’]s\b|\s(?:one|will|can|can't|got|won't|went|left|took|came|began|quit"
    r"|isn't|doesn't|(?!class|boss|dress)[a-z]{1,}(?:s|[^e]ed))\b"
    r"|\s[a-z]+\s(?:to|at|in|on|from|for|with)\?|\s?[.;!?]|$)",
    re.IGNORECASE,
)
"""Relations without a noun: my eldest."""
_TITLED = re.compile(
    r"\b(?P<kin>(?i:aunt|auntie|uncle|cousin|grandma|grandpa|granny|nana|grandmother|grandfather))\s"
    r"(?P<name>[A-Z][\w-]+)"
)
"""Aunt Vera: the speaker's."""
_KIN_NAMES = {
    **dict.fromkeys(("mom", "mum", "mommy", "mummy", "mama"), "mother"),
    **dict.fromkeys(("dad", "daddy", "papa"), "father"),
    **dict.fromkeys(("grandma", "granny", "nana"), "grandmother"),
    "grandpa": "grandfather", "bro": "brother", "sis": "sister", "auntie": "aunt", "hubby": "husband",
    **dict.fromkeys(("妈", "老妈", "母亲"), "妈妈"), **dict.fromkeys(("爸", "老爸", "老爹", "父亲"), "爸爸"),
    **dict.fromkeys(("妻子", "媳妇", "爱人", "老伴"), "老婆"), "闺女": "女儿",
    **dict.fromkeys(("丈夫", "先生"), "老公"), "男友": "男朋友", "女友": "女朋友",
    "大哥": "哥哥", "大姐": "姐姐", "小妹": "妹妹", "老弟": "弟弟", "姥姥": "外婆", "姥爷": "外公",
    "哥": "哥哥", "姐": "姐姐", "弟": "弟弟", "妹": "妹妹",
}  # fmt: skip
"""Synonyms of relations."""
_NICKNAME = re.compile(
    r"(?<![\u4e00-\u9fff])(?P<name>[老小阿][\u4e00-\u9fff])(?=[的家他她们]|(?:现在|已经)?(?:不|的|住|在|说|问|换|改|搬))"
)
_SURNAMED = re.compile(
    rf"(?:^|[，。！？；,!?;]|听说|据说|告诉|隔壁的?|[和跟给替帮叫问东友傅户伴\s])(?P<name>[老小阿]{SURNAME})"
)
"""A nickname of a surname: 小周."""
_REDOUBLED = re.compile(
    r"(?:^|[，。！？；,!?;和跟与、\s])(?P<name>(?![妈爸哥姐弟妹爷奶公婆舅叔伯姑姨宝天常慢刚往渐仅偏白人年月日处个家每早好多明默轻悄久时次件样层步点些谢看想试说走听问等哈嗯哦呵嘿])"
    r"(?P<twice>[\u4e00-\u9fff])(?P=twice))(?=[的在上读学是有今现已升转换改不没也都去喜爱吃喝会要住穿一二三四五六七八九十\d])"
)
"""Names of children: 豆豆 of 豆豆上三年级."""
_NO_NAMES = frozenset(
    (
        "小学",
        "小区",
        "小孩",
        "小狗",
        "小猫",
        "小米",
        "小组",
        "小说",
        "小店",
        "老家",
        "老房",
        "老车",
        "老师",
        "老板",
        "阿姨",
    )
)
_OURS = {"my": "me", "our": "me", "the": ""}
_OF_THINGS = re.compile(
    "[开买骑用换修卖]了?(?:一?[辆台部架]|的是)?[旧新]?[\u4e00-\u9fff]{2,4}(?=$|[，。！？,!?；;了上去])"
    "|[\u4e00-\u9fff]{2,4}(?=(?:已经|早就|终于|前几天|上周|昨天)?(?:报废|坏了|坏掉|卖掉|卖了|修好|没电|涨价|到期|过期|停产|送修|抛锚))"
)
"""Names of things: what is driven, bought or broken."""
_BEFORE_DAY = frozenset("哪今明昨前后每当几这那半整白")
"""Characters before 天, a day, which the segmenter then takes for a surname: 哪天修, 当天飞."""
_HAN_NUMBER = re.compile(
    "[零〇一二两三四五六七八九十百千万半几]+[^\u4e00-\u9fff]*(?:公里|公斤|米|元|块|岁|点|号|月|年|次|个|天|分|小时)?$"
)


def is_reported(text: str) -> bool:
    """Whether a clause reports what others say or think, or denies a claim."""
    return any(pattern.search(text) for pattern in (_REPORT, _ATTRIBUTED))


def mentions_speaker(text: str) -> bool:
    """Whether it contains a word for the speaker."""
    return _FIRST.search(text) is not None


@dataclass(frozen=True, slots=True)
class About:
    """Persons and things that a statement is about."""

    persons: frozenset[str]
    """`me` for the speaker, `me.mother`, `jana`, `she` …; empty for a statement that names no person."""
    things: frozenset[str]
    """Stems of the things it mentions, without persons, values, times and words of change."""
    reported: bool
    """It reports another person's words."""
    joking: bool
    spans: tuple[tuple[int, int], ...]
    """Spans that name persons by a relation: `my sister`, 我妹妹; not pets."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """Agreement of two statements."""

    persons: bool
    """Both are about the same persons; one may omit the speaker."""
    thing: bool
    """One mentions only things that the other does, and neither is about one of several."""
    within: bool
    """The newer mentions only things that the older does."""
    own_words: bool
    """Both are the speaker's own words."""
    subject: str
    """As in `Verdict`."""

    @property
    def whole(self) -> bool:
        """Whether all of these hold."""
        return self.persons and self.thing and self.own_words


class Subjects:
    """Reads persons and things of statements. Thread-safe."""

    def __init__(self, reader: StatementReader) -> None:
        self._reader = reader
        self._words = lexicon.sets("subjects")
        self._kin = reader.grammar["kin"]
        self._people = self._kin - _PETS
        self._changed = reader.grammar["changed"] | reader.grammar["present"] | reader.grammar["ended"]
        self._values = {
            reader.stem(value) for row in lexicon.columns("exclusive") for column in row[1:] for value in column
        }
        self._han_kin = sorted((kin for kin in self._kin if not kin.isascii()), key=len, reverse=True)
        kin = "|".join(map(re.escape, self._han_kin))
        self._han_chain = re.compile(
            rf"(?P<owner>[我你您他她咱]们?|(?:(?![是叫有在的最了个])[\u4e00-\u9fff]){{2,3}}(?<!我)(?=的)|(?<![A-Za-z])[A-Z][a-z]+(?=的))?家?(?:大学|高中|初中|中学|小学|公司|单位|部门)?的?(?P<kin>(?:[干义](?=[儿女妈爹爸父母哥姐弟妹孙])|外(?=孙))?(?:{kin})|(?<=[我他她你您])[弟妹哥姐]|(?<=[我她你您])先生)(?!人[们])"
        )
        self._about = lru_cache(_KEPT)(self._read)

    def agreement(self, older: Reading, newer: Reading) -> Agreement:
        """Compare the persons and things of two statements."""
        one, other = self._about(older), self._about(newer)
        left, right = one.things - other.things, other.things - one.things
        shared = one.things & other.things
        return Agreement(
            persons=not (one.persons ^ other.persons) - {"me"},
            thing=not (left and right)
            and bool(shared or not (one.things or other.things))
            and (left | right).isdisjoint(self._words["other"]),
            within=not right,
            own_words=not (one.reported or other.reported or one.joking or other.joking),
            subject=f"{' and '.join(sorted(one.persons))}: {' '.join(sorted(one.things)[:_NAMED])}".strip(": "),
        )

    def about(self, reading: Reading) -> About:
        """Persons and things of one statement."""
        return self._about(reading)

    def _read(self, reading: Reading) -> About:
        text = reading.text
        quoted = bool(_QUOTE.search(text))
        reported = any(is_reported(clause.text) for clause in reading.clauses if not clause.asked)
        persons, words, spans = self._persons(text, reading.in_chinese)
        if reported and quoted and "me" in persons:
            persons = persons - {"me"} | {"quoted"}
        numbers = {word for word in reading.words if any(map(str.isdigit, word))}
        things = {
            word
            for clause in reading.clauses
            if OCCASION not in clause.times
            for word in clause.content
            if word not in self._words["time"] | self._words["plain"]
            and word not in self._changed
            and word not in numbers
            and word not in words
        }
        things = {
            word
            for word in things - self._kin - self._values
            if not any(map(str.isdigit, word)) and not _HAN_NUMBER.match(word)
        }
        return About(
            frozenset(persons),
            frozenset(things),
            reported,
            _JOKE.search(text) is not None or is_ironic(text),
            tuple(spans),
        )

    def _persons(self, text: str, chinese: bool) -> tuple[set[str], set[str], list[tuple[int, int]]]:
        """The persons of a text, the words that name them, and `About.spans`."""
        return self._han(text) if chinese else self._latin(text)

    def _latin(self, text: str) -> tuple[set[str], set[str], list[tuple[int, int]]]:
        persons: set[str] = set()
        words: set[str] = set()
        spans: list[tuple[int, int]] = []
        rest = text
        for found in _KIN_CHAIN.finditer(text):
            kin = found["kin"].partition("-in-")[0].partition(" in ")[0]
            if self._reader.stem(kin) not in self._kin and kin not in self._kin:
                if (further := _FURTHER.match(text, found.end())) and further["kin"] in self._people:
                    persons.add(f"{found['kin']}.{further['kin']}")  # the hero's brother
                continue
            owner = found["owner"].lower().removesuffix("'s").removesuffix("’s")
            whose = _OURS.get(owner, _SAME.get(owner, owner))
            name = found["name"].strip().lower()
            which = _ELDEST.sub("older", _YOUNGEST.sub("younger", _WHICH.sub("", found["before"])))
            relation = found["kin"].replace(" in law", "-in-law")
            person = name or f"{which}{_KIN_NAMES.get(relation, relation)}"
            end = found.end()
            if (further := _FURTHER.match(text, end)) and further["kin"].partition("-in-")[0] in self._people:
                person += f".{_KIN_NAMES.get(further['kin'], further['kin'])}"
                end = further.end()
            persons.add(".".join(part for part in (whose, person) if part))
            named = {self._reader.stem(word) for word in re.findall(r"[\w-]+", text[found.start() : end])}
            words |= named
            if kin.lower() not in _PETS:
                spans.append((found.start(), end))
            rest = rest.replace(text[found.start() : end], " ", 1)
        for found in _ROLE_OWNER.finditer(rest):
            persons.add(f"me.{found['role'].lower()}")
            words.add(self._reader.stem(found["role"]))
            spans.append((place := text.index(found.group()), place + len(found.group())))
        rest = _ROLE_OWNER.sub(" ", rest)
        for found in _CHILD.finditer(rest):
            persons.add("me.youngerchild" if found["which"].lower() == "youngest" else "me.olderchild")
            words.add(self._reader.stem(found["which"]))
            spans.append((place := text.index(found.group()), place + len(found.group())))
        rest = _CHILD.sub(" ", rest)
        for found in _TITLED.finditer(rest):
            persons.add(f"me.{found['name'].lower()}")
            words |= {self._reader.stem(word) for word in found.group().split()}
            spans.append((place := text.index(found.group()), place + len(found.group())))
        rest = _TITLED.sub(" ", rest)
        for found in _ALONE.finditer(rest):
            persons.add(f"me.{_KIN_NAMES.get(found['kin'].lower(), found['kin'].lower())}")
            words.add(self._reader.stem(found["kin"]))
            spans.append(found.span())
        rest = _ALONE.sub(" ", rest)
        for pattern in (_OWNED, _ACTING):
            for found in pattern.finditer(rest):
                if pattern is not _OWNED or not _AT.search(rest, 0, found.start()):
                    persons.add(found["name"].lower())
                words |= {self._reader.stem(word) for word in found["name"].split()}
        if _ACTING.match(rest):  # "Ida is in form 3, Max is in form 5"
            for found in _ACTING_TOO.finditer(rest):
                persons.add(found["name"].lower())
                words.add(self._reader.stem(found["name"]))
        if _FIRST.search(rest):
            persons.add("me")
        known = bool(persons - {"me", ""})
        for found in _THIRD.finditer(rest):
            who = (found["who"] or "").lower()
            who = _SAME.get(who, who)
            if not (known and who in _ANAPHORS):  # a person named before in the same statement
                persons.add(who)
        return persons - {""}, words, spans

    def _han(self, text: str) -> tuple[set[str], set[str], list[tuple[int, int]]]:
        persons: set[str] = set()
        words: set[str] = set()
        spans: list[tuple[int, int]] = []
        rest = text
        last, last_person, known_before = 0, "", False
        for found in self._han_chain.finditer(text):
            between = text[last : found.start()] if last and not found["owner"] else ""
            of_subject = found["kin"] in _OF_ONE and last_person in persons and _HAS_ONE.fullmatch(between) is not None
            whose, last = last if not found["owner"] else 0, found.end()
            before = text[max(0, found.start() - 1) : found.start()]
            if found.group() == "客户" or (not found["owner"] and before and _PROFESSION.search(text[: found.start()])):
                continue  # no specific person, or a profession
            if found["kin"] in _PETS and whose == found.start() > 0:
                continue  # 我表妹的猫 is hers
            if of_subject and found["kin"] in _PETS:
                continue  # 表姐给猫改名: her cat
            if (
                found["kin"] in _PETS
                and not found["owner"]
                and _STRAY.search(text[: found.start()])
                and not _FIRST.search(text)
            ):
                continue  # 楼下的流浪猫
            owner = found["owner"] or "我"
            kin = _KIN_NAMES.get(found["kin"], found["kin"])
            if whose == found.start() > 0 and found.group().startswith("的") and last_person in persons:
                if not known_before:
                    persons.remove(last_person)  # 我老婆的妹妹: neither my wife nor my sister
                last_person += f".{kin}"
            elif of_subject:
                last_person += f".{kin}"  # 老公换老板了: his boss
            elif not found["owner"] and last_person.count(".") > 1 and last_person.endswith(f".{kin}"):
                pass  # 新老板: of the one named before
            else:
                whom = "me" if owner[0] in "我咱" else owner[0] if owner[0] in "你您他她" else owner.lower()
                last_person = f"{whom}.{kin}"
            known_before = last_person in persons
            persons.add(last_person)
            words |= {found["kin"], owner}
            if found["kin"] not in _PETS:
                spans.append(found.span())
            rest = rest.replace(found.group(), " ", 1)
        for found in _HAN_ROLE_OWNER.finditer(rest):
            persons.add(f"me.{found['role']}")
            words.add(found["role"])
            spans.append((place := text.index(found.group()), place + len(found.group())))
        rest = _HAN_ROLE_OWNER.sub(" ", rest)
        for found in list(_IN_LATIN.finditer(rest)):
            if (kin := found["kin"].lower()) in self._kin:
                persons.add(f"me.{_KIN_NAMES.get(kin, kin)}")
                words |= {kin, self._reader.stem(kin)}
                rest = rest.replace(found.group(), " ", 1)
                if kin not in _PETS:
                    spans.append((place := text.index(found.group()), place + len(found.group())))
        for found in (*_NICKNAME.finditer(rest), *_SURNAMED.finditer(rest), *_REDOUBLED.finditer(rest)):
            if found["name"] not in _NO_NAMES:
                persons.add(found["name"])
                words.add(found["name"])
        before = ""
        for word, tag in knowing().tag(_OF_THINGS.sub(" ", rest)):
            is_day = word[0] == "天" and before[-1:] in _BEFORE_DAY  # 哪天修
            if tag.startswith("nr") and len(word) > 1 and not is_day and before not in self._words["placed"]:
                persons.add(word)
                words.add(word)
            before = word
        if _FIRST.search(rest):
            persons.add("me")
        known = bool(persons - {"me"})
        for found in _THIRD.finditer(rest):
            who = found["han"] or ""
            if who and not (known and who[0] in "他她"):
                persons.add(_SAME.get(who, who))
        return persons, words, spans
