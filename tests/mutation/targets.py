"""What is mutated, and the tests that must notice: first the fast ones, then those on servers."""

from collections.abc import Mapping
from dataclasses import dataclass

UNIT, CONTRACT, WHOLE = "tests/unit/test_", "tests/contract/test_", "tests/integration/test_"
AIM_ALL, AIM = "tests/integration/aim", "tests/integration/aim/test_"

OUTAGE = "--deselect=tests/integration/test_plugin.py::test_the_event_loop_stays_free_while_memory_is_slow"
"""It stops servers of its own and measures seconds, which proves nothing while runs go on beside each other."""


@dataclass(frozen=True)
class Target:
    """A module below `biem`, and the arguments of pytest, one run after the other until a run fails."""

    module: str
    runs: tuple[str, ...]


TARGETS = (
    Target("engine/remember", (f"{UNIT}remember.py",)),
    Target("engine/encode", (f"{UNIT}encode.py",)),
    Target("engine/hotfeed", (f"{UNIT}hotfeed.py",)),
    Target("adapters/queue", (f"{CONTRACT}queue.py",)),
    Target("engine/erase", (f"{UNIT}erase.py",)),
    Target("engine/lifecycle", (f"{UNIT}lifecycle.py", f"{CONTRACT}lifecycle.py")),
    Target("engine/tombstones", (f"{UNIT}tombstones.py",)),
    Target("adapters/tombstones", (f"{CONTRACT}tombstones.py",)),
    Target("adapters/projections", (f"{CONTRACT}redis_keys.py",)),
    Target("domain/scope", (f"{UNIT}scope.py",)),
    Target("engine/request", (f"{UNIT}request.py",)),
    Target("adapters/postgres", (f"{CONTRACT}core.py", f"{CONTRACT}records.py")),
    Target("bootstrap/assembly", (f"{WHOLE}wiring.py", f"{WHOLE}life_effects.py")),
    Target(
        "bootstrap/aim",
        (f"{AIM}end_to_end.py {AIM}own_settings.py", f"{AIM}write_and_read.py {AIM}persistence.py", AIM_ALL),
    ),
    Target(
        "plugin",
        (f"{UNIT}plugin.py {UNIT}plugin_never_raises.py", f"{WHOLE}plugin.py {OUTAGE} {WHOLE}plugin_feedback.py"),
    ),
    Target("engine/recorded", (f"{UNIT}plugin.py", f"{WHOLE}plugin.py {OUTAGE}")),
    Target("engine/unsaved", (f"{UNIT}unsaved.py", f"{UNIT}plugin.py {UNIT}plugin_never_raises.py")),
    Target("engine/beside", (f"{UNIT}context.py {UNIT}plugin.py", f"{WHOLE}plugin.py {OUTAGE}")),
    Target("engine/conflicts", (f"{UNIT}conflicts.py",)),
    Target("engine/resolution", (f"{CONTRACT}resolution.py",)),
    Target("engine/tiers", (f"{UNIT}tiers.py", f"{CONTRACT}tiers.py")),
    Target("engine/feedback", (f"{UNIT}feedback.py",)),
    Target("domain/energy", (f"{UNIT}energy.py",)),
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
        "adapters/projections",
        "for key in client.scan_iter(match=EVERYTHING, count=_AT_ONCE):",
        "for key in client.scan_iter(match=EVERYTHING):",
    ): "how many keys a round trip looks at; it finds the same",
    ("adapters/projections", "found.clear()", "None"): (
        "what was removed is asked for again at the end, and counts once; pieces only bound a call"
    ),
    ("domain/energy", "_FLOOR = 1e-12", "_FLOOR = 1.02e-12"): "any number below all thresholds does",
}
"""Faults that change no result, by module, line and faulty line (as `ast.unparse` writes both); and why that is so."""
