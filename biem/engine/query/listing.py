"""Lists and counts of one scope, without a question. Reads PostgreSQL only, counts no access and changes no energy."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, TypedDict, Unpack, get_args

from biem.domain.listing import ORDERS, STATUSES
from biem.domain.node import LAYERS, Node, Tier
from biem.domain.paging import MOST_ON_A_PAGE, Page
from biem.domain.scope import Scope
from biem.domain.text import require_count, require_names, require_string
from biem.domain.trust import require_origin
from biem.engine.query.request import Conditions, conditions, require_known
from biem.errors import InvalidInput
from biem.ports import Clock
from biem.ports.readers import Listed, Lister

TIERS: tuple[str, ...] = get_args(Tier)


class ListTerms(TypedDict, total=False):
    """The conditions that `timeline` accepts as keyword arguments; see `Memory.list`."""

    kinds: Sequence[str]
    tags: Sequence[str]
    speakers: Sequence[str]
    conversations: Sequence[str]
    as_of: datetime | None
    layer: str | None
    tier: str | None
    status: str
    where: Mapping[str, Any] | None
    origins: Sequence[str]
    min_trust: str | None


class Wanted(ListTerms, total=False):
    """Those of `list` and `count`."""

    since: datetime | None
    until: datetime | None


class MemoryList:
    """Validates what is asked for; `lister` reads it."""

    def __init__(self, lister: Lister, clock: Clock) -> None:
        self._lister = lister
        self._clock = clock

    def page(self, scope: Scope, order: str, limit: int, after: str, **wanted: Unpack[Wanted]) -> Page[Node]:
        """One page in one order."""
        require_count(limit, "limit", MOST_ON_A_PAGE)
        require_string(after, "after")
        _require_one_of(order, "order", ORDERS)
        return self._lister.page(scope, self._listed(**wanted), order, limit, after)

    def count(self, scope: Scope, **wanted: Unpack[Wanted]) -> int:
        """How many memories meet the conditions."""
        return self._lister.count(scope, self._listed(**wanted))

    def _listed(
        self,
        *,
        layer: str | None = None,
        tier: str | None = None,
        status: str = "live",
        origins: Sequence[str] = (),
        **where: Unpack[Conditions],
    ) -> Listed:
        require_known(where, {**Wanted.__annotations__, **Conditions.__annotations__})
        _require_one_of(status, "status", tuple(STATUSES))
        for value, what, known in ((layer, "layer", LAYERS), (tier, "tier", TIERS)):
            if value is not None:
                _require_one_of(value, what, known)
        require_names(origins, "origins")
        named = tuple(map(require_origin, origins))
        return Listed(conditions(self._clock.now(), **where), status, layer, tier, named)


def _require_one_of(value: object, what: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise InvalidInput(f"{what} {value!r:.60} is unknown; choose one of {', '.join(known)}")
