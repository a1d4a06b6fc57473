"""What a session has at hand, and from where it is filled."""

from biem.bootstrap.stores import Stores
from biem.domain.policy import Policies
from biem.domain.scope import Scope
from biem.engine.orbit import Orbits
from biem.engine.tiers import Tiers
from biem.ports import Clock
from biem.telemetry import Telemetry


def build_orbits(stores: Stores, tiers: Tiers, policies: Policies, clock: Clock, telemetry: Telemetry) -> Orbits:
    """The orbits of this process, which take the hottest memories and what is on a conversation's mind along."""

    def from_canvas(scope: Scope, _: str) -> list[str]:
        return [entry.id for own in scope.readable for entry in tiers.read(own)[: policies.orbit.canvas]]

    def from_mind(scope: Scope, session: str) -> list[str]:
        return [key for running in stores.minds.load(scope, session).running for key in running.sources]

    return Orbits(
        reader=stores.orbits,
        supplies=(from_canvas, from_mind),
        clock=clock,
        policy=policies.orbit,
        telemetry=telemetry,
    )
