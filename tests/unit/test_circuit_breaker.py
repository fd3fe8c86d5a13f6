"""circuit-breaker without servers: answers found by their moments, states, theory."""

import pytest
from fake_trains import T0, FakeLab
from waitlab import experiments
from waitlab.experiments import circuit_breaker
from waitlab.experiments.measure import measure
from waitlab.load.client import LoadResult
from waitlab.load.samples import Sample

BREAKER = experiments.get("circuit-breaker")


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
    assert (facts["opens_at_ms"], facts["half_open_at_ms"]) == (
        facts["states"][1]["at_ms"],
        facts["states"][2]["at_ms"],
    )
    assert run.line.endswith("; 8 stale; 6 refused, slowest 6 ms")
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
        ({"api": "down"}, 3900, 5000, 3000),
        ({"api": "slow"}, 3900, 5000, 3000),
        ({"api": "slow", "api_ms": 1000}, None, None, 1000),
        ({"api": "down", "breaker": "off"}, None, None, 3000),
        ({"api": "ok"}, None, None, 0),
        ({"api": "down", "timeout_ms": 500, "window": 5}, 900, 2000, 500),
    ],
)
def test_theory_of_the_breaker(given, opens, half, takes):
    model = BREAKER.model(BREAKER.settle(given))
    assert (model["opens_at_ms"], model["half_open_at_ms"], model["answer_ms_max"]) == (opens, half, takes)


def test_a_breaker_that_never_sees_a_full_window_never_opens():
    few = {"api": "down", "requests": 10, "window": 11}
    assert BREAKER.model(BREAKER.settle(few))["opens_at_ms"] is None
    assert BREAKER.model(BREAKER.settle({**few, "window": 10}))["opens_at_ms"] == 3900
