"""Theory of a crowd at a pool of threads: how many are served at a time, how long each is held, what follows.

held_ms -> widths -> ceiling -> burst (stairs, percentiles against the pool's size) | steady (the wait grows)
"""

from __future__ import annotations

from math import ceil, inf
from statistics import median
from typing import Any

from waitlab import limits, models
from waitlab.controls import Settings

Curves = dict[str, dict[str, list[float]]]
SHARES = {"p50": 0.50, "p99": 0.99}
NARROWEST, WIDEST = 10, 1000  # the pool sizes, threads, between which percentiles are drawn


def held_ms(s: Settings) -> float:
    """How long a request holds its thread, ms: its own computing, and its calls one after another or all at once."""
    return float(s["cpu_ms"]) + float(s["service_ms"]) * (1 if s["in_parallel"] else int(s["calls"]))


def processors(s: Settings) -> int:
    """How many processors the server may use: as many as it is told to, and as there are."""
    return min(int(s["cpus"]), limits.cpus())


def widths(s: Settings) -> dict[str, tuple[float, float]]:
    """What may serve at a time, and for how long a request takes it, ms: threads, connections, processors."""
    found = {"threads": (_threads(s), held_ms(s))}
    if s["downstream"] == "postgres":
        found["connections"] = (float(s["jdbc_pool_size"]), float(s["service_ms"]) * int(s["calls"]))
    if s["cpu_ms"]:
        found["processors"] = (float(processors(s)), float(s["cpu_ms"]))
    return found


def ceiling(s: Settings) -> float | None:
    """The lowest of the ceilings, requests/s; None where nothing limits, 0 where nobody is served."""
    known = [width / held * 1000 for width, held in widths(s).values() if held and width < inf]
    return min(known, default=None)


def model(s: Settings) -> dict[str, Any]:
    """What must come out, and the lines that charts draw."""
    if s["arrivals"] == "steady":
        return _steady(s)
    users, held, top, width = int(s["users"]), held_ms(s), ceiling(s), _width(s)
    cores, told = threads_for_cores(s), dict[str, Any](ceiling_per_s=top)
    told |= {"threads_for_cores": cores} if cores else {}
    if not width:
        return told | {"throughput_per_s": 0.0}
    wall = models.burst_latency_ms(users, width, held)
    told |= {"waves": models.waves(users, width), "wall_ms": wall}
    told |= {f"{name}_ms": models.burst_latency_ms(_rank(share, users), width, held) for name, share in SHARES.items()}
    told |= {"throughput_per_s": users / wall * 1000 if wall else None}
    told |= {"workers_peak": min(int(s["pool_size"]), users) if s["threads"] == "platform" else 0}
    return told | {"stairs": _stairs(users, width, held), "curves": _curves(s)}


def threads_for_cores(s: Settings) -> float | None:
    """The pool that keeps the processors busy with this work: cores x (1 + W / C); None for work that only waits."""
    cpu = float(s["cpu_ms"])
    return models.threads_for(processors(s), 1.0, held_ms(s) - cpu, cpu) if cpu else None


def _threads(s: Settings) -> float:
    """Threads that may serve; where a thread belongs to a connection, the silent ones keep theirs."""
    if s["threads"] == "virtual":
        return inf
    silent = int(s["idle_connections"]) if s["model"] == "connection" else 0
    return float(max(0, int(s["pool_size"]) - silent))


def _width(s: Settings) -> int:
    """How many of the crowd are served at a time; 0 where nobody is."""
    users, held, top = int(s["users"]), held_ms(s), ceiling(s)
    if top is None or not held:
        return users if _threads(s) else 0
    return min(users, max(1, round(top * held / 1000))) if top else 0


def _rank(share: float, users: int) -> int:
    """Which request, counted from the fastest, is this percentile (nearest rank)."""
    return max(1, ceil(share * users))


def _stairs(users: int, width: int, held: float) -> dict[str, list[float]]:
    """The burst's latencies in ascending order: the first request of each wave, and the last of all."""
    firsts = [*range(1, users + 1, width), users]
    return {"x": [float(i) for i in firsts], "y": [models.burst_latency_ms(i, width, held) for i in firsts]}


def _curves(s: Settings) -> dict[str, Curves]:
    """The burst against the pool's size, the other controls as they are: percentiles, throughput, its ceiling."""
    users, held = int(s["users"]), held_ms(s)
    pools = _sizes(users)
    each: list[Settings] = [{**s, "pool_size": pool, "threads": "platform"} for pool in pools]
    wide = [(float(pool), one, width) for pool, one in zip(pools, each, strict=True) if (width := _width(one))]
    x = [pool for pool, _, _ in wide]
    percentiles = {
        name: {"x": x, "y": [models.burst_latency_ms(_rank(share, users), width, held) for _, _, width in wide]}
        for name, share in SHARES.items()
    }
    if not held:
        return {"percentiles": percentiles}
    tops = [ceiling(one) or 0.0 for _, one, _ in wide]
    served = [users / models.burst_latency_ms(users, width, held) * 1000 for _, _, width in wide]
    return {"percentiles": percentiles, "throughput": {"ceiling": {"x": x, "y": tops}, "burst": {"x": x, "y": served}}}


def _sizes(users: int) -> list[int]:
    """Pool sizes from NARROWEST to WIDEST: all those at which a percentile or the number of waves changes."""
    ranks = {users, *(_rank(share, users) for share in SHARES.values())}
    changes = {ceil(rank / wave) for rank in ranks for wave in range(1, rank // NARROWEST + 2)}
    return sorted({NARROWEST, WIDEST, *(size for size in changes if NARROWEST < size < WIDEST)})


def _steady(s: Settings) -> dict[str, Any]:
    rate, held, seconds, top = float(s["rate_per_s"]), held_ms(s), float(s["duration_s"]), ceiling(s)
    at = [seconds * step / 60 for step in range(61)]
    y = [models.steady_latency_ms(t, rate, top, held) for t in at]
    return {
        "ceiling_per_s": top,
        "throughput_per_s": rate if top is None else min(rate, top),
        "p50_ms": median(y),
        "wall_ms": seconds * 1000 + y[-1],
        "curve": {"x": at, "y": y},
    }
