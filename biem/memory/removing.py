"""Taking memories out of the answers: archive, quarantine, erasure."""

from biem.domain.node import Receipt
from biem.domain.scope import Scope
from biem.errors import InvalidInput
from biem.memory.bound import BoundMemory


class RemoveMethods(BoundMemory):
    """`archive`, `quarantine` and `erase`; `restore` and `release` revert the first two."""

    def archive(self, memory_id: str, reason: str = "") -> bool:
        """Forget a memory: recall no longer returns it, and `restore` reverts this. False if it was archived
        already.
        """
        return self._system.lifecycle.archive(self.bound_to, memory_id, reason)

    def restore(self, memory_id: str) -> bool:
        """Restore an archived memory; recall finds it at once. False if it was not archived."""
        done = self._system.lifecycle.restore(self.bound_to, memory_id)
        self._shared.wrote.set()
        return done

    def quarantine(self, memory_id: str, reason: str = "") -> bool:
        """Withdraw a memory that should never have been believed: at once, from every answer, with all made of it.

        It stays in the records (`Node.quarantined`) and can be erased. What it replaced is valid again; facts, merged
        memories, concepts and notes made of it go with it. False if it was in quarantine already.
        """
        return self._system.lifecycle.quarantine(self.bound_to, memory_id, reason)

    def release(self, memory_id: str, trust: str | None = None) -> bool:
        """Bring a memory back from quarantine, with this trust level or its former one; False if it was not there.

        It is judged again as if it were new. What was made of it stays in quarantine and can be released by its id.
        """
        done = self._system.lifecycle.release(self.bound_to, memory_id, trust)
        self._shared.wrote.set()
        return done

    def erase(self, target: str | Scope | None = None, *, user: str | None = None) -> Receipt:
        """Destroy one memory of this scope by its id, everything of a scope, or a `user`; returns the proof.

        A user is erased with all projects, of this memory's tenant; `Receipt.scopes` counts them. The same call
        completes an interrupted erasure. It cannot be undone: forgetting archives, only this destroys. Raises
        `NotFound` for an unknown id.
        """
        if (target is None) == (user is None):
            raise InvalidInput("pass what to erase: either an id or a scope, or user=…")
        if user is not None:
            return self._system.eraser.erase_user(self.bound_to.tenant, user)
        if isinstance(target, Scope):
            return self._system.eraser.erase(target, None)
        return self._system.eraser.erase(self.bound_to, target)
