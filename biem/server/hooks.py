"""Hooks of coding agents: memory before each prompt, and the turn kept after it, without a tool call.

The agent never waits for a memory that fails: an answer comes within a second, and is empty when the memory is
down, slow or has nothing. The injected block is never remembered: only the prompt and the last reply are.
"""

import hashlib
import logging
import re
from collections.abc import Callable
from typing import Annotated, Any

import anyio
from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from fastapi import APIRouter
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import Response

from biem.domain.text import storable
from biem.errors import BiemError
from biem.memory import Memory
from biem.server.caller import Caller, caller_of
from biem.server.json_response import Json

logger = logging.getLogger("biem.server")

PATH = "/v1/hooks/claude-code"
DEADLINE_S = 1.0
MOST_CHARS = 9_000
"""Of a longer text agents show their model a preview only."""
_AT_ONCE = 8
_READ_BEFORE = 8
"""Messages of the session, as many as a follow-up question is read by."""
_FIRST = "What is known of this project?"
_OPEN, _CLOSE = "<biem-memory>", "</biem-memory>"
_INJECTED = re.compile(f"{_OPEN}.*?(?:{_CLOSE}|$)", re.DOTALL)


def _kept(value: object) -> object:
    """No agent is refused for a field without a value, or for characters that no database stores."""
    return storable(value) if isinstance(value, str) else "" if value is None else value


_NAME_CHARS = 200
Told = Annotated[str, BeforeValidator(_kept, json_schema_input_type=str | None)]
Name = Annotated[
    str,
    BeforeValidator(_kept, json_schema_input_type=Annotated[str, Field(max_length=_NAME_CHARS)] | None),
    Field(max_length=_NAME_CHARS),
]


class HookCall(BaseModel):
    """What an agent tells its hook; further fields are ignored."""

    model_config = ConfigDict(extra="ignore", hide_input_in_errors=True)

    hook_event_name: str = Field(max_length=64, description="SessionStart, UserPromptSubmit, Stop, SessionEnd, …")
    session_id: Name = ""
    prompt: Told = ""
    prompt_id: Name = ""
    last_assistant_message: Told = ""


class Injected(BaseModel):
    """An addition to the prompt of the model."""

    hookEventName: str  # noqa: N815  the agent's own name
    additionalContext: str  # noqa: N815


class HookAnswer(BaseModel):
    """Empty when there is nothing to add."""

    hookSpecificOutput: Injected | None = None  # noqa: N815


class Hooks:
    """The hooks of one process."""

    def __init__(self) -> None:
        self._limiter: CapacityLimiter | None = None

    async def answer(self, request: Request, body: HookCall) -> Response:
        """Memory for the prompt of `UserPromptSubmit`, within a second; the prompt and the reply of `Stop` are kept.

        Other events, a memory that does not answer and one that has nothing get an empty answer.
        """
        caller = caller_of(request)
        text = ""
        if body.hook_event_name == "UserPromptSubmit" and body.prompt.strip():
            with anyio.move_on_after(DEADLINE_S) as scope:
                text = await self._on_a_thread(lambda: _block(caller, body))
            if scope.cancelled_caught:
                logger.warning("no memory for a prompt within %.0f s", DEADLINE_S)
        added = {"hookEventName": body.hook_event_name, "additionalContext": text}
        return Json({"hookSpecificOutput": added} if text else {}, background=BackgroundTask(_keep, caller, body))

    async def _on_a_thread(self, work: Callable[[], str]) -> str:
        """Abandoned at the deadline: at most eight threads go on behind it."""
        if self._limiter is None:
            self._limiter = CapacityLimiter(_AT_ONCE)
        return await run_sync(work, abandon_on_cancel=True, limiter=self._limiter)


def hooks_router() -> APIRouter:
    """The hooks' one address."""
    router = APIRouter()
    router.add_api_route(PATH, Hooks().answer, methods=["POST"], tags=["hooks"], response_model=HookAnswer)
    return router


def _block(caller: Caller, body: HookCall) -> str:
    """The memory block for a prompt, as marked text of at most 9,000 characters; empty without one."""
    prompt = _without_injections(body.prompt)
    try:
        memory = caller.memory("read")
        held = [*_said_before(memory, body.session_id), {"role": "user", "content": prompt}]
        found = memory.context(prompt, session=body.session_id, exclude=held)
    except BiemError as error:
        logger.warning("no memory for a prompt: %s", error)
        return ""
    except Exception:
        logger.exception("no memory for a prompt")
        return ""
    return f"{_OPEN}\n{_cut(found.text)}\n{_CLOSE}" if found.text else ""


def _said_before(memory: Memory, session: str) -> list[dict[str, Any]]:
    """The newest messages of a session, oldest first: the prompt holds them, and a question may lean on them."""
    kept = memory.list(conversations=[session], limit=_READ_BEFORE).items if session else ()
    return [{"role": one.source, "content": one.text, "id": one.id} for one in reversed(kept)]


def _cut(text: str) -> str:
    """Whole lines that fit."""
    room = MOST_CHARS - len(_OPEN) - len(_CLOSE) - 2
    while len(text) > room:
        text = text[: max(0, text.rfind("\n", 0, room + 1))]
    return text


def _without_injections(text: str) -> str:
    """The message of a person or a model, without the memories that an earlier hook injected."""
    return _INJECTED.sub("", text).strip()


def _keep(caller: Caller, body: HookCall) -> None:
    """Remember the prompt or the reply; a failure is logged, and costs the memory of this turn only."""
    said, source = {
        "UserPromptSubmit": (_without_injections(body.prompt), "user"),
        "Stop": (_without_injections(body.last_assistant_message), "assistant"),
    }.get(body.hook_event_name, ("", ""))
    if body.hook_event_name == "SessionStart":
        _block(caller, body.model_copy(update={"prompt": _FIRST}))  # what a first recall loads is loaded before it
    if not said or "write" not in caller.key.grants:
        return
    turn = body.prompt_id or hashlib.sha256(said.encode()).hexdigest()[:32]
    details: dict[str, Any] = {"ref": f"hook:{body.session_id}:{turn}:{source}", "conversation": body.session_id}
    try:
        caller.memory("write").remember(said, source=source, **details)
    except BiemError as error:
        logger.warning("a turn was not remembered: %s", error)
    except Exception:
        logger.exception("a turn was not remembered")
