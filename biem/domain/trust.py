"""Where a memory comes from (`origin`), and how far it is believed (`trust`).

An origin is any short name; those listed here have a default trust level, every other is `normal`. An untrusted memory
can be found, and is marked as such. It takes part in nothing else: it never retires, disputes, replaces, links or
explains another memory, and no fact, concept, note or standing order is made of it.
"""

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from biem.errors import InvalidInput

LEVELS: tuple[str, ...] = ("untrusted", "normal", "trusted")
"""From the lowest; the records store the position in this list."""
UNTRUSTED = LEVELS[0]
ORIGINS: Mapping[str, str] = MappingProxyType({
    "user": "trusted",
    "system": "trusted",
    "assistant": "normal",
    "file": "normal",
    "import": "normal",
    "tool": "untrusted",
    "web": "untrusted",
})  # fmt: skip
"""The trust level of what comes from each origin, unless a write states another."""
_TOLD = MappingProxyType({
    "user": ("from the user", "来自用户"),
    "system": ("from the system", "来自系统"),
    "assistant": ("from the assistant", "来自助手"),
    "file": ("from a file", "来自文件"),
    "import": ("from an import", "来自导入"),
    "tool": ("from a tool", "来自工具"),
    "web": ("from the web", "来自网络"),
})  # fmt: skip
_QUARANTINE = "quarantine:"
_NAME = re.compile("[a-z][a-z0-9_.:-]{0,31}")


def require_origin(value: object) -> str:
    """A lower-case name of 1–32 characters; raises `InvalidInput`."""
    if not isinstance(value, str) or not _NAME.fullmatch(value):
        raise InvalidInput(
            f"origin must be a lower-case name of at most 32 letters, digits, _ . : or -, such as "
            f"{', '.join(sorted(ORIGINS))}; not {value!r:.60}"
        )
    return value


def require_trust(value: object, what: str = "trust") -> str:
    """One of `LEVELS`; raises `InvalidInput`."""
    if value not in LEVELS:
        raise InvalidInput(f"{what} {value!r:.60} is unknown; choose one of {', '.join(LEVELS)}")
    return str(value)


def origin_of(source: str) -> str:
    """The origin of a memory whose writer states none, by its source."""
    return "assistant" if source == "assistant" else "user"


def trust_of(origin: str, levels: Mapping[str, str]) -> str:
    """The default trust level of an origin under an operator's `levels`."""
    return levels.get(origin, "normal")


def rank(trust: str) -> int:
    """The position of a level: 0 is the least trusted."""
    return LEVELS.index(trust)


def quarantine_reason(reason: str) -> str:
    """The reason of the archive for a memory in quarantine."""
    return f"{_QUARANTINE} {reason}"


def is_quarantine(archive_reason: str) -> bool:
    """Whether a memory archived for this reason is in quarantine."""
    return archive_reason.startswith(_QUARANTINE)


def least_trusted(levels: Iterable[str]) -> str:
    """The level of what is made of memories of these levels, of which there is at least one."""
    return min(levels, key=rank)


def unverified_mark(origin: str, *, chinese: bool = False) -> str:
    """What is said of an untrusted memory in a prompt: "from the web, not verified"."""
    english, han = _TOLD.get(origin, (f"from {origin}", f"来自 {origin}"))
    return f"{han}，未经核实" if chinese else f"{english}, not verified"
