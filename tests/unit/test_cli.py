"""The command line: arguments that are wrong end in one sentence and exit code 2, before anything starts."""

import json
import signal
from pathlib import Path

import pytest
from waitlab import cli, session
from waitlab.cli import command
from waitlab.runs import Run, Series


@pytest.fixture(autouse=True)
def _no_servers(monkeypatch):
    """A lab that is asked for in these tests is a failure: nothing may be started."""

    def started():
        raise AssertionError("a server would have been started")

    monkeypatch.setattr(session, "lab", started)


def wrong(capsys, *arguments):
    code = command(list(arguments))
    out, err = capsys.readouterr()
    assert out == ""
    assert code == 2
    assert "Try:" in err
    assert "Traceback" not in err
    return err


@pytest.mark.parametrize("value", ["", "abc", "-1", "1.5", "True", "None", "1000000000"])
@pytest.mark.parametrize("control", ["k", "cpus", "block_ms", "fast", "offload_pool_size", "jdbc_pool_size"])
def test_a_bad_value_is_refused_by_name_and_range(capsys, control, value):
    said = wrong(capsys, "measure", "bystander", "--set", f"{control}={value}", "--json")
    assert control in said
    assert "whole numbers" in said


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["measure", "bystandr"], "bystander"),
        (["measure", "bystander", "--set", "nothing=1"], "nothing"),
        (["measure", "bystander", "--set", "k"], "NAME=VALUE"),
        (["measure", "bystander", "--set", "endpoint=nope"], "jdbc-isolated"),
        (["measure", "bystander", "--set", "jdbc_pool_size=999"], "287"),
        (["measure", "bystander", "--repeat", "0"], "range"),
        (["measure", "bystander", "--samples", "/no/such/folder/x.csv"], "x.csv"),
        (["measure", "bystander", "--samples", ""], "--samples"),
        (["measure", "bystander", "--samples", "."], "--samples"),
        (["record", "bystander", "loops", "--set", "k=1"], "k"),
        (["run", "lab_webflix"], "lab_webflux"),
        (["nonsense"], "nonsense"),
        (["measure", "loops", "--runtime", "cloud"], "embedded"),
    ],
)
def test_a_bad_argument_is_answered_with_what_would_work(capsys, arguments, says):
    assert says in wrong(capsys, *arguments)


def test_experiments_are_told_with_range_unit_and_default(capsys):
    assert command(["experiments", "--json"]) == 0
    told = {one["name"]: one for one in json.loads(capsys.readouterr().out)}
    assert {"loops", "bystander", "who-runs-it", "blockhound"} <= set(told)
    controls = {c["name"]: c for c in told["bystander"]["controls"]}
    assert controls["offload_pool_size"]["default"] == "10 x cpus"
    assert controls["block_ms"]["unit"] == "ms"


def test_a_stopped_command_promises_no_servers(capsys, monkeypatch):
    def stopped():
        raise KeyboardInterrupt

    monkeypatch.setattr(session, "lab", stopped)
    assert command(["measure", "loops"]) == 130
    assert capsys.readouterr().err == "Interrupted; nothing is left running.\n"


def test_an_unforeseen_failure_is_a_sentence_with_the_details_kept(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("WAITLAB_CACHE", str(tmp_path))

    def broken():
        raise RuntimeError("boom")

    monkeypatch.setattr(session, "lab", broken)
    assert command(["measure", "loops"]) == 1
    said = capsys.readouterr().err
    assert "boom" in said
    assert "Traceback" not in said
    assert "boom" in (tmp_path / "last-error.txt").read_text()


def test_details_that_cannot_be_kept_are_no_second_failure(capsys, monkeypatch, tmp_path):
    (tmp_path / "file").touch()
    monkeypatch.setenv("WAITLAB_CACHE", str(tmp_path / "file"))
    monkeypatch.setattr(session, "lab", lambda: 1 / 0)
    assert command(["measure", "loops"]) == 1
    assert "division by zero" in capsys.readouterr().err


def test_samples_that_find_no_room_are_told_and_the_run_is_not_lost(capsys, monkeypatch):
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full on this machine")
    monkeypatch.setattr(session, "run", lambda *_names, **_controls: nothing_measured())
    assert command(["measure", "loops", "--json", "--samples", "/dev/full"]) == 1
    out, err = capsys.readouterr()
    assert json.loads(out)["line"] == "a line"
    assert "Found: No space left on device" in err


def nothing_measured():
    """A Run of `loops` without a request."""
    facts = {name: {} for name in ("settings", "in_force", "machine", "facts", "model", "client")}
    about = {"runtime": "embedded", "live": True, "commit": "", "started_at": "2026-01-02", "duration_s": 1.0}
    return Run("loops", series={"fast": Series("fast", ())}, line="a line", **about, **facts)


def test_its_end_is_not_interrupted_any_more(monkeypatch):
    def interrupted(_arguments):
        raise KeyboardInterrupt

    before = signal.getsignal(signal.SIGINT)
    monkeypatch.setattr(cli, "command", interrupted)
    try:
        with pytest.raises(SystemExit) as end:
            cli.main()
        assert end.value.code == 130 and signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)
