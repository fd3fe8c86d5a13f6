"""A CPU limit stalls the slowest and spares the typical request; only Docker can show it."""

from __future__ import annotations

from statistics import median

import psutil
import pytest
from waitlab.errors import ControlError, ServiceError
from waitlab.experiments.docker_limits import EXPERIMENTS
from waitlab.experiments.measure import measure
from waitlab.services import open_lab
from waitlab.services.docker_lab import DockerLab

THROTTLED = EXPERIMENTS[0]
PAIRS = 5


def measured(lab, **controls):
    return measure(THROTTLED, THROTTLED.settle(controls), lab)


@pytest.fixture
def own_lab(engine):
    """A lab with nothing but this server and the load."""
    with DockerLab("for a test", engine) as opened:
        yield opened


@pytest.mark.timeout(480)
def test_a_limit_shows_in_p99_and_not_in_p50(own_lab):
    """What disturbs a run makes it slower, so that the quietest of the free runs is the one to compare with.

    A container that others leave too little for its quota is not throttled, and says nothing of the limit.
    Others on this machine slow the free runs down as well: hence the slowest are compared with the typical, and with
    the longest stall that theory knows, and not by a factor of their own.
    """
    quick, slow = [], []
    for _ in range(PAIRS):
        free = measured(own_lab, cpus=0)
        psutil.cpu_percent()
        limited = measured(own_lab, cpus=0.5)
        starved = limited.facts["nr_throttled_per_s"] <= 0.5
        assert not starved or psutil.cpu_percent() > 80, "never throttled, though processors were free"
        assert (free.in_force["cpu_limit"], limited.in_force["cpu_limit"]) == (0, 0.5)
        assert free.facts["nr_throttled_per_s"] == 0 and limited.facts["available_processors"] == 1
        for series in (free.series["requests"], limited.series["requests"]):
            assert series.offered == series.ok + sum(series.errors.values())
        quick += [] if free.void else [free.series["requests"]]
        slow += [] if limited.void or starved else [limited.series["requests"]]
        if quick and slow and shows(quick, slow, limited.model["longest_stall_ms"]):
            return
    if not (quick and slow):
        pytest.skip(f"this machine is too busy: no pair of {PAIRS} had its requests sent in time and was throttled")
    figures = [[(s.p50_ms, s.p99_ms) for s in each] for each in (quick, slow)]
    raise AssertionError(f"p50 and p99, ms, free: {figures[0]}, limited: {figures[1]}")


def shows(quick, slow, stall_ms):
    """Whether the limit makes the slowest wait for half of a stall, and the typical request far less than that."""
    p99, p50 = median(s.p99_ms for s in slow), median(s.p50_ms for s in slow)
    slower, typical = p99 / min(s.p99_ms for s in quick), p50 / min(s.p50_ms for s in quick)
    return p99 > stall_ms / 2 > 2 * p50 and slower > 1.5 * typical


def test_the_embedded_runtime_says_that_it_needs_docker():
    with open_lab("embedded") as lab, pytest.raises(ServiceError, match="needs Docker"):
        measured(lab)


@pytest.mark.parametrize("controls", [{"cpus": 0.01}, {"cpus": 0.123}, {"cpus": -1}, {"cpus": 0.1}, {"threads": 1.5}])
def test_limits_that_make_no_sense_are_refused(controls):
    with pytest.raises(ControlError):
        THROTTLED.settle(controls)
