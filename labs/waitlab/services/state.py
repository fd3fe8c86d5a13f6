"""The folders of labs: one a lab, with its word of what runs, its logs and its secrets.

    runtime_dir()/labs/<lab_id>/    lab.json  logs/<name>.log  secrets/<name>.properties  work/

`tidy()` removes what labs left whose supervisor was killed. A process is ours only if its number and its
start time are those that were written down.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from waitlab import paths
from waitlab.services.processes import ask_to_end, born, kill_tree, remove_folder, remove_traces

FRESH_S = 30.0
"""A folder without its word is somebody's lab about to start, for so long."""
STOP_S = 8.0


@dataclass(frozen=True, slots=True)
class LabState:
    """A lab as its folder tells it. `alive`: its supervisor runs; `detached`: it was left running by `up`."""

    lab_id: str
    folder: Path
    alive: bool
    detached: bool
    supervisor: dict[str, Any]
    services: dict[str, dict[str, Any]]
    folders: tuple[Path, ...]
    owner: int | None = None

    def log(self, name: str) -> Path:
        """The log file of a server."""
        return self.folder / "logs" / f"{name}.log"


def new_folder() -> Path:
    """Makes the folder of a new lab, closed to others; its name is the lab's id."""
    folder = _labs() / f"{os.getpid()}-{secrets.token_hex(3)}"
    for part in ("logs", "secrets", "work"):
        (folder / part).mkdir(mode=0o700, parents=True)
    folder.chmod(0o700)
    return folder


def list_labs() -> list[LabState]:
    """This user's labs, also those whose supervisor was killed."""
    return sorted(_all_labs(), key=lambda lab: lab.lab_id)


def tidy() -> list[str]:
    """Ends and removes what is left of labs whose supervisor has died; returns their ids."""
    left = [lab for lab in _all_labs() if not lab.alive]
    for lab in left:
        _remove(lab)
    return [lab.lab_id for lab in left]


def down() -> list[str]:
    """Stops the labs that `up` left running, and tidies; a lab that an owner still holds is left alone."""
    stopped = [lab for lab in list_labs() if lab.alive and lab.detached]
    for lab in stopped:
        ask_to_end(lab.supervisor["pid"], signal.SIGTERM)
    for lab in stopped:
        _wait_until_gone([lab.supervisor], STOP_S)
    return [lab.lab_id for lab in stopped] + tidy()


def tail(log: Path, lines: int = 50) -> list[str]:
    """The last lines of a log; none if it is not there."""
    with contextlib.suppress(OSError), log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - 400 * lines))
        return file.read().decode(errors="replace").splitlines()[-lines:]
    return []


def read(folder: Path) -> LabState | None:
    """A lab's folder as a value; None while it is about to start."""
    try:
        word = json.loads((folder / "lab.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        word = None if _is_fresh(folder) else {"supervisor": {}, "services": {}}
    if word is None:
        return None
    return LabState(
        lab_id=folder.name,
        folder=folder,
        alive=_is_ours(word["supervisor"]),
        detached=bool(word.get("detached")),
        supervisor=word["supervisor"],
        services=word["services"],
        folders=tuple(map(Path, word.get("folders", ()))),
        owner=word.get("owner"),
    )


def _labs() -> Path:
    return paths.runtime_dir() / "labs"


def _all_labs() -> Iterator[LabState]:
    folders = _labs().iterdir() if _labs().is_dir() else iter(())
    return (lab for folder in folders if (lab := read(folder)) is not None)


def _is_fresh(folder: Path) -> bool:
    with contextlib.suppress(OSError):
        return time.time() - folder.stat().st_mtime < FRESH_S
    return True


def _is_ours(process: dict[str, Any]) -> bool:
    """Whether the process that was written down still runs, and is not another of the same number."""
    return "pid" in process and process.get("born") is not None and born(process["pid"]) == process["born"]


def _remove(lab: LabState) -> None:
    """Ends a lab's servers, and removes its folders."""
    ours = [service for service in lab.services.values() if _is_ours(service)]
    for service in ours:
        ask_to_end(service["pid"], signal.Signals[service.get("stop", "SIGTERM")])
    _wait_until_gone(ours, 1.0)
    for service in filter(_is_ours, ours):
        kill_tree(service["pid"])
    _wait_until_gone(ours, 1.0)
    for service in lab.services.values():
        remove_traces(service.get("pid", 0))
    for folder in (*lab.folders, lab.folder):
        remove_folder(folder)


def _wait_until_gone(processes: list[dict[str, Any]], within_s: float) -> None:
    """Waits until none of them runs; somebody else's children can only be asked, not waited for."""
    end = time.monotonic() + within_s
    while time.monotonic() < end and any(map(_is_ours, processes)):
        time.sleep(0.01)
