"""Changes of mirrored files and memories, as an editor, Git and a program make them, at random."""

import os
import random
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import biem
from biem.errors import InvalidInput, NotFound
from biem.layers.mirror.merge import same_text
from biem.layers.mirror.read import read

_FEW = 12
"""Files that one change of Git reaches, at most."""


class MirrorEdits:
    """A person at the files and a program at the memories. A person only adds lines, each with a word of its own.

    `typed` has these words while they stand in files: none of them may be lost.
    """

    def __init__(self, memory: biem.Memory, root: Path, seed: int) -> None:
        self._memory = memory
        self._root = root
        self._chance = random.Random(seed)
        self._number = 0
        self.typed: set[str] = set()
        git(root, "init")

    def step(self) -> None:
        """One change."""
        steps = (self._edit, self._edit, self._save, self._add, self._delete, self._move, self._revert, self._checkout)
        programs = (self._revise, self._revise, self._remember, self._archive)
        with suppress(FileNotFoundError, NotFound, InvalidInput):  # the other side was faster
            self._chance.choice((*steps, *programs))()

    def _word(self, who: str) -> str:
        self._number += 1
        return f"{who}{self._number:06d}"

    def _file(self) -> Path:
        return self._chance.choice(files(self._root) or [self._root / "none.md"])

    def _edit(self) -> None:
        """In place, as simple editors write."""
        file, word = self._file(), self._word("typed")
        with file.open("a", encoding="utf-8") as stream:
            stream.write(f"{word} by hand\n")
        self.typed.add(word)

    def _save(self) -> None:
        """Another file renamed over it, as most editors write."""
        file, word = self._file(), self._word("typed")
        other = file.with_name(f".{file.name}.swp")
        other.write_bytes(file.read_bytes() + f"{word} by hand\n".encode())
        other.replace(file)
        self.typed.add(word)

    def _add(self) -> None:
        word = self._word("typed")
        file = self._root / self._chance.choice(("core", "long_term/knowledge", "own")) / f"{word}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"A new file: {word} by hand\n", encoding="utf-8")
        self.typed.add(word)

    def _delete(self) -> None:
        file = self._file()
        self._drop(file.read_text(encoding="utf-8"))
        file.unlink()

    def _move(self) -> None:
        file = self._file()
        target = self._root / self._chance.choice(("long_term/decisions", "own")) / file.name
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.exists():
            file.rename(target)

    def _revert(self) -> None:
        """A commit, or some files as they were in the last one."""
        if self._chance.random() < 0.5:
            git(self._root, "add", "-A")
            git(self._root, "commit", "-qm", "x", "--allow-empty")
            return
        changed = git(self._root, "diff", "--name-only", "-z").split("\0")[:-1]
        for name in self._chance.sample(changed, min(len(changed), _FEW)):
            if (self._root / name).exists():
                self._drop((self._root / name).read_text(encoding="utf-8"))
            git(self._root, "checkout", "--", name)

    def _checkout(self) -> None:
        """Another branch, which begins some commits ago: files change, vanish and come back at once."""
        git(self._root, "add", "-A")
        git(self._root, "commit", "-qm", "x", "--allow-empty")
        past = git(self._root, "rev-list", "--max-count=5", "HEAD").split()
        before = self._said()
        git(self._root, "checkout", "-q", "-B", f"side{self._chance.randrange(3)}", self._chance.choice(past))
        self._drop(before - self._said())

    def _said(self) -> set[str]:
        """The words that stand in files now."""
        words: set[str] = set()
        for _ in range(2):  # a sync may be moving some
            for file in self._root.rglob("*.md"):
                with suppress(FileNotFoundError):
                    words.update(file.read_text(encoding="utf-8").split())
        return words

    def _drop(self, text: str | set[str]) -> None:
        """A person takes these words away."""
        words = text.split() if isinstance(text, str) else text
        self.typed.difference_update(word for word in words if word.startswith("typed"))

    def _revise(self) -> None:
        node = self._node()
        text = f"{node.text}\n{self._word('program')} by program"
        self._memory.revise(node.id, text=text, expect=node.revision)

    def _remember(self) -> None:
        self._memory.remember(f"A new memory: {self._word('program')}", layer="core")

    def _archive(self) -> None:
        node = self._node()
        self._drop(node.text)
        self._memory.archive(node.id)

    def _node(self) -> biem.Node:
        return self._chance.choice(self._memory.list(limit=100).items)


def files(root: Path) -> list[Path]:
    """The Markdown files of a root, without the archive."""
    found = []
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name not in (".git", "archive")]
        found += [Path(folder) / name for name in names if name.endswith(".md") and not name.startswith(".")]
    return sorted(found)


def git(folder: Path, *words: str) -> str:
    """The answer of Git, without settings of a user."""
    plain = [
        "git",
        "-c",
        "user.name=b",
        "-c",
        "user.email=b@b",
        "-c",
        "core.quotepath=off",
        "-c",
        "gc.auto=0",
        "-C",
        str(folder),
    ]
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1"}
    done = subprocess.run([*plain, *words], check=False, capture_output=True, env=environment)
    return done.stdout.decode()


def differences(memory: biem.Memory, root: Path, typed: set[str]) -> Iterator[str]:
    """What files and memories say differently, and words that a person typed and that no memory has or had."""
    nodes: dict[str, biem.Node] = {}
    after = ""
    while True:
        page = memory.list(limit=500, status="all", after=after)
        nodes |= {node.id: node for node in page.items}
        after = page.next
        if not after:
            break
    [at] = memory.mirror.roots()
    known = memory.mirror._system.records.files(at)
    held = {path for path, state, _ in memory.mirror.status()[0].troubled if state != "clean"}
    mirrored = {}
    for file in files(root):
        path = file.relative_to(root).as_posix()
        record = known.get(path)
        if path in held:
            continue
        if record is None or record.memory_id is None:
            yield f"{path} is no memory's"
            continue
        mirrored[record.memory_id] = path
        node, said = nodes[record.memory_id], read(path, file.read_bytes()).fields
        if node.status == "archived" or not same_text(node.text, said["text"]):
            yield f"{path} says something else than memory {node.id}"
    for node in nodes.values():
        if node.status != "archived" and node.id not in mirrored:
            yield f"memory {node.id} has no file"
    every = " ".join(node.text for node in nodes.values())
    lost = typed - set(every.split())
    told = {
        word
        for word in lost
        for node in nodes.values()
        if any(word in each.text.split() for each in memory.revisions(node.id))
    }
    kept = {word for word in lost - told if any(word in (root / path).read_text() for path in held)}
    yield from (f"{word} is lost" for word in sorted(lost - told - kept))
