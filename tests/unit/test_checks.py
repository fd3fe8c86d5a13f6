"""Checks: what passes, what the hints look at, and what is no answer at all."""

import pytest
from waitlab import checks, exercises
from waitlab.errors import ControlError
from waitlab.load.samples import Sample
from waitlab.runs import Run, Series


@pytest.fixture(autouse=True)
def no_tries_yet():
    checks.forget()


def a_run(experiment="bystander", fast_ms=(5.0,) * 100, client=None, partial=False, **given):
    settings = {"endpoint": "sleep", "k": 4, "block_ms": 2000, "cpus": 2, "accept": "shared", **given}
    in_force = {"event_loops": max(settings["cpus"], 4), "offload_pool_size": 20, "jdbc_pool_size": 10}
    in_force |= {name: given[name] for name in in_force if name in given}
    facts = {"held_share": given.get("held_share", 0.0), "all_blocked_ms": given.get("all_blocked_ms", 2000.0)}
    facts["blocked_threads"] = given.get("blocked_threads", ["reactor-http-epoll-2"])
    series = {"fast": of("fast", fast_ms), "block": of("block", [settings["block_ms"]] * settings["k"])}
    made = {"runtime": "embedded", "live": True, "machine": {}, "commit": "", "started_at": "", "line": ""}
    return Run(experiment, settings, in_force, series=series, facts=facts, model={}, duration_s=1.0,
               client=client or {}, partial=partial, **made)  # fmt: skip


def of(name, latencies_ms):
    """A series of successes with these latencies."""
    ends = [(index, ms / 1000) for index, ms in enumerate(latencies_ms)]
    return Series(name, tuple(Sample(name, i, 0.0, 0.0, s, s, 200, "ok", "", None, None) for i, s in ends))


def hints(name, answer, times=3):
    return [checks.check(name, answer).text for _ in range(times)]


def passes(name, answer):
    return checks.check(name, answer).passed


def test_a_verdict_says_whether_it_passed():
    assert repr(checks.check("rest-of-the-sleep", 1800)).startswith("passed: 1,800 ms")
    assert repr(checks.check("rest-of-the-sleep", 0)).startswith("not yet: ")


def test_hints_go_from_a_question_to_a_pointer_to_the_reason():
    question, pointer, reason = hints("rest-of-the-sleep", 0)
    assert question.endswith("?")
    assert "six loops" in pointer
    assert reason.endswith("1,800 ms.")
    assert checks.check("rest-of-the-sleep", 0).text == reason


def test_a_hint_looks_at_the_answer():
    assert hints("rest-of-the-sleep", 3000, 1) != hints("rest-of-the-sleep", 0, 1)


@pytest.mark.parametrize("name", ["rest-of-sleep", "", None, 5, "forty"])
def test_an_unknown_exercise_is_refused_with_the_nearest(name):
    with pytest.raises(ControlError) as refusal:
        checks.check(name, 1)
    assert "Try: " in str(refusal.value)


@pytest.mark.parametrize("answer", ["1800", None, True, float("nan"), [1800], object()])
def test_a_wrong_kind_of_answer_is_a_sentence_and_no_try(answer):
    verdict = checks.check("rest-of-the-sleep", answer)
    assert not verdict.passed and verdict.text.startswith("this exercise takes a number")
    assert checks.check("rest-of-the-sleep", 0).text.endswith("?")


def test_every_exercise_refuses_what_is_no_answer():
    for name in exercises.known():
        assert "this exercise takes" in checks.check(name, object()).text


def test_a_void_or_stopped_run_and_one_of_another_experiment_prove_nothing():
    good = {"cpus": 6, "accept": "own", "k": 6, "held_share": 1.0}
    assert passes("smallest-stop", a_run(**good))
    assert "void" in checks.check("smallest-stop", a_run(client={"saturated": True}, **good)).text
    assert "stopped" in checks.check("smallest-stop", a_run(partial=True, **good)).text
    assert '"loops"' in checks.check("smallest-stop", a_run("loops", **good)).text


def test_the_smallest_stop_is_as_many_sleepers_as_loops():
    six = {"cpus": 6, "accept": "own"}
    assert "50%" in checks.check("smallest-stop", a_run(k=3, held_share=0.5, **six)).text
    checks.forget()
    assert "fewer" in checks.check("smallest-stop", a_run(k=7, held_share=1.0, **six)).text
    assert "cpus=2" in checks.check("smallest-stop", a_run(k=4, held_share=1.0, accept="own")).text


def test_who_runs_it_counts_and_asks_about_the_first_wrong_one():
    right = {"jdbc-isolated": "offload", "jdbc-publish": "loop", "callable-publish": "offload"}
    assert passes("who-runs-it", right)
    assert passes("who-runs-it", right | {"jdbc-isolated": "boundedElastic"})
    assert checks.check("who-runs-it", right | {"callable-publish": "loop"}).text.startswith("2 of 3")
    assert "no word about jdbc-publish" in checks.check("who-runs-it", {"jdbc-isolated": "loop"}).text


def test_a_quiet_bystander_needs_another_operator():
    twelve = {"k": 12, "block_ms": 1000}
    loud = a_run(endpoint="jdbc-publish", fast_ms=(900.0,) * 100, **twelve)
    question, pointer, reason = hints("quiet-bystander", loud)
    assert "reactor-http-epoll-2, an event loop" in question and "900 ms" in question
    assert "publishOn" in pointer and "subscribeOn" in reason
    assert passes("quiet-bystander", a_run(endpoint="jdbc-isolated", **twelve))
    assert "fast=100" in checks.check("quiet-bystander", a_run(endpoint="jdbc", fast_ms=(1.0,), **twelve)).text
    assert "busy" in checks.check("quiet-bystander", a_run(endpoint="r2dbc", fast_ms=(60.0,) * 100, **twelve)).text
    assert "less to do" in checks.check("quiet-bystander", a_run(endpoint="jdbc-isolated", k=2)).text


def test_forty_queries_are_stopped_by_the_narrower_pool():
    forty = {"endpoint": "jdbc-isolated", "k": 40, "block_ms": 500}
    _, pointer, reason = hints("forty-queries", a_run(offload_pool_size=40, all_blocked_ms=2010.0, **forty))
    assert "10 wide: the connections" in pointer and "14" in reason
    checks.forget()
    few_threads = a_run(offload_pool_size=2, all_blocked_ms=10_000.0, **forty)
    assert "threads are the narrower" in hints("forty-queries", few_threads)[1]
    assert passes("forty-queries", a_run(jdbc_pool_size=20, all_blocked_ms=1010.0, **forty))
