"""Removing what carries a lab's label: containers, networks, volumes. Standard library only: a script uses it too."""

from __future__ import annotations

import subprocess

LABEL = "waitlab.lab"
FOLDER_LABEL = "waitlab.folder"
GUARD, MAKER = "docker", "compose"
"""The supervisor's children that remove containers, and make them."""
MAKING = "making"
"""The file in the lab's `work` that is there while containers are being made."""
CALL_S = 10.0


def remove(lab_id: str) -> int | None:
    """Removes what carries the lab's label; how many things were there, None if not all of them went."""
    wanted = f"label={LABEL}={lab_id}"
    containers = _removed(["ps", "-aq", "--filter", wanted], ["rm", "--force", "--volumes"])
    networks = _removed(["network", "ls", "-q", "--filter", wanted], ["network", "rm"])
    volumes = _removed(["volume", "ls", "-q", "--filter", wanted], ["volume", "rm", "--force"])
    if containers is None or networks is None or volumes is None:
        return None
    return containers + networks + volumes


def _removed(listing: list[str], removal: list[str]) -> int | None:
    listed = _docker(listing)
    if listed is None:
        return None
    found = listed.split()
    return len(found) if not found or _docker([*removal, *found]) is not None else None


def _docker(words: list[str]) -> str | None:
    """What the docker command printed; None where it failed."""
    try:
        said = subprocess.run(["docker", *words], capture_output=True, text=True, timeout=CALL_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return said.stdout if said.returncode == 0 else None
