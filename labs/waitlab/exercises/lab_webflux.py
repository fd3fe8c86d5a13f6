"""The WebFlux lab's exercises: what they accept, and what they ask, point at and explain otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from waitlab import models
from waitlab.exercises import Exercise, Finding, is_about, not_yet, passed
from waitlab.experiments.lab_webflux import OFFLOADED, ON_LOOP
from waitlab.runs import Run

QUIET_MS = 50
FORTY_WITHIN_MS = 1750
_WORDS = {"event loop": "loop", "elastic": "offload", "boundedelastic": "offload"}
_PUZZLES = ("jdbc-isolated", "jdbc-publish", "callable-publish")
_ASKED = {
    "jdbc-isolated": "where does a chain start to run that has subscribeOn in it?",
    "jdbc-publish": "does the query stand above publishOn, or below it?",
    "callable-publish": "what did the run say, and what must have happened before the chain ran at all?",
}
_REASON = {
    "jdbc-isolated": "subscribeOn starts the whole chain there, the query with it.",
    "jdbc-publish": "publishOn moves only what stands below it, and the query stands above.",
    "callable-publish": "fromCallable directly before publishOn is assembled as if it were subscribeOn.",
}


# -- which thread? -------------------------------------------------------------------------------------------


def _who_runs_it(answer: Mapping[Any, Any]) -> Finding:
    truth = {name: "loop" if name in ON_LOOP else "offload" for name in _PUZZLES}
    missing = [name for name in truth if _word(answer.get(name)) not in ("loop", "offload")]
    if missing:
        return not_yet(f'no word about {missing[0]}; write "loop" or "offload" for each of {", ".join(truth)}.')
    wrong = [name for name in truth if _word(answer[name]) != truth[name]]
    if not wrong:
        return passed("all three, also the one that looks wrong and works.")
    score, first = f"{len(truth) - len(wrong)} of {len(truth)}", wrong[0]
    place = "an event loop" if truth[first] == "loop" else "an elastic thread"
    asked, pointer = f"Look at {first} again: {_ASKED[first]}", f"{first} waits on {place}"
    return not_yet(*(f"{score}. {hint}" for hint in (asked, f"{pointer}.", f"{pointer}: {_REASON[first]}")))


def _word(value: object) -> str:
    text = str(value).strip().lower()
    return _WORDS.get(text, text)


# -- sleepers ------------------------------------------------------------------------------------------------


def _rest_of_the_sleep(answer: float) -> Finding:
    right = models.wait_for_sleeper_ms(1200, 3000)
    if is_about(answer, right):
        return passed(f"{right:,.0f} ms, all that the sleepers have left.")
    asked = "how many loops does a server with six CPUs have, and how many of them are awake?"
    if answer >= 3000:
        asked = "the health check's clock starts when it is sent. How much of the sleep is over by then?"
    return not_yet(
        asked,
        "all six loops sleep until 3,000 ms, and the health check is sent at 1,200 ms.",
        f"whoever comes waits for the rest of the sleep: 3,000 - 1,200 = {right:,.0f} ms.",
    )


def _smallest_stop(run: Run) -> Finding:
    asked = {"cpus": 6, "accept": "own", "endpoint": "sleep"}
    other = [f"{name}={run.settings[name]}" for name in asked if run.settings[name] != asked[name]]
    if other:
        return not_yet(f'this run had {other[0]}; the exercise is about cpus=6, accept="own" and /sleep.')
    loops, k = int(run.in_force["event_loops"]), int(run.settings["k"])
    held, asleep = run.facts["held_share"] or 0.0, len(run.facts["blocked_threads"])
    if k > loops:
        too_many = f"{k} sleepers on {loops} loops: every loop sleeps, and some twice."
        return not_yet(f"{too_many} Would one sleeper fewer do?", f"{loops} sleepers hold {loops} loops.")
    if held < 0.95:
        return not_yet(
            f"{held:.0%} of the bystanders were held. Which loops answered the others?",
            f"{asleep} of {loops} loops slept, so {loops - asleep} answered whoever was dealt to them.",
            "connections are dealt in turn; all wait only if no loop is awake: a sleeper for each loop.",
        )
    return passed(f"{k} sleepers on {loops} loops hold every bystander, and {k - 1} would not.")


# -- queries -------------------------------------------------------------------------------------------------


def _quiet_bystander(run: Run) -> Finding:
    fast, block, endpoint = run.series["fast"], run.series["block"], run.settings["endpoint"]
    if int(run.settings["k"]) < 12 or int(run.settings["block_ms"]) < 1000 or endpoint == "sleep":
        return not_yet("this run had less to do; keep k=12, block_ms=1000 and an endpoint that queries.")
    if fast.p99_ms is None or block.ok < block.offered:
        answered = f"{fast.ok} bystanders and {block.ok} of {block.offered} queries were answered"
        return not_yet(f"{answered}; a p99 needs fast=100, and every query counts.")
    if fast.p99_ms < QUIET_MS:
        return passed(f"p99 of /fast {fast.p99_ms:.1f} ms; the queries ran on {_place(run)}.")
    measured = f"p99 of /fast {fast.p99_ms:,.0f} ms"
    if endpoint not in ON_LOOP:
        return not_yet(f"{measured}, though no loop was blocked. Is this machine busy? Measure again.")
    where = next(iter(run.facts["blocked_threads"]), "a loop")
    return not_yet(
        f"{measured}: a query ran on {where}, an event loop. Which operator moves the start of a chain?",
        "publishOn moves what stands below it; the query stands above."
        if endpoint == "jdbc-publish"
        else "in /jdbc no operator moves anything.",
        'subscribeOn moves the start of the chain, and the query with it: endpoint="jdbc-isolated".',
    )


def _place(run: Run) -> str:
    if run.settings["endpoint"] == "r2dbc":
        return "no thread at all: the loops only took the answers"
    return f"{len(run.facts['blocked_threads'])} threads of the offload pool"


def _forty_queries(run: Run) -> Finding:
    fewer = int(run.settings["k"]) < 40 or int(run.settings["block_ms"]) < 500
    if fewer or run.settings["endpoint"] not in OFFLOADED:
        return not_yet('this run had less to do; keep k=40, block_ms=500 and endpoint="jdbc-isolated".')
    took, block = float(run.facts["all_blocked_ms"]), run.series["block"]
    threads, connections = int(run.in_force["offload_pool_size"]), int(run.in_force["jdbc_pool_size"])
    width = min(threads, connections)
    if took <= FORTY_WITHIN_MS and block.ok == block.offered:
        return passed(f"all done at {took:,.0f} ms, in {models.waves(40, width)} waves of at most {width}.")
    narrow = "threads" if threads < connections else "connections"
    return not_yet(
        f"{threads} threads and {connections} connections, done at {took:,.0f} ms. How wide was a wave?",
        f"a wave was {width} wide: the {narrow} are the narrower of the two.",
        "three waves fit, so both pools need 40 / 3, rounded up: 14. By default 20 threads, 10 connections.",
    )


EXERCISES = (
    Exercise("who-runs-it", "lab_webflux", Mapping, _who_runs_it),
    Exercise("rest-of-the-sleep", "lab_webflux", float, _rest_of_the_sleep),
    Exercise("smallest-stop", "lab_webflux", Run, _smallest_stop, "bystander"),
    Exercise("quiet-bystander", "lab_webflux", Run, _quiet_bystander, "bystander"),
    Exercise("forty-queries", "lab_webflux", Run, _forty_queries, "bystander"),
)
