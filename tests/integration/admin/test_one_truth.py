"""PostgreSQL alone is the truth: what Milvus and Redis lose comes back from it, and files are ways in and out."""

from collections.abc import Callable
from pathlib import Path

import pytest
import redis

import biem
from biem.bootstrap import Servers
from biem.domain.policies.jobs import SleepPolicy
from tests.support.systems import System, system

TEXTS = ("Ann likes green tea", "Bob plays chess on Sundays", "林晓住在里斯本的酒店", "The boat is moored at number 17")
QUESTIONS = ("What does Ann like to drink?", "林晓住在哪里？", "Where is the boat?")


def told(memory: biem.Memory) -> list[list[str]]:
    """What questions are answered with, best first, by vectors and words."""
    return [[hit.node.text for hit in memory.recall(question, top_k=4)] for question in QUESTIONS]


def forget_all(town: System, ns: str) -> int:
    """Take from Milvus the collection and from Redis the keys of this scope; how many keys there were."""
    with town.index() as index:
        index.open()
        index.drop()
    cache = redis.Redis.from_url(town.where.redis_url)
    keys = list(cache.scan_iter(f"*{ns}*"))
    return int(cache.delete(*keys)) if keys else 0


@pytest.mark.req("C14")
def test_what_the_projections_lost_comes_back_and_files_take_a_scope_out_and_in(stack: Servers, tmp_path: Path) -> None:
    with system(stack, sleep=SleepPolicy(off=("mirror",))) as town:
        # Given memories that are indexed and in HotKV, and both exports of them
        town.filled(TEXTS)
        with town.connect() as memory:
            before, ns = told(memory), memory.bound_to.ns
            hot = sorted(node.text for node in memory.list(tier="L1").items)
            memory.export(tmp_path / "scope.jsonl")
            memory.mirror.export(tmp_path / "folder")
        assert set(TEXTS) == {text for texts in before for text in texts}
        assert hot

        # When Milvus and Redis lose everything / Then PostgreSQL fills both again, and the answers are the same
        assert forget_all(town, ns) > 0
        with town.connect() as memory:
            memory.reindex()
            assert told(memory) == before
            assert sorted(node.text for node in memory.list(tier="L1").items) == hot

            # When the scope is erased, too, and a file is taken in / Then it answers alike, from JSON and from Markdown
            ways: list[Callable[[], object]] = [
                lambda: memory.import_(tmp_path / "scope.jsonl"),
                lambda: memory.mirror.import_folder(tmp_path / "folder"),
            ]
            for bring in ways:
                memory.erase(memory.bound_to)
                assert told(memory) == [[], [], []]
                bring()
                assert memory.flush()
                assert told(memory) == before

            # When a file is changed by hand and taken in / Then its memory says what the file says
            (changed,) = (
                file for file in (tmp_path / "folder").rglob("*.md") if "number 17" in file.read_text("utf-8")
            )
            changed.write_text(changed.read_text("utf-8").replace("number 17", "number 18"), "utf-8")
            memory.erase(memory.bound_to)
            memory.mirror.import_folder(tmp_path / "folder")
            assert memory.flush()
            assert "The boat is moored at number 18" in told(memory)[2]
