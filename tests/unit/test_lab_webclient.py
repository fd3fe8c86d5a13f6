"""The WebClient lab's experiments without servers: what is asked, what is refused, what becomes of the answers."""

import time

import pytest
from waitlab import experiments
from waitlab.errors import ControlError
from waitlab.experiments import circuit_breaker, lab_webclient, trains
from waitlab.experiments.measure import measure
from waitlab.load.client import LoadResult
from waitlab.load.samples import Sample
from waitlab.services.threads import ThreadInfo

STYLES, HELD, BREAKER = (experiments.get(n) for n in ("client-styles", "connection-held", "circuit-breaker"))
T0 = 1000.0
BLOCK = ("java.base/jdk.internal.misc.Unsafe.park(Native Method)", "reactor.core.publisher.Mono.block(Mono.java:1)")


class FakeApp:
    """Answers the control calls of both servers as they do."""

    name, pid, url, same_clock = "mvc", 7, "http://127.0.0.1:1", True

    def __init__(self, lab):
        self.lab = lab

    def settings(self):
        return {"virtual_port": 2, "jdbc_connections": 999, "pool_size": 200}

    def threads(self):
        return [ThreadInfo(f"x-exec-{i}", "WAITING", False, BLOCK) for i in range(self.lab.hanging)]

    def check_alive(self):
        pass

    def database_died_s(self):
        return None

    def get(self, path, **params):
        self.lab.asked.append((path, params))
        if path.startswith("/user/arrivals"):
            return {"connection_held_in_call": "transaction" in path}
        if path == "/cpu":
            self.lab.cpu_us += 30_000
            return {"process_cpu_us": self.lab.cpu_us}
        return {
            "/external": {"waiting": self.lab.hanging},
            "/threads/peak": {"platform_threads_peak": 61, "platform_threads_baseline": 30},
            "/watch": self.lab.watch,
            "/breaker": self.lab.breaker,
            "/board": {},
        }[path]

    def put(self, path, **params):
        self.lab.put.append((path, params))
        return self.lab.breaker if path == "/breaker" else {}

    def post(self, path, **params):  # noqa: ARG002
        kept = params["client"] == "webclient-mono"
        return {"client": params["client"], "failed": "no", "rows_before": 1, "rows_after": 1 + kept, "kept": kept}

    def delete(self, path):
        self.lab.deleted.append(path)
        return {}


class FakeLab:
    """Two servers whose every request is answered after 100 ms, and a load engine that is never late."""

    runtime = "embedded"

    def __init__(self, hanging=3, answer=None):
        self.lab_id = str(time.monotonic_ns())
        self.hanging, self.cpu_us = hanging, 0
        self.asked, self.put, self.deleted, self.plans, self.apps = [], [], [], [], []
        self.answer = answer or (lambda stream, index, at: (100.0, "ok"))
        self.watch, self.breaker = {}, {}

    def running(self):
        return {}

    def machine(self):
        return {"cpus": 2}

    def app(self, name, **settings):
        self.apps.append((name, settings))
        return FakeApp(self)

    def run_plan(self, plan, progress, stop):  # noqa: ARG002
        self.plans.append(plan)
        samples = tuple(self._sample(s, i, at) for s in plan.streams for i, at in enumerate(s.at_s))
        facts = {"retransmits": 0, "cpu_share": 0.1, "saturated": False, "why": ""}
        return LoadResult(T0, samples, facts, False)

    def _sample(self, stream, index, at):
        took, cls = (1.0, "ok") if stream.name.startswith(("floor", "warm")) else self.answer(stream, index, at)
        sent, done = T0 + at, T0 + at + took / 1000
        status = {"ok": 200, "rejected": 503}.get(cls, 504)
        return Sample(
            stream.name, index, sent, sent, done, done, status, cls, "t", round(sent * 1e6), round(done * 1e6)
        )


# -- client-styles -----------------------------------------------------------------------------------------


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


def test_the_line_that_a_slider_redraws_is_quick():
    settings = STYLES.settle({"users": 2000, "user_calls": 2000})
    began = time.monotonic()
    STYLES.model(settings)
    assert time.monotonic() - began < 0.5


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


# -- connection-held ---------------------------------------------------------------------------------------


def watched(**given):
    at = [round((T0 + ms / 1000) * 1e6) for ms in (-500, 0, 100, 900, 5000)]
    seen = {"at_us": at, "pool_active": [1, 2, 10, 10, 0], "pool_waiting": [0, 0, 5, 5, 0]}
    seen |= {"workers_busy": [0] * 5, "pool_timeouts": [0, 0, 0, 3, 3]}
    peaks = {"pool_active_peak": 10, "pool_waiting_peak": 5, "pool_timeouts": 3, "connections_used": 9}
    return {**peaks, "held_ms_mean": 1.0, "samples": seen, **given}


def test_the_pool_is_told_on_the_run_s_own_clock():
    lab = FakeLab(answer=lambda stream, index, at: (1000.0, "ok" if index else "rejected"))
    lab.watch = watched()
    run = measure(HELD, HELD.settle({"boundary": "transaction", "users": 5, "user_calls": 2}), lab)
    facts = run.facts
    assert facts["pool"] == {"at_ms": [0, 100, 900], "active": [2, 10, 10], "waiting": [0, 5, 5], "timeouts": [0, 0, 3]}
    assert (facts["pool_timeouts"], facts["pool_active_p50"], facts["connection_held"]) == (3, 10, True)
    assert "connection held during the call, 3 time-outs at the pool" in run.line
    assert ("mvc", {"connection_timeout_ms": 1500, "open_in_view": False}) in [
        (name, {k: v for k, v in given.items() if k in ("connection_timeout_ms", "open_in_view")})
        for name, given in lab.apps
    ]


@pytest.mark.parametrize(
    ("given", "held", "timeouts", "per_s"),
    [
        ({"boundary": "transaction", "user_calls": 0}, True, 30, 10),
        ({"boundary": "osiv", "user_calls": 0}, True, 30, 10),
        ({"boundary": "split", "user_calls": 0}, False, 0, 50),
        ({"boundary": "transaction", "client": "webclient-mono"}, False, 0, 50),
        ({"boundary": "transaction", "connection_timeout_ms": 60_000, "user_calls": 0}, True, 0, 10),
    ],
)
def test_theory_of_a_held_connection(given, held, timeouts, per_s):
    model = HELD.model(HELD.settle(given))
    assert (model["connection_held"], model["pool_timeouts"]) == (held, timeouts)
    assert model["slow_throughput_per_s"] == pytest.approx(per_s)
    assert model["ceiling_per_s"] == (10 if held else None)


def test_bystanders_at_the_same_pool_give_up_too():
    """Sent before 0.5 s they wait over 1.5 s for the third wave: 44 of the hundred that come from 0.15 s, each 8 ms."""
    model = HELD.model(HELD.settle({"boundary": "transaction"}))
    assert model["pool_timeouts"] == 30 + 44
    assert min(model["curve"]["x"]) >= 0.5 and max(model["curve"]["y"]) <= 1500


def test_an_error_after_the_commit_is_told_row_by_row():
    run = measure(experiments.get("error-after-commit"), {"cpus": 2}, FakeLab())
    assert [row["kept"] for row in run.facts["rows"]] == [False, False, True]
    assert run.line.endswith("webclient-mono: the row is kept")


# -- circuit-breaker ---------------------------------------------------------------------------------------


def answered(stream, index, at):  # noqa: ARG001
    if stream.name != "requests":
        return 5.0, "ok"
    return (3000.0, "ok") if index < 4 else (6.0, "ok" if index < 8 else "rejected")


def test_each_answer_is_found_by_the_moment_its_work_began():
    lab = FakeLab(answer=answered)
    began = [round((T0 + i / 10) * 1e6) for i in range(8)]
    told = {"started_us": began, "ms": [0] * 8, "source": ["stale"] * 8, "refused": [False] * 4 + [True] * 4}
    told["age_ms"] = [3000.0 + 100 * i for i in range(8)]
    states = [("CLOSED", -0.5), ("OPEN", 0.35), ("HALF_OPEN", 0.7)]
    lab.breaker = dict.fromkeys(("breaker", "stale_cache", "timeout_ms", "wait_open_ms", "window", "probes"), 1)
    lab.breaker |= {"states": [{"state": name, "at_us": (T0 + s) * 1e6} for name, s in states], "answers": told}
    lab.breaker |= {"stale_served": 8, "refused_by_breaker": 6, "timeouts": 4, "failed": 0}
    run = measure(BREAKER, BREAKER.settle({"api": "down", "requests": 10}), lab)
    facts = run.facts
    assert facts["states"] == [
        {"at_ms": 0, "state": "closed"},
        {"at_ms": pytest.approx(350, abs=0.2), "state": "open"},
        {"at_ms": pytest.approx(700, abs=0.2), "state": "half-open"},
    ]
    assert facts["answers"]["source"] == ["stale"] * 8 + ["none"] * 2
    assert facts["answers"]["refused"] == [False] * 4 + [True] * 6
    assert facts["max_once_open_ms"] == pytest.approx(6, abs=0.01) and facts["p99_once_open_ms"] is None
    assert facts["oldest_answer_ms"] == 3700
    assert "open at 0.3 s" in run.line or "open at 0.4 s" in run.line
    puts = [params for path, params in lab.put if path == "/breaker"]
    assert puts[-1]["timeout_ms"] == 3000 and ("/board", {"api": "ok"}) in lab.asked


def test_p99_needs_a_hundred_and_counts_failures():
    samples = tuple(
        Sample("requests", i, T0 + i, T0 + i, T0 + i, T0 + i + 1, 503, "rejected", "", None, None) for i in range(100)
    )
    empty = {"started_us": [], "source": [], "refused": [], "age_ms": []}
    counts = {"stale_served": 0, "refused_by_breaker": 100, "timeouts": 0, "failed": 0}
    facts = circuit_breaker._facts({"answers": empty, "states": [], **counts}, LoadResult(T0, samples, {}, False))
    assert facts["answer_ms_p99"] == pytest.approx(1000) == facts["p99_once_open_ms"]
    assert facts["oldest_answer_ms"] is None


@pytest.mark.parametrize(
    ("given", "opens", "half", "takes"),
    [
        ({"api": "down"}, 3900, 4900, 3000),
        ({"api": "slow"}, 3900, 4900, 3000),
        ({"api": "slow", "api_ms": 1000}, None, None, 1000),
        ({"api": "down", "breaker": "off"}, None, None, 3000),
        ({"api": "ok"}, None, None, 0),
        ({"api": "down", "timeout_ms": 500, "window": 5}, 900, 1900, 500),
    ],
)
def test_theory_of_the_breaker(given, opens, half, takes):
    model = BREAKER.model(BREAKER.settle(given))
    assert (model["opens_at_ms"], model["half_open_at_ms"], model["answer_ms"]) == (opens, half, takes)
