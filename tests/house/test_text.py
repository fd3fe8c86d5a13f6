"""House rules for all files: line ends, no traces of anybody's machine, commands of the README that exist.

Each rule is a function that returns what it objects to; beside it stands a text that it must object to.
"""

import json
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ITSELF = Path(__file__).relative_to(ROOT)
HOSTS = (
    "pypi.org", "pythonhosted.org", "repo1.maven.org", "repo.maven.apache.org", "maven.google.com", "npmjs",
    "conda.anaconda.org", "registry-1.docker.io", "ghcr.io", "quay.io", "proxy.golang.org", "crates.io",
)  # fmt: skip
FOLDERS = re.compile(r"(?<![\w.:])/(work|tmp|root|home|Users)/")


def tracked():
    """The project's text files: what git knows, also what is new and not ignored."""
    asked = ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    told = subprocess.run(asked, capture_output=True, check=True).stdout.decode().split("\0")
    paths = [ROOT / name for name in told if name]
    return [path for path in paths if path.is_file() and b"\0" not in path.read_bytes()[:8000]]


def prose(path):
    """What a reader reads: Markdown, and the text cells of notebooks."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".ipynb":
        return text
    return "\n".join("".join(cell["source"]) for cell in json.loads(text)["cells"])


def bad_bytes(data):
    rules = {
        "CR in line ends": b"\r" in data,
        "no line end at the end": bool(data) and not data.endswith(b"\n"),
        "blanks at line ends": re.search(rb"[ \t]\n", data) is not None,
    }
    return [rule for rule, broken in rules.items() if broken]


def hosts_in(text):
    return [host for host in HOSTS if host in text]


def folders_in(text):
    return [match.group(0) for match in FOLDERS.finditer(text)]


def unknown_commands(text, targets, commands):
    """`make X` and `waitlab X` in the text that do not exist."""
    made = re.findall(r"(?:^|`)make ([a-z][a-z-]*)", text, re.MULTILINE)
    called = re.findall(r"(?:^|[`/])waitlab ([a-z][a-z-]*)(?=[ `\n])", text)
    return [f"make {name}" for name in made if name not in targets] + [
        f"waitlab {name}" for name in called if name not in commands
    ]


def targets():
    return set(re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))


def commands():
    from waitlab import cli, cli_services

    cli_services.add_to(cli.cli)
    return set(cli.cli.commands)


DOCUMENTS = [path for path in tracked() if path.suffix in (".md", ".ipynb")]


def test_there_is_something_to_look_at():
    assert len(tracked()) > 50 and len(DOCUMENTS) >= 4


def test_line_ends():
    found = {str(path.relative_to(ROOT)): bad_bytes(path.read_bytes()) for path in tracked()}
    assert {name: rules for name, rules in found.items() if rules} == {}


def test_no_registry_is_named():
    texts = {path: path.read_text(encoding="utf-8") for path in tracked() if path.relative_to(ROOT) != ITSELF}
    assert {str(path): hosts for path, text in texts.items() if (hosts := hosts_in(text))} == {}


def test_the_lock_has_no_addresses():
    text = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    assert "://" not in text and "--index" not in text and "--hash=sha256:" in text


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_documents_name_no_folder_of_a_machine(path):
    assert folders_in(prose(path)) == []


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_documents_name_commands_that_exist(path):
    assert unknown_commands(prose(path), targets(), commands()) == []


def test_links_between_documents_lead_somewhere():
    broken = []
    for path in DOCUMENTS:
        links = re.findall(r"\]\(([^)#:]+)\)", prose(path))
        broken += [f"{path.name}: {link}" for link in links if not (path.parent / link).exists()]
    assert broken == []


def test_bad_line_ends_are_noticed():
    assert bad_bytes(b"a\r\n") == ["CR in line ends"]
    assert bad_bytes(b"a \nb") == ["no line end at the end", "blanks at line ends"]


def test_hosts_and_folders_are_noticed():
    assert hosts_in("see https://pypi.org/project/x") == ["pypi.org"]
    assert folders_in("look into /tmp/x and /home/me") == ["/tmp/", "/home/"]
    assert folders_in("labs/tmp/x, http://host/home/x") == []


def test_unknown_commands_are_noticed():
    text = "run `make nothing`, then\nmake test\n`waitlab dance` or `.venv/bin/waitlab run x`"
    assert unknown_commands(text, {"test"}, {"run"}) == ["make nothing", "waitlab dance"]
