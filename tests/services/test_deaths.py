"""A server or a database that somebody kills in the middle of a run: it ends, says so, and the next run works."""

from __future__ import annotations

import os
import signal

import pytest
from waitlab import experiments
from waitlab.experiments.measure import measure

CUT = "Try: the same run once more"


def measured(lab, name, progress=None, **given):
    experiment = experiments.get(name)
    return measure(experiment, experiment.settle(given), lab, progress)


def killing(lab, who):
    """Progress that kills `who` once some of the run has been answered."""
    killed = []

    def progress(share, _text):
        if share > 0 and not killed:
            killed.append(lab.link.child(who).pid)
            os.kill(killed[0], signal.SIGKILL)

    return progress


def test_a_crowd_ends_when_its_database_is_killed(lab):
    crowd = {"downstream": "postgres", "requests": 20_000}
    found = measured(lab, "admission", killing(lab, "db"), **crowd)
    assert found.facts["ended_by"] == "database_died" and found.facts["failed"] > 0 and CUT in found.line
    assert found.facts["wall_ms"] < found.settings["wall_limit_s"] * 1000
    assert measured(lab, "admission", **{**crowd, "requests": 200}).facts["served"] == 200


@pytest.mark.parametrize("who", ["db", "mvc"])
def test_load_ends_when_its_server_or_its_database_is_killed(lab, who):
    found = measured(lab, "four-stacks", killing(lab, who), rate_per_s=50, duration_s=60)
    one = found.series["requests"]
    assert one.errors.get("unsent", 0) > 0 and one.offered == one.ok + sum(one.errors.values())
    assert "server_died" in found.facts and not found.partial and CUT in found.line
    assert measured(lab, "four-stacks", rate_per_s=50, duration_s=1).series["requests"].ok > 0
