"""Calibration of any model: removes the mean of a language, and maps cosines to a common similarity scale.

Raw cosines of small models are in a narrow band (e5: unrelated English texts .78, Chinese .86), and in a mixed store a
Chinese question finds Chinese text only. So a fixed mean of each language and role is subtracted, mixed by the text's
share of CJK letters, and the result normalised again; the cosine of two such vectors is mapped to a monotone scale
where 0 is unrelated and 1 is equal. Means and scale are measured on packaged sentences, once per model (ADR 0014).
"""

import base64
import hashlib
import json
import logging
import os
import re
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from biem.adapters.embedders.encoder import Encoder, clean
from biem.errors import EmbedderMismatch
from biem.ports import EmbedderInfo, Role, Vector, Vectors
from biem.ports.embedding import pair_products, row_products

if TYPE_CHECKING:
    from biem.adapters.embedders.usage import CallCounter

logger = logging.getLogger("biem")

LANGUAGES = ("en", "zh")
ROLES: tuple[Role, Role] = ("query", "passage")
_HERE = Path(__file__).parent
_SENTENCES = _HERE / "sentences.json"
_PACKAGED = _HERE / "calibrations"
_LETTER = re.compile(r"[^\W\d_]")
_CJK = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]")
_CJK_WEIGHT = 2
"""A CJK character has about as much information as two Latin letters."""
_VALUES = (0.0, 0.25, 0.72, 0.85, 1.0)
"""Values of `similarity` at the knots: unrelated median and 99th percentile, paraphrase 10th percentile and median,
the same text. Unrelated texts stay below .3 and most paraphrases above .7, the lowest threshold of the designs.
"""
_CLOSEST_KNOTS = 0.01
_SHORTEST = 1e-6


@dataclass(frozen=True, slots=True)
class Sentences:
    """The packaged sentences, and the id of this selection."""

    neutral: dict[str, dict[Role, list[str]]]
    pairs: list[list[str]]
    """One meaning per row: two English wordings, two Chinese."""
    version: str


def sentences() -> Sentences:
    """Read the packaged sentences."""
    content = _SENTENCES.read_bytes()
    data = json.loads(content)
    return Sentences(data["neutral"], data["pairs"], hashlib.sha256(content).hexdigest()[:6])


def cjk_share(text: str) -> float:
    """The share of CJK among the text's letters, in [0, 1]; one half for a text without letters."""
    letters = _LETTER.findall(text)
    cjk = len(_CJK.findall("".join(letters)))  # the ranges include marks, such as the dot in 卡尔・马克思
    others = len(letters) - cjk
    weight = _CJK_WEIGHT * cjk
    return weight / (weight + others) if weight + others else 0.5


@dataclass(frozen=True, slots=True)
class Calibration:
    """The constants of one model."""

    encoder: str
    version: str
    means: dict[Role, NDArray[np.float32]]
    """Shape (2, dim): English, Chinese."""
    knots: tuple[float, ...]
    """Centred cosines, rising, one for each value of the scale."""

    @property
    def dim(self) -> int:
        """The dimension measured when it was fitted."""
        return int(self.means["passage"].shape[1])

    def centre(self, vectors: Vectors, texts: Sequence[str], role: Role) -> Vectors:
        """Unit vectors after subtracting the mean of their language."""
        share = np.array([cjk_share(text) for text in texts], dtype=np.float32)[:, None]
        english, chinese = self.means[role]
        centred = vectors - ((1 - share) * english + share * chinese)
        lengths = np.linalg.norm(centred, axis=1, keepdims=True)
        whole = lengths > _SHORTEST  # a text equal to the mean keeps its raw direction
        return np.ascontiguousarray(np.where(whole, centred / np.where(whole, lengths, 1), vectors), dtype=np.float32)

    def scale(self, cosines: NDArray[np.float32]) -> NDArray[np.float32]:
        """Centred cosines as similarities in [0, 1]."""
        return np.interp(cosines, self.knots, _VALUES).astype(np.float32)

    def to_json(self) -> str:
        """JSON; floats keep full precision."""
        means = {role: base64.b64encode(mean.astype("<f4").tobytes()).decode() for role, mean in self.means.items()}
        content = {"encoder": self.encoder, "version": self.version, "dim": self.dim, "knots": self.knots}
        return json.dumps(content | {"means": means}, indent=1) + "\n"

    @classmethod
    def from_json(cls, content: str) -> "Calibration":
        """Parse the output of `to_json`; raises ValueError, KeyError or TypeError for anything else."""
        data: dict[str, Any] = json.loads(content)
        means: dict[Role, NDArray[np.float32]] = {
            role: np.frombuffer(base64.b64decode(data["means"][role]), dtype="<f4").reshape(2, data["dim"])
            for role in ROLES
        }
        knots = tuple(float(knot) for knot in data["knots"])
        if len(knots) != len(_VALUES) or any(a >= b for a, b in pairwise(knots)):
            raise ValueError("knots do not rise")
        return cls(str(data["encoder"]), str(data["version"]), means, knots)


def fit(encoder: Encoder) -> Calibration:
    """Measure a model on the packaged sentences: three calls of `encode`."""
    packaged = sentences()

    def means(role: Role) -> NDArray[np.float32]:
        groups = [packaged.neutral[language][role] for language in LANGUAGES]
        vectors = encoder.encode([clean(text) for group in groups for text in group], role)
        ends = np.cumsum([len(group) for group in groups])[:-1]
        return np.stack([part.mean(axis=0) for part in np.split(vectors, ends)]).astype(np.float32)

    raw = Calibration(encoder.name, packaged.version, {role: means(role) for role in ROLES}, ())
    texts = [text for row in packaged.pairs for text in row]
    vectors = raw.centre(encoder.encode(texts, "passage"), texts, "passage").reshape(len(packaged.pairs), 4, -1)
    english, english_too, chinese, chinese_too = (vectors[:, column] for column in range(4))
    same, other = [], []
    for left, right in ((english, english_too), (chinese, chinese_too), (english, chinese), (english_too, chinese_too)):
        cosines = pair_products(left, right)
        same.append(np.diag(cosines))
        other.append(cosines[~np.eye(len(cosines), dtype=bool)])
    unrelated = np.percentile(np.concatenate(other), (50, 99))
    paraphrase = np.percentile(np.concatenate(same), (10, 50))
    if paraphrase[0] <= unrelated[1]:
        logger.warning(
            "embedder %s cannot separate paraphrases (10th percentile %.2f) from unrelated ones (99th %.2f); "
            "similarity thresholds will be coarse",
            encoder.name, paraphrase[0], unrelated[1],
        )  # fmt: skip
    return Calibration(raw.encoder, raw.version, raw.means, _rising([*unrelated, *paraphrase, 1.0]))


def _rising(knots: Sequence[float]) -> tuple[float, ...]:
    """The knots, moved down just enough to be strictly rising, for any model."""
    out = [float(knots[-1])]
    for knot in reversed(knots[:-1]):
        out.append(min(float(knot), out[-1] - _CLOSEST_KNOTS))
    return tuple(round(knot, 4) for knot in reversed(out))


def _slug(encoder: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", encoder.lower()).strip("-")[:40]


def packaged_path(encoder: str) -> Path:
    """The file with the constants of a packaged model; `python -m benchmarks.calibrate` writes them."""
    return _PACKAGED / f"{_slug(encoder)}.json"


def cached_path(folder: Path, encoder: str) -> Path:
    """The cache file with the constants of any other model."""
    return folder / "calibrations" / f"{_slug(encoder)}-{hashlib.sha256(encoder.encode()).hexdigest()[:8]}.json"


def load(path: Path, encoder: str) -> Calibration | None:
    """The constants in a file, if they match this model and these sentences."""
    try:
        found = Calibration.from_json(path.read_text())
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        logger.warning("ignoring the calibration in %s: %s", path, error)
        return None
    return found if (found.encoder, found.version) == (encoder, sentences().version) else None


def save(path: Path, calibration: Calibration) -> None:
    """Write a file atomically."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
    try:
        with os.fdopen(handle, "w") as file:
            file.write(calibration.to_json())
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(0o644)
        Path(name).replace(path)
    except OSError:
        with suppress(OSError):
            Path(name).unlink()
        raise


def obtain(encoder: Encoder, cache_dir: Path) -> Calibration:
    """The packaged constants, else the cached ones, else fitted now and cached."""
    cached = cached_path(cache_dir, encoder.name)
    found = load(packaged_path(encoder.name), encoder.name) or load(cached, encoder.name)
    if found is not None:
        if found.dim != encoder.dim:
            raise EmbedderMismatch(
                f"embedder {encoder.name} has {encoder.dim} dimensions now and had {found.dim} before; serve the old "
                f"model again, or give the new one another name in BIEM_EMBEDDER__MODEL and run `biem reindex`"
            )
        return found
    fitted = fit(encoder)
    try:
        save(cached, fitted)
    except OSError as error:
        logger.warning("the calibration of %s cannot be saved in %s: %s", encoder.name, cached.parent, error)
    return fitted


class CalibratedEmbedder:
    """The port `Embedder` on one model: centred unit vectors, calibrated similarity. As thread-safe as the model."""

    def __init__(self, encoder: Encoder, calibration: Calibration) -> None:
        self._encoder = encoder
        self._calibration = calibration
        self._info = EmbedderInfo(
            f"{encoder.name}+centred-{calibration.version}", encoder.dim, encoder.languages, encoder.max_tokens
        )

    @property
    def info(self) -> EmbedderInfo:
        """See the port; the id names the model and the sentences used for centring."""
        return self._info

    @property
    def call_counter(self) -> "CallCounter | None":
        """Counts the calls of a server; None for a model in this process."""
        return getattr(self._encoder, "call_counter", None)

    def embed(self, texts: Sequence[str], role: Role) -> Vectors:
        """See the port."""
        if not texts:
            return np.empty((0, self._info.dim), dtype=np.float32)
        cleaned = [clean(text) for text in texts]
        return self._calibration.centre(self._encoder.encode(cleaned, role), cleaned, role)

    def similarity(self, vector: Vector, others: Vectors) -> NDArray[np.float32]:
        """See the port."""
        return self._calibration.scale(row_products(others, vector))

    def close(self) -> None:
        """See the port."""
        self._encoder.close()
