"""Experiments on the plain JVM: a main of the jar in labs/apps/jvm, run once, that prints one JSON object a line.

    Lab.run_main()      a child of ours that ends with us (embedded), a process in plain's container (Docker)
    command()           the JVM's command line, here
    run()               the child from its start to its end, and what it printed

What a main prints that is no JSON object is its complaint, and is told where it fails. A main that runs out of heap
exits at once, and one that takes longer than it may is killed: both are MainEnded, with what was printed by then.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from waitlab import paths
from waitlab.controls import Value
from waitlab.errors import BuildError, MainEnded, ServiceDied
from waitlab.services import apps, java
from waitlab.services.app import app_files
from waitlab.services.guarded import Guarded, guarded
from waitlab.services.machine import plain_environment

Line = dict[str, Any]
Told = Callable[[Line], None]

HEAP_MB = 384
STOP_S = 0.05
GRACE_S = 1.0
DATABASE_FILE = "LAB_DB_FILE"
"""The variable that names the file with the database's place and password."""
OUT_OF_MEMORY, WALL_LIMIT = "out_of_memory", "wall_limit"
_OUT_OF_MEMORY_CODE = 3
_EXACT = ("-XX:TLABSize=2k", "-XX:MinTLABSize=2k", "-XX:-ResizeTLAB")
_FLAGS = ("-XX:+ExitOnOutOfMemoryError", "-XX:-UsePerfData", "-Dfile.encoding=UTF-8")


@dataclass(frozen=True, slots=True)
class Main:
    """How a main is run: its command line, in which folder and environment. `held`: it is far away, and ends when its
    stdin does.
    """

    argv: list[str]
    cwd: Path
    env: Mapping[str, str]
    held: bool = False


def here(name: str, options: Mapping[str, Value], heap_mb: int | None = None, **variables: str) -> Main:
    """The main of that name as a child of this process; BuildError where it is not built."""
    return Main(command(name, options, heap_mb), folder(), {**plain_environment(), **variables})


def command(name: str, options: Mapping[str, Value], heap_mb: int | None = None) -> list[str]:
    """The command line of the main of that name; BuildError where it is not built. To be run in `folder()`."""
    jar, cache = app_files(apps.PLAIN)
    if not jar.is_file():
        what = "The experiments on the plain JVM are not built yet."
        raise BuildError(what, found=f"no {jar.name}", tip="waitlab build")
    cached = [f"-XX:AOTCache={cache.name}"] if cache.is_file() else []
    return [str(java.runtime_java()), *jvm_flags(heap_mb), *cached, "-jar", jar.name, *arguments(name, options)]


def jvm_flags(heap_mb: int | None = None) -> list[str]:
    """The JVM's flags: the collector of the servers, so that their cache serves here too.

    Where a heap is asked for, that is what is looked at: then threads reserve next to nothing of it in advance.
    """
    exact = () if heap_mb is None else _EXACT
    return [f"-Xmx{heap_mb or HEAP_MB}m", f"-XX:+Use{apps.PLAIN.collector}", *_FLAGS, *exact]


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
    wall_s: float | None = None,
    held: bool = False,
) -> list[Line]:
    """Runs a main to its end; the objects it printed, in order. It ends with this process, however that ends.

    Raises KeyboardInterrupt where `stop` was set before its end, MainEnded where it ran out of memory or took longer
    than `wall_s`, ServiceDied where it failed.
    """
    found: list[Line] = []
    talk: list[str] = []
    with guarded(argv, cwd=cwd or paths.ROOT, env=env or plain_environment(), grace_s=GRACE_S, held=held) as child:
        with _ended_by(stop, wall_s, child) as late:
            _take(child, found, talk, told)
        code = child.wait(10)
    if stop is not None and stop.is_set():
        raise KeyboardInterrupt
    if late.is_set():
        raise _ended(name, WALL_LIMIT, found, f"not done after {wall_s:g} s, so it was killed")
    if code == _OUT_OF_MEMORY_CODE and any("OutOfMemoryError" in text for text in talk):
        raise _ended(name, OUT_OF_MEMORY, found, "java.lang.OutOfMemoryError, at which it exits")
    if code != 0:
        raise ServiceDied(
            f"The experiment {name} on the plain JVM failed.",
            found="; ".join(_said(talk)[-3:]) or f"exit code {code}",
            tip="run the cell again; if it fails again, `waitlab build`.",
        )
    return found


def _take(child: Guarded, found: list[Line], talk: list[str], told: Told | None) -> None:
    """Takes in what the child prints, to its end: objects are found, and told; all else is talk."""
    for text in child.lines():
        line = _parsed(text)
        if line is None:
            talk.append(text)
            continue
        found.append(line)
        if told:
            told(line)


def _said(talk: list[str]) -> list[str]:
    """What was said in words: without the lines of stack traces, which are indented."""
    return [line for line in talk if line.strip() and not line[0].isspace()]


def _ended(name: str, how: str, lines: list[Line], found: str) -> MainEnded:
    what = f"The experiment {name} on the plain JVM did not come to its end."
    return MainEnded(what, how=how, lines=lines, found=found, tip="a larger heap, or a smaller crowd.")


@contextmanager
def _ended_by(stop: threading.Event | None, wall_s: float | None, child: Guarded) -> Iterator[threading.Event]:
    """While the block runs, ends the child as soon as `stop` is set or its time is over; tells whether it was late."""
    over, late = threading.Event(), threading.Event()
    end = time.monotonic() + (wall_s if wall_s is not None else float("inf"))

    def watch() -> None:
        while not over.wait(STOP_S):
            if time.monotonic() > end:
                late.set()
            if late.is_set() or (stop is not None and stop.is_set()):
                child.stop()
                return

    watcher = threading.Thread(target=watch, name="waitlab-main", daemon=True)
    watcher.start()
    try:
        yield late
    finally:
        over.set()
        watcher.join()


def _parsed(text: str) -> Line | None:
    try:
        line = json.loads(text)
    except ValueError:
        return None
    return line if isinstance(line, dict) else None
