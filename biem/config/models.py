"""The sections of the settings that hold an address and a key: of embedders, rerankers and language models."""

from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, SecretStr, model_validator

from biem.domain.policies.bounds import MOST, Count, Pause, Seconds
from biem.redaction import learn, learn_url


class Guarded(BaseModel):
    """A section with secrets: they are in no error of its own, and known to what hides them in others."""

    model_config = ConfigDict(hide_input_in_errors=True)

    @model_validator(mode="after")
    def _tell_secrets(self) -> Self:
        for name in type(self).model_fields:
            value = getattr(self, name)
            if isinstance(value, SecretStr):
                (learn_url if name.endswith(("url", "uri", "dsn")) else learn)(value.get_secret_value())
        return self


class EmbedderSettings(Guarded):
    """Which model turns text into vectors."""

    provider: Literal["e5", "use", "bge", "openai", "ollama"] = Field(
        "e5", description="e5, use (packaged), bge (extra), openai or ollama (HTTP)"
    )
    model: str = Field("", description="model name or path, for bge, openai and ollama")
    url: SecretStr = Field(SecretStr(""), description="base URL, for openai and ollama")
    api_key: SecretStr = Field(SecretStr(""), description="key of the HTTP endpoint")
    query_prefix: str = Field("", description="put before a query, for HTTP models that want one")
    passage_prefix: str = Field("", description="put before a passage, for HTTP models that want one")
    timeout_s: Seconds = Field(30.0, description="seconds for one HTTP call in the background")
    devices: str = Field("", description="devices of bge, such as cpu or cuda:0; empty: the best there is")
    threads: int | None = Field(
        None, ge=1, le=1024, description="CPU threads of a packaged model; unset: its share of cores"
    )
    cache_mb: int = Field(100, ge=0, le=1_000_000, description="in-process cache of vectors, in MB")


class RerankerSettings(Guarded):
    """A model that may put the best hits in a better order; none by default."""

    provider: Literal["", "jina", "tei", "bge"] = Field(
        "",
        description="jina (also Cohere, vLLM), tei (Text Embeddings Inference), bge (extra); empty: none",
    )
    model: str = Field("", description="model name, or path for bge")
    url: SecretStr = Field(SecretStr(""), description="base URL of the endpoint, without /rerank")
    api_key: SecretStr = Field(SecretStr(""), description="key of the endpoint")
    devices: str = Field("", description="devices of bge, such as cpu or cuda:0; empty: the best there is")


class ReasonerSettings(Guarded):
    """The language model that may help; everything works without."""

    url: SecretStr = Field(
        SecretStr(""), description="base URL of an OpenAI-compatible chat endpoint; empty: no model is asked"
    )
    api_key: SecretStr = Field(SecretStr(""), description="key of the chat endpoint")
    small_model: str = Field("", description="model for keywords and judgements; empty: the large one")
    large_model: str = Field("", description="model for topics, merging and summaries; empty: the small one")
    timeout_s: Seconds = Field(30.0, description="seconds for one call in the background")
    reply_timeout_s: Seconds = Field(1.0, description="seconds that a reply may wait for the model")
    retries: int = Field(2, ge=0, le=100, description="how often a call in the background is repeated after an outage")
    pause_s: Pause = Field(30.0, description="seconds for which a server that failed is left alone")
    max_output_tokens: int = Field(
        1024, ge=16, le=MOST, description="longest answer, in tokens; thinking models need more"
    )
    daily_calls: Count = Field(1000, description="calls of one scope a day (UTC)")
    daily_tokens: int = Field(1_000_000, ge=0, le=10**15, description="tokens of one scope a day, in and out (UTC)")
