"""A CPU limit stalls the slowest and spares the typical request; only Docker can show it."""

from __future__ import annotations

import pytest
from waitlab.errors import ControlError, ServiceError
from waitlab.experiments.docker_limits import EXPERIMENTS
from waitlab.experiments.measure import measure
from waitlab.services import open_lab
from waitlab.services.docker_lab import DockerLab

THROTTLED = EXPERIMENTS[0]
PAIRS = 2


def measured(lab, **controls):
    return measure(THROTTLED, THROTTLED.settle(controls), lab)


@pytest.fixture
def own_lab(engine):
    """A lab with nothing but this server and the load."""
    with DockerLab("for a test", engine) as opened:
        yield opened


def test_a_limit_shows_in_p99_and_not_in_p50(own_lab):
    for _ in range(PAIRS):
        free, limited = measured(own_lab, cpus=0), measured(own_lab, cpus=0.5)
        assert (free.in_force["cpu_limit"], limited.in_force["cpu_limit"]) == (0, 0.5)
        assert free.facts["nr_throttled_per_s"] == 0 and limited.facts["nr_throttled_per_s"] > 0.5
        assert limited.facts["available_processors"] == 1
        for series in (free.series["requests"], limited.series["requests"]):
            assert series.offered == series.ok + sum(series.errors.values())
        if not (free.void or limited.void):
            assert limited.series["requests"].p99_ms > 3 * free.series["requests"].p99_ms
            assert limited.series["requests"].p50_ms < 1.5 * free.series["requests"].p50_ms
            return
    pytest.skip(f"this machine is too busy: the client sent late in each of {PAIRS} pairs of runs")


def test_the_embedded_runtime_says_that_it_needs_docker():
    with open_lab("embedded") as lab, pytest.raises(ServiceError, match="needs Docker"):
        measured(lab)


@pytest.mark.parametrize("controls", [{"cpus": 0.01}, {"cpus": 0.123}, {"cpus": -1}, {"cpus": 0.1}, {"threads": 1.5}])
def test_limits_that_make_no_sense_are_refused(controls):
    with pytest.raises(ControlError):
        THROTTLED.settle(controls)
