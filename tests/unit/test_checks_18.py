"""Chapter 18's exercises: what passes, and what the hints look at."""

import pytest
from waitlab import checks
from waitlab.load.samples import Sample
from waitlab.runs import Run, Series


@pytest.fixture(autouse=True)
def no_tries_yet():
    checks.forget()


def made(experiment, settings, facts, series):
    usual = {"runtime": "embedded", "live": True, "machine": {}, "commit": "", "started_at": "", "line": ""}
    return Run(experiment, settings, {}, series=series, facts=facts, model={}, duration_s=1.0, client={}, **usual)


def rush(**given):
    settings = {"threads": "fixed", "pool_size": 200, "gate": 0, "gate_at": "door", "on_full": "wait"}
    settings |= {"downstream": "semaphore", "capacity": 50, "hold_ms": 20, "requests": 5000, "payload_kb": 20}
    facts = {"throughput_per_s": 2400.0, "served": 5000, "heap_peak_mb": 100.0, "in_flight_peak": 5000}
    facts |= {name: given.pop(name) for name in facts if name in given}
    return made("admission", {**settings, **given}, facts, {})


def stack(p50_ms=20.0, first_limit="none", failed=0, **given):
    settings = {"stack": "webflux-r2dbc", "rate_per_s": 700, "query_ms": 20, "r2dbc_pool_size": 10} | given
    done = p50_ms / 1000
    samples = [Sample("requests", i, 0.0, 0.0, done, done, 200, "ok", "", 0, 1) for i in range(100 - failed)]
    samples += [Sample("requests", i, 0.0, 0.0, done, done, 0, "timeout", "", 0, 1) for i in range(100 - failed, 100)]
    series = {"requests": Series("requests", tuple(samples))}
    return made("four-stacks", settings, {"first_limit": first_limit}, series)


def passes(name, answer):
    return checks.check(name, answer).passed


def hints(name, answer):
    return [checks.check(name, answer).text for _ in range(3)]


def test_gate_width():
    assert passes("gate-width", 100)
    question, pointer, reason = hints("gate-width", 400)
    assert "with 400 inside" in question and "1,000 ms" in pointer and "= 100." in reason


@pytest.mark.parametrize("pool", [50, 60, 80])
def test_pool_that_does_passes_with_the_downstreams_places(pool):
    assert passes("pool-that-does", rush(pool_size=pool))


def test_pool_that_does_looks_at_places_and_spare_threads():
    question, pointer, reason = hints("pool-that-does", rush(pool_size=20, throughput_per_s=980.0))
    assert "980 requests/s" in question and "at most 1,000" in pointer and reason.endswith("50.")
    assert "What did 150 of them do" in hints("pool-that-does", rush(pool_size=200))[0]
    assert "busy" in hints("pool-that-does", rush(pool_size=50, throughput_per_s=900.0))[0]


@pytest.mark.parametrize("given", [{"capacity": 100}, {"threads": "virtual"}, {"gate": 10}, {"hold_ms": 5}])
def test_pool_that_does_wants_the_same_downstream(given):
    name = next(iter(given))
    assert f"this run had {name}={given[name]}" in hints("pool-that-does", rush(pool_size=50, **given))[0]


def test_small_heap_passes_where_all_are_served_from_little():
    assert passes("small-heap", rush(threads="virtual", gate=200, heap_peak_mb=6.0, in_flight_peak=200))


def test_small_heap_looks_at_who_holds():
    virtual = {"threads": "virtual", "heap_peak_mb": 108.0}
    assert "5,000 in flight" in hints("small-heap", rush(**virtual))[0]
    checks.forget()
    inside = rush(gate=200, gate_at="inside", **virtual)
    first, _, reason = hints("small-heap", inside)
    assert "stood inside, and 5,000 threads were live" in first and 'gate_at="door"' in reason
    lost = rush(threads="virtual", served=200, gate=200, on_full="reject", heap_peak_mb=4.0)
    assert "200 of 5,000 were served" in hints("small-heap", lost)[0]
    assert "keep virtual threads" in hints("small-heap", rush(heap_peak_mb=1.0))[0]


def test_past_the_knee():
    assert passes("past-the-knee", stack(r2dbc_pool_size=20))
    slow = stack(p50_ms=900.0, first_limit="r2dbc pool")
    question, pointer, reason = hints("past-the-knee", slow)
    assert (
        "the first limit was the r2dbc pool" in question
        and "= 14 at once" in pointer
        and "r2dbc_pool_size=20" in reason
    )
    assert "99 of 100" in hints("past-the-knee", stack(failed=1))[0]
    assert "busy" in hints("past-the-knee", stack(p50_ms=60.0))[0]
    assert "this run had rate_per_s=300" in hints("past-the-knee", stack(rate_per_s=300))[0]
