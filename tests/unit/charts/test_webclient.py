"""Charts of the WebClient lab: frames make segments, time-outs are red, a breaker's states lie under the answers."""

from dataclasses import replace

import pytest
from waitlab import experiments
from waitlab.charts import chart, kind_for
from waitlab.charts.palette import ERROR
from waitlab.charts.webclient import apart, boundary_rows, client_rows
from waitlab.errors import ControlError
from waitlab.experiments import frames
from waitlab.predictions import Prediction
from waitlab.services.threads import ThreadInfo

PARK = "java.base/jdk.internal.misc.Unsafe.park(Native Method)"
BLOCK = (PARK, "reactor.core.publisher.Mono.block(Mono.java:1771)")
IDLE = (PARK, "org.apache.tomcat.util.threads.TaskQueue.poll(TaskQueue.java:99)")


def threads(**counts):
    made = [ThreadInfo(f"x-exec-{i}", "WAITING", False, BLOCK) for i in range(counts.get("block", 0))]
    made += [ThreadInfo(f"x-exec-i{i}", "TIMED_WAITING", False, IDLE) for i in range(counts.get("idle", 0))]
    return frames.table([*made, ThreadInfo("main", "RUNNABLE", False, (PARK,))])


@pytest.fixture
def styled(a_run, a_sample):
    def made(client="webclient-block", p50=100.0, cpu=2.0, dump=None, **given):
        one = experiments.get("client-styles")
        settings = one.settle({"client": client, **given})
        slow = [a_sample("slow", i, 0.0, p50) for i in range(3)]
        facts = {"threads": dump or threads(block=5, idle=2), "cpu_ms_per_request": cpu, "live_threads_peak": 40}
        series = {"slow": slow, "user": [a_sample("user", 0, 0.1, 5)]}
        return a_run(series=series, settings=settings, experiment="client-styles", facts=facts, model={})

    return made


@pytest.fixture
def held(a_run, a_sample):
    def made(boundary="transaction", **given):
        one = experiments.get("connection-held")
        settings = one.settle({"boundary": boundary, **given})
        pool = {"at_ms": [0, 1000, 1500, 2000], "active": [10, 10, 10, 0]}
        pool |= {"waiting": [40, 30, 0, 0], "timeouts": [0, 0, 30, 30]}
        facts = {"pool": pool, "connection_held": True, "pool_timeouts": 30, "pool_active_p50": 10.0}
        slow = [a_sample("slow", 0, 0, 1000), a_sample("slow", 1, 0, 1500, "rejected")]
        model = one.model(settings)
        return a_run(series={"slow": slow}, settings=settings, experiment="connection-held", facts=facts, model=model)

    return made


@pytest.fixture
def broken(a_run, a_sample):
    def made(**given):
        settings = experiments.get("circuit-breaker").settle({"api": "down", **given})
        samples = [a_sample("requests", i, i, ms) for i, ms in enumerate((3000, 4, 5))]
        samples.append(a_sample("requests", 3, 3, 3000, "http_error"))
        answers = {"at_ms": [0, 1000, 2000, 3000], "ms": [3000, 4, 5, 3000], "age_ms": [3000, 1000, None, None]}
        answers |= {"source": ["stale", "stale", "fresh", "none"], "refused": [False, True, False, False]}
        states = [
            {"at_ms": 0, "state": "closed"},
            {"at_ms": 900, "state": "open"},
            {"at_ms": 1900, "state": "half-open"},
        ]
        facts = {"answers": answers, "states": states}
        return a_run(
            series={"requests": samples}, settings=settings, experiment="circuit-breaker", facts=facts, model={}
        )

    return made


def traces(figure):
    return {trace.name.replace("<br>", " "): trace for trace in figure.data if trace.name}


def test_each_experiment_has_its_chart(styled, held, broken):
    kinds = [kind_for([run]) for run in (styled(), held(), broken())]
    assert kinds == ["states", "connections", "breaker"]


def test_threads_are_stacked_by_what_they_do(styled):
    figure = chart(styled(), styled("webclient-mono", dump=threads(idle=3)))
    found = traces(figure)
    assert list(found["workers: wait in Mono.block (WAITING)"].y) == [5, 0]
    assert list(found["workers: idle (TIMED_WAITING)"].y) == [2, 3]
    assert list(found["others"].y) == [1, 1]
    assert next(trace.name for trace in figure.data).startswith("workers: wait in Mono.block")
    assert list(figure.layout.xaxis.ticktext) == ["webclient-block", "webclient-mono"]


def test_its_frames_can_be_opened_under_the_figure(styled):
    words = chart(styled()).words()
    assert "Threads of webclient-block: 3 rows" in words
    assert "2 lines" in words and "reactor.core.publisher.Mono.block(Mono.java:1771)" in words


def test_frames_are_never_markup(styled):
    evil = (PARK, "<script>alert(1)</script>")
    dump = frames.table([ThreadInfo("x-exec-1", "RUNNABLE", False, evil)])
    assert evil[1] not in chart(styled(dump=dump)).words()


def test_a_nested_class_in_a_frame_is_no_mathematics(styled):
    nested = (PARK, "java.base/java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject.await(A.java:1)")
    dump = frames.table([ThreadInfo("x-exec-1", "WAITING", False, nested)])
    table = chart(styled(dump=dump)).words().partition("Threads of")[2]
    assert table.index("mathjax_ignore") < table.index("Synchronizer$ConditionObject")


def test_the_legend_stands_between_title_and_plot(styled, held, broken):
    for figure in (chart(styled(), styled("restclient")), chart(held(), held("split")), chart(broken())):
        legend, height = figure.layout.legend, figure.layout.height
        assert (legend.yref, legend.yanchor) == ("container", "top")
        assert 34 <= (1 - legend.y) * height < figure.layout.margin.t


def test_what_is_usual_is_not_in_a_name(styled):
    runs = [styled("restclient"), styled("restclient", factory="detected"), styled("restclient", threads="virtual")]
    names = list(chart(*runs).layout.xaxis.ticktext)
    assert names == ["restclient", "restclient<br>on Reactor Netty", "restclient<br>virtual threads"]


def test_medians_stand_beside_published_ones(styled):
    runs = [styled("webclient-mono", p50, cpu) for p50, cpu in ((90.0, 1.0), (110.0, 3.0), (100.0, 2.0))]
    rows = {row[0]: row for row in client_rows([*runs, styled("restclient")])}
    assert rows["webclient-mono"][1:5] == ("100 (90 to 110)", "4,742", "2.0 (1.0 to 3.0)", "9.7 %")
    assert rows["restclient"][2] == rows["restclient"][4] == ""
    drawn = chart(*runs, kind="clients").data[0]
    assert drawn.type == "table" and len(drawn.cells["values"]) == 4
    assert drawn.cells["values"][1] == ["100<br>(90 to 110)<br>published 4,742"]


def test_one_client_is_below_another_only_where_their_ranges_do_not_touch(styled):
    runs = [styled("webclient-mono", p50, cpu) for p50, cpu in ((90.0, 1.0), (110.0, 2.0))]
    runs += [styled("restclient", p50, cpu) for p50, cpu in ((111.0, 2.0), (150.0, 3.0))]
    p50, cpu, live = apart(runs)
    assert p50 == "p50: webclient-mono below restclient."
    assert cpu == "CPU: every two ranges touch." and live == "live threads: every two ranges touch."
    figure = chart(*runs, kind="clients")
    assert figure.layout.annotations[0].text.split("<br>") == [p50, cpu, live]


def test_figures_are_told_in_words(styled, held, broken):
    assert "5 workers: wait in Mono.block (WAITING), 2 workers: idle" in chart(styled()).summary
    rows = chart(styled(p50=90.0), styled("restclient"), kind="clients")
    assert "client restclient; p50 ms 100 (100 to 100)" in rows.summary and "CPU: every two" in rows.summary
    sides = chart(held(), held("split"), kind="boundaries")
    assert "transaction apart; client restclient; open in view off; seen held" in sides.summary
    assert sides.table.startswith("<details><summary>Data of the figure</summary>") and "<td>apart</td>" in sides.table
    for run in (held(), broken()):
        assert run.line and run.line in chart(run).summary


def test_time_outs_at_the_pool_are_red_and_counted(held):
    found = traces(chart(held()))
    gone = found["gave up, and how many"]
    assert (list(gone.x), list(gone.y), list(gone.text)) == ([1.5], [30], ["30"])
    assert gone.marker.color == ERROR
    assert list(found["pool size"].y) == [10, 10]
    assert list(found["taken"].y) == [10, 10, 10, 0]


def test_who_gives_up_within_a_tenth_of_a_second_is_counted_together(held):
    run = held()
    at = [0, 1690, 1710, 1800, 1950]
    run.facts["pool"].update(at_ms=at, active=[10] * 5, waiting=[40, 30, 20, 9, 0], timeouts=[0, 4, 17, 20, 29])
    gone = traces(chart(run))["gave up, and how many"]
    assert (list(gone.x), list(gone.y), list(gone.text)) == ([1.69, 1.8, 1.95], [40, 20, 9], ["17", "3", "9"])


def test_each_run_has_a_panel_of_the_same_height(held):
    figure = chart(held(), held("split"), held("osiv"))
    panels = [figure.layout[name] for name in ("yaxis", "yaxis2", "yaxis3")]
    assert len({tuple(panel.range) for panel in panels}) == 1
    assert panels[0].domain[0] > panels[1].domain[1] > panels[1].domain[0] > panels[2].domain[1]
    assert len(figure.data) == 12 and sum(bool(trace.showlegend) for trace in figure.data) == 4


def test_boundaries_are_rows(held):
    rows = boundary_rows([held(), held("split", client="webclient-mono")])
    assert rows[0] == ("around", "restclient", "off", "held", "10 of 10", "30", "held")
    assert rows[1][0] == "apart" and rows[1][-1] == "free"
    assert chart(held(), held("split"), kind="boundaries").data[0].type == "table"


def test_answers_states_and_ages_share_the_time(broken):
    figure = chart(broken())
    found = traces(figure)
    assert list(found["stale, at once by the breaker: 1"].x) == [1]
    assert list(found["stale, after a time-out: 1"].y) == [3000]
    assert found["no answer: 1"].marker.color == ERROR
    assert (found["breaker open"].base[0], round(found["breaker open"].x[0], 3)) == (0.9, 1.0)
    assert found["breaker half-open"].x[0] == pytest.approx(6 - 1.9)
    assert list(found["age of the board shown"].y) == [3, 1]


def test_theory_opens_the_breaker_and_lets_probes_through(broken):
    drawn = broken()
    assert not [name for name in traces(chart(drawn)) if name.startswith("theory")]
    model = experiments.get("circuit-breaker").model(drawn.settings)
    lines = [trace for trace in chart(replace(drawn, model=model)).data if str(trace.name).startswith("theory")]
    assert [(line.name, line.x[0]) for line in lines] == [
        ("theory: opens at 3.9 s", 3.9),
        ("theory: probes at 5.0 s", 5.0),
    ]


def test_a_guess_in_ms_is_a_line_across_the_answers(broken):
    guess = Prediction("max_once_open_ms", "ms", kept=False)
    guess.give(3000)
    line = next(trace for trace in chart(broken(), guess).data if str(trace.name).startswith("your guess"))
    assert set(line.y) == {3000} and line.yaxis in (None, "y")


def test_breaker_shows_one_run(broken):
    with pytest.raises(ControlError, match="shows one Run"):
        chart(broken(), broken(), kind="breaker")


def test_a_run_without_answers_is_drawn_all_the_same(a_run, a_sample):
    settings = experiments.get("circuit-breaker").settle({})
    one = a_run(series={"requests": [a_sample("requests", 0, 0, 5, "reset")]}, settings=settings,
                experiment="circuit-breaker", model={}, facts={})  # fmt: skip
    assert traces(chart(one))["no answer: 1"].y
