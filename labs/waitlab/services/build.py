"""From a clone to servers that can be started: `build()`.

    PostgreSQL 17, Maven    fetched into the cache folder, once for all clones
    mvn package             labs/apps/<app>/target/app.jar
    extract                 app.jar and lib/, which start faster than one fat jar
    training runs           app.aot and its like, with which a start takes half the time or less

An app is put together in a draft folder, which becomes labs/apps/<app>/target/app when it is whole. A
stamp inside says what it was made from, so that a build which has nothing to do ends at once.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from waitlab import paths
from waitlab.errors import BuildError
from waitlab.services import java
from waitlab.services.apps import APPS, AppSpec, jvm_flags
from waitlab.services.fetching import disk_error
from waitlab.services.folders import Say, locked, remove_drafts, whole_folder
from waitlab.services.guarded import guarded
from waitlab.services.machine import plain_environment
from waitlab.services.maven import run_maven
from waitlab.services.postgres_binaries import postgres_home

FORMAT = 2
"""Raised when the steps below change, so that older builds are made anew."""

_STAMP = "build.json"
_WAITING = "Waiting for another build of this clone to finish"


@dataclass(frozen=True)
class BuildReport:
    """What a build did: the apps it made (`built`), those that were current, where PostgreSQL is, seconds."""

    built: tuple[str, ...]
    current: tuple[str, ...]
    postgres: Path
    seconds: float

    def __str__(self) -> str:
        if not self.built:
            return f"Everything is built already: {', '.join(self.current)}."
        return f"Built {', '.join(self.built)} in {self.seconds:.0f} s."


def build(force: bool = False, say: Say = print) -> BuildReport:
    """Fetches and builds what the servers need and is not current; BuildError if that fails."""
    began = time.monotonic()
    postgres = postgres_home(say)
    stale = stale_apps(force)
    if stale:
        with _alone(say):
            stale = stale_apps(force)
            _build(stale, postgres, force, say)
    current = tuple(name for name in APPS if name not in {spec.name for spec in stale})
    built = tuple(spec.name for spec in stale)
    report = BuildReport(built, current, postgres, time.monotonic() - began)
    say(str(report))
    return report


def stale_apps(force: bool = False) -> list[AppSpec]:
    """The apps that are not built, or not from what the sources, the JVM and the flags are now."""
    return [spec for spec in APPS.values() if force or not is_current(spec)]


def is_current(spec: AppSpec) -> bool:
    """Whether an app was built from what is here now, and is whole."""
    try:
        stamp = json.loads((spec.folder / _STAMP).read_text(encoding="utf-8"))
        whole = all(stamp.get(part, found) == found for part, found in _parts(spec.folder).items())
        return bool(whole and stamp["key"] == _key(spec))
    except (OSError, ValueError, KeyError):
        return False


def run_java_tests(say: Say = print) -> None:
    """Runs the Java tests; their reports are in target/surefire-reports; BuildError if one fails."""
    with _alone(say):
        run_maven(["verify"], folder=paths.APPS, log=_log("tests"), say=say)


@contextmanager
def _alone(say: Say) -> Iterator[None]:
    """Holds this clone's build lock, and turns what the disk refuses into a sentence."""
    try:
        with locked(paths.APPS / "target" / "build.lock", waiting=_WAITING, say=say):
            yield
    except OSError as problem:
        raise disk_error(problem, "The servers could not be built.") from problem


def _build(stale: Sequence[AppSpec], postgres: Path, force: bool, say: Say) -> None:
    """Compiles, then puts each app together; under the lock."""
    from waitlab.services.training import train

    if not stale:
        return
    if force:
        _forget_classes()
    keys = {spec.name: _key(spec) for spec in stale}
    run_maven(["package", "-Dmaven.test.skip=true"], folder=paths.APPS, log=_log("build"), say=say)
    for spec in stale:
        remove_drafts(spec.folder)
        with whole_folder(spec.folder) as draft:
            _extract(spec, draft)
            say(f"Training run of {spec.name}: it serves once now, and starts faster from then on")
            train(spec, draft, postgres, say)
            stamp = {"key": keys[spec.name], **_parts(draft)}
            (draft / _STAMP).write_text(json.dumps(stamp), encoding="utf-8")


def _extract(spec: AppSpec, draft: Path) -> None:
    """Unpacks the fat jar into app.jar and lib/; a plain jar is taken as it is, with the libraries beside it."""
    if not spec.boot:
        shutil.copyfile(spec.folder.parent / f"{spec.source.name}.jar", draft / "app.jar")
        shutil.copytree(spec.folder.parent / "lib", draft / "lib")
        return
    jar = spec.folder.parent / "app.jar"
    argv: list[str | Path] = [java.runtime_java(), "-Djarmode=tools", "-jar", jar, "extract"]
    argv += ["--force", "--destination", draft]
    with guarded(argv, cwd=paths.APPS, env=plain_environment()) as running:
        said = list(running.lines())
        code = running.wait()
    if code != 0 or not (draft / "app.jar").is_file():
        raise BuildError(
            f"The jar of {spec.name} could not be unpacked.",
            found="; ".join(said[-2:]) or "no app.jar came out of it",
            tip="check that the disk has room, and run `waitlab build --force`.",
        )


def _key(spec: AppSpec) -> str:
    """A hash over all that a built app depends on."""
    digest = hashlib.sha256()
    for file in _sources(spec):
        digest.update(f"{file.relative_to(paths.APPS)}\n".encode())
        digest.update(hashlib.sha256(file.read_bytes()).digest())
    release = (java.java_home() / "release").read_bytes()
    digest.update(repr((FORMAT, release, jvm_flags(spec, {}))).encode())
    return digest.hexdigest()


def _sources(spec: AppSpec) -> Iterable[Path]:
    """The poms and main sources of an app and of what it shares, in a fixed order."""
    modules = [paths.APPS / "shared", spec.source]
    poms = [paths.APPS / "pom.xml", *(module / "pom.xml" for module in modules)]
    files = (file for module in modules for file in (module / "src" / "main").rglob("*") if file.is_file())
    return [*poms, *sorted(files)]


def _parts(folder: Path) -> dict[str, list[int]]:
    """What tells that a built app was not touched: Java refuses its cache for another jar, and dies of a broken one."""
    library = [file.stat().st_size for file in (folder / "lib").glob("*")]
    return {
        "jar": _identity(folder / "app.jar"),
        "aot": [number for file in sorted(folder.glob("*.aot")) for number in _identity(file)],
        "lib": [len(library), sum(library)],
    }


def _identity(file: Path) -> list[int]:
    """Size and time of a file."""
    found = file.stat()
    return [found.st_size, found.st_mtime_ns]


def _forget_classes() -> None:
    for folder in paths.APPS.glob("*/target"):
        for part in ("classes", "maven-status", "lib"):
            shutil.rmtree(folder / part, ignore_errors=True)


def _log(name: str) -> Path:
    return paths.APPS / "target" / f"{name}.log"
