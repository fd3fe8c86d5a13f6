"""The account that PostgreSQL runs under: it refuses root, so root lends it an unprivileged one.

No account is made and no permission of a folder above is changed: the data lies in a folder of its own, where
that account can reach it.
"""

from __future__ import annotations

import os
import pwd
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from waitlab.errors import ServiceError


@dataclass(frozen=True, slots=True)
class Account:
    """A user and group of this machine, by number."""

    uid: int
    gid: int


def lent_account() -> Account | None:
    """Whom PostgreSQL runs as where we are root; None where it can run as ourselves."""
    if os.geteuid() != 0:
        return None
    for entry in _unprivileged():
        return Account(entry.pw_uid, entry.pw_gid)
    raise ServiceError(
        "PostgreSQL refuses to run as root, and this machine has no other account to lend it.",
        found="no account but root in the user database",
        tip="run as a user that is not root.",
    )


def with_a_name(command: list[str]) -> list[str]:
    """The command for a program that asks for its user's name, also where that user has none."""
    try:
        pwd.getpwuid(os.geteuid())
    except KeyError:
        script = Path(__file__).with_name("nameless.py")
        return [sys.executable, "-S", "-E", "-s", str(script), *_some_uid(), *command]
    return command


def data_folder(lab_folder: Path, account: Account | None) -> Path:
    """Where the database goes: into the lab's folder, or where the lent account can reach it."""
    return lab_folder / "postgres" if account is None else _open_place() / f"waitlab-db-{lab_folder.name}"


def make_folder(folder: Path, account: Account | None) -> None:
    """Makes a folder that only PostgreSQL can open; a folder that is there already is not ours."""
    folder.mkdir(mode=0o700)
    if account:
        os.chown(folder, account.uid, account.gid)


def _some_uid() -> list[str]:
    return [str(entry.pw_uid) for entry in _unprivileged()][:1] or ["1"]


def _unprivileged() -> list[pwd.struct_passwd]:
    """Accounts that are not root, those first that own nothing."""
    preferred = ("nobody", "daemon", "postgres")
    known = {entry.pw_name: entry for entry in pwd.getpwall() if entry.pw_uid != 0}
    return [known[name] for name in preferred if name in known] or list(known.values())


def _open_place() -> Path:
    """A folder for temporary files whose parents let everyone through."""
    places = [Path(tempfile.gettempdir()).absolute(), Path("/tmp"), Path("/var/tmp")]
    for place in places:
        if os.access(place, os.W_OK) and all(_lets_through(each) for each in (place, *place.parents)):
            return place
    raise ServiceError(
        "PostgreSQL needs a folder that an unprivileged account can reach.",
        found=f"closed to others: {', '.join(map(str, dict.fromkeys(places)))}",
        tip="set TMPDIR to a folder that is open to all, as /tmp usually is.",
    )


def _lets_through(folder: Path) -> bool:
    return folder.is_dir() and bool(folder.stat().st_mode & 0o001)
