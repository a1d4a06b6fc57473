"""A memory that was open when its process was forked: of use in the child, and unharmed in the parent."""

import multiprocessing
import os
import subprocess
import sys
import threading
import uuid
from collections.abc import Callable
from typing import Any

import pytest

import biem
from biem.adapters.fork_safety import Calls
from tests.support.fakes import WordEmbedder, eventually

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
# Programs with threads are forked, of which newer Pythons warn.
forking = pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")


def child(work: Callable[[], bool]) -> int:
    """Fork, do `work` there; 0 when it was true."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            code = 0 if work() else 2
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def knows(memory: biem.Memory, text: str) -> bool:
    hits = memory.recall(text, top_k=3)
    return not hits.degraded and text in [hit.node.text for hit in hits]


@forking
def test_a_child_remembers_and_recalls_and_closes_only_its_own(memory: biem.Memory) -> None:
    # Given an open memory with its threads at work
    memory.remember("the key lies under the pot", wait=True)

    # When children use it, and close it or not
    def use() -> bool:
        found = knows(memory, "the key lies under the pot")
        memory.remember("said in a child", wait=True)
        memory.close()
        return found and "closed" in repr(memory)

    def close() -> bool:
        memory.close()
        return True

    assert [child(use), child(lambda: knows(memory, "said in a child")), child(close)] == [0] * 3

    # Then the parent has what they said, on connections that no one closed
    assert knows(memory, "said in a child")
    memory.remember("said in the parent", wait=True)
    assert knows(memory, "said in the parent")


@forking
def test_a_fork_during_recalls_of_other_threads_harms_neither(memory: biem.Memory) -> None:
    # Given threads that recall without a pause
    memory.remember("the train leaves at nine", wait=True)
    stop, wrong, done = threading.Event(), list[tuple[str, ...]](), [0]

    def ask() -> None:
        while not stop.is_set():
            hits = memory.recall(f"train {done[0]}")
            done[0] += 1
            if hits.degraded:
                wrong.append(hits.degraded)

    threads = [threading.Thread(target=ask) for _ in range(2)]
    for thread in threads:
        thread.start()
    eventually(lambda: done[0] > 2)

    # When the process is forked meanwhile / Then each child recalls, with every server, and so do the threads
    try:
        codes = [child(lambda: knows(memory, "the train leaves at nine")) for _ in range(3)]
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert (codes, wrong) == ([0] * 3, [])


PROGRAM = """
import os, sys
import biem
memory = biem.connect()
memory.remember("the parent's words", wait=True)
pid = os.fork()
if pid == 0:
    if {use!r}:
        assert memory.recall("the parent's words")
    {leave}
code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
hits = memory.recall("the parent's words")
assert hits and not hits.degraded
memory.remember("after the child", wait=True)
memory.close()
sys.exit(code)
"""


@pytest.mark.parametrize(
    ("use", "leave"),
    [
        pytest.param(False, "sys.exit(7)", marks=pytest.mark.long),
        (True, "sys.exit(7)"),
        pytest.param(True, "memory.close(); sys.exit(7)", marks=pytest.mark.long),
    ],
)
def test_a_child_that_ends_as_programs_do_ends_well(use: bool, leave: str, environment: dict[str, str]) -> None:
    # Given a program with the packaged model / When its child ends, with atexit, garbage collection and destructors
    words = [sys.executable, "-W", "ignore", "-c", PROGRAM.format(use=use, leave=leave)]
    own = {"BIEM_USER": uuid.uuid4().hex}
    done = subprocess.run(
        words, env=os.environ | environment | own, capture_output=True, text=True, timeout=300, check=False
    )

    # Then it has its own exit code, no one complains, and the parent goes on
    assert (done.returncode, done.stderr) == (7, "")


@pytest.mark.long
@forking
@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_pools_of_processes_work_while_a_memory_is_open(
    method: str, memory: biem.Memory, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # Given an open memory / When processes of each kind open their own
    memory.remember("for a pool of processes", wait=True)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    context: Any = multiprocessing.get_context(method)
    process = context.Process(target=_open_and_close, args=(memory.bound_to.user,))
    process.start()
    process.join(120)

    # Then they find it, and the parent is as before
    assert process.exitcode == 0
    assert knows(memory, "for a pool of processes")


def _open_and_close(user: str) -> None:
    with biem.connect(scope=biem.Scope(user=user), embedder=WordEmbedder()) as memory:
        sys.exit(0 if memory.stats()["memories"] == 1 else 3)


def test_a_fork_waits_for_calls_and_says_where_one_was_torn() -> None:
    # Given a call under way, of another thread / When the process is about to be forked
    calls = Calls(patience_s=0.01)
    inside, leave = threading.Event(), threading.Event()

    def call() -> None:
        with calls.one(), calls.one():
            inside.set()
            leave.wait(60.0)

    thread = threading.Thread(target=call)
    thread.start()
    assert inside.wait(60.0)
    calls.before_fork()

    # Then the fork does not wait for ever, and the child knows; the parent goes on
    calls.after_fork_in_parent()
    leave.set()
    thread.join()
    calls.before_fork()
    calls.after_fork_in_child()
    assert not calls.torn
    with calls.one():
        calls.after_fork_in_child()
    assert calls.torn
