"""Work counted, not timed: backtracking steps of a regular expression, calls of Python code, and who held the GIL."""

import cProfile
import gc
import math
import os
import re
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from types import ModuleType
from typing import Any

from biem.domain.text import LatePattern

from re import _constants as ops  # type: ignore[attr-defined] # isort: skip
from re import _parser as parser  # type: ignore[attr-defined] # isort: skip

Then = Callable[[int], bool]
_NEAR = 64
"""Characters: a look ahead or back at no more of them costs a constant."""


class _EnoughError(Exception):
    """That many steps are too many."""


class Steps:
    """A backtracking matcher over the parse tree of a pattern, as `re` works, that counts what it tries.

    Every character compared and every way tried is a step. It knows all that `re` knows except conditions. `bound`: a
    repeat with a greater upper bound is taken for one of that bound, for what a constant bounds grows with no text.
    """

    def __init__(self, pattern: re.Pattern[str], bound: int = 1_000) -> None:
        self._tree = list(parser.parse(pattern.pattern, pattern.flags & ~re.DEBUG))
        self._flags = pattern.flags
        self._bound = bound
        self._known: dict[Any, bool] = {}
        self._begins: dict[tuple[int, str], tuple[bool, Any]] = {}
        self._most = math.inf
        self.count = 0
        self._text = ""
        self._groups: dict[int, tuple[int, int]] = {}

    def of(self, text: str, method: str = "finditer", most: float = math.inf) -> int:
        """Steps that a method of the pattern takes on a text; a little more than `most` where it takes more."""
        self.count, self._text, self._most = 0, text, most
        whole = [len(text)] if method == "fullmatch" else None
        at, end = 0, -1

        def done(position: int) -> bool:
            nonlocal end
            end = position
            return whole is None or position == len(text)

        while at <= len(text):
            self._groups = {}
            self.count += 1
            try:
                found = self._may_begin(self._tree, at) and self._run(self._tree, 0, at, done)
            except _EnoughError:
                break
            if method in ("match", "fullmatch") or (found and method == "search"):
                break
            at = max(end, at + 1) if found else at + 1
        return self.count

    def _run(self, items: list[Any], place: int, at: int, then: Then) -> bool:
        self.count += 1
        if self.count > self._most:
            raise _EnoughError
        if place == len(items):
            return then(at)
        op, value = items[place]
        after: Then = lambda position: self._run(items, place + 1, position, then)  # noqa: E731
        if op in (ops.LITERAL, ops.NOT_LITERAL, ops.ANY, ops.IN):
            return at < len(self._text) and self._fits(op, value, self._text[at]) and after(at + 1)
        if op is ops.AT:
            return self._stands(value, at) and after(at)
        if op is ops.BRANCH:
            return any(self._run(way, 0, at, after) for way in self._ways(value[1], at))
        if op is ops.SUBPATTERN:
            group, _, _, inside = value

            def close(position: int) -> bool:
                if group is not None:
                    self._groups[group] = (at, position)
                return after(position)

            return self._run(list(inside), 0, at, close)
        if op in (ops.ASSERT, ops.ASSERT_NOT):
            direction, inside = value
            start = at if direction >= 0 else at - inside.getwidth()[0]
            found = start >= 0 and self._run(list(inside), 0, start, lambda _: True)
            return found == (op is ops.ASSERT) and after(at)
        if op is ops.GROUPREF:
            start, end = self._groups.get(value, (0, 0))
            said = self._text[start:end]
            self.count += len(said)
            return self._text.startswith(said, at) and after(at + len(said))
        if op is ops.ATOMIC_GROUP:
            ends: list[int] = []
            return self._run(list(value), 0, at, _into(ends)) and after(ends[0])
        if op in (ops.MAX_REPEAT, ops.MIN_REPEAT, ops.POSSESSIVE_REPEAT):
            least, most, inside = value
            if most is not ops.MAXREPEAT and most > self._bound:
                least, most = min(least, self._bound), self._bound
            return self._repeat(op, least, most, list(inside), at, after)
        raise NotImplementedError(op)

    def _ways(self, ways: list[Any], at: int) -> Iterator[Any]:
        """The alternatives whose first character fits."""
        return (way for way in ways if self._may_begin(way, at))

    def _may_begin(self, items: Any, at: int) -> bool:
        """Whether the first character fits, as far as that is seen without trying: what fails at once is one step, of
        which the patterns with hundreds of alternatives would have hundreds."""
        character = self._text[at] if at < len(self._text) else ""
        key = (id(items), character)
        known = self._begins.get(key)
        if known is None:  # with the items, whose id would otherwise be another's one day
            known = self._begins[key] = (self._fits_first(list(items), character), items)
        return known[0]

    def _fits_first(self, items: list[Any], character: str) -> bool:
        """Whether some of this sequence, which `character` ("" at the end of the text) follows, may match."""
        for op, value in items:
            if op in (ops.LITERAL, ops.NOT_LITERAL, ops.ANY, ops.IN):
                return bool(character) and self._fits(op, value, character)
            if op is ops.AT:
                continue
            if op in (ops.ASSERT, ops.ASSERT_NOT) and value[1].getwidth()[1] <= _NEAR:
                continue
            inside: list[list[Any]] = []
            if op is ops.SUBPATTERN:
                inside = [list(value[3])]
            elif op is ops.BRANCH:
                inside = [list(way) for way in value[1]]
            elif op in (ops.MAX_REPEAT, ops.MIN_REPEAT, ops.POSSESSIVE_REPEAT):
                inside = [list(value[2])]
                if value[0] == 0:
                    inside.append([])
            elif op is ops.ATOMIC_GROUP:
                inside = [list(value)]
            if not inside or any(map(_may_be_dear, inside)):
                return True
            if any(way and self._fits_first(way, character) for way in inside):
                return True
            if not any(_may_be_empty(way) for way in inside):
                return False
        return True

    def _repeat(self, op: Any, least: int, most: int, inside: list[Any], at: int, after: Then) -> bool:
        if len(inside) == 1 and inside[0][0] in (ops.LITERAL, ops.NOT_LITERAL, ops.ANY, ops.IN):
            ends = [at]
            for position in range(at, min(len(self._text), at + int(most))):
                self.count += 1
                if not self._fits(inside[0][0], inside[0][1], self._text[position]):
                    break
                ends.append(position + 1)
            ends = ends[least:]
            if op is ops.POSSESSIVE_REPEAT:
                ends = ends[-1:]
            return any(after(end) for end in (ends if op is ops.MIN_REPEAT else reversed(ends)))
        if op is ops.POSSESSIVE_REPEAT:
            times, position = 0, at
            while times < most:
                found: list[int] = []
                if not self._run(inside, 0, position, _into(found)):
                    break
                times += 1
                if found[0] == position:
                    break
                position = found[0]
            return times >= least and after(position)

        def again(times: int, position: int) -> bool:
            def more(end: int) -> bool:
                return (end > position or times < least) and again(times + 1, end)

            self.count += 1
            if times < least:
                return self._run(inside, 0, position, more)
            if op is ops.MIN_REPEAT:
                return after(position) or (times < most and self._run(inside, 0, position, more))
            return (times < most and self._run(inside, 0, position, more)) or after(position)

        return again(0, at)

    def _fits(self, op: Any, value: Any, character: str) -> bool:
        key = (op, id(value) if op is ops.IN else value, character)
        known = self._known.get(key)
        if known is None:
            fold, dot = bool(self._flags & re.IGNORECASE), bool(self._flags & re.DOTALL)
            known = self._known[key] = _fits(op, value, character, fold, dot)
        return known

    def _stands(self, where: Any, at: int) -> bool:
        text, multi = self._text, bool(self._flags & re.MULTILINE)
        if where in (ops.AT_BEGINNING, ops.AT_BEGINNING_STRING):
            return at == 0 or (multi and where is ops.AT_BEGINNING and text[at - 1] == "\n")
        if where is ops.AT_END:
            return at == len(text) or (text[at] == "\n" and (multi or at == len(text) - 1))
        if where is ops.AT_END_STRING:
            return at == len(text)
        here, before = (0 <= place < len(text) and _is_word(text[place]) for place in (at, at - 1))
        return (here != before) == (where is ops.AT_BOUNDARY)


def _may_be_empty(items: list[Any]) -> bool:
    return all(
        op in (ops.AT, ops.ASSERT, ops.ASSERT_NOT, ops.GROUPREF)
        or (
            op in (ops.MAX_REPEAT, ops.MIN_REPEAT, ops.POSSESSIVE_REPEAT)
            and (value[0] == 0 or _may_be_empty(list(value[2])))
        )
        or (op is ops.SUBPATTERN and _may_be_empty(list(value[3])))
        or (op is ops.BRANCH and any(_may_be_empty(list(way)) for way in value[1]))
        or (op is ops.ATOMIC_GROUP and _may_be_empty(list(value)))
        for op, value in items
    )


def _may_be_dear(items: list[Any]) -> bool:
    """Whether it begins with a look at text of any length, which costs even where nothing fits."""
    return bool(items) and items[0][0] in (ops.ASSERT, ops.ASSERT_NOT) and items[0][1][1].getwidth()[1] > _NEAR


def _into(ends: list[int]) -> Then:
    """The end of a match, which is enough of it."""

    def note(position: int) -> bool:
        ends.append(position)
        return True

    return note


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def _fits(op: Any, value: Any, character: str, fold: bool, dot: bool) -> bool:
    if op is ops.ANY:
        return dot or character != "\n"
    cases = {character, character.lower(), character.upper()} if fold else {character}
    codes = {ord(case) for case in cases if len(case) == 1}
    if op in (ops.LITERAL, ops.NOT_LITERAL):
        return (value in codes) == (op is ops.LITERAL)
    negated, found = False, False
    for kind, what in value:
        if kind is ops.NEGATE:
            negated = True
        elif kind is ops.LITERAL:
            found |= what in codes
        elif kind is ops.RANGE:
            found |= any(what[0] <= code <= what[1] for code in codes)
        else:
            found |= _CATEGORIES[what](character)
    return found != negated


_CATEGORIES: dict[Any, Callable[[str], bool]] = {
    ops.CATEGORY_DIGIT: str.isdecimal,
    ops.CATEGORY_NOT_DIGIT: lambda c: not c.isdecimal(),
    ops.CATEGORY_SPACE: str.isspace,
    ops.CATEGORY_NOT_SPACE: lambda c: not c.isspace(),
    ops.CATEGORY_WORD: _is_word,
    ops.CATEGORY_NOT_WORD: lambda c: not _is_word(c),
}


class Watched:
    """A pattern in whose place calls are noted: the pattern, the method, and how many characters it was given."""

    def __init__(self, pattern: re.Pattern[str], calls: list[tuple[re.Pattern[str], str, int]]) -> None:
        self._pattern, self._calls = pattern, calls

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._pattern, name)
        if name not in ("search", "match", "fullmatch", "finditer", "findall", "split", "sub", "subn"):
            return found

        def noted(*args: Any, **kwargs: Any) -> Any:
            text = args[1] if name in ("sub", "subn") else args[0]
            start = args[1] if name in ("search", "match", "fullmatch", "finditer") and len(args) > 1 else 0
            self._calls.append((self._pattern, name, len(text) - start))
            return found(*args, **kwargs)

        return noted


@contextmanager
def watched(*roots: object) -> Iterator[list[tuple[re.Pattern[str], str, int]]]:
    """Every call of a pattern that a module of biem or one of these objects holds."""
    calls: list[tuple[re.Pattern[str], str, int]] = []
    undo: list[Callable[[], None]] = []
    modules = [module for name, module in sys.modules.items() if name.startswith("biem.")]
    seen: set[int] = set()

    def replaced(value: Any) -> Any:
        """`value` with its patterns watched, or the same object where it has none or takes the change itself."""
        if isinstance(value, LatePattern):
            return replaced(value.compiled)
        if isinstance(value, re.Pattern):
            return Watched(value, calls) if isinstance(value.pattern, str) else value
        if isinstance(value, tuple) and type(value) is tuple and len(value) < 1_000:
            new = tuple(map(replaced, value))
            return new if any(a is not b for a, b in zip(new, value, strict=True)) else value
        if id(value) not in seen and (
            isinstance(value, ModuleType | dict)
            or (type(value).__module__.startswith("biem.") and hasattr(value, "__dict__"))
        ):
            seen.add(id(value))
            held = value if isinstance(value, dict) else vars(value)
            for key, old in list(held.items()) if len(held) < 2_000 else ():
                if isinstance(old, ModuleType):
                    continue
                new = replaced(old)
                if new is not old:
                    put(value, held, key, new)
                    undo.append(lambda value=value, held=held, key=key, old=old: put(value, held, key, old))  # type: ignore[misc]
        return value

    def put(value: Any, held: Any, key: Any, new: Any) -> None:
        if isinstance(value, dict):
            held[key] = new
        else:
            object.__setattr__(value, key, new)

    for root in (*modules, *roots):
        replaced(root)
    try:
        yield calls
    finally:
        for step in reversed(undo):
            step()


def calls_of(function: Callable[[], object]) -> int:
    """Calls of Python and built-in functions, and rounds of generators, that a function makes."""
    profile = cProfile.Profile()
    profile.runcall(function)
    return sum(entry.callcount for entry in profile.getstats())


def cpu_of(function: Callable[[], object]) -> float:
    """Seconds of this thread's CPU time."""
    began = time.thread_time()
    function()
    return time.thread_time() - began


HOLD_S = 0.1
"""The longest CPU time, in seconds, for which one call may keep all other threads of a process waiting."""


def longest_hold(function: Callable[[], object], tries: int = 1) -> float:
    """The longest CPU time, in seconds, that this thread took between two moments at which another thread could run.

    CPU time of this thread alone, so that other programs on the machine do not count: where they take the processor
    from the thread that watches, they take it from this one, too. The rest of that does not repeat itself, but a
    call that holds the interpreter does: the least of that many `tries` is given, or the first within `HOLD_S`. The
    garbage collector looks at what `function` makes, and not at what the program has loaded before, which is the
    program's to bound; biem's own workers do the same. What is loaded stays frozen afterwards: to look through it again
    for each call would take as long as most of them.
    """
    least = math.inf
    for _ in range(tries):
        least = min(least, _longest_hold(function))
        if least <= HOLD_S:
            break
    return least


def _longest_hold(function: Callable[[], object]) -> float:
    clock = time.pthread_getcpuclockid(threading.get_ident())
    stop, ready = threading.Event(), threading.Event()
    longest = 0.0

    def tick() -> None:
        nonlocal longest
        with suppress(OSError):  # where it may: it is to wait for the interpreter only, and not for a processor
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), -20)
        last = time.clock_gettime(clock)
        ready.set()
        while not stop.is_set():
            time.sleep(0.0005)
            now = time.clock_gettime(clock)
            longest, last = max(longest, now - last), now

    gc.collect()
    gc.freeze()
    thread = threading.Thread(target=tick)
    thread.start()
    ready.wait()
    try:
        function()
    finally:
        stop.set()
        thread.join()
    return longest


def repeated(shapes: Iterable[str], size: int) -> list[str]:
    """Each shape as often as it takes to make a text of that many characters."""
    return [(shape * (size // len(shape) + 1))[:size] for shape in shapes]
