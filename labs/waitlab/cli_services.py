"""Servers by hand: `waitlab up`, `ps`, `logs`, `threads`, `down`."""

from __future__ import annotations

from dataclasses import asdict

import click

from waitlab.cli import json_option, put_json, runtime_option, say


@click.command()
@click.argument("names", metavar="[APP...]", nargs=-1)
@runtime_option
def up(names: tuple[str, ...]) -> None:
    """Start servers that stay until `waitlab down` (webflux if none is named)."""
    from waitlab.services import apps, by_hand, open_lab
    from waitlab.session import runtime_asked

    wanted = [apps.spec_for(name).name for name in names or ("webflux",)]
    running = {name for lab in by_hand.list_labs() if lab.alive and lab.detached for name in lab.services}
    for name in wanted:
        if name in running:
            say(f"{name} is already up.")
    missing = [name for name in wanted if name not in running]
    if missing:
        lab = open_lab(runtime_asked(), detached=True)
        say(lab.why)
        for name in missing:
            click.echo(f"{name}: {lab.app(name).control_url}")


@click.command()
@json_option
def ps(as_json: bool) -> None:
    """What runs: every lab of yours with its servers."""
    from waitlab.services import by_hand

    labs = by_hand.list_labs()
    if as_json:
        return put_json([_plain(lab) for lab in labs])
    if not labs:
        click.echo("Nothing runs.")
    for lab in labs:
        click.echo(f"{lab.lab_id}  {_whose(lab)}")
        for name, service in lab.services.items():
            where = service.get("url") or f"127.0.0.1:{service.get('port', '?')}"
            click.echo(f"    {name:<10} pid {service['pid']:<8} {where}")


@click.command()
@click.argument("app")
@click.option("--lines", type=click.IntRange(1, 100_000), default=200, show_default=True, help="How many.")
def logs(app: str, lines: int) -> None:
    """The last lines of a server's log."""
    from waitlab.services import by_hand

    for line in by_hand.logs(app, lines):
        click.echo(line)


@click.command()
@click.argument("app")
@json_option
def threads(app: str, as_json: bool) -> None:
    """Every thread of a server now, virtual ones too."""
    from waitlab.services import by_hand

    found = by_hand.threads(app)
    if as_json:
        return put_json([asdict(thread) for thread in found])
    for thread in sorted(found, key=lambda t: t.name):
        kind = "virtual " if thread.virtual else "platform"
        top = thread.top_frames[0] if thread.top_frames else ""
        click.echo(f"{thread.name:<32} {thread.state:<14} {kind}  {top}")


@click.command()
def down() -> None:
    """Stop what `up` started, and clean up after labs that died; labs in use are left alone."""
    from waitlab.services import by_hand

    stopped = by_hand.down()
    click.echo(f"Stopped: {', '.join(stopped)}." if stopped else "Nothing to stop.")


def add_to(group: click.Group) -> None:
    """Adds these commands to the command line."""
    for command in (up, ps, logs, threads, down):
        group.add_command(command)


def _plain(lab: object) -> dict[str, object]:
    fields = asdict(lab)  # type: ignore[call-overload]
    return {
        **fields,
        "folder": str(fields["folder"]),
        "folders": [str(folder) for folder in fields["folders"]],
    }


def _whose(lab: object) -> str:
    if not getattr(lab, "alive", False):
        return "left over from a lab that died (waitlab down cleans it up)"
    return "up until `waitlab down`" if getattr(lab, "detached", False) else "in use"
