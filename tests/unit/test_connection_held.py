"""connection-held without servers: the pool on the run's clock, and theory."""

import pytest
from fake_trains import T0, FakeLab
from waitlab import experiments
from waitlab.experiments.measure import measure

HELD = experiments.get("connection-held")


def watched(**given):
    at = [round((T0 + ms / 1000) * 1e6) for ms in (-500, 0, 100, 900, 5000)]
    seen = {"at_us": at, "pool_active": [1, 2, 10, 10, 0], "pool_waiting": [0, 0, 5, 5, 0]}
    seen |= {"workers_busy": [0] * 5, "pool_timeouts": [0, 0, 0, 3, 3]}
    peaks = {"pool_active_peak": 10, "pool_waiting_peak": 5, "pool_timeouts": 3, "connections_used": 9}
    return {**peaks, "held_ms_mean": 1.0, "samples": seen, **given}


def test_the_pool_is_told_on_the_run_s_own_clock():
    lab = FakeLab(answer=lambda stream, index, at: (1000.0, "ok" if index else "rejected"))
    lab.watch = watched()
    run = measure(HELD, HELD.settle({"boundary": "transaction", "users": 5, "user_calls": 2}), lab)
    facts = run.facts
    assert facts["pool"] == {"at_ms": [0, 100, 900], "active": [2, 10, 10], "waiting": [0, 5, 5], "timeouts": [0, 0, 3]}
    assert (facts["pool_timeouts"], facts["pool_active_p50"], facts["connection_held"]) == (3, 10, True)
    assert "connection held during the call, 3 time-outs at the pool, 4.0 boards a second" in run.line
    assert ("mvc", {"connection_timeout_ms": 1500, "open_in_view": False}) in [
        (name, {k: v for k, v in given.items() if k in ("connection_timeout_ms", "open_in_view")})
        for name, given in lab.apps
    ]


@pytest.mark.parametrize(
    ("given", "held", "timeouts", "per_s"),
    [
        ({"boundary": "transaction", "user_calls": 0}, True, 30, 10),
        ({"boundary": "osiv", "user_calls": 0}, True, 30, 10),
        ({"boundary": "split", "user_calls": 0}, False, 0, 50),
        ({"boundary": "transaction", "client": "webclient-mono"}, False, 0, 50),
        ({"boundary": "transaction", "connection_timeout_ms": 60_000, "user_calls": 0}, True, 0, 10),
    ],
)
def test_theory_of_a_held_connection(given, held, timeouts, per_s):
    model = HELD.model(HELD.settle(given))
    assert (model["connection_held"], model["pool_timeouts"]) == (held, timeouts)
    assert model["slow_throughput_per_s"] == pytest.approx(per_s)
    assert model["ceiling_per_s"] == (10 if held else None)


def test_bystanders_at_the_same_pool_give_up_too():
    """Sent before 0.5 s they wait over 1.5 s for the third wave: 44 of the hundred that come from 0.15 s, each 8 ms."""
    model = HELD.model(HELD.settle({"boundary": "transaction"}))
    assert model["pool_timeouts"] == 30 + 44
    assert min(model["curve"]["x"]) >= 0.5 and max(model["curve"]["y"]) <= 1500


def test_an_error_after_the_commit_is_told_row_by_row():
    run = measure(experiments.get("error-after-commit"), {"cpus": 2}, FakeLab())
    assert [row["kept"] for row in run.facts["rows"]] == [False, False, True]
    assert run.line.endswith("webclient-mono: the row is kept")
