"""The machine that the servers run on, as it is written beside every Run, and the environment they get."""

from __future__ import annotations

import functools
import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any


def usable_cpus() -> list[int]:
    """The CPUs that this process may use, by number; their count is what the lab calls the host's."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))


@functools.cache
def hardware() -> dict[str, Any]:
    """CPUs, memory in MiB, the CPU's name, the operating system's."""
    return {
        "cpus": len(usable_cpus()),
        "memory_mb": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2**20,
        "cpu_model": _cpu_model(),
        "os": f"{platform.system()} {platform.release()} {platform.machine()}",
    }


def plain_environment() -> dict[str, str]:
    """The environment of every server: the same on every machine, whatever the reader has set."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}
    return {**kept, "LC_ALL": "C.UTF-8", "LANG": "C.UTF-8", "TZ": "UTC"}


def _cpu_model() -> str:
    if sys.platform == "darwin":
        asked = ["sysctl", "-n", "machdep.cpu.brand_string"]
        return subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()
    lines = _lines(Path("/proc/cpuinfo"))
    named = [line.partition(":")[2].strip() for line in lines if line.lower().startswith("model name")]
    return named[0] if named else platform.machine()


def _lines(file: Path) -> list[str]:
    try:
        return file.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
