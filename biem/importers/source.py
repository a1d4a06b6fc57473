"""Reads what an import names: opens each file, recognises its format, and passes it to the reader of that format."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from biem.errors import InvalidInput
from biem.importers import chatgpt, claude, claude_code, markdown, mcp_memory, mem0
from biem.importers.encodings import Encoding, as_utf8, encoding_of
from biem.importers.files import DAMAGED, File, files
from biem.importers.formats import detect, require_format, unknown
from biem.importers.json_stream import BrokenJson
from biem.importers.record import BadLine, Entry, LeftOut
from biem.importers.transcripts import TranscriptReader

Reader = Callable[[File, BinaryIO], Iterator[Entry]]
READERS: dict[str, Reader] = {
    "chatgpt": chatgpt.read,
    "claude": claude.read,
    "claude-code": claude_code.read,
    "mem0": mem0.read,
    "mcp-memory": mcp_memory.read,
    "markdown": markdown.read,
}
"""All formats except the transcripts, which have one reader for a whole import."""
_OF_LINES = ("jsonl", "claude-code", "mcp-memory")
"""Formats in which a byte that is not UTF-8 spoils one line."""


@dataclass(slots=True)
class ImportSource:
    """One pass over files and folders. `format` is one of `FORMATS`; None: that of each file is recognised."""

    sources: Sequence[str]
    format: str | None = None
    per_conversation: bool = False
    """As of `TranscriptReader`."""
    size: int | None = None
    """Bytes on the disk; None where a folder or stdin makes it unknown."""
    bytes_read: int = 0
    files: int = 0
    """Files whose format was recognised, so far."""
    _unknown: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        require_format(self.format)
        paths = [Path(source) for source in self.sources]
        if all(path.is_file() for path in paths):
            self.size = sum(path.stat().st_size for path in paths)

    def entries(self) -> Iterator[Entry]:
        """What all readers find, lazily. Raises `InvalidInput` where nothing is of a known format."""
        for source in self.sources:
            if source == "-":
                yield from self._stdin()
                continue
            before, broken = self.files, False
            for found in files(source):
                for entry in self._file(found) if isinstance(found, File) else [found]:
                    broken |= isinstance(entry, BadLine)
                    yield entry
            if self.files == before and not broken:
                raise InvalidInput(unknown(source, "; ".join(self._unknown[:3]) or "no file to import"))

    def _stdin(self) -> Iterator[Entry]:
        if self.format not in (None, "jsonl"):
            raise InvalidInput(f"stdin is read as jsonl; pass a file for {self.format}")
        self.files += 1
        yield from TranscriptReader("-", self.per_conversation).read()

    def _file(self, file: File) -> Iterator[Entry]:
        try:
            with closing(file.opened(_ignored)) as stream:
                encoding = encoding_of(stream)
            chosen, seen = self._format_of(file, encoding)
            if chosen is None:
                if file.alone:
                    raise InvalidInput(unknown(file.name, seen))
                self._unknown.append(f"{file.path}: {seen}")
                yield LeftOut("file of another format")
                return
            self.files += 1
            if not encoding.codec and chosen not in _OF_LINES:
                yield BadLine(file.name, 0, 0, _not_text(encoding))
                return
            with closing(file.opened(self._count)) as stream:
                yield from self._records(chosen, file, as_utf8(stream, encoding.codec or "utf-8"))
        except BrokenJson as error:
            yield BadLine(file.name, 0, 0, f"the JSON breaks off {error}")
        except DAMAGED as error:
            yield BadLine(file.name, 0, 0, f"the compressed file is damaged or cut off ({error})")
        except OSError as error:
            yield BadLine(file.name, 0, 0, f"cannot be read: {error.strerror or error}")

    def _format_of(self, file: File, encoding: Encoding) -> tuple[str | None, str]:
        if self.format is not None and file.alone:
            return self.format, ""
        with closing(file.opened(_ignored)) as stream:
            found, seen = detect(as_utf8(stream, encoding.codec or "utf-8"), file.path, alone=file.alone)
        return (found if self.format in (None, found) else None), seen

    def _records(self, chosen: str, file: File, stream: BinaryIO) -> Iterator[Entry]:
        if chosen == "jsonl":
            return TranscriptReader(file.name, self.per_conversation).read_lines(stream)
        return READERS[chosen](file, stream)

    def _count(self, size: int) -> None:
        self.bytes_read += size


def _ignored(_size: int) -> None:
    pass


def _not_text(encoding: Encoding) -> str:
    return (
        f"neither UTF-8, UTF-16 nor GBK (byte 0x{encoding.wrong_byte:02X} at position {encoding.wrong_at:,}); convert "
        "it, for example with iconv -t utf-8"
    )
