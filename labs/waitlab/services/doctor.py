"""What this machine offers, and what is missing: `doctor()` finds out, `doctor_table()` says it.

Every question is asked in a thread of its own and has until a common deadline to be answered, so that one
that hangs (an engine that is silent, a disk that is gone) costs an answer and not the report. Nothing raises.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil

from waitlab import paths
from waitlab.services import docker_probe, java
from waitlab.services.machine import hardware, usable_cpus

DEADLINE_S = 3.0
"""When the report is given, whoever has not answered by then (s)."""

Report = dict[str, Any]
Row = tuple[str, str, str]

_BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
_MAC_BROWSERS = ("Google Chrome", "Chromium")


def doctor() -> Report:
    """The report, with one entry a question; an entry that could not be found out holds `error`."""
    began = time.monotonic()
    answers: dict[str, Any] = {}
    threads = [
        threading.Thread(target=_ask, args=(answers, name, question), daemon=True, name=f"doctor-{name}")
        for name, question in _QUESTIONS.items()
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(max(0.0, began + DEADLINE_S - time.monotonic()))
    report = {name: answers.get(name, {"error": "no answer in time"}) for name in _QUESTIONS}
    report["docker"] = _docker(answers)
    del report["docker_command"]
    return {**report, "seconds": round(time.monotonic() - began, 2)}


def _ask(answers: dict[str, Any], name: str, question: Callable[[], Any]) -> None:
    try:
        answers[name] = question()
    except Exception as problem:
        answers[name] = {"error": str(problem).splitlines()[0] if str(problem) else type(problem).__name__}


def _cpus() -> Report:
    return {
        "model": hardware()["cpu_model"],
        "host": os.cpu_count(),
        "affinity": len(usable_cpus()),
        "cgroup_limit": _cgroup_cpus(),
    }


def _memory() -> Report:
    memory = psutil.virtual_memory()
    limit = _number("/sys/fs/cgroup/memory.max") or _number("/sys/fs/cgroup/memory/memory.limit_in_bytes")
    return {
        "total_mb": memory.total // 2**20,
        "available_mb": memory.available // 2**20,
        "cgroup_limit_mb": limit // 2**20 if limit and limit < memory.total else None,
    }


def _disk() -> Report:
    cache = paths.cache()
    return {
        "cache": str(cache),
        "cache_free_mb": shutil.disk_usage(cache).free // 2**20,
        "project_free_mb": shutil.disk_usage(paths.ROOT).free // 2**20,
    }


def _java() -> Report:
    home = java.java_home()
    return {"home": str(home), "version": java.java_version(home)}


def _javac() -> Report:
    home = java.find_javac_home()
    return {"home": str(home) if home else None, "version": java.java_version(home) if home else None}


def _maven() -> Report:
    from waitlab.services.maven import find_maven

    found = find_maven()
    return {
        "home": str(found.home) if found else None,
        "version": found.version if found else None,
        "system": found.system if found else None,
    }


def _postgres() -> Report:
    from waitlab.services.postgres_binaries import find_postgres, postgres_version

    home = find_postgres()
    return {"home": str(home) if home else None, "version": postgres_version(home) if home else None}


def _build() -> Report:
    from waitlab.services.apps import APPS
    from waitlab.services.build import is_current

    def state(name: str) -> str:
        if not (APPS[name].folder / "app.jar").is_file():
            return "missing"
        return "current" if is_current(APPS[name]) else "stale"

    return {name: state(name) for name in APPS}


def _docker_command() -> Report:
    command, compose = docker_probe.probe_command()
    return {"command": command, "compose": compose}


def _docker(answers: dict[str, Any]) -> Report:
    """The engine's answer and the command's as one entry."""
    engine = answers.get("docker") or docker_probe.silent().as_dict()
    command = answers.get("docker_command") or {}
    return {**engine, "command": command.get("command"), "compose": command.get("compose")}


def _browser() -> Report:
    found = next(filter(None, map(shutil.which, _BROWSERS)), None)
    apps = (Path(f"/Applications/{name}.app/Contents/MacOS/{name}") for name in _MAC_BROWSERS)
    return {"command": found or next((str(app) for app in apps if app.exists()), None)}


def _runtime() -> Report:
    from waitlab.services.runtimes import choose_runtime

    choice = choose_runtime()
    return {"choice": choice.name, "why": choice.why}


def _leftovers() -> list[Report]:
    from waitlab.services import docker_api, docker_leftovers
    from waitlab.services.state import list_labs

    in_engine = docker_leftovers.leftovers(docker_api.address())
    return [{"lab_id": lab, "folder": "", "services": ["containers"]} for lab in in_engine] + [
        {"lab_id": lab.lab_id, "folder": str(lab.folder), "services": sorted(lab.services)}
        for lab in list_labs()
        if not lab.alive
    ]


_QUESTIONS: dict[str, Callable[[], Any]] = {
    "cpus": _cpus,
    "memory": _memory,
    "disk": _disk,
    "java": _java,
    "javac": _javac,
    "maven": _maven,
    "postgres": _postgres,
    "build": _build,
    "docker": lambda: docker_probe.probe_engine().as_dict(),
    "docker_command": _docker_command,
    "browser": _browser,
    "runtime": _runtime,
    "leftovers": _leftovers,
}


def _cgroup_cpus() -> float | None:
    """CPUs that the container may use at most; None without a limit. Read from both versions of cgroups."""
    with contextlib.suppress(OSError, ValueError):
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text(encoding="ascii").split()
        return None if quota == "max" else int(quota) / int(period)
    quota_us = _number("/sys/fs/cgroup/cpu/cpu.cfs_quota_us")
    period_us = _number("/sys/fs/cgroup/cpu/cpu.cfs_period_us")
    return quota_us / period_us if quota_us and period_us else None


def _number(file: str) -> int | None:
    with contextlib.suppress(OSError, ValueError):
        return max(0, int(Path(file).read_text(encoding="ascii"))) or None
    return None


def doctor_table(report: Report) -> list[Row]:
    """The report as rows (what, state, detail) for a person; states are ok, missing, note and problem."""
    from waitlab.services.doctor_words import rows

    return rows(report)
