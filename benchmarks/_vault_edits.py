"""Random changes of a folder of notes: what people and programs do to files, by a seed."""

import random
import shutil
from pathlib import Path

_WORDS = ["river", "engine", "garden", "港口", "灯塔", "copper", "织机", "winter", "signal", "果园", "ladder", "mirror"]


class VaultEdits:
    """Writes, edits, moves and deletes Markdown files below `root`; the same seed does the same."""

    def __init__(self, root: Path, seed: int) -> None:
        self._root = root
        self._random = random.Random(seed)
        self._number = 0

    def step(self) -> str:
        """One change; returns its kind."""
        files = sorted(self._root.rglob("*.md"))
        kinds = [self._write, self._paragraph, self._section, self._swap, self._move, self._copy, self._folder]
        kind = self._random.choice([*kinds, self._delete] if len(files) > 3 else [self._write])
        kind(files)
        return kind.__name__.strip("_")

    def _write(self, _: list[Path]) -> None:
        self._number += 1
        folder = self._root / self._random.choice(["", "a", "b", "b/c", "深"])
        folder.mkdir(parents=True, exist_ok=True)
        parts = [f"# {self._random.choice(_WORDS)} {self._number}", *(self._text() for _ in range(3))]
        (folder / f"note-{self._number}.md").write_text("\n\n".join(parts) + "\n", encoding="utf-8")

    def _paragraph(self, files: list[Path]) -> None:
        file = self._random.choice(files)
        parts = file.read_text(encoding="utf-8").split("\n\n")
        parts[self._random.randrange(len(parts))] = self._text()
        file.write_text("\n\n".join(parts), encoding="utf-8")

    def _section(self, files: list[Path]) -> None:
        with self._random.choice(files).open("a", encoding="utf-8") as file:
            file.write(f"\n\n{self._text()}\n")

    def _swap(self, files: list[Path]) -> None:
        file = self._random.choice(files)
        parts = file.read_text(encoding="utf-8").split("\n\n")
        self._random.shuffle(parts)
        file.write_text("\n\n".join(parts), encoding="utf-8")

    def _move(self, files: list[Path]) -> None:
        target = self._root / self._random.choice(["a", "d"])
        target.mkdir(exist_ok=True)
        file = self._random.choice(files)
        self._number += 1
        file.rename(target / f"moved-{self._number}.md")

    def _copy(self, files: list[Path]) -> None:
        self._number += 1
        shutil.copy(self._random.choice(files), self._root / f"copy-{self._number}.md")

    def _folder(self, _: list[Path]) -> None:
        folders = sorted(path for path in self._root.iterdir() if path.is_dir())
        if folders:
            self._number += 1
            self._random.choice(folders).rename(self._root / f"folder-{self._number}")

    def _delete(self, files: list[Path]) -> None:
        self._random.choice(files).unlink()

    def _text(self) -> str:
        words = " ".join(self._random.choices(_WORDS, k=4))
        heading = f"## {self._random.choice(_WORDS)}\n\n" if self._random.random() < 0.6 else ""
        return f"{heading}The {words} has “{self._random.choice(_WORDS)} {self._random.randrange(9)}” in it."
