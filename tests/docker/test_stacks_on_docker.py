"""The four stacks in containers: their queues are read over HTTP, from where the load container put them."""

import pytest
from waitlab import experiments
from waitlab.experiments.four_stacks import STACKS
from waitlab.experiments.measure import measure

STACK = experiments.get("four-stacks")


@pytest.mark.parametrize("stack", STACKS)
def test_too_much_load_queues_before_the_connections_of_every_stack(lab, stack):
    run = measure(STACK, STACK.settle({"stack": stack, "rate_per_s": 700, "duration_s": 2}), lab)
    requests, facts = run.series["requests"], run.facts
    assert requests.ok == requests.offered and run.runtime == "docker"
    assert facts["throughput_per_s"] < 1.05 * facts["knee_per_s"]
    assert facts["in_service"]["connections"]["p50"] <= 10
    known = {place: queue for place, queue in facts["queues"].items() if queue}
    assert known["connections"]["peak"] >= 1 and "accept" in known
    assert facts["looks"] > 10 and 0 < facts["cpu_share"] <= 1.1


def test_a_chain_is_held_by_demand_in_the_bare_server_s_container(lab):
    chain = experiments.get("pressure")
    run = measure(chain, chain.settle({"control": "request-n", "duration_s": 1}), lab)
    assert run.facts["consumed"] == run.facts["produced"] > 0
    assert run.facts["queue_peak"]["transform"] <= 64
    assert run.in_force["java"].startswith("25.")
