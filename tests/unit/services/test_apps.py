"""The table of apps: settings become flags, environment, and questions to the server."""

from __future__ import annotations

import json
import urllib.request

import pytest
from waitlab.errors import ControlError
from waitlab.services import training_paths
from waitlab.services.apps import (
    APPS,
    MVC,
    PLAIN,
    WEBFLUX,
    differences,
    environment,
    is_live,
    jvm_flags,
    spec_for,
    uses_cache,
)
from waitlab.services.caches import cache_for, caches

IN_FORCE = {
    "available_processors": 2,
    "event_loops": 4,
    "accept": "shared",
    "blockhound": False,
    "offload_pool_size": 20,
    "jdbc_pool_size": 10,
    "r2dbc_pool_size": 10,
}


def test_defaults_are_those_of_the_server():
    assert WEBFLUX.settle({}) == {
        "cpus": 2,
        "event_loops": 4,
        "accept": "shared",
        "blockhound": False,
        "offload_pool_size": 20,
        "jdbc_pool_size": 10,
        "r2dbc_pool_size": 10,
    }


def test_defaults_follow_the_cpus():
    settled = WEBFLUX.settle({"cpus": "6"})
    assert (settled["event_loops"], settled["offload_pool_size"]) == (6, 60)


def test_only_the_processor_count_is_always_a_flag():
    flags = jvm_flags(WEBFLUX, WEBFLUX.settle({}))
    assert "-XX:ActiveProcessorCount=2" in flags
    assert not [flag for flag in flags if "reactor" in flag]
    assert flags == jvm_flags(WEBFLUX, {})


def test_what_differs_from_the_default_is_a_flag():
    flags = jvm_flags(WEBFLUX, WEBFLUX.settle({"cpus": 4, "event_loops": 8, "accept": "own"}))
    assert {
        "-XX:ActiveProcessorCount=4",
        "-Dreactor.netty.ioWorkerCount=8",
        "-Dreactor.netty.ioSelectCount=1",
    } <= set(flags)


def test_a_value_that_is_the_default_of_other_cpus_is_passed_on():
    settings = WEBFLUX.settle({"cpus": 6, "event_loops": 4, "offload_pool_size": 20})
    assert "-Dreactor.netty.ioWorkerCount=4" in jvm_flags(WEBFLUX, settings)
    assert environment(WEBFLUX, settings) == {"OFFLOAD_POOL_SIZE": "20"}


def test_blockhound_needs_its_flags_and_no_cache():
    settings = WEBFLUX.settle({"blockhound": "true"})
    assert environment(WEBFLUX, settings) == {"BLOCKHOUND": "1"}
    assert "-XX:+EnableDynamicAgentLoading" in jvm_flags(WEBFLUX, settings)
    assert not uses_cache(settings)
    assert uses_cache(WEBFLUX.settle({}))


def test_the_collector_and_the_heap_are_named():
    assert {"-XX:+UseSerialGC", "-Xmx384m"} <= set(jvm_flags(WEBFLUX, {}))


@pytest.mark.parametrize("name", ["offload_pool_size", "jdbc_pool_size", "r2dbc_pool_size"])
def test_pools_change_live(name):
    assert is_live(WEBFLUX, name)


@pytest.mark.parametrize("name", ["cpus", "event_loops", "accept", "blockhound"])
def test_the_others_restart(name):
    assert not is_live(WEBFLUX, name)


def test_no_difference_is_no_sentence():
    assert differences(WEBFLUX, WEBFLUX.settle({}), IN_FORCE) == []


def test_a_difference_names_the_setting_and_both_values():
    found = {**IN_FORCE, "event_loops": 2}
    assert differences(WEBFLUX, WEBFLUX.settle({}), found) == ["event_loops is 2 instead of 4"]
    assert differences(WEBFLUX, {"cpus": 2}, found) == []


@pytest.mark.parametrize("value", ["", "abc", 0, -1, 1.5, True, None, 10**9])
@pytest.mark.parametrize("name", ["cpus", "event_loops", "offload_pool_size", "jdbc_pool_size", "r2dbc_pool_size"])
def test_a_bad_number_names_the_setting(name, value):
    with pytest.raises(ControlError, match=name):
        WEBFLUX.settle({name: value})


def test_a_pool_above_the_databases_limit_shows_both_numbers():
    assert WEBFLUX.settle({"jdbc_pool_size": 287})["jdbc_pool_size"] == 287
    with pytest.raises(ControlError, match=r"288.*287"):
        WEBFLUX.settle({"jdbc_pool_size": 288})


def test_the_pools_of_one_server_share_the_database_s_limit():
    assert WEBFLUX.settle({"jdbc_pool_size": 150, "r2dbc_pool_size": 147})["r2dbc_pool_size"] == 147
    with pytest.raises(ControlError, match=r"together ask for 298.*297"):
        WEBFLUX.settle({"jdbc_pool_size": 150, "r2dbc_pool_size": 148})


def test_an_unknown_app_is_a_sentence():
    assert spec_for("webflux") is WEBFLUX
    with pytest.raises(ControlError, match="'tomcat'"):
        spec_for("tomcat")
    with pytest.raises(ControlError, match="None"):
        spec_for(None)


@pytest.mark.parametrize("spec", [MVC, PLAIN])
def test_a_pool_of_workers_changes_live_and_starts_from_the_environment(spec):
    assert is_live(spec, "pool_size")
    assert environment(spec, spec.settle({"pool_size": 50})) == {"POOL_SIZE": "50"}
    assert environment(spec, spec.settle({})) == {}


def test_the_bare_server_comes_from_the_module_of_plain_experiments():
    assert PLAIN.folder.parts[-3:] == ("jvm", "target", "app")
    assert "-Dwaitlab.experiment=server" in jvm_flags(PLAIN, {})
    assert environment(PLAIN, PLAIN.settle({"model": "connection"})) == {"MODEL": "connection"}


def test_more_workers_than_this_machine_has_threads_for_are_refused_with_both_numbers(monkeypatch):
    monkeypatch.setattr("waitlab.limits.threads", lambda: 700)
    with pytest.raises(ControlError, match=r"pool_size=1000 .* at most 700"):
        MVC.settle({"pool_size": 1000})


def test_every_app_knows_what_its_training_run_asks_for():
    modes = {name for spec in APPS.values() for settings in caches(spec).values() for name in settings}
    assert {*APPS, *modes} == set(training_paths.PATHS) == set(training_paths.DATABASE_PATHS)


def test_the_trains_are_a_profile_with_a_cache_of_their_own():
    settings = MVC.settle({"trains": True, "open_in_view": True})
    assert {"-Dspring.profiles.active=trains", "-Dspring.jpa.open-in-view=true"} <= set(jvm_flags(MVC, settings))
    assert caches(MVC) == {"app.aot": {}, "trains.aot": {"trains": True}}
    assert (cache_for(MVC, settings), cache_for(MVC, MVC.settle({}))) == ("trains.aot", "app.aot")
    assert not [flag for flag in jvm_flags(MVC, MVC.settle({})) if flag.startswith("-Dspring")]


def test_the_time_for_a_connection_changes_live_and_the_view_does_not():
    assert is_live(MVC, "connection_timeout_ms")
    assert not is_live(MVC, "trains") and not is_live(MVC, "open_in_view")
    assert environment(MVC, MVC.settle({"connection_timeout_ms": 1500})) == {"JDBC_QUEUE_TIMEOUT": "1500"}


def test_a_view_without_trains_is_refused():
    with pytest.raises(ControlError, match="open_in_view=true does not go with trains=false"):
        MVC.settle({"open_in_view": True})


def test_the_api_of_a_training_run_answers_trains():
    with training_paths.stand_in() as url, urllib.request.urlopen(f"{url}/external/arrivals", timeout=5) as reply:
        assert json.load(reply)["arrivals"][0]["in_minutes"] == 2
