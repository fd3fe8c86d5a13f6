"""The decision sheet's sliders: the table follows, what cannot be is said in its place."""

import pytest
from waitlab import decide, explore
from waitlab.errors import ControlError


@pytest.fixture
def shown():
    return explore(decide, patience_ms=500)


def test_every_number_that_is_not_fixed_has_a_slider_with_its_unit(shown):
    names = list(shown.knobs.widgets)
    assert "patience_ms" not in names and len(names) == 11
    assert all(widget.description.startswith(name) for name, widget in shown.knobs.widgets.items())


def test_a_move_fills_the_table_again(shown):
    shown.set(rate_per_s=700)
    assert shown.sheet.numbers.rate_per_s == 700 and shown.sheet.numbers.patience_ms == 500
    assert "grows by 200 a second" in shown._table.value and "First the connections" in repr(shown)


def test_a_knob_nobody_moved_follows(shown):
    shown.set(cores=4)
    assert shown.knobs.widgets["offload_pool_size"].value == 40 == shown.sheet.numbers.offload_pool_size


def test_what_cannot_be_is_said_and_the_next_move_mends_it(shown):
    shown.set(wait_ms=600)
    assert "No answer can come within patience_ms=500" in shown._table.value and 'role="alert"' in shown._table.value
    shown.set(wait_ms=20)
    assert "alert" not in shown._table.value


def test_some_sliders_only():
    assert list(explore(decide, show=["rate_per_s", "gate"]).knobs.widgets) == ["rate_per_s", "gate"]
    with pytest.raises(ControlError, match="no control named 'rates'"):
        explore(decide, show=["rates"])
    with pytest.raises(ControlError, match="gate takes"):
        explore(decide, gate=-1)
