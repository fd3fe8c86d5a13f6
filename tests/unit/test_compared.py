"""What theory predicts has a fact of the same name, so that the two can be held against each other."""

from __future__ import annotations

import crowds
import pytest
from fake_stacks import Lab as FakeStacks
from fake_trains import T0
from fake_trains import FakeLab as FakeTrains
from waitlab import experiments
from waitlab.experiments.compared import series_facts, without_fact
from waitlab.experiments.measure import measure
from waitlab.load.samples import Sample
from waitlab.runs import Series

LOOKS = ("at_ms", "door", "transform", "batch", "sink", "produced", "consumed", "dropped")

SEEN = ("at_us", "pool_active", "pool_waiting", "pool_timeouts")
ANSWERS = ("started_us", "source", "refused", "age_ms")


class FakeChain(crowds.FakeLab):
    """A plain JVM whose chain was looked at twice."""

    def run_main(self, _name, _options, *, stop, told):  # noqa: ARG002
        looks = {key: [0, 9] for key in LOOKS}
        return [{**looks, "source_ended_ms": 5, "in_force": {}}]


def stacks():
    lab = FakeStacks()
    lab.runtime, lab.machine = "embedded", dict
    return lab


def trains():
    lab = FakeTrains()
    lab.watch = dict.fromkeys(("pool_active_peak", "pool_waiting_peak", "pool_timeouts"), 0)
    lab.watch |= {"connections_used": 9, "held_ms_mean": 1.0}
    lab.watch["samples"] = {key: [] for key in SEEN}
    lab.breaker = dict.fromkeys(("breaker", "stale_cache", "timeout_ms", "wait_open_ms", "window", "probes"), 1)
    lab.breaker |= dict.fromkeys(("stale_served", "refused_by_breaker", "timeouts", "failed"), 0)
    lab.breaker |= {"states": [], "answers": {key: [] for key in ANSWERS}}
    return lab


LABS = {
    "admission": crowds.FakeLab, "cpu-bound": crowds.FakeLab, "pressure": FakeChain, "four-stacks": stacks,
    "client-styles": trains, "connection-held": trains, "error-after-commit": trains, "circuit-breaker": trains,
}  # fmt: skip
SMALL = {"admission": {"requests": crowds.FEW, "capacity": 2}}
WAYS = {
    "admission": [{}, {"threads": "virtual", "gate": 2, "on_full": "reject"}, {"downstream": "unguarded"}],
    "pressure": [{"control": control} for control in ("none", "gate", "request-n", "drop")],
    "four-stacks": [{"stack": "mvc-platform"}, {"stack": "webflux-r2dbc", "rate_per_s": 700}],
    "connection-held": [{"boundary": boundary} for boundary in ("split", "transaction", "osiv")],
    "client-styles": [{"client": client} for client in ("restclient", "webclient-mono")],
    "circuit-breaker": [{"api": api} for api in ("ok", "slow", "down")],
}


def settled(name):
    experiment = experiments.get(name)
    for given in WAYS.get(name, [{}]):
        yield experiment, experiment.settle({**SMALL.get(name, {}), **given})


def test_every_experiment_of_both_chapters_is_looked_at():
    here = {name for name, e in experiments.known().items() if e.chapter in ("18_choosing", "lab_webclient")}
    assert here == set(LABS)


@pytest.mark.parametrize("name", LABS)
def test_each_prediction_has_its_fact(name):
    for experiment, settings in settled(name):
        run = measure(experiment, settings, LABS[name]())
        assert without_fact(run.model, run.facts) == []


def test_a_prediction_without_a_fact_is_found_and_lines_and_bounds_are_none():
    line = {"x": [0.0], "y": [1.0]}
    facts = {"wall_ms": 1, "queue_peak": {}}
    model = {"wall_ms": 1, "curve": line, "curves": {"pool": line}, "none": {}, "queue_peak_at_most": {"sink": 3.0}}
    assert without_fact(model, facts) == []
    assert without_fact({**model, "longest_ms": 2.0, "ways": {"fast": 1}}, facts) == ["longest_ms", "ways"]


def test_a_series_tells_what_theory_asks_for_and_nothing_else():
    def one(name, ms):
        return Series(name, (Sample(name, 0, T0, T0, T0, T0 + ms / 1000, 200, "ok", "t", None, None),))

    series = {"slow": one("slow", 40.0), "user": one("user", 8.0)}
    asked = ("p50_ms", "user_p50_ms", "slow_wall_ms", "slow_ok", "user_p99_ms", "first_limit")
    found = series_facts(asked, series, T0)
    assert {name: value for name, value in found.items() if value is not None} == {
        "p50_ms": pytest.approx(40), "user_p50_ms": pytest.approx(8), "slow_wall_ms": pytest.approx(40), "slow_ok": 1,
    }  # fmt: skip
    assert set(asked) - set(found) == {"first_limit"}
