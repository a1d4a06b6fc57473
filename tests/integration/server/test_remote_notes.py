"""`notes` of a remote memory next to `memory.notes`: folders within those that the operator opened, and no others."""

import uuid
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

import biem
from biem.client.memory import RemoteMemory
from biem.domain.access.key import IssuedKey
from biem.errors import AccessDenied, InvalidInput, NotFound
from tests.integration.server.conftest import Site
from tests.support.life_workloads import ONLY_SLEEP

LOG = """# Log

The boat is moored at the pier. #harbour

## Spring

The mast was painted in spring.

## Autumn

The sails were mended in autumn.
"""


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that the operator opened, with one for each user."""
    return tmp_path_factory.mktemp("notes")


@pytest.fixture(scope="module")
def site(begin: Callable[..., Site], root: Path) -> Site:
    """Two servers whose users have folders of notes."""
    return begin(folders=[f"{root}/{{tenant}}/{{user}}"], sleep=ONLY_SLEEP)


def keeper(site: Site, root: Path, **more: object) -> tuple[biem.Memory, RemoteMemory, Path, IssuedKey]:
    """A user with a folder with one note: the memory here and there."""
    key = site.key(**more)  # type: ignore[arg-type]
    folder = root / "acme" / str(key.key.user) / "log"
    folder.mkdir(parents=True)
    (folder / "boat.md").write_text(LOG)
    here = site.backends[0].memory.scope(tenant="acme", user=key.key.user, project="")
    return here, site.remote(key.token, at=1), folder, key


def test_every_verb_of_notes_works_from_afar(site: Site, root: Path) -> None:
    # Given a folder that is registered from afar, by its relative name, and read
    here, there, folder, _ = keeper(site, root)
    library = there.notes.add("log", name="log", exclude=["drafts/"])
    assert (library.root, library.host, library.exclude) == (str(folder), "", ("drafts/",))
    assert there.notes.add(folder, name="log").id == library.id
    assert there.notes.sync("log").libraries[0].new == 1

    # When it is read here and there / Then the answers are equal
    assert [hit.chunk for hit in there.notes.search("painted mast")] == [
        hit.chunk for hit in here.notes.search("painted mast")
    ]
    hit = there.notes.search("painted mast")[0]
    assert hit.chunk.body == "The mast was painted in spring."
    for relation in ("siblings", "parent", "children"):
        assert there.notes.expand(hit, relation, top_k=9) == here.notes.expand(hit, relation, top_k=9)
    assert [each.body for each in there.notes.expand(hit.chunk.id, "siblings")] == ["The sails were mended in autumn."]
    assert there.notes.tags() == here.notes.tags()
    assert there.notes.lint("log") == there.notes.lint() == here.notes.lint("log")
    assert there.notes.stats()[0].files == here.notes.stats()[0].files

    # And changes made there are those of the memory
    there.notes.rename_tag("harbour", "port")
    assert "port" in {tag.root_shown for tag in here.notes.tags("harbour")}
    there.notes.rename_tag("harbour", undo=True)
    receipt = there.notes.erase("boat.md")
    assert {each.after for each in receipt.stores} == {0}
    with pytest.raises(NotFound):
        here.notes.get("boat.md")
    assert there.notes.remove("log") == 0
    assert here.notes.libraries() == []
    assert (folder / "boat.md").read_text() == LOG


def test_verdicts_of_notes_are_read_and_decided_from_afar(site: Site, root: Path) -> None:
    # Given a memory that a note contradicts
    here, there, folder, owner = keeper(site, root)
    fact = here.remember("The office rent is 1200 euros a month.", wait=True)
    (folder / "office.md").write_text("# Office\n\nThe office rent is 1500 euros a month.\n")
    there.notes.add(folder, name="log")
    there.notes.sync()
    here._system.notes.facts().run(here.bound_to)

    # When it is read from afar / Then the verdict is the one that is known there
    [verdict] = there.notes.verdicts()
    assert (verdict.memory_id, verdict.kind, verdict.place) == (fact, "contradicts", "office.md:3")
    assert [verdict] == here.notes.verdicts()
    for memory in (here, there):
        with pytest.raises(InvalidInput):
            memory.notes.decide(verdict.id, "neither")
        with pytest.raises(InvalidInput):
            memory.notes.verdicts(status="unknown")  # type: ignore[arg-type]
    with pytest.raises(AccessDenied):
        site.remote(site.key(owner.key.user, "", ("read",)).token).notes.decide(verdict.id, "note")

    # When the memory is believed from afar / Then the verdict is no longer open
    assert there.notes.decide(verdict.id, "memory") == verdict
    assert there.notes.verdicts() == []
    assert [each.status for each in there.notes.verdicts(status=None, limit=1)] == ["dismissed"]

    # And when the note is believed / Then the memory is archived
    there.notes.decide(verdict.id, "note")
    assert here.get(fact).status == "archived"
    assert there.notes.verdicts(status=None) == []


def test_wrong_requests_are_the_facades_errors(site: Site, root: Path) -> None:
    here, there, folder, _ = keeper(site, root)
    for memory in (here, there):
        with pytest.raises(NotFound):
            memory.notes.expand(str(uuid.uuid4()), "siblings")
        with pytest.raises(NotFound):
            memory.notes.expand("no id", "siblings")
        with pytest.raises(NotFound):
            memory.notes.remove("nothing")
        with pytest.raises(NotFound):
            memory.notes.erase("nothing.md")
        with pytest.raises(NotFound):
            memory.notes.rename_tag("nothing", "something")
    with pytest.raises(NotFound):
        there.notes.lint(folder)
    with pytest.raises(InvalidInput, match="no folder"):
        there.notes.add("missing")
    with pytest.raises(InvalidInput, match="no folder"):
        there.notes.add(folder / "boat.md")


def test_an_unknown_library_is_not_found_and_the_known_ones_are_named(site: Site, root: Path) -> None:
    # Given a scope without libraries / When one is named / Then it is not found, here and there, nor elsewhere searched
    here, there, folder, _ = keeper(site, root)
    for memory in (here, there):
        with pytest.raises(NotFound, match=r"no library 'boats' in .*; there is none yet"):
            memory.notes.search("painted mast", library="boats")

    # And once there is another / Then that one is named by every call
    there.notes.add(folder, name="log")
    for memory in (here, there):
        notes = memory.notes
        with pytest.raises(NotFound, match=r"no library 'boats' in .*; known: 'log'"):
            notes.search("painted mast", library="boats")
        for call in (notes.sync, notes.remove):
            with pytest.raises(NotFound, match=r"no library 'boats' in .*; known: 'log'"):
                call("boats")
    with pytest.raises(NotFound, match=r"no library 'boats' in .*; known: 'log'"):
        there.notes.lint("boats")
    assert there.notes.search("painted mast", library="log") == []


def test_folders_of_others_and_of_the_server_are_refused(site: Site, root: Path) -> None:
    # Given a key that may do everything in its scope, and the folder of another user
    _, there, mine, _ = keeper(site, root)
    here, _, theirs, _ = keeper(site, root)
    (mine / "link").symlink_to(theirs)

    # When it registers other folders / Then each is refused with the same words
    said = set()
    for folder in ("/", "/etc", str(root), str(theirs), "..", f"../{theirs.parent.name}/log", "log/link", "/nowhere"):
        with pytest.raises(AccessDenied) as refused:
            there.notes.add(folder)
        said.add(str(refused.value))
    assert len(said) == 1
    assert here.notes.libraries() == []


def test_a_folder_that_became_a_link_is_not_read(site: Site, root: Path) -> None:
    # Given a library whose folder was replaced by a link to that of another user
    _, there, mine, _ = keeper(site, root)
    _, _, theirs, _ = keeper(site, root)
    (theirs / "secret.md").write_text("# Secret\n\nThe vault is behind the mirror.\n")
    there.notes.add(mine, name="log")
    there.notes.sync()
    mine.rename(mine.with_name("former"))
    mine.symlink_to(theirs)

    # When it is read again / Then nothing of theirs is found, nothing is lost, and the report says why
    report = there.notes.sync().libraries[0]
    assert "leads to another folder" in report.reason
    assert "vault" not in " ".join(hit.chunk.body for hit in there.notes.search("vault behind the mirror"))
    assert [page.path for page in [there.notes.get("boat.md").note]] == ["boat.md"]


def test_a_key_may_do_with_notes_what_it_is_granted(site: Site, root: Path) -> None:
    # Given keys of one scope that may read, and read and write
    _, _, folder, owner = keeper(site, root)
    reader, writer = (
        site.remote(site.key(owner.key.user, "", grants).token) for grants in (("read",), ("read", "write"))
    )

    # When they use each verb / Then what changes needs write, and what destroys needs erase
    for change in (
        lambda: reader.notes.add(folder),
        lambda: reader.notes.sync(),
        lambda: reader.notes.rename_tag("a", "b"),
        lambda: writer.notes.remove("log"),
        lambda: writer.notes.erase("boat.md"),
    ):
        with pytest.raises(AccessDenied):
            change()
    writer.notes.add(folder, name="log")
    writer.notes.sync()
    assert reader.notes.get("boat.md").note.title == "Log"
    assert reader.notes.lint() == writer.notes.lint()


def test_a_server_without_open_folders_takes_none(begin: Callable[..., Site], tmp_path: Path) -> None:
    closed = begin(sleep=ONLY_SLEEP)
    browser: httpx.Client = closed.browser(closed.key().token)
    answer = browser.post("/v1/notes/libraries", json={"root": str(tmp_path)})
    assert answer.status_code == 403
    assert "--notes-root" in answer.json()["detail"]
