"""BGE-M3 through the real FlagEmbedding and torch, on a tiny checkpoint made here: `make test-bge` installs both."""

import importlib
import importlib.util
import os
import shutil
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from biem.adapters import embedders
from biem.adapters.embedders.bge import BgeEncoder
from biem.errors import ConfigError, EmbedderUnavailable
from biem.ports import Embedder, Role

if importlib.util.find_spec("FlagEmbedding") is None:
    pytest.skip("torch and FlagEmbedding are not installed here; run: make test-bge", allow_module_level=True)

pytestmark = pytest.mark.filterwarnings("ignore")  # torch's and transformers', not ours

HIDDEN = 64
ROLES: tuple[Role, Role] = ("query", "passage")
TEXTS = [
    "Where did Tom spend his holiday?",
    "他对什么食物过敏?",
    "我们用 Redis 做 cache 😀",
    "ok",
    "a longer text about nothing in particular " * 200,
]


def make_checkpoint(folder: Path) -> None:
    """A random XLM-R of 2.6 MB in the layout of BGE-M3."""
    os.environ |= {"HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import torch
        from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
        from transformers import PreTrainedTokenizerFast, XLMRobertaConfig, XLMRobertaModel

        torch.manual_seed(7)
        space: Any = {"replacement": "▁", "prepend_scheme": "always"}
        tokenizer = Tokenizer(models.Unigram())
        tokenizer.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Replace(" {2,}", " ")])
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(**space)
        tokenizer.decoder = decoders.Metaspace(**space)
        special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
        trainer = trainers.UnigramTrainer(
            vocab_size=1000, special_tokens=special, unk_token="<unk>", show_progress=False
        )
        tokenizer.train_from_iterator(TEXTS * 20, trainer)
        tokenizer.post_processor = processors.TemplateProcessing(
            single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
        )
        fast = PreTrainedTokenizerFast(
            tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>", cls_token="<s>", sep_token="</s>",
            unk_token="<unk>", pad_token="<pad>", mask_token="<mask>", model_max_length=8192,
            model_input_names=["input_ids", "attention_mask"],
        )  # fmt: skip
        fast.save_pretrained(folder)
        shape = XLMRobertaConfig(
            vocab_size=len(fast), hidden_size=HIDDEN, num_hidden_layers=1, num_attention_heads=4,
            intermediate_size=128, max_position_embeddings=8194, type_vocab_size=1, pad_token_id=1, bos_token_id=0,
            eos_token_id=2, layer_norm_eps=1e-5,
        )  # fmt: skip
        XLMRobertaModel(shape).eval().save_pretrained(folder)
        torch.save(torch.nn.Linear(HIDDEN, 1).state_dict(), folder / "sparse_linear.pt")
        torch.save(torch.nn.Linear(HIDDEN, HIDDEN).state_dict(), folder / "colbert_linear.pt")


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hub") / "tiny-bge-m3"
    folder.mkdir()
    make_checkpoint(folder)
    return folder


@pytest.fixture(scope="module")
def embedder(checkpoint: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Embedder]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cache = tmp_path_factory.mktemp("cache")
        built = embedders.build("bge", model=str(checkpoint), devices="cpu", cache_dir=cache, cache_bytes=0)
    yield built
    built.close()
    built.close()


@pytest.mark.req("C12", partly="BGE-M3 through FlagEmbedding; the dimension is probed")
def test_dimension_is_the_checkpoints(embedder: Embedder) -> None:
    assert embedder.info.dim == HIDDEN
    assert embedder.info.id.startswith("bge-m3:tiny-bge-m3@")
    assert embedder.info.languages == ("mul",)


@pytest.mark.parametrize("role", ROLES)
def test_unit_vectors_do_not_depend_on_the_batch(embedder: Embedder, role: Role) -> None:
    together = embedder.embed(TEXTS, role)
    assert together.shape == (len(TEXTS), HIDDEN)
    assert together.dtype == np.float32
    assert together.flags.c_contiguous
    np.testing.assert_allclose(np.linalg.norm(together, axis=1), 1, atol=1e-5)
    alone = np.concatenate([embedder.embed([text], role) for text in TEXTS])
    np.testing.assert_allclose(alone, together, atol=1e-5)


def test_no_text_gives_no_vector(embedder: Embedder, checkpoint: Path) -> None:
    assert embedder.embed([], "query").shape == (0, HIDDEN)
    assert BgeEncoder(str(checkpoint), "cpu").encode([], "query").shape == (0, HIDDEN)


@pytest.mark.parametrize(("dirty", "cleaned"), [("", "."), ("a\0b", "a b"), ("\ud800 Tom", "\ufffd Tom")])
def test_hostile_text_is_embedded_as_if_cleaned(embedder: Embedder, dirty: str, cleaned: str) -> None:
    got, wanted = embedder.embed([dirty, cleaned], "passage")
    np.testing.assert_allclose(got, wanted, atol=1e-5)


def test_threads_get_what_one_thread_gets(embedder: Embedder) -> None:
    texts = [f"{TEXTS[number % 4]} {number}" for number in range(32)]
    wanted = embedder.embed(texts, "passage")
    with ThreadPoolExecutor(4) as pool:
        got = list(pool.map(lambda text: embedder.embed([text], "passage")[0], texts))
    np.testing.assert_allclose(np.stack(got), wanted, atol=1e-5)


def test_same_text_is_similar_to_itself(embedder: Embedder) -> None:
    vectors = embedder.embed(TEXTS, "passage")
    similarity = embedder.similarity(vectors[0], vectors)
    assert bool(np.all((similarity >= 0) & (similarity <= 1)))
    assert similarity[0] == pytest.approx(1, abs=1e-3)


def test_second_start_reads_the_calibration_and_gives_the_same_vectors(
    embedder: Embedder, checkpoint: Path, tmp_path: Path
) -> None:
    for _ in range(2):
        again = embedders.build("bge", model=str(checkpoint), devices="cpu", cache_dir=tmp_path, cache_bytes=0)
        assert again.info == embedder.info
        np.testing.assert_allclose(again.embed(TEXTS[:2], "query"), embedder.embed(TEXTS[:2], "query"), atol=1e-5)
    assert len(list((tmp_path / "calibrations").iterdir())) == 1


@pytest.mark.parametrize("missing", ["sparse_linear.pt", "colbert_linear.pt", "model.safetensors"])
def test_incomplete_checkpoint_is_refused_before_it_gives_random_vectors(
    checkpoint: Path, tmp_path: Path, missing: str
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(checkpoint, copy)
    (copy / missing).unlink()
    with pytest.raises(ConfigError, match=missing):
        BgeEncoder(str(copy), "cpu")


def test_other_weights_have_another_id(checkpoint: Path, tmp_path: Path) -> None:
    copy = tmp_path / checkpoint.name
    shutil.copytree(checkpoint, copy)
    with (copy / "model.safetensors").open("r+b") as file:
        file.seek(-4, 2)
        file.write(b"\0\0\0\x3f")
    assert BgeEncoder(str(copy), "cpu").name != BgeEncoder(str(checkpoint), "cpu").name


def test_folder_that_is_none_names_the_setting(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="BIEM_EMBEDDER__MODEL"):
        BgeEncoder(str(tmp_path / "nowhere"), "cpu")


def test_failing_network_is_an_outage_with_its_cause(checkpoint: Path) -> None:
    encoder = BgeEncoder(str(checkpoint), "cpu")
    broken = importlib.import_module("torch").nn.LayerNorm(HIDDEN + 1)
    vars(encoder)["_model"].model.model.embeddings.LayerNorm = broken
    with pytest.raises(EmbedderUnavailable, match="BGE-M3 failed") as caught:
        encoder.encode(["a"], "passage")
    assert caught.value.__cause__ is not None


def test_closed_embedder_says_so(checkpoint: Path) -> None:
    encoder = BgeEncoder(str(checkpoint), "cpu")
    encoder.close()
    encoder.close()
    with pytest.raises(ConfigError, match="closed"):
        encoder.encode(["a"], "query")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_child_of_a_process_that_loaded_it_gets_an_error(checkpoint: Path) -> None:
    encoder = BgeEncoder(str(checkpoint), "cpu")
    child = os.fork()
    if child == 0:
        try:
            encoder.encode(["a"], "query")
        except ConfigError as error:
            os._exit(42 if "spawn" in str(error) else 2)
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 42
