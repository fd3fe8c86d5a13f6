"""admission and cpu-bound without a JVM: what is asked, what lines become, how a run may end, what is refused."""

from importlib import import_module

import pytest
from crowds import ADMISSION, COMPUTING, FEW, FakeLab, ended, run
from waitlab import limits
from waitlab.errors import ControlError, ServiceError
from waitlab.experiments import rush

choosing = import_module("waitlab.experiments.18_choosing")

# -- what a run becomes --------------------------------------------------------------------------------------------


def test_each_request_is_a_sample_from_the_start_to_its_end():
    found = run()
    served = found.series["served"]
    assert (served.offered, served.ok, served.errors) == (FEW, FEW, {})
    assert [round(s.latency_ms) for s in served.samples] == [20, 20, 40, 40, 60, 60, 80, 80, 100, 100]
    assert served.threads == {"pool-1": 5, "pool-2": 5}
    assert served.samples[2].server_ended_us - served.samples[2].server_started_us == 20_000
    assert found.in_force["same_clock"] and found.in_force["gc"] == "serial"


def test_facts_are_counted_from_the_samples():
    facts = run().facts
    assert facts["wall_ms"] == facts["predicted_wall_ms"] == 100
    assert (facts["served"], facts["dropped"], facts["failed"], facts["ended_by"]) == (FEW, 0, 0, "finished")
    assert facts["throughput_per_s"] == facts["ceiling_per_s"] == 100
    assert (facts["in_flight_peak"], facts["heap_peak_mb"]) == (2, 2.5)
    assert (facts["measured_hold_ms"], facts["hand_over_ms"]) == (20, 0)
    assert facts["in_flight_over_time"][0] == {"at_ms": 0, "value": 2}
    assert facts["heap_over_time"][1] == {"at_ms": 40, "value": 6.0}


@pytest.mark.parametrize(
    ("how", "cls", "fact"), [(1, "rejected", "dropped"), (2, "refused", "refused"), (3, "reset", "failed")]
)
def test_who_was_not_served_is_counted_by_the_reason(how, cls, fact):
    found = run(FakeLab(unserved=6, how=how), threads="virtual", gate=2, on_full="reject")
    assert found.series["served"].errors == {cls: 6}
    assert found.facts["served"] == 4 and found.facts[fact] == 6
    assert found.facts["served"] + found.facts["dropped"] + found.facts["failed"] == FEW
    assert found.facts["throughput_per_s"] == pytest.approx(4 / 0.04)


def test_the_jvm_is_asked_for_what_was_set():
    lab = FakeLab()
    run(lab, threads="virtual", gate=3, gate_at="inside", hold_ms=30, heap_mb=512, downstream="postgres", payload_kb=4)
    wanted = {"threads": "virtual", "gate": 3, "gate_at": "inside", "hold_ms": 30, "payload_kb": 4, "requests": FEW}
    assert wanted.items() <= lab.options.items()
    assert lab.asked == {"heap_mb": 512, "wall_s": 20.0 + 2 // 5, "database": True}
    run(lab, wall_limit_s=7)
    assert lab.asked == {"heap_mb": 2048, "wall_s": 7.0, "database": False}


def test_the_limits_are_those_that_the_jvm_reads_back():
    with pytest.raises(ServiceError, match="capacity is 1 instead of 2"):
        run(FakeLab(told={"capacity": 1}))
    with pytest.raises(ServiceError, match="heap_mb is 371 instead of 2048"):
        run(FakeLab(told={"heap_max_mb": 371}))


# -- how a run may end ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("how", "cls"), [("out_of_memory", "reset"), ("wall_limit", "timeout")])
def test_a_run_that_died_is_a_finding(how, cls):
    found = run(FakeLab(unserved=4, ends_with=ended(how)))
    assert found.facts["ended_by"] == how
    assert found.series["served"].errors == {cls: 4}
    assert found.facts["failed"] == 4 and found.facts["heap_peak_mb"] is None
    assert found.facts["in_flight_peak"] == 2
    assert not found.partial and found.series["served"].offered == FEW
    assert {"out_of_memory": "out of memory", "wall_limit": "wall limit"}[how] in found.line


def test_a_stopped_run_keeps_what_it_has_and_says_so():
    found = run(FakeLab(unserved=4, ends_with=KeyboardInterrupt()))
    assert found.partial and found.facts["ended_by"] == "stopped" and found.facts["served"] == 6


def test_a_jvm_that_never_came_to_its_crowd_is_an_error():
    class Dead(FakeLab):
        def run_main(self, *_args, **_how):
            raise ended("out_of_memory")

    with pytest.raises(ServiceError, match="before the crowd was there"):
        run(Dead())


def test_progress_says_how_far_it_is():
    said = []
    told = rush.Told(FEW, lambda share, text: said.append((share, text)))
    FakeLab().run_main("admission", ADMISSION.settle({"requests": FEW}), stop=None, told=told.take, heap_mb=64)
    assert [share for share, _ in said] == [0.4, 1.0]
    assert said[0][1] == "4 of 10 done, 2 in flight, 6 MB of heap"


# -- what is refused -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"on_full": "reject"}, "without a gate nothing can be full"),
        ({"payload_kb": 200}, "3,906 MB of data"),
        ({"payload_kb": 50, "heap_mb": 1024}, "60% of the heap is 614 MB"),
        ({"pool_size": 1}, "a run lasts, in ms, at most 120000"),
        ({"downstream": "postgres", "capacity": 300}, "the database gives at most"),
        ({"heap_mb": 63}, "heap_mb takes"),
        ({"gate": -1}, "gate takes"),
        ({"gate": 1.5}, "gate takes"),
        ({"threads": "platform"}, "fixed, virtual"),
        ({"force": "maybe"}, "true or false"),
        ({"requests": ""}, "requests takes"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_starts(given, words):
    with pytest.raises(ControlError, match="Try: ") as refusal:
        ADMISSION.settle(given)
    assert words in refusal.value.text


def test_a_heap_larger_than_the_machine_s_memory_is_refused(monkeypatch):
    monkeypatch.setattr(limits, "memory_mb", lambda: 1000)
    with pytest.raises(ControlError, match="a JVM's heap may take at most 600"):
        ADMISSION.settle({"heap_mb": 1024})


def test_data_that_does_not_fit_may_be_asked_for_or_held_back_at_the_door():
    assert ADMISSION.settle({"payload_kb": 200, "force": True})["payload_kb"] == 200
    assert ADMISSION.settle({"payload_kb": 200, "gate": 200})["payload_kb"] == 200
    with pytest.raises(ControlError):
        ADMISSION.settle({"payload_kb": 200, "gate": 200, "gate_at": "inside"})


@pytest.mark.parametrize(
    ("given", "places"),
    [
        ({}, 50),
        ({"pool_size": 20}, 20),
        ({"pool_size": 20, "threads": "virtual"}, 50),
        ({"gate": 7}, 7),
        ({"downstream": "unguarded", "gate": 7}, None),
    ],
)
def test_a_place_is_handed_over_among_those_that_can_be_taken(given, places):
    assert rush._places(ADMISSION.settle({"requests": 1000, **given})) == places


def test_a_database_that_may_have_gone_is_named():
    told = [choosing._nothing_told("wall_limit", {"downstream": name}).text for name in ("postgres", "semaphore")]
    assert ["database" in text for text in told] == [True, False] and all("wall limit" in text for text in told)


def test_nobody_stands_inside_of_no_gate():
    with pytest.raises(ControlError, match="gate_at=inside does not go with gate=0"):
        ADMISSION.settle({"gate_at": "inside"})


def test_a_refusal_shows_its_numbers_as_they_are_typed():
    with pytest.raises(ControlError, match=r"ask for 4000000, more .* at most 120000"):
        ADMISSION.settle({"capacity": 1, "hold_ms": 200})


def test_the_contract_s_defaults():
    usual = ADMISSION.settle({})
    words = {"threads": "fixed", "on_full": "wait", "downstream": "semaphore", "gate_at": "door", "force": False}
    numbers = {"pool_size": 200, "gate": 0, "requests": 20_000, "capacity": 50, "hold_ms": 20, "heap_mb": 2048}
    assert (words | numbers | {"payload_kb": 0, "wall_limit_s": 44, "downstream_limit": 1000}).items() <= usual.items()
    usual = COMPUTING.settle({})
    assert (usual["threads"], usual["pool_size"], usual["tasks"], usual["rounds"]) == ("cores", 200, 2000, 5)


# -- theory and sliders ----------------------------------------------------------------------------------------------


def test_theory_of_the_five_ways():
    model = ADMISSION.model(ADMISSION.settle({"threads": "virtual", "gate": 200, "on_full": "reject"}))
    assert {n: model[n] for n in ("wall_ms", "served", "dropped", "in_flight_peak")} == {
        "wall_ms": 80, "served": 200, "dropped": 19_800, "in_flight_peak": 200,
    }  # fmt: skip
    bare = ADMISSION.model(ADMISSION.settle({"threads": "virtual", "payload_kb": 50}))
    assert (bare["in_flight_peak"], bare["p50_ms"]) == (20_000, 4000)


def test_its_sliders_redraw_the_line_at_once_and_a_run_drops_its_points():
    from waitlab.widgets.explorer import Explorer

    def runner(_name, progress, stop, **given):  # noqa: ARG001
        return run(threads=given["threads"])

    show = ["pool_size", "gate", "capacity", "hold_ms"]
    explorer = Explorer(ADMISSION, show=show, fixed={"threads": "virtual"}, runner=runner)
    line = explorer.figure.widget.data[0]
    assert max(line.y) == 8000
    explorer.set(hold_ms=40)
    assert max(line.y) == 16_000
    explorer.set(capacity=100)
    assert max(line.y) == 8000
    explorer.set(gate=10)
    assert max(line.y) == 80_000
    assert explorer.figure.widget.layout.xaxis.title.text == "request, in the order of arrival"
    explorer.run()
    assert explorer.wait(20) and len(explorer.runs) == 1
    assert list(explorer.figure.widget.data[2].x) == list(range(1, FEW + 1))
