"""A scope's AIM memory as one JSON file: nodes, weights, links, inertia, HotKV, configuration.

An interrupted save leaves the previous file intact. A load uses the normal write path, under ids derived from the
target and the saved ids: repeated after a crash it resumes and duplicates nothing. Vectors are not in the file: they
are specific to a model and are computed again, or found in the cache.
"""

import json
import logging
import os
import tempfile
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any

from biem.domain.designs.aim import GateDecision, mirror_weight
from biem.domain.designs.aim_node import AimMemoryNode
from biem.domain.link import Link, NewLink
from biem.domain.policies.aim import AimPolicy
from biem.domain.scope import Scope
from biem.domain.text import one_line
from biem.engine.aim.inertia import Inertia
from biem.engine.aim.snapshot_file import DETAILS, FORMAT, VERSION, Saved, SavedNode, inertia_json, read
from biem.engine.remember.hot_write_behind import HotFeed
from biem.engine.remember.writer import Writer
from biem.errors import BiemError, InvalidInput
from biem.ports import Analyzer, Clock, EmbedderInfo, HotEntry, HotStore
from biem.ports.aim import AimRecords, Kept
from biem.ports.links import Links

logger = logging.getLogger("biem.snapshot")

_PAGE = 500
_EVERYTHING = -1


class Snapshots:
    """Writes and reads such files. Waiting for encoding is the caller's task."""

    def __init__(
        self,
        *,
        records: AimRecords,
        links: Links,
        hot: HotStore,
        inertia: Inertia,
        writer: Writer,
        feed: HotFeed,
        analyzer: Analyzer,
        clock: Clock,
        policy: AimPolicy,
        window: int,
        embedder: EmbedderInfo,
    ) -> None:
        self._records = records
        self._links = links
        self._hot = hot
        self._inertia = inertia
        self._writer = writer
        self._feed = feed
        self._analyzer = analyzer
        self._clock = clock
        self._policy = policy
        self._window = window
        self._embedder = embedder

    @property
    def config(self) -> dict[str, Any]:
        """The configuration under the design's names."""
        return {"hot_window_size": self._window, **asdict(self._policy)}

    # -- saving -----------------------------------------------------------------------------------------------------

    def save(self, scope: Scope, path: Path) -> int:
        """Write everything of exactly this scope to `path`; returns the number of memories. Atomic on one disk."""
        target = path.expanduser().absolute()
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                count = self._write(scope, file.write)
                file.flush()
                os.fsync(file.fileno())
            Path(name).replace(target)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
        return count

    def _write(self, scope: Scope, write: Callable[[str], object]) -> int:
        self._feed.settle()
        counter = self._records.counter(scope)
        changes = self._links.changes({scope: _EVERYTHING}).get(scope)
        held = [] if changes is None else changes.links
        linked: dict[str, list[Link]] = {}
        for link in held:
            linked.setdefault(link.source, []).append(link)
        refused = {one.id: one.decision for one in self._records.refusals(scope, 2**31 - 1)}
        head = {
            "format": FORMAT,
            "version": VERSION,
            "scope": scope.ns,
            "saved_at": self._clock.now().isoformat(),
            "model": self._embedder.id,
            "config": self.config,
            "mirror_seq": counter,
            "inertia": {name: inertia_json(one) for name, one in self._inertia.all(scope).items()},
            "hot": [entry.id for entry in self._hot.recent(scope, self._window)],
        }
        write(json.dumps(head, ensure_ascii=False)[:-1] + ', "nodes": [')
        count = 0
        for kept in self._pages(scope):
            node = self._node_json(kept, linked.get(kept.node.id, []), counter, refused.get(kept.node.id))
            write((",\n" if count else "\n") + json.dumps(node, ensure_ascii=False))
            count += 1
        write("\n]}\n")
        return count

    def _pages(self, scope: Scope) -> Iterator[Kept]:
        after = 0
        while page := self._records.page(scope, after):
            yield from page
            after = page[-1].node.write_seq

    def _node_json(self, kept: Kept, links: list[Link], counter: int, refused: GateDecision | None) -> dict[str, Any]:
        node = kept.node
        age = counter - (counter if kept.mirror_seq is None else kept.mirror_seq)
        shown = AimMemoryNode(
            id=node.id,
            summary=one_line(node.text, self._policy.summary_chars),
            fields=node.fields,
            w=mirror_weight(age, self._policy) if kept.formed else 0.0,
            evidence_ptr=node.evidence_ptr,
            evidence_text=node.text,
        )
        return {
            **shown.as_json(),
            "mirror_seq": kept.mirror_seq,
            "formed": kept.formed,
            "links": [
                {"target": one.target, "type": one.type, "weight": one.weight, "strength": one.strength}
                for one in links
            ],
            "refusal": None if refused is None else {**asdict(refused), "decided_at": refused.decided_at.isoformat()},
            **{name: getattr(node, name) for name in DETAILS},
            "tags": list(node.tags),
            "metadata": dict(node.metadata),
            "at": node.at.isoformat(),
        }

    # -- loading ----------------------------------------------------------------------------------------------------

    def load(self, scope: Scope, path: Path, settle: Callable[[], object]) -> int:
        """Append a saved memory to a scope; returns the number of memories.

        `settle` waits until the written memories are encoded. Raises `InvalidInput` for an unknown file format, before
        anything is written.
        """
        saved = read(path)
        self._check(path, saved)
        names = {node.id: _target_id(scope, saved.scope, node.id) for node in saved.nodes}
        base = self._base(scope, saved, names)
        self._records.record_decisions(
            scope,
            [
                (names[node.id], _decision(node, self._clock.now()), _shifted(node.mirror_seq, base))
                for node in saved.nodes
                if not node.formed or node.mirror_seq is not None
            ],
        )
        for node in saved.nodes:
            names[node.id] = self._writer.remember_as(scope, names[node.id], node.text, at=node.at, **node.details)
        settle()
        self._feed.settle()
        self._connect(scope, saved, names)
        self._push(scope, saved, names)
        for conversation, inertia in saved.inertia.items():
            if saved.model == self._embedder.id:
                self._inertia.keep(scope, conversation, inertia)
            else:
                logger.warning("the inertia of %r belongs to another model and is left out", conversation)
        return len(saved.nodes)

    def _check(self, path: Path, saved: Saved) -> None:
        """Reject a file that could not be written completely."""
        for place, node in enumerate(saved.nodes):
            try:
                self._writer.draft(node.text, at=node.at, **node.details)
                uuid.UUID(node.id)
            except (InvalidInput, ValueError) as error:
                raise InvalidInput(f"{path}: node {place} is broken: {error}") from None
        vectors = (inertia.vector for inertia in saved.inertia.values() if saved.model == self._embedder.id)
        if any(vector is not None and len(vector) != self._embedder.dim for vector in vectors):
            raise InvalidInput(f"{path} is broken: an inertia has not the {self._embedder.dim} dimensions of its model")

    def _base(self, scope: Scope, saved: Saved, names: Mapping[str, str]) -> int:
        """The offset added to saved mirror numbers; the same as before when the load is a repetition."""
        kept = {names[node.id]: node.mirror_seq for node in saved.nodes if node.mirror_seq is not None}
        numbers = self._records.numbers(scope, sorted(kept))
        for key, number in numbers.items():
            return number - kept[key]
        return self._records.reserve(scope, saved.mirror_seq)

    def _connect(self, scope: Scope, saved: Saved, names: Mapping[str, str]) -> None:
        links = [
            NewLink(names[one.source], names[one.target], one.type, one.weight, one.strength)
            for node in saved.nodes
            for one in node.links
            if one.source in names and one.target in names  # links to concepts are rebuilt with the concepts
        ]
        for start in range(0, len(links), _PAGE):
            self._links.connect(scope, links[start : start + _PAGE], self._clock.now())

    def _push(self, scope: Scope, saved: Saved, names: Mapping[str, str]) -> None:
        texts = {node.id: node for node in saved.nodes}
        entries = []
        for key in reversed(saved.hot):
            if (node := texts.get(key)) is not None:
                speaker = node.details["speaker"]
                said = f"{speaker}: {node.text}" if speaker else node.text
                entries.append(HotEntry(names[key], " ".join(self._analyzer.lexemes(said))))
        try:
            self._hot.push(scope, entries, self._window)
        except BiemError as error:
            logger.warning("HotKV was not restored: %s", error)


def _target_id(scope: Scope, saved_ns: str, memory_id: str) -> str:
    """The same id in its own scope, and a deterministic new one in another."""
    return memory_id if scope.ns == saved_ns else str(uuid.uuid5(uuid.NAMESPACE_OID, f"{scope.ns}/{memory_id}"))


def _shifted(number: int | None, base: int) -> int | None:
    return None if number is None else base + number


def _decision(node: SavedNode, now: datetime) -> GateDecision:
    """The saved decision; a formed node counts as passed."""
    if node.formed or node.refusal is None:
        return GateDecision(node.formed, float(node.formed), 0.5, "centered", 0.0, 0.0, 0.0, now)
    return node.refusal
