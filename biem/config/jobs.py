"""The settings of background work: who does it, how long closing waits for it, and what workers call in addition."""

from typing import Literal

from pydantic import Field, SecretStr

from biem.config.models import Guarded
from biem.domain.policies.bounds import Pause, Seconds


class JobSettings(Guarded):
    """Who runs this process's background work."""

    queue: Literal["thread", "celery", "none"] = Field(
        "thread",
        description="who works for this process: thread (itself), celery (workers, woken by it) or none "
        "(others look for themselves)",
    )
    broker_url: SecretStr | None = Field(None, description="Celery's broker, as amqp://user@host//; unset: the Redis")
    close_timeout_s: Pause = Field(5.0, description="how long closing waits for pending memories to be indexed")
    rescan: str = Field("", pattern=r"^$|^[\w.]+:\w+$", description="module:function that workers call; empty: none")
    rescan_s: Seconds = Field(900.0, description="seconds between two calls of that function")
