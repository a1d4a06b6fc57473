"""Results of mem0's `get_all` and `search`: a list of memories, or an object with `results` and `relations`."""

from collections.abc import Iterator
from typing import BinaryIO

from biem.importers.files import File
from biem.importers.json_stream import elements
from biem.importers.record import Entry, LeftOut, Record, content_ref
from biem.importers.times import first_time
from biem.importers.values import known, mapping, string, strings

FORMAT = "mem0"
_OWNERS = ("user_id", "agent_id", "run_id", "app_id")


def read(file: File, stream: BinaryIO) -> Iterator[Entry]:
    """Its memories, with the time when each was created."""
    for number, found in enumerate(elements(stream, "results"), start=1):
        memory = mapping(found)
        text, own = string(memory.get("memory")).strip(), string(memory.get("id"))
        if not text:
            yield LeftOut("without text")
            continue
        owners = {name: string(memory.get(name)) for name in _OWNERS}
        yield Record(
            text=text,
            ref=content_ref(FORMAT, own, *owners.values(), text),
            format=FORMAT,
            file=file.name,
            place=f"memory {number}",
            speaker=string(memory.get("actor_id"))[:256],
            at=first_time(memory.get("created_at"), memory.get("updated_at")),
            kind="knowledge",
            tags=strings(memory.get("categories")),
            metadata=known(
                memory_id=own,
                updated_at=memory.get("updated_at"),
                metadata=mapping(memory.get("metadata")),
                **owners,
            ),
        )
