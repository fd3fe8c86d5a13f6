"""Thread dumps: what every thread of a JVM does now, virtual threads included.

The JVM writes its dump to a file in a folder of ours. Its tool says "done" even when it failed and takes a
relative path from the server's folder, so the path is absolute and fresh, and the file alone is the proof.
"""

from __future__ import annotations

import json
import secrets
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from waitlab.errors import ServiceError, ServiceTimeout
from waitlab.services.machine import plain_environment

FRAMES = 10
DUMP_S = 20.0


@dataclass(frozen=True, slots=True)
class ThreadInfo:
    """One thread in a dump. `carrier` is the number of the platform thread that a virtual one sits on."""

    name: str
    state: str
    virtual: bool
    top_frames: tuple[str, ...]
    blocked_on: str | None = None
    tid: int = 0
    carrier: int | None = None
    container: str = ""


def dump(jcmd: Path, pid: int, folder: Path) -> list[ThreadInfo]:
    """Every thread of the JVM with that pid; ServiceError if the JVM wrote no dump."""
    file = folder / f"threads-{secrets.token_hex(4)}.json"
    said = _run([str(jcmd), str(pid), "Thread.dump_to_file", "-format=json", f'"{file}"'], pid)
    try:
        return parse(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, KeyError) as missing:
        raise ServiceError(
            "The server wrote no thread dump.",
            found=said or str(missing),
            tip="see whether the server still runs with `waitlab ps`, then ask again.",
        ) from missing
    finally:
        file.unlink(missing_ok=True)


def _run(command: list[str], pid: int) -> str:
    """Runs the JVM's tool; returns what it said, which is no proof of anything."""
    try:
        said = subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=DUMP_S,
            check=False,
            env=plain_environment(),
        )
    except OSError as problem:
        return f"{command[0]}: {problem}"
    except subprocess.TimeoutExpired as late:
        raise ServiceTimeout(
            f"The server wrote no thread dump within {DUMP_S:g} s.",
            found=f"process {pid} does not answer",
            tip="wait until the machine is less busy, then ask again.",
        ) from late
    return (said.stdout + said.stderr).strip()[-300:]


def parse(text: str) -> list[ThreadInfo]:
    """The threads of a dump in the JVM's JSON, in its order."""
    containers = json.loads(text)["threadDump"]["threadContainers"]
    return [_thread(entry, box["container"]) for box in containers for entry in box["threads"]]


def groups(threads: list[ThreadInfo]) -> dict[str, int]:
    """How many threads of each family there are: names that differ in their numbers only are one family."""
    families: dict[str, int] = {}
    for thread in threads:
        family = "".join("#" if c.isdigit() else c for c in thread.name) or "(virtual, without a name)"
        while "##" in family:
            family = family.replace("##", "#")
        families[family] = families.get(family, 0) + 1
    return families


def _thread(entry: Mapping[str, Any], container: str) -> ThreadInfo:
    return ThreadInfo(
        name=str(entry.get("name", "")),
        state=str(entry.get("state", "UNKNOWN")),
        virtual=str(entry.get("virtual", "")).lower() == "true",
        top_frames=tuple(str(frame) for frame in entry.get("stack", ())[:FRAMES]),
        blocked_on=next(_waits_for(entry), None),
        tid=int(entry.get("tid", 0)),
        carrier=int(entry["carrier"]) if "carrier" in entry else None,
        container=container,
    )


def _waits_for(entry: Mapping[str, Any]) -> Iterator[str]:
    """What the thread waits for: a monitor, a notification, or what it is parked on."""
    for key in ("blockedOn", "waitingOn", "parkBlocker"):
        found = entry.get(key)
        if isinstance(found, Mapping):
            yield str(found.get("object", found))
        elif found:
            yield str(found)
