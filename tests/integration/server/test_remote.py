"""`biem.remote` next to the memory itself, in one scope: the same results, types and errors."""

import io
import uuid
from collections.abc import Callable
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


def test_a_key_that_does_not_open_is_a_separate_error(site: Site) -> None:
    here, there, _ = opened(site, grants=["read"])
    assert raised(lambda: there.remember("x")) is AccessDenied
    assert raised(lambda: there.scope(user=uuid.uuid4().hex).count()) is AccessDenied
    assert raised(lambda: site.remote("biem_x").count()) is KeyInvalid
    assert here.count() == 0
