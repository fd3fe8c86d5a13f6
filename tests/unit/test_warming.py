"""Warming up: until two rounds in a row agree, once for each server and work, with a note where they never do."""

import threading
from types import SimpleNamespace

import pytest
from waitlab.experiments import warming
from waitlab.experiments.base import Bench


@pytest.fixture(autouse=True)
def cold():
    warming.forget()


def bench():
    return Bench(SimpleNamespace(lab_id="lab"), lambda share, words: None, threading.Event())


def warmed(rounds, most=5, settled=warming.agree, work="work", pid=7):
    """The note, and what was left of the rounds."""
    left = list(rounds)
    note = warming.warm(bench(), SimpleNamespace(name="mvc", pid=pid), work, lambda: left.pop(0), most, settled)
    return note, left


@pytest.mark.parametrize(
    ("rounds", "left"), [([40, 20, 10, 10.1, 10], [10]), ([1.0, 1.1, 9], [9]), ([100, 96, 50], [50])]
)
def test_it_ends_with_two_rounds_that_agree(rounds, left):
    assert warmed(rounds) == ((), left)


def test_one_round_agrees_with_nothing():
    assert warmed([10], most=1) == ((warming.COLD,), [])


def test_what_never_settles_is_noted():
    assert warmed([40, 20, 10, 5, 2, 1]) == ((warming.COLD,), [1])


def test_a_round_without_answers_settles_nothing():
    assert warmed([float("inf"), float("inf"), 10, 10]) == ((), [])


def test_bursts_agree_within_a_quarter():
    assert warmed([100, 70, 56], settled=warming.roughly) == ((), [])


def test_a_server_is_warmed_once_for_each_work_and_afresh_after_a_restart():
    assert warmed([1, 1])[1] == []
    assert warmed([2, 2]) == ((), [2, 2])
    assert warmed([1, 1], work="other")[1] == [] and warmed([1, 1], pid=8)[1] == []


def test_a_round_that_fails_leaves_the_server_cold():
    with pytest.raises(IndexError):
        warmed([1])
    assert warmed([2, 2])[1] == []
