"""Random changes of a folder of notes: what people and programs do to files, by a seed."""

import os
import random
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

_WORDS = ["river", "engine", "garden", "港口", "灯塔", "copper", "织机", "winter", "signal", "果园", "ladder", "mirror"]
_BROKEN, _MENDED = "---\ntags: [one, two\n---\n", "---\ntags: [one, two]\n---\n"
_LONG = 30_000
"""Words of a paragraph that is one line."""


class VaultEdits:
    """Writes, edits, moves and deletes Markdown files below `root`; the same seed does the same.

    Beside what a person does with an editor, there is what other programs do: names that change their case, two files
    that change places, a folder with the name of a file, links, times set back, other encodings, broken front matter.
    """

    def __init__(self, root: Path, seed: int) -> None:
        self._root = root
        self._random = random.Random(seed)
        self._number = 0
        self._usual: list[Callable[[list[Path]], None]] = [
            *(self._write, self._paragraph, self._section, self._shuffle, self._move, self._copy, self._folder),
        ]
        self._odd: list[Callable[[list[Path]], None]] = [
            *(self._case, self._trade, self._become_folder, self._link, self._hard_link, self._older, self._unseen),
            *(self._encoding, self._front, self._line, self._deep, self._ignore, self._save),
        ]

    def step(self, kind: str = "") -> str:
        """One change; returns its kind. `kind` chooses it."""
        files = sorted(file for file in self._root.rglob("*.md") if file.is_file() and not file.is_symlink())
        kinds = [*self._usual, *self._odd, self._delete, self._delete]
        if kind:
            chosen = next(each for each in kinds if each.__name__ == f"_{kind}")
        else:
            chosen = self._random.choice(kinds if len(files) > 3 else [self._write])
        with suppress(FileNotFoundError):  # a folder of the way was moved by the step itself
            chosen(files)
        return chosen.__name__.strip("_")

    @property
    def odd(self) -> list[str]:
        """The kinds that programs other than editors do."""
        return [each.__name__.strip("_") for each in self._odd]

    def _write(self, _: list[Path]) -> None:
        self._number += 1
        folder = self._root / self._random.choice(["", "a", "b", "b/c", "深"])
        folder.mkdir(parents=True, exist_ok=True)
        parts = [f"# {self._random.choice(_WORDS)} {self._number}", *(self._text() for _ in range(3))]
        (folder / f"note-{self._number}.md").write_text("\n\n".join(parts) + "\n", encoding="utf-8")

    def _paragraph(self, files: list[Path]) -> None:
        file = self._random.choice(files)
        parts = self._read(file).split("\n\n")
        parts[self._random.randrange(len(parts))] = self._text()
        file.write_text("\n\n".join(parts), encoding="utf-8")

    def _section(self, files: list[Path]) -> None:
        file = self._random.choice(files)
        file.write_text(f"{self._read(file)}\n\n{self._text()}\n", encoding="utf-8")

    def _shuffle(self, files: list[Path]) -> None:
        file = self._random.choice(files)
        parts = self._read(file).split("\n\n")
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

    # -- what other programs do --------------------------------------------------------------------------------------

    def _case(self, files: list[Path]) -> None:
        """A name in capitals, or no longer."""
        file = self._random.choice(files)
        file.rename(file.with_name(file.stem.swapcase() + ".md"))

    def _trade(self, files: list[Path]) -> None:
        """Two files change places."""
        one, other = self._random.sample(files, 2)
        aside = self._root / "aside.tmp"
        one.rename(aside)
        other.rename(one)
        aside.rename(other)

    def _become_folder(self, files: list[Path]) -> None:
        """A file makes way for a folder of its name, which has it inside; such a folder becomes a file again."""
        folders = [
            path for path in sorted(self._root.rglob("*.md")) if path.is_dir() and (path / "inside.md").is_file()
        ]
        if folders:
            folder = self._random.choice(folders)
            text = (folder / "inside.md").read_bytes()
            shutil.rmtree(folder)
            folder.write_bytes(text)
            return
        file = self._random.choice(files)
        text = file.read_bytes()
        file.unlink()
        file.mkdir()
        (file / "inside.md").write_bytes(text)

    def _link(self, files: list[Path]) -> None:
        """A link takes the place of a file: to another file, or to one outside of the folder."""
        one, other = self._random.sample(files, 2)
        one.unlink()
        one.symlink_to(self._random.choice([other, Path(__file__).resolve(), self._root / "nothing.md"]))

    def _hard_link(self, files: list[Path]) -> None:
        self._number += 1
        os.link(self._random.choice(files), self._root / f"hard-{self._number}.md")

    def _older(self, files: list[Path]) -> None:
        """Another text with a time of years ago, as from an archive."""
        file = self._random.choice(files)
        file.write_text(f"# Restored\n\n{self._text()}\n", encoding="utf-8")
        os.utime(file, (1_000_000_000, 1_000_000_000 + self._random.randrange(9)))

    def _unseen(self, files: list[Path]) -> None:
        """A text of the same size in the same file, whose time is set back."""
        file = self._random.choice(files)
        stat, text = file.stat(), file.read_bytes()
        place = text.find(b" the ")
        if place >= 0:
            with file.open("r+b") as stream:
                stream.seek(place)
                stream.write(b" one ")
            os.utime(file, ns=(stat.st_atime_ns, stat.st_mtime_ns))

    def _encoding(self, files: list[Path]) -> None:
        """GB18030 instead of UTF-8, and back."""
        file = self._random.choice(files)
        data = file.read_bytes()
        try:
            file.write_bytes(data.decode("utf-8").encode("gb18030"))
        except UnicodeDecodeError:
            file.write_bytes(data.decode("gb18030").encode("utf-8"))

    def _front(self, files: list[Path]) -> None:
        """Front matter that is broken, then mended, then gone."""
        file = self._random.choice(files)
        text = self._read(file)
        if text.startswith(_BROKEN):
            text = _MENDED + text.removeprefix(_BROKEN)
        elif text.startswith(_MENDED):
            text = text.removeprefix(_MENDED)
        else:
            text = _BROKEN + text
        file.write_text(text, encoding="utf-8")

    def _line(self, files: list[Path]) -> None:
        """A line of a quarter of a megabyte."""
        file = self._random.choice(files)
        words = " ".join(self._random.choices(_WORDS, k=_LONG))
        file.write_text(f"# Line\n\n{words}\n", encoding="utf-8")

    def _deep(self, files: list[Path]) -> None:
        """A folder within thirty others, and quotes within quotes."""
        self._number += 1
        folder = self._root.joinpath(*["deep"] * 30)
        folder.mkdir(parents=True, exist_ok=True)
        text = "\n".join(f"{'> ' * level}- {self._random.choice(_WORDS)}" for level in range(1, 60))
        (folder / f"deep-{self._number}.md").write_text(f"{text}\n", encoding="utf-8")
        self._random.choice(files).touch()

    def _ignore(self, files: list[Path]) -> None:
        """A line more in an ignore file, or all of it gone."""
        rules = self._root / self._random.choice([".gitignore", ".biemignore"])
        if rules.exists() and self._random.random() < 0.6:
            rules.unlink()
            return
        with rules.open("a", encoding="utf-8") as stream:
            stream.write(
                f"{self._random.choice(['copy-*.md', '/a/', 'b/c', '!keep.md', self._random.choice(files).name])}\n"
            )

    def _save(self, files: list[Path]) -> None:
        """As editors save: a new file takes the place of the old one."""
        file = self._random.choice(files)
        aside = file.with_name(file.name + ".tmp")
        aside.write_text(f"{self._read(file)}\n\n{self._text()}\n", encoding="utf-8")
        aside.replace(file)

    # -- texts ---------------------------------------------------------------------------------------------------------

    def _read(self, file: Path) -> str:
        data = file.read_bytes()
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError:
            return data.decode("gb18030", errors="replace")

    def _text(self) -> str:
        words = " ".join(self._random.choices(_WORDS, k=4))
        heading = f"## {self._random.choice(_WORDS)}\n\n" if self._random.random() < 0.6 else ""
        return f"{heading}The {words} has “{self._random.choice(_WORDS)} {self._random.randrange(9)}” in it."
