"""Resolves conflicts, for a person or a language model, and undoes resolutions.

Most resolutions are one transaction of `Conflicts`. A merge writes a third memory and moves links: its plan is
committed first, every step may be repeated, and a worker completes the plan of a dead process. First comes the memory,
then its links, at last the resolution, which supersedes both memories at once. An undo is one transaction, then links.
"""

import logging
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from typing import Any, cast

from biem.domain.conflict import RESOLUTIONS, STATUSES, Conflict, ConflictKind, Decider, Resolution
from biem.domain.node import Node, new_id, parse_id
from biem.domain.policies.conflicts import ConflictPolicy
from biem.domain.scope import Scope
from biem.domain.text import MOST_LISTED, require_count
from biem.domain.trust import UNTRUSTED, least_trusted
from biem.engine.remember.writer import Writer
from biem.errors import AlreadyDecided, InvalidInput, NotFound
from biem.ports import Clock, Records
from biem.ports.conflicts import Claimed, Conflicts, Plan
from biem.ports.links import Links
from biem.ports.reasoner import Reasoner
from biem.telemetry import Telemetry

logger = logging.getLogger("biem.conflicts")

_LAYERS = ("session", "short_term", "long_term", "core")  # ascending
_MOST_TAGS = 64


class Resolver:
    """Lists, resolves and reopens conflicts. Without a `reasoner` the pending ones wait for a person.

    `destroy(scope, id)` erases a memory from every store.
    """

    def __init__(
        self,
        *,
        conflicts: Conflicts,
        records: Records,
        writer: Writer,
        links: Links | None,
        reasoner: Reasoner | None,
        destroy: Callable[[Scope, str], object],
        clock: Clock,
        policy: ConflictPolicy,
        telemetry: Telemetry,
    ) -> None:
        self._conflicts = conflicts
        self._records = records
        self._writer = writer
        self._links = links
        self._reasoner = reasoner
        self._destroy = destroy
        self._clock = clock
        self._policy = policy
        self._telemetry = telemetry

    def find(
        self,
        scope: Scope,
        *,
        status: str | None = "pending",
        kinds: tuple[str, ...] = (),
        memory_id: str | None = None,
        limit: int = 100,
        after: str = "",
    ) -> list[Conflict]:
        """Conflicts of a scope, newest first; `status` None means any. Pending ones that are moot are left out.

        `after`: the id of the last one of the previous page.
        """
        _require_status(status)
        require_count(limit, "limit", MOST_LISTED)
        about = None if memory_id is None else parse_id(memory_id)
        return self._conflicts.find(scope, status, kinds, limit, about, after=parse_id(after) if after else None)

    def count(self, scope: Scope, *, status: str | None = "pending", kinds: tuple[str, ...] = ()) -> int:
        """How many there are."""
        _require_status(status)
        return self._conflicts.count(scope, status, kinds)

    def resolve(self, scope: Scope, conflict_id: str, resolution: str, by: Decider = "user") -> Conflict:
        """Resolve a pending conflict: keep_new, keep_old, merge, keep_both, or ignore (close it, change nothing).

        The same resolution again changes nothing. Raises `NotFound`, `AlreadyDecided`, and `InvalidInput` for an
        unknown resolution or texts that cannot be merged into one memory.
        """
        if resolution not in (*RESOLUTIONS, "ignore"):
            raise InvalidInput(f"resolution {resolution!r} is unknown; choose one of {', '.join(RESOLUTIONS)}, ignore")
        key = parse_id(conflict_id)
        with self._telemetry.span("biem.conflicts.resolve", resolution=resolution):
            plan = self._conflicts.plan_of(scope, key)
            if plan is not None and plan.step == "restore":  # its process died, or is still running it
                self._restore_links(scope, self._get(scope, key), plan)
                plan = None
            if resolution == "merge":
                return self._merge(scope, key, plan, by)
            choice = None if resolution == "ignore" else cast(Resolution, resolution)
            return self._conflicts.resolve(scope, key, choice, by, self._clock.now())

    def undo(self, scope: Scope, conflict_id: str) -> Conflict:
        """Make a resolved conflict pending again and undo its effect; a pending one is left as it is.

        A memory made by a merge is archived. Raises `NotFound`, and `AlreadyDecided` while it has been merged further.
        """
        conflict = self._get(scope, conflict_id)
        with self._telemetry.span("biem.conflicts.undo"):
            plan = self._conflicts.plan_of(scope, conflict.id)
            if plan is not None and plan.step == "merge":  # an interrupted merge is completed first
                conflict = self._carry_out_merge(scope, conflict, plan)
                plan = None
            if plan is None and conflict.resolution == "merge" and self._links is not None:
                plan = Plan("restore", merged_id=conflict.merged_id or "")
            undone = self._conflicts.undo(scope, conflict.id, self._clock.now(), plan)
            if plan is not None:
                self._restore_links(scope, undone, plan)
        return undone

    def work(self, limit: int) -> int:
        """Complete the plans of dead processes and have the language model judge; returns how many conflicts were
        leased.

        Each conflict is leased to one worker at a time. Without an answer of the model (no budget, an outage) it is
        retried later.
        """
        taken = 0
        while taken < limit:
            ready = self._reasoner is not None and self._reasoner.paused_s() <= 0.0
            claimed = self._conflicts.claim(self._policy.lease_s, self._policy.max_attempts, judged=ready)
            if claimed is None:
                break
            taken += 1
            try:
                self._work_on(claimed)
            except (InvalidInput, NotFound) as error:  # resolved or erased by another process, or no longer allowed
                logger.warning("conflict %s is left as it is: %s", claimed.conflict.id, error)
        return taken

    # -- merging ----------------------------------------------------------------------------------------------------

    def _merge(self, scope: Scope, conflict_id: str, plan: Plan | None, by: Decider) -> Conflict:
        conflict = self._get(scope, conflict_id)
        if conflict.resolution == "merge":
            return conflict
        if conflict.status != "pending":
            raise AlreadyDecided(f"conflict {conflict.id} was decided before ({conflict.decided_by}); undo that first")
        if plan is None:
            nodes = [self._records.get(scope, key) for key in (conflict.older_id, conflict.newer_id)]
            older, newer = (_require(node, conflict_id) for node in nodes)
            if UNTRUSTED in (older.trust, newer.trust):
                raise InvalidInput(f"conflict {conflict_id} is with an untrusted memory, which is merged with no other")
            details = self._details(scope, older, newer)
            self._writer.draft(**{**details, "at": newer.at})  # reject now what would be rejected later
            plan = Plan("merge", by, ref=f"merge:{new_id()}", details=details)
        try:
            plan = self._conflicts.begin(scope, conflict_id, plan, self._policy.lease_s)
        except AlreadyDecided:
            if (conflict := self._get(scope, conflict_id)).resolution == "merge":
                return conflict  # another process has just resolved it
            raise
        return self._carry_out_merge(scope, conflict, plan)

    def _carry_out_merge(self, scope: Scope, conflict: Conflict, plan: Plan) -> Conflict:
        at = datetime.fromisoformat(plan.details["at"])
        merged_id = self._writer.remember(scope, **{**plan.details, "at": at, "ref": plan.ref})
        try:
            if self._links is not None:
                self._links.redirect(scope, [conflict.older_id, conflict.newer_id], merged_id, self._clock.now())
            return self._conflicts.resolve(scope, conflict.id, "merge", plan.by, self._clock.now(), merged_id=merged_id)
        except NotFound:  # one of the two was erased meanwhile, so the merged text must go, too
            with suppress(NotFound):
                self._destroy(scope, merged_id)
            raise

    def _restore_links(self, scope: Scope, conflict: Conflict, plan: Plan) -> None:
        if self._links is not None:
            self._links.park(scope, [plan.merged_id], self._clock.now())
            self._links.restore(scope, [conflict.older_id, conflict.newer_id], self._clock.now())
        self._conflicts.carried_out(scope, conflict.id)

    def _details(self, scope: Scope, older: Node, newer: Node) -> dict[str, Any]:
        """The merged memory, as JSON: shared attributes are kept, of others the stronger; dated as the newer."""
        if older.expires_at is not None or newer.expires_at is not None:
            raise InvalidInput(
                "one of these memories expires, and a merged text would tell it on; choose another resolution: "
                "keep_new, keep_old, keep_both or ignore"
            )
        one_voice = older.speaker == newer.speaker
        texts = [node.text if one_voice else node.spoken_text for node in (older, newer)]
        text = self._reasoner.merge(scope, texts) if self._reasoner is not None else None
        return {
            "text": text or joined(*texts),
            "kind": newer.kind if older.kind == newer.kind != "event" else "knowledge",
            "tags": list(dict.fromkeys((*newer.tags, *older.tags)))[:_MOST_TAGS],
            "reason": newer.reason or older.reason,
            "importance": max(older.importance, newer.importance),
            "source": newer.source if older.source == newer.source else "",
            "speaker": newer.speaker if one_voice else "",
            "conversation": newer.conversation if older.conversation == newer.conversation else "",
            "at": newer.at.isoformat(),
            "metadata": {"merged_from": [older.id, newer.id]},
            "layer": max(older.layer, newer.layer, key=_LAYERS.index),
            "origin": older.origin if older.origin == newer.origin else "system",
            "trust": least_trusted((older.trust, newer.trust)),
        }

    # -- working ----------------------------------------------------------------------------------------------------

    def _work_on(self, claimed: Claimed) -> None:
        scope, conflict, plan = claimed.scope, claimed.conflict, claimed.plan
        if plan is not None:
            if plan.step == "merge":
                self._carry_out_merge(scope, conflict, plan)
            else:
                self._restore_links(scope, conflict, plan)
        elif conflict.moot:
            self._conflicts.judged(scope, conflict.id, None)
        else:
            self._judge(scope, conflict)

    def _judge(self, scope: Scope, conflict: Conflict) -> None:
        if self._reasoner is None:
            return
        with self._telemetry.span("biem.conflicts.judge"):
            judgement = self._reasoner.judge(scope, conflict.older_text, conflict.newer_text)
        if judgement is None:
            if (paused_s := self._reasoner.paused_s()) > 0.0:
                self._conflicts.release(scope, conflict.id, paused_s)
            return
        sure = judgement.confidence >= self._policy.judge_confidence
        with suppress(AlreadyDecided):  # another resolution came first
            if sure and judgement.kind in ("contradiction", "update"):
                self._conflicts.resolve(scope, conflict.id, "keep_new", "judge", self._clock.now())
            elif sure and judgement.kind == "none":
                self._conflicts.resolve(scope, conflict.id, "keep_both", "judge", self._clock.now())
            elif conflict.suspected:  # not confirmed by the model
                self._conflicts.resolve(scope, conflict.id, None, "judge", self._clock.now())
            else:
                known: ConflictKind | None = "duplicate" if sure and judgement.kind == "duplicate" else None
                self._conflicts.judged(scope, conflict.id, known)

    def _get(self, scope: Scope, conflict_id: str) -> Conflict:
        key = parse_id(conflict_id)
        conflict = self._conflicts.get(scope, key)
        if conflict is None:
            raise NotFound(f"no conflict {conflict_id} in scope {scope}")
        return conflict


def joined(older: str, newer: str) -> str:
    """Both texts combined without a model: the richer one where it covers the other, else one after the other."""
    if newer.strip() in older:
        return older
    if older.strip() in newer:
        return newer
    return f"{older.strip()}\n{newer.strip()}"


def _require(node: Node | None, conflict_id: str) -> Node:
    if node is None:
        raise NotFound(f"a memory of conflict {conflict_id} was erased")
    return node


def _require_status(status: str | None) -> None:
    if status is not None and status not in STATUSES:
        raise InvalidInput(f"status {status!r} is unknown; choose one of {', '.join(STATUSES)}")
