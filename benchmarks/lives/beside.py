"""What other systems put before the model for the same questions: plain hybrid search, the last turns, mem0."""

from collections.abc import Iterable, Sequence

from benchmarks import _data
from benchmarks._baselines import System
from benchmarks.lives.facts import Life, Question, Turn
from benchmarks.lives.judge import Line, Shown
from biem.domain.tokens import estimate_tokens

_TOP = 5
_LAST = 10


def conversation_of(life: Life) -> _data.Conversation:
    """A life as the peers of `benchmarks.retrieval` load it."""
    turns = tuple(_data.Turn(turn.id, turn.session, "", turn.text, turn.at) for turn in life.turns)
    return _data.Conversation(life.id, life.lang, turns, tuple(_asked(question) for question in life.questions))


def searched(system: System, life: Life) -> list[Shown]:
    """The five best of a search, best first, one text a line."""
    conversation = conversation_of(life)
    system.load(conversation)
    system.ready()
    turns = {turn.id: turn for turn in life.turns}
    found: list[Shown] = []
    for question, asked in zip(life.questions, conversation.questions, strict=True):
        keys = system.ask(conversation, asked)
        told = [turns[key] for key in keys[:_TOP]]
        recalled = tuple(turns[key].told_by(turns[key].text) for key in keys)
        found.append(_shown(life, question, told, recalled))
    return found


def last_turns(life: Life) -> list[Shown]:
    """The ten turns before the question, the oldest first."""
    return [
        _shown(life, question, life.turns[max(0, question.before - _LAST) : question.before], None)
        for question in life.questions
    ]


def _shown(life: Life, question: Question, told: Sequence[Turn], recalled: tuple[frozenset[str], ...] | None) -> Shown:
    text = "\n".join(turn.text for turn in told)
    lines = tuple(Line(turn.told_by(turn.text), text=turn.text) for turn in told)
    return Shown(question, lines, estimate_tokens(text), recalled, frozenset(history(life, question)), {"block": text})


def history(life: Life, question: Question) -> Iterable[str]:
    """The turns of the conversation in which a question is asked."""
    if question.when != "during":
        return ()
    session = life.turns[question.before].session
    return (turn.id for turn in life.turns[: question.before] if turn.session == session)


def _asked(question: Question) -> _data.Question:
    return _data.Question(question.id, question.text, question.kind, question.groups, frozenset(), question.before)
