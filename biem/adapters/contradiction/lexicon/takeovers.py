"""Chinese words for changes in passing: verbs of change, ends of a former value, what names no subject."""

import re

_NOW = r"(?:现在|如今|眼下|目前|这阵子|这会儿|接下来|(?i:\bnow\b))"
_GO = "成|为|用|投|到|去|进|至|在|给|发|走|叫|吃|喝|坐|住|放|开|穿|刷|骑|订|找|跟|由|送|做|学|练|读|看|租|报|种|养|戴"
TO = re.compile(rf"[改换转调挪搬移迁][\u4e00-\u9fff]?(?:{_GO})|[改换转](?:了|上)?|变成了?|升级?到|改由")
"""A change by which one thing takes the place of another."""
_HAND = (
    r"交(?:给|到|由)|转给|让给|归|(?<![路自理缘事因])由(?![器于来])"
    r"|轮到|轮着|接手的?[\u4e00-\u9fff]{0,4}?是|顶上来?的?是|接[班替]的?是"
)
CHANGE = re.compile(rf"{_NOW}|都[是由归去在找]|{TO.pattern}|{_HAND}")
"""A change, before the value that comes in."""
NOW_IS = re.compile(rf"{_NOW}(?:已经|都|就|改)?(?:是|在|用|[放住跑挂停存摆]在|叫|归|由|跟着?)")
ENDED = re.compile(
    "(?:完|坏|没|停|断|丢|卖掉?|退休?|关门?|走|离职|辞职?|不干|不做|拆|取消|撤|下线|淘汰|过期|到期|死|报废|没货|缺货|断货|停产"
    r"|倒闭|不[\u4e00-\u9fff]{1,2})了?(?:$|[，。,])|(?:被调|调[去走回]|休产假|跳槽|退了|搬走|搬去)"
)
"""Of a former value, in its own clause."""
OF_A_VALUE = re.compile(
    "质量|价格|价钱|服务|态度|味道|口感|身体|信号|速度|效果|性能|手艺|电量|容量|尺寸|客服|年纪|脾气|自己|老师|医生|师傅|经理|老板|合同"
    "|房东|会员|网速|材质|颜色|手感|水质|环境|位置|老家|公司|店铺|家里|车间|总部|屏幕|电池|主板|内存|硬盘|系统|接口|涨价|[没断缺]货"
    "|停[业产]|装修|换人|住院"
)
"""Nouns for what any value has or undergoes: 顺丰价格太高 is about 顺丰."""
LED_IN = re.compile(
    r"(?:是由?|用的?是?|选[的了]?是?|叫|姓|走|发|投|找|吃|喝|坐|开|骑|住在?|[放停挂存摆种]在?|在|交给|外包给|租给|送给?|归|由"
    r"|跟着?|靠|[订装买学][的了]?是?|打|卖|演|当|带|养|做|刷|穿|喂)"
    r"(?:的是|了|着)?(?:一?[片个只家辆台条份位名种款间套匹本张双粒][^，。的]{0,4})?(?:[^，。的]{1,8}的)?\s*[\"“《「]?$"
)
"""A verb before a value, with what may stand between."""
IS = re.compile(
    rf"(?:一[直般])?{_NOW}?\s?(?:[A-Za-z]+ )?"
    r"(?:用的是|选的是|的?是由?|用|叫|姓|选了?|[放挂停存摆种]在|走|发|在)(?![不没])"
    r"|\s(?:is|are|runs?|lives?|stands?|sits) (?:(?:on|in|at|with|by) )?"
)
"""Right after a thing: what comes is its value."""
OF_ITSELF = re.compile(
    "(?:[的上]?(?:时间|日期|日子|地点|地址|位置|价格|价钱|费用|号码|密码|名字|名称|数量|剂量|频率|颜色|主题|人选|版本))"
)
"""An attribute that the older tells without naming it."""
NOT_NEW = re.compile(r"^(?:了|过|着|个|一|只|家|位|名|上|的|是|在|用|走|去|新|辆|台|条|\s)*")
"""Between a verb of change and the value."""
NO_TOPIC = re.compile(
    r"[^，]{1,8}(?:把|被|让|帮|替|给(?=[我咱他她你]))|我们|咱们?|大家|全[队家店]|从[^，]{1,8}?(?:起|开始)"
    r"|[上下这那]个?[周月年阵次]子?起?|往[前后]|最近|现在|如今|目前|眼下|已经|终于|后来|干脆|统一|只好|一律|最后|全部|以后"
    r"|今后|从此|暂时|直接|立刻|今天|昨天|前天|昨晚|今早|早上|晚上|中午|下午|月份?起|(?:店里|家里|公司(?![搬迁改换]))(?!的)|这边|那边|那块|这块|那个|这个"
    r"|这套|那套|一下|索性|重新|一次|一直|平时|每[天周月年次顿]|(?:量|称|测|数|算|查)了|的?(?:时间|日期|日子)"
    r"|(?i:\b(?:now|the|my|our|an?)\b)"
)
"""Who acts, when and how: no subject of a clause."""
NOT_LASTING = re.compile(
    "今天(?!起|开始|之后|以后)|今晚|今早|明天(?!起|开始)|明晚|后天|这[次回趟顿]|临时|一[次回趟]|有时|偶尔|差点|本来|下不为例|破例"
)
"""Of one occasion, or of what did not come about."""
ONLY_ONCE = re.compile("[就只仅]这|这一[天晚周]|这周[一二三四五六日天](?!起)")
"""The same, for the clauses after it too: 这周五停电，晨会改到十点."""
OTHER_PEOPLE = re.compile(
    "隔壁|对门|对面|楼上|楼下|旁边|大爷|大妈|大叔|大婶|人家|别人|别家|竞品|同行|同事|邻居|朋友|他们|她们|你们"
)
"""Others, by where or how the speaker knows them."""
ADDED = re.compile("另外?|还(?!是)|也|又(?=[加添养买招雇请开])|多了")
"""Adds to what is known, in the clause of the change …"""
BESIDES = re.compile("除了|除去|之外|另外")
"""… or anywhere."""
OF_TIME = re.compile(
    "(?i:weekend|(?:mon|tues|wednes|thurs|fri|satur|sun)day)|周[一二三四五六日天末]|星期|礼拜|[上中下]午|[早晚]上|凌晨|傍晚|睡前"
    "|[饭餐][前后]|[今明后]天|[今明]年|[一二三四五六七八九十]"
)
"""A value that is a time or a number."""
RECKONED = re.compile(
    rf"(?:[涨升降减加增缩调提推挪延移改换砍放剩掉变跌长瘦胖冲][\u4e00-\u9fff]{{0,2}}?[到至成]|只有|[只就还又]?剩下?|总共|一共|{_NOW}"
    r"|加起来|合计|改|换|涨|降|减|到)"
    r"(?:了|是|有|为|就|只|要|每[天周月年次]?|能|在|都|\s|[早晚上下中凌][上午晨]|周[一二三四五六日天])*$"
)
"""Right before a number: it tells how much there is now."""
RECKONS = re.compile(RECKONED.pattern.removesuffix("$") + r"\s?[\d一二两三四五六七八九十百千万半周星礼]")
"""The same, and the number."""
TOLD_BEFORE = re.compile(
    "(?:[改换变调挪](?:时间|日子|日期)?了|(?:时间|日子|日期)[^，。]{0,3}[改换变调挪]了"
    "|[涨降提]价?了?|提前了|推迟了|往[前后][^，]{1,3}了?)[，,]$"
    "|(?:(?:又|重新|再)[^，。]{0,4}(?:量|称|测|数|算|查|考)了?一?[次遍下回]?|复[查测])"
)
"""Before the clause of a number: the date of a thing was changed, or it was measured again."""
ORDINAL = re.compile(
    r"(?:第?[\d一二三四五六七八九十]+)(?![\d年月日天周岁次个点:：.])[\u4e00-\u9fff]|[\d一二三四五六七八九十]{1,3}点|[A-Z]?\d{2,}"
)
"""Tells one of several: 一楼, 二号, 六点那顿, 6308."""
FIGURES = re.compile(r"[\d.,:：零一二两三四五六七八九十百千万亿半第]+|周|星期|礼拜")
COUNTERS = frozenset(
    "个台张只条位人次片粒件号平斤本份层楼户桌杯盆箱节页章名辆款种套间岁度天周月年米寸分秒折级栋头枚棵株桶袋瓶页字公"
)
"""Characters that say what a number counts."""
OF_A_PLACE = re.compile("我?们?(?:公司|单位|学校|办公室|老家|家里|店里|宿舍|工地|爸妈家)(?!的)[^，。]{0,3}[换装改买配]")
"""Begins with a place, which has other things than the speaker: 我公司换了路由器，密码是…"""
LABEL = re.compile(r"[#№]\s?$")
"""Before a number that is a name."""
OWN = re.compile("[我咱]们?(?![的家妈爸哥姐弟妹])")
"""A clause that begins so is about the speaker."""
ONCE = re.compile("(?<![难不通超经])过$|^(?!.*[有到共剩是在]).*了$")
"""What happened once, which does not end: it tells of no state."""
NO_CLAIM = re.compile(
    r"^[\u4e00-\u9fff]{1,3}了(?:快|近|大半|[\d一二三四五六七八九十两几半多])+(?:年|个?月|天|周|辈子)[^，。]?$"
    "|^(?:[说提讲谈]到|说起|关于|至于|对了|顺便|另外|记一下|提醒)"
)
"""How long it has been so, or what it will be about: no separate claim."""
TITLES = re.compile("老师|师父|老板|领导")
"""Relations that are also titles of names: 陆老师."""
