"""The fates of the turns of a life: refused by the write gate, retired, repeated though in the history."""

from collections import Counter
from collections.abc import Collection

from benchmarks.lives.agent import Agent
from benchmarks.lives.facts import Life, Turn

_STATEMENTS = frozenset(("tell", "change", "correct", "brief", "also"))
_BESIDE = frozenset(("small", "plan", "past", "joke", "deny", "hypo", "reported"))
_MOST = 1_000
NEEDED, STATED, BESIDE = "refused: needed by a question", "refused: facts of the user", "refused: other sentences"
COURTESY, ASSISTANT = "refused: courtesies", "refused: acknowledgements of the assistant"
VALID, FORMER = "retired: what holds at the end", "retired: what holds no longer"
LASTING = "archived: what never expires"
REPEATED = "lines of all blocks that the history has"
_ROWS = (NEEDED, STATED, BESIDE, COURTESY, ASSISTANT, VALID, FORMER, LASTING, REPEATED)


class Fates:
    """Counts turns over lives."""

    def __init__(self) -> None:
        self._all: Counter[str] = Counter()
        self._met: Counter[str] = Counter()

    def add(self, agent: Agent, life: Life) -> None:
        """All that one life said."""
        self._count(REPEATED, agent.told, agent.repeated)
        refused = {refusal.id for refusal in agent.memory.refusals(_MOST)}
        self.refuse(life, {turn for turn, memory_id in agent.node_of.items() if memory_id in refused})
        late = [question for question in life.questions if question.when == "late"]
        asked = [question for question in life.questions if question.when == "after" and question.category == "now"]
        by_user = {turn.id for turn in life.turns if turn.role == "user"}
        for what, turns in (
            (VALID, frozenset[str]().union(*(question.answers for question in asked)) & by_user),
            (FORMER, frozenset[str]().union(*(question.stale for question in asked)) & by_user),
        ):
            nodes = [agent.memory.get(agent.node_of[turn]) for turn in turns]
            self._count(what, len(nodes), sum(node.valid_to is not None for node in nodes))
        lasting = frozenset[str]().union(*(question.answers for question in late)) & by_user
        nodes = [agent.memory.get(agent.node_of[turn]) for turn in lasting]
        self._count(LASTING, len(nodes), sum(node.status == "archived" for node in nodes))

    def refuse(self, life: Life, refused: Collection[str]) -> None:
        """The turns of a life that the gate refused, by id."""
        needed = frozenset[str]().union(*(question.answers for question in life.questions))
        for turn in life.turns:
            for what in _sorts(turn, needed):
                self._count(what, 1, int(turn.id in refused))

    def rows(self) -> list[dict[str, object]]:
        """A row a sort of turn."""
        return [
            {"what": name, "n": self._all[name], "share": self._met[name] / self._all[name]}
            for name in _ROWS
            if self._all[name]
        ]

    def _count(self, what: str, every: int, met: int) -> None:
        self._all[what] += every
        self._met[what] += met


def _sorts(turn: Turn, needed: frozenset[str]) -> list[str]:
    """What a turn counts as."""
    if turn.role == "assistant":
        return [ASSISTANT] if turn.sort == "noted" else []
    if turn.sort == "courtesy":
        return [COURTESY]
    if turn.sort in _BESIDE:
        return [BESIDE]
    return [*([NEEDED] if turn.id in needed else []), *([STATED] if turn.sort in _STATEMENTS else [])]
