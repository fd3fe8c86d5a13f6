"""The WebClient lab's exercises: what passes, and what the hints look at."""

import pytest
from waitlab import checks, experiments
from waitlab.load.samples import Sample
from waitlab.runs import Run, Series


@pytest.fixture(autouse=True)
def no_tries_yet():
    checks.forget()


def a_run(experiment, series, facts, **given):
    made = {"runtime": "embedded", "live": True, "machine": {}, "commit": "", "started_at": "", "line": ""}
    settings = experiments.get(experiment).settle(given)
    return Run(experiment, settings, {}, series=series, facts=facts, model={}, duration_s=1.0, client={}, **made)


def a_series(name, latencies_ms, failed=0):
    ok = [Sample(name, i, 0.0, 0.0, 0.1, ms / 1000, 200, "ok", "", 0, 1) for i, ms in enumerate(latencies_ms)]
    lost = [Sample(name, len(ok) + i, 0.0, 0.0, 0.1, 1.5, 503, "rejected", "", None, None) for i in range(failed)]
    return Series(name, tuple(ok + lost))


def passes(name, answer):
    return checks.check(name, answer).passed


def hints(name, answer):
    return [checks.check(name, answer).text for _ in range(3)]


def test_calls_hanging():
    assert passes("calls-hanging", 180) and passes("calls-hanging", 180.5)
    question, pointer, reason = hints("calls-hanging", 120)
    assert question.endswith("?") and "Little" in pointer and "180" in reason


def styles(busy=0, user=(5.0,) * 100, slow=(1000.0,) * 60, **given):
    rows = [{"group": "http-nio-exec", "count": busy, "top_frame": "Mono.block"}]
    rows += [{"group": "other", "count": 99, "top_frame": "Unsafe.park"}]
    facts = {"threads": rows, "exec_busy_peak": busy}
    usual = {"client": "webclient-mono", "users": 60, "pool_size": 60, "api_ms": 1000}
    return a_run("client-styles", {"slow": a_series("slow", slow), "user": a_series("user", user)}, facts,
                 **{**usual, **given})  # fmt: skip


def test_free_bystander_passes_where_nobody_waits():
    assert passes("free-bystander", styles())
    assert passes("free-bystander", styles(client="restclient", threads="virtual"))


def test_free_bystander_names_the_frame():
    question, pointer, reason = hints("free-bystander", styles(60, (800.0,) * 100, client="webclient-block"))
    assert question.startswith("60 of Tomcat's threads") and "Mono.block" in pointer and "webclient-mono" in reason


def test_free_bystander_keeps_the_question():
    assert "pool_size=61" in hints("free-bystander", styles(pool_size=61))[0]
    assert "users=59" in hints("free-bystander", styles(users=59))[0]
    assert passes("free-bystander", styles(user=(400.0,) * 100)), "a busy machine is not the reader's fault"
    assert "every one counts" in hints("free-bystander", failing_styles())[0]
    assert not passes("free-bystander", styles(user=()))


def failing_styles():
    run = styles()
    return Run(**{**vars(run), "series": {**run.series, "slow": a_series("slow", (1000.0,) * 59, failed=1)}})


def held(gone=0, ok=50, failed=0, **given):
    facts = {"pool_timeouts": gone, "pool_active_p50": 10.0}
    usual = {"boundary": "split", "user_calls": 0}
    return a_run("connection-held", {"slow": a_series("slow", (1000.0,) * ok, failed)}, facts, **{**usual, **given})


def test_nobody_gives_up():
    assert passes("nobody-gives-up", held())
    assert passes("nobody-gives-up", held(boundary="transaction", client="webclient-mono"))
    question, pointer, reason = hints("nobody-gives-up", held(30, 20, 30, boundary="transaction"))
    assert question.startswith("30 gave up") and "10 of 10" in pointer and "split" in reason
    assert "jdbc_pool_size=50" in hints("nobody-gives-up", held(jdbc_pool_size=50))[0]
    assert "connection_timeout_ms=9000" in hints("nobody-gives-up", held(connection_timeout_ms=9000))[0]
    assert not passes("nobody-gives-up", held(ok=49, failed=1))


def silent(slowest=505.0, states=("closed", "open"), failed=0, **given):
    facts = {"states": [{"at_ms": 0, "state": name} for name in states], "refused_by_breaker": 70}
    usual = {"api": "down", "requests": 100, "interval_ms": 50}
    series = {"requests": a_series("requests", (5.0,) * 99 + (slowest,), failed)}
    return a_run("circuit-breaker", series, facts, **{**usual, **given})


def test_short_patience():
    assert passes("short-patience", silent(timeout_ms=500))
    question, pointer, reason = hints("short-patience", silent(3005.0))
    assert "3,005 ms" in question and pointer.endswith("?") and "timeout_ms=500" in reason
    assert "breaker=off" in hints("short-patience", silent(breaker="off"))[0]
    assert "never opened" in hints("short-patience", silent(states=("closed",)))[0]
    assert not passes("short-patience", silent(failed=1))
