"""Limits of writing: lengths, rates, batches and leases of the workers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated

from annotated_types import Interval

from biem.domain.policies.bounds import Count, Pause, Seconds, Size
from biem.domain.trust import LEVELS, ORIGINS


@dataclass(frozen=True, slots=True)
class WritePolicy:
    """Limits of `remember`."""

    max_text_bytes: Size = 262_144
    """Longer texts are documents: split them. Also keeps a tsvector below PostgreSQL's 1 MiB."""
    max_tags: Count = 64
    max_tag_chars: int = 128
    max_reason_chars: int = 4_000
    max_ref_chars: int = 512
    max_name_chars: int = 256
    """Speaker, conversation, source."""
    max_metadata_bytes: Count = 65_536
    max_lexeme_bytes: int = 60_000
    """Milvus holds at most 65,535 bytes in a VARCHAR; PostgreSQL indexes the same lexemes."""
    hot_window: Count = 256
    """HotKV's W: texts kept in Redis per scope."""
    bulk_rows: Size = 500
    """Rows per transaction of `remember_many`: large enough to share one fsync, small enough to report progress."""
    future_days: Annotated[int, Interval(ge=0, le=36_600)] = 366
    """`at` may be this far in the future (planned events, clocks that run fast)."""
    trust_by_origin: Mapping[str, str] = field(default_factory=lambda: dict(ORIGINS))
    """The trust level of what comes from each origin: trusted, normal or untrusted; `normal` for all others."""
    max_per_minute: Count = 0
    """Memories that one scope may write a minute, over all processes; 0: unlimited. A loop must not fill the disk."""

    def __post_init__(self) -> None:
        for origin, level in self.trust_by_origin.items():
            if level not in LEVELS:
                raise ValueError(f"the trust level of {origin!r} must be one of {', '.join(LEVELS)}, not {level!r}")


@dataclass(frozen=True, slots=True)
class EncodePolicy:
    """How the worker turns pending rows into indexed memories."""

    batch: Size = 64
    """Rows per claim and texts per embedder call."""
    most_batches: int = 4
    """Maximum batches claimed in one round when most texts need no embedding."""
    lease_s: Seconds = 60.0
    """A claim not completed by then may be claimed again. Slowest batch seen: 64 long texts, 15 s."""
    max_attempts: Size = 5
    """Then the row goes to the dead letter with its reason."""
    suspect_claims: int = 3
    """Outages after which a row is suspected of causing them and is tried alone; two in a row are not unusual."""
    backoff_s: Pause = 1.0
    """First pause after a server refused; doubles up to `backoff_max_s`."""
    backoff_max_s: float = 30.0
    poll_s: Pause = 1.0
    """How often an idle worker polls for rows without a wake-up."""
    quota_calls: int = 500_000
    """Calls that the contract with an embedding server allows; 0: no limit."""
