"""English sentences that state a single-valued attribute: groups `who`, `value`, `not`, `what`, `changed`, `past`."""

_START = (
    r"^(?:(?i:and|but|so|well|yes|yeah|no|oh|ok|okay|hey|hi|hello|actually|currently|now|right now|also|by the way|btw|"
    r"fyi|update|correction|recently|these days|nowadays|today|yesterday|"
    r"last (?:week|month|year|spring|summer|autumn|fall|winter)|then|because|as of \w+|in (?:19|20)\d\d)[,:]?\s+)*"
)
_WHO = (
    r"(?P<who>(?i:\b(?:my|his|her|our|their|your|the)\s(?:[a-z-]+\s)?[a-z-]+|\b(?:i|he|she|we|they|you|it))"
    r"|[A-Z][\w-]+(?:\s[A-Z][\w-]+)?)(?:'s)?"
)
_ADVERB = r"(?:\s(?:now|currently|still|actually|just|really|also|recently|finally|only))*"
_END = (
    r"(?=\s*(?:$|[,;.!?]|\b(?:now|currently|today|these days|instead|since|for|with|because|and|but|from|at the moment|"
    r"right now|this year|last (?:year|month|week)|next|(?:a|two|three) (?:year|month|week)s? ago|anymore|"
    r"in (?:19|20)\d\d)\b))"
)
_VALUE = rf"(?P<value>[^,;.!?]{{1,60}}?){_END}"
_NOT = r"(?P<not>\s(?:(?:do|does|is|am|are|did|was)\s)?not(?:\sanymore)?)?"
_PLAIN = rf"{_WHO}{_ADVERB}{_NOT}{_ADVERB}\s"
_OCCUPATION = (
    r"(?P<value>(?!.*\b(?:runner|beginner|winner|loser|learner|owner|reader|swimmer|gamer|member|partner|mother|father|brother|"
    r"sister|daughter|master|dreamer|sleeper|listener|eater|christian|vegetarian|realist|optimist|pessimist)\b)"
    r"(?:[a-z-]+\s){0,2}(?:[a-z]+(?:ician|ologist|ist|eer|ian|tor|yer|cher|ser|ger|mer|per|ner|ker|ter|wright|"
    r"smith)|doctor|nurse|chef|pilot|student|writer|actor|actress|clerk|farmer|judge|cook|driver|soldier|vet|architect|"
    r"surgeon|accountant|consultant|assistant|lawyer|barista|analyst|freelancer|intern))"
)
PATTERNS = {
    "home": (
        rf"{_START}{_PLAIN}(?:live|lives|living|reside|resides|am living|is living|are living|"
        r"am based|is based|are based)"
        rf"{_ADVERB}\s(?:in|at|on|near)\s{_VALUE}",
        rf"{_START}{_WHO}(?:\shas|\shave)?{_ADVERB}\s(?P<changed>moved|relocated)\s(?:back\s)?to\s(?!the\s[a-z]){_VALUE}",
        rf"{_START}{_WHO}\s(?:have|has)\s(?:lived|been living)\sin\s(?P<value>[A-Z][^,;.!?]{{1,40}}?)\s(?:for|since)\b",
        rf"{_START}{_WHO}\s(?P<past>used to live|lived) in\s{_VALUE}",
        rf"{_START}(?P<who>(?i:my|his|her|our|their))\s(?P<changed>new\s)?(?:home )?address is\s{_VALUE}",
    ),
    "origin": (rf"{_START}{_PLAIN}(?:am|is|are|come|comes)\s(?:originally\s)?from\s{_VALUE}",),
    "age": (
        rf"{_START}{_WHO}{_ADVERB}\s(?:am|is|are){_ADVERB}{_NOT}\s(?P<value>\d{{1,3}})(?:\syears?\sold|\syears\sof\sage)?(?=\s*(?:$|[,;.!?]|now\b|and\b|this\b))",
        rf"{_START}{_WHO}(?:\sjust)?\s(?P<changed>turned)\s(?P<value>\d{{1,3}})"
        r"(?=\s*(?:$|[,;.!?]|today\b|this\b|last\b|yesterday\b|in\b|on\b))",
    ),
    "birthday": (
        rf"{_START}(?P<who>(?i:my|his|her|our|their)|[A-Z]\w+'s)\sbirthday\s(?:is|falls)\s(?:on\s|in\s)?{_VALUE}",
        rf"{_START}{_WHO}\s(?:was|were)\sborn\s(?:on|in)\s(?P<value>(?:[A-Z][a-z]{{2,8}}\s)?\d[\w ,]*?)"
        r"(?=\s*(?:$|[;.!?]|in\s|and\s))",
    ),
    "birthplace": (
        rf"{_START}{_WHO}\s(?:was|were)\sborn\sin\s(?P<value>[A-Z][a-z]+(?:\s[A-Z][a-z]+)?)(?=\s*(?:$|[;,.!?]|and\s|in\s|on\s))",
    ),
    "name": (
        rf"{_START}(?P<who>(?i:my [a-z]+'s|the [a-z]+'s|my|his|her)|[A-Z]\w+'s)\s"
        rf"(?:full |first |last |real )?name is\s{_VALUE}",
    ),
    "called": (rf"{_START}{_WHO}\s(?:am|is)\s(?:called|named)\s{_VALUE}",),
    "job": (
        rf"{_START}{_PLAIN}(?:work|works|am working|is working)\sas\s(?:an?|the)\s(?P<value>[^,;.!?]{{1,60}}?)"
        rf"(?:(?=\s(?:at|in)\s)|{_END})",
        rf"{_START}{_WHO}(?:\s(?:was|were|got|am|is|has been|have been))?{_ADVERB}\s(?P<changed>promoted)\sto\s"
        rf"(?:be\s)?{_VALUE}",
        rf"{_START}{_WHO}(?:\shas)?{_ADVERB}\s(?P<changed>became)\s(?:an?|the)\s{_OCCUPATION}{_END}",
        rf"{_START}{_WHO}\s(?:am|is)\s(?:now\s)?(?P<changed>retired)(?P<value>)",
        rf"{_START}{_WHO}{_ADVERB}\s(?:am|is){_ADVERB}{_NOT}\san?\s{_OCCUPATION}{_END}",
        rf"{_START}(?P<who>(?i:my|his|her))\s(?P<changed>new\s)?(?:job|occupation|profession) is\s(?:an?\s)?{_VALUE}",
    ),
    "employer": (
        rf"{_START}{_PLAIN}(?:work|works|am working|is working)\s(?:as\s(?:an?|the)\s[^,;.!?]{{1,40}}?\s)?"
        rf"(?:at|for)\s{_VALUE}",
        rf"{_START}{_WHO}(?:\shave|\shas)?{_ADVERB}\s(?P<past>left|quit)\s(?:my job at\s)?"
        r"(?P<value>[A-Z][\w&]+(?:\s[A-Z]\w+)*)$",
        rf"{_START}{_WHO}(?:\shave|\shas)?{_ADVERB}\s(?P<changed>started|got|took|accepted|found)\sa\s(?:new\s)?"
        r"(?:job|position|role)\s(?:at|with)\s(?P<value>[A-Z][\w&]+(?:\s[A-Z]\w+)*)",
        rf"{_START}{_WHO}\s(?:was|were|got|has been|have been)\s(?P<past>laid off|fired|dismissed|let go)\s"
        r"(?:from|by|at)\s(?P<value>[A-Z][\w&]+(?:\s[A-Z]\w+)*)",
        rf"{_START}{_WHO}(?:\shave|\shas)?{_ADVERB}\s(?P<past>resigned)\sfrom\s(?P<value>[A-Z][\w&]+(?:\s[A-Z]\w+)*)",
        rf"{_START}{_WHO}(?:\shave|\shas)?{_ADVERB}\s(?P<changed>joined)\s(?P<value>[A-Z][\w&]+(?:\s[A-Z]\w+)*)",
    ),
    "marital": (
        rf"{_START}{_WHO}(?:\shave|\shas)?{_ADVERB}\s(?P<changed>got|gotten)\s(?P<value>married|divorced|engaged)"
        r"(?=\s*(?:$|[,;.!?]|in\b|on\b|to\b|last\b|this\b|today\b|yesterday\b))",
    ),
    "school": (
        rf"{_START}{_PLAIN}(?:study|studies|am studying|is studying)\sat\s{_VALUE}",
        rf"{_START}{_PLAIN}(?:go|goes)\sto\s(?P<value>[A-Z]\w+(?:\s[A-Z]\w+)*\s(?:University|College|School|High))",
    ),
    "major": (
        rf"{_START}{_PLAIN}(?:major|majors|am majoring|is majoring)\sin\s{_VALUE}",
        rf"{_START}(?P<who>(?i:my|his|her))\smajor is\s{_VALUE}",
    ),
    "favourite": (
        rf"{_START}(?P<who>(?i:my|his|her|our)|[A-Z]\w+'s)\s(?:all-time\s)?favou?rite\s(?P<what>[a-z]+(?:\s[a-z]+)?)\s"
        rf"(?:is|has always been)\s(?:the\s|still\s|now\s)?{_VALUE}",
        rf"{_START}(?P<value>[\w' -]{{2,40}}?)\sis\s(?P<who>my|his|her|our)\s(?:all-time\s)?"
        r"favou?rite\s(?P<what>[a-z]+)",
    ),
}
