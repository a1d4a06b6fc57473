"""One client of `benchmarks.chaos`: remembers, recalls, erases, forgets and restores until it is killed.

    python -m benchmarks._chaos_client HOME TENANT USER PROJECT NOTES SEED NUMBER LIFE [NOTES_OF_THE_SCOPE ...]

Attempts are noted before, acknowledgements after, a JSON array a line; a line in the operating system's hands
outlives the process. A call that ended with `StoreUnavailable` is repeated with the same `ref`, as a caller should.
"""

import json
import random
import re
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import biem
from biem.config import load_settings

T = TypeVar("T")

TOKEN = re.compile("zq[bcdfghjkmnprtvwx]{12}q")
"""A made-up word: one a memory, the same through stemming, and found in any store by looking at its bytes."""
_LETTERS = "bcdfghjkmnprtvwx"
_SUBJECTS = (
    "harbour",
    "kite",
    "lantern",
    "violin",
    "orchard",
    "bicycle",
    "kettle",
    "glacier",
    "saffron",
    "ladder",
    "compass",
    "meadow",
)
_VERBS = (
    "stood",
    "waited",
    "slept",
    "arrived",
    "vanished",
    "sang",
    "froze",
    "rolled",
    "shone",
    "leaned",
    "floated",
    "rested",
)
_PLACES = (
    "bridge",
    "station",
    "cellar",
    "attic",
    "market",
    "river",
    "tower",
    "garden",
    "library",
    "chapel",
    "quarry",
    "pier",
)


def token(seed: int, number: int, life: int, count: int) -> str:
    """Unique over seeds below 65,536, 16 clients, 256 lives and 65,536 memories of each."""
    digits = f"{seed % 65_536:04x}{number % 16:x}{life % 256:02x}{count % 65_536:05x}"
    return "zq" + "".join(_LETTERS[int(digit, 16)] for digit in digits) + "q"


class Notes:
    """Where events are noted."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("a", encoding="utf-8")

    def write(self, *words: Any) -> None:
        """One event."""
        self._file.write(json.dumps(words) + "\n")
        self._file.flush()

    @staticmethod
    def read(path: Path) -> list[list[Any]]:
        """All events; the last line of a killed process may be half-written."""
        found = []
        for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
            try:
                found.append(json.loads(line))
            except ValueError:
                continue
        return found


class Client:
    """One life in one scope; `kept` and `erased` are what this process knows to be there and to be gone."""

    def __init__(
        self,
        memory: biem.Memory,
        notes: Notes,
        chance: random.Random,
        name: Callable[[int], str],
        told: threading.Event,
        others: Sequence[Path] = (),
    ) -> None:
        """`others`: what all clients of this scope noted, also in earlier lives."""
        self._others = others
        self._memory = memory
        self._notes = notes
        self._chance = chance
        self._name = name
        self._told = told
        self._count = 0
        self._kept: dict[str, str] = {}
        self._erased: list[str] = []

    def live(self) -> None:
        """Do one thing after the other until told to leave."""
        deeds: list[tuple[Callable[[], None], int]] = [
            (self._remember, 8), (self._remember_many, 1), (self._recall, 5),
            (self._erase, 2), (self._archive, 1), (self._feedback, 1),
        ]  # fmt: skip
        while not self._told.is_set():
            (deed,) = self._chance.choices([deed for deed, _ in deeds], [weight for _, weight in deeds])
            try:
                deed()
            except biem.BiemError as error:
                self._notes.write("refused", type(error).__name__, str(error)[:200])
            except Exception:  # noqa: BLE001  any failure of the public API is a finding
                self._notes.write("broken", traceback.format_exc()[-2000:])
            self._told.wait(self._chance.uniform(0.0, 0.2))

    def _new(self) -> tuple[str, str]:
        word = self._name(self._count)
        self._count += 1
        choose = self._chance.choice
        return word, f"{word}: the {choose(_SUBJECTS)} {choose(_VERBS)} by the {choose(_PLACES)} near {choose(_PLACES)}"

    def _surely(self, call: Callable[[], T]) -> T | None:
        """Repeat while a store is away; None when told to leave meanwhile."""
        while True:
            try:
                return call()
            except biem.StoreUnavailable:
                if self._told.wait(0.1):
                    return None

    def _remember(self) -> None:
        word, text = self._new()
        message: dict[str, Any] = (
            {"speaker": "Ann", "conversation": "talk", "ref": word} if self._chance.random() < 0.7 else {}
        )
        self._notes.write("try", word, text)
        memory_id = self._surely(lambda: self._memory.remember(text, **message))
        if memory_id is not None:
            self._keep(word, memory_id)

    def _remember_many(self) -> None:
        new = dict(self._new() for _ in range(5))
        for word, text in new.items():
            self._notes.write("try", word, text)
        items = [{"text": text, "ref": word} for word, text in new.items()]
        ids = self._surely(lambda: self._memory.remember_many(items))
        for word, memory_id in zip(new, ids or (), strict=bool(ids)):
            self._keep(word, memory_id)

    def _keep(self, word: str, memory_id: str) -> None:
        self._notes.write("kept", word, memory_id)
        self._kept[word] = memory_id

    def _any(self) -> tuple[str, str] | None:
        return self._chance.choice(list(self._kept.items())) if self._kept else None

    def _recall(self) -> None:
        known = self._any()
        word = self._chance.choice(self._erased) if self._erased and self._chance.random() < 0.4 else known and known[0]
        for hit in self._memory.recall(word or self._chance.choice(_SUBJECTS), top_k=5):
            if hit.node.scope not in self._memory.bound_to.readable:
                self._notes.write("leaked", hit.node.text)
            if any(seen in self._erased for seen in TOKEN.findall(hit.node.text)):
                self._notes.write("resurrected", hit.node.text)

    def _erase(self) -> None:
        known = self._of_anybody() if self._others and self._chance.random() < 0.4 else self._any()
        if known is None:
            return
        word, memory_id = known
        self._kept.pop(word, None)
        self._notes.write("erasing", word)
        tries = 0

        def gone() -> bool:
            nonlocal tries
            tries += 1
            try:
                self._memory.erase(memory_id)
            except biem.NotFound:
                if tries == 1:  # else the try before was not in vain
                    self._notes.write("missing", word)
            return True

        if self._surely(gone):
            self._notes.write("erased", word)
            self._erased.append(word)

    def _of_anybody(self) -> tuple[str, str] | None:
        """One of the newest memories of this scope, by any client; it may have been erased already."""
        lines = [line for path in self._others for line in Notes.read(path)]
        kept = [(word, memory_id) for kind, word, *rest in lines if kind == "kept" for memory_id in rest][-50:]
        return self._chance.choice(kept) if kept else None

    def _archive(self) -> None:
        if (known := self._any()) is None:
            return
        word, memory_id = known
        self._notes.write("archiving", word)
        self._surely(lambda: self._memory.archive(memory_id))
        if self._surely(lambda: self._memory.restore(memory_id)) is not None:
            self._notes.write("restored", word)

    def _feedback(self) -> None:
        hits = self._memory.recall(self._chance.choice(_SUBJECTS), top_k=2)
        self._memory.feedback(useful=[hit.node.id for hit in hits if hit.node.scope == self._memory.bound_to])


def main(
    home: str, tenant: str, user: str, project: str, notes: str, seed: str, number: str, life: str, *shared: str
) -> None:
    """Live until SIGTERM."""
    told = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: told.set())
    chance = random.Random(f"{seed}/{number}/{life}")
    with biem.connect(load_settings(), home=home, scope=biem.Scope(tenant, user, project)) as memory:
        name = lambda count: token(int(seed), int(number), int(life), count)  # noqa: E731
        others = [Path(path) for path in shared]
        Client(memory, Notes(Path(notes)), chance, name, told, others).live()


if __name__ == "__main__":
    main(*sys.argv[1:])
