"""The port `Reasoner` over a chat model: each use is a prompt, a model size, and a parser of the answer."""

from collections.abc import Sequence

from biem.adapters.reasoner import parsing
from biem.adapters.reasoner.budget import ModelBudget
from biem.adapters.reasoner.prompts import fill, fits, share
from biem.domain.scope import Scope
from biem.domain.text import one_line
from biem.ports.reasoner import Instant, Judgement, Proposal, Topic

MAX_KEYWORDS = 32
MAX_CANDIDATES = 50


class ChatReasoner:
    """Extraction and yes-or-no questions use the small model, writing the large one."""

    def __init__(self, desk: ModelBudget) -> None:
        self._desk = desk

    def concepts(self, scope: Scope, text: str, limit: int) -> list[str] | None:
        limit = min(limit, MAX_KEYWORDS)
        if limit < 1 or not text.strip():
            return []
        prompt = fill("concepts", {"text": text}, limit=limit)
        return self._desk.ask(scope, "concepts", "small", prompt, lambda said: parsing.concepts(said, limit))

    def keywords(
        self, scope: Scope, message: str, *, history: str = "", known: Sequence[str] = (), limit: int = 10
    ) -> list[str] | None:
        limit = min(limit, MAX_KEYWORDS)
        if limit < 1 or not message.strip():
            return []
        data = {"history": "", "message": message, "known": list(known)}
        newest = history[-share(data) :].splitlines()
        prompt = fill("keywords", data | {"history": newest}, limit=limit)
        return self._desk.ask(scope, "keywords", "small", prompt, lambda said: parsing.keywords(said, known, limit))

    def topics(self, scope: Scope, lines: Sequence[str]) -> list[Topic] | None:
        if not any(line.strip() for line in lines):
            return []
        return self._desk.ask(scope, "topics", "large", fill("topics", {"lines": lines}), parsing.topics)

    def is_worth(self, scope: Scope, text: str) -> bool | None:
        if not text.strip():
            return False
        return self._desk.ask(scope, "worth", "small", fill("worth", {"text": text}), parsing.worth)

    def instant(self, scope: Scope, text: str) -> Instant | None:
        if not text.strip():
            return None
        prompt = fill("instant", {"text": text})
        return self._desk.ask(scope, "instant", "small", prompt, lambda said: parsing.instant(said, MAX_KEYWORDS))

    def judge(self, scope: Scope, older: str, newer: str) -> Judgement | None:
        data = {"older": older, "newer": newer}
        if not all(text.strip() and fits([text], share(data)) for text in data.values()):
            return None
        return self._desk.ask(scope, "judge", "small", fill("judge", data), parsing.judgement)

    def merge(self, scope: Scope, texts: Sequence[str]) -> str | None:
        said = [text for text in texts if text.strip()]
        if len(said) < 2 or not fits(said):
            return None
        prompt = fill("merge", {"texts": said})
        return self._desk.ask(scope, "merge", "large", prompt, lambda answer: parsing.merged(answer, said))

    def summarise(self, scope: Scope, texts: Sequence[str], max_chars: int) -> str | None:
        said = [text for text in texts if text.strip()]
        if not said or max_chars < 1 or not fits(said):
            return None
        prompt = fill("summarise", {"texts": said}, max_chars=max_chars)
        return self._desk.ask(
            scope, "summarise", "large", prompt, lambda answer: parsing.summary(answer, said, max_chars)
        )

    def observe(self, scope: Scope, text: str, limit: int) -> list[Proposal] | None:
        if limit < 1 or not text.strip():
            return []
        prompt = fill("observe", {"text": text}, limit=limit)
        return self._desk.ask(scope, "observe", "small", prompt, lambda said: parsing.proposals(said, limit))

    def relevant(self, scope: Scope, question: str, texts: Sequence[str]) -> list[int] | None:
        texts = texts[:MAX_CANDIDATES]
        if not texts or not question.strip():
            return []
        data = {"question": question, "texts": ""}
        room = share(data) // len(texts) - len(" 50. ")
        lines = [f"{number}. {one_line(text[: 2 * room], room)}" for number, text in enumerate(texts, 1)]
        prompt = fill("relevant", data | {"texts": lines})
        return self._desk.ask(scope, "relevant", "small", prompt, lambda said: parsing.relevant(said, len(texts)))

    def paused_s(self) -> float:
        return self._desk.paused_s()

    def for_reply(self) -> "ChatReasoner":
        return ChatReasoner(self._desk.for_reply())

    def close(self) -> None:
        self._desk.close()
