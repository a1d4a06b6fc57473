"""Sessions as files, for reading only: written when a session closes, and while it is open appended to `current.md`.

A file is whole before it is recorded. A sync that dies between the two, or while it appends, leaves a file of another
length than was recorded: the next one writes it again from the rows.
"""

import json
from collections.abc import Iterable
from datetime import UTC, datetime

from biem.domain.mirror.root import MirrorRoot
from biem.domain.sessions.session import SessionMessage
from biem.layers.mirror.front import joined, rendered
from biem.ports.layers.mirror import MirrorFolder, SessionFile, SessionFileRecords, StaleSession
from biem.ports.layers.sessions import SessionRecords

CURRENT = "sessions/current.md"
"""The open session that has no name."""
_GUARD = "sessions/.gitignore"
_MOST = 1_000
"""Sessions of one sync; the rest waits for the next."""
_PAGE = 500


class SessionFiles:
    """Writes the files of sessions. Thread-safe."""

    def __init__(self, *, records: SessionFileRecords, sessions: SessionRecords, folder: MirrorFolder) -> None:
        self.records = records
        self._sessions = sessions
        self._folder = folder

    def update(self, root: MirrorRoot) -> int:
        """Write the files of sessions that differ from the database; returns how many changed.

        Raises `StoreUnavailable`, also for the folder.
        """
        stale = self.records.stale(root, CURRENT, _MOST)
        if stale:
            self._folder.put(root.path, _GUARD, b"*\n")  # Git must not take conversations along
        return sum(self._update(root, each) for each in stale)

    def with_erased(self, root: MirrorRoot) -> list[StaleSession]:
        """Sessions whose files have messages that were erased or taken back."""
        stale = self.records.stale(root, CURRENT, _MOST)
        return [one for one in stale if one.file is not None and self._added(root, one) is None]

    def rewrite(self, root: MirrorRoot) -> int:
        """Rewrite the files that have messages which were erased; returns how many they were."""
        return sum(self._update(root, each) for each in self.with_erased(root))

    def _update(self, root: MirrorRoot, session: StaleSession) -> bool:
        before = session.file
        if session.opened_at is None or not session.messages:
            if before is not None:
                self._folder.delete(root.path, before.path)
                self.records.drop(root, before.session_id)
            return before is not None
        path = path_of(root, session)
        size = self._append(root, session) if before is not None and before.path == path else None
        if size is None:
            size = self._write(root, session, path)
        if before is not None and before.path != path:
            self._folder.delete(root.path, before.path)
        done = SessionFile(
            session_id=session.session_id,
            path=path,
            next_seq=session.next_seq,
            messages=session.messages,
            bytes=size,
        )
        self.records.put(root, done)
        return True

    def _append(self, root: MirrorRoot, session: StaleSession) -> int | None:
        """Append the new messages; returns the new length in bytes, or None where the file has to be rewritten."""
        added = self._added(root, session)
        if added is None or session.file is None:
            return None
        data = rendered_messages(added)
        size = session.file.bytes
        return size + len(data) if self._folder.append(root.path, session.file.path, data, size) else None

    def _added(self, root: MirrorRoot, session: StaleSession) -> list[SessionMessage] | None:
        """The messages that the file lacks; None if it has messages that the session lost, and must be rewritten."""
        if session.file is None:
            return None
        added = self._messages(root, session, session.file.next_seq - 1)
        return added if len(added) == session.messages - session.file.messages else None

    def _write(self, root: MirrorRoot, session: StaleSession, path: str) -> int:
        front = {
            "id": session.session_id,
            "type": "session",
            "scope": "project" if root.scope.project else "global",
            "title": session.name or "",
            "created_at": None if session.opened_at is None else session.opened_at.astimezone(UTC).isoformat(),
        }
        data = joined(rendered(front), "").encode() + rendered_messages(self._messages(root, session, 0))
        self._folder.put(root.path, path, data)
        return len(data)

    def _messages(self, root: MirrorRoot, session: StaleSession, after: int) -> list[SessionMessage]:
        """Messages up to `session.next_seq`, which was read before: later ones wait for the next sync."""
        found: list[SessionMessage] = []
        while True:
            page = self._sessions.messages(root.scope, session.session_id, found[-1].seq if found else after, _PAGE)
            found += [message for message in page if message.seq < session.next_seq]
            if len(page) < _PAGE or page[-1].seq >= session.next_seq:
                return found


def path_of(root: MirrorRoot, session: StaleSession) -> str:
    """`sessions/current.md`, or a name in the folder of its month; those of a user's own level are in `archive`."""
    if session.open and not session.name:
        return CURRENT
    assert session.opened_at is not None
    return (
        f"sessions/{'archive/' if root.kind == 'global' else ''}{session_name(session.opened_at, session.session_id)}"
    )


def session_name(opened_at: datetime, session_id: str) -> str:
    """`YYYY-MM/YYYYMMDD_HHMMSS_` with the last eight digits of the id."""
    return f"{opened_at.astimezone(UTC):%Y-%m/%Y%m%d_%H%M%S}_{session_id.replace('-', '')[-8:]}.md"


def rendered_messages(messages: Iterable[SessionMessage]) -> bytes:
    """Messages as Markdown, each with a heading; further keys, such as tool calls, follow as JSON."""
    return "".join(map(_rendered, messages)).encode()


def _rendered(message: SessionMessage) -> str:
    parts = [f"## {message.role} {message.at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"]
    if message.content:
        parts.append(message.content.rstrip("\n"))
    if message.data:
        said = json.dumps(dict(message.data), ensure_ascii=False, indent=2, sort_keys=True)
        parts.append(f"```json\n{said}\n```")
    return "\n" + "\n\n".join(parts) + "\n"
