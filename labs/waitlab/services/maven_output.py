"""What Maven prints, read for a person: how far it is, and the one thing that went wrong."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from pathlib import Path

from waitlab import paths
from waitlab.errors import BuildError
from waitlab.services.fetching import certificate_error, network_error
from waitlab.services.folders import Say

_EVERY_S = 3.0
_MODULE = re.compile(r"^\[INFO\] Building (?!jar)(\S.*?) \d\S*(?:\s+\[\d+/\d+\])?$")
_DOWNLOAD = re.compile(r"^(?:\[INFO\] )?Downloaded from \S+ \S+ \(([\d.]+) (B|kB|MB)")
_COMPILER = re.compile(r"^\[ERROR\] (/.+\.java):\[(\d+)(?:,\d+)?\] (.+)$")
_WANTED = re.compile(r"(?:artifact|artifacts could not be resolved:|descriptor for) ([\w.-]+:[\w.:-]+)")
_MEGABYTES = {"B": 1e-6, "kB": 1e-3, "MB": 1.0}
_CERTIFICATE = ("PKIX path", "valid certification path", "SSLHandshakeException", "certificate_unknown")
_NETWORK = (
    "Could not transfer",
    "UnknownHost",
    "Unknown host",
    "Connection refused",
    "Connect timed out",
    "Network is unreachable",
    "Could not find artifact",
    "was not found in",
)


class Progress:
    """Says every few seconds how much was downloaded, and each module as it is compiled."""

    def __init__(self, say: Say) -> None:
        self._say = say
        self._files = 0
        self._megabytes = 0.0
        self._said_at = time.monotonic()
        self.errors: list[str] = []

    def line(self, text: str) -> None:
        """Takes one line of Maven's output."""
        if text.startswith(("[ERROR]", "[FATAL]")) or "Exception" in text or "Error:" in text:
            self.errors.append(text)
        module = _MODULE.match(text)
        download = _DOWNLOAD.match(text)
        if module:
            self._say(f"Building {module.group(1)}")
        elif download:
            self._downloaded(float(download.group(1)) * _MEGABYTES[download.group(2)])

    def _downloaded(self, megabytes: float) -> None:
        self._files += 1
        self._megabytes += megabytes
        now = time.monotonic()
        if now - self._said_at >= _EVERY_S:
            self._said_at = now
            files = "1 file" if self._files == 1 else f"{self._files} files"
            self._say(f"Downloading libraries: {files}, {self._megabytes:.0f} MB so far")


def diagnose(errors: Sequence[str], log: Path) -> BuildError:
    """The BuildError for a failed build, from the error lines that Maven printed."""
    text = "\n".join(errors)
    compiler = next((found for found in map(_COMPILER.match, errors) if found), None)
    if compiler:
        return _compile_error(compiler, log)
    if "No space left on device" in text or "Disk quota exceeded" in text:
        return BuildError(
            "The servers could not be built: the disk is full.",
            found=f"no space left in {paths.APPS} or in Maven's repository",
            tip="free some space and run `waitlab build` again.",
        )
    if "UnsupportedClassVersionError" in text or "release version 25 not supported" in text:
        return BuildError(
            "The servers could not be built: this Java is not the one they need.",
            found=_first(errors),
            tip="unset JAVA_HOME, or let it name a JDK 25.",
        )
    return _fetch_error(errors, text) or _other_error(errors, log)


def _compile_error(found: re.Match[str], log: Path) -> BuildError:
    path, line, message = Path(found[1]), found[2], found[3]
    shown = path.relative_to(paths.APPS) if path.is_relative_to(paths.APPS) else path
    return BuildError(
        "The servers do not compile.",
        found=f"{shown}, line {line}: {message}",
        tip=f"mend that line and run `waitlab build` again; the compiler's words are in {log}.",
    )


def _fetch_error(errors: Sequence[str], text: str) -> BuildError | None:
    wanted = _WANTED.search(text)
    title = wanted.group(1).rstrip(":.") if wanted else "A library of the servers"
    if any(sign in text for sign in _CERTIFICATE):
        return certificate_error(title, "Java does not know who signed it")
    if any(sign in text for sign in _NETWORK):
        return network_error(title, _reason(text) or _first(errors))
    return None


def _other_error(errors: Sequence[str], log: Path) -> BuildError:
    return BuildError(
        "The servers could not be built.",
        found=_first(errors) or "Maven ended without a reason",
        tip=f"read {log}, and run `waitlab build` again.",
    )


def _reason(text: str) -> str:
    """The last clause of Maven's long sentence about a failed transfer, without addresses."""
    found = re.search(r"(?:from/to|in) [^\n]*?\): ([^\n]+?)(?: -> \[Help|$)", text, re.MULTILINE)
    return re.sub(r"\S+://\S+", "the repository", found.group(1))[:160] if found else ""


def _first(errors: Sequence[str]) -> str:
    """The first error line, shortened to 200 characters."""
    words = (line.removeprefix("[ERROR]").strip() for line in errors)
    return next((line[:200] for line in words if line and not line.startswith("COMPILATION ERROR")), "")
