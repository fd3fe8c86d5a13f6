"""Folders that are whole or not there, and locks that say what they wait for."""

from __future__ import annotations

import fcntl
import os
import shutil
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

Say = Callable[[str], None]


@contextmanager
def whole_folder(target: Path) -> Iterator[Path]:
    """Yields a temporary folder that becomes `target` if the block ends well, and vanishes if not."""
    target.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix=_draft_prefix(target), dir=target.parent))
    try:
        yield draft
        _replace(draft, target)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def remove_drafts(target: Path) -> None:
    """Removes what a killed build left beside `target`; call it only under the lock."""
    for draft in target.parent.glob(f"{_draft_prefix(target)}*"):
        shutil.rmtree(draft, ignore_errors=True)


@contextmanager
def locked(file: Path, *, waiting: str, say: Say) -> Iterator[None]:
    """Holds an exclusive lock on `file`; says `waiting` once if another process has it."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(waiting)
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def readable_by_all(folder: Path) -> None:
    """Opens a tree for reading to every user, whatever the umask was."""
    for where, _, files in os.walk(folder):
        Path(where).chmod(0o755)
        for file in (Path(where, name) for name in files):
            if not file.is_symlink():
                file.chmod(0o755 if file.stat().st_mode & 0o100 else 0o644)


def unpack(tar: tarfile.TarFile, folder: Path) -> None:
    """Unpacks an archive; the first releases of Python 3.11 have no filters yet."""
    if hasattr(tarfile, "data_filter"):
        tar.extractall(folder, filter="data")
    else:
        tar.extractall(folder)


def write_whole(file: Path, content: bytes) -> None:
    """Writes a file that is never seen half-written."""
    file.parent.mkdir(parents=True, exist_ok=True)
    descriptor, draft = tempfile.mkstemp(prefix=f".{file.name}.", dir=file.parent)
    try:
        with os.fdopen(descriptor, "wb") as handle:
            handle.write(content)
        Path(draft).chmod(0o644)
        Path(draft).replace(file)
    except BaseException:
        Path(draft).unlink(missing_ok=True)
        raise


def _draft_prefix(target: Path) -> str:
    return f".{target.name}.draft-"


def _replace(draft: Path, target: Path) -> None:
    """Moves the draft to its place, away with what was there."""
    draft.chmod(0o755)
    if target.exists():
        old = Path(tempfile.mkdtemp(prefix=_draft_prefix(target), dir=target.parent))
        target.rename(old / "old")
        draft.rename(target)
        shutil.rmtree(old, ignore_errors=True)
    else:
        draft.rename(target)
