"""`biem demo`: stores a dialogue of three people over six weeks, then prints the context block for six questions.

A seventh question is answered by a note, a Markdown file beside the dialogue. Then it shows background behaviour: a
superseded fact, associations of a word, and one run of the background jobs.

The dialogue next to this file was written for the demo. The clock follows the dialogue, so energies are those of its
last evening. The servers are embedded and use a temporary folder.
"""

import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.text import Text

import biem
from biem.cli.demo_life import DemoLife, live, show
from biem.cli.invocation import of
from biem.cli.output import Output, percentile, plain
from biem.domain.node import Hits
from biem.domain.scope import Scope
from biem.importers.record import Record
from biem.importers.transcripts import TranscriptReader
from biem.telemetry import Span

if TYPE_CHECKING:
    from biem.config import Settings
    from biem.engine.context.block import Context

DIALOGUE = Path(__file__).with_name("demo_dialogue.jsonl")
QUESTIONS = (
    ("Where is the mother's knee operation?", "English question, Chinese memory"),
    ("Anjali 什么时候结婚？", "Chinese question, English memory"),
    ("When is our weekly team meeting?", "it was moved in September"),
    ("林晓几号出发去葡萄牙？", "the trip was put off by a week"),
    ("那她住在哪家旅馆？", "a follow-up"),
    ("How much of the 54,500 euros is left?", "the grant grew to them, and was spent"),
)
NOTES = Path(__file__).with_name("demo_notes")
ASKED_OF_NOTES = (
    "How long does the turbidity probe soak before it is calibrated?",
    "answered by a note, not by the dialogue",
)
_SCOPE = Scope("demo", "kingfisher")
_TURNS_TIMED = 60
"""Last messages of people that are also used as queries: percentiles need more than six."""
_STALLED_S = 60.0
"""Seconds without an indexed memory after which the demo no longer waits; a batch takes up to 20 on a busy machine."""
_NO_SERVERS = ("postgres_dsn", "postgres_host", "redis_url", "milvus_uri", "milvus_host")


class StoryClock:
    """A clock that jumps to the time of the dialogue and then runs at normal speed."""

    def __init__(self, start: datetime) -> None:
        self.jump(start)

    def jump(self, moment: datetime) -> None:
        """Set the clock to this time."""
        self._origin = moment - timedelta(seconds=time.monotonic())

    def now(self) -> datetime:
        """Current time of the dialogue."""
        return self._origin + timedelta(seconds=time.monotonic())


@dataclass(slots=True)
class Story:
    """Timings of one run, for its summary."""

    seconds: dict[str, float] = field(default_factory=dict)
    spans: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    def heard(self, span: Span) -> None:
        """Collect a finished span."""
        if not span.error:
            self.spans[span.name].append(span.duration_ms)

    @contextmanager
    def step(self, out: Output, what: str) -> Iterator[None]:
        """Time one step and report it."""
        started = time.perf_counter()
        yield
        self.seconds[what] = time.perf_counter() - started
        if not out.as_json:
            out.line(Text.assemble(f"  {what} ", ("." * max(3, 52 - len(what)), "dim"), f" {self.seconds[what]:.1f} s"))

    def timings(self) -> dict[str, Mapping[str, float]]:
        """Percentiles of the latencies that an agent sees."""
        named = {"ack": "biem.remember", "recall": "biem.recall", "context": "biem.context"}
        return {
            name: {"n": len(spans), "p50_ms": percentile(spans, 0.5), "p95_ms": percentile(spans, 0.95)}
            for name, spans in ((name, self.spans.get(span, [])) for name, span in named.items())
            if spans
        }


def demo(context: typer.Context) -> None:
    """Run a demo: a bilingual dialogue of six weeks, seven questions with their evidence, and the background jobs."""
    invocation = of(context)
    messages = [message for message in TranscriptReader(str(DIALOGUE)).read() if isinstance(message, Record)]
    settings = invocation.settings().model_copy(update=dict.fromkeys(_NO_SERVERS))
    if invocation.home is not None:
        _play(invocation.out, settings, messages)
        return
    with tempfile.TemporaryDirectory(prefix="biem-demo-", ignore_cleanup_errors=True) as home:
        settings = settings.model_copy(update={"home": Path(home)})
        try:
            _play(invocation.out, settings, messages)
        finally:
            from biem.bootstrap import local_down

            local_down(settings)


def _play(out: Output, settings: "Settings", messages: Sequence[Record]) -> None:
    story = Story()
    people = {message.item["speaker"] for message in messages} - {"assistant"}
    clock = StoryClock(messages[0].item["at"])
    if not out.as_json:
        _heading(out, "biem demo")
        out.line(f"  {len(messages)} turns of {len(people)} people and their assistant, six weeks, English and 中文")
        out.line()
    with story.step(out, "starting PostgreSQL, Valkey and Milvus Lite"):
        memory = biem.connect(settings, scope=_SCOPE, clock=clock)
    with memory:
        memory.telemetry.attach(story.heard)
        with story.step(out, "remembering every turn, one by one"):
            for message in messages:
                clock.jump(message.item["at"])
                memory.remember(**message.item)
        clock.jump(messages[-1].item["at"] + timedelta(minutes=5))
        with story.step(out, "indexing them with their vectors"), out.progress("indexed") as ticker:
            pending = index_all(memory, lambda left: ticker.update(len(messages) - left, len(messages) - left))
        if pending:
            out.note(f"{pending} memories are not indexed, and none was for {_STALLED_S:.0f} s: answers may be wrong")
        with story.step(out, "reading a folder of notes"):
            memory.notes.add(NOTES, name="field notes")
            memory.notes.sync()
        asked = (*QUESTIONS, ASKED_OF_NOTES)
        blocks = [(question, remark, memory.context(question)) for question, remark in asked]
        if not out.as_json:
            for number, (question, remark, block) in enumerate(blocks, start=1):
                _show_block(out, f"{number}/{len(blocks)}  {question}", remark, block)
            _heading(out, "what background jobs did")
        life = live(memory)
        if not out.as_json:
            show(out, life)
            _heading(out, "statistics")
        with story.step(out, f"recalling before each of the last {_TURNS_TIMED} messages"):
            for message in [m for m in messages if m.item["speaker"] != "assistant"][-_TURNS_TIMED:]:
                memory.recall(message.item["text"], top_k=5)
        _end(out, memory, story, blocks, life)


def index_all(memory: "biem.Memory", on_progress: Callable[[int], None]) -> int:
    """Wait as long as memories are being indexed; returns how many are left when none was for `_STALLED_S`, else 0."""
    left: list[int] = []

    def seen(pending: int) -> None:
        left.append(pending)
        on_progress(pending)

    while True:
        begin = len(left)
        if memory.flush(_STALLED_S, on_progress=seen):
            return 0
        if left[-1] >= left[begin]:
            return left[-1]


def _heading(out: Output, text: str) -> None:
    out.line()
    out.line(Text.assemble(("── ", "dim"), (text, "bold")))


def _show_block(out: Output, title: str, remark: str, block: "Context") -> None:
    _heading(out, title)
    out.line(f"   {remark}", "dim")
    out.line()
    for line in block.text.splitlines():
        out.line(Text.assemble(("   │ ", "green"), line))
    out.line()
    for rank, hit in enumerate(block.hits, start=1):
        out.line(f"   {'why ' if rank == 1 else '    '}{rank}. {'; '.join(hit.reasons)}", "dim")
    for note in block.notes:
        out.line(f"   note {note.citation}", "dim")
    out.note_incomplete(_hits(block))


def _hits(block: "Context") -> Hits:
    return Hits(block.hits, degraded=block.degraded, indexing=block.indexing)


def _end(
    out: Output, memory: "biem.Memory", story: Story, blocks: Sequence[tuple[str, str, "Context"]], life: DemoLife
) -> None:
    stats, timings = memory.stats(), story.timings()
    total = sum(story.seconds.values())
    document: dict[str, Any] = {
        "questions": [
            {
                "question": q,
                "remark": r,
                "text": b.text,
                "notes": [note.citation for note in b.notes],
                **plain(_hits(b)),
            }
            for q, r, b in blocks
        ],
        "life": life.document(),
        "embedder": memory.embedder,
        "stats": stats,
        "timings": timings,
        "seconds": story.seconds | {"total": total},
    }
    out.result(document, lambda: _show_end(out, memory, stats, timings, total))


def _show_end(
    out: Output,
    memory: "biem.Memory",
    stats: Mapping[str, Any],
    timings: Mapping[str, Mapping[str, float]],
    total: float,
) -> None:
    info = memory.embedder
    out.line()
    shown = {name: stats[name] for name in ("memories", "active", "pending", "dead_letters", "collection")}
    shown["embedder"] = f"{info.id}, {info.dim} dimensions, languages: {', '.join(info.languages)}"
    for name, values in timings.items():
        shown[name] = f"p50 {values['p50_ms']:.1f} ms   p95 {values['p95_ms']:.1f} ms   of {values['n']}"
    shown["in all"] = f"{total:.1f} s"
    out.pairs({f"  {name}": value for name, value in shown.items()})
