"""The tests of the embedded lab that say nothing of processes, run on Docker's lab."""

from __future__ import annotations

import importlib.util
from pathlib import Path

FILE = Path(__file__).parents[1] / "services" / "test_webflux_lab.py"
SHARED = (
    "test_starting_twice_returns_the_running_one",
    "test_the_server_and_we_read_one_clock",
    "test_what_was_asked_is_what_the_server_reads_back",
    "test_a_live_change_keeps_the_process",
    "test_a_wrong_setting_changes_nothing",
    "test_a_pool_that_the_database_cannot_serve_is_refused_with_both_numbers",
    "test_an_unknown_app_offers_the_nearest",
    "test_a_value_that_the_server_refuses_is_a_sentence",
    "test_a_stranger_changes_nothing",
    "test_a_dump_names_every_loop",
    "test_the_machine_is_described",
)

_spec = importlib.util.spec_from_file_location("tests_of_the_embedded_lab", FILE)
assert _spec is not None and _spec.loader is not None
_module = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_module)
globals().update({name: getattr(_module, name) for name in SHARED})
