"""The palette: a figure's later Runs never look like an approach."""

from waitlab.charts.palette import APPROACHES, OTHER, SYMBOLS, symbol


def test_no_later_run_has_the_marker_of_an_approach():
    own = {look.symbol for look in APPROACHES.values()} | {OTHER.symbol}
    assert own.isdisjoint(SYMBOLS)


def test_a_dozen_runs_have_a_marker_each():
    assert len({symbol(n) for n in range(2 * len(SYMBOLS))}) == 2 * len(SYMBOLS) > 12
