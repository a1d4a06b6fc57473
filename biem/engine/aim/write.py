"""Writing as in the design: every text is stored, and the result is whether it was formed."""

from collections.abc import Callable, Collection, Sequence

from biem.domain.node import new_id
from biem.domain.scope import Scope
from biem.domain.text import require_clean
from biem.engine.encode.gate import Gate
from biem.engine.remember.writer import Writer
from biem.errors import InvalidInput
from biem.ports.aim import AimRecords


class MemoryWriter:
    """Writes messages and returns the gate's decision. Thread-safe."""

    def __init__(self, *, writer: Writer, gate: Gate, records: AimRecords) -> None:
        self._writer = writer
        self._gate = gate
        self._records = records

    def write(
        self, scope: Scope, text: str, context: Sequence[str] | None, settle: Callable[[], object], **details: str
    ) -> bool:
        """Store a message; returns True when it was formed.

        Without a `context` from the caller, the worker compares with the preceding messages. `settle` waits for it.
        """
        memory_id = new_id()
        if context is not None:
            _require_texts(context)
            self._records.record_decisions(
                scope, [(memory_id, self._gate.judge(scope, text, context, details.get("speaker", "")), None)]
            )
        self._writer.remember_as(scope, memory_id, text, kind="event", **details)
        settle()
        standing = self._records.standing(scope, [memory_id]).get(memory_id)
        return standing is not None and standing.formed


def _require_texts(context: object) -> None:
    if not isinstance(context, Collection) or not all(isinstance(said, str) for said in context):
        raise InvalidInput("the context of a text is a text or several; leave it out to compare with the newest")
    for said in context:
        require_clean(said, "context")
