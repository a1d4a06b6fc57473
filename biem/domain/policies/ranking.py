"""Numbers of the ranking; `biem.engine.recall.rank.signals` defines each signal."""

import math
from dataclasses import asdict, dataclass


@dataclass(frozen=True, slots=True)
class SignalWeights:
    """Log-odds of a turn being evidence, per unit of each signal; 0 disables a signal.

    Fitted by `benchmarks.fit_ranking` to several sets of dialogues at once, then rounded. Nearly all signals lie in
    [0, 1], so a weight is the maximum effect of its signal.
    """

    words_around: float = 2.65
    """BM25 of the words in a turn or, with less weight, up to two turns away: an answer seldom repeats its question."""
    reply: float = 1.47
    """Follows a turn that asks with the query's words."""
    session_words: float = 1.27
    """BM25 of its session."""
    dense_around: float = 1.02
    """Cosine of the turn together with both neighbours."""
    hub: float = -2.68
    """Cosine to the pool's mean, about [0, 0.3]: small talk is similar to everything and answers nothing."""
    session_dense: float = 1.44
    """The best cosine of its session."""
    session_dense3: float = 1.5
    """The mean of its session's three best cosines: robust against one chance match."""
    sentence_dense: float = 1.92
    """Cosine to the nearest sentence of the query; to the whole query if it has only one."""
    sentence_words: float = 0.95
    """BM25 of the best asking sentence."""
    longer: float = -0.32
    """Log-length above the pool's mean, in [-2, 2]: long turns match by chance …"""
    longer_than_own: float = 0.38
    """… but a turn long for its speaker is informative."""
    short: float = -1.44
    """Shorter than `RankPolicy.short_words`: "Thanks!" """
    opening: float = 0.54
    """The first turn of a session introduces its subject …"""
    opening_to_machine: float = 1.89
    """… when people talk to a program: they begin with a request, but among themselves with a greeting."""
    speaker: float = 0.6
    """Said by a speaker whom the query names. Small: adversarial questions name the wrong speaker."""
    machine: float = -0.55
    """Said by a program: statements of people about themselves are evidence more often."""
    when: float = 1.9
    """Nearness to a time that the query names."""
    day: float = 1.77
    """Within a time named to the day or week."""
    bridge: float = 3.21
    """Contains the query terms that a good hit lacks, and shares rare words of that hit."""
    importance: float = 0.0
    """Importance set by its writer, in [−1, 1]. This and the following signals are off: they do not depend on the
    question, and lose on one set what they gain on another. They are for agents that set importance or give feedback.
    """
    frequency: float = 0.0
    """How often it was returned: log scale, 1 from 99 times."""
    energetic: float = 0.0
    """Its energy: high if it was recently used or got positive feedback."""
    recent: float = 0.0
    """Recency relative to the pool's newest turn: factor 0.95 per 30 days (AIMate's time factor)."""
    mirror: float = 0.0
    """Write order relative to the pool's newest: factor 0.8 per memory since (AIM's temporal mirror)."""

    def __post_init__(self) -> None:
        if not all(math.isfinite(weight) for weight in asdict(self).values()):
            raise ValueError("weights of signals must be finite; 0 switches a signal off")


@dataclass(frozen=True, slots=True)
class RankPolicy:
    """Every number of the ranking."""

    weights: SignalWeights = SignalWeights()
    k1: float = 0.9
    b: float = 0.4
    """BM25's saturation and share of length normalisation: turns of dialogue are short and seldom repeat a word."""
    nameless: float = 0.5
    """Weight of the question without its names in the query vector, relative to the whole question; 0: off."""
    aspect: float = 1.0
    """Log-odds added to a memory that paraphrases the question's matter, see `Analyzer.related`."""
    reported_change: float = 3.0
    """Maximum log-odds by which a reported change may rank behind what it changes to be moved before it; 0: off."""
    next_1: float = 0.6
    next_2: float = 0.4
    """Weight of a word one or two turns away, relative to one in the turn."""
    coherent: float = 0.15
    """Coherence, in standard deviations of the cosines, from which the surroundings of a turn count in full; 0: always.
    Dialogues have 0.15 to 2, shuffled or interleaved ones about 0."""
    plain: int = 3
    """Number of the best by their own words and similarity that stay among the first ten, unless both neighbours and
    sessions, where they can be compared, count by half at least; 0: none."""
    short_words: int = 8
    """Index terms below which a turn is short."""
    seeds: int = 6
    """Good hits used as seeds of the signal `bridge`."""
    seed_words: int = 64
    """Words of a seed that are read, from its start: long answers would slow every query …"""
    links: int = 24
    """… and number of them, the rarest, that may link to another turn."""
    repeat: float = 2.0
    """Penalty (log-odds) of a turn that fully repeats one before it; 0 allows repetitions."""
    repeat_from: float = 0.35
    """Share of common words (Jaccard) from which two turns repeat each other."""
    balance: float = 0.5
    """Penalty (log-odds) per turn by which a query sentence has more matches than the one with the fewest; 0: off."""
    balance_power: float = 3.0
    """Sharpness of assigning a turn to its best matching sentence."""
    depth: int = 60
    """Number of the best that are checked for repetitions: the cost grows with the square."""
    session_gap_s: float = 72_000.0
    """Pause (20 hours) that starts a new session within a conversation, which may be a chat over years; 0: a
    conversation is one session."""

    def __post_init__(self) -> None:
        if not all(math.isfinite(value) for name, value in asdict(self).items() if name != "weights"):
            raise ValueError("the numbers of the ranking must be finite")
        if self.k1 < 0 or not 0 <= self.b <= 1 or not (0 <= self.next_1 <= 1 and 0 <= self.next_2 <= 1):
            raise ValueError("k1 must not be negative; b, next_1 and next_2 are shares from 0 to 1")
        shares = (self.nameless, self.aspect, self.reported_change, self.coherent, self.plain)
        none_below_0 = (self.repeat, self.balance, self.session_gap_s, *shares)
        if not 0 <= self.repeat_from < 1 or min(none_below_0) < 0:
            raise ValueError(
                "repeat_from is a share below 1; repeat, balance, gap, nameless, aspect, reported_change, coherent, "
                "plain: not negative"
            )
        if min(self.short_words, self.seeds, self.seed_words, self.links, self.depth) < 1 or self.balance_power <= 0:
            raise ValueError("short_words, seeds, seed_words, links, depth and balance_power must be positive")
