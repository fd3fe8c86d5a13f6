"""Experiments on the plain JVM: a main of the jar in labs/apps/jvm, run once, that prints one JSON object a line.

    Lab.run_main()      a child of ours that ends with us (embedded), a process in plain's container (Docker)
    command()           the JVM's command line, here
    run()               the child from its start to its end, and what it printed

What a main prints that is no JSON object is its complaint, and is told where it fails.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from waitlab import paths
from waitlab.controls import Value
from waitlab.errors import BuildError, ServiceDied
from waitlab.services import apps, java
from waitlab.services.app import app_files
from waitlab.services.guarded import Guarded, guarded
from waitlab.services.machine import plain_environment

Line = dict[str, Any]
Told = Callable[[Line], None]

HEAP_MB = 384
STOP_S = 0.05
_FLAGS = ("-XX:-UsePerfData", "-Dfile.encoding=UTF-8")


def command(name: str, options: Mapping[str, Value], heap_mb: int = HEAP_MB) -> list[str]:
    """The command line of the main of that name; BuildError where it is not built. To be run in `folder()`."""
    jar, cache = app_files(apps.PLAIN)
    if not jar.is_file():
        what = "The experiments on the plain JVM are not built yet."
        raise BuildError(what, found=f"no {jar.name}", tip="waitlab build")
    cached = [f"-XX:AOTCache={cache.name}"] if cache.is_file() else []
    return [str(java.runtime_java()), *jvm_flags(heap_mb), *cached, "-jar", jar.name, *arguments(name, options)]


def jvm_flags(heap_mb: int = HEAP_MB) -> list[str]:
    """The JVM's flags: the collector of the servers, so that their cache serves here too."""
    return [f"-Xmx{heap_mb}m", f"-XX:+Use{apps.PLAIN.collector}", *_FLAGS]


def arguments(name: str, options: Mapping[str, Value]) -> list[str]:
    """What the main is told: its name, then pairs."""
    return [name, *(word for option, value in options.items() for word in (f"--{option}", str(value)))]


def folder() -> Path:
    """The folder in which the command is run."""
    return apps.PLAIN.folder


def run(
    argv: Sequence[str],
    *,
    name: str,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    stop: threading.Event | None = None,
    told: Told | None = None,
) -> list[Line]:
    """Runs a main to its end; the objects it printed, in order. It ends with this process, however that ends.

    Raises KeyboardInterrupt where `stop` was set before its end, ServiceDied where it failed.
    """
    found: list[Line] = []
    talk: list[str] = []
    with guarded(argv, cwd=cwd or paths.ROOT, env=env or plain_environment(), grace_s=1) as child:
        with _stopped_by(stop, child):
            for text in child.lines():
                line = _parsed(text)
                if line is None:
                    talk.append(text)
                    continue
                found.append(line)
                if told:
                    told(line)
        code = child.wait(10)
    if stop is not None and stop.is_set():
        raise KeyboardInterrupt
    if code != 0:
        raise ServiceDied(
            f"The experiment {name} on the plain JVM failed.",
            found="; ".join(talk[-3:]) or f"exit code {code}",
            tip="run the cell again; if it fails again, `waitlab build`.",
        )
    return found


@contextmanager
def _stopped_by(stop: threading.Event | None, child: Guarded) -> Iterator[None]:
    """While the block runs, ends the child as soon as `stop` is set."""
    over = threading.Event()

    def watch() -> None:
        while stop is not None and not over.wait(STOP_S):
            if stop.is_set():
                child.stop()
                return

    watcher = threading.Thread(target=watch, name="waitlab-main", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()


def _parsed(text: str) -> Line | None:
    try:
        line = json.loads(text)
    except ValueError:
        return None
    return line if isinstance(line, dict) else None
