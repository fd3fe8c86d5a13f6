"""Chapter 9's experiment without a server: what it asks, how it judges its client, what its line says."""

from __future__ import annotations

import importlib
import threading
from types import SimpleNamespace

import pytest
from waitlab.errors import ControlError
from waitlab.experiments import crowd, get, warming
from waitlab.experiments.base import Bench
from waitlab.load.client import LoadResult
from waitlab.load.samples import Sample

chapter = importlib.import_module("waitlab.experiments.09_thread_per_request")
EXPERIMENT = get("thread-per-request")
T0 = 100.0


class Server:
    """An app that says what it is asked to say."""

    name, pid, url, same_clock = "mvc", 7, "http://127.0.0.1:1000", True

    def __init__(self):
        self.deleted = 0

    def settings(self):
        return {"virtual_port": 2000, "pool_size": 50}

    def get(self, _path):
        return {"workers_peak": 50, "platform_threads_peak": 68, "platform_threads_baseline": 18}

    def delete(self, _path):
        self.deleted += 1

    def check_alive(self):
        """It lives."""

    def database_died_s(self):
        """So does its database."""

    def threads(self):
        one = SimpleNamespace(name="virtual-1", virtual=True, top_frames=("waitlab.shared.Waits.sleep(Waits.java)",))
        return [one] * 3 + [SimpleNamespace(name="main", virtual=False, top_frames=())]


class Lab:
    """A lab whose load engine answers in theory's time, its floor as slow as told."""

    lab_id = "lab"

    def __init__(self, floors):
        self.server, self.plans, self.floors, self.asked = Server(), [], list(floors), {}

    def running(self):
        return {}

    def app(self, name, **settings):
        self.asked = {"name": name, **settings}
        return self.server

    def run_plan(self, plan, _progress, _stop):
        self.plans.append(plan)
        stream = plan.streams[0]
        took = {"floor": self.floors[0] if len(self.floors) == 1 else None, "requests": 100}.get(stream.name, 20)
        if took is None:
            took = self.floors.pop(0)
        samples = tuple(
            Sample(
                stream.name, i, T0 + at, T0 + at, None, T0 + at + took / 1000, 200, "ok", f"exec-{i % 50}", None, None
            )
            for i, at in enumerate(stream.at_s)
        )
        return LoadResult(T0, samples, {"retransmits": 0, "saturated": False, "why": ""}, False)


@pytest.fixture(autouse=True)
def cold():
    warming.forget()


def measured(*floors, **controls):
    lab = Lab(floors or (20,))
    bench = Bench(lab, lambda share, text: None, threading.Event())
    settings = EXPERIMENT.settle(controls)
    return lab, settings, EXPERIMENT.measure(bench, settings)


def named(lab, name):
    return [plan for plan in lab.plans if plan.streams[0].name == name]


def test_a_burst_is_paired_with_its_floor_and_counts_threads_from_there():
    lab, _, outcome = measured(users=200)
    assert [plan.streams[0].name for plan in lab.plans][-2:] == ["floor", "requests"]
    assert lab.server.deleted == 1
    assert outcome.facts["workers_peak"] == 50
    assert outcome.facts["wall_ms"] == pytest.approx(100)
    assert outcome.client["saturated"] is False
    assert {x.series for x in outcome.samples} == {"requests", "floor"}


def test_a_server_is_warmed_once_for_a_kind_of_work():
    lab, _, _ = measured()
    assert len(named(lab, "warm")) == 2
    lab.plans.clear()
    EXPERIMENT.measure(Bench(lab, lambda share, text: None, threading.Event()), EXPERIMENT.settle({}))
    assert [plan.streams[0].name for plan in lab.plans] == ["floor", "requests"]


def test_a_void_pair_is_measured_again_and_says_so():
    lab, settings, outcome = measured(20, 20, 90, 30)
    assert len(named(lab, "requests")) == 2
    assert outcome.client["saturated"] is False
    assert outcome.client["floor_p50_ms"] == pytest.approx(30)
    assert outcome.notes == ("measured 2 times, since the client was slow",)
    assert EXPERIMENT.line(settings, outcome).startswith("50 platform threads, 500 users at once: 500 of 500 ok")


def test_a_pair_that_stays_void_is_void():
    lab, _, outcome = measured(90)
    assert len(named(lab, "requests")) == chapter.MOST_TRIES
    assert outcome.client["saturated"] is True and "over half" in outcome.client["why"]


def test_a_floor_that_was_asked_for_is_not_judged_by_itself():
    _, _, outcome = measured(90, service_ms=0)
    assert outcome.client["saturated"] is False


def test_virtual_threads_have_a_door_of_their_own():
    lab, _, _ = measured(threads="virtual")
    assert lab.plans[-1].streams[0].url.startswith("http://127.0.0.1:2000/work?")


def test_the_thread_dump_tells_who_held_the_requests():
    _, _, outcome = measured(threads="virtual", users=3, thread_dump=True)
    assert outcome.facts["sleeping_by_kind"] == {"virtual": 3}
    assert outcome.facts["sleeping_names"] == ["virtual-1"] * 3


def test_settings_reach_the_server():
    lab, _, _ = measured(server="plain", model="connection", pool_size=20, cpus=3)
    assert lab.asked == {"name": "plain", "model": "connection", "pool_size": 20, "cpus": 3}


def test_silent_connections_are_held_open_at_the_same_door():
    lab, _, _ = measured(idle_connections=200)
    assert (lab.plans[-1].idle_connections, lab.plans[-1].idle_url) == (200, "http://127.0.0.1:1000")


def test_medians_are_told_second_by_second():
    _, _, outcome = measured(arrivals="steady", rate_per_s=10, duration_s=3)
    assert outcome.facts["p50_ms_by_second"] == [pytest.approx(100)] * 3


@pytest.mark.parametrize(
    ("controls", "says"),
    [
        ({}, "50 platform threads, 500 users at once: "),
        ({"server": "plain", "threads": "virtual", "users": 1}, "bare server, virtual threads, 1 user: "),
        ({"calls": 3, "in_parallel": True}, "50 platform threads, 500 users at once, 3 calls at once: "),
        ({"service_ms": 1000, "idle_connections": 200}, "1,000 ms of service, 200 silent connections: "),
        ({"downstream": "postgres", "users": 200}, "10 connections to PostgreSQL: "),
        ({"arrivals": "steady", "rate_per_s": 400, "duration_s": 1}, "50 platform threads, 400 req/s for 1 s: "),
    ],
)
def test_the_line_says_what_is_unusual(controls, says):
    _, settings, outcome = measured(**controls)
    assert says in EXPERIMENT.line(settings, outcome)


# -- theory --------------------------------------------------------------------------------------------------------


def model(**controls):
    return EXPERIMENT.model(EXPERIMENT.settle(controls))


def test_silent_connections_take_threads_only_where_a_thread_belongs_to_a_connection():
    old = {"server": "plain", "model": "connection"}
    assert model(idle_connections=200)["waves"] == 10
    assert model(idle_connections=40, **old)["waves"] == 50
    assert model(idle_connections=200, **old)["throughput_per_s"] == 0


def test_computing_has_the_processors_as_its_ceiling(monkeypatch):
    monkeypatch.setattr("waitlab.limits.cpus", lambda: 8)
    told = model(cpu_ms=20, service_ms=80, cpus=4)
    assert (told["ceiling_per_s"], told["threads_for_cores"]) == (200, 20)
    assert "threads_for_cores" not in model()


def test_stairs_name_the_first_of_each_wave():
    assert model(users=5, pool_size=2)["stairs"] == {"x": [1, 3, 5, 5], "y": [100, 200, 300, 300]}


def test_a_rate_is_eighty_percent_of_the_ceiling_unless_told():
    assert EXPERIMENT.settle({})["rate_per_s"] == 400
    assert EXPERIMENT.settle({"downstream": "postgres"})["rate_per_s"] == 80


def test_theory_of_the_largest_crowd_is_quick_to_redraw():
    assert len(crowd.model(EXPERIMENT.settle({"users": 5000}))["curves"]["percentiles"]["p50"]["x"]) < 1000


@pytest.mark.parametrize("value", [0, 5001, 1.5, "", True, "many"])
def test_a_pool_out_of_range_is_refused(value):
    with pytest.raises(ControlError, match="pool_size"):
        EXPERIMENT.settle({"pool_size": value})


def test_more_threads_or_connections_than_the_machine_has_are_refused_with_both_numbers(monkeypatch):
    monkeypatch.setattr("waitlab.limits.threads", lambda: 900)
    with pytest.raises(ControlError, match=r"pool_size=1000 .* 900"):
        EXPERIMENT.settle({"pool_size": 1000})
    monkeypatch.setattr("waitlab.limits.descriptors", lambda: 400)
    with pytest.raises(ControlError, match=r"users=500 .* 400"):
        EXPERIMENT.settle({"users": 300, "idle_connections": 200})


@pytest.mark.parametrize("cpu_ms", [1, 9, 33, 100])
@pytest.mark.parametrize("users", [100, 500])
@pytest.mark.parametrize("service_ms", [50, 80, 100])
def test_theory_never_serves_more_than_its_own_ceiling(cpu_ms, users, service_ms):
    told = model(cpu_ms=cpu_ms, users=users, service_ms=service_ms, threads="platform")
    assert told["throughput_per_s"] <= told["ceiling_per_s"] * (1 + 1e-9)


@pytest.mark.parametrize(("controls", "wall"), [({"calls": 3}, 6000), ({"calls": 2, "jdbc_pool_size": 5}, 8000)])
def test_calls_at_once_share_the_connections(controls, wall):
    told = model(users=200, pool_size=200, downstream="postgres", in_parallel=True, **controls)
    assert told["wall_ms"] == wall
    assert told["throughput_per_s"] <= told["ceiling_per_s"]
