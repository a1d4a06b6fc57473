"""Whether files of the mirror are left alone until a person corrects them, and folders cannot be synced."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from biem.domain.diagnosis import Depth, Finding, Limits
from biem.ports.layers.mirror import MirrorTrouble, Troubled

_WHAT: Mapping[str, tuple[str, str]] = {
    "broken": (
        "cannot be read, and neither they nor their memories are changed",
        "correct the files where `biem mirror status` says, then `biem mirror sync`",
    ),
    "held": (
        "say what cannot be stored, and their memories are as they were",
        "change the files or the memories that `biem mirror status` names, then `biem mirror sync`",
    ),
}


class MirrorCheck:
    """Broken and held files, and folders whose last sync stopped."""

    needs = frozenset({"postgres"})

    def __init__(self, trouble: MirrorTrouble, *, host: str, limits: Limits) -> None:
        """`host`: the name of this machine; files of other ones are named with theirs."""
        self._trouble = trouble
        self._host = host
        self._limits = limits

    def look(self, depth: Depth, seen: Counter[str], *, mend: bool) -> Iterator[Finding]:  # noqa: ARG002
        """At most one finding for each state of files, and one for folders."""
        files = self._trouble.files(self._limits.page)
        for state, (what, hint) in _WHAT.items():
            if there := [file for file in files if file.state == state]:
                yield self._finding(f"mirror_file_{state}", f"{len(there)} mirrored files {what}", hint, there)
        if folders := self._trouble.folders(self._limits.page):
            yield self._finding(
                "mirror_not_synced",
                f"the last sync of {len(folders)} mirrored folders did not come to its end",
                "do what the reason says, then `biem mirror sync`; `biem mirror remove FOLDER` for one that is gone",
                folders,
            )

    def _finding(self, name: str, what: str, hint: str, there: Sequence[Troubled]) -> Finding:
        named = [self._name(each) for each in there[: self._limits.samples]]
        said = f"{what}; {named[0]}: {there[0].reason}"
        return Finding(name, "warning", said, hint, len(there), tuple(named))

    def _name(self, each: Troubled) -> str:
        return each.path if each.host == self._host else f"{each.host}:{each.path}"
