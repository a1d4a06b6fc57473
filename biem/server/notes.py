"""Routes of `memory.notes` that concern files of the server: which folders a key may register, and who reads them."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Literal

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import Response

from biem.client.calls import call_of
from biem.domain.notes.library import NoteVerdictStatus, unknown_library
from biem.domain.scope import Scope
from biem.errors import AccessDenied, ConfigError, InvalidInput, NotFound
from biem.server.caller import caller_of
from biem.server.routes import add_call, respond

_ADD, _LINT, _VERDICTS = (call_of("notes", name) for name in ("add", "lint", "verdicts"))
_PLACES = ("{tenant}", "{user}", "{project}")
_PLACE = re.compile("|".join(map(re.escape, _PLACES)))
_REFUSED = "no folder of the server is open for this scope here; its operator opens some with biem serve --notes-root"
_MOST_PATTERNS = 100
_MOST_VERDICTS = 1_000


class NoteFolders:
    """The folders of the server in which a scope may register folders of notes.

    A pattern is a path, in which `{tenant}`, `{user}` and `{project}` stand for the parts of the scope. Scopes for
    which patterns give one path read the same files. Raises `ConfigError` for a wrong pattern.
    """

    def __init__(self, patterns: Iterable[str]) -> None:
        self.patterns = tuple(_checked(pattern) for pattern in patterns)

    def admitted(self, scope: Scope, given: str) -> str:
        """The folder that is meant, without links; a relative one begins in the first folder of the scope.

        Raises `AccessDenied`, with the same words whether it exists or not.
        """
        roots = [root for pattern in self.patterns if (root := _root(pattern, scope)) is not None]
        if not roots or "\0" in given:
            raise AccessDenied(_REFUSED)
        try:
            folder = (roots[0] / given).resolve()
            if any(folder.is_relative_to(root.resolve()) for root in roots):
                return str(folder)
        except (OSError, RuntimeError, ValueError):  # a circle of links, a name that is too long
            pass
        raise AccessDenied(_REFUSED)


def _checked(pattern: str) -> str:
    wrong = _PLACE.sub("", pattern)
    if not pattern or "{" in wrong or "}" in wrong or "\0" in pattern:
        raise ConfigError(
            f"--notes-root {pattern!r}: give a folder, in which only {', '.join(_PLACES)} may be replaced"
        )
    return str(Path(pattern).expanduser().absolute())


def _root(pattern: str, scope: Scope) -> Path | None:
    """The folder of a scope; None if a part that the pattern names is no name of a folder."""
    parts = {place: getattr(scope, place[1:-1]) for place in _PLACE.findall(pattern)}
    if all(part not in ("", ".", "..") and not set(part) & set("/\\\0") for part in parts.values()):
        return Path(_PLACE.sub(lambda found: parts[found[0]], pattern))
    return None


class NewLibrary(BaseModel):
    """A folder to be registered."""

    model_config = ConfigDict(extra="forbid", strict=True, hide_input_in_errors=True)

    root: str = Field(max_length=4096, description="a folder of the server; relative: in the one of the scope")
    name: str = ""
    exclude: list[str] = Field(default=[], max_length=_MOST_PATTERNS, description="patterns as in .gitignore")
    any_host: bool = Field(True, description="whether every machine of the server has this folder")


class _Linting(BaseModel):
    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    target: str | None = Field(None, description="name of a library; left out: all of the scope")


class _Verdicts(BaseModel):
    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    status: NoteVerdictStatus | Literal["all"] = "open"
    limit: int = Field(100, ge=1, le=_MOST_VERDICTS)


def notes_router() -> APIRouter:
    """Registering and judging notes, and what they say of facts."""
    router = APIRouter()
    add_call(router, _ADD, add, status_code=201)
    add_call(router, _LINT, lint)
    add_call(router, _VERDICTS, verdicts)
    return router


def add(request: Request, body: NewLibrary) -> Response:
    """Register a folder of the server as a library; `sync` reads it. The same folder and name again change nothing.

    Only folders within those that the operator opened for the scope (`biem serve --notes-root`) are taken.
    """
    caller = caller_of(request)
    notes = caller.memory("write").notes
    folder = request.app.state.folders.admitted(caller.scope, body.root)
    if not _is_folder(folder):
        raise InvalidInput(f"{body.root} is no folder; create it, or give another")
    found = notes.add(folder, name=body.name, exclude=body.exclude, any_host=body.any_host)
    return respond(request, _ADD, found, {}, status_code=201)


def _is_folder(path: str) -> bool:
    try:
        return Path(path).is_dir()
    except OSError:  # a name that is too long
        return False


def lint(request: Request, query: Annotated[_Linting, Query()]) -> Response:
    """What makes notes hard to find or to understand, by path and line: of one library of the scope, or of all."""
    caller = caller_of(request)
    notes = caller.memory().notes
    if query.target is not None:  # never a path: it would read any file of the server
        names = [each.library.name for each in notes.stats()]
        if query.target not in names:
            raise NotFound(unknown_library(query.target, caller.scope, names))
    return respond(request, _LINT, notes.lint(query.target), {})


def verdicts(request: Request, query: Annotated[_Verdicts, Query()]) -> Response:
    """Facts that a sentence of a note contradicts or confirms, surest first: open ones, of a `status`, or all."""
    status = None if query.status == "all" else query.status
    found = caller_of(request).memory().notes.verdicts(status=status, limit=query.limit)
    return respond(request, _VERDICTS, found, {})
