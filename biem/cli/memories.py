"""Commands about memories: remember, recall, context, get, feedback."""

import re
import time
from datetime import UTC, datetime
from typing import Annotated, Any

import typer
from rich.text import Text

from biem.cli.arguments import Id, Tags, chat_messages, given_text
from biem.cli.filters import Metadata, RecallFilters, metadata_values, parse_duration, require_one_of
from biem.cli.invocation import NO_WORKER, Invocation, of
from biem.cli.option_groups import with_options
from biem.cli.output import Output, plain, shown_time
from biem.domain.energy import indicator
from biem.domain.node import (
    ID_TIME,
    KINDS,
    LAYERS,
    MODES,
    ON_EXPIRY,
    Hit,
    Hits,
    Node,
    id_part,
    new_id,
    require_expiry,
    require_importance,
    require_time,
)
from biem.domain.policies.designs import PROFILES, SELECTIONS
from biem.domain.text import one_line
from biem.domain.trust import LEVELS, ORIGINS, UNTRUSTED, unverified_mark
from biem.errors import InvalidInput
from biem.importers.times import parse_time

_SHOWN_CHARS = 500
_CHINESE = re.compile("[\u3400-\u9fff]")
_NO_REASON = ("no single reason stands out", "没有特别突出的理由")
"""In the language of the question, as reasons are: for a hit that is no better than the others in anything."""


def remember(
    context: typer.Context,
    text: Annotated[str, typer.Argument(help="What to remember; - reads it from stdin.")],
    kind: Annotated[
        str | None,
        typer.Option(
            help=f"One of {', '.join(KINDS)}; default: event with a speaker or a conversation, else knowledge."
        ),
    ] = None,
    tag: Tags = None,
    reason: Annotated[str, typer.Option(help="Why it is worth remembering.")] = "",
    importance: Annotated[float, typer.Option(help="Importance, 1 to 5.")] = 3.0,
    source: Annotated[str, typer.Option(help="Where it comes from.")] = "",
    speaker: Annotated[str, typer.Option(help="Who said it.")] = "",
    conversation: Annotated[str, typer.Option(help="In which conversation.")] = "",
    at: Annotated[str | None, typer.Option(metavar="TIME", help="When, in ISO 8601; without an offset: UTC.")] = None,
    ref: Annotated[str | None, typer.Option(help="Your own id: writing it again changes nothing.")] = None,
    metadata: Metadata = None,
    layer: Annotated[str, typer.Option(help=f"One of {', '.join(LAYERS)}.")] = "short_term",
    origin: Annotated[str | None, typer.Option(help=f"One of {', '.join(ORIGINS)}, or your own; default user.")] = None,
    trust: Annotated[str | None, typer.Option(help=f"One of {', '.join(LEVELS)}; default by origin.")] = None,
    expires: Annotated[
        str | None, typer.Option("--expires-at", "--expires", metavar="TIME", help="Hidden from this ISO time on.")
    ] = None,
    ttl: Annotated[
        str | None, typer.Option("--ttl", metavar="DURATION", help="Hidden after this long: 90s, 15m, 12h, 30d or 2w.")
    ] = None,
    on_expiry: Annotated[
        str, typer.Option(help=f"What happens to it then: one of {', '.join(ON_EXPIRY)}.")
    ] = "archive",
    wait: Annotated[bool, typer.Option("--wait", help="Wait until it is indexed.")] = False,
) -> None:
    """Store one text; prints its id once it is durable."""
    invocation = of(context)
    out = invocation.out
    for name, value, known in (
        ("--kind", kind, KINDS),
        ("--layer", layer, LAYERS),
        ("--trust", trust, LEVELS),
        ("--on-expiry", on_expiry, ON_EXPIRY),
    ):
        require_one_of(name, value, known)
    require_importance(importance)
    more = metadata_values(metadata)
    words = given_text(text)
    _require_words(words, "the text")
    moment = parse_time(at, "--at") if at is not None else None
    ends, lives = (None if expires is None else parse_time(expires, "--expires-at")), parse_duration(ttl, "--ttl")
    now = datetime.fromtimestamp(time.time_ns() / 1e9, UTC)
    require_expiry(ends, lives, now)
    if moment is not None:
        require_time(moment, "--at", now, invocation.settings().policies.write.future_days)
    if not wait:
        invocation.changes |= NO_WORKER
    with invocation.memory() as memory:
        started = new_id()[:ID_TIME]
        memory_id = memory.remember(
            words,
            kind=kind,
            tags=tuple(tag or ()),
            reason=reason,
            importance=importance,
            source=source,
            speaker=speaker,
            conversation=conversation,
            at=moment,
            ref=ref,
            metadata=more,
            layer=layer,
            expires_at=ends,
            ttl=lives,
            on_expiry=on_expiry,
            origin=origin,
            trust=trust,
            wait=wait,
        )
        created = memory_id[:ID_TIME] >= started
        document = {"id": memory_id, "scope": memory.bound_to, "created": created}
        out.result(document, lambda: out.line(memory_id))
        if not created:
            out.note("it was there already")


@with_options
def recall(
    context: typer.Context,
    query: Annotated[str, typer.Argument(help="A question or words; - reads it from stdin.")],
    top_k: Annotated[int | None, typer.Option("--top-k", "-k", help="Maximum number of hits; default 10.")] = None,
    mode: Annotated[
        str,
        typer.Option(
            help="fast; strict also shows the originals, word for word; auto: strict if the query asks for them."
        ),
    ] = "auto",
    profile: Annotated[
        str | None, typer.Option(help=f"How to rank: {', '.join(PROFILES)}. Default: BIEM_RECALL__PROFILE.")
    ] = None,
    selection: Annotated[
        str | None,
        typer.Option(help=f"How to choose among the ranked: {', '.join(SELECTIONS)}. Default: BIEM_RECALL__SELECTION."),
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Of a random selection: the same seed chooses the same.")] = None,
    why: Annotated[bool, typer.Option("--why", help="Explain each hit.")] = False,
    signals: Annotated[bool, typer.Option("--signals", help="Show every signal of every hit.")] = False,
    *,
    filters: RecallFilters,
) -> None:
    """Find the memories relevant to a query, best first."""
    invocation = of(context)
    out = invocation.out
    require_one_of("--mode", mode, MODES)
    _require_top_k(invocation, top_k)
    require_one_of("--profile", profile, PROFILES)
    require_one_of("--selection", selection, SELECTIONS)
    words = given_text(query)
    _require_words(words, "the query")
    met = filters.conditions()
    invocation.asks = True
    with invocation.memory() as memory:
        hits = memory.recall(
            words,
            top_k=top_k,
            mode=mode,
            exclude_conversation=filters.exclude_conversation or (),
            **met,
            profile=profile,
            selection=selection,
            seed=seed,
        )
    out.note_incomplete(hits)
    without = _NO_REASON[_CHINESE.search(words) is not None]
    out.result(hits, lambda: show_hits(out, hits, why=why, signals=signals, without=without))


@with_options
def context(
    context: typer.Context,
    query: Annotated[str, typer.Argument(help="The message that the model will answer; - reads it from stdin.")],
    top_k: Annotated[int | None, typer.Option("--top-k", "-k", help="Maximum number of memories; default 5.")] = None,
    budget_tokens: Annotated[int | None, typer.Option(help="Maximum tokens of the block; default 1,000.")] = None,
    history: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Chat messages before it: JSON objects with role and content, in a list or one a line; - is stdin.",
        ),
    ] = None,
    *,
    filters: RecallFilters,
) -> None:
    """Print the context block for an agent's prompt."""
    invocation = of(context)
    out = invocation.out
    if query == history == "-":
        raise InvalidInput("the query and --history cannot both be read from stdin")
    words = given_text(query)
    _require_words(words, "the query")
    _require_top_k(invocation, top_k)
    said = chat_messages(history) if history else []
    met = filters.conditions()
    invocation.asks = True
    with invocation.memory() as memory:
        block = memory.context(
            words,
            top_k=top_k,
            budget_tokens=budget_tokens,
            exclude=said,
            exclude_conversation=filters.exclude_conversation or (),
            **met,
        )
    hits = Hits(block.hits, degraded=block.degraded, indexing=block.indexing)
    out.note_incomplete(hits)
    result = {"text": block.text, "confidence": block.confidence, "asked": block.asked, **plain(hits)}
    out.result(result, lambda: out.line(block.text) if block.text else None)
    if not block.text:
        out.note("nothing to tell")


def get(context: typer.Context, memory_id: Id) -> None:
    """Show all fields of one memory."""
    invocation = of(context)
    id_part(memory_id)
    invocation.changes |= NO_WORKER
    with invocation.memory() as memory:
        node = memory.get(memory.whole_id(memory_id))
    invocation.out.result(node, lambda: _show_node(invocation.out, node))


def _require_top_k(invocation: Invocation, top_k: int | None) -> None:
    if top_k is not None:
        most = invocation.settings().policies.recall.max_top_k
        if not 1 <= top_k <= most:
            raise InvalidInput(f"--top-k must be from 1 to {most}, not {top_k}")


def _require_words(text: str, what: str) -> None:
    if not text.strip():
        raise InvalidInput(f"{what} is empty; say something")


def show_hits(out: Output, hits: Hits, *, why: bool, signals: bool, without: str) -> None:
    """Print hits, with the reasons of each or the words for there being none."""
    if not hits:
        out.note("nothing found")
        return
    if out.stdout.is_terminal or why or signals:
        for rank, hit in enumerate(hits, start=1):
            _show_hit(out, rank, hit, why=why, signals=signals, without=without)
        return
    out.table((), [_row(rank, hit) for rank, hit in enumerate(hits, start=1)])


def _row(rank: int, hit: Hit) -> tuple[object, ...]:
    node = hit.node
    mark = f"[{unverified_mark(node.origin)}] " if node.trust == UNTRUSTED else ""
    text = mark + one_line(node.text, _SHOWN_CHARS)
    return rank, f"{hit.score:.3f}", indicator(node.energy), shown_time(node.at), node.speaker or "-", text


def _show_hit(out: Output, rank: int, hit: Hit, *, why: bool, signals: bool, without: str) -> None:
    _, score, energy, at, speaker, text = map(str, _row(rank, hit))
    who = f"{speaker}  " if hit.node.speaker else ""
    head = Text.assemble((f"{rank:>2}  ", "dim"), (score, "bold"), f"  {energy}  ", (f"{at}  ", "dim"), (who, "cyan"))
    out.line(head + Text(text))
    if why:
        out.line(f"      {'; '.join(hit.reasons) or without}", "dim")
    if signals:
        for name, value in hit.why.items():
            shown = f"{value:.3f}" if isinstance(value, float) else value
            out.line(Text(f"      {name:<14} {shown}", "dim"))
    if (why or signals) and hit.evidence is not None:
        out.line(f"      original: {hit.evidence}", "dim")


def _show_node(out: Output, node: Node) -> None:
    shown: dict[str, Any] = {key: value for key, value in plain(node).items() if value not in (None, "", [], {})}
    shown |= {"scope": str(node.scope), "at": shown_time(node.at), "created_at": shown_time(node.created_at)}
    fields = {name: ", ".join(values) for name, values in shown.pop("fields", {}).items() if values}
    text = shown.pop("text")
    for name, value in shown.items():
        shown[name] = ", ".join(map(str, value)) if isinstance(value, list) else value
    out.pairs(shown | fields)
    out.line()
    out.line(text)


def feedback(
    context: typer.Context,
    useful: Annotated[
        list[str] | None, typer.Option(metavar="ID", help="A memory that helped; may be given several times.")
    ] = None,
    useless: Annotated[
        list[str] | None, typer.Option(metavar="ID", help="A memory that was of no use; may be given several times.")
    ] = None,
    new: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ID",
            help="A memory written in this turn, to be linked with the useful ones; may be given several times.",
        ),
    ] = None,
    turn: Annotated[str | None, typer.Option(help="Your id of the turn: repeated feedback counts once.")] = None,
) -> None:
    """Report which recalled memories were useful and which were not."""
    invocation = of(context)
    out = invocation.out
    if not (useful or useless or new):
        raise InvalidInput("say which memories: --useful ID, --useless ID")
    for part in (*(useful or ()), *(useless or ()), *(new or ())):
        id_part(part)
    invocation.changes |= NO_WORKER
    with invocation.memory() as memory:
        told, not_told, written = (list(map(memory.whole_id, parts or ())) for parts in (useful, useless, new))
        lesson = memory.feedback(told, not_told, new=written, turn=turn)
    out.result(lesson, lambda: out.pairs(plain(lesson)))
