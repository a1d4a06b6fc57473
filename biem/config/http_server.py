"""The settings of `biem serve` and `biem web`: who may call them, how often, and how large a file may be."""

from pydantic import Field, SecretStr

from biem.config.models import Guarded
from biem.domain.policies.bounds import Count


class HttpServerSettings(Guarded):
    """Limits of the HTTP server."""

    web_token: SecretStr = Field(SecretStr(""), description="bearer token of biem web; empty: for this machine only")
    server_requests_per_minute: Count = Field(
        0, description="requests that biem serve admits of each key in a minute; 0: any number"
    )
    server_upload_mb: int = Field(256, ge=1, le=1_000_000, description="largest file that biem serve imports")
