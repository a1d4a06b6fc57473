"""The file of a saved AIM memory is taken whole or not at all, and what is wrong with it is said."""

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from biem.engine.aim.snapshot_file import read
from biem.errors import InvalidInput

NODE = {
    "id": "n1", "evidence_text": "林晓对花生严重过敏 🌊", "at": "2026-05-04T09:00:00+00:00", "kind": "event",
    "layer": "short_term", "reason": "", "importance": 3.0, "source": "", "speaker": "林晓", "conversation": "对话",
    "ref": None, "tags": [], "metadata": {}, "formed": True, "mirror_seq": 1, "refusal": None,
    "links": [{"target": "n2", "type": "semantic", "weight": 0.9, "strength": 1}],
}  # fmt: skip
REFUSAL = {
    "formed": False, "value": 0.4, "threshold": 0.6, "form": "centered", "relevance": 1.0, "surprise": 0.0,
    "conflict": 0.0, "decided_at": "2026-05-04T09:00:00+00:00",
}  # fmt: skip
SAVED = {
    "format": "biem-aim", "version": 1, "scope": "default/ada", "model": "m", "config": {}, "mirror_seq": 1,
    "inertia": {"对话": {"vector": [0.5, 0.25], "strength": None, "gamma": 0.9, "cluster": 16}}, "hot": ["n1"],
    "nodes": [NODE, NODE | {"id": "n2", "formed": False, "mirror_seq": None, "refusal": REFUSAL, "links": []}],
}  # fmt: skip

Change = Callable[[dict[str, Any]], object]


def written(path: Path, change: Change = lambda saved: None) -> Path:
    saved = copy.deepcopy(SAVED)
    change(saved)
    file = path / "aim.json"
    file.write_text(json.dumps(saved), encoding="utf-8")
    return file


@pytest.mark.req("A54", partly="the file")
def test_a_whole_file_is_read_as_it_was_written(tmp_path: Path) -> None:
    saved = read(written(tmp_path))
    first, second = saved.nodes
    assert (first.id, first.text, first.mirror_seq, first.formed) == ("n1", NODE["evidence_text"], 1, True)
    assert [(link.source, link.target, link.weight) for link in first.links] == [("n1", "n2", 0.9)]
    assert second.refusal is not None
    assert (second.refusal.formed, second.refusal.value) == (False, 0.4)
    state = saved.inertia["对话"]
    assert state.vector is not None
    assert (state.vector.tolist(), state.gamma, state.cluster) == ([0.5, 0.25], 0.9, 16)


def _node(**values: Any) -> Change:
    return lambda saved: saved["nodes"][1].update(values)


def _heading(**values: Any) -> Change:
    return lambda saved: saved["inertia"]["对话"].update(values)


@pytest.mark.parametrize(
    "change",
    [
        *(lambda saved, name=name: saved.pop(name) for name in SAVED),
        *(lambda saved, name=name: saved["nodes"][0].pop(name) for name in NODE),
        *(lambda saved, name=name: saved.update({name: None}) for name in SAVED),
        *(lambda saved, name=name: saved.update({name: "x"}) for name in ("nodes", "inertia", "hot", "mirror_seq")),
        lambda saved: saved.update(mirror_seq=-1),
        lambda saved: saved.update(mirror_seq=0),
        lambda saved: saved.update(mirror_seq=2**80),
        lambda saved: saved.update(hot=[1]),
        lambda saved: saved.update(nodes=[1]),
        lambda saved: saved.update(inertia={"c": {}}),
        lambda saved: saved["nodes"].append(NODE),
        _heading(vector=[float("nan"), 0.0]),
        _heading(vector=[9.0, 9.0]),
        _heading(vector=[1e20, 0.0]),
        _heading(vector=[1e300, 0.0]),
        _heading(vector=[10**400, 0]),
        _heading(vector=["a"]),
        _heading(vector="abc"),
        _heading(gamma=0),
        _heading(gamma="x"),
        _heading(strength=-1),
        _heading(cluster=0),
        _node(id=7),
        _node(evidence_text=None),
        _node(at="yesterday"),
        _node(at=5),
        _node(formed="yes"),
        _node(mirror_seq="1"),
        _node(mirror_seq=True),
        _node(refusal={"value": 1}),
        _node(refusal=REFUSAL | {"value": 2}),
        _node(refusal=REFUSAL | {"decided_at": "x"}),
        _node(links=[{"target": "n1"}]),
        _node(links=[{"target": "n1", "type": "weird", "weight": 0.5, "strength": 1}]),
        _node(links=[{"target": "n1", "type": "temporal", "weight": 7, "strength": 1}]),
        _node(links=[{"target": "n1", "type": "temporal", "weight": 0.5, "strength": 0}]),
        _node(links="n1"),
    ],
)
def test_a_broken_file_is_refused_as_such(tmp_path: Path, change: Change) -> None:
    with pytest.raises(InvalidInput, match=r"aim\.json"):
        read(written(tmp_path, change))


@pytest.mark.parametrize("content", [b"", b"[]", b"\xff\xfe\x00", b"{" * 100_000, b'{"format": "biem-aim"', b"null"])
def test_what_is_no_such_file_at_all_is_refused(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "aim.json"
    file.write_bytes(content)
    with pytest.raises(InvalidInput, match=r"aim\.json"):
        read(file)
