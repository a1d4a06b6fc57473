"""The parts of the read path that belong to recall as a whole: profiles, typed recall, reranker, context block."""

from random import Random

from biem.bootstrap.stores import Stores
from biem.domain.policies import Policies
from biem.domain.scope import Scope
from biem.engine.aim.route import Router
from biem.engine.concepts.recollect import Reminder
from biem.engine.context.sections import ContextBuilder
from biem.engine.graph.associations import Associations
from biem.engine.life.tiers import Tiers
from biem.engine.priority import Calling
from biem.engine.recall.orbit import Orbits
from biem.engine.recall.profiles import ProfileRecaller
from biem.engine.recall.rank.anchors import Anchors
from biem.engine.recall.recaller import Recaller
from biem.engine.recall.rerank import Chooser
from biem.engine.recall.search import Searcher
from biem.engine.recall.similarity import Similarities
from biem.engine.recall.typed import TypedRecaller
from biem.ports import Analyzer, Clock, Embedder
from biem.ports.contradiction import ContradictionRules
from biem.telemetry import Telemetry


def build_recaller(
    stores: Stores,
    policies: Policies,
    *,
    searcher: Searcher,
    orbits: Orbits,
    tiers: Tiers,
    associations: Associations,
    reminder: Reminder,
    router: Router,
    rules: ContradictionRules,
    embedder: Embedder,
    analyzer: Analyzer,
    random: Random,
    clock: Clock,
    telemetry: Telemetry,
    calling: Calling,
) -> Recaller:
    """Recall with everything that may have a say in it."""
    chooser = Chooser(reranker=stores.reranker, policy=policies.rerank, random=random, telemetry=telemetry)
    typed = TypedRecaller(
        records=stores.records,
        index=stores.search,
        turns=stores.turns,
        searcher=searcher,
        associations=associations,
        embedder=embedder,
        analyzer=analyzer,
        clock=clock,
        policy=policies.typed,
        recall=policies.recall,
        ranking=policies.ranking,
        telemetry=telemetry,
    )
    profiles = ProfileRecaller(
        records=stores.records,
        likenesses=Similarities(turns=stores.turns, embedder=embedder),
        searcher=searcher,
        associations=associations,
        reminder=reminder,
        typed=typed,
        chooser=chooser,
        analyzer=analyzer,
        clock=clock,
        policies=policies,
        router=router,
    )
    return Recaller(
        records=stores.records,
        turns=stores.turns,
        conflicts=stores.conflicts,
        anchors=Anchors(records=stores.aim, analyzer=analyzer, policy=policies.aim, telemetry=telemetry),
        rules=rules,
        searcher=searcher,
        orbits=orbits,
        tiers=tiers,
        analyzer=analyzer,
        embedder=embedder,
        clock=clock,
        policy=policies.recall,
        ranking=policies.ranking,
        weights=policies.confidence,
        orbit=policies.orbit,
        profiles=profiles,
        chooser=chooser,
        telemetry=telemetry,
        calling=calling,
    )


def build_briefer(
    stores: Stores, policies: Policies, analyzer: Analyzer, rules: ContradictionRules, telemetry: Telemetry
) -> ContextBuilder:
    """The context block."""
    return ContextBuilder(
        core=stores.core,
        records=stores.records,
        hot=stores.hot,
        analyzer=analyzer,
        rules=rules,
        policy=policies.context,
        telemetry=telemetry,
    )


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
