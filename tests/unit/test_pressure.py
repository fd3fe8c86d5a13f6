"""pressure without a JVM: what is asked of it, what becomes of its looks, what is refused."""

import threading

import pytest
from waitlab.errors import ControlError, ServiceError
from waitlab.experiments import get
from waitlab.experiments.measure import measure

EXPERIMENT = get("pressure")
LOOKS = {
    "at_ms": [0, 20, 40, 60],
    "door": [0, 0, 0, 0],
    "transform": [0, 30, 64, 0],
    "batch": [0, 3, 9, 0],
    "sink": [0, 10, 50, 0],
    "produced": [0, 60, 200, 210],
    "consumed": [0, 10, 70, 210],
    "dropped": [0, 0, 0, 0],
    "source_ended_ms": 42,
}
IN_FORCE = {"control": "request-n", "request_n": 64, "batch": 10, "available_processors": 2, "java": "25", "pid": 1}


class Lab:
    """A lab whose chain had four looks."""

    runtime, lab_id = "embedded", "fake"

    def __init__(self, **in_force):
        self.in_force = in_force

    def machine(self):
        return {"cpus": 2}

    def run_main(self, name, options, *, stop, told):
        self.asked, self.stop = (name, options), stop
        told({"produced": 60, "consumed": 10, "dropped": 5})
        told(LOOKS)
        return [{"produced": 60, "consumed": 10, "dropped": 5}, {**LOOKS, "in_force": {**IN_FORCE, **self.in_force}}]


def measured(**given):
    lab, said = Lab(**given), []
    run = measure(EXPERIMENT, EXPERIMENT.settle(given), lab, lambda share, text: said.append((share, text)))
    return run, lab, said


def test_the_facts_are_those_of_the_looks():
    run, _, _ = measured()
    assert {name: run.facts[name] for name in ("produced", "consumed", "dropped", "wall_ms", "inside_peak")} == {
        "produced": 210, "consumed": 210, "dropped": 0, "wall_ms": 60, "inside_peak": 130,
    }  # fmt: skip
    assert run.facts["produced_per_s"] == pytest.approx(5000)
    assert run.facts["queue_peak"] == {"door": 0, "transform": 64, "batch": 9, "sink": 50}
    assert run.facts["queue_by_stage"]["t_s"] == [0, 0.02, 0.04, 0.06]
    assert run.in_force == {name: value for name, value in IN_FORCE.items() if name != "pid"}


def test_limits_that_are_not_those_asked_for_are_no_result():
    with pytest.raises(ServiceError, match="batch is 10 instead of 20"):
        measure(EXPERIMENT, EXPERIMENT.settle({"batch": 20}), Lab())


def test_the_line_names_the_longest_queue():
    run, _, _ = measured(request_n=64)
    assert run.line.startswith("request(64): 210 produced (5,000/s), 210 consumed; longest queue 64 before transform")


def test_the_jvm_is_asked_for_what_was_set_and_tells_how_far_it_is():
    stop = threading.Event()
    lab, said = Lab(control="gate", gate=30), []
    settings = EXPERIMENT.settle({"control": "gate", "gate": 30, "duration_s": 0.5})
    measure(EXPERIMENT, settings, lab, lambda share, text: said.append((share, text)), stop)
    name, options = lab.asked
    assert name == "pressure" and lab.stop is stop
    wanted = {"control": "gate", "gate": 30, "duration_ms": 500, "source_per_s": 1000, "sink_per_s": 500, "batch": 10}
    assert wanted.items() <= options.items()
    assert said[-1] == (pytest.approx(15 / 500), "15 items through, 45 inside")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"control": "gate", "gate": 9}, "a batch of 10 never fills where 9 items may be inside"),
        ({"control": "none", "source_per_s": 20_000, "sink_per_s": 100}, "a run lasts, in s, at most 90"),
        ({"control": "hope"}, "none, gate, request-n, drop"),
        ({"request_n": 0}, "request_n takes"),
        ({"duration_s": 31}, "duration_s takes"),
        ({"sink_per_s": 1.5}, "sink_per_s takes"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_starts(given, words):
    with pytest.raises(ControlError, match="Try: ") as refusal:
        EXPERIMENT.settle(given)
    assert words in refusal.value.text


def test_a_small_gate_is_no_matter_where_there_is_none():
    assert EXPERIMENT.settle({"control": "request-n", "gate": 1})["gate"] == 1


def test_the_model_tells_what_is_made_lost_and_bounded():
    told = {control: EXPERIMENT.model(EXPERIMENT.settle({"control": control})) for control in ("none", "gate", "drop")}
    assert (told["none"]["produced"], told["none"]["wall_ms"]) == (3000, pytest.approx(6010))
    assert told["none"]["inside_peak_at_most"] is None
    assert told["gate"]["produced"] == 1564 and told["gate"]["inside_peak_at_most"] == 64
    assert told["drop"]["produced"] == told["drop"]["consumed"] + told["drop"]["dropped"] == 3000
    assert told["none"]["curves"]["pressure"]["sink"]["y"] == [0, 1500, 0]
