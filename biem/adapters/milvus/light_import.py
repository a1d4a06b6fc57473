"""pymilvus without pandas, which `pymilvus.orm` imports for data frames, and without requests, for global clusters."""

from biem.adapters.light_import import lightly

_PYMILVUS = lightly(
    "pymilvus", late=("pandas", "requests"), within=("pymilvus.orm.", "pymilvus.client.global_topology")
)
DataType = _PYMILVUS.DataType
Function = _PYMILVUS.Function
FunctionType = _PYMILVUS.FunctionType
MilvusClient = _PYMILVUS.MilvusClient
MilvusException = _PYMILVUS.MilvusException
