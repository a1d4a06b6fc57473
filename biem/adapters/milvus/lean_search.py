"""One search with one vector or text, without pymilvus' checks of arguments and objects for hits.

They take half a millisecond of the interpreter for each search, twice as long as the call: a recall with notes sends
three. This uses the stub and the messages inside of pymilvus 3.0, which a contract test holds; where a call fails,
pymilvus repeats it with all that it does about failures.
"""

from typing import Any

import grpc

from biem.adapters.milvus.light_import import BOUNDED_TS, COMMON, MESSAGES, MilvusClient

_TAG = "$0"
_FIXED = {"round_decimal": "-1", "ignore_growing": "False", "params": "{}"}


def nearest(
    client: MilvusClient, collection: str, field: str, data: Any, test: str, limit: int, timeout_s: float
) -> list[tuple[Any, float]] | None:
    """Keys and scores of the best rows that meet the filter `test`, with bounded staleness; None if the call failed.

    `data`: a text, or a vector of four-byte numbers.
    """
    if isinstance(data, str):
        kind, value = COMMON.PlaceholderType.VarChar, data.encode()
    else:
        kind, value = COMMON.PlaceholderType.FloatVector, data.astype("<f4", copy=False).tobytes()
    placeholder = COMMON.PlaceholderValue(tag=_TAG, type=kind, values=[value])
    parameters = {**_FIXED, "topk": str(limit), "anns_field": field}
    request = MESSAGES.SearchRequest(
        collection_name=collection,
        dsl=test,
        dsl_type=COMMON.DslType.BoolExprV1,
        placeholder_group=COMMON.PlaceholderGroup(placeholders=[placeholder]).SerializeToString(),
        search_params=[COMMON.KeyValuePair(key=key, value=text) for key, text in parameters.items()],
        nq=1,
        guarantee_timestamp=BOUNDED_TS,
        consistency_level=COMMON.ConsistencyLevel.Bounded,
    )
    metadata = client._generate_call_context().to_grpc_metadata()
    try:
        answer = client._get_connection()._stub.Search(request, timeout=timeout_s, metadata=metadata)
    except grpc.RpcError as error:
        if error.code() == grpc.StatusCode.DEADLINE_EXCEEDED:  # pymilvus would wait as long again
            raise
        return None
    if answer.status.code or answer.status.error_code:
        return None
    ids = answer.results.ids
    keys = ids.str_id.data if ids.HasField("str_id") else ids.int_id.data
    return list(zip(keys, answer.results.scores, strict=True))
