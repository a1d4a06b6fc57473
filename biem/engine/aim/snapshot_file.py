"""The JSON file of a saved AIM memory: parsed and validated as a whole before any of it is written."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, get_args

import numpy as np

from biem.domain.designs.aim import GateDecision
from biem.domain.link import LinkType, NewLink
from biem.errors import InvalidInput
from biem.ports.hot import InertiaState

FORMAT, VERSION = "biem-aim", 1
DETAILS = ("kind", "layer", "reason", "importance", "source", "speaker", "conversation", "ref")
"""Fields of a memory in addition to its text, time, tags and metadata."""
_TYPES: tuple[str, ...] = get_args(LinkType)
_LONGEST = 2
"""Bound of the length of an inertia, a mean of unit vectors."""
_BROKEN = (KeyError, TypeError, ValueError, AttributeError, OverflowError)


@dataclass(frozen=True, slots=True)
class SavedNode:
    """One memory of a file. `links` contains ids of the file, including those of nodes that are not in it."""

    id: str
    text: str
    at: datetime
    details: Mapping[str, Any]
    formed: bool
    mirror_seq: int | None
    refusal: GateDecision | None
    links: tuple[NewLink, ...]


@dataclass(frozen=True, slots=True)
class Saved:
    """A valid file."""

    scope: str
    model: str
    config: Mapping[str, Any]
    mirror_seq: int
    inertia: Mapping[str, InertiaState]
    hot: tuple[str, ...]
    """Ids, newest first."""
    nodes: tuple[SavedNode, ...]


def read(path: Path) -> Saved:
    """The content of a file that `save` wrote; raises `InvalidInput` with the reason for any other."""
    try:
        saved = json.loads(path.expanduser().read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"{path} is no JSON file of an AIM memory: {error}") from None
    if not isinstance(saved, dict) or saved.get("format") != FORMAT or saved.get("version") != VERSION:
        raise InvalidInput(f"{path} is no AIM memory of version {VERSION}; save one with AimMemory.save")
    missing = {"nodes", "scope", "model", "config", "mirror_seq", "inertia", "hot"} - saved.keys()
    if missing:
        raise InvalidInput(f"{path} is incomplete: {', '.join(sorted(missing))} missing")
    try:
        nodes = _list(saved["nodes"], dict)
        known = Saved(
            scope=_of(saved["scope"], str),
            model=_of(saved["model"], str),
            config=_of(saved["config"], dict),
            mirror_seq=_number(saved["mirror_seq"], 0),
            inertia={name: _inertia(one) for name, one in _of(saved["inertia"], dict).items()},
            hot=tuple(_list(saved["hot"], str)),
            nodes=tuple(_node(path, place, node) for place, node in enumerate(nodes)),
        )
    except InvalidInput:
        raise
    except _BROKEN as error:
        raise InvalidInput(f"{path} is broken: {_why(error)}") from None
    if len({node.id for node in known.nodes}) < len(known.nodes):
        raise InvalidInput(f"{path} is broken: two nodes have the same id")
    if max((node.mirror_seq or 0 for node in known.nodes), default=0) > known.mirror_seq:
        raise InvalidInput(f"{path} is broken: a node has a greater mirror_seq than the file")
    return known


def inertia_json(inertia: InertiaState) -> dict[str, Any]:
    """The representation of inertia in a file."""
    vector = None if inertia.vector is None else [float(value) for value in inertia.vector]
    return {"vector": vector, "strength": inertia.strength, "gamma": inertia.gamma, "cluster": inertia.cluster}


def _node(path: Path, place: int, node: Mapping[str, Any]) -> SavedNode:
    try:
        key = _of(node["id"], str)
        return SavedNode(
            id=key,
            text=_of(node["evidence_text"], str),
            at=datetime.fromisoformat(node["at"]),
            details={name: node[name] for name in (*DETAILS, "tags", "metadata")},
            formed=_of(node["formed"], bool),
            mirror_seq=None if node["mirror_seq"] is None else _number(node["mirror_seq"], 1),
            refusal=None if node["refusal"] is None else _refusal(node["refusal"]),
            links=tuple(_link(key, one) for one in _list(node["links"], dict)),
        )
    except _BROKEN as error:
        raise InvalidInput(f"{path}: node {place} is broken: {_why(error)}") from None


def _link(source: str, link: Mapping[str, Any]) -> NewLink:
    if link["type"] not in _TYPES:
        raise ValueError(f"{link['type']!r} is no type of a link")
    return NewLink(source, _of(link["target"], str), link["type"], _share(link["weight"]), _number(link["strength"], 1))


def _refusal(saved: Mapping[str, Any]) -> GateDecision:
    return GateDecision(
        formed=False,
        value=_share(saved["value"]),
        threshold=_share(saved["threshold"]),
        form=_of(saved["form"], str),
        relevance=_share(saved["relevance"]),
        surprise=_share(saved["surprise"]),
        conflict=_share(saved["conflict"]),
        decided_at=_aware(datetime.fromisoformat(saved["decided_at"])),
    )


def _inertia(saved: Mapping[str, Any]) -> InertiaState:
    vector = None if saved["vector"] is None else np.array(_list(saved["vector"], (float, int)), dtype=np.float64)
    if vector is not None and not ((np.abs(vector) < _LONGEST).all() and np.linalg.norm(vector) < _LONGEST):
        raise ValueError("an inertia is not finite, or longer than can be")
    strength, gamma, cluster = saved["strength"], saved["gamma"], saved["cluster"]
    if strength is not None and not (math.isfinite(strength) and strength >= 0):
        raise ValueError(f"strength is {strength}")
    if gamma is not None and not 0 < gamma <= 1:
        raise ValueError(f"gamma is {gamma}")
    single = None if vector is None else vector.astype(np.float32)  # checked before: what is too large overflows here
    return InertiaState(single, strength, gamma, None if cluster is None else _number(cluster, 1))


def _of(value: Any, kind: type) -> Any:
    if not isinstance(value, kind):
        raise TypeError(f"{value!r:.40} is no {kind.__name__}")
    return value


def _list(values: Any, kind: type | tuple[type, ...]) -> list[Any]:
    if not isinstance(values, list) or not all(isinstance(value, kind) for value in values):
        raise TypeError(f"{values!r:.40} is not the list that belongs there")
    return values


def _number(value: Any, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value < 2**62:
        raise ValueError(f"{value!r:.40} is no whole number from {least} on")
    return value


def _share(value: Any) -> float:
    if not 0.0 <= value <= 1.0:
        raise ValueError(f"{value!r:.40} does not lie in [0, 1]")
    return float(value)


def _aware(moment: datetime) -> datetime:
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _why(error: Exception) -> str:
    return f"{error} missing" if isinstance(error, KeyError) else str(error)
