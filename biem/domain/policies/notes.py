"""The tunable numbers of notes: cutting files, scanning and indexing libraries, ranking chunks."""

from dataclasses import dataclass, replace
from typing import Annotated

from annotated_types import Interval

from biem.domain.policies.bounds import Seconds, Size


@dataclass(frozen=True, slots=True)
class NotePolicy:
    """How files become chunks and tags."""

    max_file_bytes: int = 4 << 20
    """Larger files are skipped."""
    max_chunk_tokens: int = 240
    """Longer sections are cut: a vector of a long text says little about each of its parts."""
    piece_tokens: int = 150
    """Size of the pieces of a section that is cut."""
    tag_weights: tuple[float, float, float, float, float] = (1.0, 0.8, 0.6, 0.4, 0.2)
    """Weight of each source of tags, in the order of `TAG_SOURCES`; strictly falling."""
    tags_per_chunk: int = 24
    """Maximum tags of a chunk, those of its note included."""
    tags_per_note: int = 16
    """Maximum tags that all chunks of a note have."""
    keywords_per_chunk: int = 4
    """Keywords of the body that become tags."""

    def __post_init__(self) -> None:
        if self.max_file_bytes < 1 or min(self.max_chunk_tokens, self.piece_tokens) < 32:
            raise ValueError("notes.max_file_bytes must be positive, max_chunk_tokens and piece_tokens at least 32")
        falling = all(one > two for one, two in zip(self.tag_weights, self.tag_weights[1:], strict=False))
        if len(self.tag_weights) != 5 or not falling or not 0 <= self.tag_weights[-1] <= self.tag_weights[0] <= 1:
            raise ValueError(
                "notes.tag_weights are five falling weights from 1 to 0: path, heading, name, bold, keyword"
            )
        if not 0 <= self.tags_per_note <= self.tags_per_chunk or self.keywords_per_chunk < 0:
            raise ValueError("notes.tags_per_note must not exceed tags_per_chunk, keywords_per_chunk not be negative")


@dataclass(frozen=True, slots=True)
class LibraryPolicy:
    """Scanning and indexing of folders of notes."""

    root: str = ""
    """The folder that is the library `raw` of the default scope, if it exists; empty: `raw` in `BIEM_HOME`."""
    watch: bool = False
    """Whether a process with workers watches the folders, too; `biem notes watch` does in any case."""
    look_s: Seconds = 30.0
    """How often a watcher looks for new libraries, and for those whose folder could not be watched."""
    max_file_mb: Annotated[float, Interval(gt=0, le=256)] = 4.0
    """Larger files are skipped; in MiB."""
    full_s: float = 86_400.0
    """Seconds after which a scan reads every file, also those that look unchanged."""
    readers: Size = 4
    """Files read at once."""
    notes_at_once: Size = 32
    """Notes leased at once."""
    batch: Size = 64
    """Texts embedded at once."""
    lease_s: Seconds = 60.0
    """After this time another process may index what a dead one had begun."""
    max_attempts: Size = 5
    """A note whose indexing fails so often is given up, with its reason."""
    backoff_s: float = 2.0
    """Pause after an outage."""
    patience_s: float = 2.0
    """Maximum wait before each batch while memories are still to be indexed: they go first."""


@dataclass(frozen=True, slots=True)
class NoteRankPolicy:
    """Candidates of a search, and their score: α · words + β · content + γ · tags, each in [0, 1], and bonuses."""

    alpha: float = 0.25
    """Weight of the words (BM25)."""
    beta: float = 0.65
    """Weight of the content vector."""
    gamma: float = 0.1
    """Weight of the tag vector."""
    noise: float = 0.05
    """Cosines of a pool that lie within this range differ by chance: they are not spread over [0, 1]."""
    covered: float = 0.2
    """Added, by the share of the query's terms that a chunk has."""
    together: float = 0.2
    """Added for a chunk whose note has other chunks that were found by words, too."""
    near_note: float = 0.15
    """Added for a chunk whose note has other chunks of near content, too."""
    named: float = 0.2
    """Added, by the share of the tags named in the query that a chunk has, each by the weight of its source."""
    when: float = 0.5
    """Added for a chunk whose note is of a time that the query names."""
    guided: float = 0.2
    """Added, by the share of its tags that the best memories name."""
    words: int = 100
    """Candidates of the search by words."""
    dense: int = 30
    """Candidates of the search by content."""
    tags: int = 8
    """Tags nearest to a query that names none; two of them are followed."""
    tagged: int = 20
    """Candidates from notes that have these tags, or that the query names."""
    timed: int = 50
    """Candidates by words, and as many by content, from notes of each time that the query names."""
    per_note: int = 3
    """Maximum hits of one note among the first five; among more, all but two of them."""
    top_k: int = 5
    least_confidence: float = 0.0
    """Notes of a recall below this confidence are left out."""

    def __post_init__(self) -> None:
        weights = (self.alpha, self.beta, self.gamma)
        if min(weights) < 0 or abs(sum(weights) - 1) > 1e-6:
            raise ValueError("note_ranking.alpha, beta and gamma must not be negative, and their sum is 1")
        if min(self.words, self.dense, self.tagged, self.timed, self.per_note, self.top_k) < 1 or self.tags < 0:
            raise ValueError("note_ranking: the numbers of candidates must be positive")

    @property
    def as_designed(self) -> "NoteRankPolicy":
        """The ranking of the design alone: .3 · words + .4 · content + .3 · tags, and nothing added."""
        return replace(
            self,
            alpha=0.3,
            beta=0.4,
            gamma=0.3,
            noise=0.0,
            covered=0.0,
            together=0.0,
            near_note=0.0,
            named=0.0,
            when=0.0,
            guided=0.0,
        )


@dataclass(frozen=True, slots=True)
class VerdictPolicy:
    """When a note is said to contradict or confirm a fact."""

    facts: int = 200
    """Facts compared in one run."""
    chunks: int = 10
    """Nearest chunks of a fact whose sentences are compared."""
    least_similarity: float = 0.6
    """Calibrated similarity of fact and sentence."""
    least_confidence: float = 0.5
    """Of the rules of contradiction."""
