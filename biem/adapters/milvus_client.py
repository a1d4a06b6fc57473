"""One way to connect to Milvus."""

from biem.adapters.pymilvus_light import MilvusClient

_NO_PINGS = {"grpc.keepalive_time_ms": 2**31 - 1, "grpc.keepalive_permit_without_calls": 0}
"""Milvus Lite ends a connection that pings it every ten seconds, pymilvus' default, and the call that is on it: after
half a minute of silence, with an error on the terminal. A socket file needs no pings: its end is seen at once."""


def connected(uri: str, *, timeout_s: float, **secrets: str) -> MilvusClient:
    """A connection of its own, made at once; `secrets` as pymilvus names them. Raises what pymilvus raises."""
    pings = _NO_PINGS if uri.startswith("unix:") else {}
    return MilvusClient(uri=uri, timeout=timeout_s, dedicated=True, grpc_options=pings, **secrets)
