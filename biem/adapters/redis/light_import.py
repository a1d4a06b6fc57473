"""redis without OpenTelemetry, which it imports where that is installed, for measurements that are not requested."""

from biem.adapters.light_import import lightly

lightly("redis", late=("opentelemetry",), within=("redis.observability.", "redis.asyncio.observability."))

import redis  # noqa: E402
from redis.backoff import NoBackoff  # noqa: E402
from redis.exceptions import NoScriptError  # noqa: E402
from redis.retry import Retry  # noqa: E402

__all__ = ["NoBackoff", "NoScriptError", "Retry", "redis"]
