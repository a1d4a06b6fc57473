"""An event loop goes on while memory works (X31): shown by holding work until the loop has turned, not by time."""

import asyncio
import contextlib
import inspect
import threading
from collections.abc import Callable, Coroutine, Iterator, Sequence
from types import SimpleNamespace
from typing import Any, cast

import httpx
import pytest
from mcp import Client

from biem.adapters.jobs.thread import InProcessQueue
from biem.config import Settings
from biem.domain.policies.jobs import SleepPolicy
from biem.domain.scope import Scope
from biem.engine.context.block import Context
from biem.engine.sleep.jobs import BackgroundJob, JobRunner, Schedule
from biem.errors import NotFound
from biem.memory import Memory
from biem.plugin import BIEMContextPlugin
from biem.ports.jobs import Exclusive, ScopeList
from biem.server.app import build
from biem.server.local.app import access_of
from biem.server.mcp.tools import build as mcp_server
from biem.telemetry import Telemetry
from tests.support.fakes import START, HeldClock

TURNS = 100


class Gate:
    """Work that waits here goes on once the loop has turned so often meanwhile; on the loop itself it never would."""

    def __init__(self) -> None:
        self.held: list[str] = []
        self._let = threading.Semaphore(0)

    def wait(self, what: str) -> None:
        self.held.append(what)
        if not self._let.acquire(timeout=60):
            raise AssertionError(f"the event loop stood still while {what} was at work")

    async def turn(self, many: int) -> None:
        """So often the loop turns after each piece of work has begun, and before it may go on."""
        for number in range(many):
            while len(self.held) <= number:
                await asyncio.sleep(0.001)
            for _ in range(TURNS):
                await asyncio.sleep(0)
            self._let.release()


class HeldMemory:
    """What the plugin uses of a memory, every call of it held."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate

    def context(self, query: str, **_: object) -> Context:
        self._gate.wait("context")
        return Context(f"about {query}", ())

    def remember(self, text: str, **_: object) -> str:
        self._gate.wait("remember")
        return text

    def now(self) -> object:
        return START


class Agent:
    def __init__(self) -> None:
        self.system_prompt = "base"


async def injected(plugin: BIEMContextPlugin) -> str:
    async with plugin.ainject(Agent(), "keys") as prompt:
        return prompt


CALLS: dict[str, tuple[Callable[[BIEMContextPlugin], Coroutine[Any, Any, object]], object]] = {
    "aprepare_context": (lambda plugin: plugin.aprepare_context("keys"), "about keys"),
    "arecord_user_message": (lambda plugin: plugin.arecord_user_message("Hello"), "Hello"),
    "arecord_assistant_message": (lambda plugin: plugin.arecord_assistant_message("Bye"), "Bye"),
    "arecord_tool_message": (lambda plugin: plugin.arecord_tool_message("42 pages"), "42 pages"),
    "ainject": (injected, "base\n\nabout keys"),
}


@pytest.mark.req("D11")
@pytest.mark.parametrize("name", CALLS)
def test_the_loop_turns_while_a_call_of_the_plugin_is_held(name: str) -> None:
    # Given a memory that takes its time to open and to answer
    gate = Gate()

    def opened() -> Memory:
        gate.wait("connect")
        return cast(Memory, HeldMemory(gate))

    call, answer = CALLS[name]

    # When the plugin is called / Then the loop turns a hundred times within each step, and the answer comes
    async def turn() -> object:
        result, _ = await asyncio.gather(call(BIEMContextPlugin(opened)), gate.turn(2))
        return result

    assert asyncio.run(turn()) == answer
    assert gate.held[0] == "connect"
    assert len(gate.held) == 2


def test_no_asynchronous_call_of_the_plugin_was_forgotten() -> None:
    given = {name for name, of in vars(BIEMContextPlugin).items() if inspect.isfunction(of) and name[1:] in dir(Memory)}
    twins = {name for name in vars(BIEMContextPlugin) if name[0] == "a" and name[1:] in vars(BIEMContextPlugin)}
    coroutines = {name for name, of in vars(BIEMContextPlugin).items() if inspect.iscoroutinefunction(of)}
    assert twins | coroutines == set(CALLS)
    assert not given & coroutines


class Slow:
    """What the server uses of a memory, every call of it held."""

    bound_to = Scope(user="ann")

    def __init__(self, gate: Gate) -> None:
        self._gate = gate

    def scope(self, **_: str) -> "Slow":
        return self

    @property
    def notes(self) -> "Slow":
        return self

    def __getattr__(self, name: str) -> Callable[..., object]:
        def answer(*_: object, **__: object) -> object:
            self._gate.wait(name)
            raise NotFound("nothing here")

        return answer


async def asked_of_a_server(gate: Gate, method: str, address: str, **more: Any) -> httpx.Response:
    """The answer of `biem web` on a memory that takes its time to open and to answer."""

    @contextlib.contextmanager
    def opened() -> Iterator[Any]:
        gate.wait("connect")
        slow = Slow(gate)
        yield SimpleNamespace(memory=slow, health=slow.health, body_bytes=1_000, upload_bytes=1_000, threads=4)

    app = build(opened, local=lambda: access_of(Settings(), Scope(user="ann")))
    async with app.router.lifespan_context(app):
        transport = httpx.ASGITransport(app, client=("127.0.0.1", 9))
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            return await client.request(method, address, **more)


READS = ("/v1/memories", "/v1/graph", "/v1/facts", "/v1/conflicts", "/v1/stats", "/v1/notes/tags", "/ready")


@pytest.mark.req("D11")
@pytest.mark.parametrize("address", READS)
def test_the_loop_turns_while_a_request_to_the_web_page_is_held(address: str) -> None:
    # Given a memory that takes its time to open and to answer, behind the web page
    gate = Gate()

    # When it is asked / Then the loop turns a hundred times within each step, and the answer comes
    async def turn() -> int:
        answer, _ = await asyncio.gather(asked_of_a_server(gate, "GET", address), gate.turn(2))
        return answer.status_code

    assert asyncio.run(turn()) == 404
    assert gate.held[0] == "connect"
    assert len(gate.held) == 2


ID = "01985f00-0000-7000-8000-000000000000"
MCP_CALLS: dict[str, tuple[str, dict[str, Any]]] = {
    "remember": ("tools/call", {"text": "x"}),
    "recall": ("tools/call", {"query": "x"}),
    "context": ("tools/call", {"query": "x"}),
    "amend": ("tools/call", {"memory_id": ID, "text": "x"}),
    "forget": ("tools/call", {"memory_id": ID}),
    "feedback": ("tools/call", {"useful": [ID]}),
    "inspect": ("tools/call", {"memory_id": ID}),
    "biem://timeline": ("resources/read", {}),
    "biem://conflicts": ("resources/read", {}),
    f"biem://memory/{ID}": ("resources/read", {}),
    "with_memory": ("prompts/get", {"question": "x"}),
}


@pytest.mark.req("D11")
@pytest.mark.parametrize("name", MCP_CALLS)
def test_the_loop_turns_while_a_call_of_mcp_is_held(name: str) -> None:
    # Given a memory that takes its time to open and to answer, behind the MCP server
    gate = Gate()
    method, arguments = MCP_CALLS[name]
    params = {"uri": name} if method == "resources/read" else {"name": name, "arguments": arguments}
    request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    headers = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-11-25"}

    # When it is asked / Then the loop turns a hundred times within each step, and the answer comes
    async def turn() -> dict[str, Any]:
        asked = asked_of_a_server(gate, "POST", "/mcp", json=request, headers=headers)
        answer, _ = await asyncio.gather(asked, gate.turn(2))
        return dict(answer.json())

    answered = asyncio.run(turn())
    assert answered["result"]["isError"] if method == "tools/call" else answered["error"]
    assert gate.held[0] == "connect"
    assert len(gate.held) == 2


def test_no_tool_resource_or_prompt_of_mcp_was_forgotten() -> None:
    async def listed() -> set[str]:
        async with Client(mcp_server(lambda _: cast(Memory, Slow(Gate())))) as client:
            tools, prompts = (await client.list_tools()).tools, (await client.list_prompts()).prompts
            resources = (await client.list_resources()).resources
            templates = (await client.list_resource_templates()).resource_templates
            named = {each.name for each in (*tools, *prompts)} | {str(each.uri) for each in resources}
            return named | {each.uri_template.replace("{memory_id}", ID) for each in templates}

    assert asyncio.run(listed()) == set(MCP_CALLS)


class Alone:
    """The port `Exclusive` of one process."""

    @contextlib.contextmanager
    def hold(self, scope: Scope | None, job: str) -> Iterator[bool]:
        yield True


class One:
    """The port `ScopeList` with one scope."""

    def scopes(self, after: str, limit: int) -> Sequence[Scope]:
        return [] if after else [Scope(user="ann")]


# The static rules: house/test_no_global_state. Milliseconds of lag on real servers that hang: integration/plugin
@pytest.mark.req("X31")
def test_the_loop_turns_while_each_job_of_the_night_and_the_worker_are_held() -> None:
    # Given every job there is, each held while it runs, and a batch of the worker, as a process has them
    gate, clock = Gate(), HeldClock()
    periods = {name: period_s for name, period_s in SleepPolicy().periods().items() if period_s > 0}

    def job(name: str) -> BackgroundJob:
        def run(scope: Scope) -> dict[str, int]:
            gate.wait(name)
            return {}

        return BackgroundJob(name, run, periods[name])

    sleeper = JobRunner(
        [job(name) for name in periods], exclusive=cast(Exclusive, Alone()), clock=clock, telemetry=Telemetry()
    )
    upkeep = Schedule(sleeper, cast(ScopeList, One()), clock=clock, scopes_per_tick=9)
    clock.advance(days=1)
    batches = iter([1])

    def batch() -> int:
        for _ in batches:
            gate.wait("encode")
            return 1
        return 0

    # When all are due in a process that has an event loop
    async def work() -> None:
        queues = [InProcessQueue(poll_s=60.0, backoff_s=60.0, backoff_max_s=60.0) for _ in range(2)]
        for queue, one in zip(queues, (upkeep.tick, batch), strict=True):
            queue.start(one)
        await gate.turn(len(periods) + 1)
        for queue in queues:
            await asyncio.to_thread(queue.stop, 60.0)

    asyncio.run(work())

    # Then the loop turned a hundred times within each of them, once each
    assert sorted(gate.held) == sorted([*periods, "encode"])
