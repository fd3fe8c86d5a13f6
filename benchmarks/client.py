"""The load engine beside h2load, ab, aiohttp and httpx: one burst of new connections against one slow stub.

Run as `python benchmarks/client.py [--rounds N] [--json]`. Every tool sends k requests at once, each on a
connection of its own, to a stub that answers after 100 ms. The tools take turns within each round, so what
else the machine does hits them alike. A cell is the median over the rounds of the median latency, in ms.

Like is compared with like, from raw logs: latency runs from when the tool began to open connections to the
end of the reply. Where a log leaves something open, the reading that favours the other tool is taken:

engine   done - intended of each sample
h2load   end of each row of --log-file, less the run's start: the first row's start (which is when its request
         was sent) less the shortest connect time that h2load reports
aiohttp, httpx   the end of each request, less the moment before all the tasks were made
ab       ttime of each row of -g, which counts whole ms from the start of each connection (the log does not say
         how long after the run's start that was, so half a ms either way is a tie)
engine*  the same reading, to compare with ab: done less the moment when the connection's turn came, which is
         when the request before it was sent. ab opens all its connections first and the engine one after
         another, so this reading is kind to the engine; the strict one, from the run's start, is its other column
"""

from __future__ import annotations

import argparse
import asyncio
import importlib.util
import json
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "labs"))

from waitlab.load.client import run_plan
from waitlab.load.plans import Plan, Stream, burst
from waitlab.load.samples import OK, Sample
from waitlab.load.stub import running_stub

DELAY_MS = 100
SIZES = (10, 100, 500, 2000)
GOALS = {10: 1.3, 100: 1.3, 500: 1.3, 2000: 1.8}  # the engine's median over h2load's
TIMEOUT_S = 120.0
PACKAGES = {"h2load": "nghttp2-client", "ab": "apache2-utils"}
UNITS_MS = {"us": 0.001, "ms": 1.0, "s": 1000.0}

Latencies = list[float]


def engine(url: str, k: int) -> Latencies:
    """Latencies of one burst through the load engine, ms."""
    return [sample.latency_ms for sample in _burst(url, k)]


def engine_own_start(url: str, k: int) -> Latencies:
    """The same, each from the start of its own connection, ms."""
    samples = _burst(url, k)
    turns = [samples[0].intended_s, *(sample.sent_s or sample.intended_s for sample in samples[:-1])]
    return [((s.done_s or at) - at) * 1000 for s, at in zip(samples, turns, strict=True)]


def _burst(url: str, k: int) -> list[Sample]:
    result = run_plan(Plan((Stream("burst", url, burst(k), timeout_s=TIMEOUT_S),)))
    return [sample for sample in result.samples if sample.cls == OK]


def h2load(url: str, k: int) -> Latencies:
    """Latencies of one burst through h2load, ms."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        said = _call("h2load", "--h1", f"-n{k}", f"-c{k}", "-t1", f"--log-file={log}", url)
        rows = [tuple(map(int, line.split())) for line in log.read_text().splitlines()]
    connect = re.search(r"time for connect: +([\d.]+)(us|ms|s)", said)
    assert connect is not None
    start_us = min(at for at, _, _ in rows) - float(connect[1]) * UNITS_MS[connect[2]] * 1000
    return [(at + took - start_us) / 1000 for at, status, took in rows if status == 200]


def ab(url: str, k: int) -> Latencies:
    """Latencies of one burst through ab, ms."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        _call("ab", "-q", "-r", "-s", str(round(TIMEOUT_S)), "-n", str(k), "-c", str(k), "-g", str(log), url)
        rows = [line.split("\t") for line in log.read_text().splitlines()[1:]]
    return [float(row[4]) for row in rows]


def in_python(tool: str) -> Callable[[str, int], Latencies]:
    """A burst through a Python client, in an interpreter of its own."""

    def run(url: str, k: int) -> Latencies:
        latencies: Latencies = json.loads(_call(sys.executable, __file__, "--child", tool, url, str(k)))
        return latencies

    return run


async def _aiohttp(url: str, k: int) -> Latencies:
    import aiohttp

    connector = aiohttp.TCPConnector(limit=0, force_close=True)
    limit = aiohttp.ClientTimeout(total=TIMEOUT_S)
    async with aiohttp.ClientSession(connector=connector, timeout=limit) as session:

        async def get() -> None:
            async with session.get(url) as reply:
                await reply.read()

        return await _all_at_once(get, k)


async def _httpx(url: str, k: int) -> Latencies:
    import httpx

    limits = httpx.Limits(max_connections=None, max_keepalive_connections=0)
    async with httpx.AsyncClient(limits=limits, timeout=TIMEOUT_S, trust_env=False) as client:

        async def get() -> None:
            await client.get(url)

        return await _all_at_once(get, k)


async def _all_at_once(get: Callable[[], Awaitable[None]], k: int) -> Latencies:
    start = time.monotonic()

    async def timed() -> float:
        await get()
        return (time.monotonic() - start) * 1000

    return list(await asyncio.gather(*(timed() for _ in range(k))))


TOOLS: dict[str, Callable[[str, int], Latencies]] = {
    "engine": engine,
    "h2load": h2load,
    "aiohttp": in_python("aiohttp"),
    "httpx": in_python("httpx"),
    "engine*": engine_own_start,
    "ab": ab,
}
RIVALS = {"ab": "engine*", "aiohttp": "engine", "httpx": "engine"}
TIES_MS = {"ab": 0.5, "aiohttp": 0.0, "httpx": 0.0}
CHILDREN = {"aiohttp": _aiohttp, "httpx": _httpx}


def missing(tool: str) -> str:
    """The sentence that says what is missing for `tool` and how to get it, or ""."""
    if tool in PACKAGES and not shutil.which(tool):
        return f"{tool} is missing: install Debian's {PACKAGES[tool]} (apt-get install {PACKAGES[tool]})."
    if tool in CHILDREN and importlib.util.find_spec(tool) is None:
        return f"{tool} is not installed and is left out (pip install {tool})."
    return ""


def measure(tools: list[str], rounds: int) -> dict[int, dict[str, list[float]]]:
    """The median latency of each tool in each round, by size, ms."""
    medians: dict[int, dict[str, list[float]]] = {k: {tool: [] for tool in tools} for k in SIZES}
    with running_stub(DELAY_MS) as address:
        for number in range(rounds):
            for k in SIZES:
                print(f"round {number + 1} of {rounds}: {k} at once", file=sys.stderr)
                for tool in tools:
                    latencies = TOOLS[tool](f"{address}/slow", k)
                    if len(latencies) < k:
                        print(f"  {tool}: only {len(latencies)} of {k} were answered", file=sys.stderr)
                    medians[k][tool].append(statistics.median_low(latencies) if latencies else float("nan"))
    return medians


def table(medians: dict[int, dict[str, list[float]]]) -> str:
    """Medians over the rounds, and the engine's ratio to h2load with its goal."""
    tools = list(next(iter(medians.values())))
    lines = [f"{'at once':>8}" + "".join(f"{tool:>10}" for tool in tools) + f"{'to h2load':>12}{'goal':>6}"]
    for k, by_tool in medians.items():
        cells = {tool: statistics.median(values) for tool, values in by_tool.items()}
        ratio = cells["engine"] / cells["h2load"] if "h2load" in cells else float("nan")
        lines.append(f"{k:>8}" + "".join(f"{cells[tool]:>10.1f}" for tool in tools) + f"{ratio:>12.2f}{GOALS[k]:>6}")
    return "\n".join(lines)


def shortfalls(medians: dict[int, dict[str, list[float]]]) -> list[str]:
    """A sentence for each goal that is not reached."""
    short = []
    for k, by_tool in medians.items():
        cells = {tool: statistics.median(values) for tool, values in by_tool.items()}
        if "h2load" in cells and not cells["engine"] <= GOALS[k] * cells["h2load"]:
            short.append(f"{k} at once: over {GOALS[k]} x h2load.")
        behind = [tool for tool, ours in RIVALS.items() if tool in cells and cells[ours] > cells[tool] + TIES_MS[tool]]
        short += [f"{k} at once: behind {tool}." for tool in behind]
    return short


def _call(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=2 * TIMEOUT_S, check=True)
    return done.stdout


def main() -> int:
    """Measures and prints; exit code 1 where a goal is not reached."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true", help="the medians of every round, as JSON")
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        tool, url, k = args.child
        print(json.dumps(asyncio.run(CHILDREN[tool](url, int(k)))))
        return 0
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    for sentence in filter(None, map(missing, TOOLS)):
        print(sentence, file=sys.stderr)
    medians = measure([tool for tool in TOOLS if not missing(tool)], args.rounds)
    print(json.dumps(medians) if args.json else table(medians))
    short = shortfalls(medians)
    print("\n".join(short or ["Every goal is reached."]), file=sys.stderr)
    return 1 if short else 0


if __name__ == "__main__":
    sys.exit(main())
