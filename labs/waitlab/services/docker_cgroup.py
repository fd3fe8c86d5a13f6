"""CPU limits as the kernel keeps them: a container's quota, and how often it was stopped for having used it up.

Both versions of control groups are read: their files differ in names and units, and one command prints whichever
are there.
"""

from __future__ import annotations

from dataclasses import dataclass

READ = [
    "sh",
    "-c",
    "cd /sys/fs/cgroup; for file in cpu.max cpu.stat cpu/cpu.cfs_quota_us cpu/cpu.cfs_period_us cpu/cpu.stat"
    ' cpuacct/cpuacct.usage; do if [ -f "$file" ]; then echo "# $file"; cat "$file"; fi; done',
]
"""Run in a container, it prints what `parse` reads."""


@dataclass(frozen=True, slots=True)
class CpuStat:
    """A container's CPU at one moment: the limit in CPUs (0 = none), and running totals."""

    limit_cpus: float
    used_s: float
    throttled: int
    throttled_s: float


def parse(text: str) -> CpuStat:
    """The files as READ prints them, of either version; ValueError where neither version is there."""
    files: dict[str, str] = {}
    for part in text.split("# ")[1:]:
        name, _, content = part.partition("\n")
        files[name.strip()] = content.strip()
    if "cpu.max" in files or "usage_usec" in files.get("cpu.stat", ""):
        return _version_2(files)
    if "cpu/cpu.stat" in files:
        return _version_1(files)
    raise ValueError("no CPU accounting in the container")


def _version_2(files: dict[str, str]) -> CpuStat:
    """Microseconds throughout."""
    quota, period = [*files.get("cpu.max", "max").split(), "100000"][:2]
    stat = _numbers(files["cpu.stat"])
    return CpuStat(
        limit_cpus=0.0 if quota == "max" else int(quota) / int(period),
        used_s=stat["usage_usec"] / 1e6,
        throttled=stat.get("nr_throttled", 0),
        throttled_s=stat.get("throttled_usec", 0) / 1e6,
    )


def _version_1(files: dict[str, str]) -> CpuStat:
    """Microseconds for the quota, nanoseconds for the rest."""
    quota, period = int(files["cpu/cpu.cfs_quota_us"]), int(files["cpu/cpu.cfs_period_us"])
    stat = _numbers(files["cpu/cpu.stat"])
    return CpuStat(
        limit_cpus=quota / period if quota > 0 else 0.0,
        used_s=int(files.get("cpuacct/cpuacct.usage", "0")) / 1e9,
        throttled=stat["nr_throttled"],
        throttled_s=stat["throttled_time"] / 1e9,
    )


def _numbers(text: str) -> dict[str, int]:
    return {name: int(value) for name, value in (line.split() for line in text.splitlines())}
