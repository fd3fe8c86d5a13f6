"""Chapter 15's theory: cases computed by hand, and an independent simulation that knows nothing but time steps."""

from collections import deque
from itertools import pairwise
from random import Random
from statistics import median

import pytest
from waitlab import models_15 as models
from waitlab.models_15 import Crowd
from waitlab.runs import percentile

USUAL = Crowd(2000, 20, 8, "shared", "onloop", 64, 100.0, 0.32, 1)
TICK_MS = 0.5


def crowd(**changes):
    return Crowd(**{**{name: getattr(USUAL, name) for name in USUAL.__slots__}, **changes})


# -- an independent simulation: time goes on in steps; whoever is idle looks for work -------------------------


def simulated(asked):
    """When each request ends, in steps of TICK_MS; all times of the crowd are whole numbers of steps."""
    waiting = queues(asked)
    loops = [(0.0, None)] * asked.loops
    pool = [(0.0, None)] * asked.pool
    moved, ends, now = deque(), {}, 0.0
    while len(ends) < asked.requests:
        loops = [turn(asked, one, queue, moved) for one, queue in zip(loops, waiting, strict=True)]
        pool = [next_moved(asked, one, moved) for one in pool]
        now += TICK_MS
        loops = [step(one, ends, now) for one in loops]
        pool = [step(one, ends, now) for one in pool]
    return [ends[index] for index in range(asked.requests)]


def queues(asked):
    if asked.assignment == "shared":
        return [deque(range(asked.requests))] * asked.loops
    loop_of = models.dealt(asked.assignment, asked.requests, asked.loops, asked.seed)
    return [deque(i for i in range(asked.requests) if loop_of[i] == loop) for loop in range(asked.loops)]


def turn(asked, one, queue, moved):
    """A busy loop goes on; an idle one takes the next, and hands it on for as long as that is to be moved."""
    while one[1] is None and queue:
        index = queue.popleft()
        if not blocks(asked, index):
            return (asked.hold_ms, index)
        if asked.where == "offload":
            moved.append(index)
        else:
            return (asked.block_ms if asked.where == "onloop" else asked.hold_ms, index)
    return one


def blocks(asked, index):
    every = asked.requests // asked.blocking
    return index % every == every - 1


def next_moved(asked, one, moved):
    return (asked.block_ms, moved.popleft()) if one[1] is None and moved else one


def step(one, ends, now):
    left, index = one
    if index is None or left > TICK_MS:
        return (left - TICK_MS, index)
    ends[index] = now
    return (0.0, None)


def drawn_cases():
    draw = Random(15)
    for _ in range(24):
        loops, blocking = draw.randint(1, 9), draw.choice([1, 2, 4, 5, 10])
        yield Crowd(
            requests=blocking * draw.randint(5, 40),
            blocking=blocking,
            loops=loops,
            assignment=draw.choice(["shared", "pinned", "random"]),
            where=draw.choice(["none", "onloop", "offload"]),
            pool=draw.randint(1, 6),
            block_ms=draw.randint(4, 60) * TICK_MS,
            hold_ms=draw.randint(1, 3) * TICK_MS,
            seed=draw.randint(0, 99),
        )


CASES = list(drawn_cases())


@pytest.mark.parametrize("asked", CASES, ids=lambda c: f"{c.where}-{c.assignment}-{c.loops}-{c.pool}")
def test_every_end_is_the_simulation_s(asked):
    told = models.theory(asked)
    expected = simulated(asked)
    assert told.wall_ms == pytest.approx(max(expected))
    assert sorted(told.ends_ms) == pytest.approx(sorted(expected))


@pytest.mark.parametrize("asked", [c for c in CASES if c.where == "onloop"], ids=str)
def test_a_shared_queue_stays_within_its_bounds(asked):
    shared = crowd(**{name: getattr(asked, name) for name in asked.__slots__} | {"assignment": "shared"})
    total = models.occupancy_ms(shared)
    at_most = models.shared_wall_ms(total, shared.loops, max(shared.block_ms, shared.hold_ms))
    assert total / shared.loops - 1e-9 <= max(simulated(shared)) <= at_most


@pytest.mark.parametrize("asked", [c for c in CASES if c.where == "offload"], ids=str)
def test_the_walls_of_all_pools_are_those_of_each(asked):
    sizes = [1, 2, 3, 5, 8]
    each = [models.theory(crowd(**slots(asked) | {"pool": size})).wall_ms for size in sizes]
    assert models.walls_by_pool(asked, sizes) == pytest.approx(each)


def slots(asked):
    return {name: getattr(asked, name) for name in asked.__slots__}


# -- the chapter's own figures --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "wall_ms", "p50_ms", "p99_ms"),
    [
        ({"where": "none"}, 80, 40, 79),
        ({"where": "onloop"}, 382, 130, 280),
        ({"where": "offload"}, 179, 40, 79),
        ({"where": "offload", "pool": 4}, 516, 40, 79),
        ({"assignment": "pinned"}, 1077, 50, 974),
    ],
)
def test_the_published_row_is_a_shared_queue_s(changes, wall_ms, p50_ms, p99_ms):
    told = models.theory(crowd(**changes))
    found = (told.wall_ms, percentile(told.innocents_ms, 0.5), percentile(told.innocents_ms, 0.99))
    assert found == pytest.approx((wall_ms, p50_ms, p99_ms), rel=0.02)


def test_occupancy_is_the_sum_of_all_holds():
    assert models.occupancy_ms(crowd(hold_ms=0.2)) == pytest.approx(2396)
    assert models.occupancy_ms(crowd(hold_ms=0.2, where="none")) == pytest.approx(400)
    assert models.occupancy_ms(crowd(hold_ms=0.2, where="offload")) == pytest.approx(396)


@pytest.mark.parametrize(("loops", "hit", "most"), [(8, 2, 10), (7, 7, 3), (9, 9, 3), (4, 1, 20), (10, 1, 20)])
def test_a_regular_beat_picks_its_victims(loops, hit, most):
    by_loop = models.theory(crowd(assignment="pinned", loops=loops)).blocks_by_loop
    assert models.loops_with_blocks(100, loops) == hit == sum(n > 0 for n in by_loop)
    assert max(by_loop) == most and sum(by_loop) == 20


def test_random_lies_between_shared_and_pinned():
    walls = [models.theory(crowd(assignment="random", seed=seed)).wall_ms for seed in range(15)]
    shared, pinned = models.theory(USUAL).wall_ms, models.theory(crowd(assignment="pinned")).wall_ms
    assert shared < median(walls) < pinned
    assert 450 < median(walls) < 680


def test_who_pays_when_dealt_in_turn():
    innocents = models.theory(crowd(assignment="pinned")).innocents_ms
    assert sum(ms > 100 for ms in innocents) / len(innocents) == pytest.approx(0.22, abs=0.01)


def test_the_draw_is_the_server_s_own():
    """The same numbers stand in the test of the Java half."""
    assert models.dealt("random", 12, 8, 3) == (5, 1, 1, 7, 6, 7, 0, 6, 2, 2, 4, 7)
    assert models.dealt("pinned", 5, 3, 3) == (0, 1, 2, 0, 1)
    assert models.dealt("shared", 5, 3, 3) is None


@pytest.mark.parametrize(("requests", "blocking"), [(2000, 20), (10, 0), (10, 10), (7, 3), (1999, 20)])
def test_blocks_are_spread_evenly(requests, blocking):
    places = [i for i, blocks_here in enumerate(models.blocks(requests, blocking)) if blocks_here]
    gaps = {b - a for a, b in pairwise(places)}
    assert len(places) == blocking
    assert not gaps or max(gaps) - min(gaps) <= 1


def test_a_larger_pool_stops_helping_when_each_block_has_a_thread():
    walls = dict(zip((4, 19, 20, 64), models.walls_by_pool(crowd(where="offload"), (4, 19, 20, 64)), strict=True))
    assert walls[4] > walls[19] > walls[20] == walls[64]
    assert walls[64] == pytest.approx(79.2 + 100, rel=0.01)


def test_strangers_of_a_steady_load():
    held = models.held_by_blocks(500, 0.01, 100, 4, shared_accept=True)
    assert held == pytest.approx(1 - 0.875 * (1 - 0.125 * 3 / 4))
    assert models.held_by_blocks(500, 0.01, 100, 4, shared_accept=False) == pytest.approx(0.125)
    assert models.steady_percentile_ms(0.9, held, 100) == pytest.approx(100 * (1 - 0.1 / held))
    assert models.steady_percentile_ms(0.5, held, 100) == 0 == models.steady_percentile_ms(0.9, 0.0, 100)
    assert models.held_by_blocks(5000, 1, 1000, 4, shared_accept=True) == 1


def test_strangers_of_a_steady_load_are_the_simulation_s():
    """Blocks at random moments on random loops; a stranger meets its own loop and the accepting one."""
    draw, held, waits = Random(4), 0, []
    for _ in range(20_000):
        busy_until = [100 * draw.random() if draw.random() < 0.125 else 0.0 for _ in range(4)]
        wait = max(busy_until[0], busy_until[draw.randrange(4)])
        held += wait > 0
        waits.append(wait)
    told = models.held_by_blocks(500, 0.01, 100, 4, shared_accept=True)
    assert held / 20_000 == pytest.approx(told, rel=0.05)
    assert percentile(sorted(waits), 0.9) == pytest.approx(models.steady_percentile_ms(0.9, told, 100), rel=0.1)
