"""A language model that says what it is instructed to, for tests of the concept memory."""

from collections.abc import Sequence

from biem.domain.scope import Scope
from biem.ports.reasoner import Instant, Judgement, Proposal, Reasoner, Topic


class ScriptedReasoner:
    """The port `Reasoner`: answers from its attributes and notes each call; None is an outage."""

    def __init__(
        self,
        *,
        topics: Sequence[Topic] | None = None,
        concepts: Sequence[str] | None = None,
        keywords: Sequence[str] | None = None,
        worth: bool | None = None,
        instant: Instant | None = None,
        merged: str | None = None,
    ) -> None:
        self.topics_ = None if topics is None else list(topics)
        self.concepts_ = None if concepts is None else list(concepts)
        self.keywords_ = None if keywords is None else list(keywords)
        self.worth = worth
        self.instant_ = instant
        self.merged = merged
        self.calls: list[str] = []
        self.for_replies = 0
        self.asked: dict[str, object] = {}

    def concepts(self, scope: Scope, text: str, limit: int) -> list[str] | None:
        self.calls.append("concepts")
        self.asked = {"text": text, "limit": limit}
        return self.concepts_

    def keywords(
        self, scope: Scope, message: str, *, history: str = "", known: Sequence[str] = (), limit: int = 10
    ) -> list[str] | None:
        self.calls.append("keywords")
        self.asked = {"message": message, "history": history, "known": tuple(known), "limit": limit}
        return self.keywords_

    def observe(self, scope: Scope, text: str, limit: int) -> list[Proposal] | None:
        self.calls.append("observe")
        return None

    def topics(self, scope: Scope, lines: Sequence[str]) -> list[Topic] | None:
        self.calls.append("topics")
        self.asked = {"lines": list(lines)}
        return self.topics_

    def is_worth(self, scope: Scope, text: str) -> bool | None:
        self.calls.append("worth")
        return self.worth

    def instant(self, scope: Scope, text: str) -> Instant | None:
        self.calls.append("instant")
        return self.instant_

    def judge(self, scope: Scope, older: str, newer: str) -> Judgement | None:
        return None

    def merge(self, scope: Scope, texts: Sequence[str]) -> str | None:
        self.calls.append("merge")
        return self.merged

    def summarise(self, scope: Scope, texts: Sequence[str], max_chars: int) -> str | None:
        return None

    def relevant(self, scope: Scope, question: str, texts: Sequence[str]) -> list[int] | None:
        self.calls.append("relevant")
        return None

    def paused_s(self) -> float:
        return 0.0

    def for_reply(self) -> Reasoner:
        self.for_replies += 1
        return self

    def close(self) -> None:
        """Holds nothing."""
