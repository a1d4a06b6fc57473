"""Lives written by hand (`by_hand/`; `everyday.txt` tells the format). No rule was made with those of `held-out`."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import cache
from pathlib import Path

from benchmarks.lives.facts import Key, Life, Matter, Place, Question, Role, Turn
from benchmarks.lives.grammar import Lang, Split, Value
from benchmarks.lives.schedule import START

BY_HAND = Path(__file__).with_name("by_hand")
_BETWEEN = timedelta(seconds=47)
_MESSAGE = re.compile(r"(?P<who>[udf])(?:@(?P<name>\S+))? (?:-|(?P<several>\*)|(?P<told>[^\s=+]+[=+]\S+)) (?P<text>.+)")
_STATEMENT = re.compile(r"\[\[(?P<matter>[^\s=+]+)(?P<sign>[=+])(?P<value>[^\s:：]+)[:：]\s*(?P<words>.+?)\]\]")
_TOLD = re.compile(r"(?P<matter>[^=+]+)(?P<sign>[=+])(?P<value>.+)")
_QUESTION = re.compile(r"\?(?P<place>[+*]?)(?:none|(?P<past>past)? (?P<matter>\S+)) (?P<text>.+)")
_OPENING = "?- "
_PLACES: dict[str, Place] = {"": "first", "+": "follow-up", "*": "other"}
_ROLES: dict[str, Role] = {"u": "user", "d": "assistant", "f": "fact"}
_HAN = re.compile("[\u4e00-\u9fff]")


def scripted(lang: str, split: Split, script: Path = BY_HAND) -> list[Life]:
    """The lives of this language (en, zh or mixed) and split, from a file or a folder of such files.

    Raises OSError, and ValueError for an unknown line.
    """
    return [one for one, of in _all(script) if (one.lang, of) == (lang, split)]


@cache
def _all(script: Path) -> tuple[tuple[Life, Split], ...]:
    files = sorted(script.glob("*.txt")) if script.is_dir() else [script]
    texts = ("\n" + file.read_text("utf-8") for file in files)
    return tuple(read_script(part.splitlines()) for text in texts for part in text.split("\n== ")[1:])


def read_script(lines: Sequence[str]) -> tuple[Life, Split]:
    """A life and its split. The first line has its name, language and split; raises ValueError for an unknown line."""
    name, lang, split = lines[0].split()
    script = _Script(name)
    for line in filter(None, lines[1:]):
        script.read(line)
    return Life(name, lang, tuple(script.turns), tuple(script.questions())), split  # type: ignore[return-value]


class _Script:
    """Reads a life line by line. The questions are read last, when all values are known."""

    def __init__(self, name: str) -> None:
        self.turns: list[Turn] = []
        self._name = name
        self._at = START
        self._session = 0
        self._asked: list[str] = []
        self._matters: dict[str, Matter] = {}

    def read(self, line: str) -> None:
        """One line; raises ValueError if it has no known form."""
        if line.startswith("-- "):
            self._at += timedelta(days=int(line[3:]))
            self._session += 1
        elif line.startswith(("?", "> ")):
            self._asked.append(line)
        elif line.startswith("a "):
            self._say("assistant", line[2:], "reply", "")
        elif told := _MESSAGE.fullmatch(line):
            if told["several"]:
                self._say_several(told)
                return
            facts = [fact for one in (told["told"] or "").split(",") if (fact := _TOLD.fullmatch(one))]
            key = facts[0]["matter"] if facts else ""
            turn = self._say(_ROLES[told["who"]], told["text"], "tell" if facts else "small", key, told["name"] or "")
            for fact in facts:
                self._tell(fact["matter"], fact["value"], turn, also=fact["sign"] == "+")
        else:
            raise ValueError(f"{self._name}: no known form: {line}")

    def _say_several(self, told: re.Match[str]) -> None:
        """A message of several statements, `[[MATTER=VALUE: words]]`, with line breaks as `\\n`."""
        found = list(_STATEMENT.finditer(told["text"]))
        text = _STATEMENT.sub(lambda one: one["words"], told["text"]).replace("\\n", "\n")
        turn = self._say(_ROLES[told["who"]], text, "tell", found[0]["matter"] if found else "", told["name"] or "")
        statements = {f"{turn}/{number}": one["words"].replace("\\n", "\n") for number, one in enumerate(found)}
        self.turns[-1] = replace(self.turns[-1], statements=statements)
        for key, one in zip(statements, found, strict=True):
            self._tell(one["matter"], one["value"], key, also=one["sign"] == "+")

    def _tell(self, name: str, value: str, turn: str, *, also: bool) -> None:
        matter = self._matters.setdefault(name, Matter(Key(None, name, None)))
        said = Value(value, value, value)
        matter.say(said, "also" if also else "change")
        matter.carry(said, turn)

    def _say(self, role: Role, text: str, sort: str, key: str, speaker: str = "") -> str:
        self._at += _BETWEEN
        name, session = f"{self._name}-t{len(self.turns)}", f"{self._name}-s{self._session}"
        self.turns.append(Turn(name, self._at, session, role, _lang(text), text, sort, key, speaker))
        return name

    def questions(self) -> Iterator[Question]:
        """What is asked a day after the end."""
        dialogue: list[tuple[Role, str]] = []
        dialogues = any(line.startswith("> ") for line in self._asked)
        for number, line in enumerate(self._asked):
            if line.startswith(_OPENING):
                dialogue = [("user", line[len(_OPENING) :])]
                continue
            if line.startswith("> "):
                dialogue.append(("assistant", line[2:]))
                continue
            asked = _QUESTION.fullmatch(line)
            if asked is None:
                raise ValueError(f"{self._name}: no known form: {line}")
            name, text = f"{self._name}-q{number}", asked["text"]
            dialogue = dialogue if asked["place"] else []
            before, place = tuple(dialogue), _PLACES[asked["place"]] if dialogues else ""
            dialogue.append(("user", text))
            if asked["matter"] is None:
                yield Question(
                    name,
                    text,
                    _lang(text),
                    "after",
                    len(self.turns),
                    "unknown",
                    "stranger",
                    place=place,
                    dialogue=before,
                )
                continue
            matters, past = [self._matters[one] for one in asked["matter"].split(",")], asked["past"] is not None
            yield Question(
                id=name,
                text=text,
                lang=_lang(text),
                when="after",
                before=len(self.turns),
                category="past" if past else "now",
                kind=matters[0].key.kind,
                groups=tuple(ids for one in matters for ids in ((one.before,) if past else one.groups)),
                stale=frozenset() if past else frozenset[str]().union(*(one.stale for one in matters)),
                relevant=frozenset[str]().union(*(one.relevant for one in matters)),
                place=place,
                dialogue=before,
            )


def _lang(text: str) -> Lang:
    return "zh" if _HAN.search(text) else "en"
