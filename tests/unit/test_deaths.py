"""A run whose server, or whose database, dies ends soon, says so, and counts whatever came until then."""

from __future__ import annotations

import re
import threading
import time

import crowds
import pytest
from crowds import ended
from crowds import run as crowd
from fake_trains import FakeLab
from waitlab import experiments, measuring, session
from waitlab.errors import ServiceDied
from waitlab.experiments import trains
from waitlab.experiments.base import Bench
from waitlab.experiments.deaths import LINGER_S, Cut, died_s
from waitlab.experiments.measure import measure
from waitlab.load.plans import Plan, Stream, burst


class Dying(FakeLab):
    """A lab whose database dies under the load of a stream, as the engine sees it: it looks at its stop."""

    def __init__(self, during, **how):
        super().__init__(**how)
        self.during, self.cuts = during, []

    def run_plan(self, plan, progress, stop):
        if any(stream.name == self.during for stream in plan.streams):
            self.hanging = 50
            self.database_died_s = time.monotonic() - 2 * LINGER_S
        self.partial = stop.is_set()
        self.cuts.append(stop)
        return super().run_plan(plan, progress, stop)


def bench(lab, stop=None):
    made = Bench(lab, lambda share, text: None, stop or threading.Event())
    made.app("mvc")
    return made


def a_plan(name="slow"):
    return Plan((Stream(name, "http://127.0.0.1:1/x", burst(4)),))


def test_a_death_ends_a_run_once_what_was_on_its_way_had_its_time():
    now = time.monotonic()
    cut, other = Cut(lambda: now, threading.Event()), threading.Event()
    assert not cut.is_set()
    assert Cut(lambda: now - 2 * LINGER_S, other).is_set() and not Cut(lambda: None, other).is_set()
    other.set()
    assert Cut(lambda: None, threading.Event(), other).stopped


def test_the_first_death_of_servers_and_database_counts():
    class App:
        def __init__(self, own, database):
            self.died_s, self.database_died_s = (lambda: own), (lambda: database)

    assert died_s([App(None, None)]) is None and died_s([]) is None
    assert died_s([App(None, 7.0), App(5.0, 7.0)]) == 5.0


def test_load_under_which_somebody_died_is_cut_off_and_not_partial():
    lab = Dying("slow")
    found = bench(lab).load(a_plan())
    assert lab.cuts[-1].late and not found.partial and len(found.samples) == 4


def test_a_reader_s_stop_stays_a_stop():
    lab, stop = Dying("nothing"), threading.Event()
    asked = bench(lab, stop)
    stop.set()
    with pytest.raises(KeyboardInterrupt):
        asked.load(a_plan())


def test_where_nothing_was_measured_yet_a_death_is_an_error():
    lab = Dying("warm")
    with pytest.raises(ServiceDied, match="database behind mvc ended by itself") as told:
        bench(lab).unmeasured(a_plan("warm"))
    assert "Try: " in told.value.text
    with pytest.raises(ServiceDied):
        bench(lab).load(a_plan())


@pytest.mark.parametrize("name", ["client-styles", "connection-held"])
def test_a_run_says_who_died_and_what_to_try(name):
    experiment = experiments.get(name)
    found = measure(experiment, experiment.settle({}), Dying("user"))
    assert found.facts["server_died"] == "the database ended by itself" and not found.partial
    assert re.search(r"the database ended by itself after [\d,]+ ms; Try: the same run once more", found.line)


def test_calls_that_hang_are_let_go_of_without_waiting_for_workers_that_wait_for_the_database(
    monkeypatch,
):
    lab = Dying("slow")
    lab.up = ("mvc", "webflux")
    monkeypatch.setattr(trains, "_idle", lambda app: pytest.fail("its workers were asked"))
    lab.hanging, experiment = 0, experiments.get("connection-held")
    found = measure(experiment, experiment.settle({}), lab)
    assert "server_died" in found.facts and lab.put[-1] == ("/external", {"hurry": "false"})


# -- a crowd on the plain JVM ----------------------------------------------------------------------------------------


class Crowd(crowds.FakeLab):
    """A plain JVM in front of a database that dies; the JVM is ended as soon as that is known, or ends by itself."""

    def __init__(self, end=None, **how):
        super().__init__(**how)
        self.end = end

    def run_main(self, name, options, *, stop, told=None, **how):
        if self.end is None:
            super().run_main(name, options, stop=stop, told=told, **how)
        self.died_s = time.monotonic() - 2 * LINGER_S
        assert stop.is_set()
        raise self.end or KeyboardInterrupt


def test_a_crowd_whose_database_died_keeps_what_it_has_and_says_so():
    found = crowd(Crowd(unserved=4, ends_with=None), downstream="postgres")
    assert (found.facts["ended_by"], found.facts["served"], found.partial) == ("database_died", 6, False)
    assert "the database ended by itself" in found.line and "Try: " in found.line
    assert measuring._code(found) == 3


@pytest.mark.parametrize("end", [None, ServiceDied("The JVM ended.", tip="again")])
def test_a_crowd_that_had_not_come_when_the_database_died_is_an_error(end):
    lab = Crowd(end or KeyboardInterrupt())
    with pytest.raises(ServiceDied, match="The database ended by itself"):
        crowd(lab, downstream="postgres")


def test_a_crowd_without_a_database_does_not_mind():
    assert crowd(ended_lab(), downstream="semaphore").facts["ended_by"] == "wall_limit"


def ended_lab():
    lab = crowds.FakeLab(unserved=4, ends_with=ended("wall_limit"))
    lab.died_s = time.monotonic() - 2 * LINGER_S
    return lab


# -- on the command line ---------------------------------------------------------------------------------------------


def test_the_command_says_it_on_standard_error_with_what_was_found(monkeypatch, capsys):
    experiment = experiments.get("connection-held")
    run = measure(experiment, experiment.settle({}), Dying("user"))
    monkeypatch.setattr(session, "run", lambda *_args, **_how: run)
    documents = []
    assert measuring.measure("connection-held", {}, 3, None, documents.append) == 3
    said = capsys.readouterr().err.splitlines()
    assert re.fullmatch(r"connection-held was cut off: the database ended by itself after [\d,]+ ms\.", said[0])
    assert said[1] == "Found: 50 of 50 slow answered, 100 of 100 user answered" and said[2].startswith("Try: ")
    assert len(documents[0]["runs"]) == 1
