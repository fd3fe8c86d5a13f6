"""Fetching one artifact from the Maven repository, checked against the hash that we know it by."""

from __future__ import annotations

import errno
import hashlib
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from waitlab import paths
from waitlab.errors import BuildError
from waitlab.services.folders import Say

_BUNDLES = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")
_TIMEOUT_S = 30


@dataclass(frozen=True)
class Artifact:
    """What is fetched: its coordinates, what a reader calls it, its size (MB) and its SHA-256."""

    title: str
    group: str
    name: str
    version: str
    packaging: str
    megabytes: int
    sha256: str
    classifier: str = ""


@contextmanager
def fetched(artifact: Artifact, say: Say) -> Iterator[Path]:
    """Yields the downloaded, verified file, which is deleted afterwards; BuildError in a sentence."""
    say(f"Fetching {artifact.title} ({artifact.megabytes} MB)")
    try:
        with tempfile.TemporaryDirectory(prefix="fetch-", dir=paths.cache()) as folder:
            file = _download(artifact, Path(folder))
            _verify(artifact, file)
            yield file
    except OSError as problem:
        raise disk_error(problem, f"{artifact.title} could not be stored.") from problem


def certificate_bundle() -> Path | None:
    """The file of certificates that the reader's environment names, for a proxy with its own."""
    named = (os.environ.get(name) for name in _BUNDLES)
    return next((Path(name) for name in named if name and Path(name).is_file()), None)


def disk_error(problem: OSError, what: str) -> BuildError:
    """A full disk, or whatever else the file system refused, as a sentence."""
    full = problem.errno in (errno.ENOSPC, errno.EDQUOT)
    return BuildError(
        what,
        found="the disk is full" if full else str(problem),
        tip=f"free some space in {paths.cache()}, or set WAITLAB_CACHE to a folder elsewhere.",
    )


def network_error(title: str, found: str) -> BuildError:
    """Nobody answered while `title` was being fetched."""
    return BuildError(
        f"{title} could not be fetched: the network did not answer.",
        found=found,
        tip="connect to the network (behind a proxy, set HTTPS_PROXY) and run `waitlab build` again.",
    )


def certificate_error(title: str, found: str) -> BuildError:
    """A proxy presents a certificate that is not known here."""
    return BuildError(
        f"{title} could not be fetched: the certificate of the other side is not trusted here.",
        found=found,
        tip="set SSL_CERT_FILE to the bundle with your proxy's certificate, and run `waitlab build` again.",
    )


def _download(artifact: Artifact, folder: Path) -> Path:
    """Downloads through jgo into `folder`, with the failures of the network told apart."""
    import requests
    from jgo.maven import MavenContext

    try:
        with _bundle_for_requests():
            context = MavenContext(repo_cache=folder, timeout=_TIMEOUT_S)
            component = context.project(artifact.group, artifact.name).at_version(artifact.version)
            return component.artifact(classifier=artifact.classifier, packaging=artifact.packaging).resolve()
    except requests.exceptions.SSLError as problem:
        raise certificate_error(artifact.title, _short(problem)) from problem
    except requests.exceptions.RequestException as problem:
        raise network_error(artifact.title, _short(problem)) from problem
    except RuntimeError as problem:
        raise network_error(artifact.title, "the repository does not offer it from here") from problem


@contextmanager
def _bundle_for_requests() -> Iterator[None]:
    """requests reads its own variable only: lend it the one that is set."""
    bundle = certificate_bundle()
    if bundle is None or os.environ.get("REQUESTS_CA_BUNDLE"):
        yield
        return
    os.environ["REQUESTS_CA_BUNDLE"] = str(bundle)
    try:
        yield
    finally:
        del os.environ["REQUESTS_CA_BUNDLE"]


def _verify(artifact: Artifact, file: Path) -> None:
    with file.open("rb") as handle:
        found = hashlib.file_digest(handle, "sha256").hexdigest()
    if found != artifact.sha256:
        raise BuildError(
            f"{artifact.title} arrived damaged, and was thrown away.",
            found=f"{file.stat().st_size / 1e6:.1f} MB with SHA-256 {found[:12]}, not {artifact.sha256[:12]}",
            tip="run `waitlab build` again.",
        )


def _short(problem: BaseException) -> str:
    """The innermost reason, in at most 160 characters."""
    while problem.__cause__ or problem.__context__:
        problem = problem.__cause__ or problem.__context__  # type: ignore[assignment]
    text = str(problem) or type(problem).__name__
    return text if len(text) <= 160 else f"{text[:157]}..."
