"""The reader's verbs, where no server is needed."""

import pytest
from waitlab import recordings, session
from waitlab.errors import ControlError, Interrupted, WaitlabError
from waitlab.experiments import get
from waitlab.progress import unbroken
from waitlab.runs import Run, Series


@pytest.fixture(autouse=True)
def _recordings(monkeypatch, tmp_path):
    monkeypatch.setattr(recordings, "FOLDER", tmp_path)
    monkeypatch.setenv("WAITLAB_RUNTIME", "recorded")


def kept(experiment, **controls):
    """Keeps a recording of these controls, without a sample."""
    facts = {name: {} for name in ("in_force", "machine", "facts", "model", "client")}
    series = {name: Series(name, ()) for name in experiment.series}
    about = {"runtime": "embedded", "live": True, "commit": "", "started_at": "2026-01-02", "duration_s": 1.0}
    settings = experiment.settle(controls)
    recordings.save(experiment, Run(experiment.name, settings, series=series, line="a line", **about, **facts))


def test_a_recording_takes_the_place_of_a_run_where_no_server_can_run(capsys):
    kept(get("bystander"), k=8)
    run = session.run("bystander", k=8)
    assert not run.live
    assert "recorded 2026-01-02" in capsys.readouterr().out


def test_what_is_recorded_is_said_where_the_recording_is_missing():
    kept(get("bystander"), k=8)
    with pytest.raises(ControlError, match="recorded: k-8"):
        session.run("bystander", k=7)


def test_no_recording_at_all_is_said_too():
    with pytest.raises(ControlError, match="No run of bystander is recorded"):
        session.run("bystander")


def test_a_start_that_is_stopped_is_told_without_a_traceback(monkeypatch):
    def stopped():
        raise KeyboardInterrupt

    monkeypatch.setattr(session, "lab", stopped)
    with pytest.raises(Interrupted, match="The start of webflux was stopped"):
        session.start()


def test_a_clone_that_cannot_be_written_keeps_no_recording_and_says_so(monkeypatch, tmp_path):
    (tmp_path / "file").touch()
    monkeypatch.setattr(recordings, "FOLDER", tmp_path / "file")
    with pytest.raises(WaitlabError, match="Try: a clone that you may write to"):
        kept(get("bystander"), k=8)


def test_a_run_s_line_is_broken_between_words_and_is_text_and_no_markup():
    shown = unbroken("p99 < 5 ms & more")
    assert shown["text/plain"] == "p99 < 5 ms & more"
    assert "p99 &lt; 5 ms &amp; more" in shown["text/html"] and "word-break:normal" in shown["text/html"]
