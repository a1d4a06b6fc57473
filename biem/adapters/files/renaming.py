"""Renames that lose nothing where another program writes at the same time: Linux and macOS have a call for each."""

import ctypes
import errno
import os
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

_HERE = -100
"""AT_FDCWD: paths as they are."""
_EXCHANGE = 2
_NEW = {"linux": 1, "darwin": 4}
_UNKNOWN = (errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP, errno.ENOTSUP, errno.EPERM)
"""The system, or this file system, has no such call."""


def exchanged(one: Path, other: Path) -> bool:
    """Exchange two files in one step. False where that cannot be done; raises `OSError`."""
    return _renamed(one, other, _EXCHANGE)


def renamed_new(source: Path, target: Path) -> bool:
    """Rename a file to a name that is free, in one step. False where that cannot be done.

    Raises `FileExistsError` for a name that is taken, and other `OSError`.
    """
    return _renamed(source, target, _NEW.get(sys.platform, 0))


def _renamed(source: Path, target: Path, flag: int) -> bool:
    call = _call()
    if call is None:
        return False
    number = call(os.fsencode(source), os.fsencode(target), flag)
    if number in _UNKNOWN:
        return False
    if number:
        raise OSError(number, os.strerror(number), str(target))
    return True


@cache
def _call() -> Callable[[bytes, bytes, int], int] | None:
    """The call of this system, which returns 0 or the number of an error; None without one."""
    name = {"linux": "renameat2", "darwin": "renamex_np"}.get(sys.platform)
    try:
        call = None if name is None else getattr(ctypes.CDLL(None, use_errno=True), name, None)
    except OSError:
        return None
    if call is None:
        return None

    def rename(source: bytes, target: bytes, flag: int) -> int:
        arguments = (_HERE, source, _HERE, target, flag) if name == "renameat2" else (source, target, flag)
        return 0 if call(*arguments) == 0 else ctypes.get_errno()

    return rename
