"""Where or when a Chinese statement holds, where it begins with that: 家里的…, 公司…; 早上…, 冬天…."""

import re

_PLACES = (
    "家 家里 我家 家中", "老家", "公司 单位 公司里 单位里 办公室", "学校 校内 学校里", "宿舍", "店 店里 门店",
    "厂 厂里", "工地", "医院", "图书馆", "车间", "仓库", "楼上", "楼下", "客厅", "卧室", "主卧", "次卧", "厨房",
    "书房", "阳台", "卫生间",
)  # fmt: skip
_TIMES = (
    "早上 早晨 早饭 早餐", "上午", "中午 午饭 午餐", "下午", "晚上 晚饭 晚餐 夜里", "工作日 平时", "周末",
    "春天", "夏天", "秋天", "冬天", "白班 白天", "夜班",
)  # fmt: skip
_GROUP = {word: line.split()[0] for line in (*_PLACES, *_TIMES) for word in line.split()}
_ANY = "|".join(sorted(_GROUP, key=len, reverse=True))
_OF_TIMES = frozenset(line.split()[0] for line in _TIMES)
_CHANGES = "改|换|调|变|转|挪|搬|迁"
_BEGINS = re.compile(
    rf"(?:^|(?<=[，。；]))(?:我们?|咱们?)?(?:的|在|把)?(?P<said>{_ANY})(?![把给让说要规通]|[{_CHANGES}]*时间)"
)
"""The first words, unless they tell who acts: 公司把…."""
_MOVES = re.compile(rf"^(?:我们?|咱们?)?(?P<said>公司|单位|学校|老家|店|厂)(?:要|已经|又|都)?(?:[{_CHANGES}])")
_LIVES = re.compile(r"^我(?:现在|目前|平时|一直)?(?:住|租)")
_CHANGE = re.compile(rf"[{_CHANGES}]")


def are_of_other_settings(older: str, newer: str) -> bool:
    """Whether a change is of another place or time than the older: 公司WiFi密码改成…, after 家里的WiFi密码是…."""
    change = _CHANGE.search(newer)
    if change is None:
        return False
    moved = _MOVES.match(newer)
    if moved is not None and _LIVES.match(older):
        return moved["said"] not in older
    one, other = _BEGINS.search(older), _BEGINS.search(newer)
    if one is None or other is None or other.start() > change.start():
        return False
    was, now = _GROUP[one["said"]], _GROUP[other["said"]]
    if was == now or (was in _OF_TIMES) != (now in _OF_TIMES):
        return False
    return not (_names(newer, was) or _names(older, now))


def _names(text: str, group: str) -> bool:
    return any(word in text for word, of in _GROUP.items() if of == group)
