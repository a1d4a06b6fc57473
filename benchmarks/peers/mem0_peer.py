"""mem0 in a process and a virtual environment of its own: one JSON command a line in, one JSON answer a line out.

Imports nothing of biem. `open` builds a `mem0.Memory` with mem0's defaults, except for an embedded Qdrant in a folder
and an embedder behind the URL given; `add` stores one message as it is (`infer=False`), `search` finds.
Times are taken here, around the calls of mem0 alone.
"""

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

_UNUSED = "unused"  # mem0 wants a key and a language model; with infer=False it calls no model


def _open(folder: str, url: str, model: str, dim: int) -> Any:
    os.environ |= {"MEM0_TELEMETRY": "False", "MEM0_DIR": folder, "ANONYMIZED_TELEMETRY": "False"}
    from mem0 import Memory  # type: ignore[import-not-found, unused-ignore]  # noqa: PLC0415  it reads the environment

    return Memory.from_config(
        {
            "vector_store": {
                "provider": "qdrant",
                "config": {
                    "path": str(Path(folder, "qdrant")),
                    "collection_name": "benchmark",
                    "embedding_model_dims": dim,
                },
            },
            "llm": {"provider": "openai", "config": {"api_key": _UNUSED, "openai_base_url": url}},
            "embedder": {
                "provider": "openai",
                "config": {"api_key": _UNUSED, "openai_base_url": url, "model": model, "embedding_dims": dim},
            },
            "history_db_path": str(Path(folder, "history.db")),
        }
    )


def _answer(memory: Any, command: dict[str, Any]) -> Any:
    if command["do"] == "add":
        message = {"role": "user", "content": command["text"]}
        place = {"turn": command["turn"], "position": command["position"]}
        return memory.add([message], user_id=command["user"], metadata=place, infer=False)
    filters: dict[str, Any] = {"user_id": command["user"]}
    if command["before"] is not None:
        filters["position"] = {"lt": command["before"]}
    found = memory.search(command["text"], top_k=command["top_k"], filters=filters)
    return [hit["metadata"]["turn"] for hit in found["results"]]


def main() -> None:
    """Serve commands until the input ends."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # output of mem0 is no answer
    memory: Any = None
    for line in sys.stdin:
        command = json.loads(line)
        reply: dict[str, Any] = {}
        began = time.perf_counter()
        try:
            if command["do"] == "open":
                memory = _open(command["folder"], command["url"], command["model"], command["dim"])
            else:
                reply["result"] = _answer(memory, command)
        except Exception as error:  # noqa: BLE001  the other process decides what to make of it
            reply["error"] = f"{type(error).__name__}: {error}"
        reply["ms"] = (time.perf_counter() - began) * 1_000
        print(json.dumps(reply), file=answers, flush=True)


if __name__ == "__main__":
    main()
