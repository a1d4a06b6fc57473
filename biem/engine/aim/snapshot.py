"""A scope's AIM memory as one JSON file (A54): nodes, weights, links, inertia, HotKV, configuration.

A save that dies leaves the file that was there. A load writes through the front door, under ids that follow from the
target and the saved ids: repeated after a crash it goes on where it stopped and doubles nothing. Vectors are not in the
file: they belong to a model and are computed again, or found in the cache.
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

import numpy as np

from biem.domain.aim import GateDecision, mirror_weight
from biem.domain.aim_policy import AimPolicy
from biem.domain.link import Link, NewLink
from biem.domain.scope import Scope
from biem.domain.text import one_line
from biem.engine.aim.inertia import Inertia
from biem.engine.hotfeed import HotFeed
from biem.engine.remember import Writer
from biem.errors import BiemError, InvalidInput
from biem.ports import Analyzer, Clock, EmbedderInfo, HotEntry, HotStore
from biem.ports.aim import AimRecords, Heading, Kept
from biem.ports.links import Links

logger = logging.getLogger("biem.snapshot")

FORMAT = "biem-aim"
_VERSION = 1
_PAGE = 500
_EVERYTHING = -1
_DETAILS = ("kind", "layer", "reason", "importance", "source", "speaker", "conversation", "ref")


class Snapshots:
    """Writes and reads such files. What a load needs to wait for is the caller's to wait for."""

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
            "version": _VERSION,
            "scope": scope.ns,
            "saved_at": self._clock.now().isoformat(),
            "model": self._embedder.id,
            "config": self.config,
            "mirror_seq": counter,
            "inertia": {name: _heading_json(one) for name, one in self._inertia.all(scope).items()},
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
        return {
            "id": node.id,
            "summary": one_line(node.text, self._policy.summary_chars),
            "fields": {name: list(values) for name, values in asdict(node.fields).items()},
            "w": mirror_weight(age, self._policy) if kept.formed else 0.0,
            "mirror_seq": kept.mirror_seq,
            "formed": kept.formed,
            "evidence_ptr": node.evidence_ptr,
            "evidence_text": node.text,
            "links": [
                {"target": one.target, "type": one.type, "weight": one.weight, "strength": one.strength}
                for one in links
            ],
            "refusal": None if refused is None else {**asdict(refused), "decided_at": refused.decided_at.isoformat()},
            **{name: getattr(node, name) for name in _DETAILS},
            "tags": list(node.tags),
            "metadata": dict(node.metadata),
            "at": node.at.isoformat(),
        }

    # -- loading ----------------------------------------------------------------------------------------------------

    def load(self, scope: Scope, path: Path, settle: Callable[[], object]) -> int:
        """Bring a saved memory into a scope, after what is there already; returns the number of memories.

        `settle` waits until what was written is encoded. Raises `InvalidInput` for a file that is none
        of ours, before anything is written.
        """
        saved = read(path)
        nodes: list[dict[str, Any]] = saved["nodes"]
        names = {node["id"]: _target_id(scope, saved["scope"], node["id"]) for node in nodes}
        base = self._base(scope, nodes, names, int(saved["mirror_seq"]))
        self._records.foretell(
            scope,
            [
                (names[node["id"]], _decision(node, self._clock.now()), _shifted(node["mirror_seq"], base))
                for node in nodes
                if not node["formed"] or node["mirror_seq"] is not None
            ],
        )
        for node in nodes:
            details = {name: node[name] for name in (*_DETAILS, "tags", "metadata")}
            at = datetime.fromisoformat(node["at"])
            key = names[node["id"]]
            names[node["id"]] = self._writer.remember_as(scope, key, node["evidence_text"], at=at, **details)
        settle()
        self._feed.settle()
        self._connect(scope, nodes, names)
        self._push(scope, saved["hot"], nodes, names)
        for conversation, heading in saved["inertia"].items():
            self._turn(scope, conversation, heading, saved["model"])
        return len(nodes)

    def _base(self, scope: Scope, nodes: list[dict[str, Any]], names: Mapping[str, str], count: int) -> int:
        """What is added to saved numbers of the mirror; the same as before when the load is a repetition."""
        kept = {names[node["id"]]: node["mirror_seq"] for node in nodes if node["mirror_seq"] is not None}
        numbers = self._records.numbers(scope, sorted(kept))
        for key, number in numbers.items():
            return number - int(kept[key])
        return self._records.reserve(scope, count)

    def _connect(self, scope: Scope, nodes: list[dict[str, Any]], names: Mapping[str, str]) -> None:
        links = [
            NewLink(names[node["id"]], names[one["target"]], one["type"], one["weight"], one["strength"])
            for node in nodes
            for one in node["links"]
            if one["target"] in names  # links to concepts are built anew, with the concepts
        ]
        for start in range(0, len(links), _PAGE):
            self._links.connect(scope, links[start : start + _PAGE], self._clock.now())

    def _push(self, scope: Scope, hot: list[str], nodes: list[dict[str, Any]], names: Mapping[str, str]) -> None:
        texts = {node["id"]: node for node in nodes}
        entries = []
        for key in reversed(hot):
            if (node := texts.get(key)) is not None:
                said = f"{node['speaker']}: {node['evidence_text']}" if node["speaker"] else node["evidence_text"]
                entries.append(HotEntry(names[key], " ".join(self._analyzer.lexemes(said))))
        try:
            self._hot.push(scope, entries, self._window)
        except BiemError as error:
            logger.warning("HotKV is not as it was saved: %s", error)

    def _turn(self, scope: Scope, conversation: str, saved: Mapping[str, Any], model: str) -> None:
        if model != self._embedder.id:
            logger.warning("the inertia of %r belongs to another model and is left out", conversation)
            return
        vector = saved["vector"]
        heading = Heading(
            None if vector is None else np.array(vector, dtype=np.float32),
            saved["strength"],
            saved["gamma"],
            saved["cluster"],
        )
        self._inertia.keep(scope, conversation, heading)


def read(path: Path) -> dict[str, Any]:
    """The content of a file that `save` wrote; `InvalidInput` for any other."""
    try:
        saved = json.loads(path.expanduser().read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"{path} is no JSON file of an AIM memory: {error}") from None
    if not isinstance(saved, dict) or saved.get("format") != FORMAT or saved.get("version") != _VERSION:
        raise InvalidInput(f"{path} is no AIM memory of version {_VERSION}; save one with AimMemory.save")
    missing = {"nodes", "scope", "model", "config", "mirror_seq", "inertia", "hot"} - saved.keys()
    if missing:
        raise InvalidInput(f"{path} is incomplete: {', '.join(sorted(missing))} missing")
    wanted = {"id", "evidence_text", "mirror_seq", "formed", "links", "refusal", "tags", "metadata", "at", *_DETAILS}
    for place, node in enumerate(saved["nodes"]):
        if not isinstance(node, dict) or wanted - node.keys():
            raise InvalidInput(f"{path}: node {place} is incomplete")
    return saved


def _target_id(scope: Scope, saved_ns: str, memory_id: str) -> str:
    """The same memory in its own scope, and always the same new one in another."""
    return memory_id if scope.ns == saved_ns else str(uuid.uuid5(uuid.NAMESPACE_OID, f"{scope.ns}/{memory_id}"))


def _shifted(number: int | None, base: int) -> int | None:
    return None if number is None else base + number


def _decision(node: Mapping[str, Any], now: datetime) -> GateDecision:
    """As it was saved; what was formed passed whatever gate there was."""
    refusal = node["refusal"]
    if node["formed"] or refusal is None:
        return GateDecision(bool(node["formed"]), float(node["formed"]), 0.5, "centered", 0.0, 0.0, 0.0, now)
    return GateDecision(**{**refusal, "formed": False, "decided_at": datetime.fromisoformat(refusal["decided_at"])})


def _heading_json(heading: Heading) -> dict[str, Any]:
    vector = None if heading.vector is None else [float(value) for value in heading.vector]
    return {**asdict(heading), "vector": vector}
