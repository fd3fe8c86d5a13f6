"""Controls: what becomes a value, and what is refused in one sentence."""

import pytest
from waitlab.controls import Control, settle
from waitlab.errors import ControlError

K = Control("k", int, 4, "requests", 0, 500)
SHARE = Control("share", float, 0.01, low=0, high=1)
KIND = Control("endpoint", str, "sleep", choices=("sleep", "jdbc"))
KEEP = Control("keep_alive", bool, False)
CPUS = Control("cpus", int, 2, low=1, high=64)
POOL = Control("pool", int, lambda s: 10 * int(s["cpus"]), low=1, high=1000, computed="10 x cpus")


@pytest.mark.parametrize("value", [0, 500, "0", " 7 ", 4.0, "+3"])
def test_whole_numbers_in_range_are_taken(value):
    assert K.parse(value) == int(value)


@pytest.mark.parametrize(
    "value",
    ["", " ", "abc", -1, "-1", 1.5, "1.5", True, None, 10**9, "1e2", "0x10", "١", [], float("nan"), "1_0"],
)
def test_anything_else_is_refused_with_name_unit_and_range(value):
    with pytest.raises(ControlError) as refused:
        K.parse(value)
    for part in ("k", "requests", "0 to 500", "Try:"):
        assert part in str(refused.value)


@pytest.mark.parametrize("value", ["nan", "inf", "", True, None, -0.1, 1.1, "half", "1_0", "١"])
def test_fractions_must_be_finite_numbers_in_range(value):
    with pytest.raises(ControlError):
        SHARE.parse(value)


@pytest.mark.parametrize("value", ["SLEEP", "", None, 3, "nope", True])
def test_a_choice_is_one_of_its_values_to_the_letter(value):
    with pytest.raises(ControlError, match="sleep, jdbc"):
        KIND.parse(value)


@pytest.mark.parametrize("value", ["", "yes", 1, 0, None, "1"])
def test_a_switch_is_true_or_false(value):
    with pytest.raises(ControlError, match="true or false"):
        KEEP.parse(value)


def test_true_and_false_may_come_as_text():
    assert KEEP.parse("True") is True
    assert KEEP.parse("false") is False


def test_a_default_may_follow_another_control():
    assert settle([CPUS, POOL], {}, "x") == {"cpus": 2, "pool": 20}
    assert settle([CPUS, POOL], {"cpus": "6"}, "x")["pool"] == 60
    assert settle([POOL, CPUS], {"cpus": 3, "pool": 5}, "x") == {"pool": 5, "cpus": 3}


def test_a_default_that_is_computed_stays_in_the_range():
    assert settle([CPUS, POOL], {"cpus": 64}, "x")["pool"] == 640
    small = Control("pool", int, POOL.default, low=30, high=100, computed="10 x cpus")
    assert settle([CPUS, small], {"cpus": 64}, "x")["pool"] == 100
    assert settle([CPUS, small], {"cpus": 1}, "x")["pool"] == 30


def test_an_unknown_control_is_answered_with_the_nearest():
    with pytest.raises(ControlError, match="Try: cpus"):
        settle([CPUS, POOL], {"cpu": 2}, "x")


def test_a_long_number_is_refused_and_not_computed():
    with pytest.raises(ControlError):
        K.parse("9" * 5000)


def test_a_fraction_is_refused_with_the_reason_where_there_is_one():
    cpus = Control("cpus", int, 2, low=1, high=64, why="half a processor is none")
    with pytest.raises(ControlError, match="half a processor is none"):
        cpus.parse("1.5")
    with pytest.raises(ControlError) as refused:
        cpus.parse("0")
    assert "half" not in str(refused.value)


def test_a_refusal_does_not_repeat_a_novel():
    with pytest.raises(ControlError) as refused:
        K.parse("x" * 10_000)
    assert len(str(refused.value)) < 200


@pytest.mark.parametrize("value", [10**5000, "x" * 100_000, ["x"] * 50_000], ids=["number", "text", "list"])
@pytest.mark.parametrize("control", [K, SHARE, KIND, KEEP], ids=lambda control: control.name)
def test_a_huge_value_is_refused_without_repeating_it(control, value):
    with pytest.raises(ControlError) as refused:
        control.parse(value)
    assert len(str(refused.value)) < 250


def test_a_huge_name_is_not_repeated():
    with pytest.raises(ControlError) as refused:
        settle([CPUS, POOL], {"x" * 100_000: 2}, "x")
    assert len(str(refused.value)) < 250
