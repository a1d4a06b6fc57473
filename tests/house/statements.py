"""The statements of a module, for tests that read code."""

import ast
from collections.abc import Iterator

_PARTS = ("body", "orelse", "finalbody", "handlers", "cases")
"""Where a statement, or a clause of one, holds others."""


def statements(tree: ast.AST) -> Iterator[ast.stmt]:
    """All statements below a node, each after the one that holds it; not their expressions, most of a tree."""
    nodes = [tree]
    for node in nodes:
        if isinstance(node, ast.stmt):
            yield node
        for part in _PARTS:
            nodes += getattr(node, part, ())
