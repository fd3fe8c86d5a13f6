"""What this machine allows: threads, descriptors, database connections. Refusals show both numbers."""

from __future__ import annotations

import os
import resource
from pathlib import Path

from waitlab.errors import ControlError

DATABASE_CONNECTIONS = 300
ADMINISTRATORS = 3
"""Connections that PostgreSQL keeps for its administrators."""
RESERVED_CONNECTIONS = 13
"""Kept free of JDBC: those of the administrators, and the R2DBC pool's usual ten."""
SPARE_THREADS = 200
SPARE_DESCRIPTORS = 100


def threads() -> int:
    """Threads that one process may still make here: the kernel's, the user's and the container's limit."""
    known = [_number(path) for path in ("/proc/sys/kernel/threads-max", "/sys/fs/cgroup/pids.max")]
    soft, _hard = resource.getrlimit(resource.RLIMIT_NPROC)
    if soft != resource.RLIM_INFINITY:
        known.append(soft)
    return max(1, min([n for n in known if n] or [4096]) - SPARE_THREADS)


def descriptors() -> int:
    """Connections that one process may hold here: the hard limit of file descriptors, less some to spare."""
    _soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    return 1_000_000 if hard == resource.RLIM_INFINITY else max(1, hard - SPARE_DESCRIPTORS)


def cpus() -> int:
    """Processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def memory_mb() -> int:
    """Memory of this machine, MiB."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2**20


def jdbc_connections() -> int:
    """Connections that a JDBC pool may hold at most."""
    return DATABASE_CONNECTIONS - RESERVED_CONNECTIONS


def database_connections() -> int:
    """Connections that all pools together may hold at most."""
    return DATABASE_CONNECTIONS - ADMINISTRATORS


def refuse_above(control: str, asked: float, limit: float, why: str) -> None:
    """ControlError with both numbers where `asked` is above what the machine allows.

    `control` is one control's name, or several and the word "together".
    """
    if asked <= limit:
        return
    names, several, _ = control.partition(" together")
    what = f"{names} together ask for {_shown(asked)}, more" if several else f"{control}={_shown(asked)} asks for more"
    tip = f"smaller values of {names}" if several else f"{control}={_shown(limit)} or less"
    raise ControlError(f"{what} than this machine allows: {why} at most {_shown(limit)}.", tip=tip)


def not_together(one: str, other: str, why: str, tip: str) -> ControlError:
    """The refusal of two values that do not go together."""
    return ControlError(f"{one} does not go with {other}: {why}.", tip=tip)


def _shown(number: float) -> str:
    """A number as it may be typed: never with an exponent."""
    return f"{number:g}" if abs(number) < 1e6 else f"{number:.0f}"


def _number(path: str) -> int | None:
    try:
        text = Path(path).read_text(encoding="ascii").strip()
    except OSError:
        return None
    return int(text) if text.isdigit() else None
