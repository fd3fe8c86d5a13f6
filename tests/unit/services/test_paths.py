"""Folders are made when asked for, and belong to whoever asked."""

import os
import stat
from pathlib import Path

import pytest
from waitlab import paths
from waitlab.errors import ServiceError


def test_root_holds_the_package():
    assert (paths.ROOT / "labs" / "waitlab" / "paths.py").is_file()
    assert paths.APPS == paths.ROOT / "labs" / "apps"


def test_cache_follows_its_variable_and_is_readable_by_all(tmp_path, monkeypatch):
    monkeypatch.setenv("WAITLAB_CACHE", str(tmp_path / "a b" / "é"))
    before = os.umask(0o077)
    try:
        found = paths.cache()
    finally:
        os.umask(before)
    assert found == tmp_path / "a b" / "é"
    assert stat.S_IMODE(found.stat().st_mode) == 0o755


def test_cache_of_a_user_without_a_home_is_temporary(monkeypatch):
    monkeypatch.delenv("WAITLAB_CACHE", raising=False)
    monkeypatch.setattr(os, "getuid", lambda: 4711)
    monkeypatch.setattr(paths.platformdirs, "user_cache_dir", lambda *_, **__: "~/.cache/waitlab")
    assert paths._cache_folder().name == "waitlab-cache-4711"
    assert paths._cache_folder().is_absolute()


def test_state_is_closed_to_others_even_if_it_was_open(tmp_path, monkeypatch):
    folder = tmp_path / "state"
    folder.mkdir(mode=0o755)
    monkeypatch.setenv("WAITLAB_STATE", str(folder))
    assert stat.S_IMODE(paths.runtime_dir().stat().st_mode) == 0o700


def test_state_in_somebody_elses_folder_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("WAITLAB_STATE", str(tmp_path))
    monkeypatch.setattr(os, "getuid", lambda: tmp_path.stat().st_uid + 1)
    with pytest.raises(ServiceError, match="belongs to somebody else"):
        paths.runtime_dir()


def test_a_home_that_nobody_knows_is_no_failure(monkeypatch):
    def unknown(*_, **__):
        raise RuntimeError("could not determine the home directory")

    monkeypatch.delenv("WAITLAB_CACHE", raising=False)
    monkeypatch.setattr(os, "getuid", lambda: 4711)
    monkeypatch.setattr(paths.platformdirs, "user_cache_dir", unknown)
    assert paths._cache_folder().name == "waitlab-cache-4711"


@pytest.mark.parametrize(("variable", "ask"), [("WAITLAB_STATE", paths.runtime_dir), ("WAITLAB_CACHE", paths.cache)])
def test_a_folder_that_cannot_be_made_is_told_with_its_variable(tmp_path, monkeypatch, variable, ask):
    (tmp_path / "file").touch()
    for wrong in ("file", "file/below"):
        monkeypatch.setenv(variable, str(tmp_path / wrong))
        with pytest.raises(ServiceError, match=f"Try: set {variable}"):
            ask()


def test_state_is_never_a_link(tmp_path, monkeypatch):
    (tmp_path / "link").symlink_to(Path("/"))
    monkeypatch.setenv("WAITLAB_STATE", str(tmp_path / "link"))
    with pytest.raises(ServiceError):
        paths.runtime_dir()
