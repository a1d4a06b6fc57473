"""A folder of notes and a memory that reads it."""

import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

import biem
from biem.bootstrap import Servers
from biem.domain.policies.jobs import SleepPolicy
from tests.support.fakes import WordEmbedder
from tests.support.servers import Configure

WEAPONS = """# 乌髓孑灯

## 基本信息

**元素属性**：火，法器，基础攻击力 608。

## 武器故事

传说中，一盏孤灯照亮了荒原上的旅人，他们称它为“长夜之光”。
"""
PLAN = """---
tags: [travel]
date: 2026-03-14
---
# Lisbon plan

Text before the sections.

## Flights

We fly with the morning plane on Friday, seat 14C.

## Hotel

The hotel is near the river and has breakfast until ten.
"""


@pytest.fixture
def memory(settings: Configure, embedder: WordEmbedder) -> Iterator[biem.Memory]:
    """A memory that scans on request only, and leaves no library behind that others on these servers would scan."""
    alone = settings(sleep=SleepPolicy(off=("notes",)))
    with biem.connect(alone, scope=biem.Scope(user=uuid.uuid4().hex), embedder=embedder) as opened:
        yield opened
        opened.erase(user=opened.bound_to.user)


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    """A folder of two notes."""
    root = tmp_path / "vault"
    for name, text in (("武器/法器/乌髓孑灯.md", WEAPONS), ("plans/lisbon.md", PLAN)):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


@pytest.fixture
def pass_time(stack: Servers) -> Iterator[Callable[[str], None]]:
    """Ends the leases of a scope, and has its erased ids looked for, as time would."""
    with psycopg.connect(stack.postgres_dsn, autocommit=True) as connection:

        def end(ns: str) -> None:
            connection.execute("UPDATE notes SET due_at = clock_timestamp() WHERE ns = %s", (ns,))
            connection.execute("UPDATE tombstones SET look_at = clock_timestamp() WHERE ns = %s", (ns,))

        yield end
