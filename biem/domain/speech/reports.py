"""Reports of what an agent has done: "Booked: table for six", "Done, it is 40 s now", 已改成线上。

Of an assistant that acts, such a message is the only record of a result.
"""

import re

from biem.domain.speech.acts import ASKS
from biem.domain.text import late

_READ = 200
"""Maximum characters in which a report is looked for."""
_NOT_DONE = (
    "noted|got it|saved|recorded|stored|remembered|understood|learned|loved|enjoyed|liked|agreed|assumed|wondered"
    "|mentioned|heard|noticed|added (?:that|this|it)|updated (?:my|your|the) (?:notes?|records?|memory|profile)|need"
    "|indeed|interested|excited|delighted|pleased|impressed|thrilled|tried|looked|listened|planned|wanted|hoped|based"
    "|related|compared"
)
"""Participles of an assistant that has changed nothing outside."""
_DONE = "sent|made(?! a note)|built|ran|got|took|wrote|chose|found|bought|rebuilt|undid|drew|brought"
_DOES = f"{_DONE}|set|put|cut|split|reset"
"""Forms of the past without -ed; the last ones would be imperatives at the beginning of a sentence."""
_BY_IT = "set|booked|reserved|scheduled|moved|changed|ordered|sent|created|added|removed|deleted|cancell?ed|updated"
_BY_IT += "|fixed|merged|deployed|restarted|renamed|uploaded|confirmed|failed"
_HAN_DOES = (
    "改|换|订|约|设|调|预[订约]|安排|取消|下单|提交|发[送出给]|部署|合并|删除|添加|创建|重启|更新|修复|恢复|完成"
)
_HAN_NOT_DONE = "很|够|太|非常|记|存|保存|收到|了解|知道|明白|听|看到|想|感|更新(?:[你您]的)?(?:记录|信息|资料|档案)"
_REPORT = late(
    r"(?:^|[.!;,:]\s+|\b(?:so|and|then)\s+)"
    r"(?:(?:done|all (?:set|done)|(?:i|we)(?:'ve| have)?(?: (?:just|now|already|also|instead))*)\b\W*)++"
    rf"(?!(?:{_NOT_DONE})\b)(?:[a-z]{{2,}}ed|{_DOES})\b"
    rf"|^\W*(?!(?:{_NOT_DONE})\b)(?:[a-z]{{2,}}ed|{_DONE})\b(?!,? (?:by|with|in) )"
    r"|^\W*done\b\W*\w"
    rf"|^\W*(?!i\b|you\b)(?:[\w'-]+ ){{1,3}}(?:{_BY_IT})(?=[.,:;!]|$| (?:for|to|at|on|from)\b)"
    r"|^(?!.*\byou(?:rs?)?\b)(?=.*\d).*(?:\b(?:is|are|runs|points|goes) (?:now|back)\b|\bnow[.!]*\s*$)"
    rf"|(?:已经|已(?!经)|[帮为给替][你您])(?:成功)?(?!{_HAN_NOT_DONE})"
    rf"(?:[\u4e00-\u9fff]{{1,4}}(?:[了好成到为在完至]|[:：])|{_HAN_DOES})"
    r"|(?:^|[，,。！!；;])我(?:已经?|刚刚?)?(?:把[^，,。]{1,20})?"
    r"[改换订设调约选买发建删加移搬](?!变主意)[\u4e00-\u9fff]{0,2}[了成到]"
    rf"|^\W*(?:好的?[，,])?(?:[改订删加发约买建修装关设移]|清[理空]|重启|安装|上传|下载|回滚)了(?=[\u4e00-\u9fff])"
    r"|(?:改|换|订|设置?|调|约|安排|办|弄|发|建|删|修|装|配)(?:好|完|妥)了?(?=$|[，,。！!])",
    re.IGNORECASE,
)
_KNOWS_NOT = late(
    r"\b(?:(?:do|did|could|can)(?:n't| not)|cannot) (?:know|have|find|see|tell)\b|\bno (?:record|information|idea)\b"
    r"|\bnot sure\b|不知道|不清楚|没有?(?:记录|找到|查到|相关)|不确定",
    re.IGNORECASE,
)


def is_report(text: str) -> bool:
    """Whether a message says what its speaker has done, or how something stands after it; no question does."""
    said = text[:_READ].replace("’", "'")
    return _REPORT.search(said) is not None and ASKS.search(said) is None


def knows_nothing(text: str) -> bool:
    """Whether a message says that its speaker does not know: it answers no question."""
    return _KNOWS_NOT.search(text[:_READ].replace("’", "'")) is not None
