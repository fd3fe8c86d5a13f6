"""A crowd on a real JVM: which threads it gets, how it may end, and that nothing of it is left."""

from __future__ import annotations

import contextlib
import threading

import psutil
import pytest
from waitlab import experiments
from waitlab.errors import ServiceDied
from waitlab.experiments.measure import measure

ADMISSION = experiments.get("admission")
MAIN = "admission"


def run(lab, stop=None, progress=None, **given):
    return measure(ADMISSION, ADMISSION.settle(given), lab, progress, stop)


def jvms():
    """The JVMs of crowds that this process has started and that still run."""
    return [p for p in psutil.Process().children(recursive=True) if is_crowd(p)]


def is_crowd(process):
    with contextlib.suppress(psutil.NoSuchProcess):
        return process.name() == "java" and MAIN in process.cmdline()
    return False


@pytest.mark.parametrize(
    ("given", "in_flight", "pool", "gate"),
    [
        ({"threads": "fixed", "pool_size": 60}, 60, 60, 0),
        ({"threads": "virtual", "gate": 70}, 70, 0, 70),
        ({"threads": "fixed", "pool_size": 300, "gate": 80}, 80, 300, 80),
    ],
)
def test_the_narrower_of_threads_and_gate_is_in_flight(lab, given, in_flight, pool, gate):
    found = run(lab, requests=2000, **given)
    assert found.facts["in_flight_peak"] == found.model["in_flight_peak"] == in_flight
    assert (found.in_force["pool_size"], found.in_force["gate"]) == (pool, gate)
    assert found.facts["served"] == 2000 and found.facts["wall_ms"] >= 800
    assert {name.split("-")[0] for name in found.series["served"].threads} == {"pool" if pool else "virtual"}


def test_a_gate_on_the_thread_limits_no_threads(lab):
    inside = run(lab, requests=5000, threads="virtual", gate=100, gate_at="inside")
    door = run(lab, requests=5000, threads="virtual", gate=100)
    assert inside.facts["in_flight_peak"] > 10 * door.facts["in_flight_peak"] == 10 * 100
    assert inside.facts["heap_peak_mb"] > door.facts["heap_peak_mb"]


def test_a_full_gate_may_turn_away_at_once(lab):
    """All were told while the first two hundred were being served, which leaves no room for a third two hundred."""
    found = run(lab, threads="virtual", gate=200, on_full="reject", hold_ms=2000, capacity=200)
    assert 200 <= found.facts["served"] <= 400 and found.facts["wall_ms"] >= 2000
    assert found.series["served"].errors == {"rejected": 20_000 - found.facts["served"]}
    assert found.facts["dropped"] == 20_000 - found.facts["served"]


def test_the_data_of_a_pool_s_queue_is_alive_and_that_of_the_door_is_not(lab):
    queue = run(lab, requests=4000, payload_kb=50)
    door = run(lab, requests=4000, payload_kb=50, gate=200)
    left = 1 - queue.facts["collected_at_ms"] / queue.facts["wall_ms"]
    assert queue.facts["heap_peak_mb"] > 0.5 * left * 4000 * 50 / 1024
    assert door.facts["heap_peak_mb"] < 2 * 200 * 50 / 1024


def test_a_server_without_a_valve_refuses_and_a_gate_saves_it(lab):
    bare = run(lab, threads="virtual", downstream="unguarded", requests=5000)
    assert bare.facts["refused"] > 1000 and bare.facts["served"] >= 1000
    assert bare.facts["served"] + bare.facts["refused"] == 5000
    assert bare.facts["throughput_per_s"] < 0.6 * bare.facts["ceiling_per_s"]
    gated = run(lab, threads="virtual", downstream="unguarded", requests=1000, gate=50)
    assert gated.facts["refused"] == 0 and gated.facts["served"] == 1000


def test_the_database_s_pool_is_a_valve_too(lab):
    found = run(lab, threads="virtual", downstream="postgres", requests=600, capacity=30)
    assert found.facts["served"] == 600 and found.in_force["capacity"] == 30
    assert found.facts["wall_ms"] >= 400 and found.facts["measured_hold_ms"] >= 20


def test_data_that_does_not_fit_ends_the_jvm_and_harms_nothing(lab):
    found = run(lab, heap_mb=128, payload_kb=50, force=True, wall_limit_s=20)
    assert found.facts["ended_by"] in ("out_of_memory", "wall_limit")
    assert found.series["served"].offered == 20_000 and found.facts["failed"] > 0 and jvms() == []
    assert run(lab, requests=100).facts["served"] == 100


def test_a_run_that_takes_too_long_is_ended_and_keeps_what_it_has(lab):
    found = run(lab, hold_ms=300, requests=1500, wall_limit_s=3)
    assert found.facts["ended_by"] == "wall_limit" and found.series["served"].errors.keys() == {"timeout"}
    assert found.facts["served"] + found.facts["failed"] == 1500 and jvms() == []


def test_stop_acts_at_once_and_leaves_nothing(lab):
    stop, told = threading.Event(), []

    def progress(share, _text):
        told.append(share)
        if share > 0:
            stop.set()

    found = run(lab, stop, progress)
    assert found.partial and 0 < found.facts["served"] < 20_000
    assert jvms() == [] and told == sorted(told)


def test_a_jvm_that_somebody_kills_is_told(lab):
    def kill(share, _text):
        if share > 0:
            for each in jvms():
                each.kill()

    with pytest.raises(ServiceDied, match="admission on the plain JVM failed"):
        run(lab, None, kill)
    assert jvms() == []


def test_computing_gains_nothing_from_more_threads(lab):
    """By the quietest round of each way: what disturbs a round makes it longer."""
    computing = experiments.get("cpu-bound")
    found = measure(computing, computing.settle({"threads": "virtual", "tasks": 800}), lab)
    walls = {way: min(each) for way, each in found.facts["walls_each_by_way"].items()}
    assert 0.5 < walls["virtual"] / walls["cores"] < 2
    assert found.facts["primes"] == 800 * 1007
