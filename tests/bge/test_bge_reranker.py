"""The BGE reranker through the real FlagEmbedding and torch, on a tiny checkpoint made here: `make test-bge`."""

import importlib
import importlib.util
import os
import threading
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from biem.adapters import rerankers
from biem.adapters.rerankers.bge import BgeReranker
from biem.errors import ConfigError, RerankerUnavailable
from biem.ports.embedding import Reranker

if importlib.util.find_spec("FlagEmbedding") is None:
    pytest.skip("torch and FlagEmbedding are not installed here; run: make test-bge", allow_module_level=True)

from tests.bge.test_bge import make_checkpoint

pytestmark = pytest.mark.filterwarnings("ignore")  # torch's and transformers', not ours

QUERY = "Where did Tom spend his holiday?"
TEXTS = ["Tom spent it in Rome", "他对花生过敏", "ok", "about nothing in particular " * 400]


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tokenizer of the tiny BGE-M3, and a random classifier of one label."""
    folder = tmp_path_factory.mktemp("hub") / "tiny-reranker"
    folder.mkdir()
    make_checkpoint(folder)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from transformers import XLMRobertaConfig, XLMRobertaForSequenceClassification

        shape = XLMRobertaConfig.from_pretrained(folder)
        shape.num_labels = 1
        XLMRobertaForSequenceClassification(shape).eval().save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def reranker(checkpoint: Path) -> Iterator[Reranker]:
    built = rerankers.build("bge", model=str(checkpoint), devices="cpu")
    yield built
    built.close()
    built.close()


@pytest.mark.req("G48", partly="a cross-encoder in this process")
def test_each_text_gets_a_score_that_does_not_depend_on_the_others(reranker: Reranker) -> None:
    # Given texts of both languages, empty and long ones / When they are judged together and alone
    together = reranker.rerank(QUERY, TEXTS, 60.0)
    alone = [reranker.rerank(QUERY, [text], 60.0)[0] for text in TEXTS]

    # Then each has a score in [0, 1], the same in any company
    assert len(together) == len(TEXTS)
    assert all(0.0 <= score <= 1.0 for score in together)
    assert together == pytest.approx(alone, abs=1e-5)
    assert reranker.rerank(QUERY, TEXTS[::-1], 60.0) == pytest.approx(together[::-1], abs=1e-5)
    assert reranker.rerank(QUERY, [], 60.0) == []


def test_threads_get_what_one_thread_gets(reranker: Reranker) -> None:
    texts = [f"{text} {number}" for number in range(4) for text in TEXTS[:3]]
    wanted = reranker.rerank(QUERY, texts, 60.0)
    with ThreadPoolExecutor(4) as pool:
        got = list(pool.map(lambda text: reranker.rerank(QUERY, [text], 60.0)[0], texts))
    assert got == pytest.approx(wanted, abs=1e-5)


def test_what_takes_too_long_is_an_outage_and_the_next_waits_its_own_time(checkpoint: Path) -> None:
    # Given a model that is still computing when the time is over
    slow = BgeReranker(str(checkpoint), "cpu")
    release, model = threading.Event(), vars(slow)["_model"]
    compute = model.compute_score
    model.compute_score = lambda *arguments, **options: (release.wait(30), compute(*arguments, **options))[1]

    # When it is asked twice / Then both fail in time, and once it is free it answers again
    for said in ("took longer", "still busy"):
        started = time.monotonic()
        with pytest.raises(RerankerUnavailable, match=said):
            slow.rerank(QUERY, TEXTS, 0.2)
        assert time.monotonic() - started < 5.0
    release.set()
    assert len(slow.rerank(QUERY, TEXTS, 60.0)) == len(TEXTS)
    slow.close()
    with pytest.raises(RerankerUnavailable, match="closed"):
        slow.rerank(QUERY, TEXTS, 1.0)


def test_a_failing_network_is_an_outage_with_its_cause(checkpoint: Path) -> None:
    broken = BgeReranker(str(checkpoint), "cpu")
    vars(broken)["_model"].model.roberta.embeddings.LayerNorm = importlib.import_module("torch").nn.LayerNorm(3)
    with pytest.raises(RerankerUnavailable, match="reranker failed") as caught:
        broken.rerank(QUERY, TEXTS, 60.0)
    assert caught.value.__cause__ is not None
    broken.close()


def test_a_folder_that_is_none_names_the_setting(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="BIEM_RERANKER__MODEL"):
        BgeReranker(str(tmp_path / "nowhere"), "cpu")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_child_of_a_process_that_loaded_it_gets_an_error(checkpoint: Path) -> None:
    loaded = BgeReranker(str(checkpoint), "cpu")
    child = os.fork()
    if child == 0:
        try:
            loaded.rerank(QUERY, TEXTS, 1.0)
        except RerankerUnavailable as error:
            os._exit(42 if "forked" in str(error) else 2)
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 42
    loaded.close()
