"""What `make setup` leaves behind."""

import sys
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.skipif(Path(sys.prefix) != ROOT / ".venv", reason="another environment than the one of make setup")
def test_the_package_is_found_without_spelling_the_folders_name():
    """Python 3.11 cannot read a .pth file with an accent where LC_ALL is C, and then does not start at all."""
    [link] = Path(sysconfig.get_path("purelib")).glob("*waitlab*.pth")
    told = link.read_text(encoding="utf-8").strip()
    assert not Path(told).is_absolute()
    assert (link.parent / told).resolve() == ROOT / "labs"
