"""Commands about single memories: remember, recall, context, get, erase."""

import time
from datetime import UTC, datetime
from typing import Annotated, Any

import typer
from rich.text import Text

from biem.cli.arguments import Id, Ids
from biem.cli.filters import (
    AsOf,
    Conversations,
    Excluded,
    Kinds,
    MinEnergy,
    Mood,
    Since,
    Speakers,
    Until,
    conditions,
    require_one_of,
)
from biem.cli.output import Output, plain, read_stdin, shown_time
from biem.cli.session import NO_WORKER, Session, of
from biem.cli.transcripts import parse_time
from biem.domain.energy import indicator
from biem.domain.node import (
    ID_TIME,
    KINDS,
    LAYERS,
    MODES,
    Hit,
    Hits,
    Node,
    Receipt,
    id_part,
    new_id,
    require_importance,
    require_time,
)
from biem.domain.policies.designs import PROFILES, SELECTIONS
from biem.domain.text import one_line
from biem.errors import InvalidInput, StoreUnavailable

_SHOWN_CHARS = 500
_STDIN = "-"

Tags = Annotated[list[str] | None, typer.Option("--tag", help="May be given several times.")]


def remember(
    context: typer.Context,
    text: Annotated[str, typer.Argument(help="What to remember; - reads it from stdin.")],
    kind: Annotated[str | None, typer.Option(help=f"One of {', '.join(KINDS)}.")] = None,
    tag: Tags = None,
    reason: Annotated[str, typer.Option(help="Why it is worth remembering.")] = "",
    importance: Annotated[float, typer.Option(help="Importance, 1 to 5.")] = 3.0,
    source: Annotated[str, typer.Option(help="Where it comes from.")] = "",
    speaker: Annotated[str, typer.Option(help="Who said it.")] = "",
    conversation: Annotated[str, typer.Option(help="In which conversation.")] = "",
    at: Annotated[str | None, typer.Option(metavar="TIME", help="When, in ISO 8601; without an offset: UTC.")] = None,
    ref: Annotated[str | None, typer.Option(help="Your own id: writing it again changes nothing.")] = None,
    layer: Annotated[str, typer.Option(help=f"One of {', '.join(LAYERS)}.")] = "short_term",
    wait: Annotated[bool, typer.Option("--wait", help="Wait until it is indexed.")] = False,
) -> None:
    """Store one text; prints its id once it is durable."""
    session = of(context)
    out = session.out
    for name, value, known in (("--kind", kind, KINDS), ("--layer", layer, LAYERS)):
        require_one_of(name, value, known)
    require_importance(importance)
    words = read_stdin() if text == _STDIN else text
    _require_words(words, "the text")
    moment = parse_time(at, "--at") if at is not None else None
    if moment is not None:
        now = datetime.fromtimestamp(time.time_ns() / 1e9, UTC)
        require_time(moment, "--at", now, session.settings().policies.write.future_days)
    if not wait:
        session.changes |= NO_WORKER
    with session.memory() as memory:
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
            layer=layer,
            wait=wait,
        )
        created = memory_id[:ID_TIME] >= started
        document = {"id": memory_id, "scope": memory.bound_to, "created": created}
        out.result(document, lambda: out.line(memory_id))
        if not created:
            out.note("it was there already")


def recall(
    context: typer.Context,
    query: Annotated[str, typer.Argument(help="A question or words; - reads it from stdin.")],
    top_k: Annotated[int | None, typer.Option("--top-k", "-k", help="Maximum number of hits; default 10.")] = None,
    mode: Annotated[str, typer.Option(help=f"One of {', '.join(MODES)}; strict adds the originals.")] = "auto",
    kind: Kinds = None,
    since: Since = None,
    until: Until = None,
    speaker: Speakers = None,
    conversation: Conversations = None,
    exclude_conversation: Excluded = None,
    tag: Tags = None,
    as_of: AsOf = None,
    min_energy: MinEnergy = 0.0,
    sentiment: Mood = None,
    profile: Annotated[str | None, typer.Option(help=f"Ranking profile: {', '.join(PROFILES)}.")] = None,
    selection: Annotated[str | None, typer.Option(help=f"How to choose: {', '.join(SELECTIONS)}.")] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of a random selection.")] = None,
    why: Annotated[bool, typer.Option("--why", help="Explain each hit.")] = False,
    signals: Annotated[bool, typer.Option("--signals", help="Show every signal of every hit.")] = False,
) -> None:
    """Find the memories relevant to a query, best first."""
    session = of(context)
    out = session.out
    require_one_of("--mode", mode, MODES)
    _require_top_k(session, top_k)
    require_one_of("--profile", profile, PROFILES)
    require_one_of("--selection", selection, SELECTIONS)
    words = read_stdin() if query == _STDIN else query
    _require_words(words, "the query")
    where = conditions(kind, since, until, speaker, conversation, tag, as_of, min_energy, sentiment)
    session.asks = True
    with session.memory() as memory:
        hits = memory.recall(
            words,
            top_k=top_k,
            mode=mode,
            exclude_conversation=exclude_conversation or (),
            **where,
            profile=profile,
            selection=selection,
            seed=seed,
        )
    _note_degraded(out, hits)
    out.result(hits, lambda: _show_hits(out, hits, why=why, signals=signals))


def context(
    context: typer.Context,
    query: Annotated[str, typer.Argument(help="The message that the model will answer; - reads it from stdin.")],
    top_k: Annotated[int | None, typer.Option("--top-k", "-k", help="Maximum number of memories; default 5.")] = None,
    budget_tokens: Annotated[int | None, typer.Option(help="Maximum tokens of the block; default 1,000.")] = None,
    kind: Kinds = None,
    since: Since = None,
    until: Until = None,
    speaker: Speakers = None,
    conversation: Conversations = None,
    exclude_conversation: Excluded = None,
    tag: Tags = None,
    as_of: AsOf = None,
    min_energy: MinEnergy = 0.0,
    sentiment: Mood = None,
) -> None:
    """Print the context block for an agent's prompt."""
    session = of(context)
    out = session.out
    words = read_stdin() if query == _STDIN else query
    _require_words(words, "the query")
    _require_top_k(session, top_k)
    where = conditions(kind, since, until, speaker, conversation, tag, as_of, min_energy, sentiment)
    session.asks = True
    with session.memory() as memory:
        block = memory.context(
            words,
            top_k=top_k,
            budget_tokens=budget_tokens,
            exclude_conversation=exclude_conversation or (),
            **where,
        )
    hits = Hits(block.hits, degraded=block.degraded, indexing=block.indexing)
    _note_degraded(out, hits)
    out.result({"text": block.text, **plain(hits)}, lambda: out.line(block.text) if block.text else None)
    if not block.text:
        out.note("nothing to tell")


def get(context: typer.Context, memory_id: Annotated[str, typer.Argument(metavar="ID")]) -> None:
    """Show all fields of one memory."""
    session = of(context)
    id_part(memory_id)
    session.changes |= NO_WORKER
    with session.memory() as memory:
        node = memory.get(memory.whole_id(memory_id))
    session.out.result(node, lambda: _show_node(session.out, node))


def erase(
    context: typer.Context,
    memory_id: Annotated[str | None, typer.Argument(metavar="[ID]", help="The memory to erase.")] = None,
    scope: Annotated[bool, typer.Option("--scope", help="Erase the whole scope.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    scrub: Annotated[
        bool, typer.Option("--scrub", help="Then rewrite files that still contain erased data; alone: only that.")
    ] = False,
) -> None:
    """Erase a memory, a scope or, with --user alone, a user with all projects; prints the receipt."""
    session = of(context)
    out = session.out
    person = session.user if memory_id is None and not scope else None
    if scrub and not (memory_id or scope or person):
        done = _scrubbed(session)
        out.result(done, lambda: _show_scrubbed(out, done))
        return
    if (memory_id is not None and scope) or not (memory_id or scope or person) or (person and session.project):
        raise InvalidInput("say what to erase: an ID, --scope, or --user without --project for all that a user has")
    if memory_id is not None:
        id_part(memory_id)
    session.changes |= NO_WORKER
    if scope and not yes:
        _confirm(out, f"Destroy everything that {session.scope(session.settings())} remembers, for ever?")
    with session.memory() as memory:
        if person and not yes:
            out.note(f"{person} of tenant {memory.bound_to.tenant} has:")
            for summary in memory.scopes():
                out.note(f"  {summary.scope}: {summary.memories} memories")
            _confirm(out, f"Destroy everything that {person} has in all these scopes, for ever?")
        if person:
            receipt = memory.erase(user=person)
        else:
            receipt = memory.erase(memory.bound_to if memory_id is None else memory.whole_id(memory_id))
        scrubbed = _scrubbed(session) if scrub else None

    def show() -> None:
        _show_receipt(out, receipt)
        if scrubbed:
            _show_scrubbed(out, scrubbed)

    out.result(plain(receipt) | ({"scrubbed": scrubbed} if scrubbed else {}), show)
    if not receipt.complete:
        out.note("not complete: a store did not answer; nothing of it is shown, and a worker removes the rest later")
        raise typer.Exit(StoreUnavailable.exit_code)


def _require_top_k(session: Session, top_k: int | None) -> None:
    if top_k is not None:
        most = session.settings().policies.recall.max_top_k
        if not 1 <= top_k <= most:
            raise InvalidInput(f"--top-k must be from 1 to {most}, not {top_k}")


def _require_words(text: str, what: str) -> None:
    if not text.strip():
        raise InvalidInput(f"{what} is empty; say something")


def _scrubbed(session: Session) -> dict[str, list[str]]:
    from biem.bootstrap.scrub import scrub

    return scrub(session.settings())


def _show_scrubbed(out: Output, done: dict[str, list[str]]) -> None:
    for path in done["deleted"]:
        out.line(f"deleted {path}")
    out.line("scrubbed; what may still hold it, and is yours to look after:")
    for left in done["left"]:
        out.line(f"- {left}")


def _confirm(out: Output, question: str) -> None:
    if not out.stdin_is_terminal:
        raise InvalidInput("erasing a scope or a user needs a yes: run it in a terminal or add --yes")
    typer.confirm(question, abort=True, err=True)


def _note_degraded(out: Output, hits: Hits) -> None:
    if hits.degraded:
        out.note(f"degraded: {', '.join(hits.degraded)}; the rest answered, and nothing is lost")
    if hits.indexing:
        out.note(f"indexing: {hits.indexing:,} left; these were asked by their words only")


def _show_hits(out: Output, hits: Hits, *, why: bool, signals: bool) -> None:
    if not hits:
        out.note("nothing found")
        return
    if out.stdout.is_terminal or why or signals:
        for rank, hit in enumerate(hits, start=1):
            _show_hit(out, rank, hit, why=why, signals=signals)
        return
    out.table((), [_row(rank, hit) for rank, hit in enumerate(hits, start=1)])


def _row(rank: int, hit: Hit) -> tuple[object, ...]:
    node = hit.node
    text = one_line(node.text, _SHOWN_CHARS)
    return rank, f"{hit.score:.3f}", indicator(node.energy), shown_time(node.at), node.speaker or "-", text


def _show_hit(out: Output, rank: int, hit: Hit, *, why: bool, signals: bool) -> None:
    _, score, energy, at, speaker, text = map(str, _row(rank, hit))
    who = f"{speaker}  " if hit.node.speaker else ""
    head = Text.assemble((f"{rank:>2}  ", "dim"), (score, "bold"), f"  {energy}  ", (f"{at}  ", "dim"), (who, "cyan"))
    out.line(head + Text(text))
    if why and hit.reasons:
        out.line(f"      {'; '.join(hit.reasons)}", "dim")
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


def _count(records: int | None) -> str:
    return "no answer" if records is None else str(records)


def _show_receipt(out: Output, receipt: Receipt) -> None:
    state = Text("complete", "green") if receipt.complete else Text("NOT COMPLETE", "bold red")
    out.line(Text(f"erased {receipt.memories} of {receipt.target}: ") + state)
    rows = [(count.store, _count(count.before), _count(count.after)) for count in receipt.stores]
    out.table(("store", "before", "after"), rows, right=("before", "after"))
    if receipt.scopes:
        out.table(("scope", "memories"), list(receipt.scopes.items()), right=("memories",))
    for backup in receipt.backups:
        out.note(f"may still hold it until {shown_time(backup.expires_at)}, when it is deleted: {backup.path}")
    out.line(f"receipt {receipt.id}", "dim")


def feedback(
    context: typer.Context,
    useful: Ids = None,
    useless: Ids = None,
    new: Annotated[
        list[str] | None, typer.Option(metavar="ID", help="Memory written in this turn, to be linked.")
    ] = None,
    turn: Annotated[str | None, typer.Option(help="Your id of the turn: repeated feedback counts once.")] = None,
) -> None:
    """Report which recalled memories were useful and which were not."""
    session = of(context)
    out = session.out
    if not (useful or useless or new):
        raise InvalidInput("say which memories: --useful ID, --useless ID")
    for part in (*(useful or ()), *(useless or ()), *(new or ())):
        id_part(part)
    session.changes |= NO_WORKER
    with session.memory() as memory:
        told, not_told, written = (list(map(memory.whole_id, parts or ())) for parts in (useful, useless, new))
        lesson = memory.feedback(told, not_told, new=written, turn=turn)
    out.result(lesson, lambda: out.pairs(plain(lesson)))


def archive(
    context: typer.Context,
    memory_id: Id,
    reason: Annotated[str, typer.Option(help="The reason, for the record.")] = "",
) -> None:
    """Archive a memory: it is no longer recalled, but kept; unarchive restores it."""
    session = of(context)
    out = session.out
    session.changes |= NO_WORKER
    id_part(memory_id)
    with session.memory() as memory:
        done = memory.archive(memory.whole_id(memory_id), reason)
    out.result({"archived": done}, lambda: out.line("archived" if done else "it was archived already"))


def unarchive(context: typer.Context, memory_id: Id) -> None:
    """Restore an archived memory."""
    session = of(context)
    out = session.out
    id_part(memory_id)
    session.changes |= NO_WORKER
    with session.memory() as memory:
        done = memory.restore(memory.whole_id(memory_id))
    out.result({"restored": done}, lambda: out.line("restored" if done else "it was not archived"))
