"""The training run: an app serves real requests once, and Java keeps what it learnt for later starts.

The JVM writes the classes it loaded and linked, and where time was spent, to app.aot beside app.jar. It
can use that file only if the jar is the same, and the flags choose the same collector: so both runs take
their flags from the table of apps.
"""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from waitlab.controls import Settings
from waitlab.errors import BuildError, ServiceError
from waitlab.services import java, state
from waitlab.services.apps import AppSpec, jvm_flags
from waitlab.services.caches import caches
from waitlab.services.folders import Say
from waitlab.services.link import Link
from waitlab.services.machine import plain_environment
from waitlab.services.postgres import HOST, NAME, USER, Postgres
from waitlab.services.processes import send
from waitlab.services.training_paths import DATABASE_PATHS, PATHS, stand_in

if TYPE_CHECKING:
    import httpx

ROUNDS = 40
"""How often each path is asked for, half of the times on a new connection."""

_START_S = 60.0
_END_S = 120.0
_SERVICE = "training"


def train(spec: AppSpec, folder: Path, postgres_home: Path, say: Say) -> None:
    """Writes the app's AOT caches in `folder`, which holds app.jar and lib/; BuildError if one cannot be written."""
    for cache, settings in caches(spec).items():
        _train(spec, folder, postgres_home, say, cache, settings)


def _train(spec: AppSpec, folder: Path, home: Path, say: Say, cache: str, settings: Settings) -> None:
    """One training run with these settings, and its cache."""
    with _supervised() as (link, lab), stand_in() as api:
        database = _database(link, lab, home, say)
        port_file, token = lab / "work" / "port", secrets.token_hex(16)
        environment = {
            **plain_environment(),
            "API_URL": api,
            "LAB_PORT": "0",
            "LAB_PORT_FILE": str(port_file),
            "SPRING_CONFIG_IMPORT": f"file:{_secrets_file(lab, token, database)}",
        }
        log = lab / "logs" / f"{_SERVICE}.log"
        command = [java.runtime_java(), f"-XX:AOTCacheOutput={cache}", *jvm_flags(spec, settings), "-jar", "app.jar"]
        argv = [str(part) for part in command]
        link.start(_SERVICE, argv=argv, cwd=str(folder), env=environment, log=str(log))
        for url in _urls(_port(link, port_file, log, spec.name)):
            _drive(url, _paths(spec, settings, with_database=database is not None), token)
        _end(link, spec.name)
        _verify(spec, folder, cache, settings, state.tail(log))


def _paths(spec: AppSpec, settings: Settings, *, with_database: bool) -> list[str]:
    """What the app is asked for with these settings."""
    tables = (PATHS, DATABASE_PATHS) if with_database else (PATHS,)
    return [path for table in tables for name in (spec.name, *settings) for path in table[name]]


@contextmanager
def _supervised() -> Iterator[tuple[Link, Path]]:
    """A supervisor for this run, with its folder; both are gone afterwards."""
    lab = state.new_folder()
    link = Link(lab)
    try:
        yield link, lab
    finally:
        link.close()
        link.gone()


def _database(link: Link, lab: Path, home: Path, say: Say) -> Postgres | None:
    """A PostgreSQL for the training run; None, with a word, if none can be started."""
    database = Postgres(link, lab, home, plain_environment())
    try:
        database.ensure()
    except ServiceError as problem:
        say(f"Training without a database, so first queries will be slower: {problem.what}")
        return None
    return database


def _secrets_file(lab: Path, token: str, database: Postgres | None) -> Path:
    """The app's own file: the token, and where the database is."""
    values: Mapping[str, object] = {"token": token}
    if database is not None:
        where = {"host": HOST, "port": database.port, "name": NAME}
        who = {"user": USER, "password": database.password}
        values = {**values, **{f"db.{name}": value for name, value in {**where, **who}.items()}}
    file = lab / "secrets" / f"{_SERVICE}.properties"
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as handle:
        handle.writelines(f"lab.{name}={value}\n" for name, value in values.items())
    return file


def _port(link: Link, port_file: Path, log: Path, name: str) -> int:
    """Waits until the app has bound its port; BuildError with its last words if it ends before."""
    end = time.monotonic() + _START_S
    while time.monotonic() < end:
        if port_file.exists():
            return int(port_file.read_text(encoding="ascii"))
        child = link.child(_SERVICE)
        if child is None or not child.running:
            break
        link.wait(0.02)
    raise BuildError(
        f"The app {name} was built, but did not start for its training run.",
        found="; ".join(state.tail(log, 4)) or f"no word from it within {_START_S:g} s",
        tip="run `waitlab build --force`.",
    )


def _end(link: Link, name: str) -> None:
    """Ends the app in peace: it writes app.aot as it goes, which takes seconds. A dead owner grants it none."""
    child = link.child(_SERVICE)
    if child is not None:
        send(child.pid, signal.SIGTERM)
    end = time.monotonic() + _END_S
    while child is not None and child.running:
        if time.monotonic() > end:
            raise BuildError(
                f"The training run of {name} did not end within {_END_S:g} s.",
                found="Java is still writing what it learnt",
                tip="look at the machine's load and disk, and run `waitlab build` again.",
            )
        link.wait(0.2)
        child = link.child(_SERVICE)


def _urls(port: int) -> list[str]:
    """Where the app answers: at its port, and where it has one, at the port with virtual threads."""
    with _client(f"http://{HOST}:{port}") as client:
        found = _get(client, "/settings").json().get("virtual_port")
    return [f"http://{HOST}:{one}" for one in (port, found) if one]


def _drive(url: str, paths: Sequence[str], token: str) -> None:
    """Asks for everything a chapter asks for, on kept and on new connections."""
    ours = {"X-Lab-Token": token}
    with _client(url) as kept, _client(url, headers={"Connection": "close"}) as new:
        if "/queues" in paths:
            kept.delete("/queues", headers=ours)
        for client in (kept, new) * (ROUNDS // 2):
            for path in paths:
                _get(client, path)
        change = {"jdbc_pool_size": kept.get("/settings").json().get("jdbc_pool_size", 10)}
        kept.put("/settings", headers=ours, json=change)


def _client(url: str, **options: Any) -> httpx.Client:
    import httpx

    return httpx.Client(base_url=url, timeout=20, trust_env=False, **options)


def _get(client: httpx.Client, path: str) -> httpx.Response:
    """One request, answered whatever the status; BuildError if the app does not answer."""
    import httpx

    try:
        return client.get(path)
    except httpx.HTTPError as problem:
        raise BuildError(
            f"The app was built, but did not answer GET {path} in its training run.",
            found=str(problem) or type(problem).__name__,
            tip="run `waitlab build --force`.",
        ) from problem


def _verify(spec: AppSpec, folder: Path, cache: str, settings: Settings, said: list[str]) -> None:
    """Proves that Java would use the cache with the flags of a real start."""
    flags = [f"-XX:AOTCache={cache}", "-XX:AOTMode=on", *jvm_flags(spec, settings)]
    argv: list[str | Path] = [java.runtime_java(), *flags, "-cp", "app.jar", "-version"]
    tried = subprocess.run(
        argv, cwd=folder, env=plain_environment(), capture_output=True, text=True, timeout=60, check=False
    )
    if tried.returncode != 0:
        words = [line for line in (*said, *tried.stdout.splitlines()) if "error" in line.lower()]
        raise BuildError(
            f"Java could not keep what the training run of {spec.name} taught it ({cache}).",
            found="; ".join(words[:2])[:300] or "no file that it can use",
            tip="free some disk (100 MB are needed) and run `waitlab build` again.",
        )
