"""The same turns and questions with their structure replaced, and collections of other products' kinds."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from random import Random

from benchmarks._collections import written
from benchmarks._data import Conversation, Question, Turn
from benchmarks._filed import filed
from benchmarks.lives.beside import conversation_of
from benchmarks.lives.facts import Life
from benchmarks.lives.grammar import Lang
from benchmarks.lives.schedule import START, life

Change = Callable[[Sequence[Turn], Random], list[Turn]]
_LABELS = 8
_SPEAKERS = ("Ana", "Bo", "Chen", "Dara", "Emil")
_STEP = timedelta(seconds=1)


def _in_order(turns: Sequence[Turn]) -> list[Turn]:
    """Each a second after the one before, in this order."""
    return [replace(turn, at=START + place * _STEP) for place, turn in enumerate(turns)]


def _each(**fields: str) -> Change:
    return lambda turns, _: [replace(turn, **fields) for turn in turns]  # type: ignore[arg-type]


def _bare(turns: Sequence[Turn], _: Random) -> list[Turn]:
    return [replace(turn, speaker="", session="", at=START) for turn in turns]


def _topics(turns: Sequence[Turn], random: Random) -> list[Turn]:
    filed = [replace(turn, speaker="", at=START) for turn in turns]
    random.shuffle(filed)
    return filed


def _random_labels(turns: Sequence[Turn], random: Random) -> list[Turn]:
    return [replace(turn, session=f"label-{random.randrange(_LABELS)}") for turn in turns]


def _shuffled(turns: Sequence[Turn], random: Random) -> list[Turn]:
    return _in_order(random.sample(turns, len(turns)))


SHAPES: dict[str, Change] = {
    "as it is": lambda turns, _: list(turns),
    "bare facts": _bare,
    "topic labels": _topics,
    "random labels": _random_labels,
    "one label": _each(session="notes"),
    "shuffled": _shuffled,
    "no times": lambda turns, _: _in_order(turns),
    "equal times": lambda turns, _: [replace(turn, at=START) for turn in turns],
    "one speaker": _each(speaker="Sam"),
}
"""What becomes of the turns of one conversation. No times: all came within minutes, as an import brings them."""


def shaped(conversations: Sequence[Conversation], name: str, random: Random) -> list[Conversation]:
    """All conversations in one shape. Where order or time is lost, a question is asked of all turns."""
    change, kept = SHAPES[name], name in ("as it is", "random labels", "one label", "one speaker")
    return [
        replace(
            one,
            turns=tuple(change(one.turns, random)),
            questions=one.questions if kept else tuple(replace(question, before=None) for question in one.questions),
        )
        for one in conversations
    ]


def together(conversations: Sequence[Conversation], beside: Sequence[Turn] = ()) -> list[Conversation]:
    """All in one scope, with the turns `beside`. Ids get the number of their conversation, as sessions do."""
    turns: list[Turn] = []
    questions: list[Question] = []
    for number, one in enumerate(conversations):
        turns += [replace(turn, id=f"{number}/{turn.id}", session=f"{number}/{turn.session}") for turn in one.turns]
        for question in one.questions:
            groups = tuple(frozenset(f"{number}/{turn}" for turn in group) for group in question.groups)
            sessions = frozenset(f"{number}/{session}" for session in question.sessions)
            questions.append(
                replace(question, id=f"{number}/{question.id}", groups=groups, sessions=sessions, before=None)
            )
    others = [replace(turn, id=f"beside/{place}/{turn.id}") for place, turn in enumerate(beside)]
    every = sorted((*turns, *others), key=lambda turn: turn.at)
    return [Conversation("together", conversations[0].lang, tuple(every), tuple(questions))]


def cut(conversation: Conversation, questions: int, turns: int, random: Random) -> Conversation:
    """At most this many questions, and this many turns: those that they need, and others as they come."""
    asked = [one for one in conversation.questions if one.before is None] or list(conversation.questions)
    chosen = random.sample(asked, min(questions, len(asked)))
    gold = frozenset[str]().union(*(group for question in chosen for group in question.groups))
    others = [turn.id for turn in conversation.turns if turn.id not in gold]
    room = max(0, turns - len(gold))
    kept = gold.union(random.sample(others, min(room, len(others))))
    places = [place for place, turn in enumerate(conversation.turns) if turn.id in kept]

    def before(question: Question) -> int | None:
        return None if question.before is None else sum(place < question.before for place in places)

    return replace(
        conversation,
        turns=tuple(conversation.turns[place] for place in places),
        questions=tuple(replace(question, before=before(question)) for question in chosen),
    )


def products(seed: int, lang: Lang, questions: int) -> dict[str, list[Conversation]]:
    """Collections such as other products hold, made of lives: their questions of what holds at the end."""
    random = Random(f"products {seed} {lang}")
    lives = [life(number, seed, lang, "dev") for number in range(3)]
    made = {
        "facts": [_facts(one) for one in lives],
        "filed facts": [_filed(one) for one in lives],
        "tickets": [_tickets(one, random) for one in lives],
        "diary": [_diary(one) for one in lives],
        "channel log": [_channel(lives, random)],
    }
    found = {name: [cut(one, questions, len(one.turns), random) for one in some] for name, some in made.items()}
    return found | {name: [one] for name, one in (filed(seed, lang, questions) | written(lang)).items()}


def _facts(one: Life) -> Conversation:
    """What an extractor keeps: the statements alone, without speaker, conversation and time."""
    stated = {
        turn.id for turn in one.turns if turn.role == "user" and turn.sort in ("tell", "change", "correct", "also")
    }
    whole = _asked_at_the_end(conversation_of(one))
    return _with(whole, _bare([turn for turn in whole.turns if turn.id in stated], Random(0)))


def _filed(one: Life) -> Conversation:
    """The same facts, each under the label of its topic: the kind of the fact stands for the conversation."""
    kind_of = {turn.id: turn.key.split("|")[1] for turn in one.turns if turn.key}
    facts = _facts(one)
    return _with(facts, [replace(turn, session=kind_of[turn.id]) for turn in facts.turns])


def _tickets(one: Life, random: Random) -> Conversation:
    """Each statement a ticket with a number and the label of a queue."""
    facts = _facts(one)
    turns = [
        replace(turn, text=f"Ticket #{1000 + place}: {turn.text}", session=f"queue-{random.randrange(4)}")
        for place, turn in enumerate(facts.turns)
    ]
    return _with(facts, _in_order(turns))


def _diary(one: Life) -> Conversation:
    """All that the user said in one session is an entry; it stands for each of its turns."""
    whole = _asked_at_the_end(conversation_of(one))
    said = {turn.id for turn in one.turns if turn.role == "user"}
    entry_of: dict[str, str] = {}
    texts: dict[str, list[str]] = {}
    times: dict[str, datetime] = {}
    for turn in whole.turns:
        if turn.id in said:
            entry_of[turn.id] = turn.session
            texts.setdefault(turn.session, []).append(turn.text)
            times.setdefault(turn.session, turn.at)
    turns = [Turn(key, "diary", "", " ".join(text), times[key]) for key, text in texts.items()]
    questions = []
    for question in whole.questions:
        groups = tuple(frozenset(entry_of[key] for key in group if key in entry_of) for group in question.groups)
        if all(groups):
            questions.append(replace(question, groups=groups))
    return replace(whole, turns=tuple(turns), questions=tuple(questions))


def _channel(lives: Sequence[Life], random: Random) -> Conversation:
    """Several people write into one channel; questions name who is asked about."""
    names = random.sample(_SPEAKERS, len(lives))
    turns: list[Turn] = []
    questions: list[Question] = []
    for name, one in zip(names, lives, strict=True):
        whole = _asked_at_the_end(conversation_of(one))
        said = {turn.id for turn in one.turns if turn.role == "user"}
        turns += [replace(turn, speaker=name, session="general") for turn in whole.turns if turn.id in said]
        for question in whole.questions:
            groups = tuple(group & said for group in question.groups)
            if all(groups):
                questions.append(replace(question, text=f"{name}: {question.text}", groups=groups))
    return Conversation("channel", lives[0].lang, tuple(sorted(turns, key=lambda turn: turn.at)), tuple(questions))


def _asked_at_the_end(whole: Conversation) -> Conversation:
    count = len(whole.turns)
    last = tuple(replace(one, before=None) for one in whole.questions if one.groups and one.before == count)
    return replace(whole, questions=last)


def _with(whole: Conversation, turns: Sequence[Turn]) -> Conversation:
    """The conversation with these turns, and the questions that they still answer."""
    kept = {turn.id for turn in turns}
    questions = []
    for question in whole.questions:
        groups = tuple(group & kept for group in question.groups)
        if all(groups):
            questions.append(replace(question, groups=groups))
    return replace(whole, turns=tuple(turns), questions=tuple(questions))
