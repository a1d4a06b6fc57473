"""The numbers by which recall judges its own answer: does this memory know, and does what is at hand suffice?"""

import math
from dataclasses import asdict, dataclass, field


@dataclass(frozen=True, slots=True)
class ConfidenceWeights:
    """What one unit of each ground adds to the log-odds of yes; see `biem.engine.confidence` for what each measures.

    Fitted by `benchmarks.fit_confidence` on the dev dialogues, those of names and of small memories set by a search
    over all files beside it (ADR 0048); 0 leaves a ground out.
    """

    bias: float = -5.82
    known: float = 3.56
    """Share of the question's words that any candidate holds."""
    named: float = 0.59
    """1 where the question names somebody who speaks here."""
    mentions: float = -2.4
    """1 where the question has names at all: somebody or something in particular is asked for."""
    heard: float = 3.2
    """Share of these names that some candidate holds whole."""
    lead: float = 10.15
    """The best score over the fiftieth, as a share of the most that a score can be."""
    similarity: float = 5.12
    """The best calibrated similarity of the three best answers, with the question or a sentence of it that asks."""
    lift: float = 7.21
    """How far the five most similar candidates stand out of all: a difference of calibrated similarities."""
    day: float = 1.45
    """How exactly one of the five best is of a day that the question names: the signal `day` of the ranking."""
    together: float = 0.36
    """Share of the ten best that are from one conversation."""
    small: float = 0.51
    """1 for a memory of one candidate, 0 from fifty on: comparisons say less there."""
    small_similarity: float = 1.5
    """`small` times `similarity`: there, likeness must say what comparisons cannot."""
    small_mentions: float = 2.4
    """`small` times `mentions`: few texts have heard of few names, so not to know one says less."""

    def __post_init__(self) -> None:
        _require_finite(self)


@dataclass(frozen=True, slots=True)
class OrbitWeights:
    """The same for the log-odds that a search would find nothing better than what is at hand."""

    bias: float = -7.6
    covered: float = 0.24
    """Share of what the question asks, in rarity, that its five best answers hold."""
    known: float = 0.38
    named: float = -0.57
    strangers: float = -0.77
    """Share of the names in the question of which no candidate has heard."""
    terms: float = -1.72
    """Different words of the question, in thirtieths, at most 1."""
    lead: float = 5.37
    similarity: float = 1.45
    lift: float = 2.22
    best: float = 12.58
    """The best score, as a share of the most that a score can be."""
    talk: float = 1.71
    """Share of the five best that are from the conversation which the last answers were mostly from."""
    echo: float = 1.5
    """Share of the question's words that the five best of the last answers have."""

    def __post_init__(self) -> None:
        _require_finite(self)


def _require_finite(weights: ConfidenceWeights | OrbitWeights) -> None:
    if not all(math.isfinite(weight) for weight in asdict(weights).values()):
        raise ValueError("weights of confidence must be finite; 0 leaves a ground out")


@dataclass(frozen=True, slots=True)
class OrbitPolicy:
    """Questions of one session that are answered from what is at hand, without a search."""

    enabled: bool = True
    """Whether questions that name their session may be answered so."""
    min_confidence: float = 0.55
    """From here what is at hand is the answer: less than a point of recall@10 is lost on the dev dialogues."""
    least_talk: float = 0.6
    """The ground `talk` from which on a question follows up at all: three of five. Texts that all look alike (aunt's
    number, uncle's number) would otherwise answer for each other. 0: questions about facts may be answered, too."""
    weights: OrbitWeights = field(default_factory=OrbitWeights)
    sessions: int = 64
    """Sessions of which a process keeps what is at hand; those used longest ago go first. About a MB each."""
    max_age_s: float = 1_800.0
    """Later a session begins anew: what was at hand half an hour ago is forgotten."""
    news: int = 64
    """Memories written since that join what is at hand; after more of them the next question is searched for."""
    links: int = 10
    """Neighbours in the association graph that are taken along, those activated most."""
    canvas: int = 10
    """Memories of the canvas taken along, the hottest."""
    whole: int = 256
    """A memory that never held more is at hand as a whole, up to two MB: no search could find more, so every question
    of a session is answered there; 0: never."""

    def __post_init__(self) -> None:
        if not (0 <= self.min_confidence <= 1 and 0 <= self.least_talk <= 1) or self.max_age_s <= 0:
            raise ValueError("min_confidence and least_talk are shares from 0 to 1, and max_age_s must be positive")
        if min(self.sessions, self.news) < 1 or min(self.links, self.canvas, self.whole) < 0:
            raise ValueError("sessions and news must be positive, links, canvas and whole not negative")
