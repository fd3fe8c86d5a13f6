"""What labs left in the engine whose supervisor and guard were both killed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from waitlab.paths import runtime_dir
from waitlab.services import docker_api, state
from waitlab.services.docker_removal import FOLDER_LABEL, LABEL, remove

_ASK_S = 3.0


def leftovers(host: str) -> list[str]:
    """Ids of this user's labs that have died and still have something in the engine."""
    return sorted({lab for lab, folder in _labelled(host) if _is_dead(folder)})


def remove_leftovers(host: str) -> list[str]:
    """Removes it; returns the ids."""
    return [lab for lab in leftovers(host) if remove(lab)]


def _is_dead(folder: Path) -> bool:
    """Whether the lab of that folder was this user's, and has no supervisor any more."""
    if folder.parent != runtime_dir() / "labs":
        return False
    known = state.read(folder) if folder.is_dir() else None
    return not folder.is_dir() or (known is not None and not known.alive)


def _labelled(host: str) -> Iterator[tuple[str, Path]]:
    """Lab and folder of everything in the engine that carries our labels."""
    wanted = f'?filters={{"label":["{FOLDER_LABEL}"]}}'
    try:
        listed: list[dict[str, Any]] = [
            *docker_api.get(host, f"/containers/json{wanted}&all=1", _ASK_S),
            *docker_api.get(host, f"/networks{wanted}", _ASK_S),
            *(docker_api.get(host, f"/volumes{wanted}", _ASK_S)["Volumes"] or ()),
        ]
    except (OSError, docker_api.Refused):
        return
    for each in listed:
        labels = each.get("Labels") or {}
        if labels.get(FOLDER_LABEL):
            yield labels[LABEL], Path(labels[FOLDER_LABEL])
