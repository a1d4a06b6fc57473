"""For any arguments, each verb answers or says which argument is wrong; other scopes never notice."""

import inspect
import io
import math
import os
import uuid
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any, get_type_hints

import numpy as np
import pytest
from hypothesis import settings

import biem
from biem.aim import AimMemory
from biem.bootstrap import Servers
from biem.domain.scope import Scope
from biem.engine.query.request import Conditions
from biem.errors import AlreadyDecided, InvalidInput, NotFound
from biem.layers.items import Items
from biem.layers.sessions import Sessions
from biem.notes.notebook import Notebook
from tests.support.systems import system


class Named(str):
    """A caller's own kind of string."""

    __slots__ = ()


MANY = [f"name {number}" for number in range(5_000)]
NAMES = (
    "",
    "a\0b",
    "\ud800",
    'a" or ns != "',
    "%' OR 1=1 --\\",
    "字" * 3_000,
    "x" * 100_000,
    Named("lantern"),
    "{}",
    "*",
)
LISTS: tuple[Any, ...] = (MANY, [str(uuid.uuid4()) for _ in range(5_000)])
"""What a condition may be made of, and was once taken for an outage."""
EVERYWHERE: tuple[Any, ...] = (-1, 2**70, math.nan, "a\0b", "\ud800", [None], object())
"""One value of each kind that a check may forget; every argument gets them."""
ELSEWHERE: tuple[Any, ...] = (
    None,
    0,
    1,
    7,
    10**9,
    True,
    1.5,
    math.inf,
    -math.inf,
    b"bytes",
    *(name for name in NAMES if name not in EVERYWHERE),
    [],
    [1],
    ["lantern"],
    ("a\0b",),
    {"a": object()},
    {"key": math.nan},
    set(),
    np.int64(3),
    np.float32(0.5),
    datetime(2026, 5, 4),  # noqa: DTZ001 - a naive one
    datetime.min,  # noqa: DTZ901
    datetime.max.replace(tzinfo=UTC),
    (math.nan, 1.0),
    (1.0, -1.0),
    str(uuid.UUID(int=0)),
)
"""Each argument gets a few of these, the next argument the next few; all of them with HYPOTHESIS_PROFILE=thorough."""
A_FEW = 3
USUAL: dict[str, Any] = {
    "text": "a remark",
    "items": [{"text": "a remark"}],
    "query": "lantern",
    "message": "lantern",
    "conversation": "c",
    "layer": "short_term",
    "memory_id": str(uuid.UUID(int=7)),
    "conflict_id": str(uuid.UUID(int=7)),
    "resolution": "keep_new",
    "part": "abcdef12",
    "target": str(uuid.UUID(int=7)),
    "revision": 1,
    "to": Scope(user="moved"),
    "search": lambda query, ids: ids,
    "session_id": str(uuid.UUID(int=7)),
    "session": "no session",
    "role": "user",
    "content": "a remark",
    "name": "no such name",
    "root": "no such folder",
    "hit": str(uuid.UUID(int=7)),
    "relation": "siblings",
    "old": "a",
    "verdict_id": str(uuid.UUID(int=7)),
    "believed": "note",
    "namespace": ("a",),
    "key": "k",
    "value": {"a": "a remark"},
    "keys": [(("a",), "k")],
    "drafts": [],
    "conditions": [],
    "max_depth": None,
    "limit": 10,
    "offset": 0,
}
EMPTY = b"""\
{"type":"header","format":"biem-export","version":1,"scope":{"tenant":"a","user":"b","project":""},"filtered":false}
{"type":"end","lines":{}}
"""
"""An export of nothing."""
FILES: dict[str, Callable[[], Any]] = {
    "out": io.BytesIO,
    "source": lambda: io.BytesIO(EMPTY),
    "path": lambda: os.devnull,
}
"""Opened again for each call, because they are read and written to their end."""
HOLDERS = (biem.Memory, AimMemory, Sessions, Notebook, Items)
"""The classes that have the verbs."""
NOT_CALLED = {"Memory.close", "Memory.reindex", "Memory.diagnose", "AimMemory.save", "AimMemory.load", "Notebook.watch"}
"""What ends the memory, works on all scopes, writes and reads files, or does not return."""
NO_DATA = {"on_progress", "generate", "search", "wait", "path", "out", "source"}
"""Functions, files, and what waits for a minute; the path of a note is no file."""
ALLOWED = (InvalidInput, NotFound, AlreadyDecided)


def verbs() -> Iterator[tuple[str, str, str]]:
    """Owner, verb and argument, for all public verbs."""
    for owner in HOLDERS:
        for name, verb in inspect.getmembers(owner, inspect.isfunction):
            if not name.startswith("_") and f"{owner.__name__}.{name}" not in NOT_CALLED:
                for argument in list(annotations(verb))[1:]:
                    if argument not in NO_DATA or (owner is Notebook and argument == "path"):
                        yield owner.__name__, name, argument


def annotations(verb: Callable[..., Any]) -> dict[str, str]:
    """The arguments of a verb, those that stand for others spelt out."""
    found: dict[str, str] = {}
    for name, parameter in inspect.signature(verb).parameters.items():
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            if name != "details":  # those of `remember`
                found |= {key: str(hint) for key, hint in get_type_hints(Conditions).items()}
        else:
            found[name] = str(parameter.annotation)
    return found


@pytest.fixture(scope="module")
def memory(stack: Servers) -> Iterator[biem.Memory]:
    with system(stack) as town, town.connect() as opened:
        tags = [f"tag {number}" for number in range(64)]
        for each in (opened, opened.scope(user="tagged")):
            each.remember("the lantern hangs in the harbour", tags=tags, speaker="Ann", conversation="c", wait=True)
        opened.scope(user="another").remember("the lantern of another", wait=True)
        yield opened


def unharmed(memory: biem.Memory) -> None:
    """Right after it the other scope has its answer, and nothing is said to be down."""
    hits = memory.scope(user="another").recall("lantern")
    assert ([hit.node.text for hit in hits], hits.degraded) == (["the lantern of another"], ())


def test_all_verbs_are_tried() -> None:
    tried = {(owner, verb) for owner, verb, _ in verbs()}
    assert {("Memory", name) for name in ("recall", "remember", "feedback", "dead_letters")} <= tried
    assert ("AimMemory", "route_memory") in tried
    assert {("Sessions", "append"), ("Notebook", "erase"), ("Items", "put")} <= tried


def values(number: int, annotation: str) -> Iterator[Any]:
    """What the argument of this number is given."""
    yield from EVERYWHERE
    if "Sequence" in annotation or "Iterable" in annotation or "Mapping" in annotation:
        yield from LISTS
    if settings().max_examples > 30:
        yield from (*ELSEWHERE, *LISTS)
    else:
        yield from (ELSEWHERE[(number * A_FEW + place) % len(ELSEWHERE)] for place in range(A_FEW))


@pytest.mark.parametrize(
    ("number", "owner", "verb", "argument"),
    [(number, *each) for number, each in enumerate(verbs())],
    ids=lambda part: str(part),
)
def test_a_hostile_argument_is_answered_or_named(
    memory: biem.Memory, number: int, owner: str, verb: str, argument: str
) -> None:
    holder = {
        "Memory": memory,
        "AimMemory": AimMemory(memory),
        "Sessions": memory.sessions,
        "Notebook": memory.notes,
        "Items": memory.items,
    }[owner]
    call: Callable[..., Any] = getattr(holder, verb)
    parameters = inspect.signature(call).parameters
    required = [
        name
        for name, parameter in parameters.items()
        if parameter.default is parameter.empty and parameter.kind is not parameter.VAR_KEYWORD
    ]
    usual = {name: USUAL[name] for name in required if name not in FILES}
    files = [name for name in required if name in FILES]
    if verb == "flush":
        usual["timeout_s"] = 1.0
    wrong: list[str] = []
    for value in values(number, annotations(call)[argument]):
        if verb == "flush" and (value is None or value in (7, 10**9, 2**70, math.inf)):
            continue  # a time to wait for
        try:
            call(**(usual | {name: FILES[name]() for name in files} | {argument: value}))
        except ALLOWED as error:
            if not str(error):
                wrong.append(f"{value!r:.60}: an error without words")
        except Exception as error:  # noqa: BLE001 - each is a finding
            wrong.append(f"{value!r:.60}: {type(error).__name__}: {str(error)[:150]}")
    assert wrong == []
    unharmed(memory)  # what is taken for an outage is believed for longer than these calls take


@pytest.mark.parametrize(
    "value", [None, 7, math.nan, b"bytes", ["a"], object(), "a\0b", "\ud800", "~no such user/a", "x" * 100_000]
)
def test_what_is_neither_a_file_nor_a_path_is_named(memory: biem.Memory, value: Any) -> None:
    for call in (memory.export, memory.import_, lambda out: memory.export(out, "markdown")):
        with pytest.raises(InvalidInput):
            call(value)
    unharmed(memory)


@pytest.mark.parametrize("text", NAMES, ids=lambda text: f"{text[:12]!r}")
def test_no_text_costs_the_plugin_a_turn_or_others_anything(memory: biem.Memory, text: str) -> None:
    plugin = biem.BIEMContextPlugin(memory.scope(user="talker"), conversation="c", running=True, auto_feedback=True)
    assert isinstance(plugin.prepare_context(text), str)
    plugin.record_user_message(text)
    plugin.record_assistant_message(text)
    plugin.feedback([text])
    assert plugin.unsaved == 0
    unharmed(memory)


@pytest.mark.parametrize("count", [1, 16, 17, 45, 64])
def test_a_memory_is_found_by_as_many_tags_as_it_may_have(memory: biem.Memory, count: int) -> None:
    hits = memory.scope(user="tagged").recall("lantern", tags=[f"tag {number}" for number in range(count)])
    assert ([hit.node.text for hit in hits], hits.degraded) == (["the lantern hangs in the harbour"], ())
    hits = memory.scope(user="tagged").recall(
        "lantern", tags=[*(f"tag {number}" for number in range(count)), "no such tag"]
    )
    assert (list(hits), hits.degraded) == ([], ())
    unharmed(memory)


@pytest.mark.parametrize("condition", ["conversations", "speakers"])
def test_five_thousand_names_are_a_condition_like_any_other(memory: biem.Memory, condition: str) -> None:
    own = {"conversations": "c", "speakers": "Ann"}[condition]
    hits = memory.scope(user="tagged").recall("lantern", **{condition: [*MANY, own]})  # type: ignore[arg-type]
    assert ([hit.node.text for hit in hits], hits.degraded) == (["the lantern hangs in the harbour"], ())
    hits = memory.scope(user="tagged").recall("lantern", **{condition: MANY})  # type: ignore[arg-type]
    assert (list(hits), hits.degraded) == ([], ())
    unharmed(memory)
