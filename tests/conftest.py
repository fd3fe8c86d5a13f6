"""What all tests share: Ctrl-C means what it means to a reader, also where a shell started them in the background."""

import signal
from collections.abc import Callable

import pytest
from owners import wait_until
from waitlab.services import Lab
from waitlab.services.app import App

signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def webflux(lab: Lab) -> App:
    """The app with its defaults, whatever the last test made of it."""
    return lab.app("webflux", cpus=2)


@pytest.fixture
def as_it_is(lab: Lab) -> App:
    """The app with whatever settings it has, which saves a restart."""
    return lab.app("webflux")


@pytest.fixture(scope="session")
def until() -> Callable[[Callable[[], object], float], bool]:
    """Waits until something holds: `until(lambda: not owner.left(), 5.0)`; False if it never does."""
    return wait_until
