"""The images of the lab: what they are built on, whether they are here or can be had, and building them.

    bases()             official images, or stand-ins of other names where those are here instead
    ensure()            builds what is missing, with progress; the tag says what an image was made from
    cannot_be_had()     why there are no images and cannot be any, as half a sentence

An image is named after the contents it was made from, so that two clones, or two states of one, never
mistake each other's images for their own.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from waitlab import paths
from waitlab.errors import BuildError
from waitlab.services import docker_api
from waitlab.services.folders import Say, locked

if TYPE_CHECKING:
    from waitlab.services.docker_probe import DockerFacts

OFFICIAL = {
    "JAVA_IMAGE": "eclipse-temurin:25-jdk",
    "POSTGRES_IMAGE": "postgres:17",
    "PYTHON_IMAGE": "python:3.13-slim",
}
STAND_INS = {
    "JAVA_IMAGE": "waitlab-standin/java:25",
    "POSTGRES_IMAGE": "waitlab-standin/postgres:17",
    "PYTHON_IMAGE": "waitlab-standin/python:3.13",
}


@dataclass(frozen=True, slots=True)
class Part:
    """One image: its name, the service of compose.yaml that builds it, its base, and what it is made from."""

    name: str
    service: str
    base: str
    made_from: tuple[str, ...]


def _app(name: str, service: str, module: str = "") -> Part:
    """The image of an app of the Maven build."""
    made_from = ("labs/apps/Dockerfile", "labs/apps/docker", f"labs/apps/{module or name}/target/app/build.json")
    return Part(f"waitlab-{name}", service, "JAVA_IMAGE", made_from)


PARTS = {
    "APP_IMAGE": _app("webflux", "app"),
    "MVC_IMAGE": _app("mvc", "mvc"),
    "PLAIN_IMAGE": _app("plain", "plain", "jvm"),
    "DB_IMAGE": Part("waitlab-db", "db", "POSTGRES_IMAGE", ("labs/db",)),
    "LOAD_IMAGE": Part(
        "waitlab-load", "load", "PYTHON_IMAGE", ("labs/waitlab/load/Dockerfile", "labs/waitlab/load/engine")
    ),
}
"""By the variable that compose.yaml reads for the image."""
SAME_IMAGE = {"cpu": "plain"}
"""Services that run the image which another one builds."""
CHAPTERS = ("app", "db", "load")
"""The services that every chapter needs."""
_LISTING_S = 10.0
_REGISTRY_S = 1.5


def ours(tag: str) -> bool:
    """Whether an image of that name has to do with the lab."""
    return tag.startswith("waitlab-") or tag in OFFICIAL.values()


def bases(present: tuple[str, ...]) -> dict[str, str]:
    """The images to build on: as the environment says, else the official ones, else stand-ins that are here."""
    return {name: os.environ.get(name) or _base(name, present) for name in OFFICIAL}


def names(on: Mapping[str, str]) -> dict[str, str]:
    """The images to run, by the variable that compose.yaml reads."""
    return {
        name: os.environ.get(name) or f"{part.name}:{_key(on[part.base], part.made_from)}"
        for name, part in PARTS.items()
    }


def runnable(present: Sequence[str]) -> list[str]:
    """The images of the chapters that are here, as the lab would run them now."""
    tags = names(bases(tuple(present)))
    return [tags[name] for name, part in PARTS.items() if part.service in CHAPTERS and tags[name] in present]


def ensure(found: DockerFacts, services: Sequence[str], say: Say) -> dict[str, str]:
    """The names of the images, with those of `services` here, built if they were not; BuildError in a sentence."""
    on = bases(found.images)
    tags = names(on)
    builders = {SAME_IMAGE.get(service, service) for service in services}
    wanted = {name: tags[name] for name, part in PARTS.items() if part.service in builders}
    if set(wanted.values()) <= set(found.images):
        return tags
    with locked(paths.cache() / "images.lock", waiting="Waiting for another build of the images", say=say):
        present = _present(found.host)
        missing = [PARTS[name].service for name, tag in wanted.items() if tag not in present]
        if missing:
            _build(found, missing, {**on, **tags}, say)
            _remove_older(set(tags.values()), found.host)
    return tags


def cannot_be_had(found: DockerFacts, within_s: float) -> str:
    """Why the chapters' images are not here and cannot be built, as half a sentence; "" where they are or can be."""
    on = bases(found.images)
    tags = names(on)
    parts = {tags[name]: part for name, part in PARTS.items() if part.service in CHAPTERS}
    missing = [part for tag, part in parts.items() if tag not in found.images]
    if not all(map(_built, missing)):
        return "the app is not built yet, so no image can be made of it (`waitlab build`)"
    absent = [on[part.base] for part in missing if on[part.base] not in found.images]
    if not absent or _registry_answers(absent[0], min(within_s, _REGISTRY_S)):
        return ""
    return f"the image {absent[0]} is not here, and no registry answers"


def _built(part: Part) -> bool:
    """Whether everything is there that an image is made from."""
    return all((paths.ROOT / name).exists() for name in part.made_from)


def _base(name: str, present: tuple[str, ...]) -> str:
    stands_in = OFFICIAL[name] not in present and STAND_INS[name] in present
    return STAND_INS[name] if stands_in else OFFICIAL[name]


def _key(base: str, made_from: tuple[str, ...]) -> str:
    """A hash over what an image is made from."""
    digest = hashlib.sha256(base.encode())
    for file in _files(made_from):
        digest.update(f"\n{file.relative_to(paths.ROOT)}\n".encode())
        digest.update(_content(file))
    return digest.hexdigest()[:12]


def _content(file: Path) -> bytes:
    """What counts of a file: of a build its source, since two builds of one source differ in their dates."""
    content = file.read_bytes()
    return str(json.loads(content)["key"]).encode() if file.name == "build.json" else content


def _files(made_from: tuple[str, ...]) -> Iterator[Path]:
    for name in made_from:
        path = paths.ROOT / name
        inside = sorted(path.rglob("*")) if path.is_dir() else [path]
        yield from (file for file in inside if file.is_file() and "__pycache__" not in file.parts)


def _present(host: str) -> set[str]:
    listed = docker_api.get(host, "/images/json", _LISTING_S)
    return {tag for image in listed for tag in image.get("RepoTags") or ()}


def _registry_answers(image: str, within_s: float) -> bool:
    """Whether the registry of that image knows it, asked without fetching anything."""
    asked = ["docker", "manifest", "inspect", image]
    try:
        return subprocess.run(asked, capture_output=True, timeout=max(0.1, within_s), check=False).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def _build(found: DockerFacts, services: list[str], variables: Mapping[str, str], say: Say) -> None:
    """Runs `docker compose build` for the missing ones, with its steps told as they come."""
    from waitlab.services.docker_progress import Steps
    from waitlab.services.guarded import guarded

    unbuilt = [part.service for part in PARTS.values() if part.service in services and not _built(part)]
    if unbuilt:
        raise BuildError(f"The image of {unbuilt[0]} cannot be made: it is not built yet.", tip="waitlab build")
    command = ["docker", "compose", "--progress", "plain", "build", *services]
    steps = Steps(services, say)
    environment = {**os.environ, **variables, "CLONE": clone(), "DOCKER_HOST": found.host}
    with guarded(command, cwd=paths.ROOT, env=environment) as running:
        for line in running.lines():
            steps.take(line)
        if running.wait() != 0:
            raise BuildError(
                f"The image of {', '.join(services)} could not be built.",
                found=steps.complaint,
                tip="look at the network and the disk (`docker system df`), or use --runtime embedded.",
            )


def clone() -> str:
    """This clone, as its images name it."""
    return hashlib.sha256(str(paths.ROOT).encode()).hexdigest()[:12]


def _remove_older(wanted: set[str], host: str) -> None:
    """Removes images of this clone that were made from what it was before; those in use stay."""
    label = docker_api.get(host, f'/images/json?filters={{"label":["waitlab.clone={clone()}"]}}', _LISTING_S)
    tags = [tag for image in label for tag in image.get("RepoTags") or ()]
    old = [tag for tag in tags if tag not in wanted and not tag.endswith(":1")]
    if old:
        subprocess.run(["docker", "image", "rm", *old], capture_output=True, check=False)
