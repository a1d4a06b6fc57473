"""A node as AIM-Memory defines it, and its file format."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from biem.domain.fields import Fields


@dataclass(frozen=True, slots=True)
class AimMemoryNode:
    """One formed memory under the design's names."""

    id: str
    proto: tuple[float, ...] = ()
    """The embedding; empty where it is left out, as in saved files, because it is specific to a model."""
    summary: str = ""
    """One line."""
    fields: Fields = field(default_factory=Fields)
    links: tuple[str, ...] = ()
    """The ids of its neighbours, without repeats."""
    w: float = 1.0
    """Its weight in the temporal mirror."""
    evidence_ptr: str | None = None
    """SHA-256 of the original, in hexadecimal."""
    evidence_text: str | None = None

    def as_json(self) -> dict[str, Any]:
        """Values that `json` can serialise."""
        shown = asdict(self)
        shown["fields"] = {kind: list(values) for kind, values in shown["fields"].items()}
        return {**shown, "proto": list(self.proto), "links": list(self.links)}

    @classmethod
    def from_json(cls, saved: Mapping[str, Any]) -> "AimMemoryNode":
        """The inverse of `as_json`."""
        return cls(
            id=saved["id"],
            proto=tuple(saved["proto"]),
            summary=saved["summary"],
            fields=Fields(**{kind: tuple(values) for kind, values in saved["fields"].items()}),
            links=tuple(saved["links"]),
            w=saved["w"],
            evidence_ptr=saved["evidence_ptr"],
            evidence_text=saved["evidence_text"],
        )
