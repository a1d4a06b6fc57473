"""Interfaces of the core to the outside, one Protocol per role. Adapters satisfy them structurally.

Every sentence of a docstring here is a contract with a test in `tests/contract`. Each method that touches memories
takes the scope it may touch: an id alone grants no access. Stores raise `StoreUnavailable` when they cannot be reached
(`StoreFull` when they are full) and wrap their client's error as its cause.

The ports of remember and recall are exported here; the others are imported from their modules.
"""

from biem.ports.analysis import Analyzer
from biem.ports.clock import Clock
from biem.ports.embedding import Embedder, EmbedderInfo, Role, Vector, Vectors
from biem.ports.hot import HotEntry, HotStore
from biem.ports.index import EVERYTHING, Entry, Filter, SearchIndex, VectorIndex
from biem.ports.jobs import JobQueue, Work
from biem.ports.records import (
    Candidates,
    Completion,
    DeadLetter,
    Encoded,
    Erasure,
    Job,
    Records,
    Touched,
    Waiting,
    Write,
    Written,
)

__all__ = [
    "EVERYTHING",
    "Analyzer",
    "Candidates",
    "Clock",
    "Completion",
    "DeadLetter",
    "Embedder",
    "EmbedderInfo",
    "Encoded",
    "Entry",
    "Erasure",
    "Filter",
    "HotEntry",
    "HotStore",
    "Job",
    "JobQueue",
    "Records",
    "Role",
    "SearchIndex",
    "Touched",
    "Vector",
    "VectorIndex",
    "Vectors",
    "Waiting",
    "Work",
    "Write",
    "Written",
]
