"""Charts of chapter 9: stairs with their floor, pools along an axis, and the figure of `explore` in stairs."""

from __future__ import annotations

import pytest
from waitlab.charts import chart, kind_for
from waitlab.charts.live import LiveFigure
from waitlab.experiments import get


@pytest.fixture
def crowd_run(a_run, a_sample):
    """A Run of a crowd: theory's own latencies, without a server."""

    def made(latencies=(100, 200, 100), floor=(20,), saturated=False, threads_added=None, **controls):
        experiment = get("thread-per-request")
        settings = experiment.settle({"users": 3, **controls})
        facts = {"ceiling_per_s": 500.0, "platform_threads_baseline": 18}
        facts["platform_threads_peak"] = 18 + (settings["pool_size"] if threads_added is None else threads_added)
        series = {
            "requests": [a_sample("requests", i, 0.0, ms) for i, ms in enumerate(latencies)],
            "floor": [a_sample("floor", i, 0.0, ms) for i, ms in enumerate(floor)],
        }
        made_of = {"experiment": "thread-per-request", "settings": settings, "series": series, "facts": facts}
        run = a_run(**made_of, model=experiment.model(settings), saturated=saturated)
        del run.settings["endpoint"], run.settings["k"]
        return run

    return made


def named(figure, start):
    return [trace for trace in figure.data if (trace.name or "").startswith(start)]


def test_stairs_have_theory_behind_and_the_floor_below(crowd_run):
    figure = chart(crowd_run(pool_size=2))
    assert figure.layout.title.text == "Latencies in order, the fastest first: 2 platform threads"
    assert list(named(figure, "2 platform threads")[0].y) == pytest.approx([100, 100, 200])
    (line,) = named(figure, "theory")
    assert (list(line.x), list(line.y), line.line.shape) == ([1, 3, 3], [100, 200, 200], "hv")
    (floor,) = named(figure, "floor")
    assert list(floor.y) == pytest.approx([20])


def test_a_crowd_is_drawn_in_stairs_and_a_rate_along_time(crowd_run):
    assert kind_for([crowd_run()]) == "stairs"
    assert kind_for([crowd_run(arrivals="steady", rate_per_s=10)]) == "latency"


def test_servers_and_kinds_of_threads_are_told_in_words(crowd_run):
    figure = chart(crowd_run(server="plain"), crowd_run(threads="virtual"))
    assert named(figure, "bare server, 50 platform threads: 3 ok")
    assert named(figure, "Tomcat, virtual threads: 3 ok")


def test_percentiles_stand_at_their_pools_with_virtual_threads_beside(crowd_run):
    runs = [crowd_run(threads="virtual", threads_added=1), crowd_run(pool_size=200), crowd_run(pool_size=20)]
    figure = chart(*runs, kind="percentiles")
    assert list(figure.layout.xaxis.ticktext) == ["20", "200", "virtual"]
    assert list(named(figure, "p50")[0].y) == pytest.approx([100, 100, 100])
    (added,) = named(figure, "platform threads added")
    assert (list(added.y), added.yaxis) == ([20, 200, 1], "y2")
    (p99,) = named(figure, "theory: p99")
    assert (p99.x[0], p99.x[-1], p99.line.shape) == (20, 200, "hv")


def test_theory_against_the_pool_is_that_of_each_pool():
    lines = get("thread-per-request").model(get("thread-per-request").settle({}))["curves"]["percentiles"]
    assert dict(zip(lines["p50"]["x"], lines["p50"]["y"], strict=True))[50] == 500
    assert dict(zip(lines["p50"]["x"], lines["p50"]["y"], strict=True))[1000] == 100


def test_throughput_stands_under_the_straight_ceiling(crowd_run):
    figure = chart(*[crowd_run(pool_size=n, users=500) for n in (50, 100, 200)], kind="throughput")
    (ceiling,) = named(figure, "ceiling")
    assert dict(zip(ceiling.x, ceiling.y, strict=True))[50] == 500
    (burst,) = named(figure, "theory for this crowd")
    assert dict(zip(burst.x, burst.y, strict=True))[ceiling.x[-1]] < ceiling.y[-1]
    assert named(figure, "measured")[0].x == (50, 100, 200)


def test_a_void_pool_has_no_point(crowd_run):
    runs = [crowd_run(pool_size=20), crowd_run(pool_size=50, saturated=True), crowd_run(pool_size=100)]
    assert list(named(chart(*runs, kind="throughput"), "measured")[0].y)[1] is None
    assert list(named(chart(*runs, kind="percentiles"), "p50")[0].y)[1] is None


def test_failures_of_a_pool_are_crosses(crowd_run, a_sample):
    failed = crowd_run(pool_size=20)
    lost = (*failed.series["requests"].samples, a_sample("requests", 3, 0.0, 900, "timeout"))
    object.__setattr__(failed.series["requests"], "samples", lost)
    assert named(chart(failed, crowd_run(pool_size=50), crowd_run(pool_size=100), kind="percentiles"), "failed: 1")


def test_the_figure_of_explore_draws_stairs(crowd_run):
    live = LiveFigure("Who waits?", "stairs")
    live.show_model(crowd_run(pool_size=2).model)
    assert live.widget.layout.xaxis.title.text == "request, counted from the fastest"
    assert (list(live.widget.data[0].y), live.widget.data[0].line.shape) == ([100, 200, 200], "hv")
    live.add(crowd_run(pool_size=2))
    assert list(live.widget.data[2].x) == [1, 2, 3]
    assert list(live.widget.data[2].y) == pytest.approx([100, 100, 200])


def test_failures_stand_behind_the_stairs(crowd_run, a_sample):
    run = crowd_run()
    lost = (*run.series["requests"].samples, a_sample("requests", 3, 0.0, 900, "timeout"))
    object.__setattr__(run.series["requests"], "samples", lost)
    live = LiveFigure("Who waits?", "stairs")
    live.add(run)
    assert list(live.widget.data[1].x) == [4]


def test_an_experiment_that_asks_for_another_kind_gets_latencies():
    assert LiveFigure("Who waits?", "timeline").kind == "latency"


def test_a_run_without_a_blocker_is_not_called_one(a_run):
    figure = chart(a_run(settings={"k": 0}), kind="latency")
    assert figure.layout.title.text.endswith(": no blocker")
    assert named(figure, "no blocker") and not named(figure, "sleep")


def test_wide_columns_of_rows_have_wide_places(a_run):
    rows = [{"endpoint": "sleep", "method": "java.lang.Thread.sleepNanos0"}]
    endpoint, method = chart(a_run(series={}, facts={"rows": rows})).data[0].columnwidth
    assert method > 2 * endpoint
