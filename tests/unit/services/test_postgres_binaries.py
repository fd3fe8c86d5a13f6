"""PostgreSQL's programs: what is half there is fetched again."""

import shutil

import pytest
from waitlab.services import postgres_binaries


@pytest.fixture
def home(tmp_path, monkeypatch):
    """Programs that look whole, in a cache of their own."""
    monkeypatch.setenv("WAITLAB_CACHE", str(tmp_path))
    home = tmp_path / "postgres" / postgres_binaries.VERSION
    for folder in ("bin", "lib", "share"):
        (home / folder).mkdir(parents=True)
    for program in ("postgres", "initdb"):
        (home / "bin" / program).touch(mode=0o755)
    return home


def test_whole_programs_are_found(home):
    assert postgres_binaries.find_postgres() == home


@pytest.mark.parametrize("lost", ["bin", "lib", "share", "bin/postgres", "bin/initdb"])
def test_what_is_half_there_is_not_found(home, lost):
    shutil.rmtree(home / lost) if (home / lost).is_dir() else (home / lost).unlink()
    assert postgres_binaries.find_postgres() is None


def test_programs_that_may_not_be_run_are_not_found(home):
    (home / "bin" / "postgres").chmod(0o644)
    assert postgres_binaries.find_postgres() is None
