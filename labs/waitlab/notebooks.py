"""The chapters as files: their stems, JupyterLab on them, and running one headless."""

from __future__ import annotations

import asyncio
import atexit
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from waitlab import paths
from waitlab.controls import nearest
from waitlab.errors import ControlError, quoted
from waitlab.paths import ROOT
from waitlab.progress import MIMETYPE

FOLDER = ROOT / "notebooks"
CONFIG = Path(__file__).parent / "jupyter"
BUDGET_S = 600
Say = Callable[[str], Any]


def stems() -> list[str]:
    """The chapters' stems, in reading order."""
    return sorted(path.stem for path in FOLDER.glob("*.ipynb"))


def known_stem(stem: str) -> str:
    """`stem` if there is such a chapter (with or without .ipynb); ControlError with the nearest if not."""
    stem = Path(stem).name.removesuffix(".ipynb")
    if stem not in stems():
        raise ControlError(f"There is no chapter named {quoted(stem)}.", tip=nearest(stem, stems()))
    return stem


def open_lab(stem: str, *, browser: bool, port: int | None) -> NoReturn:
    """Becomes JupyterLab, opened at the chapter; it prints its address and keeps its token."""
    _have_a_home()
    page = f"/lab/tree/notebooks/{known_stem(stem)}.ipynb"
    options = [f"--ServerApp.root_dir={ROOT}", f"--LabApp.default_url={page}", "--ServerApp.ip=127.0.0.1"]
    options += ["--LanguageServerManager.autodetect=False"]  # else it starts node to look for servers nobody needs
    options += [] if browser else ["--no-browser"]
    options += [f"--ServerApp.port={port}"] if port else []
    options += ["--allow-root"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    sys.stdout.flush()
    os.execve(sys.executable, [sys.executable, "-m", "jupyterlab", *options], lab_environment())


def _have_a_home() -> None:
    """Jupyter keeps files at home: a user who has none, or may not write there, gets the cache folder as one."""
    try:
        if paths.can_be_made(Path.home() / ".local"):
            return
    except RuntimeError:  # neither HOME nor an entry in /etc/passwd
        pass
    os.environ["HOME"] = str(paths.cache())


def lab_environment() -> dict[str, str]:
    """The environment for JupyterLab: ours, with the project's settings found first."""
    paths = [str(CONFIG), *filter(None, [os.environ.get("JUPYTER_CONFIG_PATH")])]
    return {**os.environ, "JUPYTER_CONFIG_PATH": os.pathsep.join(paths)}


def execute(stem: str, say: Say, budget_s: float = BUDGET_S) -> int:
    """Executes a chapter in a kernel of its own and tells each Run's line; the exit code.

    A cell that raises, and a cell tagged `raises-exception` that does not, are failures; a void run says so itself.
    """
    _have_a_home()
    say(f"{stem}:")
    start = time.monotonic()
    book, failure = _execute(stem, budget_s)
    lines, codes = [], [1] if failure else []
    for cell in book.cells:
        for output in cell.get("outputs", []):
            shown = output.get("data", {}).get(MIMETYPE)
            if shown:
                lines.append(shown["line"])
            if output["output_type"] == "error" and not _may_raise(cell):
                say(_error(output))
                codes.append(_error_code(output))
        if _may_raise(cell) and cell.get("execution_count") and not _raised(cell):
            say(f"This cell should have failed and did not:\n{cell.source}")
            codes.append(1)
    for line in (*lines, *filter(None, [failure])):
        say(f"  {line}")
    say(f"{stem}: {'done' if not codes else 'FAILED'} in {time.monotonic() - start:.0f} s")
    return max(codes, default=0)


def _execute(stem: str, budget_s: float) -> tuple[Any, str]:
    """The executed chapter, and a sentence where it ended before its end by no cell's fault."""
    import nbformat
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

    from waitlab.predictions import tagged_guesses

    book: Any = nbformat.read(FOLDER / f"{stem}.ipynb", as_version=4)
    place = {"metadata": {"path": str(FOLDER)}}
    client = NotebookClient(book, timeout=int(budget_s), resources=place, store_widget_state=False)
    client.extra_arguments = ["--log-level=ERROR"]
    environment = {**os.environ, "WAITLAB_PREDICT": tagged_guesses(book), "WAITLAB_CHAPTER": stem}
    heeded = signal.getsignal(signal.SIGINT)
    try:
        with asyncio.Runner(loop_factory=_Loop) as runner:
            runner.run(_carried_out(client, environment))
    except CellExecutionError:
        return book, ""
    except CellTimeoutError:
        return book, f"A cell took longer than {budget_s:g} s."
    except DeadKernelError:
        return book, "The kernel died in the middle of the chapter."
    finally:
        left = signal.getsignal(signal.SIGINT)
        if left is signal.SIG_IGN is not heeded:  # it was interrupted; later ones stay unheeded until the command ends
            raise KeyboardInterrupt
        signal.signal(signal.SIGINT, heeded)
    return book, ""


async def _carried_out(client: Any, environment: dict[str, str]) -> None:
    """Executes the chapter; an Interrupt stays one, though nbclient takes it for the kernel's death."""
    from nbclient.exceptions import DeadKernelError

    task = _cancelled_by_interrupt()
    with tempfile.TemporaryFile("w+") as talk:
        try:
            await client.async_execute(env=environment, stderr=talk)
        except DeadKernelError:
            if task.cancelling():
                raise asyncio.CancelledError from None
            talk.seek(0)
            sys.stderr.write(talk.read()[-1000:])
            raise
        finally:
            if client.km is not None:  # where it was interrupted before the kernel had said that it is there
                await client._async_cleanup_kernel()
            atexit.unregister(client._cleanup_kernel)


def _cancelled_by_interrupt() -> asyncio.Task[Any]:
    """This task, which the first Interrupt cancels from now on; later ones leave its end alone, which is under way."""
    task, loop = asyncio.current_task(), asyncio.get_running_loop()
    assert task is not None

    def cancel(*_: object) -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        loop.call_soon_threadsafe(task.cancel)

    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, cancel)
    return task


class _Loop(asyncio.SelectorEventLoop):
    """Keeps nbclient off the signals: an Interrupt then ends the run, and the run's end the kernel, in that order."""

    def add_signal_handler(self, sig: int, callback: Any, *args: Any) -> None:  # type: ignore[override]  # noqa: ARG002
        """Refuses, in the way that nbclient foresees."""
        raise RuntimeError("signals stay as they are")


def _may_raise(cell: Any) -> bool:
    return "raises-exception" in cell.metadata.get("tags", [])


def _raised(cell: Any) -> bool:
    return any(output["output_type"] == "error" for output in cell.get("outputs", []))


def _error(output: Any) -> str:
    ours = "Try:" in output["evalue"]
    return output["evalue"] if ours else f"{output['ename']}: {output['evalue']}"


def _error_code(output: Any) -> int:
    """The exit code of one of our errors by its name; 1 for any other."""
    from waitlab import errors

    kind = getattr(errors, output["ename"], None)
    return int(getattr(kind, "exit_code", 1))
