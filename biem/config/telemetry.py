"""The settings of what a process reports: metrics, traces and the table of operations."""

from pydantic import Field

from biem.config.models import Guarded
from biem.domain.policies.bounds import Days


class TelemetrySettings(Guarded):
    """Where metrics and traces go."""

    metrics_port: int | None = Field(
        None, ge=0, le=65535, description="port on which Prometheus may scrape this process; unset: none"
    )
    metrics_host: str = Field("127.0.0.1", description="address of that port; 0.0.0.0 in a container")
    traces: bool = Field(False, description="true: hand every span to the OpenTelemetry SDK of the program")
    metrics_rows: bool = Field(False, description="true: keep the duration of every operation in the table metrics")
    metrics_keep_days: Days = Field(7.0, description="for how long that table keeps them")
