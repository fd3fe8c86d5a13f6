"""Theory of chapter 15 for one-percent's controls: the crowd on plain loops, and the steady load on a real server.

A normal request holds its loop longer than it asks for, since a parked thread wakes late. How long that is on this
machine is measured before each run; the model takes the last measurement, and the wish until there is one.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import Any

from waitlab import models_15 as models
from waitlab.controls import Settings
from waitlab.runs import percentile

LINE_POINTS = 200
POOLS = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 18, 20, 24, 32, 48, 64, 96, 128)
_measured_us: dict[tuple[str, int], float] = {}


def remember_hold(s: Settings, hold_us: float) -> None:
    """Keeps how long a hold lasted, us, for the models that follow."""
    _measured_us[_kind(s)] = hold_us


def hold_us(s: Settings) -> float:
    """How long a normal request holds its loop, us: as measured here last, else as it asks."""
    return _measured_us.get(_kind(s), float(s["normal_us"]))


def blocking(s: Settings) -> int:
    """How many requests of the crowd block."""
    return round(float(s["blocking_share"]) * int(s["requests"]))


def crowd(s: Settings, hold: float | None = None) -> models.Crowd:
    """The crowd that these controls describe; `hold` in us, else as `hold_us` knows it."""
    return models.Crowd(
        requests=int(s["requests"]),
        blocking=blocking(s),
        loops=int(s["loops"]),
        assignment=str(s["assignment"]),
        where=str(s["where"]),
        pool=int(s["offload_pool_size"]),
        block_ms=float(s["block_ms"]),
        hold_ms=(hold_us(s) if hold is None else hold) / 1000,
        seed=int(s["seed"]),
    )


def model(s: Settings) -> dict[str, Any]:
    """What must come out, and the lines that charts draw."""
    return _steady(s) if s["server"] == "webflux" else _at_once(s)


def _at_once(s: Settings) -> dict[str, Any]:
    asked = crowd(s)
    told = models.theory(asked)
    innocents = told.innocents_ms
    found: dict[str, Any] = {
        "wall_ms": told.wall_ms,
        "throughput_per_s": asked.requests / told.wall_ms * 1000,
        "p50_ms": percentile(innocents, 0.5),
        "p99_ms": percentile(innocents, 0.99),
        "over_block_share": sum(ms > asked.block_ms for ms in innocents) / len(innocents) if innocents else None,
        "occupancy_ms": models.occupancy_ms(asked),
    }
    if told.blocks_by_loop:
        found["blocks_on_busiest_loop"] = max(told.blocks_by_loop)
    elif asked.where == "onloop":
        found["wall_at_most_ms"] = models.shared_wall_ms(found["occupancy_ms"], asked.loops, asked.block_ms)
    lines = {"offload": _by_pool(asked)} if asked.where == "offload" else {}
    return found | {"stairs": _stairs(innocents), "curves": lines}


def _stairs(ascending: Sequence[float]) -> dict[str, list[float]]:
    """Ascending latencies as a line of at most LINE_POINTS points, and the last."""
    step = max(1, ceil(len(ascending) / LINE_POINTS))
    ranks = sorted({*range(0, len(ascending), step), len(ascending) - 1} if ascending else ())
    return {"x": [rank + 1 for rank in ranks], "y": [ascending[rank] for rank in ranks]}


def _by_pool(asked: models.Crowd) -> dict[str, list[float]]:
    """Throughput against the offload pool's size, requests/s."""
    sizes = sorted({*POOLS, asked.pool})
    walls = models.walls_by_pool(asked, sizes)
    return {"x": [float(size) for size in sizes], "y": [asked.requests / wall * 1000 for wall in walls]}


def _steady(s: Settings) -> dict[str, Any]:
    rate, share, block = float(s["rate_per_s"]), float(s["blocking_share"]), float(s["block_ms"])
    loops = int(s["loops"])
    on_loop = s["where"] == "onloop"
    held = models.held_by_blocks(rate, share, block, loops, shared_accept=True) if on_loop else 0.0
    return {
        "wall_ms": float(s["duration_s"]) * 1000,
        "throughput_per_s": rate,
        "held_share": held,
        "p90_ms": models.steady_percentile_ms(0.9, held, block),
        "p99_ms": models.steady_percentile_ms(0.99, held, block),
    }


def _kind(s: Settings) -> tuple[str, int]:
    return str(s["hold"]), int(s["normal_us"])
