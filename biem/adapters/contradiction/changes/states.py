"""English clauses that tell the opposite state of the thing of an older statement: "the road's open again"."""

import re

from biem.adapters.contradiction.changes.clause_words import ClauseWords, OlderWords


def _state(was: str, now: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    return re.compile(rf"\b(?:{was})\b", re.IGNORECASE), re.compile(rf"\b(?:{now})\b", re.IGNORECASE)


_OPPOSITES = (
    _state(
        "broken|bust|out of order|not working|does not work|playing up|on the blink|cracked|leak(?:s|ing)|drip(?:s"
        "|ping)|snapped|flat|dead"
        "|down|offline|faulty|stuck|blocked|jammed|red|failing|conked out|frozen",
        "(?:working|running|going|fine|green|up|online|passing) again|back (?:up|on|online|in action)"
        "|(?:been )?(?:fixed|mended|repaired|sorted"
        "|unblocked)|as good as new|does not (?:drip|leak) anymore",
    ),
    _state(
        "waiting (?:for|on)|on (?:its|their) way|on order|(?:has|have) not (?:come|arrived|turned up)",
        "(?:finally )?(?:came|come|arrived|turned up)(?: through)?|is here|are here|delivered",
    ),
    _state("out of", "back in|in stock again|got more"),
    _state("closed|shut", "open again|(?:re|has re|have re)-?opened|opened again|back open|opens again"),
    _state(
        "ill|sick|poorly|off sick|in hospital|sprained|injured|unwell|has (?:a |the )?(?:cold|flu|fever)"
        "|in plaster|under the weather",
        "better(?: now| again)?|recovered|healed|out of hospital|home from hospital|well again|fit again"
        "|right as rain|on (?:his|her|my) feet again",
    ),
    _state(
        "away|on leave|on (?:\\w+ )?leave|on holiday|abroad|at (?:the|my) (?:garage|menders|repair shop)",
        "is back|['’]s back|are back|back (?:at|from|in|home)",
    ),
    _state(
        "hate|dislike|not keen on|not like|not into",
        "(?:came|come) (?:round|around) to|(?:love|like|enjoy|adore) .{0,30}(?:now|these days)|got into",
    ),
    _state(
        "(?:is|am|are|do|does) not (?:speaking|talking|on speaking terms)",
        "(?:speaking|talking|friends) again|made (?:it )?up",
    ),
    _state(
        "scared of|afraid of|frightened of|terrified of",
        "not (?:scared|afraid|frightened|terrified) .{0,40}(?:anymore|any longer)|fear .{0,20}(?:is gone"
        "|is history|a thing of the past)",
    ),
    _state("(?:not|no) (?:allowed|permitted)", "(?:is|are) (?:allowed|permitted)|may .{1,40} now|can .{1,40} now"),
)
"""States of which the second ends the first."""


def reverses(words: ClauseWords, old: OlderWords, clause: str, before: str) -> bool:
    """Whether a clause tells of the thing of the older that it is the opposite now."""
    for was, now in _OPPOSITES:
        had, told = was.search(old.text), now.search(clause)
        if had is None or told is None or now.search(old.text[: had.start()] + old.text[had.end() :]):
            continue
        named = [one for one in words.content(clause) if one in old.known]
        left = words.strange(clause[: told.start()], old)
        if named and not left and words.is_of_its_person(clause[: told.start()], before, old):
            return words.names_subject(clause, clause[: told.start()], old, named, "")
    return False
