"""Commands about single memories: remember, recall, context, get, erase."""

from typing import Annotated, Any

import typer
from rich.text import Text

from biem.cli.output import Output, plain, read_stdin, shown_time
from biem.cli.session import NO_WORKER, of
from biem.cli.transcripts import parse_time
from biem.domain.energy import indicator
from biem.domain.formulas import PROFILES
from biem.domain.node import KINDS, LAYERS, MODES, Hit, Hits, Node, Receipt
from biem.domain.selection import SELECTIONS
from biem.domain.text import one_line
from biem.errors import InvalidInput, StoreUnavailable

_SHOWN_CHARS = 500
_STDIN = "-"

Tags = Annotated[list[str] | None, typer.Option("--tag", help="May be given several times.")]
Kinds = Annotated[list[str] | None, typer.Option("--kind", help=f"Only these: {', '.join(KINDS)}.")]
Since = Annotated[str | None, typer.Option("--since", metavar="TIME", help="Not before this ISO time.")]
Until = Annotated[str | None, typer.Option("--until", metavar="TIME", help="Before this ISO time.")]


def remember(
    context: typer.Context,
    text: Annotated[str, typer.Argument(help="What to remember; - reads it from stdin.")],
    kind: Annotated[str | None, typer.Option(help=f"One of {', '.join(KINDS)}.")] = None,
    tag: Tags = None,
    reason: Annotated[str, typer.Option(help="Why it is worth remembering.")] = "",
    importance: Annotated[float, typer.Option(help="1 to 5.")] = 3.0,
    source: Annotated[str, typer.Option(help="Where it comes from.")] = "",
    speaker: Annotated[str, typer.Option(help="Who said it.")] = "",
    conversation: Annotated[str, typer.Option(help="In which conversation.")] = "",
    at: Annotated[str | None, typer.Option(metavar="TIME", help="When, in ISO 8601; without an offset: UTC.")] = None,
    ref: Annotated[str | None, typer.Option(help="Your own id: writing it again changes nothing.")] = None,
    layer: Annotated[str, typer.Option(help=f"One of {', '.join(LAYERS)}.")] = "short_term",
    wait: Annotated[bool, typer.Option("--wait", help="Index it before leaving.")] = False,
) -> None:
    """Keep one text; prints its id as soon as it is safe."""
    session = of(context)
    out = session.out
    words = read_stdin() if text == _STDIN else text
    moment = parse_time(at, "--at") if at is not None else None
    if not wait:
        session.changes |= NO_WORKER
    with session.memory() as memory:
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
            layer=layer,
            wait=wait,
        )
        out.result({"id": memory_id, "scope": memory.bound_to}, lambda: out.line(memory_id))


def recall(
    context: typer.Context,
    query: Annotated[str, typer.Argument(help="A question or words; - reads it from stdin.")],
    top_k: Annotated[int | None, typer.Option("--top-k", "-k", help="How many at most; default 10.")] = None,
    mode: Annotated[str, typer.Option(help=f"One of {', '.join(MODES)}; strict adds the originals.")] = "auto",
    kind: Kinds = None,
    since: Since = None,
    until: Until = None,
    speaker: Annotated[list[str] | None, typer.Option(help="Only said by them.")] = None,
    conversation: Annotated[list[str] | None, typer.Option(help="Only from these.")] = None,
    tag: Tags = None,
    as_of: Annotated[
        str | None, typer.Option("--as-of", metavar="TIME", help="What held at this ISO time; default: now.")
    ] = None,
    min_energy: Annotated[float, typer.Option(help="Only what has this much energy now, 0 to 1.")] = 0.0,
    sentiment: Annotated[
        tuple[float, float] | None,
        typer.Option(metavar="LEAST GREATEST", help="Only in a mood between these two, -1 to 1."),
    ] = None,
    profile: Annotated[str | None, typer.Option(help=f"Whose ranking: {', '.join(PROFILES)}.")] = None,
    selection: Annotated[str | None, typer.Option(help=f"How to choose: {', '.join(SELECTIONS)}.")] = None,
    seed: Annotated[int | None, typer.Option(help="Draw the same again.")] = None,
    why: Annotated[bool, typer.Option("--why", help="Show every signal of every hit.")] = False,
) -> None:
    """Find the memories that matter for a query, best first."""
    session = of(context)
    out = session.out
    words = read_stdin() if query == _STDIN else query
    earliest = parse_time(since, "--since") if since is not None else None
    latest = parse_time(until, "--until") if until is not None else None
    then = parse_time(as_of, "--as-of") if as_of is not None else None
    with session.memory() as memory:
        hits = memory.recall(
            words,
            top_k=top_k,
            mode=mode,
            kinds=tuple(kind or ()),
            since=earliest,
            until=latest,
            speakers=tuple(speaker or ()),
            conversations=tuple(conversation or ()),
            tags=tuple(tag or ()),
            as_of=then,
            min_energy=min_energy,
            sentiment=sentiment,
            profile=profile,
            selection=selection,
            seed=seed,
        )
    _note_degraded(out, hits)
    out.result(hits, lambda: _show_hits(out, hits, why=why))


def context(
    context: typer.Context,
    query: Annotated[str, typer.Argument(help="What the model is about to answer; - reads it from stdin.")],
    top_k: Annotated[int | None, typer.Option("--top-k", "-k", help="How many memories at most; default 5.")] = None,
    budget_tokens: Annotated[int | None, typer.Option(help="Room for the block; default 1,000.")] = None,
) -> None:
    """Print the block that an agent would put into its prompt."""
    session = of(context)
    out = session.out
    words = read_stdin() if query == _STDIN else query
    with session.memory() as memory:
        block = memory.context(words, top_k=top_k, budget_tokens=budget_tokens)
    hits = Hits(block.hits, degraded=block.degraded)
    _note_degraded(out, hits)
    out.result({"text": block.text, **plain(hits)}, lambda: out.line(block.text) if block.text else None)
    if not block.text:
        out.note("nothing to tell")


def get(context: typer.Context, memory_id: Annotated[str, typer.Argument(metavar="ID")]) -> None:
    """Show everything known about one memory."""
    session = of(context)
    session.changes |= NO_WORKER
    with session.memory() as memory:
        node = memory.get(memory_id)
    session.out.result(node, lambda: _show_node(session.out, node))


def erase(
    context: typer.Context,
    memory_id: Annotated[str | None, typer.Argument(metavar="[ID]", help="The memory to destroy.")] = None,
    scope: Annotated[bool, typer.Option("--scope", help="Destroy everything of the scope.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Destroy a memory, or a whole scope, in every store, and print the receipt."""
    session = of(context)
    out = session.out
    if (memory_id is None) != scope:
        raise InvalidInput("say what to erase: either an ID or --scope")
    session.changes |= NO_WORKER
    if scope and not yes:
        _confirm(out, f"Destroy everything that {session.scope(session.settings())} remembers, for ever?")
    with session.memory() as memory:
        receipt = memory.erase(memory.bound_to if memory_id is None else memory_id)
    out.result(receipt, lambda: _show_receipt(out, receipt))
    if not receipt.complete:
        out.note("not complete: a store did not answer; nothing of it is shown, and a worker removes the rest later")
        raise typer.Exit(StoreUnavailable.exit_code)


def _confirm(out: Output, question: str) -> None:
    if not out.stdin_is_terminal:
        raise InvalidInput("erasing a scope needs a yes: run it in a terminal or add --yes")
    typer.confirm(question, abort=True, err=True)


def _note_degraded(out: Output, hits: Hits) -> None:
    if hits.degraded:
        out.note(f"degraded: {', '.join(hits.degraded)}; the rest answered, and nothing is lost")


def _show_hits(out: Output, hits: Hits, *, why: bool) -> None:
    if not hits:
        out.note("nothing found")
        return
    if out.stdout.is_terminal or why:
        for rank, hit in enumerate(hits, start=1):
            _show_hit(out, rank, hit, why=why)
        return
    out.table((), [_row(rank, hit) for rank, hit in enumerate(hits, start=1)])


def _row(rank: int, hit: Hit) -> tuple[object, ...]:
    node = hit.node
    text = one_line(node.text, _SHOWN_CHARS)
    return rank, f"{hit.score:.3f}", indicator(node.energy), shown_time(node.at), node.speaker or "-", text


def _show_hit(out: Output, rank: int, hit: Hit, *, why: bool) -> None:
    _, score, energy, at, speaker, text = map(str, _row(rank, hit))
    who = f"{speaker}  " if hit.node.speaker else ""
    head = Text.assemble((f"{rank:>2}  ", "dim"), (score, "bold"), f"  {energy}  ", (f"{at}  ", "dim"), (who, "cyan"))
    out.line(head + Text(text))
    if why:
        for name, value in hit.why.items():
            shown = f"{value:.3f}" if isinstance(value, float) else value
            out.line(Text(f"      {name:<14} {shown}", "dim"))
        if hit.evidence is not None:
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


def _count(records: int | None) -> str:
    return "no answer" if records is None else str(records)


def _show_receipt(out: Output, receipt: Receipt) -> None:
    state = Text("complete", "green") if receipt.complete else Text("NOT COMPLETE", "bold red")
    out.line(Text(f"erased {receipt.memories} of {receipt.target}: ") + state)
    rows = [(count.store, _count(count.before), _count(count.after)) for count in receipt.stores]
    out.table(("store", "before", "after"), rows, right=("before", "after"))
    out.line(f"receipt {receipt.id}", "dim")
