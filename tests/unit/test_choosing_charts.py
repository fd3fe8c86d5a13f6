"""Chapter 18's charts of a crowd and of computing: what is drawn, and what is said in words beside it."""

import json

import pytest
from crowds import COMPUTING, FakeLab, ended, run
from waitlab.charts import chart
from waitlab.experiments.measure import measure


@pytest.fixture
def ways():
    virtual = {"threads": "virtual", "gate": 2}
    return [run(), run(**virtual), run(FakeLab(unserved=6), **virtual, on_full="reject")]


@pytest.mark.parametrize("kind", ["throughput", "in_flight", "heap", "by_arrival", "valve"])
def test_each_chart_says_in_words_what_it_shows(ways, kind):
    drawn = chart(*ways, kind=kind)
    assert "200 platform threads" in drawn.summary and "gate 2" in drawn.summary
    assert "<table>" in drawn.table and drawn.caption
    assert json.loads(drawn.to_json())["data"]


def test_lines_of_several_runs_differ_in_more_than_colour(ways):
    lines = chart(*ways, kind="in_flight").data
    assert len({(t.line.dash, t.marker.symbol) for t in lines}) == len(lines) == 3


def test_the_three_prices_are_drawn_as_they_were_measured(ways):
    memory, latency, refusals = chart(*ways, kind="valve").data
    assert list(memory.x) == [2.5] * 3
    assert list(latency.x) == pytest.approx([0.1, 0.1, 0.04])
    assert list(refusals.x) == [0, 0, 6] and list(refusals.text) == ["0", "0", "6"]


def test_who_was_not_served_is_drawn_as_a_cross(ways):
    traces = chart(*ways, kind="by_arrival").data
    crosses = [t for t in traces if t.marker.symbol == "x"]
    assert [t.name for t in crosses] == ["not served: 6"]
    assert len(crosses[0].x) == 6


def test_a_run_that_died_ends_in_a_cross():
    died = run(FakeLab(unserved=4, ends_with=ended("out_of_memory")))
    for kind in ("heap", "in_flight"):
        cross = [t for t in chart(died, kind=kind).data if "out of memory after" in (t.name or "")]
        assert list(cross[0].x) == [died.facts["wall_ms"] / 1000]
    assert any("the heap's limit" in (t.name or "") for t in chart(died, kind="heap").data)
    assert "unknown" in chart(died, kind="valve").data[0].text


def test_the_chart_of_computing_shows_all_ways_of_one_run():
    drawn = chart(measure(COMPUTING, COMPUTING.settle({}), FakeLab()))
    bars, rounds = drawn.data
    assert list(bars.y) == [103, 113, 108] and len(rounds.y) == 15
    assert "a thread a core" in drawn.table


def test_peaks_that_lie_far_apart_are_all_seen(ways):
    ways[0].facts["in_flight_peak"] = 1000 * ways[1].facts["in_flight_peak"]
    assert chart(*ways, kind="in_flight").layout.yaxis.type == "log"
    assert chart(*ways[1:], kind="in_flight").layout.yaxis.type is None


def test_a_line_of_theory_is_drawn_once(ways):
    lines = [t for t in chart(ways[0], *ways, kind="by_arrival").data if (t.name or "").startswith("theory")]
    assert len({str(list(t.y)) for t in lines}) == len(lines) > 0
