"""The commands of `biem`, by name and in the order of the help. Importing this loads the modules of all of them."""

import platform
from collections.abc import Callable, Mapping
from importlib.metadata import version as installed_version

import typer

from biem.cli import (
    admin,
    chats,
    conflicts,
    demo,
    health,
    import_files,
    listing,
    local,
    memories,
    notes,
    queue,
    relations,
    removing,
    revisions,
    transfer,
)
from biem.cli.files import mirror, projects
from biem.cli.server import hosts, keys, mcp, serve, web
from biem.cli.session import of


def version(context: typer.Context) -> None:
    """Show the version."""
    out = of(context).out
    facts = {"biem": installed_version("biem"), "python": platform.python_version(), "platform": platform.platform()}
    out.result(facts, lambda: out.line(" · ".join(f"{name} {value}" for name, value in facts.items())))


COMMANDS: Mapping[str, Callable[..., None]] = {
    "remember": memories.remember,
    "recall": memories.recall,
    "context": memories.context,
    "get": memories.get,
    "revise": revisions.revise,
    "history": revisions.history,
    "revert": revisions.revert,
    "list": listing.listed,
    "timeline": listing.timeline,
    "count": listing.count,
    "erase": removing.erase,
    "feedback": memories.feedback,
    "conflicts": conflicts.conflicts,
    "resolve": conflicts.resolve,
    "undo": conflicts.undo,
    "related": relations.related,
    "instant": relations.instant,
    "links": relations.links,
    "facts": relations.facts,
    "archive": removing.archive,
    "unarchive": removing.unarchive,
    "quarantine": removing.quarantine,
    "release": removing.release,
    "restore": admin.restore,
    "sleep": admin.sleep,
    "import": import_files.import_files,
    "export": transfer.export,
    "move": transfer.move,
    "stats": queue.stats,
    "scopes": queue.scopes,
    "dead": queue.dead,
    "retry": queue.retry,
    "reindex": admin.reindex,
    "migrate": admin.migrate,
    "health": health.health,
    "diagnose": admin.diagnose,
    "perf": admin.perf,
    "serve": serve.serve,
    "mcp": mcp.mcp,
    "connect": hosts.connect,
    "web": web.web,
    "backup": admin.backup,
    "reembed": admin.reembed,
    "memory": chats.commanded,
    "demo": demo.demo,
    "version": version,
}
GROUPS: Mapping[str, typer.Typer] = {
    "notes": notes.app,
    "mirror": mirror.app,
    "project": projects.app,
    "session": chats.app,
    "keys": keys.app,
    "local": local.app,
}
