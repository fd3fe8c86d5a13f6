"""The decision sheet: from a service's own numbers to the limit that is hit first, on each of four stacks.

decide(rate_per_s=700, wait_ms=20, connections=10)      four rows and an advice, shown as a table
explore(decide)                                          the same with sliders

Each rule is a plain function of the numbers with its formula and its source; `verdicts` puts them into words.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import ceil, floor, inf

from waitlab import models, verdicts
from waitlab.controls import Control, settle
from waitlab.deciding_words import as_html, as_text
from waitlab.errors import ControlError

__all__ = ["CONTROLS", "STACKS", "Numbers", "Row", "Sheet", "decide"]

STACKS = ("mvc-platform", "mvc-virtual", "webflux-jdbc-offloaded", "webflux-r2dbc")
VIRTUAL_KB = 2.0
"""Heap of a virtual thread that waits: (53 - 10) MB / 19,900, published for an Apple M1; chapter 18 measures it too."""
STACK_MB = 1.0
"""Address space that a platform thread reserves: -Xss is 1 MB on 64-bit Linux and macOS (java's tool page)."""

CONTROLS = (
    Control("rate_per_s", int, 300, "1/s", 1, 1_000_000, help="requests that arrive a second, on average"),
    Control("wait_ms", float, 20.0, "ms", 0, 600_000, help="how long each waits for the database or a service"),
    Control("cpu_ms", float, 0.5, "ms", 0.01, 60_000, help="processor time of each"),
    Control("cores", int, 2, "", 1, 1024, help="processors of the server"),
    Control("pool_size", int, 200, "", 1, 100_000, help="threads of the thread pool"),
    Control(
        "offload_pool_size", int, lambda s: models.bounded_elastic_size(int(s["cores"])), "", 1, 100_000,
        computed="10 x cores", help="threads to which WebFlux moves blocking calls",
    ),
    Control("connections", int, 10, "", 0, 100_000, help="to the downstream; 0: nothing here limits the calls"),
    Control("gate", int, 0, "", 0, 1_000_000, help="requests admitted at once; 0: no gate"),
    Control("patience_ms", int, 1000, "ms", 1, 3_600_000, help="how long an answer may take"),
    Control("crowd", int, 20_000, "", 1, 10_000_000, help="requests that may come at once, on a bad day"),
    Control("payload_kb", float, 10.0, "kB", 0, 1_000_000, help="what each holds in memory until it is done"),
    Control("streaming", bool, False, help="producers may be faster than consumers for as long as they like"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Numbers:
    """A service in numbers; the fields are the controls of the same names, in their units."""

    rate_per_s: int
    wait_ms: float
    cpu_ms: float
    cores: int
    pool_size: int
    offload_pool_size: int
    connections: int
    gate: int
    patience_ms: int
    crowd: int
    payload_kb: float
    streaming: bool


@dataclass(frozen=True, slots=True)
class Row:
    """What the numbers mean on one stack. Rates are requests/s.

    `ceilings` holds every limit's own rate; `in_flight` is None where more arrive than leave. The `peak` fields are
    for the crowd that comes at once: requests begun, calls at the downstream, heap. `admit` is the gate to put up.
    """

    stack: str
    ceilings: Mapping[str, float]
    first_limit: str
    ceiling_per_s: float
    utilisation: float
    grows_per_s: float
    in_flight: float | None
    threads_needed: int
    in_flight_peak: int
    downstream_peak: int
    heap_peak_mb: float
    stacks_reserved_mb: float
    held_back_by: str
    admit: int
    verdict: str = ""
    shown_by: str = ""

    @property
    def hit(self) -> str:
        """The limit that this rate reaches, "none" if it stays below all; as `four-stacks` says it."""
        return self.first_limit if self.grows_per_s > 0 else "none"


@dataclass(frozen=True, slots=True)
class Sheet:
    """The rows, one a stack, and an advice in one sentence; `sheet["mvc-virtual"]` is a row."""

    numbers: Numbers
    rows: tuple[Row, ...]
    advice: str

    def __getitem__(self, stack: str) -> Row:
        return next(row for row in self.rows if row.stack == stack)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __repr__(self) -> str:
        return as_text(self)

    def _repr_html_(self) -> str:
        return as_html(self)


def decide(**numbers: object) -> Sheet:
    """The decision sheet of a service with these numbers (the others by default); ControlError if one is none."""
    asked = Numbers(**settle(CONTROLS, numbers, "decide"))
    _in_time(asked)
    rows = tuple(verdicts.judged(row(asked, stack), asked) for stack in STACKS)
    return Sheet(asked, rows, verdicts.advice(rows, asked))


def _in_time(n: Numbers) -> None:
    """Refuses a patience that ends before a request could be done on an idle server."""
    whole = n.wait_ms + n.cpu_ms
    if n.patience_ms < whole:
        raise ControlError(
            f"No answer can come within patience_ms={n.patience_ms:,}: wait_ms and cpu_ms alone are {whole:,g} ms.",
            tip=f"patience_ms={ceil(2 * whole)}",
        )


def row(n: Numbers, stack: str) -> Row:
    """The row of one stack, before it is judged."""
    limits = ceilings(n, stack)
    first = min(limits, key=limits.__getitem__)
    grows = max(0.0, n.rate_per_s - limits[first])
    return Row(
        stack=stack,
        ceilings=limits,
        first_limit=first,
        ceiling_per_s=limits[first],
        utilisation=utilisation(n.rate_per_s, limits[first]),
        grows_per_s=grows,
        in_flight=None if grows else models.in_flight(n.rate_per_s, n.wait_ms + n.cpu_ms),
        threads_needed=threads_needed(n, stack),
        in_flight_peak=in_flight_peak(n, stack),
        downstream_peak=min(in_flight_peak(n, stack), n.connections or n.crowd),
        heap_peak_mb=heap_peak_mb(n, stack),
        stacks_reserved_mb=STACK_MB * threads_kept(n, stack),
        held_back_by=verdicts.held_back_by(n, stack),
        admit=admit(n, stack),
    )


# -- the rules ---------------------------------------------------------------------------------------------------


def utilisation(rate_per_s: float, ceiling_per_s: float) -> float:
    """The share of a limit that is in use: rate / ceiling; over 1 a queue grows. Source: Little (1961)."""
    return rate_per_s / ceiling_per_s


def ceilings(n: Numbers, stack: str) -> dict[str, float]:
    """The rate at which each limit is used up: places / time that a request holds one (Little's law, all taken).

    cpu: cores / CPU time, a utilisation of 1. workers: threads of the pool, held while a request waits and computes.
    offload pool, jdbc pool and r2dbc pool: held while it waits. gate: all that is admitted. None is ever negative.
    """
    whole = n.wait_ms + n.cpu_ms
    held = {"cpu": (n.cores, n.cpu_ms)}
    if stack == "mvc-platform":
        held["workers"] = (n.pool_size, whole)
    if stack == "webflux-jdbc-offloaded":
        held["offload pool"] = (n.offload_pool_size, n.wait_ms)
    if n.connections:
        held["r2dbc pool" if stack == "webflux-r2dbc" else "jdbc pool"] = (n.connections, n.wait_ms)
    if n.gate:
        held["gate"] = (n.gate, whole)
    return {limit: models.ceiling_per_s(places, ms) or inf for limit, (places, ms) in held.items()}


def threads_needed(n: Numbers, stack: str) -> int:
    """Platform threads that this rate occupies: ceil(rate x time each is held) (Little's law).

    Virtual threads need one carrier a core (JEP 444), WebFlux max(cores, 4) loops, and one more for each call that
    is moved away from them.
    """
    if stack == "mvc-virtual":
        return n.cores
    if stack == "mvc-platform":
        return ceil(models.in_flight(n.rate_per_s, n.wait_ms + n.cpu_ms))
    moved = models.in_flight(n.rate_per_s, n.wait_ms) if stack == "webflux-jdbc-offloaded" else 0
    return models.event_loops(n.cores) + ceil(moved)


def threads_kept(n: Numbers, stack: str) -> int:
    """Platform threads that are there when the crowd comes: whole pools, one carrier a core, the loops."""
    loops = models.event_loops(n.cores)
    offloaded = loops + n.offload_pool_size
    return {"mvc-platform": n.pool_size, "mvc-virtual": n.cores, "webflux-jdbc-offloaded": offloaded}.get(stack, loops)


def in_flight_peak(n: Numbers, stack: str) -> int:
    """Requests begun and not done when the crowd is there: the crowd, or the lowest of pool, offload pool and gate."""
    pool = {"mvc-platform": n.pool_size, "webflux-jdbc-offloaded": n.offload_pool_size}.get(stack, n.crowd)
    return min(n.crowd, pool, n.gate or n.crowd)


def heap_peak_mb(n: Numbers, stack: str) -> float:
    """Heap of the crowd, MB: requests in memory x (payload + 2 kB where each has a virtual thread).

    In memory is whoever passed the gate: a pool's queue without end holds what waits in it just as threads do.
    """
    own_kb = VIRTUAL_KB if stack == "mvc-virtual" else 0.0
    return min(n.crowd, n.gate or n.crowd) * (n.payload_kb + own_kb) / 1024


def admit(n: Numbers, stack: str) -> int:
    """The admission limit with which the last one admitted is answered in time: ceiling x patience, at least 1.

    Little's law with the limits that stay when the gate is left out.
    """
    without = [rate for limit, rate in ceilings(n, stack).items() if limit != "gate"]
    return max(1, floor(min(without) * n.patience_ms / 1000))
