"""`memory.jsonl` of the MCP reference server: a graph of entities with observations, and relations between them."""

from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO

from biem.importers.files import File
from biem.importers.lines import objects
from biem.importers.record import BadLine, Entry, LeftOut, Record, content_ref
from biem.importers.values import known, string, strings

FORMAT = "mcp-memory"


def read(file: File, stream: BinaryIO) -> Iterator[Entry]:
    """A text for each observation and each relation; names are put before observations, which are often no sentences.

    The format has no times: those of the file are taken.
    """
    for found in objects(file, stream):
        if isinstance(found, BadLine):
            yield found
            continue
        line, value = found
        if value.get("type") == "entity" and string(value.get("name")):
            yield from _entity(value, file, line)
        elif value.get("type") == "relation":
            yield _relation(value, file, line)
        else:
            yield LeftOut("neither entity nor relation")


def _entity(entity: Mapping[str, Any], file: File, line: int) -> Iterator[Entry]:
    name, kind = string(entity.get("name")).strip(), string(entity.get("entityType")).strip()
    about = known(entity=name, entity_type=kind)
    tags = (kind[:128],) if kind else ()
    said = strings(entity.get("observations"))
    for observation in said:
        text = observation if name.casefold() in observation.casefold() else f"{name}: {observation}"
        ref = content_ref(FORMAT, "entity", name, kind, observation)
        yield _fact(text, ref, file, line, about, tags)
    if not said:
        yield _fact(f"{name} ({kind})" if kind else name, content_ref(FORMAT, name, kind), file, line, about, tags)


def _relation(relation: Mapping[str, Any], file: File, line: int) -> Entry:
    start, end = string(relation.get("from")).strip(), string(relation.get("to")).strip()
    kind = string(relation.get("relationType")).strip()
    if not start or not end:
        return LeftOut("relation without ends")
    text = " ".join(filter(None, (start, kind.replace("_", " "), end)))
    about = known(relation=kind, **{"from": start, "to": end})
    return _fact(text, content_ref(FORMAT, "relation", start, kind, end), file, line, about, ())


def _fact(text: str, ref: str, file: File, line: int, about: Mapping[str, Any], tags: tuple[str, ...]) -> Record:
    return Record(
        text=text,
        ref=ref,
        format=FORMAT,
        file=file.name,
        line=line,
        kind="knowledge",
        at=file.modified,
        tags=tags,
        metadata=about,
    )
