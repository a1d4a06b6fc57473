"""Kinds of values: what a question asks for, and what a text gives."""

import re

WANTS = {
    "time": re.compile(
        r"\bwhen\b|\b(?:what|which) (?:date|day|time|month|year)\b"
        r"|几[号点月时]|什么时[候间]|何时|哪一?[天年]|[周期]几",
        re.IGNORECASE,
    ),
    "amount": re.compile(
        r"\bhow (?:much|many|old|tall|heavy|far|high|large)\b|多[少大高重远长]|几(?![号点月时])", re.IGNORECASE
    ),
    "name": re.compile(
        r"叫什么|什么名字|\bnames? of\b|\b(?:what(?:'s| is| are| was)|which)\b.*\b(?:called|named?)\b", re.IGNORECASE
    ),
    "digits": re.compile(
        r"\b(?:phone|card|account|flight|room|plate|passport) number\b|号码|[牌卡账证房]号", re.IGNORECASE
    ),
}
"""What a question asks for, by kind."""
_DIGIT = "[0-9一二两三四五六七八九十]"
GIVES = {
    "time": re.compile(
        r"\b(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|(?:jan|febr)uary|march|april|may|june|july|august"
        r"|(?:septem|octo|novem|decem)ber|(?:jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)(?= \d)|\d+(?:st|nd|rd|th)"
        r"|(?:19|20)\d\d|noon|midnight|o'clock|(?:half|quarter) (?:past|to)|today|tonight|tomorrow|yesterday"
        r"|(?:next|this|last) (?:week|month|year|weekend)|spring|summer|autumn|winter"
        r"|mornings?|afternoons?|evenings?|nights?|bedtime|weekends?)\b"
        r"|\d[:.]\d\d\b|\d\s?[ap]\.?m\b"
        rf"|{_DIGIT}\s?[月号日点年]|(?:周|星期|礼拜)[一二三四五六日天]|[今明后昨]天|[今明]晚|[本这下上]个?[周月]|[今明去]年|[春夏秋冬]天"
        r"|[早晚]上|[清凌早]晨|[上中下]午|[傍每夜]晚|晚间|[半深午]夜|夜里|睡前|周末",
        re.IGNORECASE,
    ),
    "amount": re.compile(
        r"\d|[一二两三四五六七八九十百千万半]"
        r"|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)t(?:een|y)"
        r"|twenty|forty|hundred|thousand|million|dozen|half|none|nothing)\b",
        re.IGNORECASE,
    ),
    "name": re.compile(
        r"[叫名姓《「“\"]|(?<=[\u4e00-\u9fff])[A-Za-z]{2}|\b(?:[Cc]alled|[Nn]amed?)\b"
        r"|(?<=[a-z,;:] )(?!I\b|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day)[A-Z]"
    ),
    "digits": re.compile(r"\d"),
}
"""What a text gives, by kind."""
