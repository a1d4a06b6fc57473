"""What is mutated, and the tests that must notice: first the fast ones, then those on servers.

These are the modules that write, erase, keep scopes apart and wire the parts. Those that choose and order lines have
weights fitted to conversations, where a small change is seen by `benchmarks.agent` and `benchmarks.retrieval` only.
"""

from collections.abc import Mapping
from dataclasses import dataclass

UNIT, POSTGRES, REDIS = "tests/unit/", "tests/contract/postgres/test_", "tests/contract/redis/test_"
OVER_STORES, WHOLE = "tests/contract/engine/test_", "tests/integration/"
AIM_ALL, AIM = "tests/integration/aim", "tests/integration/aim/test_"

OUTAGE = "--deselect=tests/integration/plugin/test_plugin.py::test_the_event_loop_stays_free_while_memory_is_slow"
"""It stops its own servers and measures seconds, which proves nothing while runs go on side by side."""


@dataclass(frozen=True)
class Target:
    """A module below `biem`, and the arguments of pytest, one run after the other until a run fails."""

    module: str
    runs: tuple[str, ...]


TARGETS = (
    Target("engine/remember/writer", (f"{UNIT}engine/remember/test_writer.py",)),
    Target("engine/encode/worker", (f"{UNIT}engine/encode/test_worker.py",)),
    Target("engine/remember/hot_write_behind", (f"{UNIT}engine/remember/test_hot_write_behind.py",)),
    Target("adapters/jobs/thread", ("tests/contract/jobs/test_queue.py",)),
    Target("engine/life/erase", (f"{UNIT}engine/life/test_erase.py",)),
    Target("engine/life/retention", (f"{UNIT}engine/life/test_retention.py", f"{POSTGRES}life.py")),
    Target("engine/recall/rank/anchors", (f"{UNIT}engine/recall/rank/test_anchors.py",)),
    Target("domain/merging", (f"{UNIT}domain/test_merging.py", "tests/contract/engine/test_consolidation_jobs.py")),
    Target("engine/graph/scope_graph", (f"{UNIT}engine/graph",)),
    Target("engine/life/erased_sweep", (f"{UNIT}engine/life/test_erased_sweep.py",)),
    Target("adapters/postgres/life", (f"{POSTGRES}tombstones.py", f"{POSTGRES}life.py")),
    Target("adapters/redis/forget", (f"{REDIS}keys.py",)),
    Target("domain/scope", (f"{UNIT}domain/test_scope.py",)),
    Target("engine/query/request", (f"{UNIT}engine/query/test_request.py",)),
    Target("adapters/postgres/records", (f"{POSTGRES}core.py", "tests/contract/postgres/records")),
    Target("bootstrap/system", (f"{WHOLE}api/test_wiring.py", f"{WHOLE}life/test_effects.py")),
    Target(
        "bootstrap/aim",
        (f"{AIM}end_to_end.py {AIM}own_settings.py", f"{AIM}write_and_read.py {AIM}persistence.py", AIM_ALL),
    ),
    Target(
        "plugin",
        (
            f"{UNIT}test_plugin.py {UNIT}test_plugin_never_raises.py",
            f"{WHOLE}plugin/test_plugin.py {OUTAGE} {WHOLE}plugin/test_feedback.py",
        ),
    ),
    Target("engine/conflicts/detect", (f"{UNIT}engine/conflicts/test_detect.py",)),
    Target(
        "engine/conflicts/resolve", (f"{UNIT}engine/conflicts/test_detect.py", f"{OVER_STORES}conflict_resolution.py")
    ),
    Target("engine/life/tiers", (f"{UNIT}engine/life/test_tiers.py", f"{OVER_STORES}tiers.py")),
    Target("engine/life/feedback", (f"{UNIT}engine/life/test_feedback.py",)),
    Target("domain/energy", (f"{UNIT}domain/test_energy.py",)),
    Target("engine/query/agent_input", (f"{UNIT}test_plugin.py", f"{WHOLE}plugin/test_plugin.py {OUTAGE}")),
    Target(
        "engine/remember/unsaved",
        (f"{UNIT}engine/remember/test_unsaved.py", f"{UNIT}test_plugin.py {UNIT}test_plugin_never_raises.py"),
    ),
    Target(
        "engine/concepts/prompt_sections",
        (f"{UNIT}engine/context/test_block.py {UNIT}test_plugin.py", f"{WHOLE}plugin/test_plugin.py {OUTAGE}"),
    ),
)

Why = str
EQUIVALENT: Mapping[tuple[str, str, str], Why] = {
    ("domain/energy", "return 1 if weight >= 1.0 else -1", "return 1 if weight >= 1.02 else -1"): (
        "weights are multiples of 1/24, and the next after 1 is 1.04"
    ),
    (
        "domain/energy",
        "weight = sum((1.0 if ord(c) > 11903 else 0.0 for c in reason)) / 8 + len(reason.split()) / 6",
        "weight = sum((1.0 if ord(c) >= 11903 else 0.0 for c in reason)) / 8 + len(reason.split()) / 6",
    ): "Unicode has no character of this number",
    (
        "adapters/redis/forget",
        "for key in client.scan_iter(match=EVERYTHING, count=_AT_ONCE):",
        "for key in client.scan_iter(match=EVERYTHING):",
    ): "how many keys a round trip looks at; it finds the same",
    ("adapters/redis/forget", "found.clear()", "None"): (
        "what was removed is asked for again at the end, and counts once; pieces only bound a call"
    ),
    ("adapters/postgres/records", "_MOST_COUNTED = 100000", "_MOST_COUNTED = 100001"): (
        "it bounds what counting costs; of more than that many it only tells that they are many"
    ),
    (
        "domain/energy",
        "weight = sum((1.0 if ord(c) > 11903 else 0.0 for c in reason)) / 8 + len(reason.split()) / 6",
        "weight = sum((1.02 if ord(c) > 11903 else 0.0 for c in reason)) / 8 + len(reason.split()) / 6",
    ): "a weight is a multiple of 1/24, and what seven characters gain by this is less",
    **{
        ("adapters/postgres/records", "return row['ref'] is not None or row['fact_key'] is not None", faulty): (
            "without the lock, one of two writers is refused by the unique index, and tries again"
        )
        for faulty in (
            "return row['ref'] is not None or row['fact_key'] is None",
            "return row['ref'] is not None and row['fact_key'] is not None",
        )
    },
    (
        "engine/conflicts/detect",
        "peers |= self._documents(scope, {key: peers[key] for pair in pairs for key in pair if peers[key].long})",
        "peers |= self._documents(scope, {key: peers[key] for pair in pairs for key in pair})",
    ): "the text of a short message is read again, and is the same",
    (
        "engine/graph/scope_graph",
        "if self.version in (since, UNKNOWN) or self.version < changes.version:",
        "if self.version in (since, UNKNOWN) or self.version <= changes.version:",
    ): "the whole graph of a version replaces the same graph",
    ("domain/energy", "_FLOOR = 1e-12", "_FLOOR = 1.02e-12"): "any number below all thresholds does",
}
"""Faults that change no result, by module, line and faulty line (as `ast.unparse` writes both); and why that is so."""
