"""Carries a revision into the caches and the vectors: what the tasks `revised` and `reindex` do, and reindexing."""

from collections.abc import Callable, Sequence

from biem.ports import HotStore, Job, Records, Vector
from biem.ports.revisions import FormerText, Revisions

Embed = Callable[[Sequence[str]], Sequence[Vector | None]]
"""Embeds texts and stores their vectors; None for a text that is refused."""
_PAGE = 256


class RevisionFollower:
    """Removes former texts from the caches, and keeps their vectors for `as_of`."""

    def __init__(
        self,
        *,
        revisions: Revisions,
        records: Records,
        hot: HotStore,
        leave: Callable[[str, Sequence[str]], None],
        forget_talk: Callable[[str], None],
        lexemes: Callable[[str], str],
    ) -> None:
        """`leave` removes memories from the canvas, `forget_talk` the states of a scope's conversations; `lexemes`
        gives the index terms of a text.
        """
        self._revisions = revisions
        self._records = records
        self._hot = hot
        self._leave = leave
        self._forget_talk = forget_talk
        self._lexemes = lexemes

    def outdated(self, revisions: Sequence[tuple[str, int]]) -> None:
        """Queue memories again that are at another revision than these."""
        self._revisions.outdated(revisions)

    def clear(self, ns: str, ids: Sequence[str]) -> None:
        """Remove memories from HotKV, the canvas and states of conversations."""
        self._hot.purge(ns, ids)
        self._leave(ns, ids)
        self._forget_talk(ns)

    def follow(self, jobs: Sequence[Job], embed: Embed) -> None:
        """Do these jobs. Safe to repeat."""
        for ns in {job.ns for job in jobs}:
            self.clear(ns, [job.memory_id for job in jobs if job.ns == ns])
        if again := [job.memory_id for job in jobs if job.task == "reindex"]:
            self._revisions.outdated([(key, 0) for key in again])
        for job in jobs:
            self._embed(self._revisions.former(("", 0), _PAGE, memory_id=job.memory_id), embed)
        self._records.done(jobs)

    def renew(self, embed: Embed) -> None:
        """Analyse all former texts with this version's analyzer, and embed those that have no vector of this model."""
        after = ("", 0)
        while page := self._revisions.former(after, _PAGE):
            terms = {(one.memory_id, one.revision): self._lexemes(one.text) for one in page}
            self._revisions.describe(
                [(*key, terms[key]) for key, one in zip(terms, page, strict=True) if terms[key] != one.lexemes]
            )
            self._embed(page, embed)
            after = page[-1].memory_id, page[-1].revision

    def _embed(self, page: Sequence[FormerText], embed: Embed) -> None:
        if texts := [one.text for one in page if not one.embedded]:
            embed(texts)
