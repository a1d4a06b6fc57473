"""A memory with the fields of AIMate's design."""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from biem.domain.node import Node
from biem.layers.mirror.render import title_of


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryView:
    """A memory as AIMate defines it, at the instant it was read."""

    id: str
    type: str
    """core, session, short_term or long_term."""
    scope: str
    """global: the user's own; or project."""
    category: str
    """preference, rule, persona, task, note, context, project, knowledge, decision or one of a setting; or empty."""
    title: str
    content: str
    tags: tuple[str, ...]
    related: tuple[str, ...]
    """Ids of memories that it refers to."""
    status: str
    """active, archived or expired; an expired one is archived too, or will be by the next maintenance."""
    importance: float
    """1 to 5."""
    access_count: int
    content_hash: str
    """`sha256:` with the hexadecimal digest of the content."""
    expires_at: datetime | None
    created_at: datetime
    updated_at: datetime
    """When it was last changed; being returned by a search changes `accessed_at` alone."""
    accessed_at: datetime | None
    file_path: Path | None
    """Its Markdown file on this machine."""


def memory_view(node: Node, *, now: datetime, file: Path | None) -> MemoryView:
    """The view of a memory at `now`."""
    return MemoryView(
        id=node.id,
        type=node.layer,
        scope="project" if node.scope.project else "global",
        category=_string(node.metadata.get("category")),
        title=title_of(node),
        content=node.text,
        tags=node.tags,
        related=node.related,
        status=status_of(node, now),
        importance=node.importance,
        access_count=node.access_count,
        content_hash=f"sha256:{node.evidence_ptr}",
        expires_at=node.expires_at,
        created_at=node.created_at,
        updated_at=node.revised_at or node.created_at,
        accessed_at=node.accessed_at,
        file_path=file,
    )


def status_of(node: Node, now: datetime) -> str:
    """`expired` from its expiry on, and where its retention ended; else `archived` or `active`."""
    ended = node.expires_at is not None and node.expires_at <= now
    if ended or (node.status == "archived" and node.archive_reason == "expired"):
        return "expired"
    return "archived" if node.status == "archived" else "active"


def _string(value: object) -> str:
    return value if isinstance(value, str) else ""
