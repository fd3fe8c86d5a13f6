"""Recorded runs, committed with the project: replayed where no server can run, and always labelled.

A recording is a Run with its samples, kept as recorded/<experiment>/<slug>.json.gz; the slug names the controls
that differ from their defaults.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from pathlib import Path

from waitlab.controls import Value, nearest
from waitlab.errors import ControlError, WaitlabError
from waitlab.experiments.base import Experiment
from waitlab.runs import Run, from_record

FOLDER = Path(__file__).parent / "recorded"


def slug(experiment: Experiment, settings: Mapping[str, Value]) -> str:
    """A file's stem for these settings: `default`, or the controls that differ, like `k-8_endpoint-r2dbc`."""
    differs = [
        f"{c.name}-{settings[c.name]}" for c in experiment.controls if settings[c.name] != c.default_for(settings)
    ]
    return "_".join(differs).replace("/", "-") or "default"


def save(experiment: Experiment, run: Run) -> Path:
    """Writes a Run as a recording, bytes the same for the same Run; the file."""
    path = FOLDER / experiment.name / f"{slug(experiment, run.settings)}.json.gz"
    text = json.dumps(run.to_record(), sort_keys=True, separators=(",", ":"))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress(text.encode(), mtime=0))
    except OSError as refused:
        what = f"The recording could not be written to {path}."
        raise WaitlabError(what, found=str(refused.strerror), tip="a clone that you may write to") from None
    return path


def load(experiment: Experiment, settings: Mapping[str, Value]) -> Run:
    """The recording of these settings; ControlError naming what is recorded if there is none."""
    wanted = slug(experiment, settings)
    path = FOLDER / experiment.name / f"{wanted}.json.gz"
    if not path.is_file():
        raise _missing(experiment, wanted)
    return from_record(json.loads(gzip.decompress(path.read_bytes())))


def known(experiment: Experiment) -> list[str]:
    """The slugs that are recorded for an experiment, sorted."""
    return sorted(path.name.removesuffix(".json.gz") for path in (FOLDER / experiment.name).glob("*.json.gz"))


def _missing(experiment: Experiment, wanted: str) -> ControlError:
    names = known(experiment)
    if not names:
        return ControlError(
            f"No run of {experiment.name} is recorded.",
            tip="a runtime that can measure: waitlab doctor says which",
        )
    return ControlError(
        f"No run of {experiment.name} is recorded with these controls ({wanted}).",
        found=f"recorded: {', '.join(names)}",
        tip=f"{nearest(wanted, names)}, or a runtime that can measure (waitlab doctor says which)",
    )
