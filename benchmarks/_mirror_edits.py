"""Changes of mirrored files and memories, as an editor, Git and a program make them, at random."""

import os
import random
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import biem
from biem.errors import InvalidInput, NotFound
from biem.layers.mirror.merge import same_text
from biem.layers.mirror.read import read

_MARK = b"\xef\xbb\xbf"
_FEW = 12
"""Files that one change of Git reaches, at most."""


class MirrorEdits:
    """A person at the files and a program at the memories. A person only adds lines, each with a word of its own.

    `typed` has these words while they stand in files: none of them may be lost. `faults` has what was seen on the way.
    """

    def __init__(self, memory: biem.Memory, root: Path, seed: int) -> None:
        self._memory = memory
        self._root = root
        self._chance = random.Random(seed)
        self._number = 0
        self.typed: set[str] = set()
        self.faults: list[str] = []
        git(root, "init")

    def step(self) -> None:
        """One change."""
        editor = (self._edit, self._save, self._save_with_backup, self._save_in_parts, self._convert, self._add)
        folder = (self._delete, self._move, self._rename_case, self._set_time, self._move_root)
        history = (self._revert, self._checkout, self._cut_checkout, self._stash)
        steps = (*editor, *editor, *folder, *history)
        programs = (self._revise, self._revise, self._remember, self._archive, self._restore)
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

    def _save_with_backup(self) -> None:
        """The old file renamed to a backup, a new one written in its place: for a moment there is none."""
        file, word = self._file(), self._word("typed")
        data = file.read_bytes()
        backup = file.with_name(f"{file.name}~")
        file.rename(backup)
        self._pause()
        file.write_bytes(data + f"{word} by hand\n".encode())
        backup.unlink()
        self.typed.add(word)

    def _save_in_parts(self) -> None:
        """In place from its beginning: for a moment the file is empty, then half of it is there."""
        file, word = self._file(), self._word("typed")
        data = file.read_bytes() + f"{word} by hand\n".encode()
        with file.open("r+b", buffering=0) as stream:
            stream.truncate()
            self._pause()
            stream.write(data[: len(data) // 2])
            self._pause()
            stream.write(data[len(data) // 2 :])
        self.typed.add(word)

    def _convert(self) -> None:
        """The line breaks of Windows, or back, and a byte order mark or none."""
        file = self._file()
        data = file.read_bytes()
        if self._chance.random() < 0.3:
            data = data.removeprefix(_MARK) if data.startswith(_MARK) else _MARK + data
        plain = data.replace(b"\r\n", b"\n")
        file.write_bytes(plain if plain != data else plain.replace(b"\n", b"\r\n"))

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

    def _rename_case(self) -> None:
        """Another name that is the same where systems do not tell case."""
        file = self._file()
        file.rename(file.with_name(f"{file.stem.swapcase()}.md"))

    def _set_time(self) -> None:
        """A line, and a time far away, as after a restore from a backup or a jump of the clock."""
        file, word = self._file(), self._word("typed")
        with file.open("a", encoding="utf-8") as stream:
            stream.write(f"{word} by hand\n")
        at = self._chance.choice((0, 1_000_000_000, 4_000_000_000)) + self._number
        os.utime(file, (at, at))
        self.typed.add(word)

    def _move_root(self) -> None:
        """The whole folder elsewhere, and back."""
        elsewhere = self._root.with_name(f"{self._root.name} elsewhere")
        self._root.rename(elsewhere)
        self._pause()
        if self._root.exists():
            self.faults.append("a folder was made anew while it was moved away")
            for made in self._root.rglob("*"):
                self.faults.append(f"made anew: {made.relative_to(self._root)}")
            shutil.rmtree(self._root)
        elsewhere.rename(self._root)

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

    def _cut_checkout(self) -> None:
        """A checkout that is killed, and made whole by another one."""
        git(self._root, "add", "-A")
        git(self._root, "commit", "-qm", "x", "--allow-empty")
        past = git(self._root, "rev-list", "--max-count=5", "HEAD").split()
        before = self._said()
        with suppress(subprocess.TimeoutExpired):
            git(self._root, "checkout", "-q", self._chance.choice(past), within_s=self._chance.uniform(0.001, 0.03))
        self._pause()
        (self._root / ".git" / "index.lock").unlink(missing_ok=True)
        git(self._root, "checkout", "-q", "-f", "-B", "cut", self._chance.choice(past))
        self._drop(before - self._said())

    def _stash(self) -> None:
        """Changes put away and taken back; where that cannot be, as somebody else changed them, they are given up."""
        before = self._said()
        git(self._root, "stash", "--include-untracked", "-q")
        self._pause()
        git(self._root, "stash", "pop", "-q")
        if git(self._root, "stash", "list"):
            git(self._root, "checkout", "-q", "-f", "HEAD")
            git(self._root, "stash", "drop", "-q")
        self._drop(before - self._said())

    def _pause(self) -> None:
        time.sleep(self._chance.choice((0.0, 0.005, 0.05, 0.5)))

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

    def _restore(self) -> None:
        self._memory.restore(
            self._chance.choice(self._memory.list(limit=100, status="archived").items or [self._node()]).id
        )

    def _node(self) -> biem.Node:
        return self._chance.choice(self._memory.list(limit=100).items)


def files(root: Path) -> list[Path]:
    """The Markdown files of a root, without the archive."""
    found = []
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name not in (".git", "archive")]
        found += [Path(folder) / name for name in names if name.endswith(".md") and not name.startswith(".")]
    return sorted(found)


def git(folder: Path, *words: str, within_s: float | None = None) -> str:
    """The answer of Git, without settings of a user; it is killed after `within_s`."""
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
    done = subprocess.run([*plain, *words], check=False, capture_output=True, env=environment, timeout=within_s)
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
        if node.status == "archived":
            yield f"{path} is not in the archive, but memory {node.id} is archived"
        elif not same_text(node.text, said["text"]):
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
