"""The decision sheet: hand-computed cases, one for each rule and each verdict, and links that can be run."""

import ast
from itertools import product

import pytest
from waitlab import decide, experiments
from waitlab.deciding import CONTROLS, STACKS
from waitlab.errors import ControlError

PLATFORM, VIRTUAL, OFFLOADED, R2DBC = STACKS


def verdicts(**numbers):
    return {row.stack: row.verdict for row in decide(**numbers)}


# -- the rules -----------------------------------------------------------------------------------------------


def test_every_limit_has_its_rate():
    sheet = decide(wait_ms=20, cpu_ms=5, cores=2, pool_size=100, offload_pool_size=8, connections=10, gate=50)
    cpu, jdbc, gate = 2 / 0.005, 10 / 0.020, 50 / 0.025
    assert sheet[PLATFORM].ceilings == {"cpu": cpu, "workers": 100 / 0.025, "jdbc pool": jdbc, "gate": gate}
    assert sheet[VIRTUAL].ceilings == {"cpu": cpu, "jdbc pool": jdbc, "gate": gate}
    assert sheet[OFFLOADED].ceilings == {"cpu": cpu, "offload pool": 8 / 0.020, "jdbc pool": jdbc, "gate": gate}
    assert sheet[R2DBC].ceilings == {"cpu": cpu, "r2dbc pool": jdbc, "gate": gate}


def test_the_lowest_limit_comes_first():
    rows = decide(wait_ms=20, cpu_ms=0.5, cores=2, connections=10)
    assert [row.first_limit for row in rows] == ["jdbc pool", "jdbc pool", "jdbc pool", "r2dbc pool"]
    assert {row.ceiling_per_s for row in rows} == {500}
    assert {row.first_limit for row in decide(cpu_ms=10, cores=2)} == {"cpu"}
    assert decide(pool_size=5)[PLATFORM].first_limit == "workers"
    assert decide(offload_pool_size=5)[OFFLOADED].first_limit == "offload pool"


def test_what_waits_for_nothing_uses_no_connection():
    assert {row.first_limit for row in decide(wait_ms=0, cpu_ms=5, connections=1)} == {"cpu"}
    assert decide(connections=0, cpu_ms=0.01)[VIRTUAL].ceilings == {"cpu": 200_000}


def test_below_the_ceiling_littles_law_counts_who_is_there():
    row = decide(rate_per_s=300, wait_ms=19.5, cpu_ms=0.5)[VIRTUAL]
    assert row.in_flight == pytest.approx(6) and row.grows_per_s == 0 and row.hit == "none"
    assert row.utilisation == pytest.approx(300 / (10 / 0.0195))


def test_above_it_the_crowd_grows_by_the_surplus():
    row = decide(rate_per_s=700, wait_ms=20, connections=10)[VIRTUAL]
    assert (row.in_flight, row.grows_per_s, row.hit) == (None, 200, "jdbc pool")
    assert row.utilisation == pytest.approx(1.4)


def test_threads_follow_what_each_stack_lets_wait():
    rows = decide(rate_per_s=1000, wait_ms=99, cpu_ms=1, cores=2, connections=0)
    assert [row.threads_needed for row in rows] == [100, 2, 4 + 99, 4]
    rows = decide(cores=8, pool_size=200, offload_pool_size=80)
    assert [row.stacks_reserved_mb for row in rows] == [200, 8, 8 + 80, 8]


def test_a_crowd_is_begun_by_whoever_may():
    begun = {"crowd": 20_000, "pool_size": 200, "offload_pool_size": 20, "connections": 50}
    assert [row.in_flight_peak for row in decide(**begun)] == [200, 20_000, 20, 20_000]
    assert [row.in_flight_peak for row in decide(**begun, gate=100)] == [100, 100, 20, 100]
    assert [row.downstream_peak for row in decide(**begun)] == [50, 50, 20, 50]
    begun["connections"] = 0
    assert [row.downstream_peak for row in decide(**begun)] == [200, 20_000, 20, 20_000]


def test_whoever_is_inside_is_in_memory_also_in_a_queue():
    mb = [row.heap_peak_mb for row in decide(crowd=1024, payload_kb=100)]
    assert mb == [100, 102, 100, 100]
    assert [row.heap_peak_mb for row in decide(crowd=1024, payload_kb=100, gate=256)] == [25, 25.5, 25, 25]


def test_the_gate_admits_what_is_answered_in_time():
    """2,500 requests/s for 80 ms are 200; the gate itself is left out of the ceiling."""
    for gate in (0, 20):
        row = decide(wait_ms=20, connections=50, cpu_ms=0.01, patience_ms=80, gate=gate)[VIRTUAL]
        assert row.admit == 200
    assert decide(wait_ms=20, cpu_ms=0.5, connections=1, patience_ms=21)[VIRTUAL].admit == 1


# -- the verdicts --------------------------------------------------------------------------------------------


def test_over_a_ceiling_the_limit_is_named():
    assert all("connections are the wall" in said for said in verdicts(rate_per_s=700).values())
    assert all("Out of processors" in said for said in verdicts(cpu_ms=10).values())
    assert all("keeps out" in said for said in verdicts(gate=1).values())
    assert "7 threads would do" in verdicts(pool_size=2)[PLATFORM]
    assert "6 calls wait at once" in verdicts(offload_pool_size=2)[OFFLOADED]


def test_beyond_four_thousand_platform_threads_only_virtual_ones_help():
    said = verdicts(rate_per_s=3000, wait_ms=1999.5, cpu_ms=0.5, connections=0, patience_ms=5000)
    assert "needs 6,000 threads" in said[PLATFORM] and "It fits" in said[VIRTUAL]


def test_below_it_the_crowd_decides():
    said = verdicts()
    assert said[PLATFORM] == "It fits. The pool is the admission limit; its queue has none, and holds 195 MB."
    assert "admit at most 500" in said[VIRTUAL] and "admit at most 500" in said[R2DBC]
    assert "scheduler" in said[OFFLOADED]
    assert all("limit that a pool used to be" in one for one in verdicts(gate=200).values())
    assert "20,000 calls at once" in verdicts(connections=0)[VIRTUAL]


def test_a_downstream_of_unknown_limits_is_asked_before_the_patience():
    sheet = decide(connections=0, rate_per_s=5000, wait_ms=200, cpu_ms=0.3, cores=4, patience_ms=2000)
    for said in (sheet[VIRTUAL].verdict, sheet.advice):
        assert "what the downstream bears, and no more than 26,666" in said
    assert "downstream bears" not in verdicts()[VIRTUAL]


def test_near_a_limit_random_arrivals_queue_on_every_stack():
    assert all("98% of the " in said and "queues come and go" in said for said in verdicts(rate_per_s=490).values())
    assert decide(rate_per_s=490).advice.startswith("It fits on average only")
    assert not any("on average" in said for said in verdicts(rate_per_s=450).values())


def test_streams_ask_for_pressure():
    said = verdicts(streaming=True)
    assert "fits a stream" in said[R2DBC] and "write it yourself" in said[VIRTUAL]


@pytest.mark.parametrize(
    ("numbers", "start"),
    [
        ({"rate_per_s": 700}, "First the connections"),
        ({"cpu_ms": 10}, "First the processors"),
        ({"gate": 1}, "First the gate"),
        ({"streaming": True}, "WebFlux with R2DBC"),
        ({}, "A thread pool does it"),
        ({"gate": 200}, "Blocking code on virtual threads, behind the gate of 200"),
        ({"pool_size": 2}, "Blocking code on virtual threads, with an admission limit first: at most 500"),
    ],
)
def test_the_advice_begins_with_the_bottleneck(numbers, start):
    assert decide(**numbers).advice.startswith(start)


WORLDS = product((1, 300, 700, 5000), (0, 20, 2000), (0.5, 10), (2, 200), (0, 10), (0, 1, 200), (False, True))


def test_every_row_links_a_run_that_exists():
    for rate, wait, cpu, pool, connections, gate, streaming in WORLDS:
        sheet = decide(
            rate_per_s=rate, wait_ms=wait, cpu_ms=cpu, pool_size=pool, offload_pool_size=pool,
            connections=connections, gate=gate, streaming=streaming, patience_ms=60_000,
        )  # fmt: skip
        for row in sheet:
            call = ast.parse(row.shown_by, mode="eval").body
            given = {each.arg: ast.literal_eval(each.value) for each in call.keywords}
            assert call.func.id == "run" and row.verdict and row.held_back_by
            experiments.get(call.args[0].value).settle(given)


# -- shown and refused ---------------------------------------------------------------------------------------


def test_the_table_has_a_column_a_stack_and_escapes():
    said = decide(rate_per_s=700)._repr_html_()
    assert said.count('<th scope="col"') == 4 and said.count('<th scope="row"') == 12
    assert "grows by 200 a second" in said and "&quot;four-stacks&quot;" in said
    assert "WebFlux, R2DBC: r2dbc pool, at 500/s (140% used)" in repr(decide(rate_per_s=700))


@pytest.mark.parametrize(
    "numbers",
    [{"rate_per_s": 0}, {"cores": 1.5}, {"wait_ms": "soon"}, {"gate": True}, {"connections": -1}, {"cpu_ms": None}],
)
def test_nonsense_gets_a_sentence_with_the_range(numbers):
    with pytest.raises(ControlError, match=f"The control {next(iter(numbers))} takes .* to "):
        decide(**numbers)


def test_an_unknown_number_and_an_impossible_patience_are_refused():
    with pytest.raises(ControlError, match="no control named 'rate'"):
        decide(rate=3)
    with pytest.raises(ControlError, match=r"within patience_ms=20: .* alone are 20.5 ms\.\nTry: patience_ms=41"):
        decide(patience_ms=20)


def test_every_control_says_what_it_is():
    assert all(control.help for control in CONTROLS)
