"""Chinese clauses that name an ended value, or an action that has stopped: 白酒不喝了, 年卡过期了, 从骨科转到普外."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from biem.adapters.contradiction.lexicon import takeovers as words
from biem.adapters.contradiction.reading.reader import StatementReader
from biem.adapters.contradiction.statements.stretches import EMPTY

_LONGEST_OLDER, _LONGEST_CLAUSE = 60, 40
"""Maximum characters of a statement and a clause."""
_ASIDE = 6
"""Characters of a clause that only comments on another: 吸尘麻烦."""
CLAUSES = re.compile(r"[，。！？；：、,!?;:~…\s]+|(?<![0-9])\.(?![0-9])")
_ADVERB = (
    "(?:已经|早就|全部|全都|刚刚|终于|彻底|正式|直接|最近|前天|昨天|昨晚|昨儿|今天|今早|上周|上个?月|这周|这个?月|下周"
    "|月底|光荣|总算|突然|干脆|统统|我们|咱们|老板|医生|大夫|公司|学校|物业|老师|一起|自动|提前|不小心|挂闲鱼|居然"
    "|在[^，]{1,4}?上|在楼下|在路上|[都也就全又刚给让我咱她他先])*+"
)
_END = (
    "停了|停掉了?|停用了?|停办了?|停产了?|停售了?|停订了?|叫停了?|停更了?|退了|退掉了?|退租了?|退订了?|退货了?|退赛了?"
    "|退考了?|退出来?了?|退役了?|取消了?|撤了|撤掉了?|撤销了?|辞了|辞掉了?|卖了|卖掉了?|出掉了?|出手了?|清仓了?"
    "|清空了?|送人了?|送掉了?|拆了|拆掉了?|拆线了?|摘了|摘掉了?|关了|关掉了?|关停了?|倒闭了?|注销了?|解散了?|解约了?"
    "|作废了?|到期了?|过期了?|期满了?|黄了|泡汤了?|没了|没戏了?|报废了?|换掉了?|换了|戒了|戒掉了?|断了|扔了|扔掉了?"
    "|下线了?|弃用了?|淘汰了?|禁用了?|打消了?|放弃了?|算了|砍了|砍掉了?|卸了|卸载了?|卸掉了?|结束了?|完工了?|完了"
    "|[听看学追读]完了|[看吃听玩]腻了?|到此为止了?|还清了?|结清了?|枯死了?|死了|被?偷了?|搬走了?|不干了|凉了|吹了"
    "|告吹了?|终止了?|中止了?|失效了?|裁了|裁掉了?|改掉了?|废了|废除了?|停播了?|下架了?|下掉了?|撤回来?了?|散伙了?"
    "|散了|关张了?|退群了?|退会了?|收摊了?|毕业了?|退烧了|好了|痊愈了?"
)
_LEFT = (
    "卸任|离职|辞职|走人|休产假去?|调走|调去[^，]{1,6}|调[^，]{1,4}|升职|升了?|转正|回国|回老家|出国|跳槽|退下来|退休"
    "|走|离队|毕业|不干"
)
"""Of a person who no longer does what he did."""
_DONE = "[\u4e00-\u9fff]{1,3}?"
_WHO = "(?P<who>.{0,8}?)"
_SINCE = "(?!(?:[今明下这本周]|现在|星期|[\\d一二三四五六七八九十]+[月号])[^，]{0,4}[起开])"
_FORMER = "(?P<former>.{1,12}?)"
_TO = "(?:到|成|为|去|至|用|做|回|往|进|给|上|吃|喝|穿|骑|坐|走|住|学|练|了|网|换|投|跳)"


@dataclass(frozen=True, slots=True)
class _Frame:
    """A clause with a gap for the former value."""

    shape: re.Pattern[str]
    completed: bool = False
    """Tells of an event, maybe with its day: 石膏今天拆了."""
    moves: bool = False
    """One value takes the place of another, which ends no liking."""
    of_role: bool = False
    """Tells of a person, who may have another place in the older: only for what he is or does at work."""
    about_it: bool = False
    """Begins with the object of its denial: 白酒不喝了."""


_FRAMES = tuple(
    _Frame(re.compile(shape), **kinds)
    for shape, kinds in (
        (rf"^(?P<who>){_FORMER}{_ADVERB}(?:{_END})(?:[啦呢吧的]|哈哈)?$", {"completed": True}),
        (rf"^(?P<who>){_FORMER}{_ADVERB}(?:{_LEFT})了?$", {"completed": True, "of_role": True}),
        (rf"^(?P<who>){_FORMER}{_ADVERB}不(?:再|想|用|能|让)?{_DONE}(?:下去)?[了啦](?:吧)?$", {"about_it": True}),
        (
            rf"^{_WHO}{_ADVERB}(?:不再|不|别|不用再?|不想)(?P<former>[\u4e00-\u9fffA-Za-z0-9]{{1,10}}?)[了啦](?:吧)?$",
            {},
        ),
        (rf"^{_WHO}{_ADVERB}不(?:再|用|必)(?P<former>[\u4e00-\u9fffA-Za-z0-9]{{2,10}}?)[了啦]?$", {}),
        (
            rf"^{_WHO}{_ADVERB}[把将]{_FORMER}{_ADVERB}(?:{_END}|[换改][\u4e00-\u9fff]?成?.{{0,12}}|给了?.{{1,6}}"
            r"|[卖退停扔拆辞断撤删卸砍][了掉].{0,6})$",
            {"completed": True},
        ),
        (
            rf"^{_WHO}{_ADVERB}从{_SINCE}{_FORMER}(?:正式|直接|又|已经|全|都|给|一路)*"
            rf"(?:换|改|转|调|搬|升|降|跳|迁|切|挪|涨|掉|加|减|提|长|缩|延|推){_TO}?.{{1,14}}$",
            {"completed": True, "moves": True},
        ),
        (
            rf"^{_WHO}{_ADVERB}从{_SINCE}{_FORMER}(?:辞工|辞职|辞|离职|退出|退休|毕业|搬出来?|退下来|出来"
            rf"|搬走)(?:了.{{0,8}})?$",
            {"completed": True, "moves": True},
        ),
        (
            rf"^{_WHO}{_ADVERB}(?:换掉|戒了?|戒掉|辞了|辞掉|退了|退掉|停了|停掉|停用|卖了|卖掉|放弃|告别|退出|离开"
            rf"|辞去|关掉|卸了"
            rf"|注销|弃用|取消|退订|扔了|离职|卸任|告吹|解散|解约|砍掉|停订)了?{_FORMER}[了啦]?$",
            {"completed": True},
        ),
    )
)
_HYPOTHESIS = re.compile(
    "还没|没有?(?!了)|差点|打算|准备|想(?!通)|考虑|要不要|是不是|建议|可能|如果|要是|万一|等|快|马上|迟早|将来|以后再"
    "|本来要|曾|过年前|听说|据说|有人说|传言|才(?!能)|的是|一[只个条台位部][^了]{0,4}[死丢坏]"
)
"""It has not come about, is hearsay, or is of a part."""
_ONCE = re.compile(
    "(?:今天|今晚|今早|明天|明晚|后天|这次|这回|这周|本周|本月|[这上]个?月|这[周天][一二三四五六日天]?"
    "|周[一二三四五六日天末]|临时|偶尔|有时|一次)"
)
"""A time at which something does not take place, or since when it no longer does."""
_ELSEWHERE = re.compile("([\u4e00-\u9fff]{2,4}?)那[台个辆只张条把间部套块本家边]")
"""Says by its place which thing is meant."""
_OF_ONE_DAY = re.compile("(?:今|明|后天|这|本周|周|星期)")
_LONG_AGO = re.compile(
    r"[几\d一二两三四五六七八九十]年前|前年|去年|那年|当年|小时候|年轻时|[零〇一二三四五六七八九\d]{2}年(?!级)|刚毕业"
)
_ASKS = frozenset("?？")
_RENEWED = re.compile("又(?![不没])|(?<![没不未])续|重新|恢复|接着|照旧|照常|正常")
"""It goes on."""
_MOVED_ME = re.compile("^[^，我]{1,4}[把让给叫]我们?(?=从|不)")
_ROLE = re.compile("[是由归]|[带教管]|负责|接[送手管]|对接|实习|上班|工作|当|做|姓|班主任|找|来")
_LIKES = re.compile("爱(?!人)|喜欢|讨厌")
_SEVERAL = re.compile("、|[和与]|以及|还有")
_NOW_ON = re.compile("起|开始|以后|今后")
_LEAD = re.compile(
    r"^(?:我们?|咱们?|之前|原来|以前|原先|那个?|这个?|那家|那边|这边|那台|那条|那件|那只|那盆|那门|那份|的|家里|家"
    r"|现在|今天|昨天|昨晚|上周|这周|终于|已经|最近|刚刚?|都|后来|决定|彻底|总算|以后|今后|就|也|又|在|是|从|跟|和|给"
    r"|用|再|啊|嗯|哦|唉|好消息|通知下来|老板|医生|大夫|公司|学校|物业|老师|把|所以|结果|反正|干脆)++"
)
"""Before the name of a thing."""
_TAIL = re.compile(
    "(?:那个|那家|那边|这边|那台|的事|的|了|我们|我|现在|已经|这|那|事儿?|号|念头|想法|计划|打算|课|合同|会员|票|行程"
    "|活动|预约|订单|里的?|那份|上|去)++$"
)
"""After the name of a thing."""
_ARRANGED = re.compile(
    "^(?:事儿?|号|念头|想法|计划|打算|课|课程|合同|会员|票|机票|车票|行程|活动|预约|订单|年卡|账号|项目|酒店|房子|职务"
    "|工作|班)$"
)
_NAMES_NOTHING = (EMPTY - {"点"}) | frozenset("做当打吃喝住开坐走")
"""Characters that alone name nothing, with verbs; 点 may be a point: 列点."""
_KIN = re.compile(
    "老婆|老公|爱人|先生|太太|儿子|女儿|闺女|对象|[男女]朋友|同事|邻居|室友|舍友|朋友|同学(?!聚会|会|群)|孩子|闺蜜"
    "|哥们|兄弟|老[大二三四五幺]|徒弟|学生|队友|球友|师[兄弟姐妹]|客户|老乡|老人|[表堂]?[哥姐弟妹](?!夫妻)"
    "|[爸妈爹娘爷奶舅叔姑姨婶伯]|外[公婆]|公公|婆婆|[岳侄甥孙媳嫂]|隔壁|对门|楼[上下]|别人|人家|他们|她们"
)
"""Relatives and others."""
_PRONOUN = re.compile("(?:^|[\\s，。,])[他她](?!们)|老爷子|老太太|老人家|孩子|小家伙")
_OF_SPEAKER = ("我们", "我在", "我用", "我跟", "我和", "我给")
"""Beginnings of statements about the speaker that may name others."""
_LEAST = 2
"""Minimum characters of a former value."""
_ALLOWED = re.compile("老[师板]|医生|大夫|公司|学校|物业|家里|大家")


class ChineseEndings:
    """Finds the clauses that name something of an older statement as ended. Thread-safe."""

    def __init__(self, reader: StatementReader) -> None:
        self._tagged = reader.tagged

    def of(self, older: str, newer: str) -> Iterator[tuple[str, str]]:
        """The clauses of the newer that may end what the older tells, each with the clause of the older."""
        if len(older) > _LONGEST_OLDER or _LONG_AGO.search(newer):
            return
        told = [one for one in CLAUSES.split(older) if one]
        if _SEVERAL.search(older) or any(words.ONCE.search(one) for one in told):
            return
        before = ""
        for clause in filter(None, CLAUSES.split(newer)):
            after = newer.partition(clause)[2]
            if len(clause) <= _LONGEST_CLAUSE and not (_RENEWED.search(after) or after[:1] in _ASKS):
                for place, claim in enumerate(told):
                    if self._ends(clause, before, claim, older):
                        others = [one for n, one in enumerate(told) if n != place]
                        yield clause, claim if any(map(_is_claim, others)) else ""
                        break
            before = f"{before} {clause}"

    def _ends(self, clause: str, before: str, claim: str, older: str) -> bool:
        if _HYPOTHESIS.search(clause):
            return False
        clause = _MOVED_ME.sub("我", clause)
        for frame in _FRAMES:
            found = frame.shape.match(clause)
            if found is None or (_ONCE.search(clause) and not _is_lasting(clause, older, dated=frame.completed)):
                continue
            if self._is_about(frame, found, before, claim, older):
                return True
        return False

    def _is_about(self, frame: _Frame, found: re.Match[str], before: str, claim: str, older: str) -> bool:
        """Whether the former value and who is spoken of are those of the older."""
        gap, said = found["former"], f"{before} {found['who']} {found['former']}"
        places = _ELSEWHERE.findall(f"{before} {gap}")
        if frame.of_role and _ROLE.search(claim) is None:
            return False
        if (places and not any(one in older for one in places)) or (frame.moves and _LIKES.search(claim)):
            return False
        former = self._named(gap, older)
        if former is None or sum(map(len, former)) < _LEAST or not all(one in claim for one in former):
            return False
        begins = _LEAD.match(claim)
        if frame.about_it and (_KIN.search(gap) or claim.find(former[0]) <= (begins.end() if begins else 0)):
            return False
        who = _LEAD.sub("", found["who"])
        return (not who or who in older) and _is_of_its_people(found, said, claim, older)

    def _named(self, text: str, older: str) -> list[str] | None:
        """The words of a former value; None if the older lacks one."""
        text = _TAIL.sub("", _LEAD.sub("", text))
        if len(text) > 1 and text in older and not _NAMES_NOTHING.issuperset(text):
            return [text]
        if any(map(str.isdigit, text)):
            return None  # part of a number is in many numbers
        named: list[str] = []
        for word, tag in self._tagged(text) if text else ():
            if word in older and not (len(word) == 1 and word in _NAMES_NOTHING):
                named.append(word)
            elif all(one in _NAMES_NOTHING for one in word) or _ARRANGED.match(word) or tag[:1] in "ucpxy":
                continue
            elif len(word) == 2 and all(one in older for one in word):
                named += word
            else:
                return None
        return named


def _is_of_its_people(found: re.Match[str], said: str, claim: str, older: str) -> bool:
    """Whether the clause, and the words before the former value, name only people of the older."""
    people = set(_KIN.findall(_ALLOWED.sub("", said)))
    if not all(one in older for one in people):
        return False
    of_others = _KIN.search(_ALLOWED.sub("", claim)) is not None
    if of_others and not (people or _PRONOUN.search(f"{said} {found.string}") or claim.startswith(_OF_SPEAKER)):
        return False
    return of_others or not (_PRONOUN.search(found["who"]) and claim.startswith("我"))


def _is_claim(text: str) -> bool:
    """Whether another clause of the older may tell something that holds on."""
    return len(text) > _ASIDE or any(map(str.isdigit, text))


def _is_lasting(clause: str, older: str, *, dated: bool) -> bool:
    """Whether a time in a clause is that of the older, or tells since when. `dated`: it may tell when it ended."""
    if _NOW_ON.search(clause) or any(one in older for one in _ONCE.findall(clause)):
        return True
    return dated and _OF_ONE_DAY.match(clause) is None
