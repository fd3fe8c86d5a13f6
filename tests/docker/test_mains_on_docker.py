"""Experiments on the plain JVM run beside the bare server in its container, and say the same as anywhere."""

import threading
import time

import pytest
from waitlab import experiments
from waitlab.experiments.measure import measure
from waitlab.services import docker_containers

LISTED = 'for p in /proc/[0-9]*; do tr "\\0" " " < $p/cmdline && echo; done 2>/dev/null; true'


def mains_in_the_container(lab):
    """Command lines of the plain JVM's mains that run in the container, and of the shells that watch them."""
    container = lab.project.container("plain").id
    told = docker_containers.run_in(lab.engine.host, container, ["sh", "-c", LISTED], "plain")
    return [line for line in told.splitlines() if "app.jar admission" in line]


def admission(lab, stop=None, progress=None, **given):
    one = experiments.get("admission")
    return measure(one, one.settle(given), lab, progress, stop)


def test_a_crowd_is_served_in_the_bare_server_s_container(lab):
    one = experiments.get("one-percent")
    before = time.monotonic()
    run = measure(one, one.settle({"where": "offload", "assignment": "pinned", "requests": 200, "block_ms": 20}), lab)
    assert {name: series.ok for name, series in run.series.items()} == {"normal": 198, "blocking": 2}
    assert all(name.startswith("offload-") for name in run.series["blocking"].threads)
    assert run.in_force["java"].startswith("25.") and run.in_force["available_processors"] >= 1
    assert run.runtime == "docker" and (not run.in_force["same_clock"] or run.t0_s >= before)
    assert "plain" in lab.running()


def test_twenty_thousand_at_once_with_a_heap_of_their_own(lab):
    run = admission(lab, threads="virtual", gate=200)
    assert run.runtime == "docker" and run.facts["ended_by"] == "finished"
    assert run.facts["served"] == 20_000 and run.facts["in_flight_peak"] == 200
    assert run.facts["wall_ms"] >= run.facts["predicted_wall_ms"] == 8000
    assert 1900 < run.in_force["heap_max_mb"] <= 2048 and run.in_force["gc"] == "serial"
    assert run.facts["heap_peak_mb"] < 20


def test_the_downstream_may_be_the_lab_s_database(lab):
    run = admission(lab, threads="virtual", downstream="postgres", requests=500, capacity=20)
    assert run.facts["served"] == 500 and run.in_force["capacity"] == 20
    assert run.facts["wall_ms"] >= 500


def test_data_that_does_not_fit_ends_the_main_and_harms_nothing_else(lab):
    run = admission(lab, payload_kb=200, force=True, wall_limit_s=30)
    assert run.facts["ended_by"] in ("out_of_memory", "wall_limit")
    assert mains_in_the_container(lab) == []
    assert admission(lab, requests=200).facts["served"] == 200
    assert "plain" in lab.running()


@pytest.mark.parametrize("how", ["stop", "wall_limit"])
def test_a_main_that_is_ended_is_gone_from_the_container_too(lab, until, how):
    stop = threading.Event()
    limit = {"wall_limit_s": 2} if how == "wall_limit" else {}
    run = admission(lab, stop, lambda share, _text: stop.set() if how == "stop" and share > 0 else None, **limit)
    assert run.facts["ended_by"] == {"stop": "stopped", "wall_limit": "wall_limit"}[how]
    assert until(lambda: mains_in_the_container(lab) == [], 30)
