"""Charts of the four stacks and of the chain: curves and limits by name, bars that add up, panels that do not mix."""

from itertools import pairwise
from math import log10

import pytest
from waitlab.charts import chart
from waitlab.charts.palette import APPROACHES
from waitlab.experiments import get
from waitlab.load.samples import Sample
from waitlab.runs import Series

T0 = 100.0

QUEUES = {
    "accept": {"p50": 0, "peak": 3, "wait_ms": 0.5},
    "workers": None,
    "scheduler": {"p50": 490, "peak": 900, "wait_ms": 1000.0},
    "connections": {"p50": 10, "peak": 11, "wait_ms": 20.0},
    "elsewhere": {"p50": 0, "peak": 4, "wait_ms": 1.5},
}


def answered(i, at_s, ms):
    """A request that was answered after `ms`."""
    done = T0 + at_s + ms / 1000
    return Sample("requests", i, T0 + at_s, T0 + at_s, done, done, 200, "ok", "exec-1", None, None)


@pytest.fixture
def stack(a_run):
    """A Run of a stack at a rate, with the latency and the limit it is told."""

    def made(name="webflux-jdbc-offloaded", rate=700, ms=1000.0, limit="jdbc pool", *, saturated=False, **given):
        settings = get("four-stacks").settle({"stack": name, "rate_per_s": rate, **given})
        run = a_run(
            series={"requests": [answered(i, i / rate, ms) for i in range(100)]},
            experiment="four-stacks",
            facts={
                "first_limit": limit,
                "why": "it was full",
                "queues": QUEUES,
                "in_service": {"connections": {"p50": 10, "peak": 10, "of": 10, "held_ms": 20.5}},
            },
            model=get("four-stacks").model(settings),
            saturated=saturated,
        )
        run.settings.clear()
        run.settings.update(settings)
        return run

    return made


def traces(figure):
    return {trace.name: trace for trace in figure.data if trace.name}


def test_a_curve_for_each_stack_tells_its_limit_and_from_which_rate_on(stack):
    runs = [stack(name, rate, ms, limit)
            for name in ("mvc-virtual", "webflux-r2dbc")
            for rate, ms, limit in ((300, 21, "none"), (700, 1000, "jdbc pool"), (900, 1800, "jdbc pool"))]  # fmt: skip
    found = traces(chart(*runs))
    virtual = found["virtual threads: jdbc pool from 700/s"]
    assert [round(y) for y in virtual.y] == [21, 1000, 1800]
    assert virtual.marker.symbol == APPROACHES["mvc-virtual"].symbol
    assert virtual.line.color == APPROACHES["mvc-virtual"].colour
    assert "R2DBC: jdbc pool from 700/s" in found and "theory: p50" in found
    assert list(found["R2DBC: p99"].y) == pytest.approx([21, 1000, 1800])


def test_stacks_at_one_rate_stand_side_by_side_with_the_limit_of_each(stack):
    late = stack("webflux-r2dbc", 300, 900, "cpu", saturated=True)
    drawn = chart(stack("mvc-platform", 300, 21, "none"), stack("mvc-virtual", 300, 22, "jdbc pool"), late)
    found = traces(drawn)
    places = ["platform threads<br>first limit: none", "virtual threads<br>first limit: jdbc pool"]
    for name in ("p50, filled marks", "p99, open marks"):
        assert list(found[name].x) == places and list(found[name].y) == pytest.approx([21, 22])
    assert list(found["theory: p50"].y) == pytest.approx([20] * 3)
    assert list(found["void: 1, the client was late"].x) == ["R2DBC<br>first limit: cpu"]
    assert len(set(found["p50, filled marks"].marker.symbol)) == 2


def test_runs_with_other_pools_are_curves_of_their_own(stack):
    runs = [stack(rate=rate, jdbc_pool_size=pool, limit="none") for pool in (10, 20) for rate in (300, 400)]
    found = traces(chart(*runs))
    ten, twenty = (found[f"JDBC offloaded, {pool} connections: no limit hit"] for pool in (10, 20))
    assert ten.marker.symbol != twenty.marker.symbol
    assert {"theory: p50, knee 500/s", "theory: p50, knee 1,000/s"} <= set(found)


def test_a_void_run_is_on_no_line_and_names_no_limit(stack):
    found = traces(chart(stack(rate=300, ms=21, limit="none"), stack(rate=450, limit="jdbc pool", saturated=True)))
    assert list(found["void: 1, the client was late"].x) == [450]
    assert len(found["JDBC offloaded: no limit hit"].x) == 1


def test_a_difference_of_a_few_milliseconds_does_not_fill_the_figure(stack):
    figure = chart(stack("mvc-virtual", 300, 21, "none"), stack("webflux-r2dbc", 300, 22, "none"))
    low, high = figure.layout.yaxis.range
    assert 10 ** (high - low) > 4 and sum(low <= log10(tick) <= high for tick in figure.layout.yaxis.tickvals) >= 2


def test_failures_are_seen_although_the_scale_has_no_zero(stack):
    runs = [stack("mvc-virtual", rate) for rate in (300, 700)]
    lost = runs[1].series["requests"].samples[0]
    runs[1].series["requests"] = Series(
        "requests", (*runs[1].series["requests"].samples[1:], lost._replace(cls="reset"))
    )
    for figure in (chart(*runs), chart(runs[1], runs[1])):
        assert figure.layout.yaxis.type == "log"
        assert min(traces(figure)[next(name for name in traces(figure) if name.startswith("failed"))].y) > 0


def test_the_bars_of_a_run_add_up_to_the_time_of_a_request(stack):
    figure = chart(stack(), kind="queues")
    bars = [trace for trace in figure.data if trace.type == "bar"]
    assert sum(bar.x[0] for bar in bars) == pytest.approx(0.5 + 1000 + 20 + 1.5 + 20.5)
    assert "waits for a worker" not in {bar.name for bar in bars}
    named = next(bar for bar in bars if bar.name == "waits in the scheduler")
    assert named.text[0] == "1,000" and "490 in the median look, 900 at most" in named.hovertext[0]
    assert next(trace for trace in figure.data if trace.name == "first limit").text[0].strip() == "jdbc pool"


def test_the_reason_for_each_limit_is_in_the_caption_and_the_queues_in_the_table(stack):
    figure = chart(stack("mvc-virtual"), stack("webflux-r2dbc", limit="r2dbc pool"), kind="queues")
    assert any(line.endswith("first limit r2dbc pool (it was full).") for line in figure.caption)
    assert "Where they waited" in figure.table and "1000.0" in figure.table


def test_rows_of_one_stack_at_several_rates_are_told_apart(stack):
    bars = next(t for t in chart(stack(rate=300), stack(rate=700), kind="queues").data if t.type == "bar")
    assert list(bars.y) == ["JDBC offloaded, 300/s", "JDBC offloaded, 700/s"]


# -- the chain --------------------------------------------------------------------------------------------------


@pytest.fixture
def chain(a_run):
    """A Run of the chain: its sink's queue rises to `longest`, then falls."""

    def made(control="request-n", longest=50, door=0):
        settings = get("pressure").settle({"control": control})
        looks = 200
        sink = [round(longest * (1 - abs(i - 100) / 100)) for i in range(looks)]
        empty = [0] * looks
        lines = {"t_s": [i / 50 for i in range(looks)], "door": [door] * looks, "transform": empty, "batch": empty}
        run = a_run(
            series={},
            experiment="pressure",
            facts={
                "queue_by_stage": {**lines, "sink": sink},
                "queue_peak": {"door": door, "transform": 0, "batch": 0, "sink": longest},
                "produced_per_s": 500.0,
            },
            model=get("pressure").model(settings),
            line=f"{control}: longest queue {longest}",
        )
        run.settings.clear()
        run.settings.update(settings)
        return run

    return made


def test_every_run_has_a_panel_of_its_own(chain):
    figure = chart(chain("none", 1500), chain("gate", 60), chain("request-n", 50))
    sinks = [trace for trace in figure.data if trace.name == "for the sink"]
    assert [trace.yaxis for trace in sinks] == ["y", "y2", "y3"]
    assert [max(trace.y) for trace in sinks] == [1500, 60, 50]
    assert [trace.showlegend for trace in sinks] == [True, False, False]
    domains = [figure.layout[name].domain for name in ("yaxis", "yaxis2", "yaxis3")]
    assert all(above[0] > below[1] for above, below in pairwise(domains))
    assert [note.text.split("</b>")[0] for note in figure.layout.annotations] == [
        "<b>no control", "<b>gate of 64", "<b>request(64)",
    ]  # fmt: skip


def test_theory_grows_where_nothing_holds_it_and_is_a_bound_elsewhere(chain):
    figure = chart(chain("none", 1500), chain("gate", 60))
    free, held = [trace for trace in figure.data if trace.name == "theory"]
    assert list(free.y) == [0, 1500, 0]
    assert list(held.y) == [64, 64]


def test_queues_that_nobody_is_in_are_left_out_and_dashes_tell_the_others_apart(chain):
    names = {trace.name: trace.line.dash for trace in chart(chain("drop", 50, door=64)).data}
    assert set(names) == {"at the door", "for the sink", "theory"}
    assert len(set(names.values())) == len(names)


def test_the_words_are_the_lines_of_the_runs(chain):
    figure = chart(chain("none", 1500), chain("gate", 60))
    assert "none: longest queue 1500" in figure.caption and "gate: longest queue 60" in figure.summary
    assert "Data of" in figure.table and '<th scope="col">sink</th>' in figure.table
