"""one-percent without a JVM: what is asked of it, what its lines become, what is refused, what theory is fed with."""

import time

import pytest
from waitlab import experiments
from waitlab.errors import ControlError
from waitlab.experiments import blocked_crowd
from waitlab.experiments.measure import measure

ONE = experiments.get("one-percent")
MODULE = __import__("importlib").import_module("waitlab.experiments.15_blocking_the_loop")


@pytest.fixture(autouse=True)
def nothing_measured_yet(monkeypatch):
    monkeypatch.setattr(blocked_crowd, "_measured_us", {})


class FakeLab:
    """A lab whose plain JVM has ten requests on two loops, one after another, 1 ms each; the last one blocks 20 ms."""

    runtime, lab_id = "embedded", "fake"

    def machine(self):
        return {"cpus": 2}

    def run_main(self, name, options, *, stop, told=None):  # noqa: ARG002
        self.asked = (name, options)
        start = time.monotonic_ns() // 1000
        rows = [(i, start + i // 2 * 1000, start + i // 2 * 1000 + 1000) for i in range(9)]
        lines = [line("normal", i, f"loop-{i % 2 + 1}", a, b) for i, a, b in rows]
        lines.append(line("blocking", 9, "loop-2", start + 4000, start + 24_000))
        found = {"start_us": start, "measured_hold_us": 900.0, "served": 10, "loops": 2, "offload_pool_size": 64}
        return [*lines, found | {"available_processors": 2, "java": "25"}]


def line(series, index, thread, started, ended):
    return {"series": series, "index": index, "thread": thread, "started_us": started, "ended_us": ended}


def settled(**given):
    return ONE.settle({"requests": 10, "blocking_share": 0.1, "loops": 2, "block_ms": 20, **given})


@pytest.fixture
def run():
    return measure(ONE, settled(where="onloop", assignment="pinned"), FakeLab())


def test_its_lines_become_samples_that_add_up(run):
    normal, blocking = run.series["normal"], run.series["blocking"]
    assert (normal.offered, normal.ok, blocking.offered, blocking.ok) == (9, 9, 1, 1)
    assert normal.max_ms == pytest.approx(5, abs=0.01)
    assert blocking.max_ms == pytest.approx(24, abs=0.01)
    assert normal.threads == {"loop-1": 5, "loop-2": 4}


def test_facts_are_counted_from_the_samples(run):
    facts = run.facts
    assert facts["wall_ms"] == pytest.approx(24, abs=0.01)
    assert facts["throughput_per_s"] == pytest.approx(10 / 0.024, rel=0.01)
    assert (facts["blocks_on_busiest_loop"], facts["blocks_by_loop"]) == (1, {"loop-2": 1})
    assert facts["over_block_share"] == 0
    assert run.in_force["event_loops"] == 2 and run.in_force["same_clock"]


def test_theory_is_fed_with_the_measured_hold(run):
    assert run.facts["measured_hold_us"] == 900
    assert run.facts["predicted_wall_ms"] == pytest.approx(4 * 0.9 + 20) == run.model["wall_ms"]
    assert ONE.model(settled(where="none"))["occupancy_ms"] == pytest.approx(9)
    assert ONE.model(settled(where="none", normal_us=100))["occupancy_ms"] == pytest.approx(1)


def test_the_jvm_is_asked_for_what_was_set():
    lab = FakeLab()
    measure(ONE, settled(where="offload", offload_pool_size=3, seed=5), lab)
    name, options = lab.asked
    assert name == "loops"
    wanted = {"where": "offload", "offload_pool_size": 3, "seed": 5, "blocking": 1, "requests": 10, "loops": 2}
    assert wanted.items() <= options.items()


def test_where_nothing_or_something_moved_blocks_no_loop_has_blocks():
    for where in ("none", "offload"):
        facts = measure(ONE, settled(where=where), FakeLab()).facts
        assert facts["blocks_on_busiest_loop"] == 0


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"where": "r2dbc"}, "does not go with server=plain"),
        ({"server": "webflux", "assignment": "pinned"}, "Reactor Netty deals the connections"),
        ({"server": "webflux", "rate_per_s": 5000, "duration_s": 60}, "a run sends, in requests, at most"),
        ({"blocking_share": 1, "block_ms": 10_000, "where": "onloop"}, "a run lasts, in ms, at most"),
        ({"loops": 0}, "loops takes"),
        ({"requests": 1.5}, "requests takes"),
        ({"blocking_share": True}, "blocking_share takes"),
        ({"block_ms": ""}, "block_ms takes"),
        ({"hold": "wait"}, "park, spin"),
        ({"seed": 10**9}, "seed takes"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_starts(given, words):
    with pytest.raises(ControlError, match="Try: ") as refusal:
        ONE.settle(given)
    assert words in refusal.value.text


def test_the_contract_s_defaults():
    usual = ONE.settle({})
    assert {name: usual[name] for name in ("server", "assignment", "where", "hold")} == {
        "server": "plain",
        "assignment": "random",
        "where": "none",
        "hold": "park",
    }
    numbers = ("offload_pool_size", "loops", "requests", "blocking_share", "block_ms", "normal_us", "rate_per_s")
    assert [usual[name] for name in numbers] == [64, 8, 2000, 0.01, 100, 200, 500]
    assert ONE.settle({"server": "webflux"})["loops"] == 4


def test_over_http_who_blocks_is_drawn_and_the_same_for_the_same_seed():
    settings = ONE.settle({"server": "webflux", "where": "onloop"})
    normal, blocking = MODULE._plan("http://x", "/jdbc?s=0.1", settings).streams
    assert (len(normal.at_s), len(blocking.at_s)) == (1485, 15)
    assert sorted(normal.at_s + blocking.at_s) == pytest.approx([i / 500 for i in range(1500)])
    gaps = {round((b - a) * 500) for a, b in zip(blocking.at_s, blocking.at_s[1:], strict=False)}
    assert len(gaps) > 5
    assert MODULE._plan("http://x", "/jdbc?s=0.1", settings).streams[1] == blocking
    assert MODULE._plan("http://x", "/jdbc?s=0.1", {**settings, "seed": 2}).streams[1] != blocking


@pytest.mark.parametrize(
    ("where", "path"),
    [("none", "/fast"), ("onloop", "/jdbc?s=0.1"), ("offload", "/jdbc-isolated?s=0.1"), ("r2dbc", "/r2dbc?s=0.1")],
)
def test_over_http_each_way_has_its_endpoint(where, path):
    assert MODULE._path(ONE.settle({"server": "webflux", "where": where})) == path


def test_the_line_that_a_slider_redraws_has_few_points():
    model = ONE.model({**ONE.settle({"where": "offload"}), "seed": 77})
    assert len(model["stairs"]["x"]) <= blocked_crowd.LINE_POINTS + 2
    line = dict(zip(model["curves"]["offload"]["x"], model["curves"]["offload"]["y"], strict=True))
    assert line[1] < line[4] < line[20] == line[64]


def test_its_sliders_redraw_the_line_at_once_and_a_run_drops_its_points():
    from waitlab.widgets.explorer import Explorer

    names = ["offload_pool_size", "blocking_share", "block_ms", "loops", "assignment"]
    fixed = {"where": "onloop", "assignment": "shared"}

    def runner(_name, progress, stop, **given):  # noqa: ARG001
        return measure(ONE, ONE.settle(given | {"requests": 10, "blocking_share": 0.1}), FakeLab())

    explorer = Explorer(ONE, show=names, fixed=fixed, runner=runner)
    before = max(explorer.figure.widget.data[0].y)
    explorer.set(block_ms=300)
    assert max(explorer.figure.widget.data[0].y) > 2 * before
    explorer.set(assignment="pinned")
    assert max(explorer.figure.widget.data[0].y) > 5 * before
    explorer.run()
    assert explorer.wait(20) and len(explorer.runs) == 1
    assert len(explorer.figure.widget.data[2].x) == 9
