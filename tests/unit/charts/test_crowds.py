"""Charts of a crowd: hostages stand out, blocks are bars of their own, medians with ranges beside published ones."""

import pytest
from waitlab.charts import chart
from waitlab.charts.crowds import beside_rows, spread
from waitlab.charts.palette import ERROR, OFFLOADED
from waitlab.errors import ControlError
from waitlab.load.samples import Sample

T0 = 100.0


def held(series, index, start_ms, end_ms, thread):
    start, end = (int((T0 + ms / 1000) * 1e6) for ms in (start_ms, end_ms))
    done = T0 + end_ms / 1000
    return Sample(series, index, T0, T0, done, done, 0, "ok", thread, start, end)


@pytest.fixture
def crowd(a_run):
    """On loop-1 two innocents, a block of 100 ms, one innocent; on loop-2 two innocents."""

    def made(where="onloop", per_s=50.0, **settings):
        thread = "offload-1" if where == "offload" else "loop-1"
        normal = [
            held("normal", 0, 0, 1, "loop-1"),
            held("normal", 2, 1, 2, "loop-1"),
            held("normal", 5, 102, 103, "loop-1"),
            held("normal", 1, 0, 1, "loop-2"),
            held("normal", 3, 1, 2, "loop-2"),
        ]
        own = {"where": where, "block_ms": 100, "offload_pool_size": 64, **settings}
        return a_run(
            series={"normal": normal, "blocking": [held("blocking", 4, 2, 102, thread)]},
            settings=own,
            experiment="one-percent",
            facts={"throughput_per_s": per_s},
            model={"curves": {"offload": {"x": [1, 4, 64, 128], "y": [10, 40, 60, 60]}}},
        )

    return made


def traces(figure):
    return {trace.name: trace for trace in figure.data if trace.name}


def test_hostages_stand_out_in_the_order_of_arrival(crowd):
    found = traces(chart(crowd(), kind="arrivals"))
    assert list(found["hostages: 1 waited longer than a block"].x) == [6]
    assert sorted(found["innocents: 4 within one block"].x) == [1, 2, 3, 4]
    assert list(found["one block"].y) == [100, 100]


def test_several_runs_keep_a_trace_each(crowd):
    found = traces(chart(crowd("none"), crowd("onloop"), kind="arrivals"))
    assert len([name for name in found if name != "one block"]) == 2


def test_innocents_in_a_row_are_one_bar_and_a_block_is_red(crowd):
    found = traces(chart(crowd(), kind="loops"))
    grey, red = found["innocents, one after another"], found["1 blocks, each holding a loop"]
    assert list(zip(grey.y, [round(x, 3) for x in grey.x], strict=True)) == [
        ("loop-1", 0.002),
        ("loop-1", 0.001),
        ("loop-2", 0.002),
    ]
    assert (list(red.y), red.marker.color) == (["loop-1"], ERROR)
    assert red.x[0] == pytest.approx(0.1)


def test_a_moved_block_is_not_red(crowd):
    found = traces(chart(crowd("offload"), kind="loops"))
    assert found["1 blocks, moved off the loops"].marker.color == OFFLOADED.colour
    assert not any("holding a loop" in name for name in found)


def test_loops_shows_one_run(crowd):
    with pytest.raises(ControlError, match="shows one Run"):
        chart(crowd(), crowd(), kind="loops")


def test_throughput_against_the_pool_has_theory_and_baseline(crowd):
    runs = [crowd("none", per_s=100.0), *(crowd("offload", n * 10.0, offload_pool_size=n) for n in (1, 4))]
    found = traces(chart(*runs, kind="offload"))
    assert list(found["throughput, measured"].y) == [10, 40]
    assert (list(found["theory"].x), list(found["theory"].y)) == ([1, 4], [10, 40])
    assert set(found["nothing blocks, measured"].y) == {100}


def test_medians_stand_beside_the_published_ones(crowd):
    runs = [*(crowd("none", per_s) for per_s in (90.0, 110.0, 100.0)), crowd("offload", 7.0, offload_pool_size=4)]
    rows = {row[0]: row for row in beside_rows(runs)}
    assert rows["none"][1:3] == ("23,529 (20,833 to 23,810)", "100 (90 to 110)")
    assert rows["moved to 4"][2] == "7 (7 to 7)"
    assert rows["on the loop"][2] == "not measured"
    assert "129" in rows["on the loop"]
    assert chart(*runs, kind="beside").data[0].type == "table"


def test_many_runs_are_told_as_one(crowd):
    figure = chart(*(crowd("none", float(n)) for n in range(9)), kind="beside")
    assert figure.caption[0].startswith("9 runs; ")
    assert figure.table.count("<details>") == 1 and figure.table.count("<tr>") == 10


def test_spread():
    assert spread([3.0, 1.0, 2.0]) == "2 (1 to 3)"
    assert spread([]) == "not measured"
