"""Chinese clauses that tell the opposite state, or the new name, of the thing of an older statement."""

import re

from biem.adapters.contradiction.statements.likeness import share_characters

_NO_THING = re.compile(
    "我们|现在|已经|还没|今天|昨天|终于|一直|可以|不能|不让|开始|公司|最近|起来|下来|这个|那个|有点|一个|一次|自己"
    "|以后|之前"
)


def _state(was: str, now: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    return re.compile(was), re.compile(now)


_OPPOSITES = (
    _state(
        "坏(?!处|人)|故障|罢工|趴窝|漏水|堵着?|卡纸|用不了|转不了|一直是?红|挂了|停机",
        "修好|恢复|能用了|不[卡漏堵]了|正常了|绿了|通了|转了一|正常出",
    ),
    _state(
        "还没|没[^，]{0,6}下来|在等|等着|还在[办审等]|待[审批发]|还差",
        "拿到|到手|下来了|到了|签了|[过批办]了|[办批]好|录用|凑齐|齐了|付了|到账|出手",
    ),
    _state("单身|单着|没对象|没结婚", "领证|结婚|脱单|有对象|在一起了"),
    _state("住院|ICU|病房", "出院"),
    _state("怀孕|怀着|预产期|挺着肚子|还没孩子|没生", "生了"),
    _state("装修|施工|修路|封路", "完工|[装修]完|通车|通了"),
    _state("出差|外地|休假|请假|产假|国外", "回来了|销假|复工|回去上班"),
    _state("肿|扭了?|骨折|发烧|感冒|咳嗽|拄拐|腰突", "消肿|好利索|退烧|痊愈|不疼了|缓过来|全好了"),
    _state(
        "不让|不允许|不许|禁止|不能|不同意|不支持|不准",
        "允许|可以[^，]{1,12}了?|能[^，]{1,8}了|同意|开通|松口|点头|放开",
    ),
    _state(
        "受不了|讨厌|不吃|不喜欢|不爱|从不|从来不|不信|一点[^，]{1,4}都不",
        "爱上|上瘾|迷上|喜欢上|离不开|开始吃|挺爱|真香|能吃了",
    ),
)
"""States of which the second ends the first."""
_NAMED = re.compile("叫|名字?[是叫为]|名[是为]|ID是|起名")
_RENAMED = re.compile(
    "^(?P<who>[^，]{0,10}?)(?:改名|改叫|换名|更名|改成|现在叫|以后叫|起了个|叫)(?:叫|成|为|了"
    '|是)*[“"「]?(?P<name>[^”"」，。了]{1,12})'
)
_NOT_CALLED = re.compile('不叫[“"]?(?P<name>[^，。了”"]{1,8})')
_OTHERS = re.compile("邻居|隔壁|对门|同事|别家|人家")
_KINDS = re.compile("[群店猫狗鸟鱼号队社组团馆班]")
_FORMER = re.compile(r"从\s?(?P<name>[^，]{1,12}?)\s?[改换]")
_NEWLY = re.compile("改名|改叫|换招牌|[群店班网]名|名字|更名|不叫|改 ?ID|招牌|重新起|名儿")
_FILL = re.compile(
    "(?:现在|以后|全家|都|把|给|的|了|也|就|我们?|我[妈爸]|女儿|儿子|闺女|老公|老婆|孩子|群主|护士长|老板|公司|它"
    '|统一|[，。“”"\\s])+'
)


def reverses(older: str, clause: str, before: str) -> bool:
    """Whether a clause tells of the thing or person of the older that the opposite holds now."""
    for was, now in _OPPOSITES:
        had, told = was.search(older), now.search(clause)
        if had is None or told is None or now.search(older) or was.search(clause[: told.start()]):
            continue
        thing = _NO_THING.sub(" ", older[: had.start()] + older[had.end() :])
        if share_characters(thing, f"{clause[: told.start()]} {clause[told.end() :]}") or share_characters(
            thing, before
        ):
            return True
    return False


def renames(older: str, clause: str, newer: str) -> bool:
    """Whether a clause tells that the thing of the older, which tells its name, has another one."""
    if not may_rename(older, newer):
        return False
    former = _FORMER.search(newer)
    if former is not None and former["name"] not in older:
        return False
    denied = _NOT_CALLED.search(newer)
    if (denied is not None and denied["name"] not in older) or any(one not in older for one in _OTHERS.findall(newer)):
        return False
    found = _RENAMED.match(clause)
    if found is None or found["name"] in older:
        return False
    who = _FILL.sub("", found["who"])
    named = share_characters(older, newer) or any(one in newer for one in _KINDS.findall(older))
    return named and all(one in older for one in who)


def may_rename(older: str, newer: str) -> bool:
    """Cheap check whether `renames` may be true."""
    return _NAMED.search(older) is not None and _NEWLY.search(newer) is not None
