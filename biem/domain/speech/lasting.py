"""Statements that stay true and useful: health, safety, identity, relationships and standing orders.

A message with one never expires; it can still be superseded, archived by hand or erased. Word lists in English and
Chinese decide; a sentence about a passing occasion ("my mother comes tomorrow") does not count.
"""

import re

from biem.domain.speech.acts import is_standing_order
from biem.domain.text import late

_LONGEST_READ = 10_000
"""Maximum characters of a message that are read."""
_SENTENCES = late(r"[^.!?。！？；;\n]+[.!?。！？；;]?")
_ASKED = late(r"[?？]\s*$|[吗呢么]\s*[。.]?$")

_KIN = (
    "wife|husband|partner|spouse|fianc[eé]e?|girlfriend|boyfriend|mother|father|mom|mum|dad|parents?|son|daughter|child"
    "|children|kids?|baby|brother|sister|siblings?|twin|grand(?:mother|father|ma|pa|son|daughter|parents)|aunt|uncle"
    "|cousin|niece|nephew|(?:mother|father|brother|sister)-in-law|godmother|godfather|best friend|roommate|boss|doctor"
    "|dentist|therapist|dog|cat|pet|puppy|kitten|horse|parrot|rabbit|hamster"
)
_KIN_ZH = (
    "老婆|妻子|太太|老公|丈夫|先生|爱人|对象|未婚妻|未婚夫|女朋友|男朋友|女友|男友|妈妈|母亲|爸爸|父亲|爸妈|父母|儿子"
    "|女儿|孩子"
    "|宝宝|哥哥|弟弟|姐姐|妹妹|爷爷|奶奶|外公|外婆|姥姥|姥爷|孙子|孙女|阿姨|姑姑|叔叔|舅舅|表[哥弟姐妹]|堂[哥弟姐妹]"
    "|侄[子女]"
    "|岳父|岳母|公公|婆婆|闺蜜|室友|上司|老板|医生|[狗猫]|宠物|鹦鹉|兔子|仓鼠"
)
_PASSING = late(
    r"\b(?:today|tonight|tomorrow|yesterday|this (?:morning|afternoon|evening|week|weekend|month)|next (?:week|month)"
    r"|(?:on )?(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b"
    r"|今[天晚早]|明[天早晚]|昨[天晚]|后天|这周|本周|下周|周末|这个月|下个月|[周星期][一二三四五六日天]",
    re.IGNORECASE,
)
_HEALTH = late(
    r"\ballerg(?:y|ies|ic)\b|\bintoleran(?:t|ce)\b|\b(?:asthma|diabet\w+|epilep\w+|c(?:o)?eliac|insulin|epipen"
    r"|anaphyla\w+"
    r"|arthritis|migraines?|hypertension|h[ae]emophili\w+|anemi[ac]|dyslexi[ac]|autis\w+|adhd|bipolar|pacemaker"
    r"|wheelchair|disabilit\w+|hearing aids?|colou?r[- ]?blind|pregnan\w+|chronic\w*|medications?|prescri\w+|blood type"
    r"|blood pressure|heart (?:condition|disease|attack)|kidney disease|cancer|phobia)\b"
    r"|\bafraid of\b|\b(?:i|he|she|we|they) (?:am|are|is|'m) (?:a )?(?:vegan|vegetarian|halal|kosher|deaf|blind"
    r"|diabetic)\b"
    r"|\b(?:i'm|he's|she's|we're|they're) (?:a )?(?:vegan|vegetarian|deaf|blind|diabetic)\b"
    r"|\b(?:can(?:no|')t|must not|mustn't|not allowed to) (?:eat|drink|have|take|tolerate)\b"
    r"|\bi take \d|\b\d+ ?mg\b"
    r"|过敏|不耐受|哮喘|糖尿病|癫痫|高血压|低血压|心脏病|血型|胰岛素|贫血|血友病|色盲|残疾|轮椅|助听器|怀孕|孕期|慢性"
    r"|偏头痛|关节炎"
    r"|抑郁|自闭|恐惧症|癌|肾病|[我他她]吃素|素食|清真|纯素|不能[吃喝碰服]|不可以[吃喝]|服用|吃药|处方",
    re.IGNORECASE,
)
_SAFETY = late(
    r"\bemergency (?:contact|number)\b|\bin (?:case of|an) emergency\b|\bdo not resuscitate\b|\bsafe word\b"
    r"|\bnever (?:let|give|leave|share|tell|mention)\b|紧急联系人|紧急情况|急救|安全词|千万(?:别|不要)|绝对不[能要]",
    re.IGNORECASE,
)
_IDENTITY = late(
    r"\bmy (?:(?:full|first|last|middle|real|maiden|nick)[ -]?)?name(?:'s| is)\b|\b(?:call me|i go by|i'm called"
    r"|i am called)\b"
    r"|\bbirthdays?\b|\bborn (?:on|in|at)\b|\banniversar\w+|\bmy pronouns\b|\bmy (?:native|first|mother) (?:language"
    r"|tongue)\b"
    r"|\bi(?:'m| am) (?:originally )?from\b|\bmy (?:nationality|citizenship|passport|hometown|religion|ethnicity"
    r"|gender)\b"
    r"|\bmy (?:phone|mobile|e-?mail|address|social security|insurance|account)\b[^.]{0,30}\b(?:is|are)\b"
    r"|\bi (?:live|moved|work|teach|study) (?:in|to|at|as|for|with)\b|\bmy (?:job|profession|employer|company"
    r"|title) is\b"
    r"|\bi(?:'m| am) (?:left|right)-handed\b|\bi(?:'m| am) (?:an? )?(?:[\w-]+ ){0,3}(?:engineer|teacher|nurse|doctor"
    r"|lawyer|student"
    r"|analyst|designer|manager|developer|writer|chef|cook|driver|farmer|baker|carpenter|accountant|scientist|pilot"
    r"|journalist|architect|electrician|mechanic|professor|researcher|consultant|musician|photographer)\b"
    r"|我(?:的名字|叫|姓)|叫我|生日|出生|纪念日|母语|我(?:是|来自).{1,12}人|籍贯|护照|身份证|国籍|信仰|左撇子"
    r"|我的?(?:电话|手机号?|邮箱|地址|住址|账号)|我.{0,4}(?:住在|搬到|搬去)|我在.{1,20}(?:上班|工作|任职|读书|上学|当)"
    r"|我是(?:一[名个位])?.{0,10}"
    r"(?:工程师|老师|教师|护士|医生|律师|学生|分析师|设计师|经理|程序员|作家|厨师|司机|会计|科学家|飞行员|记者|建筑师"
    r"|教授|研究员)",
    re.IGNORECASE,
)
_RELATIONSHIP = late(
    rf"\b(?:my|our|his|her)\s+(?:[\w-]+\s+){{0,2}}(?:{_KIN})\b(?:'s\b|\s+(?:is|are|was|has|have|lives?|works?|likes?"
    rf"|loves?"
    rf"|hates?|named?|called|[A-Z]\w+))"
    rf"|\b(?:i|we) (?:have|got|adopted)\s+(?:[\w-]+\s+){{1,3}}(?:{_KIN})s?\b|\b(?:is|was"
    rf"|'s)\s+my\s+(?:[\w-]+\s+){{0,2}}(?:{_KIN})\b"
    r"|\bi(?:'m| am) (?:married|engaged|divorced|widowed|single)\b|\b(?:got|get) (?:married|divorced|engaged)\b"
    rf"|我(?:们)?(?:家)?(?:的)?.{{0,3}}(?:{_KIN_ZH})(?:的|叫|是|在|住|姓|有|对|喜欢|不|今年|属)"
    rf"|我(?:们)?(?:家)?(?:有|养了?|领养了?).{{0,6}}(?:{_KIN_ZH})|是我(?:的)?(?:{_KIN_ZH})"
    r"|我(?:已经)?(?:结婚|离婚|订婚|单身|已婚|未婚)",
    re.IGNORECASE,
)


def is_lasting(text: str) -> bool:
    """Whether a message contains a statement that must not expire."""
    start = text[:_LONGEST_READ].replace("’", "'")
    return is_standing_order(start) or any(_lasts(sentence) for sentence in _SENTENCES.findall(start))


def _lasts(sentence: str) -> bool:
    if _ASKED.search(sentence):
        return False
    if _HEALTH.search(sentence) or _SAFETY.search(sentence) or _IDENTITY.search(sentence):
        return True
    return _RELATIONSHIP.search(sentence) is not None and _PASSING.search(sentence) is None
