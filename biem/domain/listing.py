"""Lists of memories: their orders, and the cursor that a page ends with."""

import base64
import binascii
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, get_args

from biem.errors import InvalidInput

Order = Literal["newest", "oldest", "energy", "importance"]
"""By the time when it was said (`at`), or by energy or importance, the greatest first; of equals the last written."""

ORDERS: tuple[str, ...] = get_args(Order)
STATUSES: dict[str, tuple[str, ...]] = {
    "live": ("pending", "active"),
    "pending": ("pending",),
    "active": ("active",),
    "archived": ("archived",),
    "all": ("pending", "active", "archived"),
}
"""What a list can be limited to. A memory counts as archived from its expiry on."""

_MOST_SEQ = 2**63
_MOST_CHARS = 256


@dataclass(frozen=True, slots=True)
class Place:
    """Where a page ends: the sort key and the write sequence number of its last memory.

    `key` is a time for newest and oldest, else a number. Energies are compared as of one instant, `energies_at`.
    """

    key: datetime | float
    seq: int
    energies_at: datetime | None = None

    def cursor(self, order: str) -> str:
        """The cursor of the next page: opaque, letters and digits."""
        key = self.key.isoformat() if isinstance(self.key, datetime) else self.key
        parts = [order, key, self.seq, *([self.energies_at.isoformat()] if self.energies_at else [])]
        return base64.urlsafe_b64encode(json.dumps(parts).encode()).decode().rstrip("=")


def place_of(after: str, order: str) -> Place | None:
    """The place that a cursor names; None for the beginning. Raises `InvalidInput`, also for another order's cursor."""
    if not after:
        return None
    parts = _decoded(after)
    if parts and parts[0] in ORDERS and parts[0] != order:
        raise InvalidInput(f"after is a cursor of order={parts[0]!r}, not {order!r}; ask for the order it belongs to")
    try:
        return _place(order, parts)
    except (ValueError, TypeError, IndexError, OverflowError):
        raise InvalidInput(
            f"after={after[:64]!r} is no place in this list; give back the `next` of the page before"
        ) from None


def _decoded(after: str) -> list[Any]:
    try:
        if len(after) > _MOST_CHARS:
            return []
        padded = after.encode("ascii") + b"=" * (-len(after) % 4)
        parts = json.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
    except (ValueError, binascii.Error, RecursionError):
        return []
    return parts if isinstance(parts, list) else []


def _place(order: str, parts: Sequence[Any]) -> Place:
    named, key, seq, *rest = parts
    if named != order or type(seq) is not int or not 0 <= seq < _MOST_SEQ:
        raise ValueError(seq)
    if order in ("newest", "oldest"):
        if rest:
            raise ValueError(rest)
        return Place(_instant(key), seq)
    if isinstance(key, bool) or not isinstance(key, int | float) or not math.isfinite(key):
        raise ValueError(key)
    if len(rest) != (order == "energy"):
        raise ValueError(rest)
    return Place(float(key), seq, _instant(rest[0]) if rest else None)


def _instant(text: object) -> datetime:
    moment = datetime.fromisoformat(str(text))
    if moment.tzinfo is None:
        raise ValueError(text)
    return moment
