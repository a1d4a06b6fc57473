"""The wordings of what `rules` recognises, in English and Chinese."""

import re

LONGEST_READ = 10_000
LONGEST_SENTENCE = 400
"""Longer sentences are pasted text, not speech."""
WORDS_NAMED = 3
"""More words between quotation marks are quoted speech."""
SENTENCES = re.compile(r"(?:[^.!?。！？；;\n]|\.(?=\w))+[.!?。！？；;]?")
QUOTED = re.compile(
    r"\"[^\"\n]*\"|“[^“”\n]*”|「[^「」\n]*」|『[^『』\n]*』|(?<!\w)'[^'\n]*'(?!\w)|^[^\S\n]*>[^\n]*|```.*?```",
    re.M | re.S,
)
INSIDE = re.compile(r"[\w，,、:：][^\S\n]*$")
"""Something of the sentence is before it."""
NAMED = re.compile(
    r"(?<!\w)[\"“「『'](?!.*(?:\b(?:I|you|we|he|she|they|my)\b|[我你您他她]\w|\w[我你您他她]))"
    r"(?P<inside>[^\"“”「」『』'\n.!?。！？，,]{1,24})[\"”」』']"
)
SAYS = re.compile(
    r"(?:(?<!when i )(?<!whenever i )\b(?:say|says|said|saying|tell|tells|told|ask|asks|asked|reply|replied|think"
    r"|thought|shout\w*|like)\b|(?:(?<!我)说|[问道喊答讲想]))"
    r"[^\w“\"]*$",
    re.IGNORECASE,
)
LIST = re.compile(r"^\s*(?:[-*•]|\d+[.)、])\s*[^\s,，、/]+(?:\s*[,，、/]\s*[^\s,，、/]+)*\s*$")
SUPPOSED = re.compile(
    r"^\W*(?:if (?!i (?:ever )?(?:say|type|paste|ask|mention|send)\b)|when(?:ever)? (?:we|they|he|she)|suppose"
    r"|imagine|what if|unless|had i|maybe|perhaps|i (?:wish"
    r"|think|guess|"
    r"wonder|hope|dream(?:ed|t)?|doubt)|(?:would|could|might) )\b"
    r"|\b(?:would|might|could) (?:have|be|never|always|rather not)\b|\bif (?:i|you|we) (?:were|had)\b"
    r"|^\W*(?:如果|要是|假如|假设|万一|倘若|也许|可能|说不定|我想我|我猜|我希望|但愿)|的话[，,]",
    re.IGNORECASE,
)
LEAD = (
    r"^\W*(?:(?:and|so|but|oh|ok|okay|well|yes|yeah|no|also|btw|by the way|actually|honestly|personally"
    r"|in general|generally|fyi|these days|nowadays)\b[\s,:!-]*)*"
)
LEAD_ZH = (
    r"^\W*(?:(?:其实|另外|还有|对了|嗯|哦|顺便说一下|顺便说|顺便|说实话|一般来说|总的来说|不过|而且|但是"
    r"|对我来说|个人而言|平时|通常)[，,：:\s]*)*"
)
PAST = (
    "been|had|was|were|knew|thought|said|did|got|went|saw|heard|felt|told|made|found|came|took|gave|left|met|wrote"
    "|lost"
    "|meant|imagined|wanted|believed|expected|understood|became|kept|held|won|grew|began|seen|done|gone|taken|given"
    "|known|forgotten|sent|built|ran|bought|brought|paid|spent|stood|slept|ate|drank|chose|broke|drove|\\w+ed"
)
ACCIDENT = (
    "forget|lose|miss|wonder|feel|think|know|want|hope|wish|regret|worry|get|seem|remember|mind|find|see|hear|end|have"
    "|love|like|hate|enjoy|agree|would|will|could|can|understand|need|realize|realise|look forward|laugh|cry|dream"
    "|struggle|manage|happen"
)
DAYS = "mon|tues|wednes|thurs|fri|satur|sun"
HABIT = re.compile(
    LEAD
    + r"(?:i (?:always|never|only ever|invariably|habitually|religiously|strictly(?! speaking)) (?!(?:"
    + PAST
    + "|"
    + ACCIDENT
    + r")\b)[a-z]{2,}"
    r"|i (?:strongly |really |generally |usually |always |much )?prefer\b(?! (?:not to (?:say|answer|talk|discuss"
    r"|think)|it|this|them|him|her|that(?: way| one)?\W*$)\b)"
    r"|i(?:'m| am) (?:not )?(?:used|accustomed) to \w+ing\b|i make (?:it )?a (?:habit|point) (?:of|to)\b"
    r"|i (?!(?:" + PAST + "|" + ACCIDENT + r"|am|was|had)\b)[a-z]{2,} [^,]{3,60},? always\W*$"
    r"|i(?:'m| am) in the habit of \w+ing\b|my (?:habit|preference"
    r"|rule) is\b"
    r"|i (?:work|write|code|cook|shop|train|read|pay|travel|commute) exclusively (?:in|with|from|at|on|by|for)\b"
    r"|as a rule,? i\b|(?:in|on|for|with|at|when|while) [^,]{1,40}?,? i (?:always|never|only ever|prefer)\b(?! (?:"
    + PAST
    + "|"
    + ACCIDENT
    + r")\b))",
    re.IGNORECASE,
)
DONE_ZH = "写|做饭?|吃|喝|出门|上班|开会|睡觉?|看|读|买|坐|开车|跑步|工作|学习|回|提交|画|用|记|选|挑|订|穿|点|付|管"
WHEN_ZH = "(?:每?周|星期)[一二三四五六日天末]|进门|出差|出国|旅行|旅游|通勤|上下班|下班|周末|早上|晚上|中午|冬天|夏天"
"|在家|在公司"
WHILE_ZH = r"(?:[^，,。我你他她它]{1,10}(?:的时候|时)[，,]?)?"
HABIT_ZH = re.compile(
    LEAD_ZH + r"(?:我的习惯是|[我俺](?:" + DONE_ZH + r")[^，,。我你他她它们]{0,8}(?:从不|从来不|总是|都习惯)"
    r"|[我俺](?!妈|爸|爷|奶|姥|外[婆公]|老[婆公板师爸妈]|哥|姐|弟|妹|家|们|的|儿子|女儿|男友|女友|朋友|同事|室友|孩子"
    r"|领导"
    r"|觉得|感觉|以为|听|发现|[^，,。]{0,4}(?:以前|从前|曾经|小时候|过去|原来|本来))[^，,。你您他她它们]{2,20}(?:从不"
    r"|从来不|习惯(?=用|先|把|在|放|写|开)"
    r"|(?:向来|一向|一律)(?=都?(?:(?:不|只|先|自己|亲自)?[用写做吃喝坐开关穿看放带加买读走按]|先|只(?!是|有)|亲自)))"
    r"(?!知道|觉得|后悔|认为|以为|[是很])"
    r"|我的[^，,。我你他她]{0,6}(?:习惯|风格|偏好|原则|规矩)[是：:](?!什么|怎)"
    r"|[我俺](?:一直)?惯用|[^，,。你您他她它们]{2,15}是我的(?:原则|习惯|规矩)"
    r"|"
    + WHILE_ZH
    + r"(?:(?:在|写|做|用|对于?|关于)[^，,。]{1,20}[，,]?)?(?:[我俺](?:个人|这个?人|本人)?(?:一般|平时|通常|都"
    r"|更|比较|一向)?)"
    r"(?:习惯(?!了吧|不了|了[，,。！!\s]|了$)|总是(?!忘|丢|觉得|感觉|想|被|做梦|梦|失眠|迟到|睡不|担心|在想|弄|搞)"
    r"|从不(?!知道"
    r"|觉得|后悔|认为)"
    r"|从来不(?!知道|觉得|后悔|认为)|永远不会|(?:向来|一向)(?!觉得|认为|以为|运气|脾气|身体|胆|怕|起不|睡不|不太|很"
    r"|是|比较|反应)|偏好|偏爱|更倾向于?|倾向于|偏向于?))"
)
LIKES = re.compile(
    LEAD + r"i (?:really |absolutely |also |still |just |do |quite |mostly |usually )*(?:like|love|hate|dislike"
    r"|enjoy|avoid|adore|loathe|detest|despise"
    r"|(?:can't|cannot) stand(?! (?:up|here|still|straight|on|in|by))|don't (?:really |ever )?(?:like|enjoy|eat"
    r"|drink|buy|wear|use|watch|smoke|own|celebrate|play|trust)|do not like)\b"
    r"(?! (?:it|that|this|these|those|him|her|them|you|your|any|how|what|when|where|who|why"
    r"|to (?:say|admit|break|ask|bother|interrupt|be|think|see|imagine|disappoint)|the (?:idea|way|sound|look|fact"
    r"|part|new|direction|plan|suggestion|approach|[\"'“])"
    r"|his|their)\b)(?=\s+\S)|"
    + LEAD
    + r"i (?:really |absolutely )?(?:like|love|hate|dislike|can't stand) it when\b(?! you\b)|"
    + LEAD
    + r"my (?:favou?rite|usual|go-to) \w[\w ]{0,30} (?:is|are)\b"
    # What one is, or is not, for
    r"|" + LEAD + r"i(?:'m| am|(?:'ve| have)(?: always)? been) (?:(?:severely|highly|very|really|mildly|slightly"
    r"|also|a bit) )*(?:allergic to|(?:fond|enamou?red) of"
    r"|(?:obsessed with|crazy about|mad about|passionate about|addicted to|hooked on|partial to)"
    r"|not much of an? |(?:not )?an? (?:morning|night|people|dog|cat|coffee|tea|beach|city|outdoors?"
    r"|indoors?) person\b"
    r"|(?:not )?(?:into|keen on)|(?:not an?|an?|no) (?:(?:big|huge|great) )?fan of|an? (?:night owl|early (?:bird"
    r"|riser))\b|not fond of"
    r"|(?:an? )?(?:(?:strict|lifelong) )?(?:vegetarian|vegan|pescatarian|teetotal\w*)\b|(?:lactose"
    r"|gluten)[- ]intolerant)"
    r"(?! (?:it|that|this|these|those|him|her|them|yours?|my|the|what|how|\w+ing (?:it|that|this))\b)"
    r"|" + LEAD + r"i (?:can't|cannot|can not|don't) (?:eat|drink|tolerate|digest)\b"
    r"(?! (?:it|that|this|these|those|any ?more|another|more|as much|so much|that much)\b)"
    r"(?!.*\b(?:now|today|tonight|tomorrow|yet|any ?more|until)\b)(?=\s+\S)"
    r"|"
    + LEAD
    + r"i (?:have|'ve got)(?: always had)? a (?:real |bit of a )?(?:soft spot|weakness|sweet tooth|passion)\b"
    r"|" + LEAD + r"i(?:'d| would) (?:choose|pick|take) (?!it|that|this|you)\w.{1,40}\bover\b"
    r"|" + LEAD + r"i find (?!it|that|this|these|those|him|her|them|you|my|the)[a-z][\w ]{2,30} "
    r"(?:boring|dull|tedious|relaxing|soothing|fascinating|annoying|exhausting|delightful)\W*$"
    r"|" + LEAD + r"[a-z][\w ]{2,40} (?:is|are)(?:n't| not) (?:really )?my (?:thing|cup of tea)\b"
    # A habit with exceptions
    r"|" + LEAD + r"i (?:usually|normally|typically|generally|mostly|rarely|seldom|tend to|hardly ever|almost never"
    r"|almost always) "
    r"(?!(?:" + PAST + "|" + ACCIDENT + r"|am|have|do|don't|get)\b)[a-z]{2,}"
    r"|" + LEAD + r"i (?:get up\b|(?!(?:" + PAST + "|" + ACCIDENT + r"|just|already|am|was|have|had|do not|say"
    r"|don't (?:need|have|want|know|think|feel|get|see|mean))\b)[a-z]+\b)"
    r"(?! (?:you|him|her|them|it|that|this|not)\b)[^,.]{0,50} (?:every (?:single )?(?:day|morning|evening|night"
    r"|week|weekend"
    r"|month|year|spring|summer|autumn|winter|(?:" + DAYS + r")day)|on (?:(?:" + DAYS + r")days|weekends)"
    r"|(?:in|at|during|before|after) (?:every|each) \w+|(?:(?:"
    + DAYS
    + r")day|weekday|weekend) (?:mornings|afternoons|evenings"
    r"|nights)|everywhere|(?:once|twice|\w+ times) (?:a|an|per|every|each) (?:day|week|month|year))(?: (?:before"
    r"|after) \w[\w ]{1,20})?\W*$"
    r"|" + LEAD + r"i (?!(?:" + PAST + "|" + ACCIDENT + r"|am|was|had|put|cut|let|set|read)\b)[a-z]{2,} all my \w+ "
    r"(?:in|on|with|at|by|from|as)\b"
    r"|"
    + LEAD
    + r"(?!(?:this|that|it|you|he|she|they|these|those|which|what|who)\b)[^,]{2,40} (?:is|are) (?:still )?my "
    r"(?:favou?rite|go-to|preferred)\b"
    r"|" + LEAD + r"i (?:work|sleep|think|learn|write|focus|study|concentrate|function) (?:best|better|worst) \w"
    r"|" + LEAD + r"i (?:stick|keep) to (?!my|the|that|this|what|it|you)\w"
    r"|" + LEAD + r"i keep (?:my|all(?: my| the)?) [\w ]{2,30} (?:at|in|on|under|below|above)\b(?! mind\b)"
    r"|" + LEAD + r"i refuse to (?!believe|accept|think|talk|answer|say|be|let|give)[a-z]+ \w"
    r"|" + LEAD + r"i (?:strongly |generally )?favou?r (?!the (?:idea|plan)|it|this|that|him|her|them|you)\w"
    r"|" + LEAD + r"i(?:'ve| have) always (?:used|preferred|written|worked (?:in|with|from)|kept|favou?red)\b"
    r"(?! (?:it|this|that|him|her|them|you)\b)"
    r"|"
    + LEAD
    + r"i (?:don't|never) (?!(?:"
    + ACCIDENT
    + r")\b)[a-z]+ [^,]{2,40} (?:before|after) (?:noon|midnight|lunch"
    r"|breakfast|dinner|work|\d+(?::\d\d)?(?: ?[ap]\.?m\b)?|six|seven|eight|nine|ten|eleven)\W*$"
    r"|"
    + LEAD
    + r"(?:usually|normally|typically|mostly|rarely),? i (?!(?:"
    + PAST
    + "|"
    + ACCIDENT
    + r"|am|have|do|don't)\b)[a-z]{2,}"
    r"|" + LEAD + r"(?:most|every) (?:single )?(?:day|morning|evening|night|weekend|(?:" + DAYS + r")day)s?,? i "
    r"(?!(?:" + PAST + "|" + ACCIDENT + r"|am|have|had|don't|'\w+)\b)[a-z]{2,}"
    r"|"
    + LEAD
    + r"(?:when(?:ever)? i [^,]{3,40},? )?i only (?:ever )?(?:eat|drink|use|buy|wear|read|watch|fly|drive|pack|book"
    r"|cook with|listen to|work with)"
    r" (?!it\b|this|that\b)\w"
    r"|" + LEAD + r"i(?:'d| would) rather (?!not|be\b|die|stay)[a-z]+\b.{2,60}\bthan\b",
    re.IGNORECASE,
)
LIKES_ZH = re.compile(
    LEAD_ZH + WHILE_ZH + r"(?:比起[^，,。我]{1,10}[，,]?)?"
    r"[我俺](?:最|很|非常|特别|比较|更|真的?|一直|还|也|超级?|极其|尤其|挺|蛮|就|实在|从小就?)*"
    r"(?:不(?:太|怎么|是很)?喜欢|不爱|喜欢|讨厌|热爱|酷爱|热衷于|痛恨|厌恶|钟爱|迷上了|受不了"
    r"|最爱(?:的(?=[^，,。]{1,10}是)|(?!的))|享受(?!到)"
    r"|爱(?=[吃喝看听玩用]))(?!你|您|这|那|他|她|它"
    r"|上了|上|[^，,。]{0,8}[这那][段个句部首本篇])(?=\w)"
    r"|"
    + LEAD_ZH
    + r"我(?:每?一?(?:天|周|星期|个?月|年)[^，,。你他她了过]{0,6}?[一两二三四五六七八九十\d]+[次回趟遍杯顿]"
    r"|[^，,。我你他她了过]{1,6}(?:之前|以前|之后|以后)不(?!能|想|会|敢|知|要|是|在|好)[^，,。了过]{2,8}[。.！!]?$)"
    r"|"
    + LEAD_ZH
    + r"我(?:对[^，,。我你他她它]{1,10}(?:严重)?过敏|(?:有点|严重|轻度)?(?:乳糖|麸质|酒精)不耐受?|不(?:能|太能"
    r"|可以)[吃喝碰](?!了|的)[^，,。了]{1,8}[。.！!]?$"
    r"|对(?![这那你他她它此])[^，,。我]{1,10}(?:(?:很|非常|特别|一直)?(?:感兴趣|着迷)|(?:不太?|没什么"
    r"|没)(?:感)?兴趣)[。.！!]?$"
    r"|是(?:个|一个|一名|资深|忠实)*[^，,。你您他她的是]{0,8}(?:迷|控|爱好者|发烧友|夜猫子)[。.！!]?$|是(?:个"
    r"|一个)?素食(?:者|主义者)|吃素"
    r"|(?:从小就?|一直|平时|一般|基本|从|"
    + WHEN_ZH
    + r")?不[吃喝碰](?!了|下|完|到|饱|亏|醋|惯)[^，,。了]{1,8}(?:[。.！!]?$|[，,].{0,10}(?:帮|请|别|不要|避开|注意"
    r"|记得)))"
    # A habit with exceptions
    r"|" + LEAD_ZH + r"我(?!觉得|听说|知道|发现|认为|以为|想|说|问)[^，,。你您他她它们]{0,12}?"
    r"(?:一般|通常|平时|平常(?!心)|每天(?:早上|晚上|中午)?|每周(?!的)|每晚|每次[^，,。]{1,8}|很少|宁愿|宁可|基本不"
    r"|几乎不|出门必)(?![^，,。]{0,12}(?:很(?!少)|觉得|担心|忘|累|忙|睡不|迟到|失眠|被|做梦"
    r"|都?想[笑哭吐睡死]|在想|好多|这么|那么|没|[跟对和]你|[见看]你))(?=[^，,。]{2})"
    r"|"
    + LEAD_ZH
    + r"我(?:[^，,。我你您他她它们]{1,6}(?:总会|总要|都会)|(?:睡|饭|出门|开工|提交|下班)[前后](?:一定|必)会?)"
    r"(?!你|觉得|很|更|想|忘|被|有)(?=[^，,。你您了]{2,}[。.！!]?$)"
    # What one does about something, or at some time
    r"|"
    + LEAD_ZH
    + r"(?:我(?:"
    + DONE_ZH
    + "|"
    + WHEN_ZH
    + r")[^，,。我你您他她它了]{0,6}|(?:(?:"
    + DONE_ZH
    + "|"
    + WHEN_ZH
    + r")[^，,。我你您他她它了]{0,6}|平时|平常)[，,]?我(?:一般|通常|基本上?)?)"
    r"(?:都(?:会|是)?|只|一定(?:要|会)?|总(?:喜欢|爱|会|要)|一直(?:都)?(?:是|用)|一般(?:都)?会?|必(?![须然]))"
    r"(?!没|不(?!用|吃|喝|看|带|开|放|加|穿|坐)|快|要[疯死哭睡]|[很挺太想被能]|觉得|可以|有[点些]|来不及|迟到|睡着|忘"
    r"|[是到完得])"
    r"(?=[^，,。你您了过]{2,}(?:[，,]\s?[从不]+[^，,。了过]{1,8})?[。.！!]?$)"
    r"|" + LEAD_ZH + r"我[^，,。我你您他她它们是]{0,8}只[用喝吃穿坐买看听住认](?!了|过|到|得|要"
    r"|[一二两三几半\d])(?=[^，,。了过]{2,}(?:[，,]\s?[从不]+[用喝吃穿坐买看听住认][^，,。了过]{1,})?[。.！!]?$)"
    r"|" + LEAD_ZH + r"我只接受(?!了|过|这|那|你|您)(?=[^，,。了过]{2,}[。.！!]?$)"
    r"|" + LEAD_ZH + r"我(?:更|比较|很|挺)?(?:愿意|乐意)(?!你|您|他|她|相信)[^，,。了]{1,15}(?:而不是|而非|也不)"
    r"|" + LEAD_ZH + r"每(?:个|逢)?(?:周|星期|礼拜|月|天|晚|早)[^，,。我你他她它]{0,4}[，,]?我(?:都|总)(?:会|要|得)?"
    r"(?!是|很|觉得|想|在想|梦|被|有|没|见|看[到见])(?=[^，,。你您了]{2,}[。.！!]?$)"
    r"|" + LEAD_ZH + r"我[^，,。我你他她]{1,6}(?:效率|状态|精神)最[高好佳]"
    r"|" + LEAD_ZH + r"我一直(?:都)?(?:在)?(?:用(?!心|力|功)|吃|喝|穿|坐)(?=[^，,。]{2})"
)
NOTE = re.compile(
    LEAD
    + r"(?:please )?(?:(?:make a |take a )?note(?: (?:to self|that|down)|:)|remember that|keep in mind|bear in mind"
    r"|for the record|write (?:this|that|it) down:?|(?:don't|do not) forget that"
    r"|remember(?=,? (?:my|our|the|these|this|i|we)\b))",
    re.IGNORECASE,
)
NOTE_ZH = re.compile(
    LEAD_ZH + r"(?:请|帮我|麻烦)?(?:你|您)?(?:记一下|记下|记录一下|备忘|笔记"
    r"|记住(?!.*(?:真|太|很|好)难)|记着(?=[，,：:])|牢记|请记得(?=我))"
)
TASK = re.compile(
    LEAD + r"(?:(?:to[- ]?do|action item|task)\s*[:\-–]|remind me (?:to|about)\b"
    r"|(?:please )?(?:don't|do not) forget (?!that\b|your\b|you\b)"
    r"|(?:please )?remember to (?!always|never)"
    r"|(?:i|we) (?:still |really )?(?:need to|have to|must|should|'ve got to|gotta)\b.{0,80}\b(?:by|before"
    r"|until|till|due|tomorrow|tonight|today|next (?:week|month)"
    r"|this (?:week|afternoon|evening)|(?:on )?(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b"
    r"|the deadline (?:for|is)\b)",
    re.IGNORECASE,
)
TASK_ZH = re.compile(
    LEAD_ZH + r"(?:待办(?!事项|清单|列表)|TODO|todo"
    r"|任务[：:]|(?:请|麻烦)?提醒我|(?:请|麻烦)?(?:你|您)?别忘了(?![你您他她])|(?:请|麻烦)?(?:你|您)?记得(?!我|那[个年时些次天]"
    r"|当[时年]|小时候|以前"
    r"|用[^，,。]{1,6}(?:回答|回复|写|称呼|翻译|显示)|始终|每次|一律|以后|今后|不要|别)|[我咱]们?(?:还|得|要|必须"
    r"|需要|应该"
    r"|打算)+[^，,。]{0,30}"
    r"(?:之前|以前|前)(?:要|得|必须|把|完成|交|[^，,。]完|提交|搞定|[，,。]|$)|[我咱]们?(?:今天|明天|后天|下周"
    r"|这周|本周|周[一二三四五六日末]|月底)[^，,。]{0,8}(?:要|得|必须|需要)"
    r"|(?:截止日期|最后期限)"
    r"|(?:今天|明天|后天|(?:这|本|下)?(?:周|星期|礼拜)[一二三四五六日天末]|(?:这|本|下)个?[周月]|月底|年底"
    r"|[\d一二三四五六七八九十]{1,3}[号日点])[^，,。我你他她]{0,4}(?:之前|以前|前)[，,]?(?:得|要|必须|需要|务必)"
    r"(?=[^，,。]{2}))"
)
DECISION = re.compile(
    LEAD + r"(?:(?:in the end|finally|after [^,]{1,40}),? )?(?:we|(?:the (?:team|group|board|committee)|all of us"
    r"|everyone)(?=(?: has| have)? \w+ (?:to|on|against)\b))"
    r"(?:'ve| have| has)? (?:all |finally |just |now )?(?:decided"
    r"|agreed|settled on|chose|chosen|opted|picked"
    r"|concluded|committed to)\b|"
    + LEAD
    + r"we(?:'re| are| will be|'ll be)? (?:switching|moving|migrating|going|standardi[sz]ing) (?:over )?(?:to"
    r"|on|with)\b (?!the (?:cinema|park|movies|beach|store|shop|gym|doctor))"
    r"|" + LEAD + r"we(?:'re| are| will be|'ll be)? (?:dropping|deprecating|replacing|adopting|retiring|phasing out)"
    r" (?!by\b|in\b|off\b|out\b|it\b|that\b|this\b|them\b)\w"
    r"|" + LEAD + r"(?:the )?(?:final )?decision(?: is|:| was made)|" + LEAD + r"let's go with\b",
    re.IGNORECASE,
)
DECISION_ZH = re.compile(
    LEAD_ZH + r"(?:(?:最终|最后|经过[^，,]{1,12}|讨论后|会上)[，,]?)?(?:[我咱]们|团队|大家)(?:最终|最后|已经|一致|都"
    r"|(?:讨论|商量|评估|权衡|开会)[了之过]?后|今天|昨天|上周)*"
    r"(?:决定|改用|选定|选择了|敲定|定下来?|同意|统一(?:用|使用|采用)|确定(?:用|使用|采用)?|采用)|"
    + LEAD_ZH
    + r"(?:最终)?(?:决定|方案|结论)(?:是|：|:)|"
    + LEAD_ZH
    + r"(?:[^，,。我你他她]{2,12}[，,])?(?:最终|最后)(?:还是)?(?:定下来?|敲定|选定|拍板)(?!了[。！!]?$)"
    r"|" + LEAD_ZH + r"[我咱]们(?:以后)?不(?:再)?(?:用|使用|采用|支持|维护)[^，,。你他她]{1,15}了(?=[，,。！!]|$)"
)
PATH = re.compile(
    r"(?<![\w@:/])(?:\.{0,2}/)?(?:[\w.-]+/)+[\w.-]*\w|\b[\w-]+\.(?:py|js|ts|tsx|jsx|go|rs|java|kt|c|h|cpp|cs|rb"
    r"|php|sql|md|toml|ya?ml"
    r"|json|html|css|sh|ini|cfg|lock|proto|vue|swift|ipynb|txt|csv)\b|\b(?:Dockerfile|Makefile|README)\b"
)
URL = re.compile(r"\b(?:https?|ftp)://\S+|\b\d+(?:/\d+)+\b|\b(?:and/or|he/she|km/h|w/o|n/a)\b", re.IGNORECASE)
PROJECT = re.compile(
    r"\b(?:this|our|the) (?:project|repo(?:sitory)?|codebase|code base|monorepo|service|module|backend|frontend"
    r"|app)(?:'s)?\b"
    r"|(?:这个|本|该|我们的?|咱们的?)(?:项目|仓库|代码库|工程|模块|服务|系统|后端|前端)",
    re.IGNORECASE,
)
STATES = re.compile(
    r"\b(?:is|are|uses?|has|have|runs?|needs?|requires?|depends?|lives?|stores?|handles?|contains?|supports?"
    r"|targets?|follows?"
    r"|builds?|deploys?|exposes?|implements?|reads?|writes?|talks?|returns?|consists?|must|defines?)\b"
    r"|[是用有在依赖需要存放处理包含支持遵循部署使用采用负责实现读写调用]",
    re.IGNORECASE,
)
KNOWLEDGE = re.compile(
    r"\b(?:best practice|stands for|is defined as|are defined as|refers to|is (?:an? |the )?(?:abbreviation"
    r"|acronym|short) (?:of|for)"
    r"|is a (?:kind|type|form) of|in general,? \w+ (?:is|are)|by definition|rule of thumb|means that)\b",
    re.IGNORECASE,
)
KNOWLEDGE_ZH = re.compile(
    r"最佳实践|是指|指的是|的?定义[是为]|是一种|的缩写|的全称|的意思是|意味着|的原理是"
    r"|通常建议"
)
PERSONA = re.compile(
    LEAD + r"(?:please )?(?:(?:address|refer to) me (?:as|by)\b|call (?:me|yourself)\b"
    r"(?! (?:back|later|when|at|on|if|tomorrow|tonight|today|crazy|old|maybe|once|before|after|soon|now|any ?time"
    r"|as soon"
    r"|about)\b)"
    r"|your name (?:is|will be)\b|act as\b"
    r"(?!.*\b(?:and|then|please|to|,) ?(?:please )?(?:write|tell|give|create|explain|help|make|answer|describe|list"
    r"|provide|analy[sz]e|suggest|design|generate|draft|review|summari[sz]e|develop)\b)"
    r"|you(?:'re| are)(?: now)? (?:a|an|my) (?!very\b|really\b|so\b|great\b|good\b)"
    r"(?:[\w-]+ ){0,4}(?:assistant|tutor|coach|reviewer|expert|teacher"
    r"|engineer|butler|companion)\b"
    r"|(?:my name is|i go by|my pronouns are|my (?:native|first|mother) (?:language|tongue) is)\b)",
    re.IGNORECASE,
)
PERSONA_ZH = re.compile(
    LEAD_ZH
    + r"(?:请|麻烦)?(?:你|您|大家)?(?:可以)?(?:以后)?(?:(?:叫我|称呼我|喊我)(?!一声|[看说]|怎么|起床|吃饭|去|来|回)"
    r"|(?:扮演|充当)"
    r"|你的名字(?:叫|是)|你叫(?!什么|我)"
    r"|你(?:现在|以后)?是(?:一个|一位|一名|我的)[^，。]{0,12}(?:助手|老师|教练|专家|工程师|管家|伙伴)"
    r"|我的(?:名字[是叫]|母语是)|我叫(?!你|他|她|了|不)|我是(?:做|搞|教|学)(?!不|得)[^，,。你您他她了过梦]{1,12}的(?=[，,。！!]|$))"
)
STEP = (
    "run|use|open|click|press|type|call|set|add|install|remove|delete|restart|start|stop|turn|go|select|choose|create"
    "|copy|edit|push|pull|merge|hold|unplug|plug|mix|boil|heat|pass|put|wait|check|write|rebuild|build|import|export"
)
SKILL = re.compile(
    LEAD
    + r"(?:(?:in order )?to (?!be|me|us|you|him|her|them|it|my|your|his|our|their|the|a|an|this|that|these|those|tell"
    r"|say|put|sum|some|date|recap|conclude|clarify|summari[sz]e)\b)[a-z]+\b[^,?]{2,60}, "
    r"(?:you (?:(?:have|need) to|must|should|can|first|just) |first,? |just |simply )*(?:" + STEP + r")\b"
    r"|" + LEAD + r"(?:the |a )?(?:right |best |safest |easiest |quickest |proper )?(?:way|trick|procedure) (?:to"
    r"|for) "
    r"(?!go\b)[^,.?]{3,60} (?:is|are) (?:to|by)\b"
    r"|" + LEAD + r"(?:the )?steps? (?:to|for) [^:?]{3,60}:|" + LEAD + r"how to [^:?]{3,60}:",
    re.IGNORECASE,
)
SKILL_ZH = re.compile(
    LEAD_ZH + r"(?:(?:如果)?(?:要|想要?)(?!是)[^，,。我你他她]{2,20}[，,]\s*(?:需要|得|必须|应该|可以)?(?:先|首先)"
    r"|[^，。？我你他她]{2,20}的(?:步骤|方法|做法|流程|办法|诀窍)(?:是|如下|：|:)"
    r"|(?:先|首先)[^，。了]{2,30}[，,](?:然后|再|接着)[^。了]{2,40}(?:即可|就行|就可以|就好))"
)
FEELING = re.compile(
    LEAD + r"i(?:'m| am| feel| felt| was)? (?:so |very |really |a bit |quite |still |always |pretty |just )*(?:afraid"
    r"|scared"
    r"|terrified|anxious|nervous|worried|angry|annoyed|frustrated|sad|upset|disappointed|lonely|ashamed|embarrassed"
    r"|proud"
    r"|happy|glad|excited|thrilled|grateful|relieved|stressed|overwhelmed|jealous|hurt)\b",
    re.IGNORECASE,
)
FEELING_ZH = re.compile(
    LEAD_ZH
    + r"我(?:今天|最近|现在|一直|真的|很|非常|特别|有点|有些|好|感到|觉得|还是|对[^，,。]{1,15}?)*(?:害怕|怕|焦虑|紧张"
    r"|担心|生气|愤怒|烦躁|沮丧|难过|伤心|失望|孤独|羞愧|尴尬|自豪|骄傲|高兴|开心|兴奋|激动|感激|欣慰|压力很大|嫉妒)"
)
KINDS = {"skill": "skill", "feeling": "emotion"}
"""The kind of what a rule recognises, where it is not that of the category."""
BY_ASSISTANT = re.compile(
    r"^\W*(?:that )?(?:you|the (?:assistant|ai|bot|chatbot|model))(?:'ve| have| had|'d)? (?:just |already |once )*"
    r"(?:" + PAST + r")\b|^\W*(?:你|您|助手|AI|机器人|模型)[^，,。]{0,20}[了过]",
    re.IGNORECASE,
)
"""What the assistant did is no event to keep: it is in the conversation."""
EMPTY = re.compile(
    LEAD + r"(?:please )?(?:remember|(?:don't|do not) forget|keep in mind|bear in mind|note)(?: (?:to|about))?"
    r" ?(?:(?:this|that|these|those|it|them|me)(?: \w+s)?)?\W*$",
    re.IGNORECASE,
)
"""It points at what was said elsewhere, and says nothing itself."""
RESERVED = re.compile(r"\bbut\b|\balthough\b|\bthough\b|[，,]\s*(?:但|可是|不过|然而|只是)", re.IGNORECASE)
"""A habit with a reservation is a preference, and no rule."""
WHY = re.compile(
    r"^(?P<said>.{4,}?)[\s,，;；]*(?:\bbecause(?! of the)\b|\bso that\b|\bin order to\b|\bthe reason (?:is"
    r"|being)\b|因为|由于|为的是|以便|原因是|这样(?:就|可以|能)*|因此)"
    r"[\s,，:：]*(?P<why>.{3,}?)\W*$",
    re.IGNORECASE | re.DOTALL,
)
LABEL = re.compile(r"^\W*(?:to[- ]?do|action item|task|待办|任务)\s*[:：\-–]", re.IGNORECASE)
SEPARATOR = re.compile(r"^[\s:：,，\-–]*(?:that\b\s*)?", re.IGNORECASE)
LEAST_CONTENT = 4
WHY_FIRST = re.compile(
    r"^\W*(?:because(?! of\b)|因为|由于)\s*(?P<why>[^,，]{3,}?)\s*[,，]\s*(?:所以|因此|so )?\s*(?P<said>.{4,})$",
    re.IGNORECASE | re.DOTALL,
)
SELF_QUESTION = re.compile(r"[?？]\s*$|(?:吗|呢|么)\s*[。.]?$")
