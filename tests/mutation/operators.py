"""Small faults that could be in a module: each is one change of its syntax tree, in a fixed order.

Left out, because no result can tell: what logs, measures or names a thread, the words of errors, for how long a thing
waits, and how a dataclass is laid out.
"""

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass

_FLIPPED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
_TOLD = frozenset({"logger", "span", "telemetry", "_telemetry"})
_UNSEEN = frozenset({"slots", "frozen", "daemon", "name", "strict", "telemetry"})
"""Keywords that change no result."""
_WAITS = ("_s", "_days")
_SHIFT = 1.02
"""A float becomes a fiftieth greater: 0.7 becomes 0.714, and 0.0 becomes 0.02."""


@dataclass(frozen=True)
class Mutant:
    """One fault: its number in its module, where it is, what stood there, and what stands there instead.

    `sound` and `faulty` are the same as lines of the module, as `ast.unparse` writes it: they tell this fault from an
    equal one elsewhere.
    """

    number: int
    line: int
    before: str
    after: str
    sound: str
    faulty: str


def mutants(source: str) -> list[Mutant]:
    """Every fault that an operator can put into this module."""
    tree, found = ast.parse(source), []
    wholes = {node: (part, whole) for part, whole in _parts(tree) for node in ast.walk(part)}
    for number, (node, (fault, mend)) in enumerate(_all(tree)):
        before, (part, whole) = ast.unparse(node), wholes[node]
        fault()
        place = node.target if isinstance(node, ast.comprehension) else node
        sound, faulty = _changed(whole, ast.unparse(part).splitlines())
        found.append(Mutant(number, getattr(place, "lineno", 0), before, ast.unparse(node), sound, faulty))
        mend()
    return found


def _parts(node: ast.AST) -> Iterator[tuple[ast.AST, list[str]]]:
    """What a module consists of, classes taken apart, and its lines: to write all of it for each fault takes long."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef):
            yield from _parts(child)
        else:
            yield child, ast.unparse(child).splitlines()


def _changed(sound: list[str], faulty: list[str]) -> tuple[str, str]:
    """The line that differs: a fault changes one, and leaves their number as it is."""
    return next((one.strip(), other.strip()) for one, other in zip(sound, faulty, strict=True) if one != other)


def mutated(source: str, number: int) -> str:
    """The module with the fault of this number."""
    tree = ast.parse(source)
    fault, _ = _all(tree)[number][1]
    fault()
    return ast.unparse(ast.fix_missing_locations(tree))


def _all(tree: ast.AST) -> list[tuple[ast.AST, "Fault"]]:
    return [(node, fault) for node in list(_visible(tree)) for fault in _faults(node)]


def _visible(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes below one whose results can be seen, in the order of the text."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Raise | ast.arguments | ast.AnnAssign) and not _is_number(child):
            continue
        if isinstance(child, ast.Call) and _told(child):
            continue
        if isinstance(child, ast.Assign) and _names_a_wait(child.targets[0]):
            continue
        if isinstance(child, ast.keyword) and _is_a_wait(child.arg):
            continue
        yield child
        yield from _visible(child)


def _is_number(node: ast.AST) -> bool:
    """Whether it gives a field of a policy its default."""
    return isinstance(node, ast.AnnAssign) and not _names_a_wait(node.target) and isinstance(node.value, ast.Constant)


def _told(call: ast.Call) -> bool:
    """Whether a call only logs or measures."""
    names = [part.attr if isinstance(part, ast.Attribute) else getattr(part, "id", "") for part in ast.walk(call.func)]
    return bool(_TOLD.intersection(names))


def _names_a_wait(target: ast.AST) -> bool:
    name = getattr(target, "id", getattr(target, "attr", ""))
    return _is_a_wait(str(name))


def _is_a_wait(name: str | None) -> bool:
    return name is not None and (name.lower().endswith(_WAITS) or "timeout" in name)


Fault = tuple[Callable[[], object], Callable[[], object]]
"""What puts a fault into the tree, and what takes it out."""


def _faults(node: ast.AST) -> Iterator[Fault]:
    if isinstance(node, ast.Compare):
        yield _set(node.ops, 0, _FLIPPED[type(node.ops[0])]())
    elif isinstance(node, ast.BoolOp):
        yield _put(node, "op", ast.Or() if isinstance(node.op, ast.And) else ast.And())
    elif isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool):
        yield _put(node, "value", _other(node.value))
    elif isinstance(node, ast.If | ast.While | ast.IfExp):
        yield _put(node, "test", ast.UnaryOp(ast.Not(), node.test))
    elif isinstance(node, ast.Return) and node.value is not None and not _is_none(node.value):
        yield _put(node, "value", ast.Constant(None))
    elif isinstance(node, ast.comprehension) and node.ifs:
        yield _put(node, "ifs", node.ifs[1:])
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and not _told(node.value):
        yield _put(node, "value", ast.Constant(None))
    elif isinstance(node, ast.Call):
        for place, keyword in enumerate(node.keywords):
            if keyword.arg is not None and keyword.arg not in _UNSEEN and not _is_a_wait(keyword.arg):
                yield _put(node, "keywords", node.keywords[:place] + node.keywords[place + 1 :])


def _other(number: float) -> float:
    return number * _SHIFT or 0.02 if isinstance(number, float) else number + 1


def _is_none(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value is None


def _put(node: ast.AST, field: str, value: object) -> Fault:
    old = getattr(node, field)
    return lambda: setattr(node, field, value), lambda: setattr(node, field, old)


def _set(items: list[ast.cmpop], place: int, value: ast.cmpop) -> Fault:
    old = items[place]
    return lambda: items.__setitem__(place, value), lambda: items.__setitem__(place, old)
