"""Labs by hand: what runs, its logs and its threads, and how to stop what was left running."""

from __future__ import annotations

from collections.abc import Iterator

from waitlab.controls import nearest
from waitlab.errors import ServiceError
from waitlab.services import apps, docker_api, docker_app, docker_leftovers, java, state
from waitlab.services.state import LabState, list_labs
from waitlab.services.threads import ThreadInfo, dump

__all__ = ["down", "list_labs", "logs", "threads"]


def down() -> list[str]:
    """Stops what `up` left running, and removes what dead labs left, in the engine too; returns the labs' ids."""
    stopped = state.down()
    return stopped + [lab for lab in docker_leftovers.remove_leftovers(docker_api.address()) if lab not in stopped]


def logs(name: str, lines: int = 200) -> list[str]:
    """The last lines of the log of a server that runs: an app's, or the database's (`db`)."""
    return state.tail(_serving(name).log(name), lines)


def threads(name: str) -> list[ThreadInfo]:
    """Every thread of an app that runs, virtual ones too."""
    lab = _serving(name)
    service = lab.services[name]
    if name not in apps.APPS:
        raise ServiceError(f"{name} is no Java server, so it has no threads to show.", tip="waitlab ps names the apps")
    if "jvm" in service:
        return docker_app.dump(service["engine"], service["container"], service["jvm"], name)
    return dump(java.jcmd(), int(service["pid"]), lab.folder / "work")


def _serving(name: str) -> LabState:
    """The lab in which the named server runs: the one that `up` left, else the youngest."""
    alive = [lab for lab in list_labs() if lab.alive]
    found = [lab for lab in alive if name in lab.services]
    if found:
        return max(found, key=lambda lab: (lab.detached, lab.folder.stat().st_mtime))
    known = sorted(set(_names(alive)))
    raise ServiceError(
        f"No server named {name!r} runs.",
        found=f"running: {', '.join(known)}" if known else "no server runs",
        tip=nearest(name, known) if known else f"waitlab up {name}",
    )


def _names(labs: list[LabState]) -> Iterator[str]:
    return (name for lab in labs for name in lab.services)
