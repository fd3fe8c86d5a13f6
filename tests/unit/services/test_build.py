"""A build is current if nothing it was made from has changed, and never half there. No Maven, no JVM."""

import errno
from pathlib import Path

import pytest
from waitlab import paths
from waitlab.errors import BuildError
from waitlab.services import build as building
from waitlab.services import training
from waitlab.services.apps import APPS

SPEC = APPS["webflux"]
EXTRACT = building._extract


@pytest.fixture(autouse=True)
def clone(tmp_path, monkeypatch):
    """A small clone with sources, in which Maven, unpacking and training only leave their files."""
    apps = tmp_path / "my lab é" / "apps"
    for module in ("shared", SPEC.name):
        (apps / module / "src" / "main" / "java").mkdir(parents=True)
        (apps / module / "pom.xml").write_text(module)
        (apps / module / "src" / "main" / "java" / "A.java").write_text("class A {}")
    (apps / "pom.xml").touch()
    monkeypatch.setattr(paths, "APPS", apps)
    monkeypatch.setattr(building, "APPS", {SPEC.name: SPEC})
    monkeypatch.setattr(building, "postgres_home", lambda _say: tmp_path)
    monkeypatch.setattr(building, "run_maven", lambda *_, **__: None)
    monkeypatch.setattr(building, "_extract", lambda _spec, draft: (draft / "app.jar").write_text("jar"))
    monkeypatch.setattr(training, "train", lambda _spec, draft, *_: (draft / "app.aot").touch())
    return apps


def quiet(_text: str) -> None:
    pass


def files(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir()) if folder.exists() else []


def test_a_build_makes_the_app_and_the_next_has_nothing_to_do():
    first, second = building.build(say=quiet), building.build(say=quiet)
    assert (first.built, first.current) == (("webflux",), ())
    assert (second.built, second.current) == ((), ("webflux",))
    assert files(SPEC.folder) == ["app.aot", "app.jar", "build.json"]
    assert files(SPEC.folder.parent) == ["app"]
    assert str(second) == "Everything is built already: webflux."


def test_force_builds_again():
    building.build(say=quiet)
    assert building.build(force=True, say=quiet).built == ("webflux",)


@pytest.mark.parametrize("changed", ["pom.xml", "shared/src/main/java/A.java", "webflux/src/main/java/New.java"])
def test_a_changed_source_makes_it_stale(clone, changed):
    building.build(say=quiet)
    assert building.is_current(SPEC)
    (clone / changed).write_text("changed")
    assert not building.is_current(SPEC)


def test_other_flags_make_it_stale(monkeypatch):
    building.build(say=quiet)
    monkeypatch.setattr(building, "jvm_flags", lambda *_: ["-XX:+UseG1GC"])
    assert not building.is_current(SPEC)


def test_a_touched_jar_makes_it_stale():
    building.build(say=quiet)
    (SPEC.folder / "app.jar").write_text("other")
    assert not building.is_current(SPEC)


@pytest.mark.parametrize("part", ["app.jar", "app.aot", "lib/one.jar"])
def test_an_app_that_lacks_a_part_or_has_a_damaged_one_is_built_again(monkeypatch, part):
    def extract(_spec, draft):
        (draft / "app.jar").write_text("jar")
        (draft / "lib").mkdir()
        (draft / "lib" / "one.jar").write_text("library")

    monkeypatch.setattr(building, "_extract", extract)
    building.build(say=quiet)
    (SPEC.folder / part).write_text("damaged by somebody")
    assert building.build(say=quiet).built == ("webflux",)
    (SPEC.folder / part).unlink()
    assert building.build(say=quiet).built == ("webflux",)
    assert building.is_current(SPEC)


@pytest.mark.parametrize("stamp", ["", "{}", "[1", '{"key": 1, "jar": []}'])
def test_a_damaged_stamp_makes_it_stale(stamp):
    building.build(say=quiet)
    (SPEC.folder / "build.json").write_text(stamp)
    assert not building.is_current(SPEC)


@pytest.mark.parametrize("ending", [KeyboardInterrupt(), BuildError("x", tip="y")])
def test_a_build_that_breaks_off_leaves_the_old_app_or_none(monkeypatch, ending):
    def break_off(*_):
        raise ending

    with monkeypatch.context() as during:
        during.setattr(training, "train", break_off)
        with pytest.raises(type(ending)):
            building.build(say=quiet)
    assert files(SPEC.folder.parent) == []
    building.build(say=quiet)
    with monkeypatch.context() as during:
        during.setattr(training, "train", break_off)
        with pytest.raises(type(ending)):
            building.build(force=True, say=quiet)
    assert files(SPEC.folder) == ["app.aot", "app.jar", "build.json"]
    assert building.is_current(SPEC)


def test_a_draft_of_a_killed_build_is_removed():
    (SPEC.folder.parent / ".app.draft-killed").mkdir(parents=True)
    building.build(say=quiet)
    assert files(SPEC.folder.parent) == ["app"]


def test_a_source_that_changes_during_the_build_is_built_next_time(clone, monkeypatch):
    source = clone / "webflux" / "src" / "main" / "java" / "A.java"
    monkeypatch.setattr(building, "run_maven", lambda *_, **__: source.write_text("edited meanwhile"))
    building.build(say=quiet)
    assert not building.is_current(SPEC)


def test_a_full_disk_is_a_sentence(monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(building, "_extract", full)
    with pytest.raises(BuildError, match="Found: the disk is full"):
        building.build(say=quiet)
    assert files(SPEC.folder.parent) == []


def test_a_plain_jar_is_taken_as_it_is_with_its_libraries_beside_it(tmp_path):
    plain = APPS["plain"]
    library = plain.folder.parent / "lib"
    library.mkdir(parents=True)
    (plain.folder.parent / "jvm.jar").write_text("whole")
    (library / "reactor-core.jar").write_text("library")
    EXTRACT(plain, tmp_path)
    assert (tmp_path / "app.jar").read_text() == "whole"
    assert (tmp_path / "lib" / "reactor-core.jar").read_text() == "library"
