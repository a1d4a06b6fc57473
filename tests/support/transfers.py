"""A scope with everything that an export tells of, and what is compared of it before and after a journey."""

import io
import json
import uuid
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import biem
from tests.support.fakes import HeldClock, eventually
from tests.support.life_workloads import BRIDGE, CLUSTER, DOUBLES, MERGED, NOISE, TALK

ODD = "Zeile\u2028zwei\x85drei \x01\x7f \U0001f469\u200d\U0001f680 \ufeff 中文，全角　空格 e\u0301"
"""Characters that some readers take for line breaks, control characters, and composed ones."""


@dataclass
class House:
    """A memory in a scope of the test's own, and the clock of its process."""

    memory: biem.Memory
    clock: HeldClock

    def other(self) -> biem.Memory:
        """A scope of another user."""
        return self.memory.scope(user=uuid.uuid4().hex)


def lived(house: House) -> list[str]:
    """Everything that a scope may hold: talk, facts, merges, decisions made and taken back, links, feedback."""
    memory, clock = house.memory, house.clock
    now = clock.now()
    told: list[dict[str, Any]] = [{"text": text, "speaker": "Ann", "conversation": "sport"} for text in CLUSTER]
    told += [{"text": text, "layer": "long_term"} for text in MERGED]
    told += [{"text": text} for text in DOUBLES]
    told += [{"text": text, "speaker": "Bo", "conversation": "bus", "importance": 1} for text in NOISE]
    told += [{"text": text, "conversation": "农场", "importance": 4.5, "speaker": "安"} for text in TALK]
    told += [{"text": text, "at": now + timedelta(seconds=n), "ref": text} for n, text in enumerate(BRIDGE)]
    told += [
        {"text": f"{name} works at {firm}", "at": now + timedelta(hours=hour)}
        for name in ("Ann", "Bo", "Cid", "Dan")
        for hour, firm in enumerate(("Acme", "Globex"))
    ]
    told += [{"text": "Yes, that is so", "speaker": "Ann", "conversation": "nods"} for _ in range(3)]
    told.append(
        {"text": ODD, "tags": ["标签", "a b"], "metadata": {"ключ": [1, 2.5, None, {"deep": ODD}]}, "reason": "因为"}
    )
    told.append({"text": "Soon gone", "expires_at": now + timedelta(days=2)})
    told.append({"text": "From a page", "origin": "web", "trust": "untrusted"})
    ids = memory.remember_many(told, wait=True)
    assert memory.flush()
    named = {pair.older_text.split()[0]: pair.id for pair in memory.conflicts() if "works at" in pair.older_text}
    memory.resolve(named["Ann"], "keep_new")
    memory.resolve(named["Bo"], "merge")
    memory.resolve(named["Cid"], "keep_old")
    memory.undo(named["Cid"])
    memory.feedback(useful=ids[:5], useless=[ids[-3]], turn="回合")
    memory.archive(ids[-1], "no longer wanted")
    for _ in range(3):
        found(memory, CLUSTER[0])
    clock.advance(days=1)
    memory.sleep()
    clock.advance(days=4)
    memory.sleep()
    assert memory.flush()
    return ids


def exported(memory: biem.Memory, **where: Any) -> bytes:
    """The bytes of the file."""
    out = io.BytesIO()
    memory.export(out, **where)
    return out.getvalue()


def lines(data: bytes) -> list[dict[str, Any]]:
    """Its lines."""
    return [json.loads(line) for line in data.split(b"\n") if line]


def answers(memory: biem.Memory) -> list[list[str]]:
    """What some questions find, when all that they found was counted."""
    return [
        found(memory, query)
        for query in ("Where does Bo work?", "saffron", "the bridge", "river dog morning", "番红花")
    ]


def found(memory: biem.Memory, query: str) -> list[str]:
    """The ids that a question finds; returns when their accesses were counted."""
    hits = memory.recall(query, top_k=8)
    eventually(lambda: all(memory.get(hit.node.id).access_count > hit.node.access_count for hit in hits))
    return sorted(hit.node.id for hit in hits)
