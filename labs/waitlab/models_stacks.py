"""Theory of four-stacks: one query, a few connections, arrivals that do not wait for answers.

    widths -> knee = width / query time -> below it a random queue, at it a wandering one, above it a growing one

All rates in requests/s, times in ms unless named `_s`; c servers (connections or threads) hold a query of `held_ms`.
"""

from __future__ import annotations

from math import log, sqrt
from statistics import NormalDist

CONNECTIONS = {
    "mvc-platform": "jdbc_pool_size",
    "mvc-virtual": "jdbc_pool_size",
    "webflux-jdbc-offloaded": "jdbc_pool_size",
    "webflux-r2dbc": "r2dbc_pool_size",
}
THREADS = {"mvc-platform": "pool_size", "webflux-jdbc-offloaded": "offload_pool_size"}
"""The controls that bound a stack: its connections, and the threads that a request holds meanwhile, if any."""


def knee_per_s(servers: int, held_ms: float) -> float:
    """The most that `servers` can serve, requests/s: servers / time (Little, Operations Research 9, 1961)."""
    return servers / held_ms * 1000


def erlang_c(servers: int, load: float) -> float:
    """The share of arrivals that wait, of random arrivals with `load` = rate x time in erlangs; 1 from the knee on.

    From Erlang's loss formula by its recursion B(n) = a B(n-1) / (n + a B(n-1)), then C = B / (1 - rho (1 - B)).
    Exact for random service times, a good approximation for equal ones. Source: Erlang (1917).
    """
    if load >= servers:
        return 1.0
    blocked = 1.0
    for n in range(1, servers + 1):
        blocked = load * blocked / (n + load * blocked)
    rho = load / servers
    return blocked / (1 - rho * (1 - blocked))


def usual_wait_ms(share: float, rate: float, servers: int, held_ms: float) -> float:
    """The wait that `share` of the requests do not exceed, below the knee, ms.

    The tail is C exp(-2 (mu - rate) t): equal service times halve the wait of random ones. 0 where fewer wait.
    Source: Kingman's heavy-traffic approximation (1962) for M/D/c.
    """
    waiting = erlang_c(servers, rate * held_ms / 1000)
    if waiting <= 1 - share:
        return 0.0
    return log(waiting / (1 - share)) / (2 * (knee_per_s(servers, held_ms) - rate)) * 1000


def growing_wait_ms(share: float, rate: float, knee: float, duration_s: float) -> float:
    """The wait that `share` of the requests do not exceed above the knee, ms: that of the one sent at share x duration.

    The queue grows by rate - knee a second and is served at knee: t (rate / knee - 1). Source: fluid limit.
    """
    return max(0.0, share * duration_s * (rate / knee - 1) * 1000)


def wandering_wait_ms(share: float, rate: float, knee: float, duration_s: float) -> float:
    """How long the wait becomes by chance alone while a load at the knee lasts, ms.

    The queue is then a reflected random walk with rate x t arrivals' variance: z sqrt(rate share duration) / knee.
    Source: Harrison, Brownian Motion and Stochastic Flow Systems (1985).
    """
    z = NormalDist().inv_cdf((1 + share) / 2)
    return z * sqrt(rate * share * duration_s) / knee * 1000


def wait_ms(share: float, rate: float, servers: int, held_ms: float, duration_s: float, arrivals: str) -> float:
    """The wait that `share` of the requests do not exceed, ms: usual below the knee, wandering at it, growing above.

    Evenly spaced arrivals wait only above the knee.
    """
    knee = knee_per_s(servers, held_ms)
    growing = growing_wait_ms(share, rate, knee, duration_s)
    if arrivals == "constant":
        return growing
    wandering = wandering_wait_ms(share, rate, knee, duration_s)
    if rate >= knee:
        return max(growing, wandering)
    return min(usual_wait_ms(share, rate, servers, held_ms), wandering)


def throughput_per_s(rate: float, knee: float, duration_s: float, held_ms: float) -> float:
    """Requests a second from the first sending to the last answer: all of them, over the time that serving takes."""
    return rate * duration_s / (max(duration_s, rate * duration_s / knee) + held_ms / 1000)
