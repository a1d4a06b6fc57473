"""Many short facts about many people in one scope: bare, filed under topics, and said in one busy channel.

What an assistant's memory tool writes when it has to file each fact under a topic: no dialogue, no speaker, one
conversation a topic, times of no meaning, and the same sentence about other people next to each.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cache
from pathlib import Path
from random import Random

from benchmarks._data import Conversation, Question, Turn
from benchmarks.lives.grammar import Lang, Value, draw, kinds, words
from benchmarks.lives.schedule import START

_FILE = Path(__file__).parent / "lives" / "filed.txt"
_PEOPLE = 40
_QUESTIONS = 5
"""Times the questions of one life: there is one scope, not several."""
_STEP = timedelta(seconds=1)
_YEAR = timedelta(days=365)
_TOGETHER = 3
"""Threads that run at once in a channel."""
_FIRST_EN = ("Ada", "Bruno", "Clara", "Dmitri", "Elif", "Farid", "Greta", "Hugo", "Ines", "Jonas")
_LAST_EN = ("Abel", "Brandt", "Costa", "Dunne")
_FIRST_ZH = ("伟", "芳", "敏", "静", "磊", "洋", "艳", "勇", "杰", "娟")
_LAST_ZH = ("王", "李", "赵", "陈")


@dataclass(frozen=True, slots=True)
class _Form:
    """One attribute of people."""

    topic: str
    values: str
    said: dict[str, tuple[str, ...]]
    """By language, and "ask " and language."""


def filed(seed: int, lang: Lang, questions: int) -> dict[str, Conversation]:
    """The collections by name; the same for the same seed."""
    random = Random(f"filed {seed} {lang}")
    facts, asked = _facts(lang, random)
    asked = random.sample(asked, min(len(asked), _QUESTIONS * questions))
    shuffled = random.sample(facts, len(facts))

    def made(name: str, turns: Sequence[Turn]) -> Conversation:
        return Conversation(name, lang, tuple(turns), tuple(asked))

    weeks = sorted((replace(turn, at=START + random.random() * _YEAR) for turn in facts), key=lambda turn: turn.at)
    return {
        "many facts": made("many", [replace(turn, session="", at=START) for turn in shuffled]),
        "many filed": made("filed", [replace(turn, at=START + place * _STEP) for place, turn in enumerate(shuffled)]),
        "filed by person": made("by person", [replace(turn, at=START) for turn in facts]),
        "filed over a year": made("year", weeks),
        "busy channel": made("busy", _channel(facts, lang, random)),
    }


def _facts(lang: Lang, random: Random) -> tuple[list[Turn], list[Question]]:
    """Every attribute of every person, person by person; and a question for each."""
    turns: list[Turn] = []
    asked: list[Question] = []
    for person in _names(lang):
        for number, form in enumerate(_forms()):
            key = f"{person} {number}"
            value = _value(form.values, random).text(lang)
            told, ask = (random.choice(form.said[field]) for field in (lang, f"ask {lang}"))
            text = told.replace("{n}", person).replace("{v}", value)
            turns.append(Turn(key, form.topic, "", text, START))
            group = (frozenset((key,)),)
            asked.append(Question(key, ask.replace("{n}", person), form.topic, group, frozenset(), None))
    return turns, asked


def _channel(facts: Sequence[Turn], lang: Lang, random: Random) -> list[Turn]:
    """The same facts, stated by colleagues in one channel, a few threads at a time, with what chatter they add."""
    speakers = _names(lang)[::5]
    replies = {
        "en": ("Good to know.", "Thanks!", "Really?", "OK, noted."),
        "zh": ("知道了。", "谢谢！", "真的吗？", "好的。"),
    }
    waiting = [list(facts[start : start + 8]) for start in range(0, len(facts), 8)]
    random.shuffle(waiting)
    running: list[list[Turn]] = []
    said: list[Turn] = []
    at = START
    while waiting or running:
        while waiting and len(running) < _TOGETHER:
            running.append(waiting.pop())
        thread = random.choice(running)
        at += timedelta(minutes=random.expovariate(1 / 20))
        said.append(replace(thread.pop(0), session="general", speaker=random.choice(speakers), at=at))
        if random.random() < 0.3:
            at += timedelta(minutes=1)
            text = random.choice(replies[lang])
            said.append(Turn(f"reply {len(said)}", "general", random.choice(speakers), text, at))
        running = [one for one in running if one]
    return said


def _names(lang: Lang) -> list[str]:
    first, last = (_FIRST_EN, _LAST_EN) if lang == "en" else (_FIRST_ZH, _LAST_ZH)
    every = [f"{one} {other}" if lang == "en" else f"{other}{one}" for one in first for other in last]
    return every[:_PEOPLE]


def _value(name: str, random: Random) -> Value:
    listed = {kind.values for kind in kinds("en").values() if kind.values not in ("favourite", "rule")}
    if name not in listed:
        return random.choice(words(name))
    kind = next(kind for kind in kinds("en").values() if kind.values == name)
    value = draw(kind, None, "dev", random, START)
    if value is None:
        raise AssertionError(f"no value in {name}")
    return value


@cache
def _forms() -> tuple[_Form, ...]:
    return tuple(_read())


def _read() -> Iterator[_Form]:
    head, field = ("", ""), ""
    said: dict[str, list[str]] = {}
    lines = [line for line in _FILE.read_text(encoding="utf-8").splitlines() if line.strip()]
    for line in [*(one for one in lines if not one.startswith("#")), "=="]:
        if line.startswith("=="):
            if said:
                yield _Form(*head, {name: tuple(forms) for name, forms in said.items()})
            topic, _, values = line[2:].strip().partition(" ")
            head, said = (topic, values), {}
        elif line.startswith("  "):
            said[field].append(line.strip())
        else:
            field = line.strip()
            said[field] = []
