"""pymilvus without pandas, which `pymilvus.orm` imports for data frames, and without requests, for global clusters."""

from importlib import import_module

from biem.adapters.light_import import lightly

_PYMILVUS = lightly(
    "pymilvus", late=("pandas", "requests"), within=("pymilvus.orm.", "pymilvus.client.global_topology")
)
DataType = _PYMILVUS.DataType
Function = _PYMILVUS.Function
FunctionType = _PYMILVUS.FunctionType
MilvusClient = _PYMILVUS.MilvusClient
MilvusException = _PYMILVUS.MilvusException
BOUNDED_TS = import_module("pymilvus.client.constants").BOUNDED_TS
COMMON = import_module("pymilvus.grpc_gen.common_pb2")
MESSAGES = import_module("pymilvus.grpc_gen.milvus_pb2")
"""The messages of its calls."""
