"""Regular expressions that are compiled at their first use.

Compiling a large one takes milliseconds, and a process that answers one question uses few of those that modules define.
"""

import re
from functools import cached_property
from typing import Any, cast


class LatePattern:
    """Has the attributes of its compiled pattern, each of which is kept here after its first use."""

    def __init__(self, text: str, flags: int) -> None:
        self._text = text
        self._flags = flags

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        """The pattern itself. Raises `re.error`."""
        return re.compile(self._text, self._flags)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        value = getattr(self.compiled, name)
        setattr(self, name, value)
        return value


def late(text: str, flags: int = 0) -> re.Pattern[str]:
    """A pattern for its methods; functions of `re` do not take it."""
    return cast("re.Pattern[str]", LatePattern(text, flags))
