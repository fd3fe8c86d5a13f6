"""The WebClient lab's theory: cases computed by hand."""

from math import inf

import pytest
from waitlab import models_webclient as models


@pytest.mark.parametrize(
    ("users", "ramp_s", "api_ms", "expected"),
    [(200, 0, 2000, 200), (1000, 10, 2000, 200), (1000, 10, 100, 10), (5, 1, 60_000, 5)],
)
def test_in_flight_is_a_burst_or_rate_times_time(users, ramp_s, api_ms, expected):
    assert models.in_flight(users, ramp_s, api_ms) == pytest.approx(expected)


def test_arrivals():
    assert models.arrivals_ms(3, 0, 50) == [50, 50, 50]
    assert models.arrivals_ms(4, 2, 100) == [100, 600, 1100, 1600]
    assert models.arrivals_ms(0, 2) == []


def test_a_queue_is_served_in_waves():
    assert models.starts_ms([(0, 100)] * 5, 2) == [0, 0, 100, 100, 200]
    assert models.starts_ms([(0, 100), (10, 100), (150, 5)], 2) == [0, 10, 150]
    assert models.starts_ms([(0, 100)] * 3, inf) == [0, 0, 0]


def test_whoever_gives_up_holds_nothing():
    assert models.starts_ms([(0, 1000), (0, 1000), (600, 10)], 1, 500) == [0, None, 1000]
    assert models.starts_ms([(0, 1000), (0, 10)], 1, 1000) == [0, 1000]
    assert models.starts_ms([(0, 10)], 0) == [None]


def test_the_bystander_waits_for_the_last_whole_wave_before_it():
    assert models.bystander_wait_ms(300, 50, 50, 2000) == 1700
    assert models.bystander_wait_ms(300, 120, 50, 2000) == 3700
    assert models.bystander_wait_ms(300, 49, 50, 2000) == 0
    assert models.bystander_wait_ms(2500, 50, 50, 2000) == 0
    assert models.bystander_wait_ms(300, 5000, inf, 2000) == 0


def test_the_bystander_s_wait_is_that_of_the_queue():
    for users, pool in ((50, 50), (120, 50), (10, 50), (7, 3)):
        starts = models.starts_ms([(0, 2000)] * users + [(300, 0)], pool)
        assert starts[-1] - 300 == models.bystander_wait_ms(300, users, pool, 2000)


@pytest.mark.parametrize(
    ("boundary", "client", "open_in_view", "held"),
    [
        ("split", "restclient", False, False),
        ("split", "webclient-mono", False, False),
        ("transaction", "restclient", False, True),
        ("transaction", "webclient-block", False, True),
        ("transaction", "webclient-mono", False, False),
        ("split", "restclient", True, True),
        ("osiv", "restclient", True, True),
        ("osiv", "webclient-mono", True, True),
        ("osiv", "webclient-mono", False, False),
        ("transaction", "resttemplate", True, True),
        ("transaction", "webclient-mono", True, True),
    ],
)
def test_who_keeps_a_connection(boundary, client, open_in_view, held):
    assert models.holds_connection(boundary, client, open_in_view=open_in_view) is held


def test_pool_over_api_time():
    assert models.held_throughput_per_s(10, 1000) == pytest.approx(10)
    assert models.served_in_time(50, 10, 1000, 1500) == 20
    assert models.served_in_time(50, 10, 1000, 1000) == 10
    assert models.served_in_time(15, 10, 1000, 1500) == 15
    waves = models.starts_ms([(0, 1000)] * 50, 10, 1500)
    assert sum(start is not None for start in waves) == 20


def test_a_breaker_opens_when_its_window_has_failed():
    assert models.opens_at_ms(10, 100, 3000) == 3900
    assert models.half_open_at_ms(3900, 1000) == 4900
    assert models.half_open_at_ms(3900, 1000, interval_ms=100, requests=250) == 5000
    assert models.half_open_at_ms(3900, 1000, interval_ms=2000, requests=10) == 6000
    assert models.half_open_at_ms(3900, 1000, interval_ms=100, requests=50) is None
    assert models.opens_at_ms(1, 100, 500) == 500


def test_stale_answers_grow_old():
    assert models.stale_age_ms(2500, 500) == 2000
    assert models.stale_age_ms(100, 500) == 0


def test_threads_needed():
    assert models.threads_needed(100, 2000) == pytest.approx(200)
