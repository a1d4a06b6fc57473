"""Builds the read path: search, profiles, typed recall, reranker, context block."""

from biem.adapters.embedders.fitted import fitted_to, pair_readers
from biem.bootstrap.groups import Ground, Life, ReadPath
from biem.domain.scope import Scope
from biem.engine.aim.route import Router
from biem.engine.concepts.recollect import Reminder
from biem.engine.context.sections import ContextBuilder
from biem.engine.life.tiers import Tiers
from biem.engine.recall.orbit import Orbits
from biem.engine.recall.profiles import ProfileRecaller
from biem.engine.recall.rank.anchors import Anchors
from biem.engine.recall.recaller import Recaller
from biem.engine.recall.rerank import Chooser
from biem.engine.recall.search import Searcher
from biem.engine.recall.similarity import Similarities
from biem.engine.recall.typed import TypedRecaller


def build_read_path(ground: Ground, *, life: Life) -> ReadPath:
    """Objects that find the candidates of a recall."""
    stores, policies = ground.stores, ground.policies
    searcher = Searcher(
        records=stores.records,
        index=stores.search,
        hot=stores.hot,
        tiers=life.tiers,
        associations=life.associations,
        embedder=ground.embedder,
        policy=policies.recall,
        graph=policies.graph,
        telemetry=ground.telemetry,
    )
    reminder = Reminder(
        concepts=stores.concepts,
        associations=life.associations,
        analyzer=ground.analyzer,
        clock=ground.clock,
        policy=policies.concepts,
        random=ground.random,
        telemetry=ground.telemetry,
        embedder=ground.embedder,
        reasoner=stores.reasoner,
    )
    return ReadPath(searcher, build_orbits(ground, tiers=life.tiers), reminder)


def build_orbits(ground: Ground, *, tiers: Tiers) -> Orbits:
    """Candidates held in this process: also the hottest memories, and those of a conversation's running concepts."""
    policy, running_memory = ground.policies.orbit, ground.stores.running_memory

    def from_canvas(scope: Scope, _: str) -> list[str]:
        return [entry.id for own in scope.readable for entry in tiers.read(own)[: policy.canvas]]

    def from_mind(scope: Scope, session: str) -> list[str]:
        return [key for running in running_memory.load(scope, session).running for key in running.sources]

    return Orbits(
        reader=ground.stores.orbits,
        supplies=(from_canvas, from_mind),
        clock=ground.clock,
        policy=policy,
        telemetry=ground.telemetry,
    )


def build_recaller(ground: Ground, *, life: Life, read: ReadPath, router: Router) -> Recaller:
    """Recall under every profile."""
    stores, policies = ground.stores, ground.policies
    chooser = Chooser(
        reranker=stores.reranker, policy=policies.rerank, random=ground.random, telemetry=ground.telemetry
    )
    return Recaller(
        records=stores.records,
        turns=stores.turns,
        conflicts=stores.conflicts,
        anchors=Anchors(records=stores.aim, analyzer=ground.analyzer, policy=policies.aim, telemetry=ground.telemetry),
        rules=ground.rules,
        searcher=read.searcher,
        orbits=read.orbits,
        tiers=life.tiers,
        analyzer=ground.analyzer,
        embedder=ground.embedder,
        clock=ground.clock,
        policy=policies.recall,
        ranking=policies.ranking,
        weights=policies.confidence,
        orbit=policies.orbit,
        profiles=build_profiles(ground, life=life, read=read, chooser=chooser, router=router),
        chooser=chooser,
        telemetry=ground.telemetry,
        calling=ground.priority.calling,
        fitted=fitted_to(ground.embedder.info.id),
    )


def build_profiles(ground: Ground, *, life: Life, read: ReadPath, chooser: Chooser, router: Router) -> ProfileRecaller:
    """Recall with the rankings of the source designs."""
    stores = ground.stores
    return ProfileRecaller(
        records=stores.records,
        likenesses=Similarities(turns=stores.turns, embedder=ground.embedder),
        searcher=read.searcher,
        associations=life.associations,
        reminder=read.reminder,
        typed=build_typed(ground, life=life, searcher=read.searcher),
        chooser=chooser,
        analyzer=ground.analyzer,
        clock=ground.clock,
        policies=ground.policies,
        router=router,
    )


def build_typed(ground: Ground, *, life: Life, searcher: Searcher) -> TypedRecaller:
    """Recall with a number of hits for each kind."""
    stores, policies = ground.stores, ground.policies
    return TypedRecaller(
        records=stores.records,
        index=stores.search,
        turns=stores.turns,
        searcher=searcher,
        associations=life.associations,
        embedder=ground.embedder,
        analyzer=ground.analyzer,
        clock=ground.clock,
        policy=policies.typed,
        recall=policies.recall,
        ranking=policies.ranking,
        telemetry=ground.telemetry,
    )


def build_context(ground: Ground) -> ContextBuilder:
    """The context block of a prompt."""
    return ContextBuilder(
        core=ground.stores.core,
        records=ground.stores.records,
        hot=ground.stores.hot,
        analyzer=ground.analyzer,
        rules=ground.rules,
        policy=ground.policies.context,
        telemetry=ground.telemetry,
        count=ground.count,
        readers=pair_readers(ground.embedder.info.id, ground.settings.embedder.threads),
    )
