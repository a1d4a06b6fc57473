"""The numbers by which recall orders candidates; `biem.engine.recall.rank.signals` says what each signal measures."""

import math
from dataclasses import asdict, dataclass


@dataclass(frozen=True, slots=True)
class SignalWeights:
    """What one unit of each signal adds to the log-odds that a turn is evidence; 0 switches a signal off.

    Fitted by `benchmarks.fit_ranking` to several sets of dialogues at once, then rounded. Nearly all signals lie in
    [0, 1], so that a weight is the most its signal can say.
    """

    words_around: float = 2.65
    """BM25 of the words said in a turn or, for less, up to two turns away: an answer seldom repeats its question."""
    reply: float = 1.47
    """Follows a turn that asks with the query's words."""
    session_words: float = 1.27
    """Its session speaks of the matter."""
    dense_around: float = 1.02
    """Cosine of the turn together with both neighbours."""
    hub: float = -2.68
    """Cosine to the pool's mean, about [0, 0.3]: small talk is near to everything and answers nothing."""
    session_dense: float = 1.44
    """The best cosine of its session."""
    session_dense3: float = 1.5
    """The mean of its session's three best cosines: one lucky turn does not make a session."""
    sentence_dense: float = 1.92
    """Cosine to the nearest sentence of the query; to the whole where it has but one."""
    sentence_words: float = 0.95
    """BM25 of the best sentence that asks."""
    longer: float = -0.32
    """Log-length above the pool's mean, in [-2, 2]: long turns match by chance …"""
    longer_than_own: float = 0.38
    """… but a turn long for its speaker has something to tell."""
    short: float = -1.44
    """Shorter than `RankPolicy.short_words`: "Thanks!" """
    opening: float = 0.54
    """The first turn of a session says what it is about …"""
    opening_to_machine: float = 1.89
    """… where people talk to a program: they begin with what they want, among themselves with a greeting."""
    speaker: float = 0.6
    """Said by someone whom the query names. Small: adversarial questions name the wrong speaker."""
    machine: float = -0.55
    """Said by a program: what people say of themselves is evidence more often …"""
    machine_asked: float = 0.0
    """… unless the query asks what the program said. Off: `benchmarks.ablation` found no set that it helps."""
    when: float = 1.9
    """Nearness to a time that the query names."""
    day: float = 1.77
    """Within a time that is named to the day or week."""
    bridge: float = 3.21
    """Holds what a good hit leaves open of the query, and shares that hit's own rare words."""
    importance: float = 0.0
    """How important its writer called it, in [−1, 1]. This and what follows is off: it says nothing of the question,
    and gains on no set what it does not lose on another. It is for agents that say what is important, or praise."""
    frequency: float = 0.0
    """How often it was returned: lg of it, 1 from 99 times on."""
    energetic: float = 0.0
    """Its energy: what was used of late, or praised."""
    recent: float = 0.0
    """Said not long before the pool's newest turn: 0.95 for each 30 days (AIMate's time factor)."""
    mirror: float = 0.0
    """Written not long before the pool's newest: 0.8 for each memory since (AIM's temporal mirror)."""

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
    """What a question without its names counts in its meaning, of the question as it is; 0: off."""
    aspect: float = 1.0
    """Log-odds that a memory gains for telling the matter of a question in other words, see `Analyzer.related`."""
    revision: float = 3.0
    """Log-odds by which a message may be behind what it says has changed, and is told first; 0: none is."""
    next_1: float = 0.6
    next_2: float = 0.4
    """What a word said one or two turns away counts, of one said here."""
    coherent: float = 0.15
    """How much more alike than others turns must be that stand together, in standard deviations of their cosines, for
    what stands around a turn to count in full; 0: it always does. Dialogues show 0.15 to 2, what is shuffled or several
    talks at once about 0."""
    plain: int = 3
    """So many of the best by their own words and meaning stay among the first ten where neither neighbours nor sessions
    have shown that they count in full; 0: none is kept."""
    short_words: int = 8
    """Index terms below which a turn is short."""
    seeds: int = 6
    """Good hits from which a bridge may start."""
    seed_words: int = 64
    """How many words of a seed, from its beginning, are looked at: long answers would slow every query …"""
    links: int = 24
    """… and how many of them, the rarest, may lead on to another turn."""
    repeat: float = 2.0
    """What a turn loses that says the very same as one before it (log-odds); 0 allows repetitions."""
    repeat_from: float = 0.35
    """Share of common words (Jaccard) from which on two turns repeat each other."""
    balance: float = 0.5
    """Log-odds lost per turn that its sentence of the query was served more than the least served one; 0: off."""
    balance_power: float = 3.0
    """How sharply a turn is given to the sentence that it serves best."""
    depth: int = 60
    """How many of the best take part in the choice without repetitions: the cost grows with the square."""
    session_gap_s: float = 72_000.0
    """A pause (20 hours) that begins a new session within one conversation, whose name may be that of a chat which goes
    on for years; 0: a conversation is one session."""

    def __post_init__(self) -> None:
        if not all(math.isfinite(value) for name, value in asdict(self).items() if name != "weights"):
            raise ValueError("the numbers of the ranking must be finite")
        if self.k1 < 0 or not 0 <= self.b <= 1 or not (0 <= self.next_1 <= 1 and 0 <= self.next_2 <= 1):
            raise ValueError("k1 must not be negative; b, next_1 and next_2 are shares from 0 to 1")
        shares = (self.nameless, self.aspect, self.revision, self.coherent, self.plain)
        none_below_0 = (self.repeat, self.balance, self.session_gap_s, *shares)
        if not 0 <= self.repeat_from < 1 or min(none_below_0) < 0:
            raise ValueError(
                "repeat_from is a share below 1; repeat, balance, gap, nameless, aspect, revision, coherent, plain: "
                "not negative"
            )
        if min(self.short_words, self.seeds, self.seed_words, self.links, self.depth) < 1 or self.balance_power <= 0:
            raise ValueError("short_words, seeds, seed_words, links, depth and balance_power must be positive")
