"""Clauses that report what others say or think, quotations and jokes: not the speaker's own words."""

import re

_REPORT = re.compile(
    r"\b(?!(?:i|i've|i'd|as|like|just|that|be|is|are|was|were|it|scales?|watch|clock|display|sign|label|calendar|tickets?|map|screen|bill|thermometer)\b)[a-z][\w'-]{0,40}+,?\s(?:has\s|have\s|had\s|just\s|always\s|also\s|once\s)?"
    r"(?:said|says|say|told|tells|claims?|claimed|mentioned|mentions|announced|reported|reckons|insists|swears|wrote|writes"
    r"|keeps saying|keeps telling)\b"
    r"|(?<!\bi )(?<!\bwe )\b(?:said|says|asked|wrote|shouted|whispered|replied|joked)\s(?!(?:i|we)\b)[a-z]"
    r"|\baccording to\b|\brumou?rs?\b|\b(?:i|we)\s(?:heard|read|was told|were told)\b"
    r"|(?<![我别再胡瞎])(?<!我[是想要刚])(?<!我刚才)(?:(?<!地)(?<!来)(?<!跟你)(?<!和你)(?<!跟大家)说(?!来(?:惭愧|话长|也|奇怪|好笑|可笑|真?巧)|错|反|岔|混|串|漏|[多少早晚]了|不|明|法|好|服|话|真的|一下|说|到|起|实话|白了)|告诉我|告诉你|表示|声称|提到|宣布|听说|据说)",
    re.IGNORECASE,
)
_OMITS = (
    r"(?!(?:can't|cannot|couldn't|could not|never|just|still|always|really|almost|don't|do not|had|only|also)"
    r"(?:\s[a-z]+)?\s[a-z]+\s(?:that\s)?(?:i|i'm|i've|i'd|my|we|we're|we've|our)\b)"
)
"""Not "Never thought I'd say it": the speaker leaves the "I" out."""
_ATTRIBUTED = re.compile(
    rf"(?:^|[,.;:!?]|\b(?:and|but|because|since|so|when|though)\s)\s*{_OMITS}"
    r"(?:(?!\b(?:i|we|i'm|i've|i'd|we're|we've)\b)[^,.;:!?]){1,60}?\b"
    r"(?:thinks?|thought|assum(?:es?|ed)|believ(?:es?|ed)|suspect(?:s|ed)?|fear(?:s|ed)?|worr(?:y|ies|ied)|complain(?:s|ed)?"
    r"|guess(?:es|ed)?|imagin(?:es?|ed)|suppos(?:es?|ed)|expect(?:s|ed)?|conclud(?:es?|ed)|impl(?:y|ies|ied)|suggest(?:s|ed)?"
    r"|pretend(?:s|ed)?|heard|hears?|feels?|felt|hop(?:es?|ed)|doubt(?:s|ed)?|convinced|under the impression"
    r"|not(?:es?|ed)|stat(?:es?|ed))\s(?:that\s)?(?:i|i'm|i've|i'd|my|we|we're|we've|our)\b"
    r"|\b(?:not|isn't|wasn't|never|hardly)\s(?:even\s)?(?:true|correct|right|accurate|the case)\sthat\b"
    r"|\b(?:false|untrue|wrong|a lie|a myth|nonsense)\sthat\b"
    r"|听[^我你您，。,.]{1,8}[讲说提]|据[^，。,.]{1,8}[讲称传说]|传言|传闻|谣言|谣传|小道消息|有人传|都在传|盛传|没有的事|不属实"
    r"|(?:^|[，。；！？,;!?])(?!(?:别|不用|顺便|刚刚?|才|还|也|一直|总是?|真|再|先|请|都)[写登记填传讲以认觉怀猜抱埋担相断念])(?:(?!老实|坦白|实话|不瞒|[跟和对给][你您大]|忘)[^我咱，。；！？,;!?]){1,14}"
    r"(?:写|登记|记|填|传|讲|以为|认为|觉得|怀疑|猜|抱怨|埋怨|担心|相信|断定|念叨|嚷嚷|坚称|暗示|注明)(?:着|了|道|成|的是|说)?"
    r"[：:]?[我咱]",
    re.IGNORECASE,
)
"""What others say, write or think of the speaker, and what is denied as untrue."""
JOKE = re.compile(
    r"\b(?:just kidding|kidding|joking|jk|lol|as a joke|my joke|in a (?:dream|novel|film|movie|story|game)|i dreamed"
    r"|i dreamt|(?:ha){2,})\b|开玩笑|逗你|哈哈|梦见|梦到|小说里|电影里|游戏里",
    re.IGNORECASE,
)
QUOTE = re.compile(r"[\"“”「」『』]")


def is_reported(text: str) -> bool:
    """Whether a clause reports what others say or think, or denies a claim."""
    return any(pattern.search(text) for pattern in (_REPORT, _ATTRIBUTED))
