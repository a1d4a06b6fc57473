"""Kinds of values: what a question asks for, and what a text gives."""

import re

from biem.adapters.contradiction.lexicon.spelled_days import DAY, HOUR, TO_TWELVE

WANTS = {
    "time": re.compile(
        r"\bwhen\b|\b(?:what|which) (?:date|day|weekday|morning|afternoon|evening|night|week|time|month|year)\b"
        r"|\bwhat(?:['’]s| is| are| was)\b[^?]{0,80}\b(?:date|birthday|anniversary|deadline)(?= of\b| for\b|\?|$)"
        r"|几[号点月时]|什么时[候间]|何时|哪一?[天年]|[周期]几",
        re.IGNORECASE,
    ),
    "amount": re.compile(
        r"\bhow (?:much|many|tall|heavy|far|high|large|big|wide|deep)\b"
        r"|\bwhat (?:do|does|did|will|would|is|are|was|were)\b"
        r"[^?]{0,80} (?:costs?|charged?|earn(?:ing)?|weigh|measure|pay)\b(?! (?:with|attention)\b| for\?)"
        r"|\bwhat(?:['’]s| is| are| was)\b[^?]{0,80}\b(?:price|rent|fee|salary|wage|budget|deposit|weight|height|width)"
        r"(?= of\b| for\b|\?|$)"
        r"|多[少大高重远长]|几(?![号点月时])",
        re.IGNORECASE,
    ),
    "age": re.compile(r"\bhow old\b", re.IGNORECASE),
    "span": re.compile(r"\bhow long\b(?! (?:ago|have|has|had)\b)", re.IGNORECASE),
    "often": re.compile(r"\bhow (?:often|frequently|regularly)\b", re.IGNORECASE),
    "name": re.compile(
        r"叫什么|什么名字|\bnames? of\b|\b(?:what(?:'s| is| are| was)|which)\b.*\b(?:called|named?)\b", re.IGNORECASE
    ),
    "digits": re.compile(
        r"\b(?!(?:what|which|the|any|same|large|small|lucky|favou?rite)\b)[a-z]+ number\b|号码|[牌卡账证房]号",
        re.IGNORECASE,
    ),
    "place": re.compile(r"^\W*(?:(?:and|so|but|ok|okay|hey)\W+)?where\b", re.IGNORECASE),
}
"""What a question asks for, by kind."""
_HAN = "[\u4e00-\u9fff]"
"""Of a Chinese text these kinds are not known."""
_SMALL = (
    f"{TO_TWELVE}|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen"
    "|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety"
)
_UNIT = (
    r"(?:seconds"
    r"|(?:minute|hour|day|night|week|weekend|fortnight|month|year|decade|season|semester|term|summer|winter)s?)"
)
_DIGIT = "[0-9一二两三四五六七八九十]"
GIVES = {
    "time": re.compile(
        r"\b(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|(?:jan|febr)uary|march|april|may|june|july|august"
        r"|(?:septem|octo|novem|decem)ber|(?:jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)(?= \d)|\d+(?:st|nd|rd|th)"
        r"|(?:19|20)\d\d|noon|midnight|o'clock|(?:half|quarter) (?:past|to)|today|tonight|tomorrow|yesterday"
        r"|(?:next|this|last) (?:week|month|year|weekend)|spring|summer|autumn|winter"
        r"|mornings?|afternoons?|evenings?|nights?|bedtime|weekends?)\b"
        r"|\d[:.]\d\d\b|\d\s?[ap]\.?m\b"
        rf"|{DAY}|{HOUR}"
        rf"|{_DIGIT}\s?[月号日点年]|(?:周|星期|礼拜)[一二三四五六日天]|[今明后昨]天|[今明]晚|[本这下上]个?[周月]|[今明去]年|[春夏秋冬]天"
        r"|[早晚]上|[清凌早]晨|[上中下]午|[傍每夜]晚|晚间|[半深午]夜|夜里|睡前|周末",
        re.IGNORECASE,
    ),
    "amount": re.compile(
        r"\d|[一二两三四五六七八九十百千万半]"
        rf"|\b(?:{TO_TWELVE}|(?:thir|four|fif|six|seven|eigh|nine)t(?:een|y)"
        r"|twenty|forty|hundred|thousand|million|dozen|half|none|nothing)\b",
        re.IGNORECASE,
    ),
    "name": re.compile(
        r"[叫名姓《「“\"]|(?<=[\u4e00-\u9fff])[A-Za-z]{2}|\b(?:[Cc]alled|[Nn]amed?)\b"
        r"|(?<=[a-z,;:] )(?!I\b|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day)[A-Z]|(?:^|[.;!] )[A-Z][\w-]+, (?:my|our) "
    ),
    "digits": re.compile(r"\d"),
    "age": re.compile(
        rf"\byears?[ -]old\b|\baged?\b|\bteenager\b|\b(?:19|20)\d\d\b|\bbirthday\b"
        rf"|\bborn (?:in|last|this)\b|\b(?:{_SMALL})\b|{_HAN}"
        r"|(?<![\d.:,/€$£-])\b1?\d?\d\b(?![.:,/-]\d|\s?[%€]"
        r"|\s(?:of )?(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\b)",
        re.IGNORECASE,
    ),
    "span": re.compile(
        rf"\b{_UNIT}\b|\b(?:until|till|since|forever|permanent(?:ly)?|temporar(?:y|ily)|always)\b"
        rf"|(?<!\d)\d+(?!\d|(?:st|nd|rd|th)\b|[.:]\d)|\b(?:{_SMALL})\b|{_HAN}",
        re.IGNORECASE,
    ),
    "often": re.compile(
        rf"\b(?:every|each|per|an?) (?:other |second |third )?{_UNIT}\b"
        r"|\b(?:once|twice|times|every|each|always|never|sometimes|usually|often|rarely|regularly|(?:dai|week|fortnight|month|year|hour|annual)ly)\b"
        rf"|\b(?:mon|tues|wednes|thurs|fri|satur|sun)days\b|\d|{_HAN}",
        re.IGNORECASE,
    ),
    "place": re.compile(
        r"\b(?:in|at|on|to|from|near|by|behind|under|above|below|beside|between|over|along|inside|outside|into|onto|across"
        r"|opposite|around|next|through|with|beyond)\b"
        r"|\b(?:here|there|home|abroad|upstairs|downstairs|nearby|away|outdoors|indoors|online|remotely|address|street|road"
        r"|city|town|village|country|district|neighbourhood|building|office|house|flat|apartment|visit(?:ed|ing)?)\b"
        r"|(?<=[a-z,;:] )(?-i:(?!I\b)[A-Z])|[\u4e00-\u9fff]",
        re.IGNORECASE,
    ),
}
"""What a text gives, by kind."""
