"""Learning from a turn: which recalled memories were useful.

Being returned is counted elsewhere and is no evidence. A useful memory gains energy and a use, and its links to the
other useful ones grow, from the earlier to the later; a useless one loses energy.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from biem.domain.link import NewLink, learned_links
from biem.domain.node import Node, new_id, parse_id
from biem.domain.policies.jobs import FeedbackPolicy
from biem.domain.scope import Scope
from biem.domain.text import require_clean
from biem.domain.trust import UNTRUSTED
from biem.errors import InvalidInput, NotFound
from biem.ports import EVERYTHING, Clock, Records, Touched
from biem.ports.life import Feedbacks
from biem.ports.links import Links
from biem.telemetry import Telemetry

_MOST_SUCCESSORS = 10
"""Maximum length of a chain of merges since the recall."""


@dataclass(frozen=True, slots=True)
class Lesson:
    """Changes of one call of feedback: memories rewarded and penalised, and links that grew."""

    useful: int
    useless: int
    links: int


class Feedback:
    """Learns from turns."""

    def __init__(
        self,
        *,
        records: Records,
        feedbacks: Feedbacks,
        links: Links,
        touched: Callable[[Scope, Sequence[Touched]], None],
        clock: Clock,
        policy: FeedbackPolicy,
        telemetry: Telemetry,
    ) -> None:
        self._records = records
        self._feedbacks = feedbacks
        self._links = links
        self._touched = touched
        self._clock = clock
        self._policy = policy
        self._telemetry = telemetry

    def learn(
        self,
        scope: Scope,
        useful: Sequence[str] = (),
        useless: Sequence[str] = (),
        *,
        new: Sequence[str] = (),
        turn: str | None = None,
    ) -> Lesson:
        """Reward `useful` and penalise `useless` memories, and link `new` ones of the turn with the useful ones.

        `turn` is the caller's name for the turn: the same turn again rewards nothing twice, after any failure. Raises
        `NotFound`, with nothing changed, for ids that are no memories `scope` may read, and `InvalidInput`.
        """
        praised, blamed, added = self._ids("useful", useful), self._ids("useless", useless), self._ids("new", new)
        both = sorted({*praised, *added} & set(blamed))
        if both:
            raise InvalidInput(f"memory {both[0]} is both useful and useless; decide for one")
        name = self._turn(turn)
        nodes = self._resolve(scope, [*praised, *blamed, *added])
        now = self._clock.now()
        marks = {nodes[key].id: -1.0 for key in blamed if key in nodes}
        marks |= {nodes[key].id: 1.0 for key in praised if key in nodes}
        with self._telemetry.span("biem.feedback", useful=len(praised), useless=len(blamed)) as span:
            touched = self._feedbacks.take(scope, name, marks, now) if marks else []
            if touched:
                self._touched(scope, touched)
            grown = self._link(scope, [nodes[key] for key in (*praised, *added) if key in nodes], name)
            span.add(links=grown, repeated=touched is None)
        if touched is None:
            return Lesson(0, 0, grown)
        rewarded = {item.id for item in touched}
        good = sum(marks[key] > 0 for key in rewarded)
        return Lesson(good, len(rewarded) - good, grown)

    def compact(self, scope: Scope) -> dict[str, int]:
        """Delete the names of turns that are too old to be repeated."""
        before = self._clock.now() - timedelta(days=self._policy.turn_days)
        return {"turns": self._feedbacks.compact(scope, before, self._policy.batch)}

    def _link(self, scope: Scope, nodes: Sequence[Node], name: str) -> int:
        """Links between memories of one scope, without untrusted ones: the earlier led to the later."""
        grown = 0
        for home in scope.readable:
            mine = {node.id: node for node in nodes if node.scope == home and node.trust != UNTRUSTED}
            ordered = sorted(mine.values(), key=lambda node: (node.at, node.write_seq))
            links: list[NewLink] = learned_links([node.id for node in ordered])
            if links:
                grown += self._links.connect(home, links, self._clock.now(), once=f"feedback:{scope.ns}:{name}")
        return grown

    def _resolve(self, scope: Scope, ids: Sequence[str]) -> dict[str, Node]:
        """The live memory that replaced each id; memories archived without a successor are left out."""
        if not ids:
            return {}
        wanted = list(dict.fromkeys(ids))
        live = self._records.candidates(scope.readable, wanted, (), EVERYTHING, pending_limit=0, evidence=False).nodes
        found = {key: live[key] for key in wanted if key in live}
        unknown = []
        for key in wanted:
            if key in found:
                continue
            node = self._get(scope, key)
            if node is None:
                unknown.append(key)
            elif (successor := self._successor(scope, node)) is not None:
                found[key] = successor
        if unknown:
            raise NotFound(f"no memories {', '.join(unknown)} in scope {scope}; nothing was learnt")
        return found

    def _successor(self, scope: Scope, node: Node) -> Node | None:
        for _ in range(_MOST_SUCCESSORS):
            if node.status != "archived":
                return node
            heir = self._get(scope, node.superseded_by) if node.superseded_by else None
            if heir is None:
                return None
            node = heir
        return None

    def _get(self, scope: Scope, key: str) -> Node | None:
        return next((node for home in scope.readable if (node := self._records.get(home, key)) is not None), None)

    def _ids(self, what: str, ids: Sequence[str]) -> list[str]:
        if isinstance(ids, (str, bytes)) or not isinstance(ids, Sequence):
            raise InvalidInput(f"{what} must be a list of memory ids")
        parsed = list(dict.fromkeys(parse_id(key) for key in ids))
        if len(parsed) > self._policy.most:
            raise InvalidInput(f"{what} has {len(parsed):,} memories; at most {self._policy.most} are allowed a turn")
        return parsed

    def _turn(self, turn: str | None) -> str:
        if turn is None:
            return new_id()
        if not isinstance(turn, str) or not turn or len(turn) > self._policy.max_turn_chars:
            raise InvalidInput(f"turn must be a name of 1 to {self._policy.max_turn_chars} characters")
        require_clean(turn, "turn")
        return turn
