"""What is known of the files of a library."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from biem.domain.note import FileStat
from biem.lazy import lazy


class KnownNote(NamedTuple):
    """A file as the last scan left it."""

    stat: FileStat
    sha256: bytes = b""
    """Of its bytes; empty where they were never read."""
    skipped: bool = False


@dataclass(frozen=True, eq=False)
class KnownFiles(Mapping[str, KnownNote]):
    """Known files by path, in columns of one length; each note is made when it is asked for.

    Of most files nothing is wanted but that they are as they were. Ten thousand objects take longer to make than to
    compare, and bring a full garbage collection of the program about; lists of numbers and texts do not.
    """

    paths: Sequence[str]
    sizes: Sequence[int]
    mtimes_ns: Sequence[int]
    inodes: Sequence[str]
    """In decimal digits: PostgreSQL has no unsigned numbers of 64 bits."""
    hashes: Sequence[bytes]
    skipped: Sequence[bool]

    @lazy
    def _places(self) -> Mapping[str, int]:
        return {path: place for place, path in enumerate(self.paths)}

    def has(self, file: FileStat) -> bool:
        """Whether a file of this path is known with this size, time and inode."""
        place = self._places.get(file.path)
        return (
            place is not None
            and self.sizes[place] == file.size
            and self.mtimes_ns[place] == file.mtime_ns
            and int(self.inodes[place]) == file.inode
        )

    def is_skipped(self, path: str) -> bool:
        """Whether the last scan skipped this known path."""
        return self.skipped[self._places[path]]

    def __getitem__(self, path: str) -> KnownNote:
        place = self._places[path]
        stat = FileStat(path, self.sizes[place], self.mtimes_ns[place], int(self.inodes[place]))
        return KnownNote(stat, bytes(self.hashes[place]), self.skipped[place])

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def __contains__(self, path: object) -> bool:
        return path in self._places


NO_FILES = KnownFiles((), (), (), (), (), ())
