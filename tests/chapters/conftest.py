"""Chapters, executed by testbook: the one place that knows it.

`open_book(stem)` starts a kernel in the notebooks' folder, with the chapter's tagged guesses and a state folder of its
own. However the block ends the kernel is ended, and nothing that it started may be left. All cells share one budget,
which is several times what they take on a machine of their own.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest
from testbook import testbook
from waitlab.predictions import tagged_guesses
from waitlab.progress import MIMETYPE
from waitlab.services import runtimes, state

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
BUDGET_S = 600
GONE_S = 20.0
TRIES = 4
MISSED = (AssertionError, LookupError, StopIteration, TypeError)
"""What a test raises where a figure is another one than it should be, or is missing."""
Process = tuple[int, float]


class Book:
    """A chapter in its kernel: cells by tag, values by name, Runs as the contract's dicts."""

    def __init__(self, client: Any, budget_s: float) -> None:
        self._client = client
        self._ends = time.monotonic() + budget_s
        self.seen: set[Process] = {alive(self.kernel)}

    @property
    def kernel(self) -> int:
        """The kernel's process id."""
        return int(self._client.km.provisioner.pid)

    @property
    def tags(self) -> list[str]:
        """The names of the code cells, in order."""
        return [cell.metadata.tags[0] for cell in self._client.cells if cell.cell_type == "code"]

    def execute(self, tag: str) -> None:
        """Executes one cell within what is left of the budget."""
        left = self._ends - time.monotonic()
        assert left > 1, f"the budget was spent before the cell {tag}"
        self._client.timeout = int(left)
        self._client.execute_cell(tag)
        self.look()

    def execute_all(self) -> None:
        """Executes every code cell in order."""
        for tag in self.tags:
            self.execute(tag)

    def runs(self, tag: str) -> list[dict[str, Any]]:
        """The Runs that a cell showed."""
        outputs = self._client.cells[self._client._cell_index(tag)].outputs
        return [output.data[MIMETYPE] for output in outputs if MIMETYPE in output.get("data", {})]

    def text(self, tag: str) -> str:
        """What a cell said in words."""
        return str(self._client.cell_output_text(tag))

    def value(self, expression: str) -> Any:
        """The value of an expression in the kernel, by way of JSON."""
        return self._client.value(expression)

    def edit(self, tag: str, old: str, new: str) -> None:
        """Changes a cell, as a reader would."""
        cell = self._client.cells[self._client._cell_index(tag)]
        assert cell.source.count(old) == 1
        cell.source = cell.source.replace(old, new)

    def children(self) -> list[int]:
        """Ids of all that came from the kernel."""
        return children(self.kernel)

    def left(self) -> list[Process]:
        """What still runs of all that was seen, a while after it should have ended."""
        return left_of(self.seen)

    def holds(self, tags: str, assertion: Callable[[], None]) -> None:
        """Asserts; where that fails, measures anew: machines are shared, and a relation must hold at last.

        `tags` names every cell whose Runs the assertion reads, in order, with a space between.
        """
        for tries_left in reversed(range(TRIES)):
            try:
                return assertion()
            except MISSED:
                if not tries_left:
                    raise
            for tag in tags.split():
                self.execute(tag)

    def solves(self, tag: str, old: str, new: str) -> None:
        """An exercise says "not yet" as it stands, and passes once it is edited as a reader would solve it."""
        assert "not yet: " in self.text(tag)
        self.edit(tag, old, new)
        self.execute(tag)

        def passes() -> None:
            assert "passed: " in self.text(tag)

        self.holds(tag, passes)

    def look(self) -> None:
        """Remembers what runs on behalf of this chapter: the kernel, its children, and its lab's servers."""
        services = [service["pid"] for lab in state.list_labs() for service in lab.services.values()]
        supervisors = [lab.supervisor["pid"] for lab in state.list_labs() if "pid" in lab.supervisor]
        for pid in (self.kernel, *services, *supervisors):
            self.seen |= {alive(pid), *map(alive, children(pid))}


def alive(pid: int) -> Process:
    """A process with its start, so that a recycled number is not taken for it; (pid, 0) if it is gone."""
    try:
        process = psutil.Process(pid)
        return (pid, 0.0) if process.status() == psutil.STATUS_ZOMBIE else (pid, process.create_time())
    except psutil.NoSuchProcess:
        return (pid, 0.0)


def children(pid: int) -> list[int]:
    """Ids of all that came from a process."""
    try:
        return [child.pid for child in psutil.Process(pid).children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def left_of(seen: set[Process], within_s: float = GONE_S) -> list[Process]:
    """What still runs of these processes, after at most `within_s`; and labs whose folder is still there."""
    end = time.monotonic() + within_s
    while True:
        left = [process for process in seen if process[1] and alive(process[0]) == process]
        if not (left or state.list_labs()) or time.monotonic() > end:
            return left + [(0, 0.0)] * len(state.list_labs())
        time.sleep(0.05)


@pytest.fixture(scope="module")
def open_book(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """`with open_book(stem) as book:`, in a state folder and with a history of guesses of its own."""

    @contextmanager
    def opened(stem: str, budget_s: float = BUDGET_S) -> Iterator[Book]:
        path, folder = NOTEBOOKS / f"{stem}.ipynb", tmp_path_factory.mktemp("chapter")
        guesses = tagged_guesses(json.loads(path.read_text(encoding="utf-8")))
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("WAITLAB_STATE", str(folder / "my lab é"))
            patch.setenv("WAITLAB_DATA", str(folder / "data"))
            patch.setenv("WAITLAB_PREDICT", guesses)
            patch.setenv("WAITLAB_RUNTIME", os.environ.get("WAITLAB_RUNTIME", "embedded"))
            place = {"metadata": {"path": str(NOTEBOOKS)}}
            with testbook(path, execute=False, resources=place, store_widget_state=False) as client:
                book = Book(client, budget_s)
                yield book
            assert left_of(book.seen) == []

    return opened


@pytest.fixture(scope="module")
def built() -> None:
    """Skips where no server can be started."""
    lacking = runtimes.embedded_lacks()
    if lacking or not runtimes.is_built():
        pytest.skip(lacking or "the apps are not built")
