"""The cache of vectors: a text that two threads ask for at once is embedded once."""

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from biem.adapters.embedders.cached import CachedEmbedder
from biem.errors import EmbedderUnavailable
from biem.ports import Role, Vectors
from tests.support.fakes import WordEmbedder, eventually


class SlowEmbedder(WordEmbedder):
    """Begins to embed when it is asked, and ends when it is instructed to; its first call may fail."""

    def __init__(self, *, fails: bool = False) -> None:
        super().__init__()
        self.begun, self.may_end = threading.Event(), threading.Event()
        self.fails = fails

    def embed(self, texts: Sequence[str], role: Role) -> Vectors:
        self.begun.set()
        assert self.may_end.wait(60)
        if self.fails:
            self.fails = False
            raise EmbedderUnavailable("down")
        return super().embed(texts, role)


@pytest.mark.parametrize("megabytes", [1, 0])
def test_a_text_that_two_threads_ask_for_at_once_is_embedded_once(megabytes: int) -> None:
    # Given a thread that embeds a text
    slow = SlowEmbedder()
    cached = CachedEmbedder(slow, megabytes << 20)
    with ThreadPoolExecutor(2) as threads:
        first = threads.submit(cached.embed, ["which lamp", "which"], "query")
        assert slow.begun.wait(60)
        # When another asks for it, and for one more
        second = threads.submit(cached.embed, ["which lamp", "other"], "query")
        eventually(lambda: len(cached._running) == 3)
        slow.may_end.set()
        one, two = first.result(60), second.result(60)
    # Then each text was embedded once, and both have the same vector
    texts = [text for call in slow.calls for text in call]
    assert sorted(texts) == ["other", "which", "which lamp"]
    assert np.array_equal(one[0], two[0])
    assert cached._running == {}


def test_where_the_other_thread_fails_the_text_is_embedded_again() -> None:
    slow = SlowEmbedder(fails=True)
    cached = CachedEmbedder(slow, 1 << 20)
    with ThreadPoolExecutor(2) as threads:
        first = threads.submit(cached.embed, ["which lamp"], "query")
        assert slow.begun.wait(60)
        second = threads.submit(cached.embed, ["which lamp"], "query")
        slow.may_end.set()
        with pytest.raises(EmbedderUnavailable):
            first.result(60)
        assert second.result(60).shape == (1, 64)
    assert cached._running == {}
