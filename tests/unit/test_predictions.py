"""Guesses: typed, kept, compared, and never invented."""

from __future__ import annotations

import math

import pytest
from waitlab import history, predictions
from waitlab.errors import ControlError
from waitlab.load.samples import Sample
from waitlab.predictions import Prediction, calibration, measured, off_by, predict, tagged_guesses, verdict
from waitlab.runs import Run, Series


@pytest.fixture(autouse=True)
def own_data(tmp_path, monkeypatch):
    monkeypatch.setenv("WAITLAB_DATA", str(tmp_path))
    monkeypatch.setenv("WAITLAB_CHAPTER", "09_thread_per_request")
    for name in ("WAITLAB_PREDICT", "WAITLAB_HEADLESS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(predictions, "_earlier", {})
    monkeypatch.setattr(predictions, "_queue", [])
    monkeypatch.setattr(predictions, "_from_environment", None)


def run_of(latencies_ms, started_at="2026-01-01T00:00:00Z", **facts):
    samples = tuple(
        Sample("fast", i, 0.0, 0.0, None, ms / 1000, 200, "ok", "", None, None) for i, ms in enumerate(latencies_ms)
    )
    series = {"fast": Series("fast", samples), "block": Series("block", samples[:1])}
    return Run("x", {}, {}, "embedded", True, {}, "", started_at, 1.0, series, facts, {}, {}, "line")


def given(name, value, unit="ms"):
    guess = Prediction(name, unit)
    guess.give(value)
    return guess


@pytest.mark.parametrize(
    ("guess", "found", "factor"),
    [(600, 300, 2), (300, 600, 2), (5, 5, 1), (0, 0, 1), (0, 5, math.inf), (5, 0, math.inf), (-1, 1, math.inf)],
)
def test_off_by_is_a_factor_of_at_least_one(guess, found, factor):
    assert off_by(guess, found) == factor


@pytest.mark.parametrize(
    ("name", "unit", "value"),
    [
        ("p50", "ms", 20),
        ("max", "ms", 30),
        ("max", "s", 0.03),
        ("block.max", "ms", 10),
        ("wall", "ms", 77),
        ("loops", "", 4),
    ],
)
def test_a_name_finds_what_the_run_measured(name, unit, value):
    assert measured(Prediction(name, unit), run_of([10, 20, 30], wall_ms=77, loops=4)) == pytest.approx(value)


@pytest.mark.parametrize("name", ["p99", "nothing", "nowhere.p50"])
def test_what_was_not_measured_is_none(name):
    assert measured(Prediction(name, "ms"), run_of([10])) is None


@pytest.mark.parametrize(
    ("typed", "value"), [("1,700", 1700), (" 600 ms ", 600), ("0.5", 0.5), ("1e3", 1000), ("", None)]
)
def test_what_a_reader_types(typed, value):
    assert given("p50", typed).value == value


@pytest.mark.parametrize("typed", ["many", "nan", "inf", "1 2"])
def test_what_is_no_number_is_refused(typed):
    with pytest.raises(ControlError, match="is a number"):
        given("p50", typed)


def test_an_untouched_box_is_no_guess():
    guess = Prediction("p50", "ms")
    assert verdict(guess, run_of([10])) == "Your prediction of p50: no guess yet."
    assert history.history() == []


@pytest.mark.parametrize(
    ("value", "words"), [(10, "2 times too low"), (200, "10 times too high"), (20.2, "right"), (0, "no factor")]
)
def test_the_verdict_names_side_and_factor(value, words):
    assert words in verdict(given("p50", value), run_of([10, 20, 30]))


def test_the_same_run_is_counted_once():
    guess, run = given("p50", 10), run_of([20])
    for _ in range(3):
        verdict(guess, run)
    assert [record["kind"] for record in history.history()] == ["guess", "outcome"]


def test_calibration_counts_only_the_first_outcome_of_a_question():
    verdict(given("p50", 10), run_of([20]))
    verdict(given("p50", 20), run_of([20], started_at="later"))
    verdict(given("max", 80), run_of([20]))
    (chapter,) = calibration()
    assert (chapter.chapter, chapter.guesses) == ("09_thread_per_request", 2)
    assert (chapter.median_off_by, chapter.within_two) == (3, 0.5)


def test_calibration_of_nothing_is_empty():
    assert calibration() == []


def test_a_torn_line_in_the_history_is_passed_over(tmp_path):
    given("p50", 10)
    with (tmp_path / "predictions.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"kind": "outc\n[1]\n')
    given("p50", 11)
    assert [record["guess"] for record in history.history()] == [10, 11]


def test_a_folder_that_cannot_be_written_costs_no_guess(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("WAITLAB_DATA", str(tmp_path / "file"))
    assert given("p50", 10).value == 10


def test_a_cell_that_runs_again_remembers_the_guess():
    given("p50", 600)
    assert Prediction("p50", "ms").value == 600
    assert Prediction("p99", "ms").value is None


def test_tags_give_guesses_in_the_order_of_the_calls():
    def code(source, *tags):
        return {"cell_type": "code", "source": source, "metadata": {"tags": list(tags)}}

    cells = [
        {"cell_type": "markdown", "source": "predict(", "metadata": {}},
        code('predict("a")', "predict:600", "setup"),
        code('predict("b")'),
        code('predict("c")\npredict("d")', "predict:1", "predict:2"),
    ]
    assert tagged_guesses({"cells": cells}) == "600 - 1 2"


def test_headless_guesses_come_from_the_environment_and_are_not_kept(monkeypatch, capsys):
    monkeypatch.setenv("WAITLAB_PREDICT", "600 - -")
    assert predict("p50", "ms").value == 600
    assert predict("p90", "ms").value is None
    assert predict("p99", "ms", default=7).value == 7
    assert "p50: 600 ms" in capsys.readouterr().out
    assert history.history() == []


def test_next_guess_answers_the_next_prediction_only(monkeypatch):
    monkeypatch.setenv("WAITLAB_HEADLESS", "1")
    predictions.next_guess(42)
    assert [predict("p50", "ms").value, predict("p50", "ms").value] == [42, None]


def test_a_reader_sees_an_empty_box_and_the_guess_is_read_late(monkeypatch):
    shown = []
    monkeypatch.setattr("IPython.display.display", shown.append)
    guess = predict("p50", unit="ms", default=5)
    box, said = shown[0].children
    assert (guess.value, box.value) == (None, "")
    box.value = "600"
    assert (guess.value, said.value) == (600, "your guess is kept")
    box.value = "many"
    assert "is a number" in said.value
