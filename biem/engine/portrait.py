"""One memory with everything that belongs to it, gathered from the records and the graph (BIEM B30)."""

from biem.domain.memory_node import MemoryNode
from biem.domain.node import Node
from biem.domain.text import sha256
from biem.engine.association import Associations
from biem.ports import Records


def portrait(node: Node, *, records: Records, associations: Associations, model: str) -> MemoryNode:
    """A memory as it is now, with its vector by `model` and its links. Raises `StoreUnavailable`."""
    key = sha256(node.indexed_text)
    vector = records.load_vectors(model, [key]).get(key)
    associations.refresh(node.scope)
    return MemoryNode(
        id=node.id,
        content=node.text,
        vector=() if vector is None else tuple(vector.tolist()),
        metadata=node.metadata,
        energy=node.energy,
        initial_energy=node.initial_energy,
        last_accessed=node.accessed_at,
        created_at=node.created_at,
        tier=node.tier,
        links=tuple(associations.neighbours(node.scope, node.id)),
    )
