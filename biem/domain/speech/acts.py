"""Speech acts of messages: a courtesy or acknowledgement has no content, a standing order is to be kept.

Courtesies, acknowledgements and reactions are recognised by closed lists of English and Chinese phrases that must cover
the whole message: with any other word it is no courtesy.
"""

import re
from functools import lru_cache
from itertools import takewhile

from biem.domain.text import late, simplified

_LONGEST_COURTESY = 200
"""Maximum characters of a courtesy."""
_KEPT = 4_096
"""Short texts of which is kept whether they are courtesies: each recall asks it of thirty that recur."""
_LONGEST_READ = 10_000
"""Maximum characters in which orders and statements are searched."""
_QUESTION_MARKS = frozenset("?？")

_COURTESIES = (  # longer alternatives stand first: possessive matching does not backtrack
    "thanks again|many thanks|ta|oke?y[- ]dokey|(?:got|gotta) you|fab|roger(?: that)?|copy that|will do|good to know"
    "|glad to help|happy to help"
    "|(?:duly )?noted|you got it|absolutely|definitely|certainly|congratulations|congrats|have fun|take your time"
    "|i(?:'ll| will|'m going to) (?:definitely |certainly |surely |be sure to |make sure to |try to )?"
    "(?:(?:keep|bear) (?:that|this|it|all that|all of that|them) in mind|remember(?: (?:that|this|it|all that|them))?"
    "|(?:make|take) (?:a )?note(?: of (?:that|this|it|them))?|note (?:that|this|it)(?: down)?|let you know)"
    "|i(?:'ve| have|'ll| just)? ?(?:got|noted|saved|stored|recorded|updated|remembered)(?: (?:that|this|it"
    "|them))?(?: down)?"
    "|(?:thanks|thank you|thx) for (?:telling me|letting me know|sharing|the (?:info|information|update|reminder"
    "|heads[- ]up|correction|clarification|tip))(?: (?:that|this|it|with me))?"
    "|i(?:'m| am)? (?:understand|agree|(?:so |really |very )?(?:sorry|glad|happy|pleased)"
    "(?: to (?:hear|know|help)(?: (?:that|this|it|so))?)?(?: for you)?)"
    "|(?:sorry|glad|happy|good|great|nice|lovely) to (?:hear|know|help)(?: (?:that|this|it|so))?"
    "|(?:that|this|it) (?:sounds|is|was|looks|must be)|sounds|how (?:nice|lovely|great|wonderful|exciting|sad|awful)"
    "|(?:so|really|very|quite|pretty|totally|super) (?:nice|good|great|cool|exciting|funny|interesting|sad|true)"
    "|exciting|interesting|funny|hilarious|impressive|delightful|terrific|superb|good luck|best of luck|no way"
    "|have a (?:good|great|nice|lovely|wonderful|safe) (?:one|day|evening|night|week|weekend|time|trip|flight|journey)"
    "|enjoy(?: (?:it|that|yourself|your (?:day|evening|meal|trip|weekend)))?|(?:talk|speak|see) (?:to )?you (?:later"
    "|soon)"
    "|let me know if (?:you need|there(?:'s| is)) anything(?: else)?(?: (?:you need|i can (?:do|help with)))?"
    "|feel free to ask|any ?time|for you|to me|with that|about that|for that|my friend|buddy"
    "|fair enough|sure thing|(?:sounds )?like a plan|good one|you(?:'re| are) the best|a (?:bunch|ton|million)|at all"
    "|(?:talk|speak|chat) (?:later|soon|tomorrow)|for your (?:patience|understanding|time|help)|the help|to you"
    "|mate|boss|bro|dude|appreciate"
    "|gotcha|ttyl|bfn|brb|gtg|you rock|my (?:bad|mistake|apologies)|apologies|(?:i )?apologi[sz]e|again|for now"
    "|you(?:'re| are) an? (?:real |true |absolute |total )?(?:lifesaver|star|legend|gem|saint|hero|genius|treasure"
    "|angel|sweetheart|champ)"
    "|(?:good|great|nice|excellent|perfect|brilliant|clever|helpful) (?:answer|job|work|point|question|idea|advice|tip"
    "|catch|explanation|summary|call|thinking|stuff)"
    "|(?:that|this)(?:'s| is|'ll be| will be|s) (?:all|it|everything)(?: (?:i needed|i wanted|from me))?"
    "(?: for (?:today|tonight|the moment))?"
    "|for (?:explaining|clarifying|helping|asking|checking|answering|listening|correcting|reminding|looking|confirming)"
    "(?: (?:me|that|this|it|up|out|in|everything))*|for the (?:correction|confusion|delay|trouble|mix-?up|mistake|hint)"
    "|i(?:'ve| have) (?:adjusted|corrected|changed|amended|updated|fixed|revised) (?:my|your|the) (?:records?|notes?"
    "|profile|information|memory|details|files?)|accordingly|going forward|from now on|in (?:the )?future"
    "|for (?:next time|the future|later|future reference)|next time|much obliged|consider it done|welcome back"
    "|i(?:'ll| will) (?:do my best|not forget)|i won't forget|(?:i )?appreciate (?:your|the) (?:patience|help|time"
    "|feedback|understanding)|i(?:'m| am) (?:always )?here(?: for you)?(?: if you need (?:anything|me|help))?"
    "|(?:glad|happy) (?:i|to) (?:could |can |be able to )?(?:help|be of (?:help|use|service)|assist)"
    "|sleep well|sweet dreams"
    "|thanks|thank you|thx|ty|cheers|much appreciated|appreciate it|(?:so|very) much|a lot|your help"
    "|for (?:that|everything|the help)|(?:good )?(?:morning|afternoon|evening|night|day)|good ?bye|bye-bye|bye"
    "|okay|ok|okey|alright|all right|great|good|nice|cool|perfect|awesome|excellent|amazing|wonderful|lovely|fine"
    "|fantastic|brilliant|sure|of course|yes|yeah|yep|yup|no problem|no worries|nope|nah|no|please|hello|hi|hey|there"
    "|see (?:you|ya)(?: (?:later|soon|tomorrow))?|take care|(?:ha)+|(?:he)+|lol|hm+|ah|oh|wow|got it|i see|understood"
    "|right|exactly|indeed|agreed|(?:(?:that|this|it) )?(?:all |totally )?makes sense|(?:so |very |really )?sorry"
    "|sounds (?:good|great|perfect|fine)|that(?:'s| is|s)|it(?:'s| is)"
    "|you(?:'re| are) welcome|welcome|np|my pleasure|really|very|so|too|well|then|and|just|go on|continue|keep going"
    "|carry on|done|k"
)
_HAN_COURTESIES = (
    "(?:谢谢|感谢|多谢)(?:你|您)?(?:的)?(?:告诉我|告知|分享|提醒|更新|纠正)(?:这件事|这些|这个|这一点|了)?"
    "|(?:我)?(?:已经|已|都|会|全|[帮给替为][你您])*(?:一直|好好|牢牢)?(?:记住|记下来|记下|记好|记着|记得|记录|收到|知道"
    "|了解|明白|更新|保存|注意)"
    "(?:下来|好)?(?:这件事|这个|这些|这一点|这点|的)?(?:了|啦)?|告诉我|原来如此|原来是这样|这样啊|恭喜(?:你|您)?"
    "|祝贺(?:你|您)?|加油"
    "|听起来|听上去|看起来|(?:真|很|太|好|非常|挺)?(?:替|为)你(?:感到)?(?:高兴|开心)|(?:真|很|太|好|非常|挺)?(?:高兴"
    "|开心|遗憾|抱歉|有趣|有意思|精彩|可爱|贴心"
    "|不错|难过|可惜)(?:听到这个(?:消息)?)?|(?:祝你|祝您)(?:好运|顺利|成功|愉快|开心|一切顺利|旅途愉快|玩得开心"
    "|早日康复)|玩得开心|旅途愉快|一路顺风"
    "|(?:祝[你您]|愿[你您])?(?:有个?|度过|拥有|过个?|享受)?一?个?(?:愉快|美好|开心|轻松|精彩|充实|快乐)的?(?:周末|一天"
    "|夜晚|晚上|下午|早晨|假期|旅程|旅途|时光)|(?:真|太|好|很|挺|可)(?:逗|牛|绝|酷)|(?:真|太|好|很|挺|可)?(?:搞笑"
    "|好笑|给力|有才)"
    "|(?:我)?(?:很|非常|真)?高兴能?(?:帮到|帮助|帮上)[你您]?(?:忙)?|我?(?:会)?(?:尽力|照办|尽量)(?:的)?"
    "|我?(?:不会|没)忘(?:记|掉)?(?:的)?|放心(?:吧|好了)?|欢迎(?:回来)?|(?:做个|祝)?好梦|辛苦(?:[你您]|大家|各位)?"
    "|帮了?我?(?:个)?大忙|就这么(?:办|定|说定)|(?:那)?先(?:这样|不聊|聊到这里?|聊到这儿)|打扰(?:[你您])?"
    "|(?:记录|登记)在案|有道理|好消息|慢慢来|[你您]可以的|(?:正|就)是我(?:想|需)?要的|谢了|完美|棒棒(?:哒|的)"
    "|(?:耐心|您的|你的)?(?:等待|等候|理解|配合)|(?:这|那)(?:可|还)?真?是个?|您太|你太|您真|你真"
    "|(?:你的|您的)?(?:指点|指教|指正|提点|解答|讲解|解释|帮忙|支持|陪伴|建议)"
    "|(?:如果)?(?:还)?有(?:什么)?(?:其他)?(?:需要|问题)(?:的话)?(?:可以)?(?:请)?(?:随时)?(?:告诉|问|找|联系)我"
    "|随时(?:告诉|问|找|联系)我|随时为[你您]服务|没毛病|(?:就)?这样吧|(?:回头|改天)[聊见说]|谢啦|(?:帮|替|为)[你您]"
    "|(?:非常|十分|太|多|真是|真)?(?:谢谢|感谢|多谢)(?:你的帮助|您的帮助|你|您|大家|啦|了)?|没问题|没关系|没事儿|没事"
    "|没有|不客气"
    "|不用谢|不用|不谢|不错|不是|是的|是啊|对的|可以|早上好|上午好|中午好|下午好|晚上好|晚安|早安|大家好|你好|您好"
    "|再见|拜拜"
    "|回头见|明天见|明白|知道|了解|收到|辛苦|厉害|哈喽|嘻+|哈+|呵+|嘿+|嗯+|哦+|噢+|啊+|(?:非常|太|真|很)(?:好|棒|赞)"
    "|好(?:的|啊|吧|呀|嘞|滴)?"
    "|请?继续|接着说|行|棒|赞|嗨|早|对|是|不|懂|呀|了|啦|的|吧|呢|哟|哇|哎|那|就|也|都|这|我"
)
_COURTESY = late(rf"(?:(?>\b(?:{_COURTESIES})\b|{_HAN_COURTESIES})[^\w?？]*+)++", re.IGNORECASE)

_IRONY = late(
    r"^\W*(?:oh|yeah|yes|sure|right)\b[ ,]+(?:(?:great|sure|right|of course|yeah|yes)[ ,.!]+)?(?:i|we) "
    r"(?:(?:just|simply|totally|absolutely) )+(?:love|adore|enjoy|like)\b|^\W*(?:是是是|呵呵|真[棒行]啊)|才怪",
    re.IGNORECASE,
)
_SENTENCES = late(r"[^.!?。！？；;\n]+[.!?。！？；;]?")
_ORDER = late(
    r"\W*+(?:(?:please|also|and|oh|so|but|ok|okay|hey|btw|by the way|important|note)\b[\s,:!-]*+)*+(?:"
    r"never\s+(?!(?:mind|heard|been|had|knew|thought|again|seen|said|was|did)\b)[a-z]+"
    r"|always\s+(?!(?:been|had|was)\b)[a-z]+|(?:don't|do not|dont) ever\s+[a-z]+"
    r"|(?:(?:a|one|my|here's a|new|another|general|house|standing|permanent)\s+)*(?:rule|instruction|request)s?"
    r"(?:\s+(?:for you|to you|of mine|from me))?\s*:"
    r"|from now on\b|going forward\b|henceforth\b|in (?:the )?future,"
    r"|(?P<wish>(?:can|could|will|would) you\s+(?:please\s+)?)?"
    r"(?:remember|keep in mind|bear in mind|don't forget|do not forget|make a note)"
    r"(?:\s+(?:that|to|my|our|this|these|i|we|the|about|not)\b|\s*:)"
    r")",
    re.IGNORECASE,
)
_HAN_ORDER = late(
    r"\W*+(?:(?:请|麻烦|帮我|另外|还有|对了|注意|你|您)[，,：:\s]*+)*+(?:"
    r"(?:一定要?|务必|千万)?(?:记住|记得|牢记|记一下|记下|别忘|不要忘|不能忘)"
    r"|(?:以后|今后|从今往后|从现在起|从现在开始|从今天起)"
    r"|(?:永远|绝对|千万|一律)(?:不要|别|不能|不可以|不许|要|都)"
    r"|(?:不要再|别再|总是要|务必)"
    r"|[^，。：:]{0,8}(?:要求|规矩|规则|规定)[^，。：:]{0,6}[：:]"
    r")"
)
ASKS = late(
    r"[?？]\s*$|(?:[吗么谁]|(?:^.{0,4}|[几多哪谁什怎为].*)呢|怎么样|怎么办|什么|哪里|哪儿|多少|几点|如何)\s*[。.]?$"
)
_INTERROGATIVE = late(
    r"\W*+(?:(?:and|so|but|ok|okay|hey|hi|then)\b\W*+)*+"
    r"(?:(?:what|where|when|who|whose|which|why|how)(?:'s|'re|'d)?\s+(?:is|are|was|were|do|does|did|can|could|should"
    r"|would"
    r"|will|shall|has|have|had|about|many|much|old|long|far|often|come)\b"
    r"|(?:do|does|did|are|is|can|could|will|would|should|shall|have|has)\s+(?:you|we|i|he|she|they|it|there|the|my"
    r"|this|that)\b)",
    re.IGNORECASE,
)
_REQUEST = late(
    r"\W*+(?:(?:please|now|then|ok|okay|hey|and|also)\b\W*+)*+"
    r"(?:(?:(?:tell|give|send|write|find|look up|explain|describe|summari[sz]e|translate|suggest|recommend|compare"
    r"|calculate|convert|generate|create|remind(?! (?:me|us) (?:to|that|about|of)\b))\b"
    r"|(?:show|draft|search|list|help|book|order|play|open)\s+(?:(?:me|us|him|her|them|it|my|our|the|an?|some|any|all"
    r"|this|that|these|those|for|up|through|with|to|another|more|\d+|one|two|three|four)\b|[\w'-]+\s*[.!]?$))(?!-)"
    r"(?!\s+(?:(?!(?:me|us|him|her|them|it|that|this|what|who|where|when|which|why|how)\b)\w+\s+){0,4}"
    r"(?:is|was|are|were|has)\b)"
    r"|let's\s+(?:see|hear|go(?! (?:with|for|to|by|on|through|over)\b)|start|begin|get (?:started|going|on|to)|try|talk"
    r"|chat|discuss|brainstorm|continue|move on|look|think|check|review|plan|figure|find|play|practi[cs]e|write|draft"
    r"|explore|do (?:it|this|that)|dig|focus|take a look)\b)"
    r"|\W*+(?:请|麻烦|帮我|给我|替我|帮忙|告诉我|推荐|介绍一下|解释|翻译|总结|写一|查一下)(?!.{0,12}(?:是|叫|在|住|搬"
    r"|改成|了|的?时候|时[，,要用请先都别不保]))",
    re.IGNORECASE,
)
_ASKS_FOR_TEXT = late(
    r"^\W*(?:(?:please|pls|now|ok|okay|hey|hi|so|also|and|can you|could you|would you|will you|i need you to|help me)\b"
    r"\W*)*(?:write|draft|compose|reword|rewrite|rephrase|explain|describe|summari[sz]e|translate|outline|suggest"
    r"|recommend|plan|brainstorm|proofread|(?:give|make) (?:me|us) (?:an?|some|two|three|four|five|ten|\d+)\b)\b"
    r"|^\W*(?:请|麻烦|帮忙|你|您|再|来)*(?:[给替帮][^，,。！？!?]{1,6}?)?(?:写|起草|草拟|拟一|解释|讲[讲一下个解]|说说|翻译|总结|概括|归纳|推荐"
    r"|润色|改写|设计|策划|列[个出一]|出[个几]|想[个几]|编[个一]|做[个一份])",
    re.IGNORECASE,
)
_LONGEST_ASKING = 300
"""Characters of a message that asks for a text: a longer one gives what is to be worked on."""
_TOLD_BESIDE = late(
    r"(?:[,:;–—]|\s-|\b(?:that|because|since|as|but|and|note|down))\s+"
    r"(?:i|i'm|i've|i'd|we|we're|we've|my|our|there's)\s"
    r"|[,;:–—]\s+(?:they|he|she|it)(?:'ve|'s|'re|'d)?\s.{0,60}?\b(?:my|me|our|us)\b"
    r"|\b(?:did|have) (?:i|we) (?:ever |already )?(?:tell|told|mention(?:ed)?|say|said)(?: (?:to )?you)?(?: that"
    r"| about)?"
    r"\s(?:i|i'm|i've|we|we're|my \w+|our \w+)\s\w+(?![^?]{0,20}\?)"
    r"|[，,：]\s*我|^\W*+我(?!.{0,3}[问请])[^，,？?吗呢]{3,}[，,]|记(?:一下|住|下|得)?我|(?:[说提讲]过"
    r"|告诉过[你您])我.{5}|[跟和].{1,6}说我(?!.{0,6}[吗什谁哪])",
    re.IGNORECASE,
)
"""A request or question that also tells something of the speaker: "remind me later, I'm at the vet's"."""
_TOLD_BEFORE = late(
    r"^\W*(?:the|my|our|it|that|this|we|i|[a-z]+['’]s)\b[^,;?]{2,60}\b(?:is|are|has|have|had|got|moved|changed|starts|ends|leaves|opens|closes"
    r"|begins|was|were)\b[^,;?]{2,80}[,;]\s*(?:(?:so|and|but|please)\s+){0,2}(?:can|could|would|will) you\b"
    r"|^\W*[^，,？?吗呢几哪谁什多何]{2,40}[了是在到][^，,？?吗呢几哪谁什多何]{0,40}[，,]\s*(?:麻烦|请|所以)?[你您](?:能|可以|帮|可不可以|能不能)",
    re.IGNORECASE,
)
"""Tells something before it asks for help: "the lesson is on Friday now, can you note that?"."""
_RESTRICTS = late(
    r"\b(?:nothing|never|no (?!one\b)[a-z]+|without)\b|(?:不要|别|不能|不放|不加)(?=[^了吗，。])",
    re.IGNORECASE,
)
"""A request that tells what the speaker does not want: "order me nothing with shellfish"."""
_HABIT = late(
    r"\b(?:every|most (?:morning|evening|night|day|weekend)s|usually|for a living|since|twice a|once a"
    r"|on (?:mon|tues|wednes|thurs|fri|satur|sun)days"
    r"|for (?:years|fun)|in my (?:spare|free) time|as a hobby|in (?:a|an|the) (?:band|brass band|choir|team|club"
    r"|orchestra))\b",
    re.IGNORECASE,
)
"""A verb without a subject that tells a habit of the speaker."""
_OF_EACH = late(
    r"\b(?:write|give|send|draft|create)\s+"
    r"(?:(?!(?:me|us|him|her|them|it|my|our|your|his|their|the|an?|some|any|this|that|these|those|two|three)\b)[a-z-]+\s+){0,3}"
    r"(?!(?:this|us|his)\b)[a-z-]+s\s+(?:in|as|with|without|using|within|before|by)\b",
    re.IGNORECASE,
)
"""How each of several things is to be done, by their bare name: "write commit messages in the imperative"."""

_DESCRIBES = late(
    r"\W*+(?:(?:oh|well|so|and|yes|yeah|yep|no|sorry)\b\W*+)*+"
    r"(?:(?:it|he|she|they|th(?:is|at) one)(?:'s|'re|\s+(?:is|are|was|were|has|have|goes|lives?|works?))\s+"
    r"(?:(?:only|just|about|already|now|still|actually|currently)\s+)?"
    r"(?:(?:an?|the|by|called|named|made|from|in|at|on|with|for)\b|\d|(?-i:[A-Z]))"
    r"|(?:he|she)\s+(?:(?:only|always|never|also|still|now|just)\s+)*(?!(?:says|thinks|means|reckons|was|has|is|does)\b)"
    r"[a-z]+s\s(?!\W*$)"
    r"|(?:its|his|her|their)\s+[a-z]+(?:\s+[a-z]+)?(?:'s|\s+(?:is|are|was|were))\b)"
    r"|\W*+[它他她这那](?:们|一?[个台辆只款家部条])?的?(?:[一-鿿]{1,3})?(?:是|叫|姓|今年|住在|在(?=[一-鿿]{2}))",
    re.IGNORECASE,
)
"""Describes by a pronoun what the message before it named: "It's a Trek, about nine years old", 它是飞鸽的."""
_OFFERS = late(
    r"\b(?:(?:how|what) (?:else )?(?:can|may|could) i (?:help|do|assist)"
    r"|(?:can|may|shall|should|could) i (?:help|assist)"
    r"|(?:would|do) you (?:like|want) me to|anything else|want me to"
    r"|(?:^|[.!?]\s)\W*(?:(?:do you )?want (?:any|some|help|an?)|(?:shall|should) (?:i|we))\b(?![^.!?]*\bor\b)"
    r")\b[^.!?]*\?$"
    r"|(?:需要我|要我|我能|我可以|还有什么)[^。！？]*[?？]$",
    re.IGNORECASE,
)
"""Ends with an offer of help, whose answer tells nothing of the user."""
_BETWEEN_SCRIPTS = late(r"(?<=[\u4e00-\u9fff])(?=[A-Za-z])|(?<=[A-Za-z])(?=[\u4e00-\u9fff])")


def with_spaces(text: str) -> str:
    """The text in simplified characters, with a space where Latin letters meet these, so that words have a boundary
    there.
    """
    return text if text.isascii() else _BETWEEN_SCRIPTS.sub(" ", simplified(text))


def is_ironic(text: str) -> bool:
    """Whether it begins as irony does: "Yeah sure, I just love cilantro", 呵呵."""
    return _IRONY.search(text[:_LONGEST_COURTESY]) is not None


def is_courtesy(text: str) -> bool:
    """Whether a message consists of greetings, thanks, assent, acknowledgements and reactions, or has no word at all.

    Such a message has no content to remember or to recall.
    """
    if len(text) <= _LONGEST_COURTESY:
        return _known_courtesy(text)
    return not any(map(str.isalnum, text[: _LONGEST_COURTESY + 1])) and _is_courtesy(text)


def _is_courtesy(text: str) -> bool:
    said = with_spaces(text.replace("’", "'"))
    first = next((place for place, character in enumerate(said) if character.isalnum()), None)
    if first is None:
        return not _QUESTION_MARKS.intersection(said)
    return _COURTESY.fullmatch(said, first) is not None


_known_courtesy = lru_cache(_KEPT)(_is_courtesy)


def is_statement(text: str) -> bool:
    """Whether some sentence of a message asserts something: it is neither a question nor a courtesy.

    A message that begins as a plain request ("book a table", 帮我订票) asserts nothing either.
    """
    return any(map(_asserts, _SENTENCES.findall(with_spaces(text[:_LONGEST_READ].replace("’", "'")))))


def _asserts(sentence: str) -> bool:
    if is_courtesy(sentence):
        return False
    if _TOLD_BESIDE.search(sentence) or _TOLD_BEFORE.search(sentence) or _orders(sentence):
        return True
    if ASKS.search(sentence) or _INTERROGATIVE.match(sentence):
        return False
    return _REQUEST.match(sentence) is None or any(one.search(sentence) for one in (_HABIT, _RESTRICTS, _OF_EACH))


def is_standing_order(text: str) -> bool:
    """Whether a sentence of a message sets a rule for the future, or asks to keep something in mind.

    "Never suggest nuts", "from now on …", "please remember that …", "以后请…", "记住…"; a question does neither.
    """
    return any(map(_orders, _SENTENCES.findall(with_spaces(text[:_LONGEST_READ].replace("’", "'")))))


def _orders(sentence: str) -> bool:
    wish = _ORDER.match(sentence)
    if wish is not None and wish["wish"]:  # a question in form only
        return True
    return (wish or _HAN_ORDER.match(sentence)) is not None and ASKS.search(sentence) is None


def asks_for_text(message: str) -> bool:
    """Whether the assistant is to write or explain something: "explain photosynthesis", 写一段开场白."""
    return len(message) <= _LONGEST_ASKING and _ASKS_FOR_TEXT.match(message) is not None


def describes_by_pronoun(text: str) -> bool:
    """Whether a message begins by describing with a pronoun what only the message before it names."""
    return _DESCRIBES.match(text.replace("’", "'")) is not None


def asking_part(text: str) -> str:
    """The questions with which a message ends; the message itself if it ends with none."""
    sentences = [part.strip() for part in _SENTENCES.findall(text[-_LONGEST_READ:]) if part.strip()]
    asking = list(takewhile(lambda part: part[-1] in _QUESTION_MARKS, reversed(sentences)))
    return " ".join(reversed(asking)) or text


def asks_for_facts(text: str) -> bool:
    """Whether it ends with a question, other than a courtesy or an offer of help: "How long is the lease?"."""
    said = simplified(text.rstrip())
    return said[-1:] in _QUESTION_MARKS and not is_courtesy(said) and _OFFERS.search(said) is None
