"""The persons, things and places that a Chinese message mentions."""

import re

from biem.domain.speech.follow_up.dialogue import Gender, Person
from biem.domain.speech.follow_up.english_mentions import NAME
from biem.domain.speech.names import ADDRESSED, SURNAME, TITLE
from biem.domain.text import late

_H = "\u4e00-\u9fff"
_FEMALE = (
    "妈妈|母亲|老妈|妈|姐姐|姐|妹妹|妹|奶奶|外婆|姥姥|老婆|妻子|太太|媳妇|女朋友|女友|女儿|闺女|姑姑|姑妈|姨妈|小姨|大姨|舅妈|婶婶"
    "|嫂子|侄女|外甥女|孙女|表姐|表妹|堂姐|堂妹|岳母|丈母娘|婆婆|弟媳|闺蜜"
)
_MALE = (
    "爸爸|父亲|老爸|爸|哥哥|哥|弟弟|弟|爷爷|外公|姥爷|老公|丈夫|男朋友|男友|儿子|叔叔|舅舅|伯伯|大伯|姑父|姨父|侄子|外甥|孙子"
    "|表哥|表弟|堂哥|堂弟|岳父|公公|姐夫|妹夫"
)
_ANY = (
    "同事|朋友|同学|室友|邻居|房东|老板|领导|上司|老师|班主任|教练|医生|大夫|牙医|律师|中介|客户|师傅|徒弟|助理|阿姨|保姆|帮工"
    "|对象|孩子|宝宝|狗|猫"
)
_HOUSE = "酒店|客栈|民宿|餐厅|饭店|医院|学校|公司|健身房|少年宫|体育馆|咖啡馆|书店|诊所|口腔"
ROLE_OR_HOUSE = late(f"(?:{_ANY}|{_HOUSE})")
_KIN = f"(?:{_FEMALE}|{_MALE})"
_OWNER = "(?:我们?家?|咱们?家?|他|她|家里)"
TIME = (
    "(?:(?:这|下|上)?(?:周|星期|礼拜)[一二三四五六日天末]|今天|明天|后天|大后天|昨天|今晚|明晚|下个?(?:周|月)|上个?(?:周|月)"
    "|明年|去年|[一二三四五六七八九十]{1,2}月|国庆|春节|中秋|五一|元旦|早上|中午|下午|晚上)"
)
"""A day or another time, as a question names one."""
_NICK = (
    f"阿(?!姨|公|婆|爸|妈|里|富|根|拉)[{_H}]"
    f"|小(?!学|时|区|说|吃|心|孩|狗|猫|票|费|姨|组|号|米|店|型|数|城|镇|程|红|朋|姐|伙)[{_H}]"
    f"|老(?!师|板|家|公|婆|妈|爸|人|是|样|实|外|大|小|房|早|街|城|字|地|客|同|乡|年|了|的|旧|式)[{_H}]"
)
_TWICE = (
    "(?![在是有的了你我他她这那爸妈哥姐弟妹爷奶叔舅姑婶伯公婆宝常天刚谢慢好看问说想多少往渐偏仅每人年月周次种样件个统偷默悄稍快大试查找聊等常明处时"
    rf"高渐早晚事家星])(?P<twice>[{_H}])(?P=twice)"
)
_PERSON = late(
    f"(?P<kin>(?:{_OWNER}的?|[{_H}]{{2,3}}的)?{_KIN})(?![们夫家])(?!的?(?:{_KIN}|{_ANY}))"
    f"|(?P<titled>{ADDRESSED}{TITLE}|{SURNAME}(?:总(?!是|共|之|会|要|算)|主任|工(?!作|资|程)))"
    f"|(?P<nick>{_NICK}|{_TWICE})"
    f"|(?P<role>{_OWNER}的?(?:{_KIN}的)?(?:{_ANY}))"
    f"|(?:^|(?<=[，。！？跟和给找问约]))(?!{TIME})(?P<name>{SURNAME}(?![是的在有去来要会能么])[{_H}](?:(?![{_H}]*$)[{_H}])?)"
    "(?=的|来|发|在|说|要|有|跟|和|给|[，。！？]|$)"
    rf"|(?<![A-Za-z])(?P<latin>{NAME})(?![A-Za-z])"
)
_SUBJECT = late(
    f"^(?:(?:那|请问|现在|{TIME})[，,]?)*(?P<who>(?![我你他她它这那哪几什多怎谁现在新])[{_H}]{{2,3}}?)"
    "(?=的?(?:生日|电话|号码|手机|爸|妈|父母|老公|老婆|男|女|家在|家住|现在|做什么|在哪|住|叫|是做|是哪|什么时候|几|有什么|有没有"
    "|对什么|喜欢|爱吃|最近|今天|昨天|明天|(?<!本)来(?![着说想])|要来|发|说|对))"
)
"""A name of no known form: what stands before a matter of persons."""
_PAIR = late(f"(?:{_OWNER}的?)?(?:爸妈|父母|爷爷奶奶|外公外婆|孩子们|双胞胎)|(?:{_NICK})[和跟](?:{_NICK}|[{_H}]{{2}})")
_FEMALE_ROLE, _MALE_ROLE = late(f"(?:.*(?:{_FEMALE}))$"), late(f"(?:.*(?:{_MALE}))$")
_ASKS_WHO = late(f"谁|叫什么|姓什么|名字|哪位|哪个(?:{_ANY})")
_PLACE = late(
    f"(?:在|去|到|住)(?P<place>[{_H}A-Za-z0-9]{{2,8}}?)(?=[，。！？、]|$|当|做|上班|工作|学|里|楼|那|旁|附近|门口)"
    f"|(?P<named>[{_H}]{{0,6}}(?:{_HOUSE}))"
)
ASKED = (
    "什么时候|什么时间|啥时候|什么地方|多长时间|几点钟?|几[号月日]|哪一?[天年月周家个里儿趟班种款本位条只台间所辆些]|哪边|哪|多少钱?"
    "|多久|多大|多长|多远|多高|几(?:个|岁|年|次|天|楼|号线|块|节|层)?|什么(?:颜色|牌子|名字|样|意思)?|啥|谁|怎么样?|为什么|咋"
)
"""Words that ask for something."""
_INTERROGATIVE, _WITH_COPULA = late(ASKED), late(f"是?(?:{ASKED})的?")
_TAIL = late("[吗呢呀啊吧嘛啦来着的了，,。？?！!\\s]+$")
_EDGE = late("(?:现在|是|叫|要|有|在|到|的)+$")
_MOST_ASKED, _MOST_NAME = 24, 3


def persons_in(text: str) -> list[Person]:
    """The persons that a text names one by one, in order."""
    found = []
    for one in _PERSON.finditer(text):
        gender: Gender = ""
        if one["kin"] or one["role"]:
            gender = "f" if _FEMALE_ROLE.match(one[0]) else "m" if _MALE_ROLE.match(one[0]) else ""
        found.append(Person(one[0], gender, one.start(), one.end()))
    if not found and (subject := _SUBJECT.match(text)):
        found.append(Person(subject["who"], "", subject.start("who"), subject.end("who")))
    return found


def several_in(text: str) -> str:
    """Several persons that a text names together: 我爸妈, 小伍和阿明; empty without any."""
    found = _PAIR.search(text)
    return found[0] if found else ""


def thing_in(text: str) -> str:
    """A question without its interrogatives, 国庆订的酒店 of 国庆订的哪家酒店？; empty if it names no thing first."""
    asked = _INTERROGATIVE.search(text)
    if asked is None or asked.start() < 2 or "，" in text or len(text) > _MOST_ASKED:
        return ""
    rest = _EDGE.sub("", _TAIL.sub("", _WITH_COPULA.sub("", _TAIL.sub("", text))))
    return rest if len(rest) > 1 else ""


def place_in(text: str) -> str:
    """The place that a text names; empty without one."""
    found = _PLACE.search(_INTERROGATIVE.sub("，", text))
    return (found["place"] or found["named"]) if found else ""


def answer_in(reply: str) -> str:
    """The name that a reply consists of; empty if it says more, or gives a family name alone."""
    bare = _TAIL.sub("", reply)
    return bare if 1 < len(bare) <= _MOST_NAME and bare[0] not in "姓没不" and not re.search(TIME, bare) else ""


def asks_who(text: str) -> bool:
    """Whether a name is the answer."""
    return _ASKS_WHO.search(text) is not None
