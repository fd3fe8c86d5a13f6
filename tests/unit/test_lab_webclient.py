"""client-styles without servers: what is asked, what is refused, what becomes of the answers."""

import pytest
from fake_trains import FakeLab
from waitlab import experiments
from waitlab.errors import ControlError
from waitlab.experiments import lab_webclient, trains
from waitlab.experiments.measure import measure

STYLES, HELD, BREAKER = (experiments.get(n) for n in ("client-styles", "connection-held", "circuit-breaker"))


def test_the_contract_s_defaults():
    usual = STYLES.settle({})
    names = ("client", "threads", "users", "ramp_s", "api_ms", "pool_size", "user_calls")
    assert [usual[name] for name in names] == ["resttemplate", "platform", 200, 0, 2000, 200, 100]
    usual = HELD.settle({})
    names = ("boundary", "client", "users", "ramp_s", "api_ms", "jdbc_pool_size", "connection_timeout_ms", "user_calls")
    assert [usual[name] for name in names] == ["split", "restclient", 50, 0, 1000, 10, 1500, 100]
    assert [HELD.settle({"boundary": b})["open_in_view"] for b in ("split", "transaction", "osiv")] == [0, 0, 1]
    usual = BREAKER.settle({})
    names = ("breaker", "stale_cache", "api", "api_ms", "timeout_ms", "wait_open_ms", "window", "probes", "requests")
    assert [usual[name] for name in names] == ["on", "on", "ok", 3000, 3000, 1000, 10, 3, 250]
    assert usual["interval_ms"] == 100


@pytest.mark.parametrize(
    ("experiment", "given", "words"),
    [
        (STYLES, {"client": "httpclient"}, "resttemplate, restclient"),
        (STYLES, {"users": 0}, "users takes"),
        (STYLES, {"api_ms": 2.5}, "api_ms takes"),
        (STYLES, {"ramp_s": True}, "ramp_s takes"),
        (STYLES, {"client": "webclient-mono", "factory": "detected"}, "always has Reactor Netty"),
        (STYLES, {"users": 2000, "pool_size": 1, "api_ms": 30_000}, "a run lasts, in ms, at most"),
        (HELD, {"boundary": "osiv", "open_in_view": False}, "the session stays open"),
        (HELD, {"jdbc_pool_size": 1000}, "the database leaves at most"),
        (HELD, {"connection_timeout_ms": 100}, "connection_timeout_ms takes"),
        (BREAKER, {"breaker": True}, "on, off"),
        (BREAKER, {"timeout_ms": 30_000}, "threads to wait with"),
        (BREAKER, {"requests": 2000, "interval_ms": 1000}, "a run lasts, in ms, at most"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_starts(experiment, given, words):
    with pytest.raises(ControlError, match="Try: ") as refusal:
        experiment.settle(given)
    assert words in refusal.value.text


def test_a_wave_is_looked_at_while_it_hangs_and_only_then_is_measured():
    lab = FakeLab(hanging=3)
    run = measure(STYLES, STYLES.settle({"client": "webclient-block", "users": 3, "pool_size": 200}), lab)
    facts = run.facts
    assert (facts["exec_busy_peak"], facts["exec_waiting_in_block_peak"], facts["calls_hanging"]) == (3, 3, 3)
    assert [row["count"] for row in facts["threads"]] == [3]
    names = [[stream.name for stream in plan.streams] for plan in lab.plans]
    assert names[-3:] == [["look"], ["floor"], ["slow", "user"]]
    assert lab.deleted == ["/threads/peak"] * 2
    assert (facts["live_threads_peak"], facts["threads_added"]) == (61, 31)
    assert facts["cpu_ms_per_request"] == pytest.approx(30 / 103)
    assert run.client["floor_p50_ms"] == pytest.approx(1, rel=0.01) and not run.void
    assert "3 of 3 Tomcat threads busy" in run.line and "user 100 of 100 ok" in run.line


def test_a_dump_that_came_too_late_is_taken_again():
    lab = FakeLab(hanging=2)
    measure(STYLES, STYLES.settle({"users": 3, "user_calls": 0}), lab)
    assert sum(plan.streams[0].name == "look" for plan in lab.plans) == lab_webclient.LOOKS


def test_without_a_look_there_are_no_threads_to_tell():
    lab = FakeLab()
    run = measure(STYLES, STYLES.settle({"thread_dump": False, "user_calls": 0}), lab)
    assert "threads" not in run.facts and "Tomcat threads" not in run.line
    assert not any(plan.streams[0].name == "look" for plan in lab.plans)


def test_the_same_handlers_are_asked_on_the_port_with_virtual_threads():
    lab = FakeLab()
    measure(STYLES, STYLES.settle({"client": "restclient", "threads": "virtual"}), lab)
    slow, user = lab.plans[-1].streams
    assert slow.url.startswith("http://127.0.0.1:2/arrivals?client=restclient&factory=jdk&api=slow&api_ms=2000")
    assert user.url == "http://127.0.0.1:2/user?id=7"


def test_bystanders_come_while_the_burst_hangs_or_with_the_ramp():
    at = trains.user_at_s(STYLES.settle({}))
    assert len(at) == 100 and at[0] == pytest.approx(0.3) and at[-1] < 1.9
    at = trains.user_at_s(STYLES.settle({"ramp_s": 10, "user_calls": 1000}))
    assert at[0] == 0 and at[-1] == pytest.approx(9.99)
    assert trains.user_at_s(STYLES.settle({"user_calls": 0})) == ()


@pytest.mark.parametrize(
    ("given", "hanging", "busy", "in_block"),
    [
        ({"client": "webclient-mono"}, 200, 0, 0),
        ({"client": "webclient-block"}, 200, 200, 200),
        ({"client": "restclient"}, 200, 200, 0),
        ({"client": "restclient", "factory": "detected"}, 200, 200, 200),
        ({"client": "restclient", "threads": "virtual"}, 200, 0, 0),
        ({"client": "webclient-block", "pool_size": 50}, 50, 50, 50),
        ({"client": "webclient-mono", "users": 1000}, 1000, 0, 0),
        ({"client": "restclient", "users": 1000, "ramp_s": 10}, 200, 200, 0),
    ],
)
def test_theory_counts_who_waits(given, hanging, busy, in_block):
    model = STYLES.model(STYLES.settle(given))
    told = (model["calls_hanging"], model["exec_busy_peak"], model["exec_waiting_in_block_peak"])
    assert told == (hanging, busy, in_block)


def test_theory_of_the_bystander():
    blocked = STYLES.model(STYLES.settle({"client": "restclient", "users": 50, "pool_size": 50}))
    assert blocked["curve"]["y"][0] == pytest.approx(1700)
    assert blocked["user_p99_ms"] == pytest.approx(2000 - 300 - 16)
    assert STYLES.model(STYLES.settle({"users": 50, "pool_size": 51}))["user_p99_ms"] == 0
    assert STYLES.model(STYLES.settle({"client": "webclient-mono", "pool_size": 1}))["user_p99_ms"] == 0


class Late(FakeLab):
    """A client that sends the bystander's calls late by `late_s`."""

    def __init__(self, late_s):
        super().__init__()
        self.late_s = late_s

    def _sample(self, stream, index, at):
        one = super()._sample(stream, index, at)
        return one._replace(sent_s=one.intended_s + self.late_s) if stream.name == "user" else one


def test_a_client_that_is_too_late_is_void_after_three_tries():
    run = measure(STYLES, STYLES.settle({"thread_dump": False}), Late(0.2))
    assert run.void and "sent late" in run.line and "measured 3 times" in run.line


def test_a_lateness_that_is_small_beside_the_api_s_time_is_told():
    run = measure(STYLES, STYLES.settle({"thread_dump": False}), Late(0.05))
    assert not run.void and run.client["why"] == ""
    assert "the client sent up to 50 ms late" in run.line and "measured" not in run.line


def test_a_client_on_time_is_measured_once():
    lab = FakeLab()
    run = measure(STYLES, STYLES.settle({"thread_dump": False}), lab)
    assert run.notes == () and sum(plan.streams[0].name == "slow" for plan in lab.plans) == 1


def test_its_sliders_redraw_the_bystander_s_line_at_once_and_a_run_drops_its_points():
    from waitlab.widgets.explorer import Explorer

    fixed = {"client": "restclient", "thread_dump": False}

    def runner(_name, progress, stop, **given):  # noqa: ARG001
        return measure(STYLES, STYLES.settle(given), FakeLab())

    explorer = Explorer(STYLES, show=["users", "pool_size", "api_ms"], fixed=fixed, runner=runner)
    assert max(explorer.figure.widget.data[0].y) == pytest.approx(1700)
    explorer.set(pool_size=300)
    assert max(explorer.figure.widget.data[0].y) == 0
    explorer.set(users=600)
    assert max(explorer.figure.widget.data[0].y) == pytest.approx(3700)
    explorer.run()
    assert explorer.wait(20) and len(explorer.runs) == 1
    assert len(explorer.figure.widget.data[2].x) == 100
