"""The proper `names` of a text: people, places, organisations, works and products, without a model.

English: runs of capitalised words; the first word of a sentence needs further evidence. Chinese: part of speech tags
checked against family names, titles (李先生), 叫X, places after 在 and 去, and endings such as 公司.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Literal

from biem.adapters.analyzers import words
from biem.adapters.analyzers.characters import DENSE
from biem.adapters.analyzers.chinese_words import knowing
from biem.domain.text import late

Kind = Literal["person", "organisation", "place", "work", "name", "handle"]

_CAPITAL = r"[A-ZÀ-ÖØ-Þ][A-Za-zÀ-ÖØ-öø-ÿ0-9]*+(?:['\-&][A-Za-zÀ-ÖØ-öø-ÿ0-9]+)*+"
_RUN = late(
    rf"(?<![A-Za-zÀ-ÿ0-9_@./'\-#]){_CAPITAL}"
    rf"(?:[ \t](?:(?:of|of the|de|de la|van|van der|von|der|di|da|bin|al|du|le|la)[ \t])?{_CAPITAL}){{0,6}}"
)
_HANDLE = late(rf"(?<![A-Za-z0-9_.@/])@[A-Za-z0-9_{DENSE}][A-Za-z0-9_{DENSE}.\-]{{1,30}}")
_WORK = late(r"《([^《》\n]{1,40})》|[「『]([^「」『』\n，。！？]{2,20})[」』]|[“\"]([^“”\"\n]{2,40})[”\"]")
_TITLE = late(r"^[A-Z0-9][^.!?,;:]{1,38}$|^[^\s，。！？、；：,.!?的了我你他]{2,10}$")
_SENTENCE = late(r"(?:^|[.!?…:;\n\"“”(\[—–*>•]|[-#])[\s\"'“(*]*$")
_VERB = late(
    r"'s\b|,? (?:and|&) [A-Z]|[ \t](?:is|was|has|had|will|would|can|could|did|does|said|says|went|told|got|"
    r"loves?|likes?|and|also|never|always|just|really|[a-z]{3,}ed|[a-z]{2,}[^s\W]s)\b|[ \t]*[,:!?][ \t]"
)
_PLACES = frozenset(("New", "San"))
_LEADING = _PLACES | frozenset(
    ("Great", "Grand", "Good", "Big", "Little", "Long", "Golden", "Happy", "March", "May", "Lucky", "The")
)
_ABBREVIATED = late(r"\b(?:Dr|Mrs?|Ms|Prof|St)\.\s$")
_PLAIN_END = late(r"(?:ly|ing|ed|ness|tion|ment|ful|less|able)$")
_UPPER = late("[A-Z]")
_H = "\u4e00-\u9fff"
_CHINESE = late(f"[{_H}]")
_TITLES = (
    "先生|女士|小姐|太太|老师|医生|大夫|教授|总经理|经理|总监|总裁|主任|律师|师傅|阿姨|叔叔|同学|"
    "校长|院长|老板|博士|警官|总(?![是共之会要算得在部结体量计归经监裁])"
)
_ENDINGS = (
    "有限公司|公司|集团|大学|学院|中学|小学|幼儿园|医院|银行|研究院|研究所|事务所|餐厅|饭店|酒店|宾馆|机场|火车站|高铁站|地铁站|公园|广场|博物馆|"
    "图书馆|体育馆|俱乐部|咖啡馆|书店|超市|商场|出版社|基金会|协会|委员会"
)
_ENDS = late(f"(?:{_ENDINGS})$")
_ROLE = late(
    "(?=[母父妈爸爷奶外妻丈老儿女哥姐弟妹表堂同朋室邻客供领组班队发球闺助店徒先])"  # most characters begin none
    "(母亲|父亲|妈妈|爸爸|爷爷|奶奶|外公|外婆|妻子|丈夫|老婆|老公|儿子|女儿|哥哥|姐姐|弟弟|妹妹|表[哥弟姐妹]|堂[哥弟姐妹]|同事|朋友|同学|室友|邻居|"
    "客户|供应商|领导|组长|班长|队长|发小|球友|闺蜜|助理|店长|徒弟|先生|女士)"
)
_FUNCTION = frozenset(
    "我你他她它们的了着过在是和与及或也都就不没很去到从给把被让对向跟这那哪一个家里上下有想要说吃买看"
)
_NAMING = frozenset(("nr", "nrt", "ns", "nt"))
_FAMILIAR = frozenset(("小", "老"))
_BEFORE_COMPANY = frozenset(("nr", "nrt", "nz", "n", "j", "eng"))
_DISHES = frozenset("鸡鸭鹅肉菜饭汤粥饼")  # 宫保鸡|丁
_AREAS = "省市区县镇村路街"
_GENERIC = late(
    "^(?:公司|大学|医院|银行|学校|中学|小学|家里|外面|国外|这里|那里|一起|现在|国内|线上|网上|晚上|早上|今天|明天)$"
)


class Names:
    """Word lists and the segmenter, loaded once."""

    def __init__(self) -> None:
        self._not_names = words.load_set("not_names")
        self._surnames = words.load_set("surnames")
        self._not_chinese = words.load_set("not_names_zh")
        self._syllables = frozenset(words.load("syllables_zh")[0][0])
        one = "".join(sorted(s for s in self._surnames if len(s) == 1))
        two = "|".join(sorted(s for s in self._surnames if len(s) == 2))
        self._titled = late(rf"(?:(?:{two})|[{one}])(?:(?:(?![是的和了在给跟让找])[{_H}]){{1,2}}?)?(?:{_TITLES})")
        self._called = late(
            rf"(?:名字?[叫是]|叫做?|名为|我是|昵称是?)\s?((?:(?:{two})[{_H}]{{1,2}}|[{one}小阿][{_H}]{{1,2}}))(?=[，。！？,.!?；;、\s的和]|$)"
        )
        self._where = late(
            rf"(?:[在去到从回])([{_H}]{{2,6}})(?:工作|上班|上学|读书|出差|旅游|旅行|出生|长大|定居|生活|实习|留学)"
        )

    def found(self, text: str) -> Iterator[tuple[int, str, Kind]]:
        """Position, name and kind, unsorted and with repeats, of a normalised text."""
        for work in _WORK.finditer(text):
            book = work.group(1) or work.group(2)
            quoted = book or work.group(3).strip()
            if book or (_TITLE.match(quoted) and quoted.count(" ") < 6 and quoted.lower() not in self._not_names):
                yield work.start(), quoted.strip(), "work"
        for handle in _HANDLE.finditer(text):
            yield handle.start(), handle.group().rstrip(".-"), "handle"
        yield from self._english(text)
        if _CHINESE.search(text):
            yield from self._chinese(text)

    def _english(self, text: str) -> Iterator[tuple[int, str, Kind]]:
        capitals = len(_UPPER.findall(text))
        if capitals > 12 and capitals * 2 > sum(1 for c in text if c.isascii() and c.isalpha()):
            return
        for run in _RUN.finditer(text):
            start, parts = run.start(), run.group().split()
            before = text[max(0, start - 8) : start]
            opens = bool(_SENTENCE.search(before)) and not _ABBREVIATED.search(before)
            while (
                parts
                and self._plain(parts[0])
                and not (len(parts) > 1 and parts[0] in (_PLACES if opens else _LEADING))
            ):
                parts, opens = parts[1:], False
            while parts and (parts[-1] == "I" or parts[-1].islower()):
                parts.pop()
            while parts and parts[0].islower():
                parts = parts[1:]
            if not parts:
                continue
            name = re.sub(r"'s$", "", " ".join(parts))
            if len(name) < 2 or (len(parts) == 1 and opens and not self._proven(name, text, run.end())):
                continue
            yield start, name, "name"

    def _plain(self, word: str) -> bool:
        lower = word.lower()
        return lower in self._not_names or lower.split("'")[0] in self._not_names

    def _proven(self, name: str, text: str, end: int) -> bool:
        """A single capitalised word at a sentence's start is a name if its form or its context shows it."""
        if any(c.isupper() or c.isdigit() for c in name[1:]):
            return True
        if _PLAIN_END.search(name):
            return False
        return (
            bool(_VERB.match(text[end - 2 : end + 40], 2) or text[end - 2 : end] == "'s")
            or end >= len(text)
            or text[end] >= "\u3400"
        )

    def _chinese(self, text: str) -> Iterator[tuple[int, str, Kind]]:
        for found in self._titled.finditer(text):
            yield found.start(), found.group(), "person"
        for found in self._called.finditer(text):
            yield found.start(1), found.group(1), "person"
        for found in self._where.finditer(text):
            if not _GENERIC.match(found.group(1)) and not _FUNCTION.intersection(found.group(1)):
                yield found.start(1), found.group(1), "place"
        position = 0
        chain: list[str] = []
        previous = ("", "")
        for word, tag_ in [*self._tagged(text), ("", "")]:
            if not chain and tag_ not in _NAMING and previous[1] not in _BEFORE_COMPANY and word[:1] not in _FAMILIAR:
                position += len(word)
                previous = (word, tag_)
                continue
            tag = "ns" if tag_ in ("nr", "n", "nz") and len(word) > 1 and word[-1] in _AREAS and chain else tag_
            if chain and (tag == "nt" or not (tag == "ns" or (len(word) == 1 and word in _AREAS) or _ending(word))):
                joined = "".join(chain)
                yield position - len(joined), joined, "organisation" if _ending(joined) else "place"
                chain = []
            if chain or (tag in ("ns", "nt") and len(word) > 1 and word not in self._not_chinese):
                chain.append(word)
            elif previous[1] in _BEFORE_COMPANY and (tag == "nt" or _ending(word)) and word not in previous[0]:
                yield position - len(previous[0]), previous[0] + word, "organisation"
            elif (tag in ("nr", "nrt") or word[:1] in ("小", "老")) and self._person(word, tag):
                yield position, word, "person"
            position += len(word)
            previous = (word, tag)

    def _tagged(self, text: str) -> Iterator[tuple[str, str]]:
        """Words and tags; a family name that the segmenter split off (王|秀英, 小|刘) is rejoined."""
        held = ("", "")
        # Split after words of kinship and role, or the segmenter reads 亲王 in 母亲王秀英.
        for word, tag in (pair for piece in _ROLE.split(text) if piece for pair in knowing().tag(piece)):
            if held[0]:
                # 冯|浩然: many given names are adjectives
                tags = ("nr", "ns", "a", "z") if held[1] in ("nr", "zg") else ("nr", "ns")
                given = held[0] != "小" and tag in tags and len(word) == 2 and word not in self._not_chinese
                if given or (held[0] == "小" and word in self._surnames):
                    yield held[0] + word, "nr"
                    held = ("", "")
                    continue
                yield held
                held = ("", "")
            if word == "小" or (tag in ("nr", "n", "zg") and word in self._surnames):
                held = (word, tag)
            else:
                yield word, tag
        if held[0]:
            yield held

    def _person(self, word: str, tag: str) -> bool:
        """The tagger reports too many names: Chinese ones need a family name, foreign ones the usual syllables."""
        if word in self._not_chinese or word[-1:] in _DISHES:
            return False
        if "·" in word or (tag == "nrt" and len(word) > 1 and self._syllables.issuperset(word)):
            return True
        if word[0] in "小老阿" and len(word) == 2:
            return word[1] in self._surnames or (word[0] != "老" and tag == "nr")
        return (len(word) in (2, 3) and word[0] in self._surnames and word[-1] not in _FUNCTION) or (
            len(word) in (3, 4) and word[:2] in self._surnames
        )


@lru_cache(maxsize=32_768)
def _ending(word: str) -> bool:
    return _ENDS.search(word) is not None
