"""A scope in which every job of the night has something to do, what must hold of it afterwards, and a life to kill.

`python -m tests.support.life_workloads HOME USER NOTES SEED` lives until it is killed: it remembers, recalls, gives
feedback and sleeps, and notes durably what was acknowledged.
"""

import json
import os
import random
import sys
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg

import biem
from biem.domain.policies.jobs import SleepPolicy
from tests.support.fakes import WordEmbedder, eventually
from tests.support.workloads import in_milvus

ONLY_SLEEP = SleepPolicy(
    sweep_s=0.0,
    build_s=0.0,
    forget_s=0.0,
    consolidate_s=0.0,
    crystallise_s=0.0,
    lifecycle_s=0.0,
    links_s=0.0,
    integrity_s=0.0,
    decisions_s=0.0,
    mirror_s=0.0,
    sessions_s=0.0,
)
"""No job runs on its own: nothing happens behind a story's back."""
HABIT = "Li Ming runs along the old river every single morning before breakfast with his dog Rex"
CLUSTER = [HABIT + how for how in ("", " happily", " again", " alone", " slowly")]
CHOIR = "The choir of the white church by the market square rehearses a mass by Haydn every Tuesday evening"
MERGED = [f"{CHOIR} loudly", f"{CHOIR} softly"]
DOUBLES = ["The parcel locker opens with code 7714!", "the parcel locker opens with code 7714"]
NOISE = [f"Bus {number} was late" for number in range(1, 5)]
TALK = ["The saffron harvest begins in October", "The saffron fields belong to my uncle", "Saffron costs a fortune"]
BRIDGE = ["The old bridge is open", "The old bridge is closed"]


def embedder() -> WordEmbedder:
    """Wide enough that texts are alike only by their words."""
    return WordEmbedder(dim=512)


def story(memory: biem.Memory, name: str = "") -> dict[str, str]:
    """Write something for every job, and praise the cluster; ids by name. Due once five days have passed."""
    now = memory.now()
    items: dict[str, dict[str, Any]] = {}
    for number, text in enumerate(CLUSTER):
        items[f"cluster {number}"] = {"text": text, "speaker": "Ann", "conversation": "sport"}
    for number, text in enumerate(MERGED):
        items[f"merged {number}"] = {"text": text, "layer": "long_term"}
    for number, text in enumerate(DOUBLES):
        items[f"double {number}"] = {"text": text}
    for number, text in enumerate(NOISE):
        items[f"noise {number}"] = {"text": text, "speaker": "Ann", "conversation": "bus", "importance": 1}
    for number, text in enumerate(TALK):
        items[f"talk {number}"] = {"text": text, "speaker": "Ann", "conversation": "farm"}
    for number, text in enumerate(BRIDGE):
        items[f"bridge {number}"] = {"text": text, "at": now + timedelta(seconds=number)}
    ids = memory.remember_many(items.values(), wait=True)
    named = dict(zip(items, ids, strict=True))
    memory.feedback(useful=[named[f"cluster {number}"] for number in range(5)], turn=f"praise {name}")
    return named


_FAULTS = {
    "a fact told twice": """
        SELECT fact_key FROM memories WHERE ns = %(ns)s AND fact_key IS NOT NULL AND superseded_by IS NULL
        GROUP BY 1 HAVING count(*) > 1""",
    "a link that dangles or leads out of the scope": """
        SELECT l.source_id, l.target_id FROM crystal_links l WHERE l.ns = %(ns)s AND NOT l.deleted AND (
            NOT EXISTS (SELECT FROM graph_nodes n WHERE n.id = l.source_id::uuid AND n.ns = l.ns)
            OR NOT EXISTS (SELECT FROM graph_nodes n WHERE n.id = l.target_id::uuid AND n.ns = l.ns))""",
    "something made of another scope's memory": """
        SELECT d.memory_id FROM derivations d
        JOIN memories m ON m.id = d.memory_id JOIN memories s ON s.id = d.source_id
        WHERE d.ns = %(ns)s AND (m.ns <> d.ns OR s.ns <> d.ns)""",
    "a successor that is not there, or in another scope": """
        SELECT m.id FROM memories m LEFT JOIN memories h ON h.id = m.superseded_by AND h.ns = m.ns
        WHERE m.ns = %(ns)s AND m.superseded_by IS NOT NULL AND h.id IS NULL""",
    "a crystal fact made twice": """
        SELECT metadata ->> 'sources_hash' FROM crystal_facts WHERE ns = %(ns)s GROUP BY 1 HAVING count(*) > 1""",
    "a crystal fact without its memory": """
        SELECT f.id FROM crystal_facts f LEFT JOIN memories m ON m.id = f.id AND m.ns = f.ns
        WHERE f.ns = %(ns)s AND m.id IS NULL""",
    "a conflict with another scope": """
        SELECT c.id FROM conflicts c JOIN memories o ON o.id = c.older_id JOIN memories n ON n.id = c.newer_id
        WHERE c.ns = %(ns)s AND (o.ns <> c.ns OR n.ns <> c.ns)""",
    "a concept of another scope's memory": """
        SELECT s.item_id FROM concept_sources s JOIN memories m ON m.id = s.memory_id
        WHERE s.ns = %(ns)s AND m.ns <> s.ns""",
    "a tier that is not true": """
        SELECT id FROM memories WHERE ns = %(ns)s AND (status = 'archived') <> (tier = 'L3')""",
    "a replacement whose links were not taken over": """
        SELECT memory_id FROM derivations WHERE ns = %(ns)s AND NOT linked""",
}


def faults(dsn: str, ns: str) -> dict[str, list[Any]]:
    """What must never be in a scope, seen as superuser: doubled, dangling or leaked; by name."""
    with psycopg.connect(dsn, autocommit=True) as admin:
        found = {name: admin.execute(query.encode(), {"ns": ns}).fetchall() for name, query in _FAULTS.items()}
    return {name: rows for name, rows in found.items() if rows}


def converges(memory: biem.Memory) -> bool:
    """Whether nights find nothing left to do, once what they made has been indexed and looked at, too."""
    for _ in range(4):
        assert memory.flush()
        report = memory.sleep()
        if not report.failed and not report.changed:
            return True
    return False


def night_is_done(memory: biem.Memory, ids: Mapping[str, str], dsn: str, milvus: str) -> None:
    """What one night makes of `story`, exactly once, however often it was interrupted."""
    assert converges(memory)
    now = {name: memory.get(key) for name, key in ids.items()}
    status = {name: node.status for name, node in now.items()}
    assert {name for name, kind in status.items() if kind == "archived"} - {"double 0", "double 1"} == {
        "merged 0", "merged 1", *(f"noise {number}" for number in range(4)),
    }  # fmt: skip
    # Of two that say the same one is left, and the other says which
    gone = [name for name in ("double 0", "double 1") if status[name] == "archived"]
    kept = [name for name in ("double 0", "double 1") if status[name] == "active"]
    assert [now[name].superseded_by for name in gone] == [ids[name] for name in kept]
    # Two long-term facts are one
    heirs = {now[name].superseded_by for name in ("merged 0", "merged 1")}
    [heir] = heirs
    assert heir is not None
    merged = memory.get(heir)
    assert (merged.status, merged.layer) == ("active", "long_term")
    assert sorted(merged.metadata["merged_from"]) == sorted(ids[name] for name in ("merged 0", "merged 1"))
    # Five that were of use are one fact, and stay
    [fact] = memory.facts()
    assert sorted(fact.source_node_ids) == sorted(ids[f"cluster {number}"] for number in range(5))
    assert [now[f"cluster {number}"].useful_count for number in range(5)] == [1] * 5
    # The bridge is closed
    assert now["bridge 0"].superseded_by == ids["bridge 1"]
    [pair] = [pair for pair in memory.conflicts(status=None) if pair.kind != "duplicate"]
    assert (pair.older_id, pair.newer_id) == (ids["bridge 0"], ids["bridge 1"])
    # Nothing else was made, nothing is doubled
    active = {node.id for node in now.values() if node.status == "active"} | {heir, fact.id}
    assert int(memory.stats()["active"]) == len(active)
    assert int(memory.stats()["memories"]) == len(ids) + 2
    assert faults(dsn, memory.bound_to.ns) == {}
    eventually(lambda: sorted(in_milvus(milvus, ns=memory.bound_to.ns)) == sorted(active))
    assert memory.related("saffron")


# -- a life -----------------------------------------------------------------------------------------------------------


class Notes:
    """What was acknowledged, a JSON array a line; durable when `write` returns."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("a")

    def write(self, *words: object) -> None:
        """Note one event."""
        self._file.write(json.dumps(words) + "\n")
        self._file.flush()
        os.fsync(self._file.fileno())

    @staticmethod
    def read(path: Path) -> list[list[Any]]:
        """All events; the last line of a killed process may be half-written."""
        found = []
        for text in path.read_text().splitlines():
            try:
                found.append(json.loads(text))
            except ValueError:
                continue
        return found


def live(home: str, user: str, path: str, seed: str) -> None:
    """Never ends; what is tried is noted before, what is acknowledged after."""
    chance = random.Random(int(seed))
    notes = Notes(Path(path))
    with biem.connect(home=home, scope=biem.Scope(user=user), embedder=embedder()) as memory:
        other = memory.scope(user=f"{user} too")
        for number in range(1_000_000):
            name = f"s{seed}n{number}"
            _keep(notes, memory, f"{name} is a text of its own about topic{chance.randrange(9)}", speaker="Ann")
            if number % 10 == 0:
                for text in CLUSTER:
                    _keep(notes, memory, text, speaker="Ann", conversation=name)
                _keep(notes, memory, f"Locker {name} opens with code 77!")
                _keep(notes, memory, f"locker {name} opens with code 77")
                _keep(notes, other, f"The secret {name} of the other one", speaker="Bo")
            if number % 2 == 0:
                found = [hit.node.id for hit in memory.recall(f"topic{chance.randrange(9)} river morning", top_k=5)]
                turn = f"turn {name}"
                notes.write("try", turn, found[:2])
                memory.feedback(useful=found[:2], useless=found[2:3], turn=turn)
                notes.write("praised", turn, found[:2])
            if number % 5 == 4:
                memory.sleep()
                other.sleep()
                notes.write("slept")


def _keep(notes: Notes, memory: biem.Memory, text: str, **details: Any) -> None:
    notes.write("kept", memory.bound_to.user, memory.remember(text, **details), text)


if __name__ == "__main__":
    live(*sys.argv[1:])
