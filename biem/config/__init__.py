"""Every setting, from the environment (`BIEM_…`) or an env file that an entry point names; importing reads nothing.

No server URL set: the embedded servers. The designs' own names are understood, too. Engine code sees policies only.
"""

import json
from pathlib import Path
from typing import Any, Literal, Self
from urllib.parse import quote

from pydantic import AliasChoices, Field, SecretStr, ValidationError, field_validator, model_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict, SettingsError

from biem.config.models import EmbedderSettings as EmbedderSettings
from biem.config.models import Guarded
from biem.config.models import ReasonerSettings as ReasonerSettings
from biem.config.models import RerankerSettings as RerankerSettings
from biem.config.operator import OperatorOnly, TuningFile
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
from biem.domain.policies.life import EnergyPolicy, RetentionPolicy, TierPolicy
from biem.domain.policies.orbit import OrbitPolicy
from biem.domain.policies.ranking import RankPolicy
from biem.domain.policies.recall import RecallPolicy, RerankPolicy
from biem.domain.policies.writing import EncodePolicy, WritePolicy
from biem.errors import ConfigError


def _names(name: str) -> AliasChoices:
    """A design's own variable name, also accepted with our prefix."""
    return AliasChoices(f"BIEM_{name}", name)


class Settings(Guarded, BaseSettings):
    """All settings. Field descriptions are the reference; `.env.example` shows each with its default."""

    model_config = SettingsConfigDict(
        env_prefix="BIEM_",
        env_nested_delimiter="__",
        extra="ignore",
        populate_by_name=True,
        env_ignore_empty=True,
        hide_input_in_errors=True,
    )

    home: Path = Field(Path("~/.biem"), description="folder of the embedded servers and caches")
    postgres_dsn: SecretStr | None = Field(None, description="PostgreSQL URL; unset: embedded")
    redis_url: SecretStr | None = Field(None, description="Redis or Valkey URL; unset: embedded")
    milvus_uri: SecretStr | None = Field(None, description="Milvus URI; unset: embedded")
    milvus_token: SecretStr = Field(SecretStr(""), description="Milvus token, user:password")
    milvus_ca: Path | None = Field(None, description="file of the CA behind a Milvus at https://; unset: the system's")

    milvus_host: str | None = Field(None, validation_alias=_names("MILVUS_HOST"), description="instead of a URI")
    milvus_port: int = Field(19530, validation_alias=_names("MILVUS_PORT"), description="goes with MILVUS_HOST")
    milvus_collection: str = Field(
        "biem_memories",
        validation_alias=_names("MILVUS_COLLECTION"),
        pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,127}$",
        description="first part of collection names; model and dimension follow",
    )
    milvus_use_lite: bool = Field(
        False,
        validation_alias=_names("MILVUS_USE_LITE"),
        description="true: the embedded Milvus although others are set",
    )
    milvus_index: str = Field("auto", description="index of dense vectors: auto, FLAT, HNSW, IVF_FLAT, AUTOINDEX")
    postgres_host: str | None = Field(None, validation_alias=_names("POSTGRES_HOST"), description="instead of a DSN")
    postgres_port: int = Field(5432, validation_alias=_names("POSTGRES_PORT"), description="goes with POSTGRES_HOST")
    postgres_db: str = Field("biem", validation_alias=_names("POSTGRES_DB"), description="goes with POSTGRES_HOST")
    postgres_user: str = Field("postgres", validation_alias=_names("POSTGRES_USER"), description="with POSTGRES_HOST")
    postgres_password: SecretStr = Field(
        SecretStr(""), validation_alias=_names("POSTGRES_PASSWORD"), description="goes with POSTGRES_HOST"
    )
    postgres_pool: int = Field(
        8,
        ge=2,
        description="connections to PostgreSQL a process may hold; and three more for what need not wait for the disk",
    )
    disable_memory: bool = Field(
        False, validation_alias=_names("DISABLE_MEMORY"), description="true: plugins do nothing and need no server"
    )

    tenant: str = Field("default", description="scope of calls that name none")
    user: str = Field("default", description="scope of calls that name none")
    project: str = Field("", description="scope of calls that name none; empty: the user's own level")

    queue: Literal["thread", "celery", "none"] = Field(
        "thread",
        description="who works for this process: thread (itself), celery (workers, woken by it) or none "
        "(others look for themselves)",
    )
    broker_url: SecretStr | None = Field(None, description="Celery's broker, as amqp://user@host//; unset: the Redis")
    close_timeout_s: float = Field(5.0, ge=0, description="how long closing waits for pending memories to be indexed")
    metrics_port: int | None = Field(
        None, ge=0, le=65535, description="port on which Prometheus may scrape this process; unset: none"
    )
    metrics_host: str = Field("127.0.0.1", description="address of that port; 0.0.0.0 in a container")
    web_token: SecretStr = Field(SecretStr(""), description="bearer token of biem web; empty: for this machine only")
    traces: bool = Field(False, description="true: hand every span to the OpenTelemetry SDK of the program")
    metrics_rows: bool = Field(False, description="true: keep the duration of every operation in the table metrics")
    metrics_keep_days: float = Field(7.0, gt=0, description="for how long that table keeps them")
    rescan: str = Field("", pattern=r"^$|^[\w.]+:\w+$", description="module:function that workers call; empty: none")
    rescan_s: float = Field(900.0, gt=0, description="seconds between two calls of that function")
    names_pipeline: str = Field("", description="spaCy pipeline that reads names beside the rules; empty: rules alone")

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

    @field_validator("recall", "concepts", "sleep", mode="before")
    @classmethod
    def _list_from_json(cls, value: Any, about: Any) -> Any:
        """`BIEM_RECALL__STRICT_WORDS` and the like are JSON lists; the environment gives strings."""
        name = {"recall": "strict_words", "concepts": "banned", "sleep": "off"}[about.field_name]
        if isinstance(value, dict) and isinstance(words := value.get(name), str):
            try:
                return {**value, name: json.loads(words)}
            except (ValueError, RecursionError):
                raise ValueError(f'{name} must be a JSON list such as ["weather", "天气"]') from None
        return value

    @model_validator(mode="after")
    def _all_servers_or_none(self) -> Self:
        """A half-configured cluster must not quietly keep the other half on this machine's disk."""
        given = {
            "BIEM_POSTGRES_DSN": self.postgres_url() is not None,
            "BIEM_REDIS_URL": self.redis_url is not None,
            "BIEM_MILVUS_URI": self.milvus_url() is not None or self.milvus_use_lite,
        }
        missing = [name for name, present in given.items() if not present]
        if missing and any(given.values()) and not (self.milvus_use_lite and len(missing) == 2):
            raise ValueError(f"{', '.join(missing)} not set although other servers are: set all three, or none of them")
        return self

    def postgres_url(self) -> str | None:
        """The DSN, put together from `POSTGRES_*` where no DSN is given; None means embedded."""
        if self.postgres_dsn is not None:
            return self.postgres_dsn.get_secret_value()
        if self.postgres_host is None:
            return None
        login = quote(self.postgres_user, safe="")
        password = self.postgres_password.get_secret_value()
        if password:
            login += ":" + quote(password, safe="")
        host = self.postgres_host
        host = f"[{host}]" if ":" in host else quote(host, safe="")  # an IPv6 address, or a folder of sockets
        return f"postgresql://{login}@{host}:{self.postgres_port}/{quote(self.postgres_db, safe='')}"

    def milvus_url(self) -> str | None:
        """The URI, put together from `MILVUS_HOST` and `MILVUS_PORT` where none is given; None means embedded."""
        if self.milvus_use_lite:
            return None
        if self.milvus_uri is not None:
            return self.milvus_uri.get_secret_value()
        return f"http://{self.milvus_host}:{self.milvus_port}" if self.milvus_host else None

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
        )


class _Switch(BaseSettings):
    """The one setting that must be readable when all others are missing or wrong."""

    model_config = SettingsConfigDict(extra="ignore", env_ignore_empty=True)

    disable_memory: bool = Field(False, validation_alias=_names("DISABLE_MEMORY"))


def memory_is_disabled() -> bool:
    """Whether the environment switches memory off."""
    return _Switch().disable_memory


def load_settings(env_file: Path | None = None) -> Settings:
    """Settings from the environment and, below it, `env_file`; `ConfigError` names each setting that is wrong."""
    if env_file is not None and not env_file.is_file():
        raise ConfigError(f"env file {env_file} does not exist; give another with --env-file or BIEM_ENV_FILE")
    try:
        return Settings(_env_file=env_file)
    except ValidationError as error:
        faults = "; ".join(
            f"{'.'.join(map(str, fault['loc'])) or 'settings'}: {fault['msg'].removeprefix('Value error, ')}"
            for fault in error.errors(include_input=False, include_url=False)
        )
        raise ConfigError(f"settings cannot be used: {faults}") from None
    except SettingsError as error:  # a section given as a whole, and not as JSON; the value may hold a key
        raise ConfigError(f"settings cannot be used: {error}; give each its own variable, see .env.example") from None
    except UnicodeDecodeError:
        raise ConfigError(f"settings cannot be used: env file {env_file} is not UTF-8") from None
