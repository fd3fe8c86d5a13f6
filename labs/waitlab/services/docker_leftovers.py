"""What labs left in the engine whose supervisor and guard were both killed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from waitlab.paths import runtime_dir
from waitlab.services import docker_api, state
from waitlab.services.docker_removal import FOLDER_LABEL, LABEL, remove

_ASK_S = 1.5


def leftovers(host: str) -> list[str]:
    """Ids of this user's labs that have died and still have something in the engine."""
    labels = [each.get("Labels") or {} for each in labelled(host, FOLDER_LABEL)]
    known = {(each[LABEL], each[FOLDER_LABEL]) for each in labels if each.get(FOLDER_LABEL)}
    return sorted(lab for lab, folder in known if _is_dead(Path(folder)))


def remove_leftovers(host: str) -> list[str]:
    """Removes it; returns the ids."""
    return [lab for lab in leftovers(host) if remove(lab) is not None]


def _is_dead(folder: Path) -> bool:
    """Whether the lab of that folder was this user's, and has no supervisor any more."""
    if folder.parent != runtime_dir() / "labs":
        return False
    known = state.read(folder) if folder.is_dir() else None
    return not folder.is_dir() or (known is not None and not known.alive)


def labelled(host: str, label: str) -> list[dict[str, Any]]:
    """Containers, networks and volumes that carry a label (or `label=value`); none where the engine is silent."""
    wanted = f'?filters={{"label":["{label}"]}}'
    try:
        return [
            *docker_api.get(host, f"/containers/json{wanted}&all=1", _ASK_S),
            *docker_api.get(host, f"/networks{wanted}", _ASK_S),
            *(docker_api.get(host, f"/volumes{wanted}", _ASK_S)["Volumes"] or ()),
        ]
    except (OSError, docker_api.Refused):
        return []
