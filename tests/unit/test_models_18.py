"""Chapter 18's theory: cases computed by hand, and a simulation that knows nothing but time steps."""

from collections import deque
from dataclasses import replace
from itertools import pairwise
from random import Random
from time import perf_counter

import pytest
from waitlab import experiments
from waitlab import models_18 as models
from waitlab.models_18 import Crowd

USUAL = Crowd(20_000, 200, None, False, False, 50, 20.0)
BARE = replace(USUAL, pool=None)
TICK_MS = 1.0


def crowd(**changes):
    return replace(USUAL, **changes)


# -- by hand -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "wall_ms", "per_s", "in_flight", "served"),
    [
        (USUAL, 8000, 2500, 200, 20_000),
        (crowd(pool=2000), 8000, 2500, 2000, 20_000),
        (BARE, 8000, 2500, 20_000, 20_000),
        (crowd(pool=None, gate=200), 8000, 2500, 200, 20_000),
        (crowd(pool=None, gate=200, reject=True), 80, 2500, 200, 200),
        (crowd(pool=None, gate=200, inside=True), 8000, 2500, 20_000, 20_000),
        (crowd(pool=10), 40_000, 500, 10, 20_000),
        (crowd(pool=None, gate=25), 16_000, 1250, 25, 20_000),
        (crowd(pool=30, gate=200), 13_340, 20_000 / 13.34, 30, 20_000),
        (crowd(requests=120, gate=500), 60, 2000, 120, 120),
    ],
)
def test_the_narrowest_place_decides(asked, wall_ms, per_s, in_flight, served):
    assert models.wall_ms(asked) == wall_ms
    assert models.throughput_per_s(asked) == pytest.approx(per_s)
    assert models.in_flight(asked) == in_flight
    assert len(models.ends_ms(asked)) == served


@pytest.mark.parametrize(
    ("asked", "served", "wall_ms", "in_flight"),
    [
        # 20 threads never fill a gate for 77 behind them: 500 in 25 waves
        (crowd(requests=500, pool=20, gate=77, inside=True, reject=True), 500, 500, 20),
        (crowd(requests=500, pool=77, gate=77, inside=True, reject=True), 500, 200, 77),
        # 78 threads do: whoever finds it full is gone at once, so one more than the gate is on a thread
        (crowd(requests=500, pool=78, gate=77, inside=True, reject=True), 77, 40, 78),
        (crowd(requests=500, pool=None, gate=77, inside=True, reject=True), 77, 40, 78),
        (crowd(requests=50, pool=None, gate=77, inside=True, reject=True), 50, 20, 50),
        # at the door the gate counts those who wait for a thread too
        (crowd(requests=500, pool=20, gate=77, reject=True), 77, 80, 20),
        # a server for 200 callers refuses the others, who are gone at once
        (crowd(requests=300, pool=None, capacity=10, limit=200), 200, 1160, 201),
        (crowd(requests=300, pool=30, capacity=10, limit=20), 20, 44, 21),
        (crowd(requests=300, pool=None, capacity=10, limit=300), 300, 2340, 300),
        (crowd(requests=300, pool=None, gate=25, inside=True, capacity=10, limit=20), 20, 44, 300),
    ],
)
def test_who_is_sent_off_at_once_holds_no_thread(asked, served, wall_ms, in_flight):
    assert len(models.ends_ms(asked)) == served
    assert models.wall_ms(asked) == pytest.approx(wall_ms)
    assert models.in_flight(asked) == in_flight


def test_the_i_th_is_done_in_its_wave():
    ends = models.ends_ms(USUAL)
    assert [ends[i - 1] for i in (1, 50, 51, 10_000, 19_951, 20_000)] == [20, 20, 40, 4000, 8000, 8000]
    assert ends[-1] == 8000 and len(list(ends)) == 20_000
    with pytest.raises(IndexError):
        ends[20_000]


def test_no_thread_is_in_the_ceiling():
    assert models.ceiling_per_s(50, 20) == 2500
    assert models.ceiling_per_s(10, 100) == 100


@pytest.mark.parametrize(
    ("asked", "kb", "mb"),
    [
        (USUAL, 50, 976.5625),
        (crowd(pool=None, gate=200), 50, 9.765625),
        (crowd(gate=200, inside=True), 50, 976.5625),
        (BARE, 0, 0),
    ],
)
def test_whose_data_is_in_memory(asked, kb, mb):
    """A pool's queue holds data as well as a thread does; only who waits at the door has handed none over."""
    assert models.held_mb(asked, kb) == mb


@pytest.mark.parametrize(
    ("callers", "ms", "per_s"),
    [(1, 20, 50), (50, 20, 2500), (100, 44, 2272.7), (200, 104, 1923.1), (1000, 1160, 862.1)],
)
def test_a_server_that_lets_everybody_in_does_less_the_more_there_are(callers, ms, per_s):
    """The times are those in the test of the Java half."""
    assert models.overload_ms(callers, 50, 20) == pytest.approx(ms)
    assert models.overload_per_s(callers, 50, 20) == pytest.approx(per_s, abs=0.1)


def test_more_than_it_takes_are_refused_and_the_others_are_slow():
    ends = models.ends_ms(replace(BARE, limit=1000))
    assert len(ends) == 1000
    assert (ends[0], ends[49], ends[-1]) == (20, 20, pytest.approx(1160))


def test_a_gate_saves_it_best_where_it_is_as_wide_as_its_capacity():
    walls = {gate: models.wall_ms(crowd(pool=None, gate=gate, limit=1000)) for gate in (25, 50, 100, 200, 1000)}
    assert walls[50] == 8000
    assert walls[25] == 16_000
    assert walls[50] < walls[100] < walls[200] < walls[1000]
    assert walls[200] == pytest.approx(20_000 / 1923.1 * 1000, rel=0.02)
    assert models.wall_ms(crowd(limit=1000)) == walls[200]  # the pool's size was such a gate


def test_turned_away_at_the_door_nobody_is_refused_behind_it():
    ends = models.ends_ms(crowd(pool=None, gate=200, reject=True, limit=1000))
    assert len(ends) == 200
    assert ends[-1] == pytest.approx(104)


# -- the lines of the charts -------------------------------------------------------------------------------------


def test_the_lines_begin_and_end_where_they_must():
    line, down = models.curve(models.ends_ms(USUAL)), models.decline(BARE)
    assert (line["x"][0], line["y"][0], line["x"][-1], line["y"][-1]) == (1, 20, 20_000, 8000)
    assert len(line["x"]) <= models.POINTS + 1
    assert (down["x"][0], down["y"][0], down["x"][-1], down["y"][-1]) == (0, 20_000, 8, 0)
    assert all(a >= b for a, b in pairwise(down["y"]))
    assert max(models.decline(USUAL)["y"]) == 200


def test_one_request_has_lines_too():
    one = crowd(requests=1)
    assert models.curve(models.ends_ms(one)) == {"x": [1.0], "y": [20.0]}
    assert models.decline(one) == {"x": [0.0, 0.02], "y": [1.0, 0.0]}


def test_a_slider_need_not_wait_for_the_model():
    admission = experiments.get("admission")
    settings = [admission.settle({"threads": "virtual", "gate": gate}) for gate in range(100, 120)]
    took = []
    for each in settings:
        began = perf_counter()
        admission.model(each)
        took.append(perf_counter() - began)
    assert min(took) < 0.05


# -- an independent simulation: time goes on in steps ----------------------------------------------------------------


def simulated(asked):
    """When each of those served ends: threads, gate and downstream as queues, in steps of a tick."""
    waiting, at_door, held, ends, now = deque(range(asked.requests)), 0, [], [], 0.0
    if asked.reject and asked.gate:
        waiting = deque(range(min(asked.gate, asked.requests)))
    while waiting or held:
        while waiting and at_door < min(asked.pool or 10**9, asked.gate or 10**9, asked.capacity):
            waiting.popleft()
            held.append(now + asked.hold_ms)
            at_door += 1
        now += TICK_MS
        done = [end for end in held if end <= now]
        ends += done
        held = [end for end in held if end > now]
        at_door -= len(done)
    return ends


def drawn():
    draw = Random(18)
    for _ in range(25):
        yield Crowd(
            requests=draw.randint(1, 300),
            pool=draw.choice([None, draw.randint(1, 60)]),
            gate=draw.choice([None, draw.randint(1, 60)]),
            inside=draw.random() < 0.3,
            reject=draw.random() < 0.3,
            capacity=draw.randint(1, 40),
            hold_ms=draw.randint(1, 9) * TICK_MS,
        )


@pytest.mark.parametrize("asked", list(drawn()), ids=str)
def test_every_end_is_the_simulation_s(asked):
    assert list(models.ends_ms(asked)) == pytest.approx(sorted(simulated(asked)))
