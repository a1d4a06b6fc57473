"""`biem.remote` next to the memory itself, in one scope: the same results, types and errors."""

import io
import uuid
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import HumanMessage

import biem
from biem.client.memory import RemoteMemory
from biem.domain.access.key import ApiKey
from biem.errors import AccessDenied, BiemError, InvalidInput, KeyInvalid, NotFound, RefConflict, RevisionConflict
from tests.integration.server.conftest import Site

Call = Callable[[Any, str], object]


def opened(site: Site, **binding: Any) -> tuple[biem.Memory, RemoteMemory, ApiKey]:
    """The memory of a new key's scope, and the same through the server."""
    made = site.key(**binding)
    here = site.backends[0].memory.scope(tenant="acme", user=made.key.user, project=made.key.project or "")
    return here, site.remote(made.token, at=1), made.key


def raised(work: Callable[[], object]) -> type[BaseException]:
    """The class of the error that a call raises."""
    with pytest.raises(BiemError) as caught:
        work()
    return type(caught.value)


def test_a_key_for_every_user_serves_each_in_a_scope_of_that_name(site: Site) -> None:
    # Given one key of an application for all of its users
    there = site.remote(site.key(user=None, project=None).token, at=1)
    ana, bo = (f"{name}-{uuid.uuid4().hex}" for name in ("ana", "bo"))

    # When each user is named / Then each has a memory apart, as embedded ones have
    there.scope(user=ana).remember("The code of the shed is 4711")
    there.scope(user=bo, project="p").remember("The code of the barn is 1174")
    assert there.scope(user=ana).count() == there.scope(user=bo).scope(project="p").count() == 1
    assert there.scope(user=bo).count() == 0
    assert there.scope(user=ana).bound_to == biem.Scope("acme", ana)

    # And where none is named, nothing is done for anyone, but the server is described
    assert (there.about.user, there.embedder.dim) == (None, site.backends[0].memory.embedder.dim)
    for call in (lambda: there.bound_to, lambda: there.scope(project="p"), there.count, lambda: there.remember("x")):
        with pytest.raises(InvalidInput, match=r"no user: name one by scope\(user=…\)"):
            call()

    # And a key that may only write names its users, too
    writer = site.remote(site.key(user=None, project=None, grants=("write",)).token)
    assert writer.scope(user=ana).remember("The shed is green")
    assert there.scope(user=ana).count() == 2


def test_the_remote_memory_answers_as_the_memory_does(site: Site) -> None:
    # Given memories written through the server
    here, there, key = opened(site)
    at = datetime(2026, 3, 1, tzinfo=UTC)
    first = there.remember("Ana sails the boat Andorinha", at=at, metadata={"n": [1, {"a": None}]}, ref="r1", wait=True)
    ids = there.remember_many([{"text": f"Locker {n} holds rope {n}", "tags": ["rope"]} for n in range(250)])
    assert len(set(ids)) == 250
    assert there.flush(60)
    there.feedback(useful=[first], new=[ids[0]], turn="t")

    # When the same is asked here and there / Then the answers are equal, values and types
    same: tuple[Callable[[biem.Memory], Any], ...] = (
        lambda memory: memory.get(ids[3]).text,
        lambda memory: memory.get(first).metadata,
        lambda memory: memory.revisions(first),
        lambda memory: memory.count(tags=["rope"]),
        lambda memory: [node.id for node in memory.list(limit=7, order="oldest").items],
        lambda memory: [node.text for node in memory.timeline(at, at + timedelta(days=1)).items],
        lambda memory: memory.links(first),
        lambda memory: memory.graph(limit=5),
        lambda memory: memory.facts(),
        lambda memory: memory.conflicts(status=None),
        lambda memory: memory.scopes(),
        lambda memory: memory.dead_letters(),
        lambda memory: memory.refusals(),
        lambda memory: memory.whole_id(first[-12:]),
        lambda memory: memory.related("boat"),
        lambda memory: memory.observe("I always drink tea"),
        lambda memory: memory.bound_to,
        lambda memory: (memory.embedder, memory.layout),
        lambda memory: memory.sessions.list(),
        lambda memory: memory.notes.libraries(),
        lambda memory: [(hit.node.id, hit.reasons, hit.evidence) for hit in memory.recall("rope 7", mode="strict")],
        lambda memory: type(memory.recall("rope 7")),
        lambda memory: type(memory.recall("rope 7").notes),
        lambda memory: memory.context("Who sails Andorinha?").text,
        lambda memory: memory.context("Who sails it?", exclude=[HumanMessage("Where is the boat Andorinha?")]).asked,
        lambda memory: [hit.node.id for hit in memory.recall_typed("rope", seed=4)],
    )  # fmt: skip
    for ask in same:
        assert ask(here) == ask(there)

    # And so are the errors
    nobody = "0" * 8 + "-0000-7000-8000-" + "0" * 12
    wrong: tuple[Callable[[biem.Memory], Any], ...] = (
        lambda memory: memory.get(nobody),
        lambda memory: memory.get("x"),
        lambda memory: memory.recall(" "),
        lambda memory: memory.remember("another text", ref="r1"),
        lambda memory: memory.revise(first, text="x", expect=9),
        lambda memory: memory.resolve(nobody, "keep_new"),
        lambda memory: memory.sessions.get(nobody),
        lambda memory: memory.notes.get("nowhere.md"),
        lambda memory: memory.feedback(useful=[nobody]),
    )
    for ask in wrong:
        assert raised(partial(ask, there)) is raised(partial(ask, here))
    assert {raised(lambda: there.get(nobody)), raised(lambda: there.remember("y", ref="r1"))} == {NotFound, RefConflict}
    assert key.user == there.bound_to.user


def test_changes_made_remotely_are_those_of_the_memory(site: Site, tmp_path: Path) -> None:
    here, there, _ = opened(site, project=None)
    one = there.remember("The code is 4711", expires_at=datetime.now(UTC) + timedelta(days=3))
    revised = there.revise(one, text="The code is 4712", expires_at=None, expect=1)
    assert replace(revised, energy=0.0) == replace(here.get(one), energy=0.0)
    assert raised(lambda: there.revise(one, text="x", expect=1)) is RevisionConflict
    assert there.revert(one, 1).text == "The code is 4711"
    assert (there.archive(one, "old"), there.archive(one), there.restore(one)) == (True, False, True)
    assert (there.quarantine(one, "lie"), here.get(one).quarantined, there.release(one)) == (True, True, True)

    # A file goes out and comes back, in another scope of the key
    report = there.export(tmp_path / "all.jsonl")
    assert (report.memories, report.path) == (1, str(tmp_path / "all.jsonl"))
    with pytest.raises(InvalidInput, match="overwrite"):
        there.export(tmp_path / "all.jsonl")
    stream = io.BytesIO()
    there.export(stream)
    other = there.scope(project="p2")
    assert other.import_(tmp_path / "all.jsonl").created == 1
    assert other.import_(io.BytesIO(stream.getvalue())).already_there == 1
    chat = tmp_path / "chat.jsonl"
    chat.write_text('{"role": "user", "content": "I live in Porto"}\n', encoding="utf-8")
    assert other.import_file(chat).stored == 1
    assert other.import_file(chat).already_there == 1
    assert other.move(biem.Scope("acme", other.bound_to.user, "p3"), every=True).memories == 2
    assert there.scope(project="p3").count() == 2
    assert there.erase(one).complete
    assert there.erase(user=there.bound_to.user).memories == 2

    # A session and its recorder, and the plugin on top
    session = there.sessions.open("chat")
    there.sessions.append(session.id, "user", "Hello from afar, I keep bees", importance=4.0)
    assert [each.content for each in here.sessions.messages(session.id)] == ["Hello from afar, I keep bees"]
    assert there.sessions.window(session.id, 500) == here.sessions.window(session.id, 500)
    plugin = biem.BIEMContextPlugin(there, conversation="c2")
    assert plugin.record_user_message("My bees live in Sintra") is not None
    assert "Sintra" in plugin.prepare_context("Where do my bees live?")


_WRONG: Mapping[str, Call] = {
    "text must be a string, not bytes": lambda memory, _: memory.remember(b"x"),
    "text must be a string, not datetime": lambda memory, _: memory.remember(datetime.now(UTC)),
    "reason must be a string, not bytes": lambda memory, _: memory.remember("x", reason=b"x"),
    "ref must be a string, not float": lambda memory, _: memory.remember("x", ref=float("nan")),
    "at must be a datetime, not str": lambda memory, _: memory.remember("x", at="2026-05-04T09:30:00Z"),
    "ttl must be a timedelta": lambda memory, _: memory.remember("x", ttl=5),
    "metadata cannot be stored as JSON: Object of type bytes": lambda memory, _: memory.remember(
        "x", metadata={"a": b"x"}
    ),
    "metadata cannot be stored as JSON: Out of range": lambda memory, _: memory.remember(
        "x", metadata={"a": float("nan")}
    ),
    "importance must be a number": lambda memory, _: memory.remember("x", importance=True),
    "importance must be a number from 1 to 5": lambda memory, _: memory.remember("x", importance=9.0),
    "kind 'fact' is unknown; choose one of knowledge": lambda memory, _: memory.remember("x", kind="fact"),
    "text has a lone surrogate": lambda memory, _: memory.remember("a\ud800"),
    "text has a NUL character": lambda memory, _: memory.remember("a\0"),
    "items must be a list of mappings": lambda memory, _: memory.remember_many("abc"),
    "item 1: text must be a string, not bytes; 0 items": lambda memory, _: memory.remember_many(
        [{"text": "y"}, {"text": b"x"}]
    ),
    "item 0: 'foo' is unknown; known are": lambda memory, _: memory.remember_many([{"text": "y", "foo": 1}]),
    "top_k must be a whole number": lambda memory, _: memory.recall("x", top_k=True),
    "top_k must be a whole number from 1 to 1,000, not -1": lambda memory, _: memory.recall("x", top_k=-1),
    "tags must be a list": lambda memory, _: memory.list(tags=b"x"),
    "limit must be a whole number": lambda memory, _: memory.list(limit=None),
    "order 'best' is unknown; choose one of newest": lambda memory, _: memory.list(order="best"),
    "after has a lone surrogate": lambda memory, _: memory.list(after="a\ud800"),
    "sentiment must be a": lambda memory, _: memory.recall("x", sentiment="ab"),
    "expect must be the number of a revision": lambda memory, one: memory.revise(one, text="y", expect=0),
    "revision must be": lambda memory, one: memory.revert(one, None),
    "to must be a Scope": lambda memory, _: memory.move("p", every=True),
    "is not an id": lambda memory, _: memory.erase(b"x"),
    "out must be a path or an open binary file": lambda memory, _: memory.export(None),
    "cannot be written: No such file": lambda memory, _: memory.export("/nowhere/at/all.jsonl"),
    "exists; choose another path": lambda memory, _: memory.export("/"),
    "source must be a path or an open binary file": lambda memory, _: memory.import_(None),
    "source is open as text": lambda memory, _: memory.import_(io.StringIO("x")),
    "the folder must be a path, not int": lambda memory, _: memory.notes.add(5),
    "relation 'next' is unknown": lambda memory, _: memory.notes.expand("x", "next"),
    "query must be a string, not bytes": lambda memory, _: memory.items.search(("a",), query=b"x"),
}


@pytest.mark.parametrize("said", list(_WRONG))
def test_wrong_arguments_are_refused_alike_here_and_there(site: Site, said: str) -> None:
    # Given one memory, here and through the server / When it is called with what it does not take
    here, there, _ = opened(site)
    one = here.remember("The boat is called Andorinha")
    for memory in (here, there):
        with pytest.raises(InvalidInput) as caught:
            _WRONG[said](memory, one)

        # Then both refuse it, in the same words, before anything is stored
        assert said in str(caught.value)
    assert here.count() == 1


@pytest.mark.parametrize(
    "call",
    [
        lambda memory: memory.count(foo=1),
        lambda memory: memory.list(foo=1),
        lambda memory: memory.timeline(foo=1),
        lambda memory: memory.context("x", foo=1),
        lambda memory: memory.export(io.BytesIO(), foo=1),
        lambda memory: memory.sessions.append(memory.sessions.open("c").id, "user", "x", foo=1),
    ],
)
def test_an_argument_that_a_method_does_not_have_is_a_type_error(
    site: Site, call: Callable[[biem.Memory], object]
) -> None:
    here, there, _ = opened(site)
    for memory in (here, there):
        with pytest.raises(TypeError, match=r"^got an unexpected keyword argument 'foo'; known are .*(kinds|tags), "):
            call(memory)


def test_what_does_not_fit_into_an_address_is_said(site: Site) -> None:
    _, there, _ = opened(site)
    for ask in (lambda: there.get("x" * 100_000), lambda: there.list(tags=["x" * 100_000])):
        with pytest.raises(InvalidInput, match="too long for an address"):
            ask()
    with pytest.raises(InvalidInput, match="memory_id is empty"):
        there.get("")


def test_containers_and_choices_of_the_facade_are_taken_there_as_well(site: Site) -> None:
    here, there, _ = opened(site)
    one = there.remember("The boat is called Andorinha", tags=("a", "b"), metadata={"n": (1, 2)}, wait=True)
    assert (here.get(one).tags, here.get(one).metadata) == (("a", "b"), {"n": [1, 2]})
    for memory in (here, there):
        assert memory.count(tags=("a",)) == memory.count(kinds=("knowledge",)) == 1
        assert memory.recall("boat", exclude=(one,)) == []
        assert memory.notes.verdicts(status=None) == []


def test_a_key_that_does_not_open_is_a_separate_error(site: Site) -> None:
    here, there, _ = opened(site, grants=["read"])
    assert raised(lambda: there.remember("x")) is AccessDenied
    assert raised(lambda: there.scope(user=uuid.uuid4().hex).count()) is AccessDenied
    assert raised(lambda: site.remote("biem_x").count()) is KeyInvalid
    assert here.count() == 0
