"""What `benchmarks.chaos` finds: each store is looked into with its own client, and every word is recalled."""

import random
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import psycopg
import redis
from psycopg import sql
from pymilvus import MilvusClient

import biem
from benchmarks._chaos_client import TOKEN
from biem.bootstrap import Servers
from biem.domain.scope import Scope

_PAGE = 16_000
OUTAGES = ("StoreUnavailable", "EmbedderUnavailable", "NotFound")
"""Errors that callers may meet here; NotFound, for another process erases what this one wants."""


@dataclass(slots=True)
class Story:
    """What the clients of one scope know of one token: its text, whether it was acknowledged, and what came of it."""

    scope: Scope
    text: str
    memory_id: str = ""
    fate: str = "tried"
    """tried, kept, erasing, erased, archiving: the last of these words that was noted."""


@dataclass(slots=True)
class Verdict:
    """Tokens by their fault, and broken invariants."""

    acked: int = 0
    erased: int = 0
    lost: set[str] = field(default_factory=set)
    doubled: set[str] = field(default_factory=set)
    leaked: set[str] = field(default_factory=set)
    resurrected: set[str] = field(default_factory=set)
    broken: list[str] = field(default_factory=list)
    traces: list[str] = field(default_factory=list)
    """Details of each lost memory."""


def stories(events: Mapping[Scope, Sequence[Sequence[Any]]], verdict: Verdict) -> dict[str, Story]:
    """The story of each token; what a client saw with its own eyes goes into the verdict.

    Several clients may tell of one token, in any order: an erasure by any client is the end of its story.
    """
    told: dict[str, Story] = {}
    doomed: dict[str, str] = {}
    missing: Counter[str] = Counter()
    erasures: Counter[str] = Counter()
    for scope, lines in events.items():
        for kind, *rest in lines:
            if kind == "try":
                told[rest[0]] = Story(scope, rest[1])
            elif kind == "kept":
                told[rest[0]].memory_id, told[rest[0]].fate = rest[1], "kept"
            elif kind in ("erasing", "erased"):
                erasures[rest[0]] += kind == "erasing"
                doomed[rest[0]] = "erased" if "erased" in (kind, doomed.get(rest[0])) else kind
            elif kind == "missing":
                missing[rest[0]] += 1
            elif kind == "archiving":
                told[rest[0]].fate = kind
            elif kind == "restored":
                told[rest[0]].fate = "kept"
            elif kind in ("leaked", "resurrected"):
                getattr(verdict, kind).update(TOKEN.findall(rest[0]) or [rest[0]])
            elif kind == "broken":
                verdict.broken.append(rest[0])
            elif kind == "refused" and rest[0] not in OUTAGES:
                verdict.broken.append(": ".join(rest))
    for token, fate in doomed.items():
        told[token].fate = fate
    for token, count in missing.items():
        if count == erasures[token]:  # no client that tried to erase it found it
            verdict.lost.add(token)
            verdict.traces.append(f"{token} was not there when it was to be erased")
    verdict.acked = sum(bool(story.memory_id) for story in told.values())
    verdict.erased = sum(story.fate == "erased" for story in told.values())
    return told


def judge(where: Servers, memory: biem.Memory, told: Mapping[str, Story], seed: int, verdict: Verdict) -> None:
    """Look for every token where it must be and where it must not be."""
    _stored(where, told, verdict)
    chance = random.Random(f"check {seed}")
    scopes = sorted({story.scope for story in told.values()}, key=str)
    for token, story in told.items():
        if not story.memory_id:
            continue
        own = memory.scope(tenant=story.scope.tenant, user=story.scope.user, project=story.scope.project)
        hits = [hit.node for hit in own.recall(token, top_k=5) if token in hit.node.text]
        if story.fate == "erased" and (hits or _there(own, story.memory_id)):
            verdict.resurrected.add(token)
        kept = bool(hits) and _is_held(own, story.memory_id, token)
        if (story.fate == "kept" and not kept) or (story.fate == "archiving" and not _there(own, story.memory_id)):
            verdict.lost.add(token)
            verdict.traces.append(_trace(own, token, story))
        if len([node for node in hits if node.text == story.text]) > 1:
            verdict.doubled.add(token)
        strangers = [scope for scope in scopes if story.scope not in scope.readable]
        other = chance.choice(strangers)
        theirs = memory.scope(tenant=other.tenant, user=other.user, project=other.project)
        if any(token in hit.node.text for hit in theirs.recall(token, top_k=5)):
            verdict.leaked.add(token)


def _trace(memory: biem.Memory, token: str, story: Story) -> str:
    try:
        node = memory.get(story.memory_id)
    except biem.NotFound:
        return f"{token} is gone from PostgreSQL, too"
    state = f"{node.status} {node.tier} valid to {node.valid_to} superseded by {node.superseded_by}"
    while node.superseded_by is not None and len(state) < 4_000:
        node = memory.get(node.superseded_by)
        state += f", which is {node.status} ({node.kind}) and says {node.text!r}, superseded by {node.superseded_by}"
    hits = memory.recall(token, top_k=50)
    saying = sum(token in hit.node.text for hit in hits)
    return f"{token} is {state}; a later recall finds {len(hits)}, of which {saying} say it: {story.text!r}"


def _is_held(memory: biem.Memory, memory_id: str, token: str) -> bool:
    """Whether this memory, or the one that stands for it in the end, lives and still says the token."""
    seen: set[str] = set()
    while memory_id not in seen:
        seen.add(memory_id)
        try:
            node = memory.get(memory_id)
        except biem.NotFound:
            return False
        if node.superseded_by is None:
            return node.status in ("active", "pending") and token in node.text
        memory_id = node.superseded_by
    return False  # each stands for the other: none holds


def _there(memory: biem.Memory, memory_id: str) -> bool:
    try:
        memory.get(memory_id)
    except biem.NotFound:
        return False
    return True


def _stored(where: Servers, told: Mapping[str, Story], verdict: Verdict) -> None:
    """Every row of every store that holds a token: whose it is, how often it is there, and whether it may be there."""
    places: dict[str, set[str]] = defaultdict(set)
    with psycopg.connect(where.postgres_dsn, autocommit=True) as admin:
        rows = admin.execute("SELECT text, ns FROM memories WHERE source = ''").fetchall()
        for table, scoped in _tables(admin):
            columns = sql.SQL("{}, t::text").format(sql.Identifier("ns") if scoped else sql.SQL("''"))
            for ns, row in admin.execute(sql.SQL("SELECT {} FROM {} t").format(columns, sql.Identifier(table))):
                for token in TOKEN.findall(row):
                    places[token].add(ns)
    indexed = _indexed(where)
    for memory_id, ns, lexemes in indexed:
        for token in TOKEN.findall(lexemes):
            places[token].add(ns)
            if memory_id == told[token].memory_id and told[token].fate == "erased":
                verdict.resurrected.add(token)
    for token in _cached(where.redis_url):
        places[token].add("")
    by_id = Counter(memory_id for memory_id, _, _ in indexed)
    by_text = Counter(text for text, _ in rows)
    for token, story in told.items():
        if by_text[story.text] > 1 or by_id[story.memory_id] > 1:
            verdict.doubled.add(token)
        if places[token] - {story.scope.ns, ""}:
            verdict.leaked.add(token)
        if story.fate == "erased" and places[token]:
            verdict.resurrected.add(token)


def _tables(admin: psycopg.Connection[Any]) -> list[tuple[str, bool]]:
    """Every table, and whether its rows say whose they are."""
    return admin.execute(
        """
        SELECT c.relname, EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'ns')
        FROM pg_class c WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace
        """
    ).fetchall()


def _indexed(where: Servers) -> list[tuple[str, str, str]]:
    """Id, scope and words of every row of every collection."""
    client = MilvusClient(uri=where.milvus_uri, token=where.milvus_token, dedicated=True)
    try:
        found = []
        for collection in client.list_collections():
            client.load_collection(collection)
            rows = client.query(
                collection, filter='id != ""', output_fields=["id", "ns", "lexemes"], limit=_PAGE,
                consistency_level="Strong",
            )  # fmt: skip
            if len(rows) == _PAGE:
                raise ValueError("more rows than can be compared; use fewer seconds")
            found += [(str(row["id"]), str(row["ns"]), str(row["lexemes"])) for row in rows]
        return found
    finally:
        client.close()


def _cached(url: str) -> set[str]:
    """Tokens in any key or value of Redis."""
    found: set[str] = set()
    with redis.Redis.from_url(url) as client:
        readers: dict[bytes, Any] = {
            b"string": client.get,
            b"list": lambda key: client.lrange(key, 0, -1),
            b"hash": client.hgetall,
            b"set": client.smembers,
            b"zset": lambda key: client.zrange(key, 0, -1),
        }
        for key in client.scan_iter():
            read = readers.get(bytes(client.type(key)))
            found.update(TOKEN.findall(repr((key, read(key) if read else b""))))
    return found
