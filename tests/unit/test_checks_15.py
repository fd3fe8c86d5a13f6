"""Chapter 15's exercises: what passes, and what the hints look at."""

import pytest
from waitlab import checks
from waitlab.load.samples import Sample
from waitlab.runs import Run, Series


@pytest.fixture(autouse=True)
def no_tries_yet():
    checks.forget()


def a_run(threads=(), normal_ms=(5.0,) * 100, **given):
    usual = {"server": "plain", "where": "onloop", "assignment": "pinned", "loops": 8, "requests": 2000}
    usual |= {"blocking_share": 0.01, "block_ms": 100, "rate_per_s": 500, "offload_pool_size": 64}
    facts = {"blocks_on_busiest_loop": 10, "wall_ms": 1080.0, "blocks_by_loop": {"reactor-http-epoll-2": 4}}
    facts |= {name: given.pop(name) for name in facts if name in given}
    samples = [Sample("blocking", i, 0.0, 0.0, 0.1, 0.1, 0, "ok", name, 0, 1) for i, name in enumerate(threads)]
    innocents = [Sample("normal", i, 0.0, 0.0, 0.1, ms / 1000, 0, "ok", "", 0, 1) for i, ms in enumerate(normal_ms)]
    series = {"normal": Series("normal", tuple(innocents)), "blocking": Series("blocking", tuple(samples))}
    made = {"runtime": "embedded", "live": True, "machine": {}, "commit": "", "started_at": "", "line": ""}
    return Run("one-percent", {**usual, **given}, {}, series=series, facts=facts, model={}, duration_s=1.0,
               client={}, **made)  # fmt: skip


def passes(name, answer):
    return checks.check(name, answer).passed


def hints(name, answer):
    return [checks.check(name, answer).text for _ in range(3)]


def test_loops_hit():
    assert passes("loops-hit", 3)
    question, _, reason = hints("loops-hit", 12)
    assert question.endswith("comes back.") and "= 3" in reason


@pytest.mark.parametrize("loops", [7, 9])
def test_no_victim_passes_where_the_blocks_go_round(loops):
    assert passes("no-victim", a_run(loops=loops, blocks_on_busiest_loop=3))


def test_no_victim_looks_at_the_busiest_loop():
    first, second, _ = hints("no-victim", a_run())
    assert "10 of the twenty" in first and "gcd(100, 8) is 4" in second
    assert not passes("no-victim", a_run(loops=50, blocks_on_busiest_loop=1))
    assert not passes("no-victim", a_run(assignment="shared", blocks_on_busiest_loop=3))


def test_enough_threads():
    moved = {"where": "offload"}
    each = [f"offload-{n}" for n in range(20)]
    assert passes("enough-threads", a_run(each, offload_pool_size=20, **moved))
    assert (
        "19 threads had 20 blocks"
        in hints("enough-threads", a_run([*each[:19], each[0]], offload_pool_size=19, **moved))[0]
    )
    assert "20 of 64 threads" in hints("enough-threads", a_run(each, offload_pool_size=64, **moved))[0]
    assert not passes("enough-threads", a_run(each, where="onloop"))


def test_quiet_server():
    http = {"server": "webflux", "threads": ["x"] * 15}
    assert passes("quiet-server", a_run(where="r2dbc", **http))
    assert passes("quiet-server", a_run(where="offload", **http))
    assert not passes("quiet-server", a_run(where="onloop", **http))
    assert "busy" in hints("quiet-server", a_run(where="offload", normal_ms=(80.0,) * 100, **http))[0]
    assert not passes("quiet-server", a_run(where="none", **http))
