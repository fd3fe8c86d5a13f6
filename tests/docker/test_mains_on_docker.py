"""Experiments on the plain JVM run beside the bare server in its container, and say the same as anywhere."""

import time

from waitlab import experiments
from waitlab.experiments.measure import measure


def test_a_crowd_is_served_in_the_bare_server_s_container(lab):
    one = experiments.get("one-percent")
    before = time.monotonic()
    run = measure(one, one.settle({"where": "offload", "assignment": "pinned", "requests": 200, "block_ms": 20}), lab)
    assert {name: series.ok for name, series in run.series.items()} == {"normal": 198, "blocking": 2}
    assert all(name.startswith("offload-") for name in run.series["blocking"].threads)
    assert run.in_force["java"].startswith("25.") and run.in_force["available_processors"] >= 1
    assert run.runtime == "docker" and (not run.in_force["same_clock"] or run.t0_s >= before)
    assert "plain" in lab.running()
