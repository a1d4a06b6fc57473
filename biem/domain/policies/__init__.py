"""Every tunable number, with its unit and its reason. Engine code receives a policy; only bootstrap knows Settings."""

from dataclasses import dataclass, field

from biem.domain.policies.aim import AimPolicy
from biem.domain.policies.concepts import ConceptPolicy
from biem.domain.policies.confidence import ConfidenceWeights
from biem.domain.policies.conflicts import ConflictPolicy
from biem.domain.policies.context import ContextPolicy
from biem.domain.policies.designs import FormulaPolicy, TypedPolicy
from biem.domain.policies.graph import GraphPolicy
from biem.domain.policies.jobs import ConsolidationPolicy, FeedbackPolicy, SleepPolicy
from biem.domain.policies.layers import BuilderPolicy, LayerPolicy
from biem.domain.policies.life import EnergyPolicy, RetentionPolicy, TierPolicy
from biem.domain.policies.notes import LibraryPolicy, NotePolicy, NoteRankPolicy, VerdictPolicy
from biem.domain.policies.orbit import OrbitPolicy
from biem.domain.policies.ranking import RankPolicy
from biem.domain.policies.recall import RecallPolicy, RerankPolicy
from biem.domain.policies.sessions import SessionPolicy
from biem.domain.policies.writing import EncodePolicy, WritePolicy


@dataclass(frozen=True, slots=True)
class Policies:
    """All policies as one value."""

    write: WritePolicy = field(default_factory=WritePolicy)
    encode: EncodePolicy = field(default_factory=EncodePolicy)
    recall: RecallPolicy = field(default_factory=RecallPolicy)
    ranking: RankPolicy = field(default_factory=RankPolicy)
    confidence: ConfidenceWeights = field(default_factory=ConfidenceWeights)
    orbit: OrbitPolicy = field(default_factory=OrbitPolicy)
    aim: AimPolicy = field(default_factory=AimPolicy)
    formulas: FormulaPolicy = field(default_factory=FormulaPolicy)
    typed: TypedPolicy = field(default_factory=TypedPolicy)
    rerank: RerankPolicy = field(default_factory=RerankPolicy)
    context: ContextPolicy = field(default_factory=ContextPolicy)
    energy: EnergyPolicy = field(default_factory=EnergyPolicy)
    tiers: TierPolicy = field(default_factory=TierPolicy)
    retention: RetentionPolicy = field(default_factory=RetentionPolicy)
    conflicts: ConflictPolicy = field(default_factory=ConflictPolicy)
    concepts: ConceptPolicy = field(default_factory=ConceptPolicy)
    graph: GraphPolicy = field(default_factory=GraphPolicy)
    consolidation: ConsolidationPolicy = field(default_factory=ConsolidationPolicy)
    feedback: FeedbackPolicy = field(default_factory=FeedbackPolicy)
    sleep: SleepPolicy = field(default_factory=SleepPolicy)
    notes: LibraryPolicy = field(default_factory=LibraryPolicy)
    note_cut: NotePolicy = field(default_factory=NotePolicy)
    note_ranking: NoteRankPolicy = field(default_factory=NoteRankPolicy)
    note_verdicts: VerdictPolicy = field(default_factory=VerdictPolicy)
    session: SessionPolicy = field(default_factory=SessionPolicy)
    layers: LayerPolicy = field(default_factory=LayerPolicy)
    builder: BuilderPolicy = field(default_factory=BuilderPolicy)
