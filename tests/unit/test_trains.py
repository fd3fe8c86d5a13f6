"""What the lab's experiments share: nothing hangs on from a run that was stopped, and no dead server is measured."""

import threading

import pytest
from fake_trains import FakeLab
from waitlab import experiments
from waitlab.errors import ControlError, ServiceDied
from waitlab.experiments.measure import measure

STYLES, HELD = experiments.get("client-styles"), experiments.get("connection-held")
FEW = {"users": 3, "user_calls": 1, "api_ms": 100, "thread_dump": False}


def hurried(lab):
    return [params["hurry"] for path, params in lab.put if path == "/external"]


def test_calls_of_the_run_before_are_let_go_before_the_next_one():
    lab = FakeLab(hanging=3)
    lab.up = ("mvc", "webflux")
    measure(STYLES, STYLES.settle(FEW), lab)
    assert hurried(lab) == ["true", "false"]
    measure(STYLES, STYLES.settle(FEW), lab)
    assert hurried(lab) == ["true", "false"]


def test_a_stopped_run_waits_for_no_call_that_hangs():
    lab = FakeLab(hanging=0)
    lab.up, lab.partial = ("mvc", "webflux"), True
    lab.answer = lambda stream, index, at: (setattr(lab, "hanging", 3), (100.0, "ok"))[1]
    run = measure(STYLES, STYLES.settle(FEW), lab)
    assert run.partial and hurried(lab) == ["true", "false"] and lab.asked[-1][0] == "/threads/peak"


def test_a_database_that_died_before_the_run_is_told_and_not_measured():
    lab = FakeLab()
    lab.database_died_s = 1.0
    with pytest.raises(ServiceDied, match="database behind mvc ended"):
        measure(STYLES, STYLES.settle(FEW), lab)
    assert all(stream.name.startswith("warm") for plan in lab.plans for stream in plan.streams)


def test_a_request_that_needs_two_connections_is_refused_a_pool_of_one():
    both = {"open_in_view": True, "client": "webclient-mono", "jdbc_pool_size": 1}
    with pytest.raises(ControlError, match=r"jdbc_pool_size=1 does not go with .*second connection") as refused:
        HELD.settle(both)
    assert "jdbc_pool_size=2" in refused.value.text
    assert all(HELD.settle({**both, **other}) for other in ({"jdbc_pool_size": 2}, {"client": "restclient"}))


def test_an_experiment_without_load_tells_of_no_client():
    run = measure(experiments.get("error-after-commit"), {"cpus": 2}, FakeLab())
    assert run.client["connections_opened"] == 0 and run.client["saturated"] is False


def test_client_styles_warms_up_until_a_request_costs_no_less():
    lab = FakeLab()
    lab.costs_us = [1_000_000, 500_000, 300_000, 290_000]
    measure(STYLES, STYLES.settle(FEW), lab)
    warm, then = [plan for plan in lab.plans if plan.streams[0].name == "warm"], lab.plans[4:]
    assert len(warm) == 4 and [plan.streams[0].name for plan in then] == ["floor", "slow"]
    assert "api=slow" in warm[0].streams[0].url and len(warm[0].streams[0].at_s) == FEW["users"]


def test_stop_is_heard_while_the_compiler_is_waited_for():
    lab, stop = FakeLab(), threading.Event()
    settle = lab.run_plan
    lab.run_plan = lambda *plan: (stop.set(), settle(*plan))[1]
    with pytest.raises(KeyboardInterrupt):
        measure(STYLES, STYLES.settle(FEW), lab, stop=stop)
    assert len(lab.plans) == 1
