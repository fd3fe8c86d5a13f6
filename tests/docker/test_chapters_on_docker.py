"""Every chapter runs headless on Docker as it does embedded: the same cells, the same verbs, containers behind them."""

from __future__ import annotations

import subprocess
import sys

import pytest
from waitlab import notebooks

BUDGET_S = 600


@pytest.mark.timeout(BUDGET_S)
@pytest.mark.parametrize("stem", notebooks.stems())
def test_a_chapter_runs_on_docker(stem: str) -> None:
    command = [sys.executable, "-m", "waitlab", "run", stem, "--runtime", "docker"]
    told = subprocess.run(command, capture_output=True, text=True, check=False, timeout=BUDGET_S)
    assert told.returncode == 0, told.stdout + told.stderr
