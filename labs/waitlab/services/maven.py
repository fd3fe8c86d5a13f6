"""Maven without an installer: the system's if it is new enough, else one fetched into the cache.

Maven is started as a Java program, without its shell script: no PATH, no quoting, any folder name.
"""

from __future__ import annotations

import os
import pwd
import re
import shlex
import shutil
import tarfile
import tempfile
import zipfile
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from waitlab import paths
from waitlab.errors import BuildError
from waitlab.services import java
from waitlab.services.fetching import Artifact, disk_error, fetched
from waitlab.services.folders import Say, locked, readable_by_all, remove_drafts, unpack, whole_folder
from waitlab.services.guarded import guarded
from waitlab.services.maven_output import Progress, diagnose
from waitlab.services.proxies import proxy_options
from waitlab.services.trust import trust_options

_FETCHED = Artifact(
    "Maven 3.9",
    "org.apache.maven",
    "apache-maven",
    "3.9.16",
    "tar.gz",
    9,
    "80ffca22aed9e8b9713a232f3394fd81d7f20322df75efdb2b047dbd3e3a23bb",
    classifier="bin",
)
_LAUNCHER = "org.codehaus.plexus.classworlds.launcher.Launcher"
_FIXED = ("--batch-mode", "--update-snapshots", "-Dstyle.color=never")


@dataclass(frozen=True)
class Maven:
    """A Maven installation: its home folder, its version, and whether it is the system's."""

    home: Path
    version: str
    system: bool


def find_maven() -> Maven | None:
    """The system's Maven if it is new enough, else the one in the cache, else None; starts nothing."""
    fetched_home = paths.cache() / "maven" / _FETCHED.version
    ours = Maven(fetched_home, _FETCHED.version, system=False) if fetched_home.is_dir() else None
    return _system_maven() or ours


def maven(say: Say = print) -> Maven:
    """A Maven to build with, fetched if need be; BuildError if that cannot be done."""
    return find_maven() or _install(say)


def run_maven(arguments: Sequence[str], *, folder: Path, log: Path, say: Say) -> None:
    """Runs Maven in `folder`, its output in `log`; BuildError names the first thing that went wrong."""
    tool, home = maven(say), java.find_javac_home() or java.java_home()
    say(f"Running Maven {tool.version} on Java {java.java_version(home)}")
    log.parent.mkdir(parents=True, exist_ok=True)
    progress = Progress(say)
    with ExitStack() as stack:
        options = stack.enter_context(tempfile.NamedTemporaryFile("w", suffix=".options", encoding="utf-8"))
        options.write(_option_file(_options(tool, folder)))
        options.flush()
        record = stack.enter_context(log.open("w", encoding="utf-8"))
        command: list[str | Path] = [
            home / "bin" / "java",
            f"@{options.name}",
            _LAUNCHER,
            *_FIXED,
            *_repository(),
            *arguments,
        ]
        running = stack.enter_context(guarded(command, cwd=folder, env=_environment()))
        for line in running.lines():
            print(line, file=record, flush=True)
            progress.line(line)
        code = running.wait()
    if code != 0:
        raise diagnose(progress.errors, log)


def _install(say: Say) -> Maven:
    home = paths.cache() / "maven" / _FETCHED.version
    lock, waiting = paths.cache() / "maven.lock", "Waiting for another build, which is fetching Maven"
    try:
        with locked(lock, waiting=waiting, say=say):
            remove_drafts(home)
            if not home.is_dir():
                with fetched(_FETCHED, say) as archive, whole_folder(home) as draft:
                    _unpack(archive, draft)
    except OSError as problem:
        raise disk_error(problem, f"{_FETCHED.title} could not be unpacked.") from problem
    return Maven(home, _FETCHED.version, system=False)


def _unpack(archive: Path, folder: Path) -> None:
    """Unpacks the archive without its top folder."""
    with tempfile.TemporaryDirectory(prefix=".maven-", dir=folder) as inner, tarfile.open(archive) as tar:
        unpack(tar, Path(inner))
        (top,) = Path(inner).iterdir()
        for entry in top.iterdir():
            entry.rename(folder / entry.name)
    readable_by_all(folder)


def _system_maven() -> Maven | None:
    """The Maven on the PATH, if its version can be read and is one that we know.

    3.8 up to 4 with a JDK 25; without one the Eclipse compiler takes its place, which 3.8 does not find.
    """
    oldest = (3, 8) if java.find_javac_home() else (3, 9)
    command = shutil.which("mvn")
    if not command:
        return None
    top = Path(command).resolve().parents[1]
    for home in (top, top / "libexec"):
        version = _version(home)
        if oldest <= version < (4,):
            return Maven(home, ".".join(map(str, version)), system=True)
    return None


def _version(home: Path) -> tuple[int, ...]:
    """Version of the Maven in `home`, read from its core jar; empty if there is none."""
    for jar in home.glob("lib/maven-core-*.jar"):
        try:
            with zipfile.ZipFile(jar) as archive:
                text = archive.read("META-INF/maven/org.apache.maven/maven-core/pom.properties").decode()
        except (OSError, KeyError, zipfile.BadZipFile):
            continue
        found = re.search(r"^version=(\d+)\.(\d+)\.(\d+)\s*$", text, re.MULTILINE)
        if found:
            return tuple(int(number) for number in found.groups())
    return ()


def _options(tool: Maven, folder: Path) -> list[str]:
    """What Maven's own script would give to Java, with the reader's options, proxy and certificates."""
    loader = next(iter(sorted(tool.home.glob("boot/plexus-classworlds-*.jar"))), None)
    if loader is None:
        raise BuildError(
            "Maven is not complete.",
            found=f"no boot/plexus-classworlds-*.jar in {tool.home}",
            tip=f"remove {tool.home} and run `waitlab build` again.",
        )
    given = shlex.split(os.environ.get("MAVEN_OPTS", ""))
    trusted = [] if any("javax.net.ssl.trustStore=" in option for option in given) else trust_options()
    return [
        *given,
        *trusted,
        *proxy_options(os.environ),
        "-classpath",
        str(loader),
        f"-Dclassworlds.conf={tool.home / 'bin' / 'm2.conf'}",
        f"-Dmaven.home={tool.home}",
        f"-Dmaven.multiModuleProjectDirectory={folder}",
    ]


def _option_file(options: Sequence[str]) -> str:
    """Options as Java's argument files want them: one a line, quoted, backslashes doubled."""
    quoted = (option.replace("\\", "\\\\").replace('"', '\\"') for option in options)
    return "".join(f'"{option}"\n' for option in quoted)


def _repository() -> list[str]:
    """Java takes the home folder from the user database; where HOME says otherwise, HOME counts."""
    try:
        registered = Path(pwd.getpwuid(os.getuid()).pw_dir)
    except KeyError:
        registered = None
    home = Path.home()
    if registered == home and os.access(home, os.W_OK):
        return []
    usable = home.is_absolute() and os.access(home, os.W_OK)
    repository = home / ".m2" / "repository" if usable else paths.cache() / "m2"
    settings = home / ".m2" / "settings.xml"
    own = ["--settings", str(settings)] if settings.is_file() else []
    return [f"-Dmaven.repo.local={repository}", *own]


def _environment() -> dict[str, str]:
    """UTF-8 whatever the reader's locale, so that folders with accents work."""
    return {**os.environ, "LC_ALL": "C.UTF-8"}
