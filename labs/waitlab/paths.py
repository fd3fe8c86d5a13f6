"""Where things live: the project, the downloads, and the state of running labs.

    ROOT            the cloned project
    APPS            the Maven build of the servers
    cache()         what was fetched; may be deleted at any time (WAITLAB_CACHE overrides)
    runtime_dir()   state of this user's running labs, closed to others (WAITLAB_STATE overrides)

Nothing is created before it is asked for.
"""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path

import platformdirs

from waitlab.errors import ServiceError

ROOT = Path(__file__).resolve().parents[2]
APPS = ROOT / "labs" / "apps"


def cache() -> Path:
    """The folder of downloads, readable by every user, so that an unprivileged server can start from it."""
    folder = _cache_folder()
    if not folder.is_dir():
        _make(folder, 0o755, "WAITLAB_CACHE")
        folder.chmod(0o755)
    return folder


def runtime_dir() -> Path:
    """The folder (0700) of this user's labs; ServiceError where someone else got there first."""
    chosen = os.environ.get("WAITLAB_STATE")
    folder = Path(chosen).absolute() if chosen else _temporary(f"waitlab-{os.getuid()}")
    _make(folder, 0o700, "WAITLAB_STATE")
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
        raise ServiceError(
            f"The state of running labs is kept in {folder}, which belongs to somebody else.",
            found=f"owner {found.st_uid}, you are {os.getuid()}",
            tip="set WAITLAB_STATE to a folder of your own.",
        )
    if stat.S_IMODE(found.st_mode) != 0o700:
        folder.chmod(0o700)
    return folder


def _make(folder: Path, mode: int, variable: str) -> None:
    """Makes a folder where there is none; a refusal names the variable that could point elsewhere."""
    try:
        folder.mkdir(mode, parents=True, exist_ok=True)
    except OSError as refused:
        raise ServiceError(
            f"The folder {folder} cannot be made.",
            found=refused.strerror or type(refused).__name__,
            tip=f"set {variable} to a folder that you may write to.",
        ) from refused


def _cache_folder() -> Path:
    """WAITLAB_CACHE, else the machine's cache for root, else the user's, else a temporary folder."""
    chosen = os.environ.get("WAITLAB_CACHE")
    if chosen:
        return Path(chosen).expanduser().absolute()
    if os.getuid() == 0:
        return Path(platformdirs.site_cache_dir("waitlab", appauthor=False))
    try:
        folder = Path(platformdirs.user_cache_dir("waitlab", appauthor=False))
    except RuntimeError:  # neither HOME nor an entry in /etc/passwd
        folder = Path()
    return folder if can_be_made(folder) else _temporary(f"waitlab-cache-{os.getuid()}")


def can_be_made(folder: Path) -> bool:
    """Whether the folder is there or could be; a user without a home has neither."""
    if not folder.is_absolute():
        return False
    there = next(parent for parent in (folder, *folder.parents) if parent.exists())
    return os.access(there, os.W_OK | os.X_OK)


def _temporary(name: str) -> Path:
    return Path(tempfile.gettempdir()).absolute() / name
