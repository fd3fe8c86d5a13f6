"""A folder is whole or not there."""

import fcntl
import stat
import threading

import pytest
from waitlab.services import folders


def test_a_folder_appears_when_the_block_ends(tmp_path):
    with folders.whole_folder(tmp_path / "app") as draft:
        (draft / "file").write_text("x")
        assert not (tmp_path / "app").exists()
    assert (tmp_path / "app" / "file").read_text() == "x"
    assert [entry.name for entry in tmp_path.iterdir()] == ["app"]


def test_a_failed_block_leaves_what_was_there(tmp_path):
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "old").touch()
    with pytest.raises(KeyboardInterrupt), folders.whole_folder(tmp_path / "app") as draft:
        (draft / "new").touch()
        raise KeyboardInterrupt
    assert [entry.name for entry in tmp_path.rglob("*")] == ["app", "old"]


def test_a_folder_takes_the_place_of_an_older_one(tmp_path):
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "old").touch()
    with folders.whole_folder(tmp_path / "app") as draft:
        (draft / "new").touch()
    assert [entry.name for entry in tmp_path.rglob("*")] == ["app", "new"]


def test_drafts_of_a_killed_build_are_removed(tmp_path):
    (tmp_path / ".app.draft-killed" / "lib").mkdir(parents=True)
    (tmp_path / ".other.draft-x").mkdir()
    folders.remove_drafts(tmp_path / "app")
    assert [entry.name for entry in tmp_path.iterdir()] == [".other.draft-x"]


def test_a_second_build_says_that_it_waits(tmp_path):
    said = []
    waits = threading.Event()
    order = []

    def say(text):
        said.append(text)
        waits.set()

    def second():
        with folders.locked(tmp_path / "lock", waiting="Waiting", say=say):
            order.append("second")

    with folders.locked(tmp_path / "lock", waiting="never", say=pytest.fail):
        thread = threading.Thread(target=second)
        thread.start()
        assert waits.wait(10)
        order.append("first")
    thread.join(10)
    assert (said, order) == (["Waiting"], ["first", "second"])


def test_a_lock_is_free_after_an_error(tmp_path):
    with pytest.raises(ValueError, match="x"), folders.locked(tmp_path / "lock", waiting="", say=pytest.fail):
        raise ValueError("x")
    with (tmp_path / "lock").open("a") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_reading_is_open_to_all(tmp_path):
    (tmp_path / "bin").mkdir(mode=0o700)
    (tmp_path / "bin" / "run").touch(mode=0o700)
    (tmp_path / "bin" / "text").touch(mode=0o600)
    folders.readable_by_all(tmp_path)
    modes = {entry.name: stat.S_IMODE(entry.stat().st_mode) for entry in tmp_path.rglob("*")}
    assert modes == {"bin": 0o755, "run": 0o755, "text": 0o644}


def test_a_file_is_written_whole(tmp_path):
    folders.write_whole(tmp_path / "a" / "b", b"x")
    assert [entry.name for entry in (tmp_path / "a").iterdir()] == ["b"]
