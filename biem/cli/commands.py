"""The commands of `biem`, by name and in the order of the help: `module:function`, with modules below `biem.cli`.

Importing the modules of all of them takes 0.1 s of CPU, so each is imported when its command is run or listed.
"""

from pkgutil import resolve_name
from typing import Any

COMMANDS: dict[str, str] = {
    "remember": "memories:remember",
    "recall": "memories:recall",
    "context": "memories:context",
    "get": "memories:get",
    "revise": "revisions:revise",
    "history": "revisions:history",
    "revert": "revisions:revert",
    "list": "listing:listed",
    "timeline": "listing:timeline",
    "count": "listing:count",
    "erase": "removing:erase",
    "feedback": "memories:feedback",
    "conflicts": "conflicts:conflicts",
    "resolve": "conflicts:resolve",
    "undo": "conflicts:undo",
    "related": "relations:related",
    "instant": "relations:instant",
    "links": "relations:links",
    "facts": "relations:facts",
    "archive": "removing:archive",
    "unarchive": "removing:unarchive",
    "quarantine": "removing:quarantine",
    "release": "removing:release",
    "restore": "admin:restore",
    "sleep": "admin:sleep",
    "import": "import_files:import_files",
    "export": "transfer:export",
    "move": "transfer:move",
    "stats": "stats:stats",
    "scopes": "stats:scopes",
    "dead": "queue:dead",
    "retry": "queue:retry",
    "reindex": "admin:reindex",
    "migrate": "admin:migrate",
    "health": "health:health",
    "diagnose": "admin:diagnose",
    "perf": "admin:perf",
    "serve": "server.serve:serve",
    "mcp": "server.mcp:mcp",
    "connect": "server.hosts:connect",
    "web": "server.web:web",
    "backup": "admin:backup",
    "reembed": "admin:reembed",
    "memory": "sessions:commanded",
    "demo": "demo:demo",
    "version": "app:version",
}
GROUPS: dict[str, str] = {
    "notes": "notes:app",
    "mirror": "files.mirror:app",
    "project": "files.projects:app",
    "session": "sessions:app",
    "keys": "server.keys:app",
    "local": "local:app",
}


def resolved(name: str) -> Any:
    """The function of a command, or the `typer.Typer` of a group."""
    return resolve_name(f"biem.cli.{(COMMANDS | GROUPS)[name]}")
