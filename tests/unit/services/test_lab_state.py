"""Labs as their folders tell of them; processes told apart; secrets written for one reader."""

from __future__ import annotations

import json
import os
import stat

import pytest
from waitlab.services import accounts, credentials, state
from waitlab.services.processes import born, descendants, remove_folder


@pytest.fixture(autouse=True)
def own_state(monkeypatch, tmp_path):
    monkeypatch.setenv("WAITLAB_STATE", str(tmp_path / "state"))


def written(folder, **word):
    """Writes a lab's word into its folder."""
    (folder / "lab.json").write_text(json.dumps({"supervisor": {}, "services": {}, **word}), encoding="utf-8")
    return folder


def me():
    return {"pid": os.getpid(), "born": born(os.getpid())}


def test_a_process_has_one_birth():
    assert born(os.getpid()) == born(os.getpid())
    assert born(1) != born(os.getpid())
    assert born(2**22 + 1) is None


def test_descendants_of_a_process_without_children_are_none():
    assert descendants(2**22 + 1) == []


def test_a_new_folder_is_closed_to_others():
    folder = state.new_folder()
    for path in (folder, *folder.iterdir()):
        assert stat.S_IMODE(path.stat().st_mode) == 0o700


def test_a_lab_about_to_start_is_not_listed_and_not_removed():
    folder = state.new_folder()
    assert state.list_labs() == []
    assert state.tidy() == []
    assert folder.exists()


def test_an_old_folder_without_its_word_is_tidied():
    folder = state.new_folder()
    os.utime(folder, (0, 0))
    assert state.tidy() == [folder.name]
    assert not folder.exists()


def test_a_lab_whose_supervisor_lives_is_left_alone():
    folder = written(state.new_folder(), supervisor=me())
    (lab,) = state.list_labs()
    assert lab.alive and not lab.detached
    assert state.tidy() == []
    assert state.down() == []
    assert folder.exists()


def test_a_supervisor_of_the_same_number_born_at_another_time_is_dead(tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    folder = written(state.new_folder(), supervisor={"pid": os.getpid(), "born": "then"}, folders=[str(data)])
    assert state.tidy() == [folder.name]
    assert not folder.exists()
    assert not data.exists()


def test_a_server_of_the_same_number_born_at_another_time_is_left_alone():
    written(state.new_folder(), services={"db": {"pid": os.getpid(), "born": "then"}})
    assert len(state.tidy()) == 1


def test_the_tail_of_a_log(tmp_path):
    log = tmp_path / "x.log"
    assert state.tail(log) == []
    log.write_bytes("\n".join(f"line {i} é" for i in range(1000)).encode() + b"\xff")
    assert state.tail(log, 2) == ["line 998 é", "line 999 é\N{REPLACEMENT CHARACTER}"]


def test_a_folder_with_a_strange_pid_file_is_removed(tmp_path):
    data = tmp_path / "db" / "data"
    data.mkdir(parents=True)
    (data / "postmaster.pid").write_text("1\n2\n", encoding="utf-8")
    remove_folder(tmp_path / "db")
    assert not data.parent.exists()


def test_secrets_are_written_for_their_reader_alone(tmp_path):
    file = credentials.write_properties(tmp_path / "app.properties", {"a.b": "plain", "c": "a\\ b\né😀"})
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert file.read_text(encoding="ascii") == "a.b=plain\nc=a\\u005c\\u0020b\\u000a\\u00e9\\ud83d\\ude00\n"
    assert [entry.name for entry in tmp_path.iterdir() if entry.suffix == ".draft"] == []


def test_tokens_differ():
    assert credentials.new_token() != credentials.new_token()


def test_whoever_is_not_root_needs_no_account(monkeypatch, tmp_path):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert accounts.lent_account() is None
    assert accounts.data_folder(tmp_path, None) == tmp_path / "postgres"


def test_root_lends_an_account_that_is_not_root(monkeypatch, tmp_path):
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    account = accounts.lent_account()
    assert account is not None
    assert account.uid != 0
    assert tmp_path not in accounts.data_folder(tmp_path, account).parents
