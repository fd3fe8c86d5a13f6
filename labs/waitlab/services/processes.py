"""Processes told apart, woken, killed; what they leave behind removed.

The supervisor uses this, and whoever tidies up after a supervisor that was killed. Standard library only.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path


def born(pid: int) -> str | None:
    """When the process started, as a text to compare; None if there is none, or only its remains."""
    if sys.platform == "linux":
        stat = _stat(pid)
        return f"{_boot()}-{stat[19]}" if stat and stat[0] not in "ZX" else None
    *start, state = _ps("-o", "lstart=", "-o", "state=", "-p", str(pid)).split() or ["Z"]
    return None if state.startswith("Z") else " ".join(start)


def frozen(pid: int) -> bool:
    """Whether the process is stopped by a signal, until it gets SIGCONT."""
    if sys.platform == "linux":
        return _stat(pid)[:1] in (["T"], ["t"])
    return _ps("-o", "state=", "-p", str(pid)).startswith("T")


def descendants(pid: int) -> list[int]:
    """Children, their children, and so on."""
    parents = _parents()
    found = [pid]
    for candidate in found:
        found += [child for child, parent in parents.items() if parent == candidate]
    return found[1:]


def send(pid: int, number: int) -> None:
    """Sends a signal; a process that has ended meanwhile is no error."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


def kill_tree(pid: int) -> None:
    """Kills a process with all that came from it, also what is frozen."""
    for each in [pid, *descendants(pid)]:
        send(each, signal.SIGKILL)


def ask_to_end(pid: int, number: int) -> None:
    """Asks a process to end; what is frozen is woken, else it could not hear."""
    send(pid, number)
    for each in [pid, *descendants(pid)]:
        send(each, signal.SIGCONT)


def remove_traces(pid: int) -> None:
    """Removes the files by which a JVM can be reached; one that was killed leaves them."""
    for folder in {"/tmp", os.environ.get("TMPDIR", "/tmp")}:
        for name in (f".java_pid{pid}", f".attach_pid{pid}"):
            with contextlib.suppress(OSError):
                Path(folder, name).unlink()


def remove_folder(folder: Path) -> None:
    """Removes a folder of ours, and the shared memory of a PostgreSQL that was killed in it."""
    pid_file = folder / "data" / "postmaster.pid"
    with contextlib.suppress(OSError, IndexError, ValueError):
        _remove_shared_memory(int(pid_file.read_text(encoding="utf-8").splitlines()[6].split()[1]))
    shutil.rmtree(folder, ignore_errors=True)


def _remove_shared_memory(segment: int) -> None:
    import ctypes

    ipc_rmid = 0
    ctypes.CDLL(None).shmctl(segment, ipc_rmid, None)


def _stat(pid: int) -> list[str]:
    """Fields of /proc/PID/stat from the state on; empty if there is no such process."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    return text.rpartition(")")[2].split()


def _boot() -> str:
    with contextlib.suppress(OSError):
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii")[:8]
    return ""


def _parents() -> dict[int, int]:
    if sys.platform == "linux":
        pids = [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]
        return {pid: int(stat[1]) for pid in pids if (stat := _stat(pid))}
    lines = _ps("-A", "-o", "pid=,ppid=").splitlines()
    return {int(pid): int(parent) for pid, parent in map(str.split, lines)}


def _ps(*arguments: str) -> str:
    environment = {**os.environ, "LC_ALL": "C"}
    said = subprocess.run(["ps", *arguments], capture_output=True, text=True, env=environment, check=False)
    return said.stdout
