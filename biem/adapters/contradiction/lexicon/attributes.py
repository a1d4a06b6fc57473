"""Classes of attributes with one value at a time, by the words used for them.

"My flat is in Graz", "I'm based in Graz" and 我在格拉茨租了个小房子 are of one class, with different verbs. The words of a
class are not part of the value: without them, the value and the thing with this attribute remain.
"""

import re

OF_BIRTHDAYS = "(?:party|parties|presents?|gifts?|cakes?|cards?|dinner|lunch|bash|trip|wish(?:es)?)"
HAN_OF_BIRTHDAYS = "(?:[会宴]|蛋糕|礼物|派对|聚会|贺卡|卡片|歌)"
"""After "birthday" these name another thing than a date of birth."""
_IN_USE = ("is", "are", "was", "were", "be", "been", "go", "goes", "went", "gone")
IN_USE = re.compile(rf"\b(?:{'|'.join(_IN_USE)}) live\b", re.IGNORECASE)
"""Something is in use, or told as it happens: "version 3 is live"."""
_LIVE = "".join(rf"(?<!\b{word} )" for word in _IN_USE) + r"live[sd]?"
_NO_CAR_OR_LOCK = "(?!了?一?[家间]|[庭会完始心发业学幕放张口玩工题票户源药支课奖花店])"
"""After 开, which then neither drives nor opens: 开庭, 开会, 开了家店."""
_CLASSES = {
    "home": (
        rf"{_LIVE}|(?<!\ba )(?<!\bmy )(?<!\bhis )(?<!\bher )(?<!\btheir )living|resid(?:e|es|ed|ing)|based|homes?|house|flat|apartment|condo|address|moved?|relocat(?:e|ed|es)"
        r"|settled|small place|place|move|moving|(?:town|city)(?! (?:council|hall|cent(?:er|re)|library|museum|park|archive|marathon|band|office|planner|map|tax|board)s?\b)|rent(?:ed)?(?= (?:an?|the) (?:flat|room|house|place))",
        r"居住|住在|住址|住|安了?个?家|家在|的家(?![庭人长里具])|小?房子|租了|搬家|搬到|搬去|搬|定居|新家|老家在",
    ),
    "origin": (r"born|grew up|hometown|originally", r"出生|老家|长大|家乡"),
    "job": (
        r"work(?:s|ed|ing)? as|profession(?:al|ally)?|occupation|careers?|living as|(?:my|his|her|their|a) living|retrained|by trade"
        r"|trained|job title|job|earns?|employed as|as an?",
        r"职业|谋生|职位|转行|改行|专业做|从事|靠当|当了?|一名|工作是",
    ),
    "employer": (
        r"work(?:s|ed|ing)? (?:at|for|with)|employ(?:ed|er|s)|company|firm|position at|positions?|hired|job at|joined|(?<!\bis )(?<!\bare )(?<!\bwas )(?<!\bwere )left(?! of\b)|payroll|staff"
        r"|works?(?! (?:trips?|phone|laptop|computer|e-?mail|clothes|shoes|party|lunch|dinner)\b)|working|job (?:at|with)|role at",
        r"上班|任职|就职|雇主|公司|跳槽到?|单位|有份工作|份工作|离职|入职|离开了?|工作",
    ),
    "school": (
        r"pupil|student|schools?|goes to|attends?|enrolled|transferred|stud(?:y|ies|ied|ying)",
        r"上学|读书|念书|学生|学校|就读|转到|转学|转去|在读|读大学",
    ),
    "sport": (
        r"sports?|trains?|training|practi[cs]e[sd]?|exercise|workouts?|work out|play(?:s|ed|ing)?|took up|started",
        r"运动|锻炼身体|锻炼|迷上了?|练习|练|常去|健身",
    ),
    "diet": (r"diet|eat(?:s|ing)?|food|meals?|strictly", r"饮食|安排饭菜|饭菜|坚持|吃的|吃"),
    "car": (
        r"cars?|driv(?:e|es|en|ing)|drove|garage|vehicle|get around|gets around|park(?:ed|s)?|own(?:s|ed)?"
        r"|bought(?= (?:(?:an?|the|my|our|another|new|used|second-hand|old|cheap|little|small|big) )*"
        r"(?:(?-i:[A-Z])|cars?\b|vans?\b|suv\b|truck|estate\b|hatchback))|wheels",
        rf"新车|换车|车库里?|车(?![站票上程次厢])|停着|开的是|开着?{_NO_CAR_OR_LOCK}|一辆|辆|出门"
        r"|买了(?!一?[只件本张双条个盒瓶杯套把块些份]|一?[台部][^，。,车]{0,6}(?:机|器|电脑|电视|冰箱|空调|琴|扇|灯))",
    ),
    "name": (
        r"names?|called|named|renamed|known|calls?|goes by|(?<=\bis )(?:no longer |not |now )*(?:my|our|his|her)|took over|known",
        r"名字|名叫|叫做|叫|改名|命名为?|新名字|认识|接替|是我们?(?:的|最好的)|(?<=[板导友师东])是(?!一?[个位名])",
    ),
    "favourite": (
        r"favou?rites?|best|nothing beats|when it comes to|most|prefers?|above all",
        r"最喜欢的?|最爱的?|说到|什么都比不上|比不上|胜过|最棒的",
    ),
    "liking": (
        r"likes?|loves?|fond of|enjoys?|happy|into|hates?|dislikes?|keen on|(?:makes|made) (?:me|him|her)",
        r"喜欢|爱吃|爱喝|爱|开心|讨厌|迷恋|兴趣|享受",
    ),
    "trip": (
        r"going|goes|go(?= to)|takes? (?:us|me|him|her|them)|off to|travel(?:s|ling|ing)?|destination|trip|fly(?:ing)?|spend(?:ing)?|visit(?:ing)?|heading",
        r"计划去|目的地|打算去|旅行|旅游|飞往|去(?![程年世])",
    ),
    "weight": (r"weigh(?:s|t|ed)?|scales?", r"体重|秤上?显示|称的?|重|[瘦胖]到"),
    "run": (r"runs?|running|jog(?:s|ging)?", r"晨跑|跑步|跑的是|跑了?"),
    "birthday": (
        rf"birthdays?(?! {OF_BIRTHDAYS}\b)|born|celebrat(?:e|es|ed)|date of birth",
        rf"过?生日(?!{HAN_OF_BIRTHDAYS})|出生|诞生",
    ),
    "due": (
        r"due|deadline|deliver(?:s|y|ed)?|deadlines|ship(?:s|ped)?|hand(?:ed)? in|launch(?:es)?",
        r"截止日期|截止|交付|到期|之前交|交|期限",
    ),
    "code": (
        r"codes?|passwords?|pin|type[ds]?|opens?|passcodes?|combination|enter|unlock(?:s|ed)?",
        rf"密码|开{_NO_CAR_OR_LOCK}|要输|输入?|口令",
    ),
    "appointment": (
        r"appointments?|see(?:s|ing)?|visit|booked|date with",
        r"预约|去看|看|约了?|改约到?|的预约",
    ),
    "amount": (
        r"costs?|(?<!\bit )comes? to|amounts? to|pay(?:s|ing)?|earns?|raised|per month|monthly|a month|every month|prices?",
        r"每个?月|合计|一共|花费|要付|涨到|降到|变成了?",
    ),
    "age": (r"years? old|aged?|turned", r"岁|年龄"),
    "phone": (r"(?:phone|mobile|cell) numbers?|number", r"电话号码|手机号码?|电话|号码"),
    "relationship": (
        r"single|married|divorced|engaged|engagement|widowed|dating|relationship",
        r"单身|已婚|结婚了?|离婚了?|订婚了?|恋爱",
    ),
    "identity": (r"(?:i|he|she) (?:am|is) (?:now |not )?(?=an?\b)", r"我?(?:准确地说，)?我是(?=一?[名个位])"),
}
"""English words (matched at word boundaries) and Chinese words of each class."""
SINGLE = frozenset((
    "home", "job", "employer", "school", "sport", "diet", "car", "weight", "run", "birthday", "age", "phone",
    "relationship",
))  # fmt: skip
"""Classes with one value per person; others have one for each thing or person named with them."""
_NEAR = {"identity": "job"}
"""Classes that are expressed with the words of another one."""
_HAN = "\u4e00-\u9fff"
# Only the words are compared without case: a flag for the whole has each of 20,000 characters looked up.
_ENGLISH = {
    name: re.compile(rf"(?:\b|(?<=[{_HAN}]))(?i:{english})(?:\b|(?=[{_HAN}]))")
    for name, (english, _) in _CLASSES.items()
}
_CHINESE = {name: re.compile(chinese) for name, (_, chinese) in _CLASSES.items()}


_LATIN = re.compile("[A-Za-z]{3}")
_MIDST = re.compile(r"(?<=[\w,’'] )[A-Z]|(?<=[\w,’']  )[A-Z]")
"""A capital within a sentence: part of a name, as in West Park School."""


_BESIDE = re.compile(
    r"\b(?:near(?:er)?|close(?:r)? (?:to|by)|next to|from|by|behind|opposite|outside|beside|below|above|under|past|around"
    r"|at|to|on|for|inside|into|through) (?:(?:my|our|his|her|their|the) )?$|离(?:我们?)?$",
    re.IGNORECASE,
)
_FAR = re.compile("离(?:我们?)?$")
_BESIDE_IT = re.compile("(?:处|址|的(?:地方|小区))?(?:附近|旁|楼下|对面|门口|隔壁|周边|边上)")
_BEFORE = 24
"""Characters before a place in which a preposition is looked for."""


def _is_beside(preposition: re.Pattern[str], text: str, start: int, end: int) -> bool:
    """Whether a place only says where something else is: "a gym near my place" tells nothing of the home."""
    before = text[max(0, start - _BEFORE) : start]
    return preposition.search(before) is not None or _BESIDE_IT.match(text, end) is not None


def spans(text: str, *, chinese: bool) -> dict[str, list[tuple[int, int]]]:
    """Positions of a text's words of each class."""
    capitals = frozenset(one.start() for one in _MIDST.finditer(text))
    english = _ENGLISH if not chinese or _LATIN.search(text) else {}
    found = {
        name: [one.span() for one in pattern.finditer(text) if one.start() not in capitals]
        for name, pattern in english.items()
    }
    for name, pattern in _CHINESE.items() if chinese else ():
        found[name] = found.get(name, []) + [one.span() for one in pattern.finditer(text)]
    if "home" in found:
        found["home"] = [place for place in found["home"] if not _is_beside(_BESIDE, text, *place)]
    for name in ("employer", "school") if chinese else ():
        found[name] = [place for place in found.get(name, ()) if not _is_beside(_FAR, text, *place)]
    return {_NEAR.get(name, name): places for name, places in found.items() if places}
