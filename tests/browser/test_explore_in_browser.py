"""A reader in JupyterLab: sliders move the model, Run drops points, the console stays quiet."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect
from waitlab.notebooks import FOLDER

HERE = Path(__file__).parent
POINTS = ".waitlab-explore .scatterlayer .points path"
HARMLESS = ("favicon", "Failed to load resource", "Content-Security-Policy")

FAKE_CELL = """\
from IPython.display import display
from fake_lab import FAKE, measure
from waitlab.widgets.explorer import Explorer

explorer = Explorer(FAKE, runner=measure)
display(explorer.box)
"""


def notebook_of(*cells: str) -> str:
    made = [
        {
            "cell_type": "code",
            "id": f"cell{n}",
            "metadata": {},
            "execution_count": None,
            "outputs": [],
            "source": text,
        }
        for n, text in enumerate(cells)
    ]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return json.dumps({"cells": made, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5})


def serious(errors: list[str]) -> list[str]:
    return [error for error in errors if not any(word in error for word in HARMLESS)]


def press(page: Any, name: str) -> None:
    page.locator(f'.waitlab-explore button:has-text("{name}")').first.click()


def test_run_pressed_in_explore_drops_points(notebook: Callable[[Path], Any], tmp_path: Path) -> None:
    shutil.copy(HERE / "fake_lab.py", tmp_path)
    (tmp_path / "fake.ipynb").write_text(notebook_of(FAKE_CELL), encoding="utf-8")
    shown = notebook(tmp_path / "fake.ipynb")
    shown.run_all()
    shown.page.locator(".waitlab-explore .main-svg").first.wait_for(timeout=60_000)
    expect(shown.page.locator(POINTS)).to_have_count(0)
    press(shown.page, "Run")
    expect(shown.page.locator(POINTS)).to_have_count(10, timeout=20_000)
    expect(shown.page.get_by_text("4 blockers: 10 answered")).to_have_count(1)
    assert serious(shown.errors) == []


def test_the_decision_sheet_follows_the_keyboard(notebook: Callable[[Path], Any], tmp_path: Path) -> None:
    cell = "from waitlab import decide, explore\nexplore(decide)"
    (tmp_path / "sheet.ipynb").write_text(notebook_of(cell), encoding="utf-8")
    shown = notebook(tmp_path / "sheet.ipynb")
    shown.run_all()
    sheet = shown.page.locator(".waitlab-decide")
    expect(sheet.get_by_text("A thread pool does it")).to_have_count(1, timeout=60_000)
    sheet.locator(".noUi-handle").first.focus()
    for _ in range(8):
        shown.page.keyboard.press("ArrowRight")
    expect(sheet.get_by_text("First the connections")).to_have_count(1, timeout=20_000)
    expect(sheet.get_by_role("columnheader")).to_have_count(4)
    assert serious(shown.errors) == []


@pytest.mark.parametrize(("stem", "requests"), [("lab_webflux", 10), ("09_thread_per_request", 500)])
def test_a_chapter_explores_a_real_server(
    notebook: Callable[[Path], Any], tmp_path: Path, stem: str, requests: int
) -> None:
    chapter = Path(shutil.copy(FOLDER / f"{stem}.ipynb", tmp_path))
    sources = ["".join(cell["source"]) for cell in json.loads(chapter.read_text(encoding="utf-8"))["cells"]]
    shown = notebook(chapter)
    for wanted in ("from waitlab import", "explore("):
        shown.run_cell(next(index for index, source in enumerate(sources) if source.startswith(wanted)))
    shown.page.locator(".waitlab-explore .main-svg").first.wait_for(timeout=60_000)
    press(shown.page, "Run")
    expect(shown.page.locator(POINTS)).to_have_count(requests, timeout=90_000)
    assert serious(shown.errors) == []
