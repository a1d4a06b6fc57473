"""How Milvus is connected to."""

from typing import Any

import pytest

from biem.adapters import milvus_client


@pytest.mark.parametrize(("uri", "pings"), [("unix:/home/me/.biem/run/milvus.sock", False), ("http://db:19530", True)])
def test_a_server_on_a_socket_is_not_pinged_while_nothing_is_asked(
    uri: str, pings: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Given what pymilvus is told / When a server is connected to
    told: dict[str, Any] = {}
    monkeypatch.setattr(milvus_client, "MilvusClient", lambda **options: told.update(options))
    milvus_client.connected(uri, timeout_s=5.0, token="secret")

    # Then one across the network keeps pymilvus' pings, and Milvus Lite, which hangs up on them, gets none for weeks
    options = told.pop("grpc_options")
    assert (options == {}) is pings
    assert pings or options["grpc.keepalive_time_ms"] > 7 * 24 * 3_600_000
    assert told == {"uri": uri, "timeout": 5.0, "dedicated": True, "token": "secret"}
