"""Removing what carries a lab's label: containers, networks, volumes. Standard library only: a script uses it too."""

from __future__ import annotations

import subprocess

LABEL = "waitlab.lab"
FOLDER_LABEL = "waitlab.folder"
GUARD, MAKER = "docker", "compose"
"""The supervisor's children that remove containers, and make them."""
CALL_S = 10.0


def remove(lab_id: str) -> bool:
    """Removes what carries the lab's label; True if nothing was left to remove or all of it went."""
    wanted = f"label={LABEL}={lab_id}"
    containers = _removed(["ps", "-aq", "--filter", wanted], ["rm", "--force", "--volumes"])
    networks = _removed(["network", "ls", "-q", "--filter", wanted], ["network", "rm"])
    volumes = _removed(["volume", "ls", "-q", "--filter", wanted], ["volume", "rm", "--force"])
    return containers and networks and volumes


def _removed(listing: list[str], removal: list[str]) -> bool:
    listed = _docker(listing)
    if listed is None:
        return False
    return not listed.split() or _docker([*removal, *listed.split()]) is not None


def _docker(words: list[str]) -> str | None:
    """What the docker command printed; None where it failed."""
    try:
        said = subprocess.run(["docker", *words], capture_output=True, text=True, timeout=CALL_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return said.stdout if said.returncode == 0 else None
