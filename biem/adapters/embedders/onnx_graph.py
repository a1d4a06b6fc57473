"""The encoder of e5 as an ONNX graph, serialised directly: thirty lines of protobuf instead of the `onnx` package.

Matrices stay 4-bit (`MatMulNBits`, whose blocks of 32 are the file's own with nibbles in another order) and activations
are rounded to 8 bits per block of 32, as in the C engine: each row separately, so a vector does not depend on its
batch. The embedding table stays outside, in the mapped file: the caller looks up its rows and adds the positions.
"""

import struct
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biem.adapters.embedders.e5_weights import BLOCK, Weights, scales

_FLOAT, _INT32 = 1, 6
_TYPES = {"float32": _FLOAT, "uint8": 2, "int32": _INT32}
_EIGHT_BIT_ACTIVATIONS = 4
_MICROSOFT = "com.microsoft"
_IR_VERSION, _OPSET = 9, 18


def _varint(number: int) -> bytes:
    out = bytearray()
    number &= (1 << 64) - 1
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
    return bytes(out)


def _before(tag: int, length: int) -> bytes:
    return _varint(tag << 3 | 2) + _varint(length)


def _bytes(tag: int, content: bytes) -> bytes:
    return _before(tag, len(content)) + content


def _text(tag: int, content: str) -> bytes:
    return _bytes(tag, content.encode())


def _int(tag: int, number: int) -> bytes:
    return _varint(tag << 3) + _varint(number)


def _attribute(name: str, value: int | float) -> bytes:
    if isinstance(value, float):
        return _text(1, name) + _varint(2 << 3 | 5) + struct.pack("<f", value) + _int(20, 1)
    return _text(1, name) + _int(3, value) + _int(20, 2)


def _value(name: str, kind: int, shape: Sequence[int | str]) -> bytes:
    dims = b"".join(_bytes(1, _int(1, d) if isinstance(d, int) else _text(2, d)) for d in shape)
    return _text(1, name) + _bytes(2, _bytes(1, _int(1, kind) + _bytes(2, dims)))


class _Graph:
    """Collects nodes and constants."""

    def __init__(self) -> None:
        self.nodes: list[bytes] = []
        self.constants: list[list[bytes]] = []
        """Each in parts, because the weights are large and every `+` copies them."""

    def constant(self, name: str, array: NDArray[Any]) -> str:
        dims = b"".join(_int(1, size) for size in array.shape)
        data = array.tobytes()
        head = dims + _int(2, _TYPES[array.dtype.name]) + _text(8, name) + _before(9, len(data))
        self.constants.append([_before(5, len(head) + len(data)), head, data])
        return name

    def node(
        self, operator: str, inputs: Sequence[str], output: str, domain: str = "", **attributes: int | float
    ) -> str:
        self.nodes.append(
            b"".join(_text(1, name) for name in inputs)
            + _text(2, output)
            + _text(4, operator)
            + b"".join(_bytes(5, _attribute(name, value)) for name, value in attributes.items())
            + (_text(7, domain) if domain else b"")
        )
        return output

    def model(self, inputs: Sequence[bytes], outputs: Sequence[bytes]) -> bytes:
        graph = [
            *(_bytes(1, node) for node in self.nodes),
            _text(2, "e5"),
            *(part for constant in self.constants for part in constant),
            *(_bytes(11, value) for value in inputs),
            *(_bytes(12, value) for value in outputs),
        ]
        opsets = _bytes(8, _text(1, "") + _int(2, _OPSET)) + _bytes(8, _text(1, _MICROSOFT) + _int(2, 1))
        return b"".join([_int(1, _IR_VERSION), _before(7, sum(map(len, graph))), *graph, opsets])


def _matmul(graph: _Graph, weights: Weights, source: str, name: str, columns: int) -> str:
    """`source` times a 4-bit matrix of `columns` inputs, with its nibbles reordered into adjacent pairs."""
    blocks = weights.blocks(f"{name}.w")
    twice = blocks.view("<u2")[:, 1:]  # two bytes, whose four nibbles go into one byte of each half
    pairs = np.empty((len(blocks), BLOCK // 2), dtype=np.uint8)
    pairs[:, : BLOCK // 4] = (twice & 0x0F) | (twice >> 4 & 0xF0)
    pairs[:, BLOCK // 4 :] = (twice >> 4 & 0x0F) | (twice >> 8 & 0xF0)
    rows = len(blocks) * BLOCK // columns
    return graph.node(
        "MatMulNBits",
        [
            source,
            graph.constant(f"{name}.packed", pairs.reshape(rows, columns // BLOCK, BLOCK // 2)),
            graph.constant(f"{name}.scales", scales(blocks).reshape(-1)),
        ],
        f"{name}.out",
        _MICROSOFT,
        K=columns,
        N=rows,
        bits=4,
        block_size=BLOCK,
        accuracy_level=_EIGHT_BIT_ACTIVATIONS,
    )


Additions = Mapping[str, tuple[NDArray[np.float32], NDArray[np.float32]]]
"""By the name of a matrix of shape (n, m), `down` (m, rank) and `up` (rank, n): the matrix becomes W + (down · up)ᵀ."""


def build(weights: Weights, additions: Additions | None = None) -> bytes:
    """A model: `x` (batch, length, hidden), `lengths` (batch), `pool` (batch, n, length) → `out` (batch, n, hidden).

    `additions` change its matrices.
    """
    graph, shape = _Graph(), weights.shape
    hidden, epsilon = shape.hidden, shape.epsilon

    def floats(name: str) -> str:
        return graph.constant(name, weights.floats(name))

    def add_and_norm(source: str, residual: str, norm: str, bias: str, output: str) -> str:
        inputs = [source, residual, floats(f"{norm}.w"), floats(f"{norm}.b"), floats(f"{bias}.b")]
        return graph.node("SkipLayerNormalization", inputs, output, _MICROSOFT, epsilon=epsilon)

    def product(source: str, name: str, columns: int) -> str:
        plain = _matmul(graph, weights, source, name, columns)
        if additions is None or name not in additions:
            return plain
        down, up = (
            graph.constant(f"{name}.{part}", matrix)
            for part, matrix in zip(("down", "up"), additions[name], strict=True)
        )
        narrow = graph.node("MatMul", [source, down], f"{name}.narrow")
        return graph.node("Add", [plain, graph.node("MatMul", [narrow, up], f"{name}.added")], f"{name}.sum")

    state = graph.node(
        "LayerNormalization", ["x", floats("emb.ln.w"), floats("emb.ln.b")], "embedded", axis=-1, epsilon=epsilon
    )
    for number in range(shape.layers):
        layer = f"l{number}"
        heads = [product(state, f"{layer}.{part}", hidden) for part in "qkv"]
        bias = np.concatenate([weights.floats(f"{layer}.{part}.b") for part in "qkv"])
        attended = graph.node(
            "MultiHeadAttention",
            [*heads, graph.constant(f"{layer}.qkv.b", bias), "lengths"],
            f"{layer}.attended",
            _MICROSOFT,
            num_heads=shape.heads,
        )
        mixed = product(attended, f"{layer}.ao", hidden)
        state = add_and_norm(mixed, state, f"{layer}.aln", f"{layer}.ao", f"{layer}.middle")
        wide = product(state, f"{layer}.fi", hidden)
        bent = graph.node("BiasGelu", [wide, floats(f"{layer}.fi.b")], f"{layer}.bent", _MICROSOFT)
        narrow = product(bent, f"{layer}.fo", shape.inner)
        state = add_and_norm(narrow, state, f"{layer}.oln", f"{layer}.fo", f"{layer}.done")
    graph.node("MatMul", ["pool", state], "out")
    return graph.model(
        [
            _value("x", _FLOAT, ["batch", "length", hidden]),
            _value("lengths", _INT32, ["batch"]),
            _value("pool", _FLOAT, ["batch", "pools", "length"]),
        ],
        [_value("out", _FLOAT, ["batch", "pools", hidden])],
    )
