"""AIM-Memory: answers from memory, and what its write gate refused."""

from biem.domain.designs.aim import GateDecision
from biem.domain.node import Hit, parse_id
from biem.engine.aim.conversation import Generate, Reply
from biem.engine.aim.system import AimSystem
from biem.memory.recalling import RecallMethods
from biem.ports.aim import Refusal


class AimMethods(RecallMethods):
    """`answer`, `refusals` and `replay`; `aim` has the rest."""

    @property
    def aim(self) -> AimSystem:
        """The operations of AIM-Memory; `biem.aim.AimMemory` has them under the design's names."""
        return self._system.aim

    def answer(
        self,
        query: str,
        generate: Generate | None = None,
        mode: str = "fast",
        *,
        auto_mode: bool = True,
        conversation: str = "",
        top_k: int | None = None,
        profile: str | None = None,
    ) -> Reply:
        """Answer with your model, from memory: `generate` gets the prompt and returns the reply.

        The prompt is a context of four labelled parts (newest messages, memories, their anchors and, in `strict` mode,
        the originals), then the question; afterwards both turns are remembered. `auto_mode` turns strict when the query
        asks for originals. `profile`: as for `recall`. Without a model nothing is remembered.
        """
        aim = self._system.aim
        strict = aim.router.is_strict(query, mode, auto_mode=auto_mode)

        def recall() -> tuple[list[Hit], float]:
            way = "strict" if strict else "fast"
            hits = self.recall(query, top_k=top_k or aim.policy.top_n, mode=way, profile=profile)
            ids = [hit.node.id for hit in hits]
            return list(hits), aim.router.follow(self.bound_to, query, ids, conversation)

        reply = aim.conversant.answer(
            self.bound_to, query, generate, strict=strict, conversation=conversation, recall=recall
        )
        self._shared.wrote.set()
        return reply

    def refusals(self, limit: int = 100) -> list[Refusal]:
        """Messages of this scope that the write gate refused, newest first, with their scores.

        They are found like all others, but have no energy, links or layer and are never distilled into facts.
        """
        return list(self._system.aim.replayer.refusals(self.bound_to, limit))

    def replay(self, memory_id: str, *, force: bool = False) -> GateDecision:
        """Judge a refused message again, by today's memory and settings; if it passes, or with `force`, it is
        formed.
        """
        return self._system.aim.replayer.replay(self.bound_to, parse_id(memory_id), force=force)
