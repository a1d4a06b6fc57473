"""The settings of PostgreSQL, Redis and Milvus: addresses, logins and names; none set: the embedded servers."""

from pathlib import Path
from typing import Annotated, Literal, Self
from urllib.parse import quote

from pydantic import AliasChoices, Field, SecretStr, model_validator

from biem.config.models import Guarded

Port = Annotated[int, Field(ge=1, le=65535)]


def names(name: str) -> AliasChoices:
    """A design's own variable name, also accepted with our prefix."""
    return AliasChoices(f"BIEM_{name}", name)


class ServerSettings(Guarded):
    """Where the servers are; all three are set, or none."""

    postgres_dsn: SecretStr | None = Field(None, description="PostgreSQL URL; unset: embedded")
    redis_url: SecretStr | None = Field(None, description="Redis or Valkey URL; unset: embedded")
    milvus_uri: SecretStr | None = Field(None, description="Milvus URI; unset: embedded")
    milvus_token: SecretStr = Field(SecretStr(""), description="Milvus token, user:password")
    milvus_ca: Path | None = Field(None, description="file of the CA behind a Milvus at https://; unset: the system's")

    milvus_host: str | None = Field(None, validation_alias=names("MILVUS_HOST"), description="instead of a URI")
    milvus_port: Port = Field(19530, validation_alias=names("MILVUS_PORT"), description="goes with MILVUS_HOST")
    milvus_collection: str = Field(
        "biem_memories",
        validation_alias=names("MILVUS_COLLECTION"),
        pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,127}$",
        description="first part of collection names; model and dimension follow",
    )
    milvus_use_lite: bool = Field(
        False,
        validation_alias=names("MILVUS_USE_LITE"),
        description="true: the embedded Milvus although others are set",
    )
    milvus_index: Literal["auto", "FLAT", "HNSW", "IVF_FLAT", "AUTOINDEX"] = Field(
        "auto", description="index of dense vectors: auto, FLAT, HNSW, IVF_FLAT, AUTOINDEX"
    )
    postgres_host: str | None = Field(None, validation_alias=names("POSTGRES_HOST"), description="instead of a DSN")
    postgres_port: Port = Field(5432, validation_alias=names("POSTGRES_PORT"), description="goes with POSTGRES_HOST")
    postgres_db: str = Field("biem", validation_alias=names("POSTGRES_DB"), description="goes with POSTGRES_HOST")
    postgres_user: str = Field("postgres", validation_alias=names("POSTGRES_USER"), description="with POSTGRES_HOST")
    postgres_password: SecretStr = Field(
        SecretStr(""), validation_alias=names("POSTGRES_PASSWORD"), description="goes with POSTGRES_HOST"
    )
    postgres_pool: int = Field(
        8,
        ge=2,
        le=10_000,
        description="connections to PostgreSQL a process may hold; and three more for what need not wait for the disk",
    )

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
