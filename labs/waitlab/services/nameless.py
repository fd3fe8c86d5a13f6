"""Runs a command for a user who has no name on this machine: `python nameless.py UID COMMAND...`.

In a user namespace of its own the command sees itself as the user with number UID, who has a name; to everyone
else it stays who it is. Where the kernel allows no such namespace, the command runs as it would have anyway.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
from pathlib import Path

CLONE_NEWUSER = 0x10000000


def take_name(uid: int) -> None:
    """Makes this process see itself as user `uid`, if the kernel lets it."""
    me, group = os.geteuid(), os.getegid()
    if ctypes.CDLL(None).unshare(CLONE_NEWUSER) == 0:
        Path("/proc/self/setgroups").write_text("deny", encoding="ascii")
        Path("/proc/self/uid_map").write_text(f"{uid} {me} 1", encoding="ascii")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1", encoding="ascii")


if __name__ == "__main__":
    with contextlib.suppress(OSError, AttributeError):
        take_name(int(sys.argv[1]))
    os.execv(sys.argv[2], sys.argv[2:])
