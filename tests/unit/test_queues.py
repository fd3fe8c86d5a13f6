"""Which limit came first, and how long was waited where: from looks and samples made by hand."""

from dataclasses import replace

import pytest
from waitlab import experiments
from waitlab.experiments import watched
from waitlab.experiments.queues import Seen, Station, first_limit
from waitlab.load.samples import Sample

T0 = 100.0
CALM = Seen((Station("jdbc pool", 0, 6, 10, 20.5), Station("workers", 0, 6, 200, 21)), 6.5, 0.3, 20, 700)


def seen(*stations, in_flight=600.0, held_ms=20.5, **other):
    return replace(CALM, stations=tuple(Station(*one, held_ms) for one in stations), in_flight=in_flight, **other)


def test_a_calm_server_has_hit_no_limit():
    assert first_limit(CALM)[0] == "none"


def test_as_many_as_chance_leaves_waiting_are_no_limit():
    assert first_limit(seen(("jdbc pool", 9, 10, 10), in_flight=19.5))[0] == "none"
    assert first_limit(seen(("jdbc pool", 10, 10, 10), in_flight=20.5))[0] == "jdbc pool"


def test_the_innermost_full_pool_is_the_limit_however_short_its_own_queue():
    limit, why = first_limit(seen(("jdbc pool", 10, 10, 10), ("offload pool", 490, 20, 20)))
    assert limit == "jdbc pool"
    assert "10 of 10 were taken and 10 waited" in why
    assert "offload pool filled up too, 20 of 20, with 490 more" in why


def test_with_connections_free_the_next_pool_is_the_limit():
    assert first_limit(seen(("jdbc pool", 0, 20, 100), ("offload pool", 700, 20, 20)))[0] == "offload pool"
    assert first_limit(seen(("jdbc pool", 0, 5, 100), ("workers", 300, 5, 5)))[0] == "workers"


def test_a_pool_that_hand_overs_leave_a_little_empty_is_full():
    assert first_limit(seen(("r2dbc pool", 300, 92, 100)))[0] == "r2dbc pool"
    assert first_limit(seen(("r2dbc pool", 300, 80, 100)))[0] == "none"


def test_busy_processors_fill_every_pool_and_are_then_the_limit():
    slow = seen(("jdbc pool", 300, 100, 100), ("workers", 200, 200, 200), cpu=0.97, held_ms=60.0)
    limit, why = first_limit(slow)
    assert limit == "cpu"
    assert "97% busy" in why and "query of 20 ms had its connection for 60" in why


def test_a_pool_too_small_for_the_load_is_the_limit_unless_it_all_but_stands_still():
    """Ten connections serve 500 a second at most, and 700 came; at 70 ms a query they serve 143."""
    small = ("jdbc pool", 300, 10, 10)
    assert first_limit(seen(small, cpu=0.99, held_ms=45))[0] == "jdbc pool"
    assert first_limit(seen(small, cpu=0.99, held_ms=70))[0] == "cpu"
    assert first_limit(seen(small, cpu=0.99, held_ms=45, offered_per_s=400))[0] == "cpu"


def test_threads_that_wait_for_processors_alone_are_not_the_limit():
    """Their connections come at once; the threads are held for long all the same."""
    inner, outer = Station("jdbc pool", 0, 60, 200, 33), Station("workers", 900, 200, 200, 70)
    assert first_limit(replace(CALM, stations=(inner, outer), in_flight=1500, cpu=1.0))[0] == "cpu"
    assert first_limit(replace(CALM, stations=(inner, outer), in_flight=1500, cpu=0.5))[0] == "workers"


def test_busy_processors_that_hold_nobody_up_leave_the_pool_as_the_limit():
    assert (
        first_limit(seen(("jdbc pool", 190, 10, 10), ("workers", 400, 200, 200), cpu=0.97, held_ms=21))[0]
        == "jdbc pool"
    )


def test_without_a_full_pool_the_processors_then_the_door():
    assert first_limit(seen(("r2dbc pool", 0, 30, 100), cpu=0.95))[0] == "cpu"
    assert first_limit(seen(("r2dbc pool", 0, 30, 100), accept=50))[0] == "accept queue"
    assert first_limit(seen(("r2dbc pool", 0, 30, 100)))[0] == "none"


# -- looks ------------------------------------------------------------------------------------------------------


def requests(count, took_s=1.0, every_s=0.1):
    return [
        Sample(
            "requests",
            i,
            T0 + i * every_s,
            T0 + i * every_s,
            None,
            T0 + i * every_s + took_s,
            200,
            "ok",
            "",
            None,
            None,
        )
        for i in range(count)
    ]


def looked(count=21, every_s=0.1, **series):
    """Looks from a tenth before the plan's start, every tenth of a second."""
    at = [int((T0 - 0.1 + i * every_s) * 1e6) for i in range(count)]
    gauges = {name: value if isinstance(value, list) else [value] * count for name, value in series.items()}
    return {"at_us": at, "series": gauges, "platform_threads_peak": 42}


R2DBC = {"accept": 0, "r2dbc_busy": 4, "r2dbc_waiting": 3}


def test_the_area_under_a_queue_is_the_wait_of_those_who_were_served():
    """3 wait and 4 are served for 1.9 s after the start, while 10 requests are answered: 0.57 s and 0.76 s each."""
    looks = watched.looks(looked(**R2DBC), requests(10), T0, 1.0)
    assert looks.mean_wait_ms([3.0] * 21) == pytest.approx(570)
    assert watched.in_service(looks, "webflux-r2dbc", {"r2dbc_pool_size": 4})["connections"] == {
        "p50": 4,
        "peak": 4,
        "of": 4,
        "held_ms": pytest.approx(760),
    }


def test_whom_no_queue_counts_is_elsewhere():
    """A request lasts a second, so ten are on their way at 0.95 s; the server knows of seven."""
    looks = watched.looks(looked(**R2DBC), requests(15), T0, 1.5)
    found = watched.lengths(looks, "webflux-r2dbc")
    at = min(range(21), key=lambda i: abs(looks.at_s[i] - 1.0))
    assert looks.in_flight[at] in (10, 11)
    assert found["elsewhere"][at] == looks.in_flight[at] - 7
    assert found["workers"] is None and found["scheduler"] is None
    assert looks.in_flight[0] == 0 and found["elsewhere"][0] == 0


def test_requests_that_a_stop_left_unsent_are_not_in_flight():
    unsent = [Sample("requests", i, T0 + 1 + i / 10, None, None, None, 0, "unsent", "", None, None) for i in range(50)]
    looks = watched.looks(looked(**R2DBC), [*requests(5), *unsent], T0, 6.0)
    assert looks.in_flight[-1] == 0
    assert looks.last_s == pytest.approx(1.4)


def test_the_median_is_that_of_the_time_in_which_requests_came():
    grows = list(range(21))
    looks = watched.looks(looked(**R2DBC | {"r2dbc_waiting": grows}), requests(10), T0, 1.0)
    queue = watched.queues(looks, "webflux-r2dbc")["connections"]
    assert (queue["p50"], queue["peak"]) == (6, 20)


def test_a_queue_that_the_kernel_does_not_tell_is_unknown():
    looks = watched.looks(looked(**R2DBC | {"accept": -1}), requests(10), T0, 1.0)
    assert watched.queues(looks, "webflux-r2dbc")["accept"] is None


def test_shares_of_the_processors_are_of_the_time_in_which_requests_came():
    """A quarter of two processors: 0.05 s in each tenth of a second; of the machine, 15 of 20 ticks."""
    own, everybody, busy = ([step * i for i in range(21)] for step in (50_000, 20, 15))
    series = R2DBC | {"cpu_us": own, "machine_ticks": everybody, "machine_busy_ticks": busy}
    looks = watched.looks(looked(**series), requests(10), T0, 1.0)
    assert watched.cpu_share(looks, 2) == pytest.approx(0.25)
    assert watched.machine_share(looks) == pytest.approx(0.75)
    untold = watched.looks(looked(**series | {"machine_ticks": -1, "machine_busy_ticks": -1}), requests(10), T0, 1.0)
    assert watched.machine_share(untold) is None


def test_a_watch_without_a_look_while_requests_came_has_all_of_them():
    looks = watched.looks(looked(count=3, every_s=0.01, **R2DBC), requests(3), T0 + 50, 1.0)
    assert looks.during([1, 2, 3]) == [1, 2, 3]


@pytest.mark.parametrize("stack", ["mvc-platform", "mvc-virtual", "webflux-jdbc-offloaded", "webflux-r2dbc"])
def test_every_stack_has_its_queues_and_its_pools(stack):
    names = ("accept", "accept_virtual", "workers_busy", "workers_waiting", "virtual_in_flight", "jdbc_busy")
    names += ("jdbc_waiting", "offload_busy", "offload_waiting", "r2dbc_busy", "r2dbc_waiting")
    looks = watched.looks(looked(**dict.fromkeys(names, 1)), requests(10), T0, 1.0)
    settings = experiments.get("four-stacks").settle({"stack": stack})
    look = watched.median_look(looks, stack, settings, 0.5)
    assert look.stations[0].size == 10 and look.stations[0].name.endswith("pool")
    assert set(watched.lines(looks, stack)) >= {"t_s", "accept", "connections", "elsewhere"}
