"""Commands that take memories out of the answers, or back: archive, quarantine, erase."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from biem.cli.arguments import Id
from biem.cli.filters import require_one_of
from biem.cli.invocation import NO_WORKER, Invocation, of
from biem.cli.output import Output, on_one_line, plain, shown_time
from biem.domain.node import Receipt, id_part
from biem.domain.text import counted
from biem.domain.trust import LEVELS
from biem.errors import InvalidInput, StoreUnavailable

if TYPE_CHECKING:
    from biem.memory import Memory

Reason = Annotated[str, typer.Option(help="The reason, for the record.")]


def archive(context: typer.Context, memory_id: Id, reason: Reason = "") -> None:
    """Archive a memory: it is no longer recalled, but kept; unarchive restores it."""
    done = _changed(context, memory_id, lambda memory, whole: memory.archive(whole, reason))
    _say(context, "archived", done, "archived", "it was archived already")


def unarchive(context: typer.Context, memory_id: Id) -> None:
    """Restore an archived memory."""
    done = _changed(context, memory_id, lambda memory, whole: memory.restore(whole))
    _say(context, "restored", done, "restored", "it was not archived")


def quarantine(context: typer.Context, memory_id: Id, reason: Reason = "") -> None:
    """Withdraw a memory and all that was made of it; release brings it back."""
    done = _changed(context, memory_id, lambda memory, whole: memory.quarantine(whole, reason))
    _say(context, "quarantined", done, "in quarantine", "it was in quarantine already")


def release(
    context: typer.Context,
    memory_id: Id,
    trust: Annotated[
        str | None, typer.Option(help=f"From now on one of {', '.join(LEVELS)}; default: as before.")
    ] = None,
) -> None:
    """Bring a memory back from quarantine."""
    require_one_of("--trust", trust, LEVELS)
    done = _changed(context, memory_id, lambda memory, whole: memory.release(whole, trust))
    _say(context, "released", done, "released", "it was not in quarantine")


def _changed(context: typer.Context, memory_id: str, change: Callable[["Memory", str], bool]) -> bool:
    """Whether the change of one memory was still to be made."""
    invocation = of(context)
    invocation.changes |= NO_WORKER
    id_part(memory_id)
    with invocation.memory() as memory:
        return change(memory, memory.whole_id(memory_id))


def _say(context: typer.Context, name: str, done: bool, if_done: str, if_not: str) -> None:
    out = of(context).out
    out.result({name: done}, lambda: out.line(if_done if done else if_not))


def erase(
    context: typer.Context,
    memory_id: Annotated[
        str | None, typer.Argument(metavar="ID", help="The memory to erase: its id, or the end of it.")
    ] = None,
    scope: Annotated[bool, typer.Option("--scope", help="Erase the whole scope.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    scrub: Annotated[
        bool, typer.Option("--scrub", help="Then rewrite files that still contain erased data; alone: only that.")
    ] = False,
) -> None:
    """Erase a memory, a scope or, with --user alone, a user with all projects; prints the receipt."""
    invocation = of(context)
    out = invocation.out
    person = invocation.user if memory_id is None and not scope else None
    if scrub and not (memory_id or scope or person):
        done = _scrubbed(invocation)
        out.result(done, lambda: _show_scrubbed(out, done))
        return
    if (memory_id is not None and scope) or not (memory_id or scope or person) or (person and invocation.project):
        raise InvalidInput("say what to erase: an ID, --scope, or --user without --project for all that a user has")
    if memory_id is not None:
        id_part(memory_id)
    invocation.changes |= NO_WORKER
    if scope and not yes:
        _confirm(out, f"Destroy everything that {invocation.scope(invocation.settings())} remembers, for ever?")
    with invocation.memory() as memory:
        if person and not yes:
            out.note(f"{person} of tenant {memory.bound_to.tenant} has:")
            for summary in memory.scopes():
                out.note(f"  {summary.scope}: {counted(summary.memories, 'memory')}")
            _confirm(out, f"Destroy everything that {person} has in all these scopes, for ever?")
        if person:
            receipt = memory.erase(user=person)
        else:
            receipt = memory.erase(memory.bound_to if memory_id is None else memory.whole_id(memory_id))
        scrubbed = _scrubbed(invocation) if scrub else None
        left = (
            [] if person or not scope else [one for one in memory.scopes() if one.memories and not invocation.project]
        )

    def show() -> None:
        _show_receipt(out, receipt)
        if scrubbed:
            _show_scrubbed(out, scrubbed)

    out.result(plain(receipt) | ({"scrubbed": scrubbed} if scrubbed else {}), show)
    if left:
        held, user = sum(one.memories for one in left), left[0].scope.user
        out.note(
            f"{counted(held, 'memory')} of {user} left in {counted(len(left), 'other scope')}; "
            f"`biem erase --user {user}` destroys that, too"
        )
    if not receipt.complete:
        out.note("not complete: a store did not answer; nothing of it is shown, and a worker removes the rest later")
        raise typer.Exit(StoreUnavailable.exit_code)


def _scrubbed(invocation: Invocation) -> dict[str, list[str]]:
    from biem.bootstrap.admin import scrub

    return scrub(invocation.settings())


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


def _count(records: int | None) -> str:
    return "no answer" if records is None else str(records)


def _show_receipt(out: Output, receipt: Receipt) -> None:
    state = Text("complete", "green") if receipt.complete else Text("NOT COMPLETE", "bold red")
    out.line(Text(f"erased {receipt.memories} of {receipt.target}: ") + state)
    rows = [(count.store, _count(count.before), _count(count.after)) for count in receipt.stores]
    out.table(("store", "before", "after"), rows, right=("before", "after"))
    if receipt.scopes:
        out.table(("scope", "memories"), list(receipt.scopes.items()), right=("memories",))
    for path in receipt.kept_files:
        out.line(f"its files stay, delete them yourself: {on_one_line(path)}")
    for backup in receipt.backups:
        out.note(f"may still hold it until {shown_time(backup.expires_at)}, when it is deleted: {backup.path}")
    out.line(f"receipt {receipt.id}", "dim")
