"""Requests for all that is known of the user: "What do you know about me?", "Tell me all you know about my family".

No memory says what is known, so such a request resembles none. It is answered by the questions that people mean by it.
"""

import re
from typing import Literal

_LONGEST = 120
"""Characters of a request that is read."""
Subject = Literal["me", "family", "health", "work", "home"]

_KNOWS = (
    r"(?:what|how much)(?: all)? (?:do|can|did) you (?:already |still |actually )?(?:know|remember|recall|have)"
    r"|what have you (?:learned|learnt|noted|stored)|what (?:have|did) i (?:ever )?(?:told|tell) you"
    r"|(?:tell|remind|show|give) me (?:again )?(?:everything|all|what|anything)(?: that)?"
    r" (?:you (?:know|remember|recall|have)|i told you|i've told you|i have told you)"
    r"|(?:summari[sz]e|list)(?: me)? (?:everything|all|what)(?: that)? you (?:know|remember)"
    r"|do you (?:know|remember) anything|everything you (?:know|remember)|tell me(?: more| something| all| everything)?"
)
_POLITE = "(?:请|帮我|能不能|可以)?"
_WHOM = "(?:关于)?我(?:的|们)?(?P<whom>家里?人?|家庭|健康|身体|工作|住处)?(?:的)?"
_OF = "(?:的情况|的信息|的事情?|方面的事情?)?"
_WHAT = "(?:哪些|(?:些)?什么|多少|些啥|啥)(?:情况|信息|事情?|东西)?"
_YOU_KNOW = "[你您](?:都|还|现在|目前|到底|所)*(?:知道|记得|了解|记住|记|掌握)了?"
_REQUESTS = tuple(
    re.compile(rf"^\W*(?:{pattern})\W*$", re.IGNORECASE)
    for pattern in (
        rf"(?:(?:so|and|ok|okay|well|please|can you|could you),? )*(?:{_KNOWS}) (?:about|of|on|regarding)"
        r" (?P<whom>[^?.,!]{2,40}?)(?: (?:so far|please|now|already|again))*",
        r"(?:(?:so|and|do you know|remember),? )?who (?:am i|i am)|describe me",
        rf"{_POLITE}{_YOU_KNOW}{_WHOM}{_WHAT}(?:吗|呢)?",
        rf"关于我(?:的|们)?(?P<whom>家里?人?|家庭|健康|身体|工作|住处)?[，,]?{_YOU_KNOW}{_WHAT}(?:吗|呢)?",
        rf"{_POLITE}(?:介绍|总结|概括|汇总|说说|讲讲|说一下|列出来?|列一下)(?:一下)?(?:{_YOU_KNOW}的)?{_WHOM}"
        "(?:情况|信息|资料|一切|所有信息|事情?|全部)?(?:吧)?",
        "我是谁[呀啊呢]?",
        rf"(?:关于|说说|讲讲|介绍一下)?(?P<whom>(?![你您])[^，,？?]{{2,14}}?){_OF}[，,]?{_YOU_KNOW}(?:的(?:都|全)|{_WHAT}).{{0,8}}",
    )
)
_SUBJECTS: dict[str, Subject] = {
    "me": "me", "myself": "me", "family": "family", "relatives": "family", "health": "health", "body": "health",
    "work": "work", "job": "work", "career": "work", "home": "home", "place": "home", "house": "home", "flat": "home",
    "家人": "family", "家里人": "family", "家里": "family", "家庭": "family", "健康": "health", "身体": "health",
    "工作": "work", "住处": "home",
}  # fmt: skip
_QUESTIONS: dict[Subject, tuple[tuple[str, str], ...]] = {
    "me": (
        ("What is my name?", "我叫什么名字？"),
        ("What do I do for a living?", "我是做什么工作的？"),
        ("Where do I live?", "我住在哪里？"),
        ("Who is in my family?", "我家里有哪些人？"),
        ("What am I allergic to?", "我对什么过敏？"),
        ("What don't I eat?", "我不吃什么？"),
        ("What do I like to do in my free time?", "我有什么爱好？"),
        ("How should you answer me?", "你该怎么回答我？"),
    ),
    "family": (
        ("What is my partner called?", "我爱人叫什么？"),
        ("What are my children called?", "我的孩子叫什么？"),
        ("Where does my mother live?", "我妈住在哪里？"),
        ("Where does my father live?", "我爸住在哪里？"),
        ("Where does my brother live?", "我哥哥住在哪里？"),
        ("Where does my sister live?", "我姐姐住在哪里？"),
    ),
    "health": (
        ("What am I allergic to?", "我对什么过敏？"),
        ("Which medicine do I take?", "我在吃什么药？"),
        ("Which illness do I have?", "我得了什么病？"),
        ("Which injury do I have?", "我受了什么伤？"),
        ("When do I see the doctor?", "我什么时候看医生？"),
    ),
    "work": (
        ("What do I do for a living?", "我是做什么工作的？"),
        ("Who is my employer?", "我在哪家公司上班？"),
        ("Who is my boss?", "我的老板是谁？"),
        ("What am I working on?", "我在做什么项目？"),
        ("When do I work?", "我几点上班？"),
    ),
    "home": (
        ("Where do I live?", "我住在哪里？"),
        ("How much rent do I pay?", "我的房租是多少？"),
        ("Who is my landlord?", "我的房东是谁？"),
        ("Who do I live with?", "我和谁住在一起？"),
    ),
}


def questions_about_user(text: str) -> tuple[str, ...]:
    """What a request for all that is known asks for; empty for other messages.

    Of the user, or his family, health, work or home the questions that people mean by it; of anything else its name.
    """
    said = text.strip()
    found = (
        next((one for pattern in _REQUESTS if (one := pattern.match(said))), None) if len(said) <= _LONGEST else None
    )
    if found is None:
        return ()
    whom = found.groupdict().get("whom") or "me"
    subject = _SUBJECTS.get(re.sub("^(?:my|our) |^我(?:的|们)?(?=.)", "", whom.lower()))
    chinese = re.search("[\u4e00-\u9fff]", said) is not None
    if subject is None:
        return (f"{whom}？" if chinese else f"{whom[0].upper()}{whom[1:]}?",)
    return tuple(pair[chinese] for pair in _QUESTIONS[subject])
