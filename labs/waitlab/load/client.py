"""Carries out a plan in the load engine's process and brings back its samples."""

from __future__ import annotations

import contextlib
import json
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from waitlab.errors import LoadError
from waitlab.load.plans import Plan
from waitlab.load.samples import Sample, from_row
from waitlab.load.verdict import lag_facts, sent_freely, steady_verdict

ENGINE = (sys.executable, "-m", "engine")
ENGINE_FOLDER = Path(__file__).parent
GRACE_S = 5.0  # for the engine to hand over its samples after a stop
_TICK_S = 0.05
_TIP = "the same run once more"

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class LoadResult:
    """What a plan brought: `t0` (monotonic s) is its time 0; `partial` where it was stopped before its end.

    `client` holds connections_opened, lag_p99_ms, lag_p90_ms, cpu_share, retransmits, saturated, why (the
    sentence of a void steady run), accepts_seen, idle_open, stopped and libcurl.
    """

    t0: float
    samples: tuple[Sample, ...]
    client: dict[str, Any]
    partial: bool


def run_plan(
    plan: Plan,
    *,
    argv: Sequence[str] | None = None,
    progress: Progress | None = None,
    stop: threading.Event | None = None,
) -> LoadResult:
    """Carries out `plan`; `argv` runs the engine elsewhere. LoadError where it could not be carried out.

    Setting `stop`, or an Interrupt, ends the run within a second, and the result is partial.
    """
    with _Engine(plan, argv) as engine:
        while not engine.over:
            try:
                engine.take(progress or _silent)
                if stop is not None and stop.is_set():
                    engine.stop()
            except KeyboardInterrupt:
                if engine.stopping:
                    raise
                engine.stop()
        return _result(plan, engine)


class _Engine:
    """The engine's process: the plan goes in, lines of JSON come out."""

    def __init__(self, plan: Plan, argv: Sequence[str] | None) -> None:
        self.t0 = 0.0
        self.final: dict[str, Any] = {}
        self.over = self.stopping = False
        self.process = _start(argv)
        self.lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self.talk: list[bytes] = []
        assert self.process.stdout is not None and self.process.stderr is not None
        self.reader = _reader(self.process.stdout, self.lines.put, last=b"")
        self.talker = _reader(self.process.stderr, self.talk.append)
        self._write(json.dumps(plan.to_json()))

    def __enter__(self) -> _Engine:
        return self

    def __exit__(self, *_: object) -> None:
        assert self.process.stdin is not None
        with contextlib.suppress(OSError):
            self.process.stdin.close()
        try:
            self.process.wait(GRACE_S)
        except (subprocess.TimeoutExpired, KeyboardInterrupt):
            self.process.kill()
            self.process.wait()
        self.reader.join(GRACE_S)
        self.talker.join(GRACE_S)

    def take(self, progress: Progress) -> None:
        """The next line, if there is one soon."""
        try:
            line = self.lines.get(timeout=GRACE_S if self.stopping else _TICK_S)
        except queue.Empty:
            self.over = self.stopping
            return
        message = _parse(line)
        self.t0 = message.get("started", self.t0)
        if "progress" in message:
            progress(message["progress"], message["of"])
        if not line or "samples" in message or "error" in message:
            self.final, self.over = message, True

    def stop(self) -> None:
        """Asks the engine to end now."""
        if not self.stopping:
            self.stopping = True
            self._write("stop")

    def _write(self, line: str) -> None:
        assert self.process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write(line.encode() + b"\n")
            self.process.stdin.flush()


def _start(argv: Sequence[str] | None) -> subprocess.Popen[bytes]:
    pipe = subprocess.PIPE
    folder = ENGINE_FOLDER if argv is None else None
    try:
        return subprocess.Popen(
            argv or ENGINE, stdin=pipe, stdout=pipe, stderr=pipe, cwd=folder, start_new_session=True
        )
    except OSError as error:
        what = "The load engine could not be started."
        raise LoadError(what, found=str(error), tip="waitlab doctor") from error


def _reader(pipe: IO[bytes], put: Callable[[bytes], None], last: bytes | None = None) -> threading.Thread:
    def read() -> None:
        with pipe:
            for line in pipe:
                put(line)
        if last is not None:
            put(last)

    thread = threading.Thread(target=read, daemon=True)
    thread.start()
    return thread


def _parse(line: bytes) -> dict[str, Any]:
    try:
        message = json.loads(line)
    except ValueError:
        return {}
    return message if isinstance(message, dict) else {}


def _result(plan: Plan, engine: _Engine) -> LoadResult:
    if "error" in engine.final:
        what, found, tip = engine.final["error"]
        raise LoadError(what, found=found, tip=tip)
    if "samples" not in engine.final:
        raise _died(engine)
    samples = tuple(from_row(row) for row in engine.final["samples"])
    facts = engine.final["done"]
    client = {**facts, **lag_facts(samples), "saturated": False, "why": ""}
    if plan.kind == "steady":
        verdict = steady_verdict(_sent_freely(plan, samples), facts["cpu_share"])
        client |= {"saturated": verdict.void, "why": verdict.why}
    return LoadResult(engine.t0, samples, client, partial=bool(facts["stopped"]))


def _sent_freely(plan: Plan, samples: tuple[Sample, ...]) -> list[Sample]:
    kept = {stream.name: stream.connections for stream in plan.streams}
    by_name = {name: [s for s in samples if s.series == name] for name in kept}
    return [s for name, own in by_name.items() for s in sent_freely(own, kept[name])]


def _died(engine: _Engine) -> LoadError:
    with contextlib.suppress(subprocess.TimeoutExpired):
        engine.process.wait(1.0)
    engine.talker.join(1.0)
    code = engine.process.poll()
    last = b" ".join(engine.talk[-3:]).decode(errors="replace").strip()
    state = "it did not answer" if code is None else f"it ended with exit code {code}"
    what = "The load engine ended in the middle of the run."
    return LoadError(what, found=f"{state} {last}".strip(), tip=_TIP)


def _silent(_done: int, _of: int) -> None:
    """Progress that nobody follows."""
