"""Maven is found by version, its output read for a person, its failures told as one sentence."""

import zipfile
from pathlib import Path

import pytest
from waitlab import paths
from waitlab.errors import BuildError
from waitlab.services import maven
from waitlab.services.maven_output import Progress, diagnose
from waitlab.services.proxies import proxy_options

LOG = Path("/x/build.log")
CENTRAL = "from/to central (https://repository.example/maven2)"


def make_maven(home: Path, version: str) -> Path:
    for part in ("bin", "lib"):
        (home / part).mkdir(parents=True)
    (home / "bin" / "mvn").touch(mode=0o755)
    with zipfile.ZipFile(home / "lib" / "maven-core-x.jar", "w") as jar:
        jar.writestr("META-INF/maven/org.apache.maven/maven-core/pom.properties", f"version={version}\n")
    return home


@pytest.fixture(autouse=True)
def empty_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("WAITLAB_CACHE", str(tmp_path / "cache"))


@pytest.mark.parametrize(
    ("version", "jdk", "taken"),
    [
        ("3.8.7", True, True),
        ("3.8.7", False, False),
        ("3.9.16", False, True),
        ("3.6.3", True, False),
        ("4.0.0", True, False),
        ("x", True, False),
    ],
)
def test_the_systems_maven_is_taken_if_it_is_one_we_know(tmp_path, monkeypatch, version, jdk, taken):
    monkeypatch.setattr(maven.java, "find_javac_home", lambda: tmp_path if jdk else None)
    home = make_maven(tmp_path / "maven", version)
    monkeypatch.setenv("PATH", str(home / "bin"))
    found = maven.find_maven()
    assert (found is not None) == taken
    if found:
        assert found == maven.Maven(home, version, system=True)


def test_without_a_system_maven_the_fetched_one_is_found(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", "")
    assert maven.find_maven() is None
    (tmp_path / "cache" / "maven" / maven._FETCHED.version).mkdir(parents=True)
    found = maven.find_maven()
    assert found is not None and not found.system


def test_options_survive_spaces_quotes_and_backslashes():
    assert maven._option_file(["-Dx=a b", 'c"d', "e\\f"]) == '"-Dx=a b"\n"c\\"d"\n"e\\\\f"\n'


def test_home_counts_where_the_user_database_says_otherwise(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert maven._repository() == [f"-Dmaven.repo.local={tmp_path}/.m2/repository"]
    (tmp_path / ".m2").mkdir()
    (tmp_path / ".m2" / "settings.xml").touch()
    assert maven._repository()[1:] == ["--settings", f"{tmp_path}/.m2/settings.xml"]


def test_without_a_usable_home_the_repository_is_in_the_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "missing"))
    assert maven._repository() == [f"-Dmaven.repo.local={tmp_path}/cache/m2"]


def test_progress_counts_downloads_and_names_modules():
    said = []
    progress = Progress(said.append)
    progress._said_at = float("-inf")
    progress.line("[INFO] Building shared 1                                              [2/3]")
    progress.line("Downloaded from central: https://x.example/a.jar (1.5 MB at 3 MB/s)")
    progress.line("[INFO] Building jar: /x/app.jar")
    progress.line("[INFO] anything else")
    assert said == ["Building shared", "Downloading libraries: 1 file, 2 MB so far"]


def test_a_compile_error_names_file_and_line():
    file = paths.APPS / "webflux" / "src" / "A.java"
    errors = ["[ERROR] COMPILATION ERROR : ", f"[ERROR] {file}:[12,5] cannot find symbol", "[ERROR] more"]
    assert str(diagnose(errors, LOG)) == (
        "The servers do not compile.\n"
        "Found: webflux/src/A.java, line 12: cannot find symbol\n"
        f"Try: mend that line and run `waitlab build` again; the compiler's words are in {LOG}."
    )


@pytest.mark.parametrize(
    ("line", "what", "found"),
    [
        (
            f"Could not transfer artifact org.x:y:pom:1.2 {CENTRAL}: Connection refused -> [Help 1]",
            "org.x:y:pom:1.2 could not be fetched: the network did not answer.",
            "Connection refused",
        ),
        (
            f"Could not transfer artifact org.x:y:pom:1.2 {CENTRAL}: repository.example: Unknown host",
            "org.x:y:pom:1.2 could not be fetched: the network did not answer.",
            "repository.example: Unknown host",
        ),
        (
            f"Could not transfer artifact org.x:y:jar:3 {CENTRAL}: PKIX path building failed: sun.X",
            "org.x:y:jar:3 could not be fetched: the certificate of the other side is not trusted here.",
            "Java does not know who signed it",
        ),
        ("x: No space left on device", "The servers could not be built: the disk is full.", "no space left"),
        (
            "Fatal error compiling: error: release version 25 not supported",
            "The servers could not be built: this Java is not the one they need.",
            "release version 25",
        ),
        ("Something new", "The servers could not be built.", "Something new"),
    ],
)
def test_each_failure_is_its_own_sentence(line, what, found):
    error = diagnose([f"[ERROR] {line}"], LOG)
    assert isinstance(error, BuildError)
    assert error.what == what
    assert found in error.found
    assert "://" not in error.text


def test_no_word_from_maven_is_still_a_sentence():
    assert diagnose([], LOG).found == "Maven ended without a reason"


def test_no_proxy_no_options():
    assert proxy_options({}) == []


def test_a_proxy_is_said_in_javas_words():
    options = proxy_options({"HTTPS_PROXY": "http://me:a%40b@proxy.example:3128", "no_proxy": ".corp, localhost"})
    assert options[:2] == ["-Dhttps.proxyHost=proxy.example", "-Dhttps.proxyPort=3128"]
    assert "-Dhttps.proxyPassword=a@b" in options
    assert "-Dhttp.nonProxyHosts=*.corp|localhost" in options
