"""Every chapter runs headless on Docker as it does embedded: the same cells, the same verbs, containers behind them."""

from __future__ import annotations

import pytest
from waitlab import notebooks


@pytest.mark.timeout(600)
@pytest.mark.parametrize("stem", notebooks.stems())
def test_a_chapter_runs_on_docker(stem, monkeypatch, capsys):
    monkeypatch.setenv("WAITLAB_RUNTIME", "docker")
    assert notebooks.execute(stem, print) == 0, capsys.readouterr().out
