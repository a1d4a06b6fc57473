"""Frames of English clauses that name a former value."""

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Frame:
    """A clause with a gap for the former value."""

    shape: re.Pattern[str]
    """Has the group `former`, and may have `who`, `obj` and `new`."""
    caused: bool = False
    """Others may bring it about: "the doctor took me off it"."""
    whole: bool = False
    """The former value is the subject of the clause."""
    new_before: bool = False
    """The new value stands before the former one: "tea instead of coffee"."""
    of_one_day: bool = False
    """It may be said of one day: "no swimming this Wednesday"."""
    of_role: bool = False
    """It tells of a person, who may have another place in the older: only for "X is our …" or what X does."""
    of_event: bool = False
    """It may be said of other things in another sense: "the milk is off"; only of what is planned."""
    naming: bool = False
    """It tells a new name, and the older the former one."""


_GAP = r"(?P<former>.{2,60}?)"
_WHO = r"^(?P<who>.{0,50}?)\b"
_TAIL = r"(?:,? (?:for|and|but|in favou?r of|because|as|after|when|since|so|until|though|to)\b.*)?$"
_ADV = r"(?: (?:just|now|finally|officially|all|also|already|completely|since))*"
_HABITS = (
    r"quit|give[sn]? up(?: on)?|gave up(?: on)?|packed in|jacked in|chucked in|kicked|finished(?: with)?|done with"
    r"|gone off|went off|binned|cut out|(?:come|came) off|dropped out of|resigned (?:from|as)|parted with|(?:said"
    r"|saying) goodbye to|goodbye(?: to)?|bye bye|let go of|pulled out of|(?:moved|moving) (?:out of|away from"
    r"|on from)|withdr(?:ew|awn) from|stepped (?:down (?:as|from)|back from)|backed out of|thrown in the towel on"
    r"|decided against|(?:gone|went) back on|(?:grown|grew) out of|outgrown|outgrew|unsubscribed from|divorced"
    r"|broke up with|broken up with|split up with|split from|dumped|sworn off|swore off|left off|sold|retired"
    r"|decided not to(?: go(?: for)?)?|killed off|got out of(?= (?:the|my|our) .{0,30}(?:contract|deal|lease"
    r"|membership))|stepped off|withdrew the order for|lost my taste for|cured me of|rehomed|not going(?: to| for)?"
    r"|not(?: anymore)? doing|dropped(?! off)"
)
"""Done by the owner."""
_ENDS = (
    r"scrapped|cancell?ed|got(?:ten)? rid of|called off|deleted|broken? off|handed (?:in|over|back)|sent back"
    r"|uninstalled|closed(?= (?:my|our))|ended|abandoned|axed|abolished|lifted|pulled(?: the plug on)?|sacked|fired"
    r"|ditched|stopped|removed|discontinued|withdrawn|shelved"
)
"""Done by the owner or by others."""
_LEFT = (
    r"(?:quit|resigned|stepped down|stood down|moved (?:away|out|on)|gone (?:off|back|home)(?: to \w+)?"
    r"|handed in (?:his|her) \w+|sold up|walked out|took (?:a|another) job|got fired|was let go|passed away|left us"
    r"|is finished here|went on leave|is on leave now|has left)"
)
"""Of a person who no longer does what he did."""
_ORDERS = (
    r"(?:drop|forget(?: about)?|scrap|skip|ditch|stop(?: with)?|cancel|leave out|no need for|enough with|enough of"
    r"|lose)"
)
_REPLACED = (
    r"replac(?:ed|es|ing)|swapp?(?:ed|ing)(?: out)?|exchanged|traded(?: in)?|ditched|dropped|switched|changed"
    r"|converted|turned|sold|scrapped|given up|gave up|renamed|relabelled|rebranded|rechristened"
)
_OFF = (
    r"(?:out|gone|history|over|dead|no more|not happening|not on|finished|done|done for|cancell?ed|sold|closed down"
    r"|a thing of the past|no good anymore)"
)
_PAST = (
    r"(?:renamed|replaced|scrapped|cancell?ed|dropped|discontinued|sold|closed down|called off|phased out|switched off"
    r"|shut down|taken over|demolished|knocked down|written off|binned|axed|retired|ended|disbanded|decommissioned"
    r"|lifted|abolished|pulled|given away|terminated|withdrawn|gone(?! (?:to|up|down|into|from|on|for|back|over)\b))"
)
_BEFELL = (
    r"(?:died|gave out|given out|expired|lapsed|ran out|run out|fell through|fallen through|got the boot"
    r"|went in the bin|gone in the bin|(?:is|are) not happening|will not (?:be )?happen(?:ing)?|did not (?:happen"
    r"|work out)|retired|packed up|folded|went bust|gone bust|ended|(?:had|have|has) (?:had )?its day|came down"
    r"|come down|came off|come off|bit the dust)"
)
_BE = r"(?:do|does|is|are|am|have|has|can|will)"


def _frames() -> tuple[Frame, ...]:
    def shape(text: str) -> re.Pattern[str]:
        return re.compile(text, re.IGNORECASE)

    moved = (
        r"switch(?:ed|es|ing)?|changed|moved?|moving|gone|went|swapp?ed|converted|upgraded|downgraded|transferred"
        r"|promoted|migrated|jumped|renamed|bumped|shifted|redirected|cut|reduced|raised|lowered|put|brought"
    )
    return (
        Frame(
            shape(
                rf"{_WHO}(?:{moved})(?P<obj> .{{1,30}}?)??(?: over| up| down| across| away| back| forward)? from {_GAP}"
                r" (?:on|in)?to (?P<new>.+)$"
            ),
            caused=True,
        ),
        Frame(shape(rf"{_WHO}(?:instead of|rather than|in place of) {_GAP}$"), new_before=True, of_one_day=True),
        Frame(shape(rf"{_WHO}{_BE} not {_GAP} (?:anymore|any longer){_TAIL}")),
        Frame(shape(rf"{_WHO}(?:{_BE} )?not anymore {_GAP}{_TAIL}")),
        Frame(shape(rf"{_WHO}(?:is|are|am) {_GAP} not anymore$")),
        Frame(
            shape(
                rf"^(?P<who>)no(?: more)?(?! (?:problem|worries|idea|need|way|wonder|doubt"
                rf"|thanks)\b) {_GAP}(?: (?:anymore|any more|after all|for (?:me|us)))?{_TAIL}"
            ),
            of_one_day=True,
        ),
        Frame(shape(rf"{_WHO}(?:{_HABITS}) {_GAP}{_TAIL}")),
        Frame(shape(rf"{_WHO}(?:{_ENDS}) {_GAP}{_TAIL}"), caused=True),
        Frame(shape(rf"^(?P<who>(?:please )?){_ORDERS} {_GAP}(?: please)?{_TAIL}"), of_one_day=True),
        Frame(shape(rf"^(?P<who>)off {_GAP}(?: now)?$"), of_one_day=True),
        Frame(shape(rf"^(?P<who>)not {_GAP} anymore$")),
        Frame(
            shape(
                rf"{_WHO}(?:taken|took|moved|removed|pulled|knocked|cut|dropped|crossed) {_GAP} (?:off|out of|out)\b"
                r"(?: .{1,30})?$"
            ),
            caused=True,
        ),
        Frame(
            shape(
                rf"{_WHO}(?:sold|rehomed|gave|given|donated|passed|swapped|traded) {_GAP}"
                r" (?:to|on|at|via|through|for|away|over|in)\b.*$"
            )
        ),
        Frame(shape(rf"^(?P<who>{_GAP})(?:['’]s| has| have| is)?{_ADV} {_LEFT}\b.*$"), whole=True, of_role=True),
        Frame(shape(rf"{_WHO}(?:have|has|['’]s|is){_ADV} left {_GAP}{_TAIL}")),
        Frame(shape(rf"{_WHO}(?:let|took|taken|sent|gave|given) {_GAP} (?:go|lapse|back|away)\b.*$")),
        Frame(
            shape(
                rf"{_WHO}(?:turned|called|knocked|packed|chucked|given|gave|phased|voted|jacked|kicked|put) {_GAP}"
                r" (?:down|off|in|up|out|on the head|to bed|behind (?:me|us))$"
            ),
            caused=True,
        ),
        Frame(shape(rf"{_WHO}(?:{_REPLACED}) {_GAP} (?:with|for|by|in for|into|to|as) (?P<new>.+)$"), caused=True),
        Frame(
            shape(
                rf"{_WHO}(?:taken|took|pulled|moved|takes|removed|let|signed)(?P<obj> .{{1,30}}?) (?:off|out of"
                rf"|from) {_GAP}{_TAIL}"
            ),
            caused=True,
        ),
        Frame(shape(rf"{_WHO}(?:is|am|are|['’]s)(?: back)? (?:off|out of) {_GAP}{_TAIL}"), of_one_day=True),
        Frame(shape(rf"{_WHO}(?:came|come) off {_GAP}{_TAIL}")),
        Frame(
            shape(
                rf"^(?P<who>{_GAP})(?:['’]s| is| are| was| were| has been| have been| got){_ADV} {_OFF}"
                r"(?:$| (?:with us|for (?:me|us)|now|then|after|because|and)\b.*)"
            ),
            whole=True,
        ),
        Frame(
            shape(
                rf"^(?P<who>{_GAP})(?:['’]s| is| are| was| were| has been){_ADV} off"
                r"(?:$| (?:for (?:me|us)|now|then|because|and)\b.*)"
            ),
            whole=True,
            of_event=True,
        ),
        Frame(
            shape(
                rf"^(?P<who>{_GAP})(?:['’]s been| was| were| is| are| got| has been"
                rf"| have been){_ADV} (?:been )?(?:being )?{_PAST}\b(?P<rest>.*)$"
            ),
            whole=True,
        ),
        Frame(shape(rf"^(?P<who>{_GAP})(?:['’]s| has| have)?{_ADV} {_BEFELL}\b.*$"), whole=True),
        Frame(
            shape(
                rf"^(?P<who>{_GAP})(?: is| are|['’]s| has been)?{_ADV} (?:called|known as|named|renamed) (?P<new>.+)$"
            ),
            whole=True,
            naming=True,
        ),
    )


FRAMES = _frames()
_FILL = """
a an the my our his her their your its this that these those any all old usual some another one ones i we it he
she they you me us him them have has had is am are was were be been being do does did just now finally already
also since recently completely totally officially so and but well ok okay right actually then fully got gone get
gets getting decided to in at on for of by with as from onto into over near than about again back not no after
before there here up down out off still both every each more most ever very really too only yes oh btw use using
used uses having go going goes went took take takes taking eat eating eats drink drinks drinking drive drives
driving play plays playing live lives living work works working want wants need needs like likes see sees make
makes making keep keeps will would can could pure whole entire last bit lot thing things stuff idea plan plans
good great news update guess what turns turned mr mrs ms miss dr doctor prof professor reverend please anymore
"""
FILL = frozenset(_FILL.split())
"""Words that name no thing alone."""
TIMES = re.compile(
    r"\b(?:yesterday|today|tonight|last (?:night|week|month|year|mon|tues|wednes|thurs|fri|satur|sun)?(?:day)?"
    r"|this (?:week|month|year|morning|term|spring|summer|autumn|weekend)|on (?:mon|tues|wednes|thurs|fri|satur"
    r"|sun)day|now|altogether|completely|entirely|for good|for ever|forever|at last|finally|instead|ages ago|already"
    r"|anymore|any more|any longer|as well|after all|(?:a|two|three|a few|\d+) (?:days?|weeks?|months?) ago"
    r"|in (?:january|february|march|april|may|june|july|august|september|october|november|december)|from (?:now|here"
    r"|today) on|these days|nowadays|(?:at|over) the weekend|as of (?:today|now|this week|monday)|once and for all"
    r"|straight away|the other day"
    r"|earlier|from today)\b",
    re.IGNORECASE,
)
ON_ONE_DAY = re.compile(
    r"\bthis (?:mon|tues|wednes|thurs|fri|satur|sun)day\b|\bthis (?:morning|afternoon|evening|week|weekend|time|once"
    r"|one)\b|\btoday\b|\btonight\b|\btomorrow\b|\bon (?:mon|tues|wednes|thurs|fri|satur|sun)day\b|\bfor once\b"
    r"|\b(?:next|last) (?:week|time"
    r"|night)\b",
    re.IGNORECASE,
)
"""Limits a clause to one day."""
OF_PLANS: tuple[tuple[frozenset[str], re.Pattern[str]], ...] = tuple(
    (frozenset(words.split()), re.compile(rf"\b(?:{needs})", re.IGNORECASE))
    for words, needs in (
        (
            "trip holiday flight flights visit journey weekend",
            "fly|going|go|goes|travel|visit|trip|holiday|book|train|ferry|weekend|away|driv|ticket|heading",
        ),
        (
            "booking reservation ticket tickets appointment",
            "book|reserv|appoint|ticket|table|see|seeing|fly|going|train|dentist|doctor|order|rent|hir",
        ),
        ("subscription membership direct debit account", "subscri|member|pay|sign|get|have|read|with|month|year"),
        ("contract deal agreement arrangement", "contract|with|deal|work|use|agree|rent|lease|support"),
        (
            "lesson lessons class classes course sessions session practice",
            "learn|lesson|class|cours|study|studi|tak|train|practi|session|teach|do|doing|go",
        ),
        ("habit thing diet", "eat|drink|smok|vegan|veg|diet|every|always|am|is"),
        ("job role post position", "job|work|am|is|employ"),
        ("party do event evening night", "party|birthday|wedding|host|event|having|throw|invit"),
        ("duty feeding", "feed|look|walk|sit"),
        ("reminder", "remind"),
        ("delivery order box", "order|deliver|box|get"),
        (
            "day date time name number place start limit fee price rate size colour color venue address password code",
            ".",
        ),
    )
)
"""Nouns for arrangements, and the words of the older statement that each needs; the last are attributes."""
