"""The encoder of e5 as an ONNX graph, serialised directly: thirty lines of protobuf instead of the `onnx` package.

Matrices are rounded to 7 bits per output and activations to 8 bits per token: each row separately, so a vector does not
depend on its batch. The embedding table stays outside, in the mapped file: the caller looks up its rows and adds the
positions.
"""

import struct
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biem.adapters.embedders.e5_weights import Weights, dequantise

_FLOAT, _UINT8, _INT32 = 1, 2, 6
_TYPES = {"float32": _FLOAT, "uint8": _UINT8, "int8": 3, "int32": _INT32, "int64": 7}
_LEVELS = 63
"""Of a matrix, on each side of zero. Processors without VNNI add two products in 16 bits: with 127 they overflow."""
_ZERO, _LEVELS_OF_TOKENS = 128, 127
_LEAST = 1e-12
"""Added to the scale of a token, so that one of zeros has one."""
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
        self._rounded: dict[str, tuple[str, str]] = {}

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

    def rounded(self, source: str) -> tuple[str, str]:
        """The rows of `source` in whole numbers, and the scale of each row. Made once for all that multiply it."""
        if source not in self._rounded:
            size = self.node("ReduceMax", [self.node("Abs", [source], f"{source}.abs"), "last axis"], f"{source}.size")
            scale = self.node(
                "Add", [self.node("Mul", [size, "of a level"], f"{source}.step"), "least"], f"{source}.scale"
            )
            level = self.node("Div", [source, scale], f"{source}.level")
            moved = self.node("Add", [level, "zero and a half"], f"{source}.moved")
            self._rounded[source] = self.node("Cast", [moved], f"{source}.rounded", to=_UINT8), scale
        return self._rounded[source]

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


def _with_constants(graph: _Graph) -> None:
    """What all roundings share."""
    graph.constant("last axis", np.array([-1], dtype=np.int64))
    graph.constant("of a level", np.array(1 / _LEVELS_OF_TOKENS, dtype=np.float32))
    graph.constant("least", np.array(_LEAST, dtype=np.float32))
    graph.constant("zero and a half", np.array(_ZERO + 0.5, dtype=np.float32))  # a cast cuts what follows the point
    graph.constant("zero", np.array(_ZERO, dtype=np.uint8))
    graph.constant("one", np.array(1, dtype=np.float32))


def _matmul(graph: _Graph, source: str, name: str, matrix: NDArray[np.float32]) -> str:
    """`source` times the matrix of shape (outputs, inputs), in whole numbers."""
    steps = np.maximum(np.abs(matrix).max(axis=1), _LEAST) / np.float32(_LEVELS)
    levels = np.ascontiguousarray(np.rint(matrix / steps[:, None]).astype(np.int8).T)
    rounded, scale = graph.rounded(source)
    inputs = [rounded, graph.constant(f"{name}.levels", levels), "one", graph.constant(f"{name}.steps", steps), "zero"]
    return graph.node(
        "Mul", [graph.node("MatMulIntegerToFloat", inputs, f"{name}.whole", _MICROSOFT), scale], f"{name}.out"
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
        matrix = dequantise(weights.blocks(f"{name}.w")).reshape(-1, columns)
        if additions is not None and name in additions:
            down, up = additions[name]
            matrix += (down @ up).T
        return _matmul(graph, source, name, matrix)

    _with_constants(graph)
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
