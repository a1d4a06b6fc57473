"""A life told to biem as an agent tells it: message by message through the plugin, with nights between sessions."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import cached_property

import biem
from benchmarks._clock import HeldClock
from benchmarks._systems import settle
from benchmarks.lives.facts import Life, Question, Role, Turn
from benchmarks.lives.judge import Line, Shown
from benchmarks.lives.schedule import LATE
from biem.domain.node import Hit, Node
from biem.domain.prompt.lines import harmless
from biem.domain.tokens import estimate_tokens
from biem.engine.context.block import UNCERTAIN, Context
from biem.plugin import BIEMContextPlugin

_BASE = "You are a helpful assistant."
_NIGHT = timedelta(hours=9)
_DEPTH = 10
_MARK = re.compile(
    r"\b(?:until|disputed|no longer|outdated|superseded|replaced|former|was said|corrected)\b"
    r"|直到|为止|有效至|有争议|已更新|已被|不再|此前|之前|更正",
    re.IGNORECASE,
)
"""What a block adds to a line that does not simply hold."""
_DATE = re.compile(r"\d{4}-\d\d-\d\d|\b\d{1,2} [A-Z][a-z]{2,8}\b|\b[A-Z][a-z]{2,8} \d{1,2}\b|\d{1,2}月\d{1,2}[日号]")
_ITEM = re.compile(r"(?:\d+\.|-) ")
_CHARS = 200


class Agent:
    """Lives one life in one scope of a memory whose clock it moves."""

    def __init__(self, memory: biem.Memory, clock: HeldClock, life: Life, speaker: str = "") -> None:
        self.memory = memory
        self._clock = clock
        self._life = life
        self._speaker = speaker
        self.node_of: dict[str, str] = {}
        """Memory ids by the ids of turns."""
        self.told = 0
        """Lines of the blocks before all of the user's messages …"""
        self.repeated = 0
        """… and of these, what the history of the same call holds."""

    @cached_property
    def _by_id(self) -> Mapping[str, Turn]:
        return {turn.id: turn for turn in self._life.turns}

    @cached_property
    def _sessions(self) -> Mapping[str, list[Turn]]:
        sessions: dict[str, list[Turn]] = {}
        for turn in self._life.turns:
            sessions.setdefault(turn.session, []).append(turn)
        return sessions

    def shown(self) -> Iterator[Shown]:
        """Tell the whole life; gives what the block held for each question, in order."""
        asked = {question.before: question for question in self._life.questions if question.when == "during"}
        place, spent = 0, None
        for name, turns in self._sessions.items():
            self._sleep(spent, turns[0])
            plugin, history = BIEMContextPlugin(self.memory, conversation=name), list[Turn]()
            for turn in turns:
                self._clock.move_to(turn.at)
                if turn.role == "user":
                    context = self._ask(plugin, ((said.role, said.text) for said in history), turn.text)
                    self._count_repeated(context, history)
                    if place in asked:
                        yield self._judged(asked[place], context, history)
                self._record(plugin, turn)
                if turn.role != "fact":
                    history.append(turn)
                place += 1
            settle(self.memory)
            spent = turns[-1]
        assert spent is not None
        yield from self._after("after", spent)
        yield from self._after("late", spent)

    def _sleep(self, last: Turn | None, coming: Turn) -> None:
        """The first night after one session, and the last before the next."""
        if last is None:
            return
        for moment in (last.at + _NIGHT, coming.at - _NIGHT):
            self._clock.move_to(moment)
            self.memory.sleep()
            settle(self.memory)

    def _after(self, when: str, last: Turn) -> Iterator[Shown]:
        """Each question in a separate conversation, none of which is recorded."""
        nights = 1 if when == "after" else LATE.days // 30
        until = timedelta(days=1) if when == "after" else LATE
        for night in range(nights):
            self._clock.move_to(last.at + until * (night + 1) / nights - _NIGHT)
            self.memory.sleep()
            settle(self.memory)
        self._clock.move_to(last.at + until)
        for question in self._life.questions:
            if question.when == when:
                plugin = BIEMContextPlugin(self.memory, conversation=question.id)
                yield self._judged(question, self._ask(plugin, question.dialogue, question.text), [])

    def _ask(self, plugin: BIEMContextPlugin, history: Iterable[tuple[Role, str]], text: str) -> Context:
        """What the system message of the next model call adds, and the memories it shows."""
        said = [{"role": role, "content": text} for role, text in history]
        system = str(plugin.messages(_BASE, said, text)[0]["content"])
        nodes = [self.memory.get(key) for key in plugin.injected]
        return Context(system.removeprefix(_BASE).strip(), tuple(Hit(node, 0.0, {}) for node in nodes))

    def _count_repeated(self, context: Context, history: Sequence[Turn]) -> None:
        said = {turn.id for turn in history}
        self.told += len(context.hits)
        self.repeated += sum(hit.node.ref in said for hit in context.hits)

    def _record(self, plugin: BIEMContextPlugin, turn: Turn) -> None:
        if turn.role == "fact":
            memory_id: str | None = self.memory.remember(turn.text, ref=turn.id)
        elif turn.role == "user":
            memory_id = plugin.record_user_message(turn.text, ref=turn.id, speaker=turn.speaker or self._speaker)
        else:
            memory_id = plugin.record_assistant_message(turn.text, ref=turn.id)
        assert memory_id is not None, "the plugin could not store a message"
        self.node_of[turn.id] = memory_id
        if turn.role != "user":
            settle(self.memory)  # a person takes longer for the next message than indexing does

    def _judged(self, question: Question, context: Context, history: Sequence[Turn]) -> Shown:
        hits = self.memory.recall(question.text, top_k=_DEPTH)
        return Shown(
            question,
            tuple(self._telling(line) for line in lines_of(context, self._turns)),
            estimate_tokens(context.text),
            tuple(self._telling(Line(self._turns(hit.node), text=hit.node.text)).turns for hit in hits),
            frozenset(turn.id for turn in history),
            {
                "block": context.text,
                "confidence": hits.confidence,
                "recalled": [(hit.node.text, round(hit.score, 3), dict(hit.why)) for hit in hits[:5]],
            },
            doubted=any(sentence in context.text for sentence in UNCERTAIN.values()),
        )

    def _telling(self, line: Line) -> Line:
        """The line, with the statements that it tells of a message of several."""
        return replace(line, turns=told_by(self._by_id, line))

    def _turns(self, node: Node) -> frozenset[str]:
        """The turns that a memory stands for: its own, or those it was made of."""
        if node.ref:
            return frozenset([node.ref])
        made_of = [*node.metadata.get("sources", ()), *node.metadata.get("merged_from", ())]
        return frozenset[str]().union(*(self._turns(self.memory.get(key)) for key in made_of))


def told_by(turns: Mapping[str, Turn], line: Line) -> frozenset[str]:
    """The turns of a line with the statements that its text tells of them."""
    return line.turns.union(*(turns[key].told_by(line.text) for key in line.turns if key in turns))


def lines_of(context: Context, turns_of: Callable[[Node], frozenset[str]]) -> Iterator[Line]:
    """The lines of a block, each with the turns of its memory; what it adds to the text of a memory may mark it."""
    items = [line for line in context.text.splitlines() if _ITEM.match(line)]
    if len(items) < len(context.hits):
        raise ValueError(f"the block has {len(items)} items for {len(context.hits)} memories:\n{context.text}")
    for hit, item in zip(context.hits, items, strict=False):
        added = item.replace(harmless(hit.node.text, _CHARS), "")
        yield Line(turns_of(hit.node), bool(_MARK.search(added)), bool(_DATE.search(added)), item)
