"""What is said of a server, or of the database behind it, that died in the middle of a run."""

from types import SimpleNamespace

import pytest
from waitlab.errors import ServiceDied
from waitlab.experiments.serving import died_ms

RESULT = SimpleNamespace(t0=100.0)


def app(server_s=None, database_s=None):
    """An app that died, or whose database did, at these monotonic seconds."""

    def check_alive():
        if server_s is not None:
            raise ServiceDied("webflux ended by itself.", tip="again")

    return SimpleNamespace(check_alive=check_alive, died_s=lambda: server_s, database_died_s=lambda: database_s)


def test_nothing_is_said_while_both_live():
    assert died_ms(app(), RESULT) == {}


@pytest.mark.parametrize(
    ("server_s", "database_s", "ms", "who"),
    [(101.5, None, 1500, "webflux"), (None, 102.0, 2000, "the database"), (None, 99.0, 0, "the database")],
)
def test_a_death_is_told_with_its_time(server_s, database_s, ms, who):
    told = died_ms(app(server_s, database_s), RESULT)
    assert told == {"server_died_ms": ms, "server_died": f"{who} ended by itself"}
