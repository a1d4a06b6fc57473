"""Patterns of phrases that state one value, in both languages; `slots` uses them in addition to its own."""

import re

from biem.adapters.contradiction.statements.number_kinds import SMALL

PRONOUNS = re.compile(r"(?:I|we|he|she|they|you|it|我们?|你们?|他们?|她们?|咱们?|我自己)$", re.IGNORECASE)
ANAPHOR = re.compile(r"^(?:其|它们?|他们?|她们?|(?:he|she|it|they|his|her|its|their)\b)", re.IGNORECASE)
TOPIC = re.compile(
    r"^(?P<topic>(?:[Mm]y|[Tt]he|[Oo]ur)\s[\w' -]{2,40}?|[A-Z]\w+(?:\s[A-Z]\w+)?|"
    r"(?:我的?|我们的?)?[\u4e00-\u9fff·]{2,16}?)"
    r"(?:\s(?:is|was|are|has|had|got|just|moved|started)\b|是|有|住|在)"
    r"|^(?P<topic2>我将?要?[\u4e00-\u9fff]{2,24})$"
)
"""Subject of a clause; `topic2` is a Chinese topic to which the next clause refers with 它."""
OWNER = re.compile(
    r"^(?P<owner>my|his|her|our|their|your|the|我们?|你们?|他们?|她们?)[ 的]?的?(?P<rest>.*)$", re.IGNORECASE
)
TRIM = re.compile(
    r"^(?:an?|the|now|currently|new|still|actually|at|on|in|around|about)\s+|\s+(?:now|city|area)$"
    r"|(?<=[\u4e00-\u9fff]{2})[市省县区]$|^[是在]|[了的啊呀哦呢吧哈]+$|^(?:现在|目前|今年)"
)
VAGUE = re.compile(
    r"^(?:什么|哪|谁|这|那|多少|几$|一个|一起|家$|家里|外面|外地|里面|上班|工作|学习|睡|床上|路上|公司|单位|学校|同|本地|有|不|没|很|自己|"
    r"网上|读书|吃|等|看|玩|做|想|准备|线上|忙|找|听|打|写|上课|办公|努力|减肥|休息|开车|考虑|聊|好|对|人|坏|普通|一般|正常|名|早上|上午|中午|下午|晚上|夜里|白天|周末)"
    r"|的(?!.)|[我你他她]"
    r"|^(?:here|there|it|this|that|what|where|who|home|very|so|not|going|one|a lot|my|your|good|great|fine|important|"
    r"interesting|nice|bad|night|noon|work|weekends?|really|too|all|always|never|the same)\b",
    re.IGNORECASE,
)
"""Too vague to differ from another value."""
HOUSED = re.compile(
    r"(?:an?|the|my|our|his|her|their)\s+[a-z]|(?:constant\s)?(?:fear|peace|hope|harmony|poverty|luxury)\b"
)
"""Manner of living, not a place: in a small flat, in fear."""
OCLOCK = re.compile(r"\sat\s(1?\d|2[0-3])$")
"""A bare hour."""
AND_I = re.compile(r"\s+and\s+(?=(?:I|we|he|she|they)\s)")
"""Between two statements without a comma."""
_CHANGED = (
    r"(?P<changed>(?:was |has been |got |is now |has |have )?(?:moved|postponed|rescheduled|changed|pushed|delayed|"
    r"shifted|brought|cut|reset|slashed|increased|raised|lowered|reduced|updated|escalated|switched|renamed|went up|"
    r"dropped)"
    r"(?:\s(?:back|forward|up|down|over))*\s(?:to|until|till))"
)
DEFINITE = re.compile(
    r"^(?:(?:so|well|and|actually|now|update|correction|hey|by the way|also)[,:]?\s+)*"
    r"(?P<np>(?:(?:the|my|his|her|our|their|this)\s|[A-Z])[\w'’ -]{1,50}?)\s"
    rf"(?P<verb>is|are|costs?|weighs?|starts?|begins?|opens?|closes?|ends?|expires?|lasts?|takes?|{_CHANGED})\s(?P<not>not\s)?"
    r"(?:(?:now|due|scheduled|set|held|currently|still|planned|up)\s)*"
    r"(?:(?:in|on|at|for|by|from|under|inside|behind)\s)?"
    r"(?P<value>(?:[^,;.!?]|\.(?=\S))+?)(?:\s(?:now|instead|today|this year))*"
    r"(?:,\s(?:[A-Z]\w+\s[a-z]|(?:and|but|so|since|because|as|which|who|not|he|she|it|they|we|the|my)\b).*)?$",
    re.IGNORECASE,
)
"""The NP is VALUE."""
_CHANGED_ZH = (
    "(?P<changed>(?:已经|被|现在)?(?:改到|改成|改为|改在|推迟到|提前到|延期到|延误到|延后到|砍到|减到|压到|加到|升到|缩到|调到|涨到|降到|挪到|换成|换到|搬到|移到|变成|升级到|升级为|"
    "更新为|调整为)了?)"
)
DEFINITE_ZH = re.compile(
    rf"^(?P<np>[\u4e00-\u9fffA-Za-z0-9]{{2,16}}?)(?P<verb>{_CHANGED_ZH}|(?P<not>不)?(?:现在)?"
    r"(?:是在|定在|定为|安排在|放在|是|在|为|卖|要|有|每个?[月年天周]|一个?[月年]|(?=\d[\d.]*[万千百]?[元块])))(?:了)?"
    r"(?P<value>[\u4e00-\u9fffA-Za-z0-9:： .,%-]{1,20}?)(?:了|的|啊|呀)*$"
)
ALTERED = re.compile(
    r"^(?:(?:so|well|and|actually|update|fyi)[,:]?\s+)*(?:I|[Ww]e|he|she|they|[A-Z]\w+)(?:\shave|\shas|'ve)?\s(?:just\s)?"
    r"(?P<changed>changed|updated|reset|renamed|switched|migrated|moved)\s"
    r"(?P<np>(?:my|the|our|his|her|their)\s[\w' -]{2,40}?)\s"
    r"(?:from\s[^,;.!?]+?\s)?to\s(?P<value>[^,;.!?]{1,40}?)(?:\s(?:now|today|yesterday|last\s\w+))?$"
)
"""A person changed NP to VALUE."""
HOLDER = re.compile(
    r"^(?P<value>[A-Z][\w.-]+(?:\s[A-Z][\w.-]+)?)\sis\s(?P<not>not\s)?(?:now\s)?(?P<owner>the|my|our)\s(?:new\s|current\s)?"
    r"(?P<noun>\w+)(?:\s(?:on|of|for|at)\s(?P<np>[\w ]{2,40}))?$"
)
"""NAME is the OFFICE of NP."""
RENEWED = re.compile(r"\bnew\s|新的?(?=[\u4e00-\u9fff]{2})")
"""Before a single-valued noun."""
NOW = re.compile(r"\bnow\b")
NAME = re.compile(r"^(?:[A-Z][\w.'-]+)(?:\s(?:[A-Z][\w.'-]+|of|the|de))*$|^[A-Z0-9][A-Z0-9-]*\d[A-Z0-9-]*$")
LOCATED = re.compile(
    r"\s(?:is|are)\s(?:not\s)?(?:now\s|still\s)?(?:in|on|at|under|inside|behind|near)\s"
    r"(?!love|time|a (?:hurry|bad|good)|fact)",
    re.IGNORECASE,
)
PLACE_ZH = re.compile(r"(?:里|上|下|旁边|后面|前面|抽屉|桌|柜|楼|室|房|厅|包|箱)$")
INTRODUCED = re.compile(r"[一二两三四五六七八九十几有了][个只条位名头匹道部本家款种首座门台辆套]")
"""一只猫: introduces a person or thing."""
IS_ZH = re.compile(r"(?P<np>[\u4e00-\u9fff]{2,8}?)(?<![我俺])(?:就?是|叫|姓)(?!的)[\u4e00-\u9fff]")
"""Whom the next clause is about, if it names no subject: 房东是秦阿姨，住楼上."""
ENDS = re.compile(r"closes?|ends?|expires?", re.IGNORECASE)
COUNT = re.compile(
    r"^(?:(?:yes|well|and|so)[, ]+)?(?P<who>I|we|he|she|they|(?:[Mm]y|[Oo]ur|[Tt]he) \w+|[A-Z]\w+)\s"
    rf"(?:now |only |also |still )?(?:have|has)\s(?:got\s)?(?P<value>\d{{1,6}}|{'|'.join(SMALL)})\s"
    r"(?P<what>[a-z]+)(?:\s(?:now|in total))?$"
)
COUNT_ZH = re.compile(
    r"^(?P<who>我们?家?|他们?|她们?|你|(?:我们?|他们?)?(?!.?[今明昨前后上下每这那本周])[\u4e00-\u9fff]{2,5}?)?(?:现在|已经|也|就|只|家里?|都)*(?:有|养了)"
    r"(?P<value>(?:\d{1,6}|[一二两三四五六七八九十百千万]{1,5})[个只条位辆套名人家台])(?P<what>[\u4e00-\u9fff]{1,4}?)(?:了|啊|呢|呀)*$"
)
