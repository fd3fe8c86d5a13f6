"""PostgreSQL 17 without an installer: the programs of an embedded build, kept in the cache folder."""

from __future__ import annotations

import os
import platform
import subprocess
import tarfile
import zipfile
from pathlib import Path

from waitlab import paths
from waitlab.errors import BuildError
from waitlab.services.fetching import Artifact, disk_error, fetched
from waitlab.services.folders import Say, locked, readable_by_all, remove_drafts, unpack, whole_folder

VERSION = "17.10.0"
TITLE = "PostgreSQL 17"

# What is fetched for a machine: name of the platform, megabytes, SHA-256.
_BUILDS = {
    ("Linux", "x86_64"): (
        "linux-amd64",
        15,
        "a6c44794a7a258621b8cb98c196bf621cdd705d9fa73c3628166b658c419877a",
    ),
    ("Linux", "aarch64"): (
        "linux-arm64v8",
        14,
        "47aa73724470a8bdb5e68e3978c1f07c577ab7a5c23b97b84f99d7e165f4876f",
    ),
    ("Darwin", "x86_64"): (
        "darwin-amd64",
        30,
        "667a0eea70157656649417777af452148f6c79ae3654b2cd057a37fd701bd9e9",
    ),
    ("Darwin", "arm64"): (
        "darwin-arm64v8",
        30,
        "b8c73288326af937b632208110b1d629c404ebef7519f8bcc7fd72404c68a36a",
    ),
}


def find_postgres() -> Path | None:
    """Home of the PostgreSQL programs (bin/postgres, bin/initdb, ...) if they are there and whole, else None."""
    home = _home()
    programs = all(os.access(home / "bin" / name, os.X_OK) for name in ("postgres", "initdb"))
    return home if programs and all((home / name).is_dir() for name in ("lib", "share")) else None


def postgres_home(say: Say = print) -> Path:
    """Home of the PostgreSQL programs, fetched if need be; BuildError if that cannot be done."""
    return find_postgres() or _install(say)


def postgres_version(home: Path) -> str:
    """What `postgres --version` says, such as "17.10"; empty if it does not run."""
    try:
        said = subprocess.run(
            [home / "bin" / "postgres", "--version"], capture_output=True, text=True, timeout=20, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    words = said.stdout.split()
    return words[2] if said.returncode == 0 and len(words) > 2 else ""


def _home() -> Path:
    return paths.cache() / "postgres" / VERSION


def _install(say: Say) -> Path:
    home, artifact = _home(), _artifact(platform.system(), platform.machine())
    lock = paths.cache() / "postgres.lock"
    try:
        with locked(lock, waiting=f"Waiting for another build, which is fetching {TITLE}", say=say):
            remove_drafts(home)
            if find_postgres() is None:
                with fetched(artifact, say) as archive, whole_folder(home) as draft:
                    _unpack(archive, draft)
    except OSError as problem:
        raise disk_error(problem, f"{TITLE} could not be unpacked.") from problem
    return home


def _artifact(system: str, machine: str) -> Artifact:
    """The artifact for a platform, as `platform` names it; BuildError for one without binaries."""
    try:
        name, megabytes, sha256 = _BUILDS[system, machine]
    except KeyError:
        raise BuildError(
            f"There is no embedded {TITLE} for this machine.",
            found=f"{system} on {machine}",
            tip="use Docker (`--runtime docker`), or the recorded runs (`--runtime recorded`).",
        ) from None
    group, artifact = "io.zonky.test.postgres", f"embedded-postgres-binaries-{name}"
    return Artifact(TITLE, group, artifact, VERSION, "jar", megabytes, sha256)


def _unpack(archive: Path, folder: Path) -> None:
    """Unpacks the one .txz inside the jar, and proves that the programs run."""
    with zipfile.ZipFile(archive) as jar:
        inner = next(name for name in jar.namelist() if name.endswith(".txz"))
        with jar.open(inner) as packed, _open_xz(packed) as tar:
            unpack(tar, folder)
    readable_by_all(folder)
    version = postgres_version(folder)
    if version.split(".")[0] != VERSION.split(".")[0]:
        raise BuildError(
            f"{TITLE} was fetched but does not run on this machine.",
            found=f"version {version!r}" if version else "bin/postgres did not start",
            tip="use Docker (`--runtime docker`), or the recorded runs (`--runtime recorded`).",
        )


def _open_xz(packed: object) -> tarfile.TarFile:
    try:
        return tarfile.open(fileobj=packed, mode="r:xz")  # type: ignore[call-overload]
    except tarfile.CompressionError as missing:
        raise BuildError(
            f"{TITLE} could not be unpacked: this Python was built without lzma.",
            found=str(missing),
            tip="use a Python with the lzma module (the one of your system or of conda has it).",
        ) from missing
