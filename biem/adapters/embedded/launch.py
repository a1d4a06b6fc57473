"""Becomes a server: the last step between the owner and a server's binary.

Run by path as `python -I -S launch.py LOCK_FD PARENT DEATH_SIGNAL UID GID [NAME=VALUE...] COMMAND [ARGUMENT...]`;
standard library only, because it must start in milliseconds. The server gets exactly the given environment; it is
passed as arguments, because variables for the server (LD_LIBRARY_PATH) may break Python.

- The pid goes into the inherited, locked file. The server and all its children hold that lock until the last of them
  ends, so a free lock proves that no process uses the data, and the file of a held one has the pid.
- PostgreSQL refuses root. A process that drops root keeps one capability, access to closed folders
  (CAP_DAC_OVERRIDE), so that data and binaries below a private folder such as /root need no other permissions.
- On Linux, the server dies with its owner, even after SIGKILL. Set after the change of user, which would clear it.
"""

import ctypes
import os
import signal
import sys
from itertools import takewhile

CANNOT_LAUNCH = 97
"""Exit status if the server could not be executed."""
_PR_SET_PDEATHSIG, _PR_SET_KEEPCAPS = 1, 8
_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_RAISE = 47, 2
_CAP_DAC_OVERRIDE = 1
_CAPABILITY_VERSION_3 = 0x20080522


def _check(result: int, doing: str) -> None:
    if result != 0:
        raise OSError(ctypes.get_errno(), f"cannot {doing}: {os.strerror(ctypes.get_errno())}")


def _change_user(libc: ctypes.CDLL, uid: int, gid: int) -> None:
    linux = sys.platform == "linux"
    if linux:
        _check(libc.prctl(_PR_SET_KEEPCAPS, 1, 0, 0, 0), "keep capabilities")
    os.setgroups([])
    os.setgid(gid)
    os.setuid(uid)
    if linux:
        bit = 1 << _CAP_DAC_OVERRIDE
        header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
        effective_permitted_inheritable = (ctypes.c_uint32 * 6)(bit, bit, bit, 0, 0, 0)
        _check(libc.capset(header, effective_permitted_inheritable), "reduce capabilities")
        _check(libc.prctl(_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_RAISE, _CAP_DAC_OVERRIDE, 0, 0), "raise CAP_DAC_OVERRIDE")


def main(arguments: list[str]) -> None:
    """Write the pid, change the user if requested, set the parent-death signal, and exec; never returns."""
    lock_fd, parent, death_signal, uid, gid = map(int, arguments[:5])
    words = arguments[5:]
    environment = dict(word.split("=", 1) for word in takewhile(lambda word: not word.startswith("/"), words))
    command = words[len(environment) :]
    os.ftruncate(lock_fd, 0)
    os.pwrite(lock_fd, str(os.getpid()).encode(), 0)
    os.umask(0o077)
    # Python ignores some signals, and exec keeps ignored signals ignored.
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    libc = ctypes.CDLL(None, use_errno=True)
    if uid >= 0:
        _change_user(libc, uid, gid)
    if sys.platform == "linux":
        _check(libc.prctl(_PR_SET_PDEATHSIG, death_signal, 0, 0, 0), "tie the server to its owner")
    if os.getppid() != parent:
        raise OSError("the owner died while the server was being started")
    os.execve(command[0], command, environment)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except OSError as error:
        sys.stderr.write(f"biem: cannot launch: {error}\n")
        sys.exit(CANNOT_LAUNCH)
