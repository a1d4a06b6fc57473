"""A life: its facts and their changes in time, its other messages, and its questions during and after."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from random import Random

from benchmarks.lives.facts import PERMANENT, Key, Life, Matter, Question, Turn, When
from benchmarks.lives.grammar import LANGS, Lang, Split, Value, chatter, draw, fill, kinds, possessor, templates, words
from benchmarks.lives.outline import ALLUSIONS, OTHERS, Event, field_of, has, outline, thing_of

START = datetime(2026, 1, 5, 18, 0, tzinfo=UTC)
LATE = timedelta(days=120)
"""After the last session: what never expires must still be known."""
_UNKNOWN_AFTER = 12


def life(number: int, seed: int, lang: str, split: Split) -> Life:
    """Life `number` of a seed: the same arguments give the same life. `lang`: en, zh or mixed."""
    return _Teller(Random(f"{split} {lang} {seed} {number}"), f"{lang}-{seed}-{number}", lang, split).told()


class _Teller:
    """Makes one life, session by session."""

    def __init__(self, random: Random, name: str, lang: str, split: Split) -> None:
        self._random = random
        self._name = name
        self._lang = lang
        self._split = split
        self._turns: list[Turn] = []
        self._questions: list[Question] = []
        self._matters: dict[str, Matter] = {}
        self._at = START
        self._session = ""

    def told(self) -> Life:
        """The whole life."""
        for number, events in enumerate(outline(self._random, self._split)):
            self._at += timedelta(days=self._random.randrange(4, 12), minutes=self._random.randrange(200))
            self._session = f"{self._name}-s{number}"
            lang = self._any_lang()
            for event in events:
                self._happen(event, lang)
        self._ask_after()
        return Life(self._name, self._lang, tuple(self._turns), tuple(self._questions))

    # -- messages ----------------------------------------------------------------------------------------------------

    def _happen(self, event: Event, lang: Lang) -> None:
        if event.key is None:
            self._beside(event.what, lang)
        elif event.what == "allusion":
            self._allude(event.key, lang)
        elif event.what == "asked":
            self._asked(event.key, lang)
        else:
            self._state(event.key, event.what, lang)
            if event.brief:
                self._state(event.key, "brief", lang)

    def _state(self, key: Key, field: str, lang: Lang) -> None:
        """A fact, or another value of it; `brief` corrects the last words without saying of what."""
        matter = self._matter(key)
        old = matter.current[-1] if matter.current else None
        value = self._draw(key, [one.id for one in (*matter.current, *matter.former)])
        if value is None:  # a short list: nothing is left to change to
            return
        brief = chatter("brief", lang, self._split)
        template = self._random.choice(brief) if field == "brief" else self._pick(lang, key, field)
        second = self._second(template, key)
        text = self._fill(template, lang, key, {"v": value, "o": old, "w": second[1] if second else None})
        turn = self._say(lang, "user", text, field, key)
        matter.say(value, field)
        matter.carry(value, turn)
        if old is not None and "{o}" in template:
            matter.carry(old, turn)
        if second:
            other, other_value = second
            other.say(other_value, "tell")
            other.carry(other_value, turn)
        self._reply(lang, key, value)

    def _second(self, template: str, key: Key) -> tuple[Matter, Value] | None:
        """The second fact that a sentence tells: a profession with the employer."""
        if "{w}" not in template:
            return None
        other = Key(key.possessor, kinds("en")[key.kind].things, None)
        value = self._draw(other, [])
        return (self._matter(other), value) if value else None

    def _allude(self, key: Key, lang: Lang) -> None:
        """Something about the same matter that states nothing of the present."""
        fields = [one for one in ALLUSIONS if templates(lang, key.kind, one, self._split)]
        matter = self._matter(key)
        value = self._draw(key, list(matter.carriers))
        if not fields or value is None:
            return
        field = self._random.choice(fields)
        slots = {"v": value, "o": matter.current[-1], "N": self._random.choice(words("speaker"))}
        turn = self._say(lang, "user", self._fill(self._pick(lang, key, field), lang, key, slots), field, key)
        if field == "past":
            matter.allusions.add(turn)
        self._answer_small(lang)

    def _asked(self, key: Key, lang: Lang) -> None:
        matter = self._matter(key)
        question = self._question(key, lang, "during", "now")
        self._say(lang, "user", question.text, "question", key)
        self._echo(lang, key, matter.current[-1])

    def _beside(self, sort: str, lang: Lang) -> None:
        random = self._random
        text = fill(random.choice(chatter(sort, lang, self._split)), lang, {}, random)
        if sort == "stranger":
            self._unknown(text, lang, "during", "stranger")
            self._say(lang, "user", text, "question", None)
            self._say(lang, "assistant", random.choice(chatter("unknown", lang, self._split)), "unknown", None)
        else:
            self._say(lang, "user", text, sort, None)
            self._answer_small(lang)

    def _echo(self, lang: Lang, key: Key, value: Value) -> None:
        """The assistant says what it understood, or was asked for."""
        field = "echo" if key.possessor is None else "echo_of"
        thing = {"t": key.thing} if key.thing else {}
        slots = {"v": value, **thing, **possessor(key.possessor, by_assistant=True)}
        text = fill(self._random.choice(templates(lang, key.kind, field, self._split)), lang, slots, self._random)
        self._matter(key).carry(value, self._say(lang, "assistant", text, "echo", key))

    def _reply(self, lang: Lang, key: Key, value: Value) -> None:
        """Mostly an acknowledgement, sometimes a paraphrase, sometimes a guess about something else."""
        random, drawn = self._random, self._random.random()
        if drawn < 0.15:
            self._echo(lang, key, value)
        elif drawn < 0.28:
            guessed = Key(None, random.choice(("home", "employer", "job", "sport", "car")), None)
            template = random.choice(templates(lang, guessed.kind, "guess", self._split))
            known = list(self._matter(guessed).carriers) if guessed.id in self._matters else []
            text = self._fill(template, lang, guessed, {"v": self._draw(guessed, known)})
            self._say(lang, "assistant", text, "guess", guessed)
        else:
            self._say(lang, "assistant", random.choice(chatter("noted", lang, self._split)), "noted", None)

    def _answer_small(self, lang: Lang) -> None:
        sort = "reply" if self._random.random() < 0.6 else "noted"
        self._say(lang, "assistant", self._random.choice(chatter(sort, lang, self._split)), sort, None)

    # -- questions ----------------------------------------------------------------------------------------------------

    def _ask_after(self) -> None:
        self._session, self._at = f"{self._name}-after", self._at + timedelta(days=1)
        for matter in [one for one in self._matters.values() if one.current]:
            for _ in range(2 if matter.former else 1):
                self._question(matter.key, self._any_lang(), "after", "now")
            if matter.replaced and has(matter.key, "ask_past", self._split) and matter.key.possessor is None:
                self._question(matter.key, self._any_lang(), "after", "past")
        for number in range(_UNKNOWN_AFTER):
            self._ask_unknown(stranger=number % 2 == 0)
        for matter in [one for one in self._matters.values() if one.current and one.key.kind in PERMANENT]:
            self._question(matter.key, self._any_lang(), "late", "now")

    def _ask_unknown(self, *, stranger: bool) -> None:
        """About something that no life tells, or about a matter of which this one told nothing."""
        lang, random = self._any_lang(), self._random
        if stranger:
            self._unknown(random.choice(chatter("stranger", lang, self._split)), lang, "after", "stranger")
            return
        people = (None, *words("kin"))
        for _ in range(100):
            kind = random.choice(OTHERS)
            key = Key(random.choice(people), kind, thing_of(kind, random))
            if key.id not in self._matters:
                text = self._fill(self._pick(lang, key, "ask"), lang, key, {})
                self._unknown(text, lang, "after", kind)
                return

    def _unknown(self, text: str, lang: Lang, when: When, kind: str) -> None:
        if any(one.text == text and one.when == when for one in self._questions):
            return
        name = f"{self._name}-q{len(self._questions)}"
        self._questions.append(Question(name, text, lang, when, len(self._turns), "unknown", kind))

    def _question(self, key: Key, lang: Lang, when: When, category: str) -> Question:
        matter = self._matter(key)
        field = field_of(key, "ask" if category == "now" else "ask_past")
        asked = {one.text for one in self._questions if one.when == when}
        texts = [self._fill(one, lang, key, {}) for one in templates(lang, key.kind, field, self._split)]
        question = Question(
            id=f"{self._name}-q{len(self._questions)}",
            text=self._random.choice([text for text in texts if text not in asked] or texts),
            lang=lang,
            when=when,
            before=len(self._turns),
            category="now" if category == "now" else "past",
            kind=key.kind,
            groups=matter.groups if category == "now" else (matter.before,),
            stale=matter.stale if category == "now" else frozenset(),
            relevant=matter.relevant,
        )
        self._questions.append(question)
        return question

    # -- small steps --------------------------------------------------------------------------------------------------

    def _matter(self, key: Key) -> Matter:
        return self._matters.setdefault(key.id, Matter(key))

    def _pick(self, lang: Lang, key: Key, field: str) -> str:
        return self._random.choice(templates(lang, key.kind, field_of(key, field), self._split))

    def _fill(self, template: str, lang: Lang, key: Key, slots: Mapping[str, Value | None]) -> str:
        thing = {"t": key.thing} if key.thing else {}
        return fill(template, lang, {**slots, **thing, **possessor(key.possessor)}, self._random)

    def _draw(self, key: Key, unlike: Sequence[str]) -> Value | None:
        return draw(kinds("en")[key.kind], key.thing, self._split, self._random, self._at, unlike)

    def _any_lang(self) -> Lang:
        return self._random.choice(LANGS) if self._lang == "mixed" else LANGS[LANGS.index(self._lang)]

    def _say(self, lang: Lang, role: str, text: str, sort: str, key: Key | None) -> str:
        self._at += timedelta(seconds=self._random.randrange(20, 90))
        name = f"{self._name}-t{len(self._turns)}"
        who = "user" if role == "user" else "assistant"
        self._turns.append(
            Turn(name, self._at, self._session, who, lang, text, sort, key.id if key else "")  # type: ignore[arg-type]
        )
        return name
