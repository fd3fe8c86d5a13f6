"""Theory of the four stacks, against cases computed by hand."""

from math import log, sqrt

import pytest
from waitlab import models_stacks as models


def test_the_knee_is_the_servers_over_the_time_that_each_is_held():
    assert models.knee_per_s(10, 20) == 500
    assert models.knee_per_s(1, 1000) == 1


def test_one_server_makes_wait_whoever_finds_it_busy():
    """For one server Erlang's C is the utilisation itself."""
    assert models.erlang_c(1, 0.25) == pytest.approx(0.25)
    assert models.erlang_c(1, 0.9) == pytest.approx(0.9)


def test_two_servers_at_half_load_make_a_third_wait():
    """a = 1, c = 2: B(1) = 1/2, B(2) = (1/2) / (2 + 1/2) = 1/5; C = (1/5) / (1 - 1/2 x 4/5) = 1/3."""
    assert models.erlang_c(2, 1.0) == pytest.approx(1 / 3)


def test_from_the_knee_on_everybody_waits():
    assert models.erlang_c(10, 10.0) == 1
    assert models.erlang_c(10, 14.0) == 1


def test_below_the_knee_most_do_not_wait_and_the_tail_falls_exponentially():
    assert models.usual_wait_ms(0.5, 250, 10, 20) == 0
    tail = models.usual_wait_ms(0.99, 0.9, 1, 1000)
    assert tail == pytest.approx(log(0.9 / 0.01) / (2 * (1 - 0.9)) * 1000)


def test_above_the_knee_the_wait_grows_with_the_surplus():
    """700/s at a knee of 500: after t seconds 200 t wait, which take 0.4 t; half of 5 s are sent before 2.5 s."""
    assert models.growing_wait_ms(0.5, 700, 500, 5) == pytest.approx(1000)
    assert models.growing_wait_ms(1.0, 700, 500, 5) == pytest.approx(2000)
    assert models.growing_wait_ms(0.5, 300, 500, 5) == 0


def test_at_the_knee_chance_alone_makes_a_queue():
    """Half of |N(0, 500 x 2.5)| are under 0.6745 x 35.36 requests, which take 47.7 ms at 500/s."""
    assert models.wandering_wait_ms(0.5, 500, 500, 5) == pytest.approx(0.6745 * sqrt(1250) / 500 * 1000, rel=1e-3)


def test_the_wait_does_not_fall_as_the_rate_grows():
    waits = [models.wait_ms(0.5, rate, 10, 20, 5, "poisson") for rate in range(50, 1000, 10)]
    assert waits == sorted(waits)
    assert waits[0] == 0 and waits[-1] > 1000


def test_evenly_spaced_arrivals_wait_above_the_knee_only():
    assert models.wait_ms(0.99, 499, 10, 20, 5, "constant") == 0
    assert models.wait_ms(0.5, 700, 10, 20, 5, "constant") == pytest.approx(1000)


def test_throughput_is_what_came_over_the_time_to_serve_it():
    assert models.throughput_per_s(300, 500, 5, 20) == pytest.approx(1500 / 5.02)
    assert models.throughput_per_s(700, 500, 5, 20) == pytest.approx(3500 / 7.02)
