"""Numbers of answers from prepared candidates, without a search."""

from dataclasses import dataclass, field

from biem.domain.policies.confidence import require_finite


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
        require_finite(self)


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
