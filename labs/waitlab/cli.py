"""The command line: `waitlab`. Exit codes: 0 done, 2 an argument is wrong, 3 a service failed, 4 void, 130 interrupted.

With --json, standard output is one JSON document and nothing else; talk goes to standard error.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from waitlab.errors import ControlError, Interrupted, WaitlabError, quoted
from waitlab.session import RUNTIMES


def _choose_runtime(_context: click.Context, _option: click.Parameter, value: str | None) -> None:
    if value:
        os.environ["WAITLAB_RUNTIME"] = value


runtime_option = click.option(
    "--runtime",
    type=click.Choice(RUNTIMES),
    expose_value=False,
    callback=_choose_runtime,
    help="Where servers run (or WAITLAB_RUNTIME); auto chooses.",
)
json_option = click.option("--json", "as_json", is_flag=True, help="One JSON document on standard output.")


def say(text: str) -> None:
    """Talk, on standard error."""
    click.echo(text, err=True)


def put_json(document: object) -> None:
    """The one document on standard output."""
    click.echo(json.dumps(document, indent=2, ensure_ascii=False))


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="waitlab")
def cli() -> None:
    """Waiting, Measured: real servers, measured from a notebook or from here."""


@cli.command()
@json_option
@runtime_option
def doctor(as_json: bool) -> None:
    """What this machine offers, and which runtime is picked."""
    from waitlab.services.doctor import doctor as examine
    from waitlab.services.doctor import doctor_table

    report = examine()
    if as_json:
        return put_json(report)
    rows = doctor_table(report)
    wide = max(len(row[0]) for row in rows)
    for what, state, detail in rows:
        click.echo(f"{what:<{wide}}  {state:<8}  {detail}")


@cli.command()
@click.option("--force", is_flag=True, help="Build again, also what is current.")
@runtime_option
def build(force: bool) -> None:
    """Fetch and build what the servers need."""
    from waitlab.services.build import build as make
    from waitlab.session import runtime_asked

    make(force=force, say=say)
    if runtime_asked() == "docker":
        from waitlab.services import docker_images, docker_probe

        docker_images.ensure(docker_probe.probe_engine(), docker_images.CHAPTERS, say)


@cli.command()
@click.argument("stem", default="00_start_here")
@click.option("--no-browser", is_flag=True, help="Only print the address.")
@click.option("--port", type=click.IntRange(1, 65535), help="JupyterLab's port.")
@runtime_option
def lab(stem: str, no_browser: bool, port: int | None) -> None:
    """JupyterLab on the notebooks."""
    from waitlab import notebooks

    notebooks.open_lab(stem, browser=not no_browser, port=port)


@cli.command()
@click.argument("stem")
@runtime_option
def run(stem: str) -> None:
    """Execute chapters headless (a stem, or all) and print each Run's line."""
    from waitlab import notebooks

    stems = notebooks.stems() if stem == "all" else [notebooks.known_stem(stem)]
    codes = [notebooks.execute(each, click.echo) for each in stems]
    sys.exit(max(codes))


@cli.command()
@json_option
def experiments(as_json: bool) -> None:
    """Every experiment with its controls."""
    from waitlab.experiments import known

    if as_json:
        return put_json([experiment.describe() for experiment in known().values()])
    for experiment in known().values():
        click.echo(f"{experiment.name}: {experiment.question} ({experiment.chapter})")
        for row in experiment.describe()["controls"]:
            click.echo(f"    {row['name']:<20} {row['default']!s:<16} {row['range']:<44} {row['help']}")


@cli.command()
@click.argument("experiment")
@click.option("--set", "pairs", multiple=True, metavar="NAME=VALUE", help="A control's value.")
@click.option("--repeat", type=click.IntRange(1, 100), help="Measure N times; adds the spread.")
@click.option(
    "--samples", type=click.Path(path_type=Path), help="Write one CSV row a request (-1, -2 ... if repeated)."
)
@json_option
@runtime_option
def measure(experiment: str, pairs: tuple[str, ...], repeat: int | None, samples: Path | None, as_json: bool) -> None:
    """Measure one experiment."""
    from waitlab import measuring

    sys.exit(measuring.measure(experiment, parse_pairs(pairs), repeat, samples, put_json if as_json else None))


@cli.command()
@click.argument("names", metavar="EXPERIMENT...", nargs=-1, required=True)
@click.option("--set", "pairs", multiple=True, metavar="NAME=VALUE", help="A control's value.")
@runtime_option
def record(names: tuple[str, ...], pairs: tuple[str, ...]) -> None:
    """Measure and keep the run for replay."""
    from waitlab import experiments, recordings, session

    wanted = {name: experiments.get(name).settle(parse_pairs(pairs)) for name in names}
    for name, settings in wanted.items():
        taken = session.run(name, **settings)
        if taken.void or taken.partial or not taken.live or "server_died" in taken.facts:
            raise WaitlabError("This run is not fit to be kept.", found=taken.line, tip="again on a quieter machine")
        click.echo(f"kept as {recordings.save(experiments.get(name), taken)}")


@cli.command()
@json_option
@runtime_option
def calibrate(as_json: bool) -> None:
    """What the load engine can do here, against a fixed-delay stub."""
    from waitlab.load.calibration import calibrate as try_engine

    result = try_engine(say)
    if as_json:
        return put_json(result)
    click.echo(f"Against a stub that answers after {result['delay_ms']:g} ms, a new connection each (medians, ms):")
    for burst in result["bursts"]:
        click.echo(f"{burst['at_once']:>6} at once  {burst['p50_ms']:8.1f}  without work {burst['floor_p50_ms']:8.1f}")
    steady = result["steady"]
    click.echo(f"{steady['rate_per_s']:>6.0f} a second {steady['p50_ms']:8.1f}  {steady['why'] or 'fit to measure'}")


def parse_pairs(pairs: tuple[str, ...]) -> dict[str, Any]:
    """`NAME=VALUE` texts as a dict; ControlError where one has no `=`."""
    for pair in pairs:
        if "=" not in pair:
            raise ControlError(f"--set takes NAME=VALUE, and not {quoted(pair)}.", tip=f"--set {pair or 'k'}=VALUE")
    return dict(pair.split("=", 1) for pair in pairs)


def main() -> None:
    """The command `waitlab`. While it ends, and stops what it started, it is not interrupted any more."""
    try:
        code = command(sys.argv[1:])
    except KeyboardInterrupt:
        code = 130
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.exit(code)


def command(arguments: list[str]) -> int:
    """Runs one command; every failure ends as a sentence on standard error and an exit code."""
    from waitlab import cli_services

    cli_services.add_to(cli)
    return _guarded(lambda: cli.main(arguments, prog_name="waitlab", standalone_mode=False))


def _guarded(command: Callable[[], Any]) -> int:
    try:
        return int(command() or 0)
    except SystemExit as end:
        return int(end.code or 0)
    except (KeyboardInterrupt, click.exceptions.Abort, Interrupted):
        say("Interrupted; nothing is left running.")
        return 130
    except WaitlabError as error:
        say(error.text)
        return error.exit_code
    except click.ClickException as error:
        context = getattr(error, "ctx", None)
        say(f"{error.format_message()}\nTry: {context.command_path if context else 'waitlab'} --help")
        return 2
    except BrokenPipeError:
        sys.stdout = None
        return 0
    except Exception:
        return _unexpected()


def _unexpected() -> int:
    kind, error = sys.exc_info()[:2]
    name, kept = kind.__name__ if kind else "error", _kept(traceback.format_exc())
    say(f"Something unexpected happened ({name}: {error}).\nTry: {kept}`waitlab doctor`")
    return 1


def _kept(details: str) -> str:
    """Keeps the details of a failure in a file and says where; nothing if no file can be written."""
    from waitlab.paths import cache

    try:
        log = cache() / "last-error.txt"
        log.write_text(details, encoding="utf-8")
    except (OSError, RuntimeError, WaitlabError):
        return ""
    return f"reading {log}, and "
