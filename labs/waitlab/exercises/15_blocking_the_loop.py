"""Chapter 15's exercises: what they accept, and what they ask, point at and explain otherwise."""

from __future__ import annotations

from waitlab import models_15 as models
from waitlab.exercises import Exercise, Finding, changed, not_yet, passed
from waitlab.runs import Run

CHAPTER = "15_blocking_the_loop"
QUIET_MS = 30
SPARE_THREADS = 2
MOST_BLOCKS = 3


# -- who is hit? ---------------------------------------------------------------------------------------------


def _loops_hit(answer: float) -> Finding:
    right = models.loops_with_blocks(100, 12)
    if answer == right:
        return passed("3: every hundredth request meets every fourth of twelve loops, and there are three of those.")
    return not_yet(
        "which loop gets request 100, which gets request 200? Count on until a loop comes back.",
        "the steps of 100 round a circle of twelve are steps of 4: gcd(100, 12) = 4.",
        f"12 / gcd(100, 12) = {right}.",
    )


def _no_victim(run: Run) -> Finding:
    other = changed(run, server="plain", where="onloop", assignment="pinned", requests=2000, blocking_share=0.01)
    if other or not 6 <= int(run.settings["loops"]) <= 10:
        found = other or f"loops={run.settings['loops']}"
        return not_yet(f'this run had {found}; keep where="onloop", assignment="pinned", and 6 to 10 loops.')
    loops, most = int(run.settings["loops"]), int(run.facts["blocks_on_busiest_loop"])
    if most <= MOST_BLOCKS:
        return passed(f"{loops} loops share the twenty blocks, at most {most} each: {run.facts['wall_ms']:,.0f} ms.")
    return not_yet(
        f"one loop had {most} of the twenty blocks. On how many loops can every hundredth request fall?",
        f"gcd(100, {loops}) is {100 // models.loops_with_blocks(loops, 100)}; which numbers of loops have 1?",
        "7 and 9 share no factor with 100, so the blocks go round all their loops.",
    )


# -- how much is enough? -------------------------------------------------------------------------------------


def _enough_threads(run: Run) -> Finding:
    other = changed(run, server="plain", where="offload", requests=2000, blocking_share=0.01, block_ms=100)
    if other:
        return not_yet(f'this run had {other}; keep where="offload" and the crowd as it is.')
    pool, blocks = int(run.settings["offload_pool_size"]), run.series["blocking"]
    used = len(blocks.threads)
    if pool > blocks.offered + SPARE_THREADS:
        return not_yet(f"{used} of {pool} threads had a block to wait for. What did the others do?")
    if used < blocks.offered:
        return not_yet(
            f"{used} threads had {blocks.offered} blocks to wait for, so some waited for a thread. How many more?",
            "no block is over before the last one comes: the crowd takes less than 100 ms.",
            "then each block needs a thread of its own: 20.",
        )
    return passed(f"each of the {used} blocks had a thread at once; wall {run.facts['wall_ms']:,.0f} ms.")


def _quiet_server(run: Run) -> Finding:
    other = changed(run, server="webflux", block_ms=100, blocking_share=0.01, rate_per_s=500)
    if other or run.settings["where"] == "none":
        return not_yet(f'this run had {other or "where=none"}; keep server="webflux" and the 1 % that query.')
    p90 = run.series["normal"].p90_ms
    if p90 is None or run.series["blocking"].ok < run.series["blocking"].offered:
        return not_yet("some queries were not answered; every one counts.")
    if run.settings["where"] == "onloop":
        return not_yet(
            f"p90 {p90:,.1f} ms. Which threads waited for the database?",
            f"{', '.join(run.facts['blocks_by_loop'])}: event loops, all of them.",
            'move the query (where="offload"), or do not block at all (where="r2dbc").',
        )
    if p90 >= QUIET_MS:
        return not_yet(f"p90 {p90:,.1f} ms, though no query held a loop. Is this machine busy? Measure again.")
    return passed(f"p90 {p90:,.1f} ms, with one query in a hundred requests.")


EXERCISES = (
    Exercise("loops-hit", CHAPTER, float, _loops_hit),
    Exercise("no-victim", CHAPTER, Run, _no_victim, "one-percent"),
    Exercise("enough-threads", CHAPTER, Run, _enough_threads, "one-percent"),
    Exercise("quiet-server", CHAPTER, Run, _quiet_server, "one-percent"),
)
