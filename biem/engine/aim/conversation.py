"""Answering with memory: context in four labelled parts, a fixed prompt, both turns stored.

    ## Recent Messages   newest texts of HotKV, oldest first
    ## Memories          one line each: summaries
    ## Fields            the anchors of each
    ## Evidence          originals, byte for byte; only in strict mode

    prompt = context + "\\n\\n用户: " + question + "\\n助手:"

Memory text is data: summaries are escaped as in any context block. An original stands between fences of more backticks
than it has in a row, so that it is exact and still cannot close its block.
"""

import logging
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from biem.domain.anchors import FIELD_KINDS
from biem.domain.fields import Fields
from biem.domain.node import Hit, Node
from biem.domain.policies.aim import AimPolicy
from biem.domain.prompt.lines import harmless
from biem.domain.scope import Scope
from biem.domain.text import require_string
from biem.domain.trust import UNTRUSTED, unverified_mark
from biem.engine.query.request import require_question
from biem.engine.remember.writer import Writer
from biem.errors import BiemError, InvalidInput, StoreUnavailable
from biem.ports import EVERYTHING, HotEntry, HotStore, Records

logger = logging.getLogger("biem.answer")

Generate = Callable[[str], str]
"""A model: prompt in, reply out."""
Found = tuple[Sequence[Hit], float]
"""The hits for a question, and the length of the conversation's inertia after it."""

_USER, _ASSISTANT = "用户", "助手"
_LABELS = ("## Recent Messages", "## Memories", "## Fields", "## Evidence")
_FENCE = re.compile("`{3,}")


@dataclass(frozen=True, slots=True)
class Reply:
    """The model's answer and its sources."""

    text: str
    query: str
    mode: str
    """`fast` or `strict`, as decided for this query."""
    selected_nodes: tuple[Node, ...]
    context: str
    inertia_norm: float
    saved: bool = False
    """Whether both turns were stored; without a model there is none to store."""

    @property
    def result(self) -> dict[str, Any]:
        """The design's result, under its names."""
        return {
            "query": self.query,
            "mode": self.mode,
            "selected_nodes": list(self.selected_nodes),
            "num_nodes_recalled": len(self.selected_nodes),
            "context": self.context,
            "inertia_norm": self.inertia_norm,
        }


def prompt_of(context: str, question: str) -> str:
    """The prompt for the model."""
    return f"{context}\n\n{_USER}: {question}\n{_ASSISTANT}:"


def four_parts(recent: Sequence[Node], hits: Sequence[Hit], policy: AimPolicy) -> str:
    """The context of an answer; empty parts are left out. Its size is bounded by the policy alone."""
    said = [_line(node, policy) for node in recent]
    summaries = [f"{n}. {_line(hit.node, policy)}" for n, hit in enumerate(hits, 1)]
    fields = [f"{n}. {_mark(hit.node)}{shown}" for n, hit in enumerate(hits, 1) if (shown := _fields(hit.node.fields))]
    evidence = [
        f"{n}. {_mark(hit.node)}".rstrip() + f"\n{_fenced(hit.evidence)}"
        for n, hit in enumerate(hits, 1)
        if hit.evidence is not None
    ]
    parts = zip(_LABELS, (said, summaries, fields, evidence), strict=True)
    return "\n\n".join("\n".join([label, *lines]) for label, lines in parts if lines)


class AimConversation:
    """Combines memory, prompt and model. Thread-safe as far as the model is."""

    def __init__(self, *, records: Records, hot: HotStore, writer: Writer, policy: AimPolicy) -> None:
        self._records = records
        self._hot = hot
        self._writer = writer
        self._policy = policy

    def answer(
        self,
        scope: Scope,
        query: str,
        generate: Generate | None,
        *,
        strict: bool,
        conversation: str,
        recall: Callable[[], Found],
    ) -> Reply:
        """Recall, call the model, store both turns. If the model raises or returns no string, nothing is stored.

        Without a model the reply is empty. A failure to store does not fail the reply.
        """
        require_question(query, "the question")
        require_string(conversation, "conversation")
        hits, inertia_norm = recall()
        policy = self._policy
        if strict and policy.store_evidence:
            hits = [
                Hit(hit.node, hit.score, hit.why, (hit.evidence or hit.node.text)[: policy.max_evidence_length])
                for hit in hits
            ]
        else:
            hits = [Hit(hit.node, hit.score, hit.why) for hit in hits]
        context = four_parts(self._recent(scope), hits, policy)
        text = generate(prompt_of(context, query)) if generate is not None else ""
        if not isinstance(text, str):
            raise InvalidInput(f"generate must return the reply as a string, not {type(text).__name__}")
        saved = generate is not None and self._save(scope, query, text, conversation)
        mode = "strict" if strict else "fast"
        return Reply(text, query, mode, tuple(hit.node for hit in hits), context, inertia_norm, saved)

    def recent(self, scope: Scope) -> Sequence[HotEntry]:
        """The newest texts of HotKV for an answer's context, newest first. Raises `StoreUnavailable`."""
        return self._hot.recent(scope, self._policy.answer_texts) if self._policy.answer_texts else ()

    def _recent(self, scope: Scope) -> list[Node]:
        """The newest texts, oldest first; none while Redis is down."""
        try:
            ids = [entry.id for entry in self.recent(scope)]
        except StoreUnavailable as error:
            logger.warning("answering without the newest texts: %s", error)
            return []
        found: Mapping[str, Node] = {}
        if ids:
            found = self._records.candidates([scope], ids, (), EVERYTHING, pending_limit=0, evidence=False).nodes
        return [found[key] for key in reversed(ids) if key in found]

    def _save(self, scope: Scope, query: str, text: str, conversation: str) -> bool:
        try:
            for speaker, source, said in ((_USER, "user", query), (_ASSISTANT, "assistant", text)):
                if said.strip():
                    self._writer.remember(scope, said, speaker=speaker, source=source, conversation=conversation)
        except BiemError as error:
            logger.warning("a turn was not written back: %s", error)
            return False
        return True


def _line(node: Node, policy: AimPolicy) -> str:
    return _mark(node) + harmless(node.spoken_text, policy.summary_chars)


def _mark(node: Node) -> str:
    """The mark of an untrusted memory in a block; empty for all others."""
    return f"[{unverified_mark(node.origin)}] " if node.trust == UNTRUSTED else ""


def _fields(fields: Fields) -> str:
    kinds = ((kind, getattr(fields, kind)) for kind in FIELD_KINDS)
    return "; ".join(
        f"{kind}: {', '.join(harmless(value, 80) for value in values[:8])}" for kind, values in kinds if values
    )


def _fenced(text: str) -> str:
    fence = "`" * (1 + max((len(run) for run in _FENCE.findall(text)), default=2))
    return f"{fence}\n{text}\n{fence}"
