"""What is mutated, and the tests that must notice: first the fast ones, then those on servers."""

from collections.abc import Mapping
from dataclasses import dataclass

UNIT, CONTRACT, WHOLE = "tests/unit/", "tests/contract/test_", "tests/integration/test_"
AIM_ALL, AIM = "tests/integration/aim", "tests/integration/aim/test_"

OUTAGE = "--deselect=tests/integration/test_plugin.py::test_the_event_loop_stays_free_while_memory_is_slow"
"""It stops servers of its own and measures seconds, which proves nothing while runs go on beside each other."""


@dataclass(frozen=True)
class Target:
    """A module below `biem`, and the arguments of pytest, one run after the other until a run fails."""

    module: str
    runs: tuple[str, ...]


TARGETS = (
    Target("engine/remember/writer", (f"{UNIT}engine/remember/test_remember.py",)),
    Target("engine/encode/worker", (f"{UNIT}engine/encode/test_encode.py",)),
    Target("engine/remember/hot_write_behind", (f"{UNIT}engine/remember/test_hotfeed.py",)),
    Target("adapters/jobs/thread", (f"{CONTRACT}queue.py",)),
    Target("engine/life/erase", (f"{UNIT}engine/life/test_erase.py",)),
    Target("engine/life/retention", (f"{UNIT}engine/life/test_lifecycle.py", f"{CONTRACT}lifecycle.py")),
    Target("engine/life/erased_sweep", (f"{UNIT}engine/life/test_tombstones.py",)),
    Target("adapters/postgres/life", (f"{CONTRACT}tombstones.py", f"{CONTRACT}lifecycle.py")),
    Target("adapters/redis/forget", (f"{CONTRACT}redis_keys.py",)),
    Target("domain/scope", (f"{UNIT}domain/test_scope.py",)),
    Target("engine/query/request", (f"{UNIT}engine/query/test_request.py",)),
    Target("adapters/postgres/records", (f"{CONTRACT}core.py", f"{CONTRACT}records.py")),
    Target("bootstrap/system", (f"{WHOLE}wiring.py", f"{WHOLE}life_effects.py")),
    Target(
        "bootstrap/aim",
        (f"{AIM}end_to_end.py {AIM}own_settings.py", f"{AIM}write_and_read.py {AIM}persistence.py", AIM_ALL),
    ),
    Target(
        "plugin",
        (
            f"{UNIT}test_plugin.py {UNIT}test_plugin_never_raises.py",
            f"{WHOLE}plugin.py {OUTAGE} {WHOLE}plugin_feedback.py",
        ),
    ),
    Target("engine/conflicts/detect", (f"{UNIT}engine/conflicts/test_conflicts.py",)),
    Target("engine/conflicts/resolve", (f"{CONTRACT}resolution.py",)),
    Target("engine/life/tiers", (f"{UNIT}engine/life/test_tiers.py", f"{CONTRACT}tiers.py")),
    Target("engine/life/feedback", (f"{UNIT}engine/life/test_feedback.py",)),
    Target("domain/energy", (f"{UNIT}domain/test_energy.py",)),
    Target("engine/query/agent_input", (f"{UNIT}test_plugin.py", f"{WHOLE}plugin.py {OUTAGE}")),
    Target(
        "engine/remember/unsaved",
        (f"{UNIT}engine/remember/test_unsaved.py", f"{UNIT}test_plugin.py {UNIT}test_plugin_never_raises.py"),
    ),
    Target(
        "engine/concepts/prompt_sections",
        (f"{UNIT}engine/context/test_context.py {UNIT}test_plugin.py", f"{WHOLE}plugin.py {OUTAGE}"),
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
    ("domain/energy", "_FLOOR = 1e-12", "_FLOOR = 1.02e-12"): "any number below all thresholds does",
}
"""Faults that change no result, by module, line and faulty line (as `ast.unparse` writes both); and why that is so."""
