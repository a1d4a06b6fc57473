"""Every setting, from the environment (`BIEM_…`) or an env file that an entry point names; importing reads nothing.

No server URL set: the embedded servers. The designs' own names are understood, too. Engine code sees policies only.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError, field_validator, model_validator
from pydantic_core import ErrorDetails
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict, SettingsError

from biem.config.http_server import HttpServerSettings
from biem.config.jobs import JobSettings
from biem.config.models import EmbedderSettings as EmbedderSettings
from biem.config.models import ReasonerSettings as ReasonerSettings
from biem.config.models import RerankerSettings as RerankerSettings
from biem.config.operator import OPERATOR, OperatorOnly, TuningFile
from biem.config.servers import ServerSettings, names
from biem.config.telemetry import TelemetrySettings
from biem.domain.designs.numbers import NUMBERS, Design
from biem.domain.policies import Policies
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
from biem.domain.policies.notes import LibraryPolicy, NotePolicy, NoteRankPolicy
from biem.domain.policies.orbit import OrbitPolicy
from biem.domain.policies.ranking import RankPolicy
from biem.domain.policies.recall import RecallPolicy, RerankPolicy
from biem.domain.policies.sessions import SessionPolicy
from biem.domain.policies.writing import EncodePolicy, WritePolicy
from biem.errors import ConfigError

_LIST = 'a JSON list such as ["weather", "天气"]'
_FROM_JSON = {
    "recall": ("strict_words", _LIST),
    "concepts": ("banned", _LIST),
    "sleep": ("off", _LIST),
    "layers": ("categories", 'a JSON object such as {"incident": {"kind": "event", "patterns": ["outage"]}}'),
    "write": ("trust_by_origin", 'a JSON object such as {"web": "untrusted", "crm": "trusted"}'),
}
"""By section, the setting whose value is JSON, and what it looks like."""
_SHOWN = frozenset({"greater_than", "greater_than_equal", "less_than", "less_than_equal", "literal_error"})
"""Kinds of faults for which the value is shown."""


class Settings(ServerSettings, JobSettings, HttpServerSettings, TelemetrySettings, BaseSettings):
    """All settings. Field descriptions are the reference; `.env.example` shows each with its default."""

    model_config = SettingsConfigDict(
        env_prefix="BIEM_",
        env_nested_delimiter="__",
        extra="ignore",
        populate_by_name=True,
        env_ignore_empty=True,
        hide_input_in_errors=True,
        revalidate_instances="always",
    )

    home: Path = Field(Path("~/.biem"), description="folder of the embedded servers and caches")
    disable_memory: bool = Field(
        False, validation_alias=names("DISABLE_MEMORY"), description="true: plugins do nothing and need no server"
    )

    tenant: str = Field("default", description="scope of calls that name none")
    user: str = Field("default", description="scope of calls that name none")
    project: str = Field("", description="scope of calls that name none; empty: the user's own level")

    names_pipeline: str = Field(
        "", description="spaCy pipeline that reads names in addition to the rules; empty: rules alone"
    )

    tuning: Path | None = Field(
        None, description="TOML file of fitted weights and thresholds that replace the built-in ones; unset: none"
    )
    profile: Design = Field(
        "default", description="whose numbers stand in for defaults: default, biem, hippocampus, angel, aimate or aim"
    )

    embedder: EmbedderSettings = EmbedderSettings()
    reranker: RerankerSettings = RerankerSettings()
    reasoner: ReasonerSettings = ReasonerSettings()
    write: WritePolicy = WritePolicy()
    encode: EncodePolicy = EncodePolicy()
    recall: RecallPolicy = RecallPolicy()
    ranking: RankPolicy = RankPolicy()
    confidence: ConfidenceWeights = ConfidenceWeights()
    orbit: OrbitPolicy = OrbitPolicy()
    aim: AimPolicy = AimPolicy()
    formulas: FormulaPolicy = FormulaPolicy()
    typed: TypedPolicy = TypedPolicy()
    rerank: RerankPolicy = RerankPolicy()
    context: ContextPolicy = ContextPolicy()
    energy: EnergyPolicy = EnergyPolicy()
    tiers: TierPolicy = TierPolicy()
    retention: RetentionPolicy = RetentionPolicy()
    graph: GraphPolicy = GraphPolicy()
    conflicts: ConflictPolicy = ConflictPolicy()
    consolidation: ConsolidationPolicy = ConsolidationPolicy()
    feedback: FeedbackPolicy = FeedbackPolicy()
    sleep: SleepPolicy = SleepPolicy()
    concepts: ConceptPolicy = ConceptPolicy()
    notes: LibraryPolicy = LibraryPolicy()
    note_cut: NotePolicy = NotePolicy()
    note_ranking: NoteRankPolicy = NoteRankPolicy()
    session: SessionPolicy = SessionPolicy()
    layers: LayerPolicy = LayerPolicy()
    builder: BuilderPolicy = BuilderPolicy()

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003  the signature is that of the base class
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Arguments, then the environment, the env file and the tuning file."""
        return (
            init_settings,
            OperatorOnly(settings_cls, env_settings),
            OperatorOnly(settings_cls, dotenv_settings),
            TuningFile(settings_cls),
        )

    @model_validator(mode="before")
    @classmethod
    def _numbers_of_the_profile(cls, values: Any) -> Any:
        """The numbers of a design where nothing else is set; a section given as a whole stays as it is."""
        if not isinstance(values, dict):
            return values
        merged = dict(values)
        for number in NUMBERS.get(values.get("profile", "default"), ()):
            section, name = number.setting.split(".")
            given = merged.get(section, {})
            if isinstance(given, dict) and name not in given:
                merged[section] = {**given, name: number.value}
        return merged

    @field_validator(*_FROM_JSON, mode="before")
    @classmethod
    def _from_json(cls, value: Any, about: Any) -> Any:
        """`BIEM_RECALL__STRICT_WORDS` and the like are JSON; the environment gives strings."""
        name, form = _FROM_JSON[about.field_name]
        if isinstance(value, dict) and isinstance(text := value.get(name), str):
            try:
                return {**value, name: json.loads(text)}
            except (ValueError, RecursionError):
                raise ValueError(f"{name} must be {form}") from None
        return value

    @property
    def policies(self) -> Policies:
        """What the engine may know of the settings."""
        return Policies(
            write=self.write,
            encode=self.encode,
            recall=self.recall,
            ranking=self.ranking,
            confidence=self.confidence,
            orbit=self.orbit,
            aim=self.aim,
            formulas=self.formulas,
            typed=self.typed,
            rerank=self.rerank,
            context=self.context,
            energy=self.energy,
            tiers=self.tiers,
            retention=self.retention,
            graph=self.graph,
            conflicts=self.conflicts,
            consolidation=self.consolidation,
            feedback=self.feedback,
            sleep=self.sleep,
            concepts=self.concepts,
            notes=self.notes,
            note_cut=self.note_cut,
            note_ranking=self.note_ranking,
            session=self.session,
            layers=self.layers,
            builder=self.builder,
        )


class _Switch(BaseSettings):
    """The one setting that must be readable when all others are missing or wrong."""

    model_config = SettingsConfigDict(extra="ignore", env_ignore_empty=True)

    disable_memory: bool = Field(False, validation_alias=names("DISABLE_MEMORY"))


def memory_is_disabled() -> bool:
    """Whether the environment switches memory off."""
    return _Switch().disable_memory


def _named(location: tuple[int | str, ...]) -> str:
    """The name under which a user sets a value, before its fault; empty where several values do not fit together."""
    if not location:
        return ""
    section, *rest = map(str, location)
    if section in OPERATOR and rest and rest[0] not in OPERATOR[section]:
        return f"{'.'.join((section, *rest))} of BIEM_TUNING: "
    variable = "__".join((section, *rest)).upper()
    more = "__…" if section in OPERATOR and not rest else ""
    return f"BIEM_{variable.removeprefix('BIEM_')}{more}: "


def _given(fault: ErrorDetails) -> str:
    """The value, where it is a number or one word of several; any other may be a secret in the wrong place."""
    return f", not {fault['input']}" if fault["type"] in _SHOWN else ""


def faults_of(error: ValidationError, named: Callable[[tuple[int | str, ...]], str] = _named) -> str:
    """Each fault, after the name that `named` gives its place."""
    return "; ".join(
        f"{named(fault['loc'])}{fault['msg'].removeprefix('Value error, ')}{_given(fault)}"
        for fault in error.errors(include_url=False)
    )


def load_settings(env_file: Path | None = None) -> Settings:
    """Settings from the environment and, below it, `env_file`; `ConfigError` names each setting that is wrong."""
    if env_file is not None and not env_file.is_file():
        raise ConfigError(f"env file {env_file} does not exist; give another with --env-file or BIEM_ENV_FILE")
    try:
        return Settings(_env_file=env_file)
    except ValidationError as error:
        raise ConfigError(f"settings cannot be used: {faults_of(error)}") from None
    except SettingsError as error:  # a section given as a whole, and not as JSON; the value may hold a key
        raise ConfigError(f"settings cannot be used: {error}; give each its own variable, see .env.example") from None
    except UnicodeDecodeError:
        raise ConfigError(f"settings cannot be used: env file {env_file} is not UTF-8") from None
