"""How Milvus is connected to."""

import subprocess
import sys
from typing import Any

import pytest

from biem.adapters.milvus import collection as milvus_client


@pytest.mark.parametrize(("uri", "pings"), [("unix:/home/me/.biem/run/milvus.sock", False), ("http://db:19530", True)])
def test_a_server_on_a_socket_is_not_pinged_while_nothing_is_asked(
    uri: str, pings: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Given the arguments of pymilvus / When a server is connected to
    told: dict[str, Any] = {}
    monkeypatch.setattr(milvus_client, "MilvusClient", lambda **options: told.update(options))
    milvus_client.connected(uri, timeout_s=5.0, token="secret")

    # Then one across the network keeps pymilvus' pings, and Milvus Lite, which hangs up on them, gets none for weeks
    options = told.pop("grpc_options")
    assert (options == {}) is pings
    assert pings or options["grpc.keepalive_time_ms"] > 7 * 24 * 3_600_000
    assert told == {"uri": uri, "timeout": 5.0, "dedicated": True, "token": "secret"}


def run(program: str) -> str:
    """What a program prints in its own interpreter."""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    return done.stdout.strip()


def test_what_pymilvus_was_loaded_without_is_there_for_who_uses_it() -> None:
    # Given a process in which biem loaded pymilvus / When another part of the program hands it a data frame
    program = """
import sys
import biem.adapters.milvus.light_import
before = sorted({"pandas", "requests"} & set(sys.modules))
import pandas
from pymilvus import FieldSchema
from pymilvus.client import global_topology
from pymilvus.orm import schema
frame = pandas.DataFrame({"a": [1]})
fields = schema.construct_fields_from_dataframe(frame)
print(before, [field.name for field in fields], schema.is_valid_insert_data(frame), schema.is_valid_insert_data(3))
print(issubclass(global_topology.requests.exceptions.Timeout, OSError))
"""
    # Then it works as it does without biem
    assert run(program).splitlines() == ["[] ['a'] True False", "True"]


def test_another_version_of_pymilvus_is_loaded_as_it_wants_to_be() -> None:
    # Given a pymilvus that uses pandas while it is loaded, in a way that a stand-in cannot serve
    program = """
import sys, types
from importlib.machinery import PathFinder
ordinary = PathFinder.find_spec
def changed(name, path=None, target=None):
    if name == "pymilvus.orm.schema" and sys._getframe(1).f_globals["__name__"] == "biem.adapters.light_import":
        raise TypeError("not this way")
    return ordinary(name, path, target)
PathFinder.find_spec = changed
import biem.adapters.milvus.light_import as light
print(light.MilvusClient.__name__, "pandas" in sys.modules)
"""
    # When biem loads it / Then with everything
    assert run(program) == "MilvusClient True"
