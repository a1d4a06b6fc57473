"""Memories out of a scope, into one, and from one to another."""

from dataclasses import dataclass

from biem.engine.transfer.export import Exporter
from biem.engine.transfer.importing import Importer
from biem.engine.transfer.moving import Mover


@dataclass(frozen=True, slots=True)
class Transfer:
    """The three ways."""

    exporter: Exporter
    importer: Importer
    mover: Mover
