"""Persons of Chinese texts: relatives, people who serve or work with the speaker, names and pronouns."""

import re

from biem.adapters.analyzers.chinese_words import knowing
from biem.adapters.contradiction import lexicon
from biem.adapters.contradiction.reading.reader import StatementReader
from biem.adapters.contradiction.subjects.relations import FIRST, KIN_NAMES, PETS, SAME, THIRD, Named
from biem.domain.speech.names import SURNAME

_HAN_OF_A_PERSON = "(?:电话|手机|号码|传真|微信|账号|车牌|邮箱|地址|住址|生日|年龄|名字|车(?!票|次|站)|工资)"
_HAN_ROLE_OWNER = re.compile(
    "(?:[我咱]们?)?的?(?P<role>房东|房客|租客|教练|医生|护士|导师|家教|律师|会计|助理|秘书|保姆|阿姨|月嫂|司机|理发师|师傅|物业|客户|学生|实习生|学徒|员工|队友|笔友|搭档)"
    f"(?=的?[新旧]?{_HAN_OF_A_PERSON}|换了?个?新?{_HAN_OF_A_PERSON}|搬家)"
)
"""People who serve or work with the user, and what they own as everybody does: my landlady's number is not mine."""
_IN_LATIN = re.compile("[我咱]们?家?的?\\s?(?P<kin>[A-Za-z]+)(?![A-Za-z-])")
"""A relation in English within a Chinese text: 我的 manager."""
_PROFESSION = re.compile(r"[是当做名位为教](?:(?!的)[\u4e00-\u9fff]){0,4}$")
_HAS_ONE = re.compile("(?:已经|刚刚?|又|最近|也|终于)*[给帮把有换养买带遛](?:了|过)?[一两几]?[只条个位]?新?的?")
_OF_ONE = PETS | frozenset((
    "老板", "上司", "领导", "同事", "室友", "老师", "师父", "徒弟", "朋友", "女朋友", "男朋友", "女友", "男友", "对象",
    "邻居",
))  # fmt: skip
"""Relations of the subject of a clause, also of a relative: 老公换老板. His mother would be 他妈妈."""
_STRAY = re.compile("(?:[野只条的]|流浪)$")
"""Before a pet without an owner that is not the user's."""
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
_NO_NAMES = frozenset((
    "小学", "小区", "小孩", "小狗", "小猫", "小米", "小组", "小说", "小店", "老家", "老房", "老车", "老师", "老板",
    "阿姨",
))  # fmt: skip
_OF_THINGS = re.compile(
    "[开买骑用换修卖]了?(?:一?[辆台部架]|的是)?[旧新]?[\u4e00-\u9fff]{2,4}(?=$|[，。！？,!?；;了上去])"
    "|[\u4e00-\u9fff]{2,4}(?=(?:已经|早就|终于|前几天|上周|昨天)?(?:报废|坏了|坏掉|卖掉|卖了|修好|没电|涨价|到期|过期|停产|送修|抛锚))"
)
"""Names of things: what is driven, bought or broken."""
_BEFORE_DAY = frozenset("哪今明昨前后每当几这那半整白")
"""Characters before 天, a day, which the segmenter then takes for a surname: 哪天修, 当天飞."""


class ChinesePersons:
    """Reads the persons of Chinese texts. Thread-safe."""

    def __init__(self, reader: StatementReader) -> None:
        self._reader = reader
        self._kin = reader.grammar["kin"]
        self._placed = lexicon.sets("subjects")["placed"]
        han_kin = sorted((kin for kin in self._kin if not kin.isascii()), key=len, reverse=True)
        kin = "|".join(map(re.escape, han_kin))
        self._chain = re.compile(
            rf"(?P<owner>[我你您他她咱]们?|(?:(?![是叫有在的最了个])[\u4e00-\u9fff]){{2,3}}(?<!我)(?=的)|(?<![A-Za-z])[A-Z][a-z]+(?=的))?家?(?:大学|高中|初中|中学|小学|公司|单位|部门)?的?(?P<kin>(?:[干义](?=[儿女妈爹爸父母哥姐弟妹孙])|外(?=孙))?(?:{kin})|(?<=[我他她你您])[弟妹哥姐]|(?<=[我她你您])先生)(?!人[们])"
        )

    def of(self, text: str) -> Named:
        """See `Named`."""
        persons: set[str] = set()
        words: set[str] = set()
        spans: list[tuple[int, int]] = []
        rest = text
        last, last_person, known_before = 0, "", False
        for found in self._chain.finditer(text):
            between = text[last : found.start()] if last and not found["owner"] else ""
            of_subject = found["kin"] in _OF_ONE and last_person in persons and _HAS_ONE.fullmatch(between) is not None
            whose, last = last if not found["owner"] else 0, found.end()
            before = text[max(0, found.start() - 1) : found.start()]
            if found.group() == "客户" or (not found["owner"] and before and _PROFESSION.search(text[: found.start()])):
                continue  # no specific person, or a profession
            if found["kin"] in PETS and whose == found.start() > 0:
                continue  # 我表妹的猫 is hers
            if of_subject and found["kin"] in PETS:
                continue  # 表姐给猫改名: her cat
            if (
                found["kin"] in PETS
                and not found["owner"]
                and _STRAY.search(text[: found.start()])
                and not FIRST.search(text)
            ):
                continue  # 楼下的流浪猫
            owner = found["owner"] or "我"
            kin = KIN_NAMES.get(found["kin"], found["kin"])
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
            if found["kin"] not in PETS:
                spans.append(found.span())
            rest = rest.replace(found.group(), " ", 1)
        for found in _HAN_ROLE_OWNER.finditer(rest):
            persons.add(f"me.{found['role']}")
            words.add(found["role"])
            spans.append((place := text.index(found.group()), place + len(found.group())))
        rest = _HAN_ROLE_OWNER.sub(" ", rest)
        for found in list(_IN_LATIN.finditer(rest)):
            if (kin := found["kin"].lower()) in self._kin:
                persons.add(f"me.{KIN_NAMES.get(kin, kin)}")
                words |= {kin, self._reader.stem(kin)}
                rest = rest.replace(found.group(), " ", 1)
                if kin not in PETS:
                    spans.append((place := text.index(found.group()), place + len(found.group())))
        for found in (*_NICKNAME.finditer(rest), *_SURNAMED.finditer(rest), *_REDOUBLED.finditer(rest)):
            if found["name"] not in _NO_NAMES:
                persons.add(found["name"])
                words.add(found["name"])
        before = ""
        for word, tag in knowing().tag(_OF_THINGS.sub(" ", rest)):
            is_day = word[0] == "天" and before[-1:] in _BEFORE_DAY  # 哪天修
            if tag.startswith("nr") and len(word) > 1 and not is_day and before not in self._placed:
                persons.add(word)
                words.add(word)
            before = word
        if FIRST.search(rest):
            persons.add("me")
        known = bool(persons - {"me"})
        for found in THIRD.finditer(rest):
            who = found["han"] or ""
            if who and not (known and who[0] in "他她"):
                persons.add(SAME.get(who, who))
        return persons, words, spans
