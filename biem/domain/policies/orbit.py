"""Numbers of recalls answered from a session's prefetched candidates, without a search."""

from dataclasses import dataclass, field

from biem.domain.policies.bounds import Size
from biem.domain.policies.confidence import require_finite


@dataclass(frozen=True, slots=True)
class OrbitWeights:
    """Weights of the log-odds that a search would find nothing better than the prefetched candidates."""

    bias: float = -7.6
    covered: float = 0.24
    """Share of the question's words, weighted by rarity, that its five best candidates contain."""
    known: float = 0.38
    named: float = -0.57
    strangers: float = -0.77
    """Share of the names in the question that no candidate contains."""
    terms: float = -1.72
    """Distinct words of the question, in thirtieths, at most 1."""
    lead: float = 5.37
    similarity: float = 1.45
    lift: float = 2.22
    best: float = 12.58
    """The best score, as a share of the maximum score."""
    talk: float = 1.71
    """Share of the five best that are from the conversation which dominated the last answers."""
    echo: float = 1.5
    """Share of the question's words that the five best of the last answers contain."""

    def __post_init__(self) -> None:
        require_finite(self)


@dataclass(frozen=True, slots=True)
class OrbitPolicy:
    """Limits of answering a session's questions without a search."""

    enabled: bool = True
    """Whether questions with a session may be answered without a search."""
    min_confidence: float = 0.55
    """Minimum confidence to answer without a search: costs less than a point of recall@10 on the dev dialogues."""
    least_talk: float = 0.6
    """Minimum of the feature `talk` for a question to count as a follow-up: three of five. Similar texts (aunt's
    number, uncle's number) would otherwise be confused. 0: questions about facts may be answered without a search,
    too.
    """
    weights: OrbitWeights = field(default_factory=OrbitWeights)
    sessions: Size = 64
    """Sessions whose candidates a process keeps, least recently used first out. About a MB each."""
    max_age_s: float = 1_800.0
    """Idle time after which a session starts empty."""
    news: int = 64
    """Memories written since that are added to the candidates; after more of them the next question is searched."""
    links: int = 10
    """Neighbours in the association graph that are added, the most activated."""
    canvas: int = 10
    """Memories of the canvas that are added, the hottest."""
    whole: int = 256
    """A memory that never held more is prefetched whole, up to two MB: no search could find more, so every question
    of a session is answered from it; 0: never.
    """

    def __post_init__(self) -> None:
        if not (0 <= self.min_confidence <= 1 and 0 <= self.least_talk <= 1) or self.max_age_s <= 0:
            raise ValueError("min_confidence and least_talk are shares from 0 to 1, and max_age_s must be positive")
        if min(self.sessions, self.news) < 1 or min(self.links, self.canvas, self.whole) < 0:
            raise ValueError("sessions and news must be positive, links, canvas and whole not negative")
