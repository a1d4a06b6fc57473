"""The arithmetic between a model's raw vectors and the port's promises."""

import hashlib
import logging
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from biem.adapters.embedders import calibration
from biem.adapters.embedders.calibration import CalibratedEmbedder, Calibration, cjk_share
from biem.adapters.embedders.encoder import MAX_CHARS, clean, unit
from biem.errors import EmbedderMismatch, EmbedderUnavailable
from biem.ports import Role, Vectors


class RandomEncoder:
    """Every text has its own direction, on top of one that all share: the narrow cosines of a small model."""

    languages = ("en",)
    max_tokens = 8

    def __init__(self, dim: int = 32, common: float = 3.0, name: str = "random") -> None:
        self.name = name
        self.dim = dim
        self.calls: list[int] = []
        self._common = np.full(dim, common / np.sqrt(dim))

    def encode(self, texts: Sequence[str], role: Role) -> Vectors:
        self.calls.append(len(texts))
        seeds = [int.from_bytes(hashlib.sha256(text.encode()).digest()[:8]) for text in texts]
        rows = np.stack([np.random.default_rng(seed).standard_normal(self.dim) for seed in seeds])
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        return unit(rows + self._common, len(texts), self.dim, self.name)

    def close(self) -> None:
        """Nothing to release."""


@pytest.mark.parametrize(
    ("text", "share"),
    [
        ("hello world", 0.0),
        ("你好世界", 1.0),
        ("ab 好", 0.5),
        ("カタカナ", 1.0),
        ("・", 0.5),
        ("ab・", 0.0),
        ("한국어", 1.0),
        ("Привет", 0.0),
        ("", 0.5),
        ("😀 12:30", 0.5),
    ],
)
def test_language_is_the_share_of_cjk_letters(text: str, share: float) -> None:
    assert cjk_share(text) == share


@given(st.text())
@example("\ufada")  # in a range of CJK, and no letter yet
def test_share_stays_between_zero_and_one(text: str) -> None:
    assert 0 <= cjk_share(text) <= 1


@given(st.lists(st.floats(-1, 1, width=32), min_size=2))
def test_scale_is_monotone_and_bounded(cosines: list[float]) -> None:
    fitted = Calibration("m", "v", {}, (0.05, 0.3, 0.55, 0.7, 1.0))
    values = fitted.scale(np.sort(np.array(cosines, dtype=np.float32)))
    assert values.dtype == np.float32
    assert bool(np.all(np.diff(values) >= 0))
    assert bool(np.all((values >= 0) & (values <= 1)))


def test_centring_removes_what_a_language_shares() -> None:
    encoder = RandomEncoder()
    fitted = calibration.fit(encoder)
    texts = [f"sentence number {number}" for number in range(200)]
    raw = encoder.encode(texts, "passage")
    centred = fitted.centre(raw, texts, "passage")
    assert np.median(raw @ raw.T) > 0.8
    assert abs(np.median(centred @ centred.T)) < 0.1
    np.testing.assert_allclose(np.linalg.norm(centred, axis=1), 1, atol=1e-6)


def test_text_that_is_its_languages_mean_keeps_a_unit_vector() -> None:
    mean = np.zeros((2, 4), dtype=np.float32)
    mean[0, 0] = 1
    fitted = Calibration("m", "v", {"passage": mean, "query": mean}, ())
    np.testing.assert_array_equal(fitted.centre(mean[:1], ["english"], "passage"), mean[:1])


def test_constants_survive_the_file_bit_for_bit(tmp_path: Path) -> None:
    fitted = calibration.fit(RandomEncoder())
    path = tmp_path / "deep" / "constants.json"
    calibration.save(path, fitted)
    found = calibration.load(path, "random")
    assert found is not None
    assert (found.encoder, found.version, found.knots) == (fitted.encoder, fitted.version, fitted.knots)
    for role in calibration.ROLES:
        np.testing.assert_array_equal(found.means[role], fitted.means[role])
    assert [file.name for file in path.parent.iterdir()] == [path.name]  # no temporary file is left


def test_unknown_model_is_fitted_once_and_then_read_from_the_cache(tmp_path: Path) -> None:
    first, second = RandomEncoder(), RandomEncoder()
    fitted = calibration.obtain(first, tmp_path)
    assert len(first.calls) == 3
    assert calibration.obtain(second, tmp_path).knots == fitted.knots
    assert second.calls == []


@pytest.mark.req("G63", partly="the cache of the calibration")
@pytest.mark.parametrize("damage", ["", "{", "[]", '{"encoder": "random"}'])
def test_damaged_cache_is_recomputed(tmp_path: Path, damage: str) -> None:
    fitted = calibration.obtain(RandomEncoder(), tmp_path)
    path = calibration.cached_path(tmp_path, "random")
    path.write_text(damage)
    assert calibration.obtain(RandomEncoder(), tmp_path).knots == fitted.knots
    assert calibration.load(path, "random") is not None


def test_cache_of_another_model_or_other_sentences_is_not_used(tmp_path: Path) -> None:
    path = tmp_path / "constants.json"
    fitted = calibration.fit(RandomEncoder())
    calibration.save(path, fitted)
    assert calibration.load(path, "another") is None
    calibration.save(path, Calibration("random", "older", fitted.means, fitted.knots))
    assert calibration.load(path, "random") is None


def test_unwritable_cache_costs_time_and_nothing_else(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    in_the_way = tmp_path / "file"
    in_the_way.touch()
    assert calibration.obtain(RandomEncoder(), in_the_way).knots
    assert "cannot be saved" in caplog.text


@pytest.mark.req("C12", "X44")
def test_model_that_changed_its_dimension_under_its_name_is_refused(tmp_path: Path) -> None:
    calibration.obtain(RandomEncoder(dim=32), tmp_path)
    with pytest.raises(EmbedderMismatch, match="48 dimensions now and had 32"):
        calibration.obtain(RandomEncoder(dim=48), tmp_path)


def test_poor_model_still_gets_a_rising_scale_and_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "biem"):
        fitted = calibration.fit(RandomEncoder())  # paraphrases have nothing in common here
    assert "cannot separate paraphrases" in caplog.text
    assert list(fitted.knots) == sorted(set(fitted.knots))


def test_id_names_the_model_and_the_sentences() -> None:
    encoder = RandomEncoder(name="model-x")
    embedder = CalibratedEmbedder(encoder, calibration.fit(encoder))
    assert embedder.info.id == f"model-x+centred-{calibration.sentences().version}"


def test_packaged_sentences_are_enough_and_all_different() -> None:
    packaged = calibration.sentences()
    assert len(packaged.pairs) >= 40
    assert all(len(row) == 4 for row in packaged.pairs)
    texts = [text for row in packaged.pairs for text in row]
    for language, share in zip(calibration.LANGUAGES, (0, 1), strict=True):
        for role in calibration.ROLES:
            assert len(packaged.neutral[language][role]) == 16
            texts += packaged.neutral[language][role]
            assert {round(cjk_share(text)) for text in packaged.neutral[language][role]} == {share}
    assert len(texts) == len(set(texts))


@pytest.mark.parametrize(
    ("dirty", "cleaned"),
    [
        ("a\0b", "a b"),
        ("a\ud800b", "a\ufffdb"),
        ("a\ud83d\ude00b", "a😀b"),
        ("", "."),
        (" \n\0", "."),
        ("plain 文本", "plain 文本"),
    ],
)
def test_cleaning(dirty: str, cleaned: str) -> None:
    assert clean(dirty) == cleaned


@given(st.text(st.characters(exclude_categories=())))
def test_cleaned_text_is_valid_not_blank_and_stays_as_it_is(text: str) -> None:
    cleaned = clean(text)
    assert cleaned.encode().decode() == cleaned
    assert "\0" not in cleaned
    assert cleaned.strip()
    assert clean(cleaned) == cleaned
    assert len(clean(text * 1000)) <= MAX_CHARS


@pytest.mark.req("X5")
@pytest.mark.parametrize(
    "bad",
    [
        np.zeros((2, 3)),
        np.array([[1, 0, 0], [np.nan, 0, 0]]),
        np.array([[1, 0, 0], [np.inf, 0, 0]]),
        np.array([[1.0, 0, 0]]),
        np.array([1.0, 0, 0]),
    ],
    ids=["zero", "nan", "infinite", "too few", "flat"],
)
def test_bad_vectors_never_pass(bad: Vectors) -> None:
    with pytest.raises(EmbedderUnavailable, match="model-x"):
        unit(bad, 2, 3, "model-x")


@pytest.mark.req("C12")
def test_another_dimension_is_a_mismatch() -> None:
    with pytest.raises(EmbedderMismatch, match="2 dimensions instead of 3"):
        unit(np.ones((1, 2)), 1, 3, "model-x")
