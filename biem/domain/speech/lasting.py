"""Statements that stay true and useful: health, safety, identity, relationships and standing orders.

A message with one never expires; it can still be superseded, archived by hand or erased. Word lists in English and
Chinese decide; a sentence about a passing occasion ("my mother comes tomorrow") does not count. No list has all
illnesses, trades and names: what tells a state of the user ("I only have one kidney") is recognised by its form.
"""

import re

from biem.domain.speech.acts import is_standing_order, is_statement, with_spaces
from biem.domain.speech.timeless import is_timeless
from biem.domain.text import late

_LONGEST_READ = 10_000
"""Maximum characters of a message that are read."""
_SENTENCES = late(r"[^.!?。！？；;\n]+[.!?。！？；;]?")
_ASKED = late(r"[?？]\s*$|[吗呢么]\s*[。.]?$")

_KIN = (
    "wife|husband|partner|spouse|fianc[eé]e?|girlfriend|boyfriend|mother|father|mom|mum|dad|parents?|son|daughter"
    "|child"
    "|children|kids?|baby|brother|sister|siblings?|twin|grand(?:mother|father|ma|pa|son|daughter|parents)|aunt"
    "|uncle"
    "|cousin|niece|nephew|(?:mother|father|brother|sister)-in-law|godmother|godfather|best friend|roommate|boss"
    "|doctor|dentist|therapist|dog|cat|pet|puppy|kitten|horse|parrot|rabbit|hamster"
)
_KIN_ZH = (
    "老婆|妻子|太太|老公|丈夫|先生|爱人|对象|未婚妻|未婚夫|女朋友|男朋友|女友|男友|妈妈|母亲|爸爸|父亲|爸妈|父母"
    "|儿子|女儿|孩子|宝宝|哥哥|弟弟|姐姐|妹妹|爷爷|奶奶|外公|外婆|姥姥|姥爷|孙子|孙女|阿姨|姑姑|叔叔|舅舅"
    "|表[哥弟姐妹]|堂[哥弟姐妹]|侄[子女]|岳父|岳母|公公|婆婆|闺蜜|室友|上司|老板|医生|[狗猫]|宠物|鹦鹉|兔子|仓鼠"
)
_PASSING = late(
    r"\b(?:today|tonight|tomorrow|yesterday|this (?:morning|afternoon|evening|week|weekend|month)|next (?:week"
    r"|month)|(?:on )?(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b"
    r"|今[天晚早]|明[天早晚]|昨[天晚]|后天|这周|本周|下周|周末|这个月|下个月|[周星期][一二三四五六日天]",
    re.IGNORECASE,
)
_HEALTH = late(
    r"\ballerg(?:y|ies|ic)\b|\bintoleran(?:t|ce)\b|\b(?:asthma|diabet\w+|epilep\w+|c(?:o)?eliac|insulin|epipen"
    r"|anaphyla\w+|arthritis|migraines?|hypertension|h[ae]emophili\w+|anemi[ac]|dyslexi[ac]|autis\w+|adhd|bipolar"
    r"|pacemaker"
    r"|wheelchair|disabilit\w+|hearing aids?|colou?r[- ]?blind|pregnan\w+|chronic\w*|medications?|prescri\w+"
    r"|blood type"
    r"|blood pressure|heart (?:condition|disease|attack)|kidney disease|cancer|phobia)\b"
    r"|\bafraid of\b|\b(?:i|he|she|we|they) (?:am|are|is|'m) (?:a )?(?:vegan|vegetarian|halal|kosher|deaf|blind"
    r"|diabetic)\b"
    r"|\b(?:i'm|he's|she's|we're|they're) (?:a )?(?:vegan|vegetarian|deaf|blind|diabetic)\b"
    r"|\b(?:can(?:no|')t|must not|mustn't|not allowed to) (?:eat|drink|have|take|tolerate)\b"
    r"|\bi take \d|\b\d+ ?mg\b|\bdiagnosed\b|\b(?:put|puts|keeps?|started) (?:me|him|her|us) on (?!hold"
    r"|the (?:list|team))|\b(?:syndrome|disease|disorder|parkinson|alzheimer|crohn|tourette|lupus|stroke|seizures?"
    r"|ulcers?|hernia|tumou?r"
    r"|concussion|hiv|copd|ibs|pcos|psoriasis|eczema|hives|rash|vertigo|insomnia|ptsd|ocd|dementia|sober"
    r"|alcoholi\w+"
    r"|addict\w*|cpap|prosthe\w+|catheter|dialysis|chemo\w*|transplant|implant|vaccin\w+|antibiotics?"
    r"|antihistamines?"
    r"|antidepressants?|beta[- ]blockers?|blood thinners?|painkillers?|inhaler|aspirin|lithium|morphine|steroids?"
    r"|surgery|deaf|blind(?! date| spot)|hard of hearing|expecting a (?:baby|child|boy|girl)|due date|blood group"
    r"|faint"
    r"|(?:break|breaks|breaking) out in|pass out|black out|throw up|can't breathe|for religious reasons)\b"
    r"|\b(?:had|have|has) (?:\w+ ){1,3}(?:removed|transplanted|amputated|replaced)\b"
    r"|\b(?:sends?|puts?|lands?) (?:me|him|her|us) (?:in|to|into) (?:the )?(?:hospital|er|a&e)\b"
    r"|\b(?:throat|airways?|tongue|lips|skin|stomach|chest|face|eyes) (?:\w+ )?(?:swells?|itch\w*|hurts?|burns?"
    r"|close[sd]?|tightens?|cramps?|bleeds?)\b"
    r"|\b[a-z]{3,}(?:itis|osis|[ae]emia|algia|opathy|plegia|phobic|cillin|mycin|statin|sartan|prazole|azepam"
    r"|azolam|oxetine|triptan|profen|dipine|thyroxine|formin|caine|parin|farin)\b"
    r"|(?:西林|霉素|他汀|沙坦|洛尔|普利|拉唑|西泮|唑仑|西汀|地平|洛芬|可的松|双胍|法林|[克尔]乐克|锂盐|激素"
    r"|肾上腺素|阿司匹林)|[\u4e00-\u9fff](?:[^炎\W]炎(?![热夏黄])|综合征|溃疡|硬化|结石|梗[塞死]|衰竭|障碍)|荨麻疹"
    r"|湿疹|[起出](?:疹|荨麻)|疹子|帕金森|老年痴呆|中过?风|休克|抽搐|晕[倒厥过]|一.{1,6}就.{0,3}(?:晕|吐|拉|疼|痛"
    r"|痒|肿|起)|失[明聪]|[耳眼].{0,4}(?:聋|瞎|看不|听不)|[分看听]不[清见到]|喘不|窒息|[嗓喉嘴脸眼](?:.{0,4})肿"
    r"|戒[酒烟毒]|滴酒不沾|[我他她们家]不[吃喝]|[吃喝]不了|开不了车|[吃喝碰].{0,3}了?.{0,4}(?:[绞疼痛]痛?|吐|拉肚"
    r"|肿|痒|晕)|摘[除了掉].{0,3}(?:肾|胆|脾|胃|肺|扁桃|阑尾|子宫|甲状腺)|抗凝|在吃.{0,5}药|手术|起搏器|假肢|支架"
    r"|透析|化疗|放疗|预产|生孩子|怀上|确诊|患有|诊断|得了?.{1,6}[病症]|乳糖|宗教|[只有]一个(?:肾|肺)|(?:女儿|儿子"
    r"|老婆|老公|妈妈?|爸爸?)吃素|医生给我|过敏|不耐受|哮喘|糖尿病|癫痫|高血压|低血压|心脏病|血型|胰岛素|贫血"
    r"|血友病|色盲|残疾|轮椅|助听器|怀孕|孕期|慢性|偏头痛|关节炎"
    r"|抑郁|自闭|恐惧症|癌|肾病|[我他她]吃素|素食|清真|纯素|不能[吃喝碰服]|不可以[吃喝]|服用|吃药|处方",
    re.IGNORECASE,
)
_SAFETY = late(
    r"\bemergency (?:contact|number)\b|\bin (?:case of|an) emergency\b|\bdo not resuscitate\b|\bsafe word\b"
    r"|\b(?:never|don't|do not) (?:let|give|leave|share|tell|mention)\b(?! (?:me|us)\b)"
    r"|^\W*(?:always |please )*(?:keep|lock|close|shut|turn off|don't|do not|never|make sure)\b.*\b(?:or|otherwise"
    r"|because|so that|in case|whenever)\b|\bif (?:i|he|she|we) (?:\w+ )?(?:collapse|faint|pass out|die"
    r"|stop breathing)s?\b"
    r"|\bkeep\b.*\b(?:away|out|off)\b|(?:孩子?|小的|老人|[猫狗]).{0,3}(?:不能|不要|别)(?:靠近|进|碰|上|单独)"
    r"|要是我?.{0,3}(?:晕|出事)|有急事|不[许准]|(?:锁|关|收)好.{0,3}[，,]|不然|否则|紧急|急救|安全词"
    r"|千万(?:别|不要)|绝对?不[能要]",
    re.IGNORECASE,
)
_IDENTITY = late(
    r"\bmy (?:(?:full|first|last|middle|real|maiden|nick)[ -]?)?name(?:'s| is)\b|\b(?:call me|i go by|i'm called"
    r"|i am called)\b"
    r"|\bbirthdays?\b|\bborn (?:on|in|at)\b|\bi was (?:born|adopted|raised|brought up|named after)\b|\b(?:brought"
    r"|raised) (?:me|us) (?:up|as|in)\b|\banniversar\w+|\bmy pronouns\b|\bmy (?:native|first|mother) (?:language"
    r"|tongue)\b"
    r"|\bi(?:'m| am) (?:originally )?from\b|\bmy (?:nationality|citizenship|passport|hometown|religion|ethnicity"
    r"|gender)\b"
    r"|\bmy (?:phone|mobile|e-?mail|address|social security|insurance|account)\b[^.]{0,30}\b(?:is|are)\b"
    r"|\bi (?:live|moved|work|teach|study) (?:in|to|at|as|for|with)\b|\bmy (?:job|profession|employer|company"
    r"|title) is\b"
    r"|\bi(?:'m| am) (?:left|right)-handed\b|\bi(?:'m| am) (?:an? )?(?:[\w-]+ ){0,3}(?:engineer|teacher|nurse"
    r"|doctor|lawyer|student|analyst|designer|manager|developer|writer|chef|cook|driver|farmer|baker|carpenter"
    r"|accountant|scientist|pilot"
    r"|journalist|architect|electrician|mechanic|professor|researcher|consultant|musician|photographer)\b"
    r"|我(?:的名字|叫|姓)|叫我|生日|出生|纪念日|母语|我(?:是|来自).{1,12}人|籍贯|护照|身份证|国籍|信仰|左撇子"
    r"|我的?(?:电话|手机号?|邮箱|地址|住址|账号)|我.{0,4}(?:住在|搬到|搬去)|我在.{1,20}(?:上班|工作|任职|读书|上学"
    r"|当)|我是(?:一[名个位])?.{0,10}(?:工程师|老师|教师|护士|医生|律师|学生|分析师|设计师|经理|程序员|作家|厨师"
    r"|司机|会计|科学家|飞行员|记者|建筑师"
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
    r"|我(?:已经)?(?:结了?婚|离了?婚|订婚|单身|已婚|未婚)",
    re.IGNORECASE,
)
_STANDING = late(
    r"\b(?:from now on|going forward|in future|every time you|each time you|when(?:ever)? you (?:write|reply"
    r"|answer"
    r"|talk|speak|suggest|recommend|address|call|quote|show|list)|stop \w+ing|no more \w+ing"
    r"|(?:in|with|after|before) every (?:answer|reply|response|message))\b|^\W*no \w+\W+ever\b|\balways\W*$"
    r"|^\W*[^，,]{0,6}别(?:给|跟|对|把)我|守(?:安息日|斋)|一直用|一律|[每各][个条次](?:回答|回复|答案)|都别|绝不"
    r"|每次(?:都|要|给|跟)|(?:回答|回复|[跟对和给]我说|说话|写东西|写).{0,8}用.{1,8}|别(?:老|总)是?|从此",
    re.IGNORECASE,
)
"""A wish about all answers to come."""


def tells_a_state(text: str) -> bool:
    """Whether a sentence tells how it is with the user, his people or his things, for no particular time."""
    start = with_spaces(text[:_LONGEST_READ].replace("’", "'"))
    return any(
        is_timeless(sentence) and is_statement(sentence) and not _ASKED.search(sentence)
        for sentence in _SENTENCES.findall(start)
    )


def is_lasting(text: str) -> bool:
    """Whether a message contains a statement that must not expire."""
    start = with_spaces(text[:_LONGEST_READ].replace("’", "'"))
    return is_standing_order(start) or any(_lasts(sentence) for sentence in _SENTENCES.findall(start))


def _lasts(sentence: str) -> bool:
    if _ASKED.search(sentence):
        return False
    if _HEALTH.search(sentence) or _SAFETY.search(sentence) or _IDENTITY.search(sentence) or _STANDING.search(sentence):
        return True
    return _RELATIONSHIP.search(sentence) is not None and _PASSING.search(sentence) is None
