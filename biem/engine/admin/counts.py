"""Counts of a scope and of the whole system."""

from biem.domain.scope import Scope
from biem.ports import Records


def counts(records: Records, scope: Scope) -> dict[str, int | str]:
    """What the records count: of a scope, and of the whole system (`all_…`)."""
    mine, everything = records.stats(scope), records.stats(None)
    return {
        "scope": str(scope),
        **{name: mine[name] for name in ("memories", "active", "pending", "archived", "dead_letters")},
        **{f"all_{name}": count for name, count in everything.items()},
        "backlog": records.backlog(),
    }
