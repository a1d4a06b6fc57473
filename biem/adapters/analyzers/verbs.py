"""Detects verbs, which are no topics, in both languages and without a parser.

English: a listed verb in any of its forms; a word that may be a noun, too, by its position in the sentence. Chinese:
the segmenter's verbs that are listed, or end in a result (学到, 写完) or begin with a wish (想带).
"""

from biem.adapters.analyzers import words


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_SUBJECTS = _words("i he she we they who")
_BEFORE = _words("you it to not please let's never always often usually also just and then")
_MODALS = _words(
    "can could will would should must may might shall cannot can't couldn't won't wouldn't shouldn't don't didn't "
    "doesn't i'll we'll you'll he'll she'll they'll i'd we'd let's"
)
_BEING = _words(
    "am is are was were be been being i'm he's she's it's we're you're they're keep keeps kept start starts started "
    "stop stops stopped without by"
)
_OBJECTS = _words(
    "a an the my his her our their your this that these those it him them me us every some any to at with up"
)
_DETERMINERS = _words("a an the my his her our their your this that these those every some any no of new old")
_RESULTS = "到给着了过成出起掉完好住去来上下开回进向往"
_WISHES = "想要去来请帮让使叫会能该得被把再先"


class Verbs:
    """The word lists, loaded once; thread-safe."""

    def __init__(self) -> None:
        lines = words.load("verbs")
        listed = {kind: {word for line in lines if line[0] == kind for word in line[1:]} for kind in ("verb", "both")}
        forms = {word for line in lines if line[0] == "forms" for word in line[1:]}
        self._always = frozenset(form for verb in listed["verb"] for form in _forms(verb)) | forms
        self._gerunds = frozenset(form for kind in listed.values() for verb in kind for form in _ing(verb))
        self._both = frozenset(form for verb in listed["both"] for form in _forms(verb)) - self._gerunds
        self._chinese, self._chinese_both = (
            frozenset(word for line in lines if line[0] == kind for word in line[1:]) for kind in ("zh", "zh_both")
        )

    def is_verb(self, word: str, before: str, after: str) -> bool:
        """Whether a lower-case English word is a verb, alone or between the word before and the one after it.

        Both are lower-case, and empty at a punctuation mark or the text's edge.
        """
        if before in _SUBJECTS or before in _MODALS:
            return True
        if word in self._gerunds:  # painting is a topic, "to be painting a wall" is none
            return before in _BEING or after in _OBJECTS
        if word in self._always:
            return True
        if word not in self._both or before in _DETERMINERS:
            return False
        return before in _BEFORE or after in _OBJECTS

    def is_chinese_verb(self, word: str, before: str) -> bool:
        """Whether a segment tagged as a verb is no activity that could be a topic.

        `before` is the tag of the segment before it: 学习 after a noun forms a compound with it, as in 机器学习.
        """
        if word in self._chinese_both:
            return not before.startswith(("n", "vn")) or before == "nr"
        return word in self._chinese or (len(word) == 2 and (word[1] in _RESULTS or word[0] in _WISHES))


def _forms(verb: str) -> set[str]:
    """The dictionary form, the third person, the regular past and the progressive."""
    forms = {verb, *_ing(verb)}
    if verb.endswith(("s", "x", "z", "ch", "sh", "o")):
        forms.add(verb + "es")
    elif verb.endswith("y") and verb[-2:-1] not in "aeiou":
        forms |= {verb[:-1] + "ies", verb[:-1] + "ied"}
    else:
        forms.add(verb + "s")
    return forms | {verb + "d" if verb.endswith("e") else verb + "ed", verb + verb[-1] + "ed"}


def _ing(verb: str) -> tuple[str, ...]:
    """Baking, running, dying: both spellings, because no list tells whether the consonant doubles."""
    if verb.endswith("ie"):
        return (verb[:-2] + "ying",)
    if verb.endswith("e") and not verb.endswith("ee"):
        return (verb[:-1] + "ing",)
    return (verb + verb[-1] + "ing", verb + "ing")
