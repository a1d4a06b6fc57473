"""Words that mark a correction or change in a statement, or a former value."""

import re
from collections.abc import Iterator


class Both:
    """A pattern of English and one of Chinese words: most texts need only one of them."""

    def __init__(self, english: str, chinese: str) -> None:
        self._english, self._chinese, self._both = (
            re.compile(shape, re.IGNORECASE) for shape in (english, chinese, f"{english}|{chinese}")
        )

    def search(self, text: str) -> re.Match[str] | None:
        """As of a pattern."""
        return self._of(text).search(text)

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        """As of a pattern."""
        return self._of(text).finditer(text)

    def _of(self, text: str) -> re.Pattern[str]:
        if text.isascii():
            return self._english
        return self._both if _LATIN.search(text) else self._chinese


_LATIN = re.compile("[A-Za-z]")
_PLANS = "考虑|打算|计划着|(?<![没思理梦设猜联])想(?![起到念法象出说着通]|开了|明白|清楚|好了)"
FORMERLY_ZH = "(?<![跟搬走跑赶飞送转挪调开拿带寄迁嫁])过去(?!了|$|[，。！；,.!;])"
MISDONE_ZH = (
    "(?:(?:说|记|搞|弄|写|打|看|听|算|填|发|报|传|数|量|抄|念|按|输|认|想|贴|拿)(?:错|混|岔|反|串|颠倒)"
    "|(?:说|记|写|算|填|报|数|抄|念)(?:漏|[多少早晚大小高低])了(?!就|会|也|要|容易)|眼花|看走眼)"
)
"""An action with a result that was not meant: 看反了, 数少了."""
CORRECTS = Both(
    r"\bcorrect(?:ion|ing|ed)\b|\b(?:was|were|got|had|have|gave|said|wrote|told|is|read)\b[^.;:!?]{0,24}\bwrong(?:ly)?\b"
    r"|\bwrong (?:time|date|day|number|name|place|address|sheet|one|year|month|way round)\b"
    r"|\bmis(?:spoke|read|typed|remembered|heard|stated|took|counted|calculated|dialled|labelled|wrote|spelled|spelt)\b"
    r"|\b(?:mixed|mixing|messed|got mixed)\b[^.;:!?]{0,24}\bup\b|\bmix-?up\b|\bconfused\b|\bmistak(?:e|en)\b|\bmy bad\b"
    r"|\bslip of the\b|\btypo\b|\b(?:scratch|strike|disregard|ignore|forget) (?:that|what i)\b|\bi meant\b|\bi mean\b"
    r"|\bwrong\s\w+[,:.;]|^(?:(?:oh|ah|uh|well|hm+|wait|oops|sorry|whoops|damn|argh|no|wait)\b[\s,.!]*){0,3}(?:wait|oops|sorry|whoops|hold on|no)\b\s?[,.:;!–-]|\bactually\b|\bin fact\b"
    r"|\bto be (?:precise|exact|accurate|clear)\b|\bautocorrect\b|\b(?:make|made) (?:that|it)\b|\bshould (?:be|have been|read)\b"
    r"|^\*(?=\w)(?!.*\*)|\bi should (?:say|correct)\b|\bwrong\b(?=[:.,;]|$)|\bi said\b|\bi wrote\b|\bi told you\b|\bmeant to (?:say|write)\b|\b(?:is|are|was|were|will|does|do) not\b[^.;!?]{1,60}"
    r"(?:,\s?(?:but\b|it\b|he\b|she\b|they\b)|\bbut\b)|\bnot\b[^.;!?]{1,40}[:;,]|, not\b|\brather\b",
    rf"^(?:哦|啊|呃|哎呀?|噢|嗯)?[，,]?(?:不|不是|哎呀|哦不|不好意思|抱歉|对不起|等等|等一下|等下|说错|打错)了?[，,。：:！!\s]|^(?:还是)?改成|{MISDONE_ZH}|口误|笔误|手误|更正|纠正|改正|不对|应该是|应为|其实|准确(?:地|来)说|确切"
    r"|才对|混淆|弄反|是错的|(?<!不)错了|有误|不准|量过了|不是.{1,24}[，,]?(?:而?是|应)|，不是|输入法|[打写说]成了|[，,]不是|想说的是|刚才说的|我是说|我的意思是|不知怎么",
)
"""Marks a correction."""
_POINT = r"(?:\d|noon\b|midnight\b|(?:mon|tues|wednes|thurs|fri|satur|sun)day|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\b)"
_SHIFTED = (
    r"\b(?:[a-z]{3,}ed|put|brought|cut|set|went|gone|ran|had to [a-z]+)\b[^,;.!?]{0,40}\b(?:to|until|till)\s(?:the\s|[$€£¥])?"
    + _POINT
)
_SHIFTED_ZH = r"[挪延移调提推拖缩加减升降涨跌滑顺][到至成]|[到至成](?=[^，。！,!]{1,14}了(?:$|[，。！,!]))"
"""A completed verb with its new value: bumped to Wednesday, 挪到周三."""
CHANGES = Both(
    r"\b(?:\bnow\b|\bthese days\b|\bnowadays\b|\bcurrently\b|\bas of\b|\bfrom (?:today|now)\b|\bsince (?:this|last|the|january|"
    r"february|march|april|may|june|july|august|september|october|november|december|then|yesterday|monday|tuesday|wednesday"
    r"|thursday|friday|saturday|sunday)\b|\bnew\b|\bno longer\b|\bnot\b.{0,60}\bany ?more\b|\bany ?more\b|\bno more\b"
    r"|\bchang(?:e|es|ed)\b|\bswitch(?:ed|es)?\b|\bswapp?(?:ed|s)?\b|\btraded\b|\bmov(?:e|ed)\b|\brelocated\b|\brenamed\b"
    r"|\breplac(?:e|es|ed|ing)\b|\binstead\b|\bre(?:booked|scheduled|trained|arranged|located|set|signed|tired)\b"
    r"|\bpostpon(?:e|es|ed)\b|\bdelay(?:s|ed)?\b|\bput back\b|\bbrought forward\b|\bpushed (?:back|to)\b|\bput (?:(?:the|my|our|it|his|her|their)(?: [a-z]+){0,2} )?off\b(?! (?:by|from)\b)|\btook over\b|\bhired\b|\bjoined\b|(?<!\bis )(?<!\bare )(?<!\bwas )(?<!\bwere )\bleft\b(?! of\b)"
    r"|\bstopped\b|\bg[ai]ve[n]? up\b|\bgone\b|\bsold\b|\bended\b|\bgoodbye\b|\bused to\b|\bformerly\b|\bpreviously\b"
    r"|\bbec(?:ame|ome)\b|\bupgraded\b|\b(?:up|down) (?:to|from)\b|\braised\b|\blowered\b|\bincreased\b|\breduced\b"
    r"|\bturned\b|\bstarted\b|\btransferred\b|\bquit\b|\bbroke up\b|\bsplit up\b|\bconverted\b|\bditched\b|\bdropped\b|\bstart(?:s|ing)?\b"
    r"|\b(?:has|have) (?:given|got)\b|\bg[ai]ve(?:n|s)? (?:us|me|them) (?:more|extra) time\b|\bworn out\b|\bafter all\b|\bover to\b|\bwent (?:up|down|from|to)\b|\blost interest\b"
    r"|\bcancell?ed\b|\bresigned\b|\bstepped down\b|\bbacked out\b|\bdropped out\b|\bcalled off\b|\bbroke(?:n)? off\b|\bdivorced\b|\bseparated\b|\b(?:is|are) off(?=$|[,.;!])"
    r"|\b(?:has|have) (?:[a-z]{2,}(?:ed|wn|en) (?:to )?(?=\d)|[a-z]{2,}(?:ed|wn|en) to\b)"
    rf"|{_SHIFTED})",
    rf"{_SHIFTED_ZH}"
    r"|现在|如今|目前|眼下|这(?:周|个?月|天)起|从.{1,6}起|改|换|变|搬|[推延]后?[一两三四半\d]{1,2}个?(?:天|周|星期|月|小时)|转(?:到|行|学|为|做|去)|新|跳槽|涨|降|推迟|提前|延期|延后|延误|调[到整]|接替|停了"
    r"|作废|迁[到往至]|剩|晚点|退(?:了|掉|出|婚)|解除|取消|报废|分手|离婚|离开|离职|辞|戒|卖(?:了|掉)|迷上|胜过|不再|不行了|[不没].{1,12}了(?=$|[，。！,.;；])|放弃|取代|代替|多给了时间|升(?:到|为|职)|告别|接手|加入",
)
"""Marks a change. In English each begins with a word, so other positions are not tried."""
QUOTED_SELF = re.compile(
    r"[\"“「『][^\"“「『”」』]*(?:\b(?:i|i['’]m|i['’]ve|my|me|we|our)\b|[我咱])|(?:^|\s)['‘](?:i|i['’]m|i['’]ve|my|we|our)\b",
    re.IGNORECASE,
)
"""A quotation with "I" quotes a person, maybe the speaker at another time."""
DENIES = re.compile(r"\b(?:not|never)\b|\b(?:have|has) no\b|(?<!比)不(?![过错仅但止管论久少同断])|没", re.IGNORECASE)
DENIES_NOW = Both(r"\b(?:am|is|are|do|does|will) not\b|\bno longer\b", r"不[\u4e00-\u9fff]{1,6}了|不再|取消")
"""Denies what holds, not what happened once."""
CANCELS = Both(r"\bcancell?ed\b|\bcalled off\b|\b(?:is|are) off(?=$|[,.;!])", r"取消|作废|泡汤")
ADMITS = re.compile(
    r"\b(?:wrong|typo|mistak\w+|mixed|misread|mistyped|misspoke|my bad)\b|[记写打看说搞弄算听填][错混]|笔误|口误",
    re.IGNORECASE,
)
"""Laughter about one's own mistake is no joke."""
LEAVES_OPEN = re.compile(
    r"\?|？|\b(?:assum(?:e|ing)|picture (?:me|us|him|her)|hypothetical(?:ly)?|in theory|theoretically|in another life|as though|as if|provided|in case"
    r"|let us say|(?:^|[,;] )say (?:i|we|my)|otherwise|(?<![a-z] )had (?:i|we|he|she|they|my \w+) (?:not )?\w+ed\b|were (?:i|we|he|she|they|my \w+) (?:to\b|\w+ing\b|in\b|at\b|an?\b)"
    r"|for the sake of argument|in a parallel|alternate|alternative universe|fictional|fantasy|daydream\w*|tempted|rather not|no way)\b"
    r"|(?:^|[,.;!:] ?)(?:please )?(?:do not|never|don['’]t) (?:ever )?(?!(?:know|live|work|have|need|like|drink|eat|play)\b)[a-z]|\bnot (?:that|because|like)\b"
    r"|千万(?:别|不要)|别再?把|不要把|(?:^|[,;。!])(?:别|不要)|不是说|(?:不是|并非|没有)不|要不是|不知道|不清楚|就算|即使|哪怕|设想|想象|倘若|假使|若[是我]|换作|除非|就好了|理论上|幻想|白日梦|不然|否则|真想"
    r"|^(?:please )?(?:do not|don't|let us)\b|^(?:别|不要)|\b(?:if|whether|would|could|might|maybe|perhaps|possibly|probably|may(?= (?:be|have|not|[a-z]+))(?-i:(?<=may))|unless|imagine|imagin(?:ing|ed)|suppose"
    r"|plan(?:s|ned|ning)? to|planning|think(?:ing)? (?:about|of)|consider(?:s|ing|ed)?|toying|hop(?:e|es|ing)|wish(?:es)?(?! me| us)"
    r"|dream(?:s|ed|t|ing)?|want(?:s|ed)? to|like to|some ?day|one day|some time|eventually|undecided|not (?:sure|decided|know)|nothing is decided"
    r"|almost|nearly|pretend(?:s|ing|ed)?|kidding|jok(?:e|ed|ing)|gonna|going to (?!(?:the|a|my|our|be in)\b)(?-i:(?=[a-z]))|ought"
    r"|refus(?:e|ed)|declined|turned (?:\w+\s){1,6}?down|never)\b"
    r"|\bi(?:'d| would)\b|\bnext (?:year|spring|summer|autumn|fall|winter)\b"
    r"|如果|要是|假如|假设|万一|的话|可能|也许|或许|说不定|大概|"
    + _PLANS
    + r"|要不要|希望|但愿|梦|(?<![\u4e00-\u9fff])以后|[我你他她们]以后(?![^，。,.！!]{0,24}了)|以后(?=[我再要想会就可还])(?![^，。,.！!]{0,24}了)|等[^，。！？]{1,12}以后"
    r"|还没[定决]|将来|过几年|有一天|哪天|明年|开玩笑|哈哈|差点|[吗么呢吧](?=$|[。！？，])|以为(?![^。！!]{0,40}(?:其实|结果|原来|才))|绝不(?!是)|不想|不愿|拒绝|建议|似的|好像|简直",
    re.IGNORECASE,
)
"""No statement of fact: a question, a hypothesis, a plan, a wish, a refusal, a joke."""
UNREAL = Both(
    r"\bif\b(?! (?:you|anyone|anybody|someone|somebody)\b)|\b(?:suppose|imagine|imagin(?:ing|ed)|wish(?:es)?(?! me| us| you)|dream(?:s|ed|t|ing)?"
    r"|daydream\w*|kidding|jok(?:e|ed|ing)|pretend(?:s|ing|ed)?|hypothetical(?:ly)?|in theory|theoretically|fictional|fantasy|as if|as though"
    r"|(?:thinks|believes|assumes|supposes|guesses|imagines|swears|insists|is convinced|is sure) (?:that )?(?:i|i'm|i've|my|we|our)\b"
    r"|asked (?:me |us )?(?:if|whether|what|when|where|who|how|why)|in another life|in a parallel|in the (?:film|movie|novel|book|series|story|game|play))\b",
    r"如果|要是|假如|假设|倘若|假使|的话|就好了|但愿|希望|梦[见到里]|做了?个梦|设想|想象|开玩笑|哈哈|(?:电影|小说|剧|游戏|故事|(?<![\u4e00-\u9fff])书|(?<=[本这那的在])书)里"
    r"|以为(?!自己)(?![^。！!]{0,40}(?:其实|结果|原来|才))|(?<!我)(?:觉得|认为|猜|断定)我(?!们?[该应])|问[过了]?我[^，。,.]{0,12}?(?:什么|哪|谁|几|多少|吗|(?P<twice>[\u4e00-\u9fff])不(?P=twice)|有没有|是不是)",
)
"""Asserts nothing: a condition, a wish, a dream, a joke, a story, an error of another one."""
DOUBTS = Both(
    r"\?|\b(?:whether|would(?! not (?!be\b|have\b|mind\b))|could|might|maybe|perhaps|possibly|unless|(?:plan|hope|intend)(?:s|ned|ed|ning|ing)? to|want(?:s|ed)? to|like to"
    r"|think(?:ing)? (?:about|of)|consider(?:s|ing|ed)?|toying|some ?day|one day|undecided|not (?:sure|decided)|tempted|should (?:i|we))\b"
    r"|\bi(?:'d| would)\b",
    r"[?？]|[吗么呢](?=$|[。！？，,.!])|可能|也许|或许|说不定|" + _PLANS + r"|要不要|要不|还没[定决想]|将来|有一天",
)
"""Asks, plans or weighs something. "She would not eat it" tells of a refusal."""
EXCHANGED = re.compile(
    r"\b(?:changed|switched|swapped|replaced|got a new) (?:(?:my|our|the|his|her|their) )?(?:\w+ )?$|换了?(?:新|个|家)?$",
    re.IGNORECASE,
)
"""Before the thing that has another value now."""
SWITCHES = Both(
    r"\b(?:switched|changed|converted|migrated) (?:[a-z' ]{1,20} )?(?:over )?to\b", r"[改换转](?:用|到|成|为|去|做)"
)
"""One value takes the place of another."""
GOES = Both(r"\b(?:moved|relocated|transferred) (?:[a-z' ]{1,20} )?(?:over )?to\b", r"[调迁移搬](?:到|去|至|往)")
"""One place takes the place of another."""
ANOTHER = re.compile(
    r"\balso\b|\btoo\b(?! (?:much|many|late|early|long|big|small|expensive|far|old|hard))|\bas well\b|\bbesides\b|\bon top of\b"
    r"|\banother\b|\bsecond\b(?! (?:of|thoughts?))|\bin addition\b|\badditional(?:ly)?\b|\bone more\b|\bstill\b|\bsometimes\b"
    r"|\boccasionally\b|\balternat|\bboth\b|\bextra\b|\bspare\b|\bguess\b"
    r"|除了|还(?!是|没|款|钱|给|书|会|得|剩|欠|差)|也(?!许)|第二|另外?一|又(?!改|换|变|[搬调转推延挪回]|[\u4e00-\u9fff]{1,2}[回到]|延期|推迟)|之外|有时|偶尔|同时|备用|仍",
    re.IGNORECASE,
)
"""Adds to known facts, or keeps them."""
ON_OCCASION = re.compile(
    r"\b(?:on|at) (?:the )?weekends?\b|\bfor (?:now|once|today|the moment)\b"
    r"|\bjust (?:for )?(?:today|this)\b|\bduring\b|\bin (?:the )?(?:spring|summer|autumn|winter|morning|evening)s?\b|\bwhenever\b"
    r"|^(?:this|next) (?:week|month|weekend)\b|\btemporarily\b|\bwhile\b|\bthis (?:once|time)\b|\bexcept\b|(?<![长上])周末|暂时|临时|这次|下不为例|破例|这周[^，。]{0,12}才|偶然|[就只仅](?:是|有)?[这今]|这周[一二三四五六日天]|\b(?:only|just) (?:on|this|that|today|tomorrow)\b"
    r"|\b(?:day|week|weekend|month|today|tonight|tomorrow|once|time)(?: only|, only)\b",
    re.IGNORECASE,
)
"""Limited to some occasions."""
ON_DAYS = re.compile(
    r"\bon (?:mon|tues|wednes|thurs|fri|satur|sun)days\b|^(?:周|星期)[一二三四五六日天](?!\d)", re.IGNORECASE
)
"""The same; refers to another day if the other statement also names one."""
WHICH = re.compile(
    r"(?<!\bjust this )\b(?:second|third|other|first|previous|last|next|upper|lower|(?<=\bthe )(?:left|right|front|back)|(?<=\bmy )(?:left|right|front|back)|outbound|inbound|return)\b(?= (?!(?:week|weekend|month|year|night|day|time|spring|summer|autumn|fall|winter|term|quarter|(?:mon|tues|wednes|thurs|fri|satur|sun)day|(?:jan|febr)uary|march|april|may|june|july|august|(?:septem|octo|novem|decem)ber|name|floor|grade|class)s?\b)(?!(?:to|from|in|on|at|for|and|up|by|the|my|our|of|is|was|isn|hurts)\b)[a-z])"
    r"|(?<=\bflight )(?:out|home|back)\b|(?<=\btrain )(?:out|home|back)\b|(?<=\b(?:ferry|coach) )(?:out|home|back)\b|(?<=\bway )(?:out|home|back)\b"
    r"|\b(?:daily|weekly|biweekly|fortnightly|monthly|quarterly|yearly|annual)\b(?= [a-z])"
    r"|(?:(?<=\bmy )|(?<=\bour )|(?<=\bthe ))(?:morning|afternoon|evening|night|weekend|summer|winter)\b"
    r"(?= (?!(?:i|we|you|he|she|it|they|is|was|of|and|or|to|at|in|on|from|before|after|the|my|our)\b)[a-z])"
    r"|\b(?:day|night)(?= shifts?\b)"
    r"|第[一二三四五]|去程|回程|返程|另|(?:早上|中午|晚上|睡前)(?=的)|[早中晚夜](?=班)|[周月年](?=[会报])",
    re.IGNORECASE,
)
"""Distinguishes one of several."""
LABELLED = 500
"""Characters of a text that are searched for a label: a longer text has no single subject."""
_HAN_LABEL = (
    r"(?:(?P<no>\d{1,3}|[一二三四五六七八九十]{1,3})号|(?P<letter>[A-Za-z甲乙丙丁]))"
    r"(?!房租|房贷|门诊|门票|车票|车展|车检|船票|店里|店庆|床垫|教师节|班会|班车|病假|服务|桌游)(?=[楼栋房室车机线棚库仓店门桌柜炉塔井泵站馆厅池栏舍服教窗包院区桥船台田塘圈箱罐缸窑厨病床座摊铺园梯组班队]|会议室|会场|考场|展厅|球场|食堂|通道|工位)"
)
LABEL = re.compile(
    r"(?:^|[.;:,]\s+|\b(?:of|for)\s+)(?:(?:the|my|our|and|but)\s+)*(?:[a-z]+\s+)?(?!(?:ha[sd]|was|around|about|some|only|over|under|after|before|until|till|since|another|nearly|almost"
    r"|windows|version|python|plan)\b)[a-z]{3,}\s(?:no\.?\s?|number\s|#)?"
    r"(?P<label>\d{1,3}\b|(?-i:[A-HJ-Z])\b)(?=(?:'s)?\s(?:now\s|also\s|still\s)?(?:is(?!\s(?:my|our|what|the)\b)|was|has|had|got|went|will|can|must|runs|takes"
    r"|needs|uses|pays|costs|opens|closes|starts|ends|begins|goes|gets|belongs|holds|keeps|stands|makes|gives|works|reports|serves"
    r"|listens|lives|sends|leaves|feeds|moves|moved|meets|plays|leads)\b)"
    rf"|(?:^|[，。；：、！,;]\s*|[把给将])(?:我们?|咱们?)?的?{_HAN_LABEL}",
    re.IGNORECASE,
)
"""A number or letter that distinguishes the subject of a statement: "machine 2 now runs", 二号机床的. Elsewhere it may be
the value: "I am in room 12"."""
LABEL_ASKED = re.compile(
    r"\b(?!(?:all|the|these|those|our|for|than|take|takes|pay|pays|about|around|after|before|has|have)\b)[a-z]{3,}"
    rf"\s(?:no\.?\s?|number\s|#)?(?P<label>\d{{1,3}}\b(?!\s[a-z]+s\b)|(?-i:[A-HJ-Z])\b)|{_HAN_LABEL}",
    re.IGNORECASE,
)
"""The same in a question, without counts ("the 3 machines")."""
RANK = re.compile(
    r"\b(?:(?P<elder>older|elder|eldest|oldest|big(?=\s(?:brother|sister)))"
    r"|(?P<younger>younger|youngest|little(?=\s(?:brother|sister)))|(?P<middle>middle))\b",
    re.IGNORECASE,
)
"""Which of several relatives, within the words that name one."""
HAN_RANKS = {
    **dict.fromkeys("大长哥姐", "elder"), **dict.fromkeys("小幼弟妹", "younger"), "二": "second", "三": "third",
}  # fmt: skip
"""The same by the character before a relation, or its last one: 大女儿, 哥哥."""
HAN_SIDES = {**dict.fromkeys("外姥舅", "maternal"), **dict.fromkeys("奶爷叔伯姑", "paternal")}
"""The side of the family by a character of a relation; the English word has both."""
DISTINGUISHED = re.compile(rf"{LABEL.pattern}|{RANK.pattern}|[{''.join((*HAN_RANKS, *HAN_SIDES))}]", re.IGNORECASE)
"""May have a label, a rank or a side."""
STRONG = re.compile(
    r"\b(?:new|any ?more|no longer|chang|switch|swap|trad|replac|instead|stopp|g[ai]ven? up|gone\b|end(?:ed|s)\b|used to|quit|convert|ditch|dropp|over to"
    r"|moved?\b|relocat|hired|left\b|retrain|retired|became|from today|transferr|turned)"
    r"|改|换|变|搬|转|新|停了|作废|戒|胜过|不再|不行了|放弃|取代|代替|跳槽|离开|从.{1,6}起|[不没].{1,12}了",
    re.IGNORECASE,
)
"""Changes that end the former state; "now I play football" may be an addition."""
OCCASIONS = re.compile(
    r"\b(?:summer|winter|spring|autumn|christmas|easter|weekend|honeymoon|anniversary|new year|thanksgiving|birthday|wedding)\b"
    r"|春节|新年|元旦|暑假|寒假|圣诞|五一|十一|国庆|中秋|端午|周末|蜜月|纪念日|婚礼",
    re.IGNORECASE,
)
"""Purpose of a journey or a party."""
OLD_ONE = re.compile(
    r"\b(?:my|our|the|his|her|their) (?:old|former|ex)\b|(?<![辆台部间套只把个件])旧|前任|老(?=手机|房|车|公司|家的)",
    re.IGNORECASE,
)
"""Refers to a value that was already replaced."""
OF_THE_PAST = re.compile(
    r"\bago\b|\bas a (?:child|kid|student|teenager|boy|girl|young)\b|\bback (?:in|then)\b|\bat (?:school|university|college|\w+teen|the time)\b(?=[, ]\s?i\b)"
    r"|\bwhen i was\b|\bin my (?:\w+ )?(?:twenties|thirties|teens|youth|childhood|first year|days|student)\b|\bmy first\b|\bbefore (?:my|all|the(?! \d)|that|i|we)\b"
    r"|\b(?:for|that) (?:one|a) (?:summer|winter|while)\b|\bonce (?:lived|worked|had|was|did|drove|ate)\b"
    r"|\blast (?:year|summer|winter|spring|autumn|fall)\b(?=[^.]*\b(?:lived|was|had|did|ate|drove|ran|used|spent|for)\b)"
    r"|毕业之?后|以前(?=我)|年前|从前|小时候|上学(?:的)?时|当兵|学生时代|年轻时|"
    + FORMERLY_ZH
    + r"|曾|去年(?!.{0,4}起)|岁时|[住工作吃干练过]过(?!敏|生日|节)|第一[份家辆年]|之前(?:我|在|的)|前我",
    re.IGNORECASE,
)
"""Refers to another time."""
_FILL = (
    r"(?:(?:anymore|a|an|the|my|our|his|her|their|your|its|in|at|on|to|for|as|by|with|of|be|being|called|named|eating|doing|playing"
    r"|driving|working|living|going|like|likes|liking|love|loves|enjoy|enjoys|eat|eats|drive|drives|live|lives|work|works"
    r"|play|plays|do|does|meet|meets|prefer|prefers|old|that|this|one|employed|based|teacher|taking|take|takes|using|use"
    r"|is|was|are|were|it|project|name|code|car)\s)*"
)
FORMER_BEFORE = re.compile(
    r"(?:\b(?:no longer|not|never again|from|instead of|rather than|replac(?:e|es|ed|ing)|in place of|g[ai]ven? up|quit|stopped|"
    r"left|sold|ended|goodbye|bye|away from|out of|swapped|traded(?: in)?|exchanged|ditched|dropped|scrapped|used to|formerly|previously|over|was|were"
    r"|than|said|wrote|told you|made (?:it|that)|turned (?:it|that) into|switched from|done with|finished with|tired of|up from|down from"
    r"|forget|interest in|prefers? [^,;.!?]{1,30} to|previous|former|old(?: one)?|resigned (?:from|as)|stepped down as|backed out of|dropped out of|notice (?:at|to)|retired from|parted with|put|cancell?ed|called off|broke up with|split (?:up )?(?:with|from)|divorced|separated from|sick of)"
    rf"[,:]?\s{_FILL}[\"“']?"
    r"|(?:不是|不再(?:是|喜欢|吃|喝|住|在|去|叫|做|练|用|开|爱)?|[不没](?:想|去|住|吃|喝|叫|做|练|用|开|在|喜欢|爱)|从|换掉了?|离开了?|告别了?|胜过"
    r"|原来是|旧的是|之前是|以前是|比|[打写说看听记]成了?|取代了?|代替了?|而不是|放弃了?|退出了?|卖了|戒了|辞了|听不懂)\s*)$",
    re.IGNORECASE,
)
"""Words right before the former value."""
FORMER_BETWEEN = (
    (re.compile(r"\bnot [a-z]+(?: [a-z]+){0,2} $", re.IGNORECASE), re.compile(r"^ ?any ?more\b", re.IGNORECASE)),
    (re.compile(r"不再?[\u4e00-\u9fff]{0,2}$"), re.compile(r"^[^，。！？；,;!]{0,4}了(?:$|[，。！；,;!])")),
    (re.compile(r"[和跟与]$"), re.compile(r"^[^，。！,]{0,6}(?:退婚|分手|分了|离婚|离了|绝交)")),
    (re.compile(r"把$"), re.compile(r"^[\u4e00-\u9fff]?(?:换|改|卖|扔|送|退|停|戒|还)")),
)
"""不教数学了: the words between end, with any verb."""
IN_PLACE_OF = re.compile(r"\b(?:instead of|rather than|not|no longer)\b|不是|而不是", re.IGNORECASE)
"""Names the former value."""
OWNS = re.compile(r"^(?:['’]s (?!gone|history|no |over|sold|out|finished|off|not|been)|的)")
"""After a word that only names the owner or kind of the next one."""
BOUNDS = re.compile(
    r"[,;:!?，；。！？、—–…]+|(?<!\b[dD]r)(?<!\b[mM]rs)(?<!\b[mM]r)(?<!\b[mM]s)(?<!\b[sS]t)\.(?=\s|$)|\s(?=(?:so|and|but|because|cause|cuz|since|as)\s(?:I|we|he|she|they|it|my|our|his|her|their|the|it['’]s|I['’]m)\b)",
    re.IGNORECASE,
)
"""Separates consecutive parts of a statement."""
SPECIFIES = re.compile(
    r"^\W*(?:(?:and|but|so|or) )?(?:for|at|in|on|with|of|from|to|by|near|not|the|that|this|which|who|where|when|while|until|except|only|both|our|my"
    r"|i mean|meaning|namely|as|at least|if|or|than)\b|^\s*(?:指|就是|在|那|仅|只|除|至少|不是|我说的)",
    re.IGNORECASE,
)
"""Start of a part that specifies the thing, owner, place or time of the previous one."""
DEFINITE = re.compile(
    r"\b(?:my|our|his|her|their|the|[a-z]+['’]s)\s(?P<np>(?!(?:one|name)\b)(?:[\w'’-]+\s){1,4}?)(?:is|are|was|'s)\s",
    re.IGNORECASE,
)
DEFINITE_ZH = re.compile(
    r"(?:^|[，。！；,;!])我?们?的?新?(?P<np>[^，。！；,;!是叫]{1,8}?)(?:现在|已经|换成|改成)*(?:是|叫|姓|换成|改成)"
)
"""My NP is VALUE: implies a single value."""
REPLACES = re.compile(r"\breplac(?:ed|es)\b|\btook over\b|\bhired\b", re.IGNORECASE)
"""The subject is the new value, or the person who causes the change."""
ROLE = re.compile(
    r"\b(?:my|our) (?:new |current )?[a-z-]+(?: [a-z-]+)? (?:is|['’]s) (?:now )?(?:called )?(?-i:[A-Z])|\b(?-i:[A-Z])[\w-]+ (?:is|['’]s) (?:now )?(?:my|our) [a-z]"
    r"|我们?(?:现在)?的?新?[^，。,是]{2,4}(?:现在)?是|是我们?的?[^，。,]{2,4}(?:$|[，。,!])",
    re.IGNORECASE,
)
"""NAME is my ROLE, or the reverse."""
FORMER_SOMEWHERE = re.compile(
    r"\b(?:not anymore|instead of|rather than|replac(?:e|es|ed|ing)|g[ai]ven? up|lost interest)\b[^,;:.!?]*$|不再[^，。；：,]*$",
    re.IGNORECASE,
)
"""The same with other words between, if these have no other known meaning."""
FORMER_AFTER = re.compile(
    r"^(?:['’]s (?:gone|history|no longer|no more|over|sold|out|finished|off)\b|\sand (?:I|me) (?:broke (?:up|off)|split|divorced|separated)\b"
    r"|[\"”']?\s(?:is|are|was|were|has|have)(?: been)? (?:gone(?! (?:up|down|to|from|over|back|on)\b)|history|no longer|no more|over|sold|replaced|out|not|closed|finished|taken over"
    r"|off|past|called off|cancell?ed)\b|\s(?:got |are |have )?(?:divorced|separated|split up|broken up)\b"
    r"|\s(?:broke|called) off (?:the|their|our) (?:engagement|wedding)\b"
    r"|\s(?:has |have )?(?:just |finally )?[a-z]{2,}(?:ed|ft|oke|ent|old)\b[^,.;]{0,20}[,.;].*\b(?:now|these days)\b|\s(?:no more|any ?more|became|turned into|took|gave way|made way)\b"
    r"|(?:已经|也|都)?[\u4e00-\u9fff]{1,2}了[，。；,.;].*现在"
    r"|[\u4e00-\u9fff]?(?:退了|退掉|取消了)"
    r"|[”\"]?\s*(?:终于|已经|早就|现在|都|也|就){0,2}(?:退了|黄了|坏了|过期了?|到期了|关了|拆了|倒闭了?|不(?![错过得好同少久如仅是])[\u4e00-\u9fff]{1,2}了|搬?走了|搬出|丢了|退休|停了|不行了|作废|没了|卖了|没兴趣|不感兴趣|取消|不(?:再|是|做|练|吃|用|去|开|住|叫)|已经不|早就不|换成|改成|变成|换为|改为|离职|辞职|改名|换了|被))",
    re.IGNORECASE,
)
"""Words right after it."""
PARTED = re.compile(
    r"[,;:.!，；：。、–—]|\b(?:but|to|for|is|it|since|with|and|by|into|now|took|as)\b|换|而|成|到|是|改|给|去|来|在|为|叫|吃|住|开",
    re.IGNORECASE,
)
"""Required between a former value and the new one: "no longer the sushi at Kim's" has no new one."""
