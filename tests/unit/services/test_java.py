"""Java is chosen by version, never by its place."""

from pathlib import Path

import pytest
from waitlab.errors import BuildError
from waitlab.services import java


def make_home(folder: Path, version: str, *tools: str) -> Path:
    (folder / "bin").mkdir(parents=True)
    for tool in tools:
        (folder / "bin" / tool).touch(mode=0o755)
    (folder / "release").write_text(f'IMPLEMENTOR="x"\nJAVA_VERSION="{version}"\n')
    return folder


@pytest.fixture
def alone(tmp_path, monkeypatch):
    """A machine on which Java is in `tmp_path` only."""
    for name in ("JAVA_HOME", "WAITLAB_JAVA_HOME", "CONDA_PREFIX"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(java, "_FOLDERS", (f"{tmp_path}/jvm/*",))
    return tmp_path


@pytest.mark.parametrize(
    ("version", "number"),
    [("25.0.2", 25), ("25", 25), ("1.8.0_492", 8), ("17.0.15", 17), ("25-ea", 25), ("", 0)],
)
def test_major(version, number):
    assert java.major(version) == number


@pytest.mark.usefixtures("alone")
def test_the_wheels_java_runs_the_servers():
    assert java.runtime_java().is_file()
    assert java.jcmd().is_file()


def test_another_java_may_be_named(alone, monkeypatch):
    home = make_home(alone / "mine", "25.0.9", "java", "jcmd")
    monkeypatch.setenv("WAITLAB_JAVA_HOME", str(home))
    assert java.runtime_java() == home / "bin" / "java"


@pytest.mark.parametrize(
    ("version", "tools"), [("17.0.1", ("java", "jcmd")), ("25.0.1", ("java",)), ("26", ("java", "jcmd"))]
)
def test_a_named_java_that_cannot_serve_is_refused_with_its_version(alone, monkeypatch, version, tools):
    monkeypatch.setenv("WAITLAB_JAVA_HOME", str(make_home(alone / "old", version, *tools)))
    with pytest.raises(BuildError, match=rf"Found: Java {version} in .*old\nTry: unset WAITLAB_JAVA_HOME"):
        java.runtime_java()


def test_a_missing_java_is_a_sentence(alone, monkeypatch):
    monkeypatch.setenv("WAITLAB_JAVA_HOME", str(alone / "nowhere"))
    with pytest.raises(BuildError, match="Found: no Java in"):
        java.runtime_java()


def test_javac_is_chosen_by_version(alone, monkeypatch):
    make_home(alone / "jvm" / "a-17", "17.0.1", "javac")
    wanted = make_home(alone / "jvm" / "b-25", "25.0.1", "javac")
    make_home(alone / "jvm" / "c-25-without", "25.0.1", "java")
    monkeypatch.setenv("JAVA_HOME", str(alone / "jvm" / "a-17"))
    monkeypatch.setenv("PATH", str(alone / "jvm" / "a-17" / "bin"))
    assert java.find_javac_home() == wanted


def test_javac_may_be_absent(alone):
    make_home(alone / "jvm" / "17", "17.0.1", "javac")
    assert java.find_javac_home() is None
