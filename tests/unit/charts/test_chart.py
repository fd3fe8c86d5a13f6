"""What a reader gets from `chart`: the right kind, theory, guesses and failures in it, words and data beside it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from waitlab import charts
from waitlab.charts import chart, palette
from waitlab.errors import ControlError, WaitlabError
from waitlab.predictions import Prediction


def named(figure: Any, start: str) -> list[Any]:
    return [trace for trace in figure.data if (trace.name or "").startswith(start)]


def guess(name: str, value: object, unit: str = "ms") -> Prediction:
    made = Prediction(name, unit, kept=False)
    made.give(value)
    return made


@pytest.mark.parametrize("kind", ["timeline", "lanes", "threads", "latency", "stairs", "throughput"])
def test_every_kind_draws_one_run_with_words(a_run, kind):
    figure = chart(a_run(), kind=kind)
    assert figure.layout.title.text
    assert figure.layout.meta["summary"] == figure.summary
    assert "fast: 3 of 3 ok" in figure.summary
    assert figure.layout.xaxis.title.text or kind == "throughput"


def test_latency_shows_each_request_and_the_models_line(a_run):
    figure = chart(a_run(), kind="latency")
    (points,) = named(figure, "sleep")
    assert list(points.x) == pytest.approx([0.5, 1.0, 1.5])
    assert list(points.y) == pytest.approx([1500, 1000, 500])
    (line,) = named(figure, "theory")
    assert (list(line.x), list(line.y)) == ([0, 2], [2000, 0])
    assert figure.layout.yaxis.title.text == "latency of fast, ms"


def test_a_curve_is_drawn_like_a_line(a_run):
    (line,) = named(chart(a_run(model={"curve": {"x": [0, 1], "y": [5, 6]}}), kind="latency"), "theory")
    assert list(line.y) == [5, 6]


def test_failures_are_red_and_counted(a_run, a_sample):
    series = {"fast": [a_sample("fast", 0, 0.1, 5), a_sample("fast", 1, 0.2, 900, "timeout")]}
    (crosses,) = named(chart(a_run(series=series), kind="latency"), "failed")
    assert crosses.name == "failed: 1 timeout"
    assert crosses.marker.color == palette.ERROR
    assert list(crosses.y) == pytest.approx([900])


@pytest.mark.parametrize("kind", ["timeline", "lanes", "threads", "stairs", "throughput"])
def test_no_kind_hides_failures(a_run, a_sample, kind):
    series = {"fast": [a_sample("fast", 0, 0.1, 5), a_sample("fast", 1, 0.2, 0, "refused")]}
    assert any("failed: 1" in trace.name for trace in named(chart(a_run(series=series), kind=kind), "failed: "))


def test_a_guess_is_a_mark_with_its_label(a_run):
    figure = chart(a_run(), guess("max", 600), kind="latency")
    (mark,) = named(figure, "your guess of max: 600 ms")
    assert set(mark.y) == {600}
    assert "2.5 times too low" in " ".join(figure.caption)


def test_a_guess_in_seconds_lands_on_an_axis_in_milliseconds(a_run):
    (mark,) = named(chart(a_run(), guess("max", 2, "s"), kind="latency"), "your guess")
    assert set(mark.y) == {2000}


def test_no_guess_is_said_and_not_invented(a_run):
    figure = chart(a_run(), Prediction("max", "ms", kept=False), kind="latency")
    assert named(figure, "your guess") == []
    assert "Your prediction of max: no guess yet." in figure.caption


def test_a_guess_of_one_requests_latency_has_no_place_on_a_time_axis(a_run):
    assert named(chart(a_run(), guess("p50", 600), kind="timeline"), "your guess") == []


def test_the_timeline_splits_waiting_from_being_served(a_run):
    figure = chart(a_run(), kind="timeline")
    (waiting,) = named(figure, "waiting")
    (served,) = named(figure, "fast: being served")
    assert list(waiting.x)[-3:] == pytest.approx([1.499, 0.999, 0.499], abs=1e-4)
    assert list(served.x) == pytest.approx([0.001] * 3)


def test_without_one_clock_the_timeline_does_not_split_and_lanes_refuse(a_run):
    run = a_run(in_force={"same_clock": False})
    figure = chart(run, kind="timeline")
    assert named(figure, "waiting") == []
    assert named(figure, "fast: waiting or being served")
    assert "cannot be told apart" in " ".join(figure.caption)
    with pytest.raises(WaitlabError, match="clock"):
        chart(run, kind="lanes")


def test_lanes_have_a_row_for_threads_that_did_nothing(a_run):
    figure = chart(a_run(facts={"event_loop_threads": ["loop-1", "loop-9"]}), kind="lanes")
    assert list(figure.layout.yaxis.categoryarray) == ["loop-9", "loop-3", "loop-2", "loop-1"]


def test_threads_shows_the_dump_beside_the_counts(a_run):
    figure = chart(a_run(facts={"event_loop_threads": ["loop-1", "loop-4"]}), kind="threads")
    (bars,) = named(figure, "fast")
    assert dict(zip(bars.y, bars.x, strict=True)) == {"loop-1": 1, "loop-2": 1, "loop-3": 1}
    assert list(named(figure, "in the thread dump (2)")[0].y) == ["loop-1", "loop-4"]


def test_percentiles_stand_over_the_control_that_differs(a_run):
    runs = [a_run(settings={"pool_size": n}, model={"p50_ms": 10.0 * n}) for n in (50, 10)]
    figure = chart(*runs, kind="percentiles")
    assert figure.layout.xaxis.title.text == "pool_size"
    (line,) = named(figure, "theory: p50")
    assert (list(line.x), list(line.y)) == ([10, 50], [100, 500])
    assert list(named(figure, "p50")[0].y) == pytest.approx([1000, 1000])


def test_a_void_run_has_no_percentile_and_is_called_void(a_run):
    runs = [a_run(settings={"k": 1}), a_run(settings={"k": 2}, saturated=True)]
    assert list(named(chart(*runs, kind="percentiles"), "p50")[0].y) == [pytest.approx(1000), None]
    figure = chart(runs[1], kind="latency")
    assert "VOID" in " ".join(figure.caption)
    assert named(figure, "sleep (void)")[0].marker.color == palette.VOID


def test_stairs_are_sorted_over_the_models(a_run):
    figure = chart(a_run(model={"stairs": {"x": [1, 2, 3], "y": [500, 1000, 1500]}}), kind="stairs")
    assert list(named(figure, "sleep")[0].y) == pytest.approx([500, 1000, 1500])
    assert named(figure, "theory")[0].line.shape == "hv"


def test_throughput_stands_under_its_ceiling(a_run):
    figure = chart(a_run(facts={"ceiling_per_s": 12.0}), kind="throughput")
    assert list(named(figure, "ceiling")[0].y)[:2] == [12.0, 12.0]


def test_the_caption_says_limits_conditions_and_what_is_recorded(a_run):
    words = " ".join(chart(a_run(live=False, partial=True, runtime="docker"), kind="latency").caption)
    for part in ("event_loops 4", "recorded 2026-01-02", "(docker)", "2 CPUs", "stopped early"):
        assert part in words


def test_server_text_is_never_markup(a_run, a_sample):
    evil = "<img src=x onerror=alert(1)>"
    run = a_run(series={"fast": [a_sample("fast", 0, 0.1, 5, thread=evil)]}, notes=(evil,))
    for kind in ("threads", "lanes", "latency"):
        figure = chart(run, kind=kind)
        assert evil not in figure.words()
        assert evil not in str(figure.to_plotly_json()["data"])


def test_rows_are_drawn_as_a_table_and_escaped(a_run):
    figure = chart(a_run(series={}, facts={"rows": [{"endpoint": "<b>", "detected": True, "method": None}]}))
    assert [list(column) for column in figure.data[0].cells["values"]] == [["&lt;b&gt;"], ["yes"], [""]]


def test_repeats_are_told_apart_by_their_marker_and_name(a_run):
    figure = chart(a_run(), a_run(), kind="latency")
    points = named(figure, "sleep, run")
    assert len({trace.marker.symbol for trace in points}) == len({trace.name for trace in points}) == 2
    assert len({trace.marker.color for trace in points}) == 1


def test_a_saved_page_has_the_figure_and_asks_no_other_host(a_run, monkeypatch):
    monkeypatch.setattr("waitlab.charts.page._carrier", [])
    figure = chart(a_run(), kind="latency")
    page = figure._repr_mimebundle_()["text/html"]
    assert "Plotly.newPlot" in page
    assert "DecompressionStream" in page
    assert "https://cdn" not in page
    assert "DecompressionStream" not in figure._repr_mimebundle_()["text/html"]


def test_no_shapes_are_used(a_run):
    assert not chart(a_run(), guess("max", 5), kind="latency").layout.shapes


@pytest.mark.parametrize(
    ("given", "kind"), [((), None), (("a run",), None), ((1,), "latency")], ids=["none", "text", "number"]
)
def test_what_is_no_run_is_refused_in_a_sentence(given, kind):
    with pytest.raises(ControlError, match="made of Runs"):
        chart(*given, kind=kind)


def test_unknown_kinds_and_mixed_experiments_are_refused(a_run):
    with pytest.raises(ControlError, match="pie"):
        chart(a_run(), kind="pie")
    with pytest.raises(ControlError, match="one experiment"):
        chart(a_run(), a_run(experiment="loops"), kind="latency")
    with pytest.raises(ControlError, match="shows one Run"):
        chart(a_run(), a_run(), kind="timeline")


def test_red_belongs_to_errors_alone():
    assert palette.ERROR not in {look.colour for look in palette.APPROACHES.values()}


def test_every_approach_of_one_colour_has_one_marker():
    looks = set(palette.APPROACHES.values())
    assert len({look.colour for look in looks}) == len({look.symbol for look in looks}) == len(looks)


def test_plotly_is_imported_by_warm_up_and_not_before():
    asked = "import sys; import waitlab.charts as c; had = 'plotly' in sys.modules; c.warm_up().join(); "
    told = subprocess.run(
        [sys.executable, "-c", asked + "print(had, 'plotly' in sys.modules)"],
        env={**os.environ, "PYTHONPATH": str(Path(charts.__file__).parents[2])},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert told.stdout.split() == ["False", "True"]
