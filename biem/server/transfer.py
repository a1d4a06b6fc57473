"""Routes that move whole scopes: exports, imports, moves, erasures. Files pass through the disk, not through memory."""

import os
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path, PurePath
from typing import IO, Annotated, Any, Literal

import anyio
from anyio.to_thread import run_sync
from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Message

from biem.client.calls import call_of
from biem.client.wire import encoded
from biem.domain.node import Receipt
from biem.domain.scope import Scope
from biem.domain.transfer import ExportReport
from biem.errors import AccessDenied, BiemError, InvalidInput
from biem.memory import Memory
from biem.server.caller import Caller, caller_of
from biem.server.problems import BodyOfAnotherType, BodyTooLarge, BodyTooSlow
from biem.server.request_body import BODY_TIMEOUT_S
from biem.server.routes import add_call, model_of, query_model, respond, sent

_EXPORT, _IMPORT, _MOVE, _ERASE = (call_of("memory", name) for name in ("export", "import_", "move", "erase"))
_FILES = call_of("memory", "import_file")
UPLOADS = (_IMPORT.path, _FILES.path)
"""Paths whose route reads the body itself."""
_LONGEST_NAME = 200
_PIECE = 1 << 16
_LINES = "application/x-ndjson"
_ExportQuery = query_model(_EXPORT, without=("out", "overwrite", "as_of", "format"))
_ImportQuery = query_model(_IMPORT, without=("source",))


class _FilesQuery(query_model(_FILES, without=("path",))):  # type: ignore[misc]
    """The arguments of an import of files."""

    name: str = ""


_MoveBody = model_of(
    "MoveBody", [each for name, each in _MOVE.parameters.items() if name not in ("to", "as_of")], strict=True
)
_BINARY = {"requestBody": {"content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}}}


class Target(BaseModel):
    """The scope that memories are moved to; parts that are left out are those of the caller's scope."""

    model_config = ConfigDict(extra="forbid", strict=True, hide_input_in_errors=True)

    user: str | None = None
    project: str | None = None


class Moving(_MoveBody):  # type: ignore[valid-type,misc]
    """The memories to move, and their target."""

    to: Target


class Erasing(BaseModel):
    """One memory by its id, everything of the scope, or everything of the user with all projects."""

    model_config = ConfigDict(extra="forbid", strict=True, hide_input_in_errors=True)

    id: str | None = None
    everything: Literal["scope", "user"] | None = None


def transfer_router() -> APIRouter:
    """Exports, imports, moves and erasures."""
    router = APIRouter()
    lines = {200: {"description": "One JSON document a line (docs/export.md).", "content": {_LINES: {}}}}
    add_call(router, _EXPORT, export, response_model=None, responses=lines, response_class=StreamingResponse)
    add_call(router, _IMPORT, import_, openapi_extra=_BINARY)
    add_call(router, _FILES, import_files, openapi_extra=_BINARY)
    add_call(router, _MOVE, move)
    add_call(router, _ERASE, erase)
    return router


def export(request: Request, query: Annotated[_ExportQuery, Query()]) -> Response:  # type: ignore[valid-type]
    """All of the scope that cannot be computed again, as of one instant, or the memories that meet the conditions.

    `Biem-Report` counts the lines by type.
    """
    memory = caller_of(request).memory()
    file = tempfile.TemporaryFile()  # noqa: SIM115  closed when it was sent
    try:
        report = memory.export(file, **sent({"query": query}))
        size = file.tell()
        file.seek(0)
    except BaseException:
        file.close()
        raise
    headers = {"Biem-Report": encoded(ExportReport, report).decode(), "Content-Length": str(size)}
    return StreamingResponse(_pieces(file), media_type=_LINES, headers=headers)


def _pieces(file: IO[bytes]) -> Iterator[bytes]:
    with file:
        while piece := file.read(_PIECE):
            yield piece


async def import_(request: Request, query: Annotated[_ImportQuery, Query()]) -> Response:  # type: ignore[valid-type]
    """Take back lines that an export wrote. Repeated, it stores nothing twice; existing memories stay as they are."""
    caller = caller_of(request)
    caller.key.require("write")
    with tempfile.TemporaryFile() as file:
        await _received(request, file, caller)
        file.seek(0)
        arguments = sent({"query": query})
        report = await run_sync(lambda: caller.memory("write").import_(file, **arguments))
    return respond(request, _IMPORT, report, arguments)


async def import_files(request: Request, query: Annotated[_FilesQuery, Query()]) -> Response:
    """Store what a file or an archive of another system holds; `name` is the file's, whose ending may tell the format.

    With `per_conversation` the key must be open for every project.
    """
    caller = caller_of(request)
    caller.key.require("write")
    arguments = sent({"query": query})
    arguments.pop("name", None)
    if arguments.get("per_conversation") and caller.key.project is not None:
        raise AccessDenied("per_conversation makes projects, and this key is bound to one")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, _file_name(query.name))
        with path.open("wb") as file:
            await _received(request, file, caller)
        report = await run_sync(lambda: _imported(caller.memory("write"), path, arguments))
    return respond(request, _FILES, report, arguments)


def _imported(memory: Memory, path: Path, arguments: dict[str, Any]) -> object:
    """Import the file; what is said of it names it as its sender does, without the folder of the server."""
    here = f"{path.parent}{os.sep}"
    try:
        report = memory.import_file(path, **arguments)
    except BiemError as error:
        error.args = (str(error).replace(here, ""), *error.args[1:])
        raise
    report.first_bad = [replace(line, file=line.file.replace(here, "")) for line in report.first_bad]
    return report


def _file_name(name: str) -> str:
    """The last part of a file's name, which may name the conversation in it."""
    last = PurePath(name.replace("\0", "").replace("\\", "/")).name.encode(errors="replace")[:_LONGEST_NAME]
    return last.decode(errors="ignore") or "upload"


async def _received(request: Request, file: IO[bytes], caller: Caller) -> None:
    """Write the body to a file. Raises `BodyOfAnotherType` for a form, `BodyTooLarge` and, when nothing arrives for a
    while, `BodyTooSlow`.
    """
    # No other type is refused: curl --data-binary states the type of a form field for any file.
    if request.headers.get("content-type", "").strip().lower().startswith("multipart/"):
        raise BodyOfAnotherType(
            "the file itself must be the body, not a part of a form: send it as curl --data-binary @FILE does, with "
            "Content-Type: application/octet-stream"
        )
    most, size, more = caller.backend.upload_bytes, 0, True
    while more:
        message: Message | None = None
        with anyio.move_on_after(BODY_TIMEOUT_S):
            message = await request.receive()
        if message is None or message["type"] == "http.disconnect":
            raise BodyTooSlow("the file did not arrive in time, or not to its end")
        piece: bytes = message.get("body", b"")
        more = message.get("more_body", False)
        size += len(piece)
        if size > most:
            raise BodyTooLarge(f"the file may have {most:,} bytes")
        await run_sync(file.write, piece)


def move(request: Request, body: Moving) -> Response:
    """Move memories to another scope that the key is open for: by `ids`, by conditions, or `every` one."""
    caller = caller_of(request)
    given: dict[str, Any] = sent({"body": body})
    given.pop("to")
    user = caller.scope.user if body.to.user is None else body.to.user
    project = caller.scope.project if body.to.project is None else body.to.project
    target = Scope(caller.scope.tenant, user, project)
    if not caller.key.admits(target):
        raise AccessDenied("this key is bound to another scope than the target")
    return respond(request, _MOVE, caller.memory("write").move(target, **given), given)


def erase(request: Request, body: Erasing) -> Response:
    """Destroy one memory by its `id`, or `everything` of the scope or of the user; answers the receipt.

    It cannot be undone, and the same call completes an interrupted erasure. Erasing a user needs a key that is open for
    every project.
    """
    caller = caller_of(request)
    memory = caller.memory("erase")
    if (body.id is None) == (body.everything is None):
        raise InvalidInput("say what to erase: either an id, or everything of the scope or the user")
    if body.everything == "user":
        if caller.key.project is not None:
            raise AccessDenied("this key is bound to one project; a user is erased with all projects")
        receipt = memory.erase(user=caller.scope.user)
    else:
        receipt = memory.erase(caller.scope if body.id is None else body.id)
    return respond(request, _ERASE, _outward(receipt), {})


def _outward(receipt: Receipt) -> Receipt:
    """Without the folders of the server."""
    return replace(receipt, backups=tuple(replace(each, path=PurePath(each.path).name) for each in receipt.backups))
