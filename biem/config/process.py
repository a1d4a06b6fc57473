"""The settings of one process: who does background work, what it reports, and what its workers call."""

from typing import Literal

from pydantic import Field, SecretStr

from biem.config.models import Guarded


class ProcessSettings(Guarded):
    """How this process works and what it reports."""

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
    server_requests_per_minute: int = Field(
        0, ge=0, description="requests that biem serve admits of each key in a minute; 0: any number"
    )
    server_upload_mb: int = Field(256, ge=1, description="largest file that biem serve imports")
    traces: bool = Field(False, description="true: hand every span to the OpenTelemetry SDK of the program")
    metrics_rows: bool = Field(False, description="true: keep the duration of every operation in the table metrics")
    metrics_keep_days: float = Field(7.0, gt=0, description="for how long that table keeps them")
    rescan: str = Field("", pattern=r"^$|^[\w.]+:\w+$", description="module:function that workers call; empty: none")
    rescan_s: float = Field(900.0, gt=0, description="seconds between two calls of that function")
