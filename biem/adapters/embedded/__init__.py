"""The embedded stack: PostgreSQL, Valkey and Milvus Lite from their wheels, one set per home, shared by processes."""

from biem.adapters.embedded.home import Urls
from biem.adapters.embedded.stack import EmbeddedStack, ServerStatus, Status, keep, status, stop

__all__ = ["EmbeddedStack", "ServerStatus", "Status", "Urls", "keep", "status", "stop"]
