"""`waitlab measure`: one experiment from the shell, once or repeated, as a line or as JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import median
from typing import Any

import click

from waitlab import experiments, session
from waitlab.errors import ControlError, ServiceDied, WaitlabError
from waitlab.experiments.measure import AGAIN
from waitlab.load.samples import write_csv
from waitlab.runs import Run

PutJson = Callable[[object], None]


def measure(
    name: str, given: Mapping[str, object], repeat: int | None, samples: Path | None, put_json: PutJson | None
) -> int:
    """Measures and tells; the exit code (0, 3 a server died, 4 void, 130 stopped)."""
    settings: dict[str, Any] = {**experiments.get(name).settle(given)}
    files = _files(samples, repeat or 1)
    runs: list[Run] = []
    for _ in files:
        taken = session.run(name, progress=lambda share, text: None, live=True, **settings)
        runs.append(taken)
        if put_json is None:
            click.echo(taken.line)
        if taken.partial or "server_died" in taken.facts:
            break
    if put_json is not None:
        results = [taken.to_dict() for taken in runs]
        put_json({"runs": results, "spread": spread(results)} if repeat else results[0])
    elif repeat:
        _tell_spread(spread([taken.to_dict() for taken in runs]))
    for file, taken in zip(files, runs, strict=False):
        _keep_samples(file, taken)
    _tell_death(runs[-1])
    return max(_code(taken) for taken in runs)


def _tell_death(run: Run) -> None:
    """Says on standard error that a server died in the middle of a run, and what to try."""
    if "server_died" not in run.facts:
        return
    who, ms = run.facts["server_died"], float(run.facts["server_died_ms"])
    counts = [f"{one.ok:,} of {one.offered:,} {name} answered" for name, one in run.series.items()]
    what = f"{run.experiment} was cut off: {who} after {ms:,.0f} ms."
    click.echo(ServiceDied(what, found=", ".join(counts), tip=f"{AGAIN}.").text, err=True)


def _keep_samples(file: Path | None, run: Run) -> None:
    """Writes a run's samples where they are wanted; by now the run itself has been told."""
    try:
        if file:
            write_csv(file, [s for series in run.series.values() for s in series.samples])
    except OSError as error:
        what = f"The samples could not be written to {file}."
        raise WaitlabError(what, found=str(error.strerror), tip="--samples with a file on a disk with room") from None


def spread(results: list[dict[str, Any]]) -> dict[str, dict[str, float]]:
    """Minimum, median and maximum of every number in series and facts, by its dotted name."""
    flat = [{**_numbers("series", r["series"]), **_numbers("facts", r["facts"])} for r in results]
    names = [name for name in flat[0] if all(name in one for one in flat)]
    columns = {name: [one[name] for one in flat] for name in names}
    return {name: {"min": min(c), "median": median(c), "max": max(c)} for name, c in columns.items()}


def _numbers(prefix: str, value: object) -> dict[str, float]:
    if isinstance(value, Mapping):
        parts = [_numbers(f"{prefix}.{key}", item) for key, item in value.items()]
        return {name: number for part in parts for name, number in part.items()}
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return {prefix: value} if is_number else {}  # type: ignore[dict-item]


def _tell_spread(found: dict[str, dict[str, float]]) -> None:
    for name, s in found.items():
        if name.endswith("_ms") or name.endswith("_per_s") or name.endswith("_share"):
            click.echo(f"{name:<32} {s['min']:>10,.1f} {s['median']:>10,.1f} {s['max']:>10,.1f}")


def _code(run: Run) -> int:
    if run.partial:
        return 130
    return 3 if "server_died" in run.facts else 4 if run.void else 0


def _files(samples: Path | None, count: int) -> list[Path | None]:
    """Where each run's samples go, made now so that a wrong place is told before anything starts."""
    if samples is None:
        return [None] * count
    try:
        several = [samples.with_stem(f"{samples.stem}-{n}") for n in range(1, count + 1)]
        files = [samples] if count == 1 else several
        for file in files:
            file.open("a").close()
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", "") or "that is no name of a file"
        raise ControlError(f"--samples cannot write {samples}: {why}.", tip="--samples samples.csv") from None
    return list(files)
