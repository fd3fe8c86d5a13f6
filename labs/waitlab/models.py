"""Theory as plain functions of the controls: what a server must do, before anybody measures it.

Every function names its formula, its units and where it comes from. Charts draw these as lines, tests compare
them with hand-computed cases, and a Run carries their values beside the measured ones.
"""

from __future__ import annotations

import math


def event_loops(cpus: int) -> int:
    """Event loops of a Reactor Netty server: max(CPUs, 4). Source: reactor.netty.ReactorNetty.IO_WORKER_COUNT."""
    return max(cpus, 4)


def bounded_elastic_size(cpus: int) -> int:
    """Threads of Reactor's boundedElastic scheduler: 10 x CPUs. Source: Schedulers.DEFAULT_BOUNDED_ELASTIC_SIZE."""
    return 10 * cpus


def waves(tasks: int, width: int) -> int:
    """How many rounds `tasks` need when `width` run at a time: ceil(tasks / width)."""
    return math.ceil(tasks / width)


def makespan_ms(tasks: int, width: int, each_ms: float) -> float:
    """When the last of `tasks` equal tasks of `each_ms` ends, `width` at a time, ms: waves x each."""
    return waves(tasks, width) * each_ms


def evenly(requests: int, loops: int) -> list[int]:
    """Requests a loop gets when connections are dealt in turn: the quotient, and the rest one each."""
    share, rest = divmod(requests, loops)
    return [share + (index < rest) for index in range(loops)]


def held_share(sleepers: int, loops: int, *, accepting_loop_sleeps: bool) -> float:
    """The share of new connections that wait for a sleeper.

    Connections are dealt to the loops in turn, so `sleepers` of `loops` hold that share of them; all of them
    where the loop that accepts sleeps, since nobody gets in.
    """
    if sleepers and accepting_loop_sleeps:
        return 1.0
    return min(sleepers, loops) / loops


def wait_for_sleeper_ms(sent_ms: float, asleep_until_ms: float) -> float:
    """What a request sent at `sent_ms` waits for a loop that sleeps until `asleep_until_ms`: the rest, never < 0."""
    return max(0.0, asleep_until_ms - sent_ms)


# -- a thread for every request ---------------------------------------------------------------------------------


def ceiling_per_s(pool: int, service_ms: float) -> float | None:
    """The most a pool can serve, requests/s: pool / service time (Little's law); None where nothing is held.

    Service time is how long a request holds its thread, not its latency. Source: Little, Operations Research 9 (1961).
    """
    return pool / service_ms * 1000 if service_ms > 0 else None


def in_flight(rate_per_s: float, stay_ms: float) -> float:
    """Requests in a system that keeps up: rate x time each stays (Little's law). Source: as above."""
    return rate_per_s * stay_ms / 1000


def burst_latency_ms(i: int, pool: int, service_ms: float) -> float:
    """Latency of the i-th to be done of a crowd that comes at once, ms: ceil(i / pool) x service."""
    return math.ceil(i / pool) * service_ms


def steady_latency_ms(at_s: float, rate_per_s: float, ceiling: float | None, service_ms: float) -> float:
    """Latency of a request sent at `at_s` of a steady load, ms: the service, and above the ceiling the queue so far.

    Above the ceiling c the queue grows by (rate - c) a second and is served at c, so it waits at x (rate - c) / c.
    """
    surplus = max(0.0, rate_per_s / ceiling - 1) if ceiling else 0.0
    return service_ms + at_s * surplus * 1000


def threads_for(cores: int, utilisation: float, wait_ms: float, compute_ms: float) -> float:
    """Threads that keep `cores` busy to `utilisation`: N x U x (1 + W / C).

    Source: Goetz and others, Java Concurrency in Practice (2006), section 8.2.
    """
    return cores * utilisation * (1 + wait_ms / compute_ms)
