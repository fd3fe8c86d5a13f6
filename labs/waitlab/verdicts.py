"""The decision sheet in words: what holds a crowd back, a verdict for each stack, the run that shows it, an advice.

A verdict is the first of these that is true:

    the rate is over a ceiling            cpu, connections, workers, offload pool or gate: each has its sentence
    the data stream                       a gate holds requests back, but not the items of one stream
    a limit is nearly reached             random arrivals then queue, though fewer arrive than could leave
    nothing holds a crowd back            virtual threads and R2DBC without a gate
    it fits                               below every ceiling, and something holds a crowd back

`shown_by` is a call that a reader can run as it stands.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import ceil
from typing import TYPE_CHECKING

from waitlab import models
from waitlab.predictions import show

if TYPE_CHECKING:
    from waitlab.deciding import Numbers, Row

__all__ = ["MOST_PLATFORM_THREADS", "advice", "held_back_by", "judged"]

MOST_PLATFORM_THREADS = 4_000
"""Where the machine of the published figures (Apple M1, JDK 25) made no more of them; 1.4 million virtual ones fit."""
NEARLY = 0.9
"""From this share of a limit on a queue comes and goes where requests arrive at random."""
BLOCKING = ("mvc-platform", "mvc-virtual")


def held_back_by(n: Numbers, stack: str) -> str:
    """What keeps a crowd out of the server: a gate, else a pool with its queue, else nothing."""
    if n.gate:
        return f"the gate, {n.gate:,} at once"
    if stack == "mvc-platform":
        return f"{n.pool_size:,} workers; the rest stays in their queue"
    if stack == "webflux-jdbc-offloaded":
        return f"{n.offload_pool_size:,} offload threads; the rest stays in the scheduler"
    return "the connections; the rest waits for one" if n.connections else "nothing"


def judged(row: Row, n: Numbers) -> Row:
    """The row with its verdict and with the call that shows it."""
    verdict, shown_by = _over(row, n) if row.grows_per_s else _under(row, n)
    return replace(row, verdict=verdict, shown_by=shown_by)


def advice(rows: Sequence[Row], n: Numbers) -> str:
    """One sentence over all rows: the bottleneck if it is everybody's, else where to begin."""
    platform, virtual, *_ = rows
    if all(row.grows_per_s for row in rows) and virtual.first_limit in ("cpu", "jdbc pool"):
        cpu = virtual.first_limit == "cpu"
        wall, end = "the processors" if cpu else "the connections", _rate(virtual.ceiling_per_s)
        then = "less work or more cores help, no stack does" if cpu else "another stack moves the queue"
        return f"First {wall}: every stack ends at {end}; {then}."
    if virtual.hit == "gate":
        return f"First the gate: {n.gate:,} at once are too few; {virtual.admit:,} would be answered in time."
    if n.streaming:
        return "WebFlux with R2DBC: pressure through every stage is what the blocking stacks leave to you."
    if virtual.utilisation > NEARLY:
        return _nearly(virtual)
    if not platform.grows_per_s and not n.gate:
        return "A thread pool does it: its size is your admission limit, and its queue has none."
    if n.gate:
        return f"Blocking code on virtual threads, behind the gate of {n.gate:,}."
    return f"Blocking code on virtual threads, with an admission limit first: {_admit(virtual, n)} at once."


# -- over a ceiling ----------------------------------------------------------------------------------------------


def _over(row: Row, n: Numbers) -> tuple[str, str]:
    """The verdict where more arrive than leave."""
    if row.first_limit == "cpu":
        return _out_of_cpu(row)
    if row.first_limit == "workers":
        return _out_of_workers(row)
    if row.first_limit == "offload pool":
        moved = ceil(models.in_flight(n.rate_per_s, n.wait_ms))
        said = f"The offload pool is too small: {moved:,} calls wait at once."
        return said, f'run("four-stacks", stack="{row.stack}", rate_per_s=1300, jdbc_pool_size=100)'
    if row.first_limit == "gate":
        return f"The gate keeps out what would fit; it may admit {row.admit:,}.", _gated(row.stack)
    said = f"The connections are the wall, at {_rate(row.ceiling_per_s)}: this stack only chooses where to queue."
    return said, f'run("four-stacks", stack="{row.stack}", rate_per_s=700)'


def _out_of_cpu(row: Row) -> tuple[str, str]:
    threads = {"mvc-platform": "fixed", "mvc-virtual": "virtual"}.get(row.stack, "cores")
    said = f"Out of processors at {_rate(row.ceiling_per_s)}: less work or more cores, no thread model helps."
    return said, f'run("cpu-bound", threads="{threads}")'


def _out_of_workers(row: Row) -> tuple[str, str]:
    if row.threads_needed > MOST_PLATFORM_THREADS:
        said = f"It needs {row.threads_needed:,} threads; platform threads end at some {MOST_PLATFORM_THREADS:,}."
        return said, 'run("thread-per-request", server="plain", threads="virtual", users=500)'
    said = f"The pool is the wall: {row.threads_needed:,} threads would do, if the downstream bears as many."
    return said, 'run("thread-per-request", pool_size=50, users=500)'


# -- below every ceiling -----------------------------------------------------------------------------------------


def _under(row: Row, n: Numbers) -> tuple[str, str]:
    """The verdict where all that arrive are served."""
    open_to_all = not n.gate and row.stack in ("mvc-virtual", "webflux-r2dbc")
    if n.streaming:
        return _streams(row)
    if row.utilisation > NEARLY:
        return _nearly(row), f'run("four-stacks", stack="{row.stack}", rate_per_s=480)'
    if open_to_all and not n.connections:
        said = f"It fits, and a crowd goes through: {row.downstream_peak:,} calls at once. Admit {_admit(row, n)}."
        return said, 'run("admission", threads="virtual", downstream="unguarded")'
    if open_to_all:
        return f"It fits. Nothing keeps a crowd out of memory: admit at most {row.admit:,}.", _unguarded(row.stack)
    if n.gate:
        return "It fits, and the gate is the limit that a pool used to be.", _gated(row.stack)
    return _fits(row)


def _streams(row: Row) -> tuple[str, str]:
    if row.stack == "webflux-r2dbc":
        return "It fits a stream: each stage asks the one before it for what it can take.", _pressure("request-n")
    if row.stack == "webflux-jdbc-offloaded":
        return "Reactor's stages have pressure, but a query through JDBC brings its answer whole.", _pressure("gate")
    return "A stream needs back-pressure between its stages, and here you write it yourself.", _pressure("gate")


def _fits(row: Row) -> tuple[str, str]:
    if row.stack == "mvc-platform":
        said = f"It fits. The pool is the admission limit; its queue has none, and holds {show(row.heap_peak_mb)} MB."
        return said, 'run("admission", threads="fixed", payload_kb=50)'
    said = "It fits; a queue would stand in the scheduler, where a connection pool's gauge does not see it."
    return said, f'run("four-stacks", stack="{row.stack}", rate_per_s=700)'


def _gated(stack: str) -> str:
    """The run that shows what a gate does: waiting in front of it, or being turned away."""
    if stack in BLOCKING:
        return 'run("admission", threads="virtual", gate=200, on_full="reject")'
    return 'run("pressure", control="gate")'


def _unguarded(stack: str) -> str:
    """The run that shows what stands in memory where nobody counts: threads, or what waits for a connection."""
    if stack in BLOCKING:
        return 'run("admission", threads="virtual")'
    return f'run("four-stacks", stack="{stack}", rate_per_s=700)'


def _nearly(row: Row) -> str:
    return f"It fits on average only: {row.utilisation:.0%} of the {row.first_limit} is used; queues come and go."


def _admit(row: Row, n: Numbers) -> str:
    """How many to admit; of a downstream whose limit is unknown the sheet knows only what would be answered in time."""
    known = f"{row.admit:,}"
    return f"at most {known}" if n.connections else f"what the downstream bears, and no more than {known}"


def _pressure(control: str) -> str:
    return f'run("pressure", control="{control}")'


def _rate(per_s: float) -> str:
    return f"{per_s:,.0f} requests/s" if per_s >= 10 else f"{per_s:,.2g} requests/s"
