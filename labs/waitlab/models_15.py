"""Theory of chapter 15: a crowd that comes at once to a few loops, and a few requests in it that block.

    blocks()            which of the crowd block: spread evenly
    dealt()             which loop each goes to: in turn (pinned) or drawn (random); None where all share a queue
    own_ends_ms()       each loop works off its own queue
    shared_ends_ms()    whichever loop is idle takes the next
    moved_ends_ms()     blocks that were moved to a pool: an end each
    theory()            the crowd's ends, its wall, its blocks by loop

Units: ms for times, counts for the rest. The n-th request is the one with index n - 1. All is there at time 0.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice
from math import gcd

_64_BITS = 2**64 - 1


@dataclass(frozen=True, slots=True)
class Crowd:
    """A crowd: how many, how many of them block, and what serves them. Times in ms."""

    requests: int
    blocking: int
    loops: int
    assignment: str
    where: str
    pool: int
    block_ms: float
    hold_ms: float
    seed: int


@dataclass(frozen=True, slots=True)
class Theory:
    """What a crowd must see: when each request ends (by its index), the wall, and how many blocks each loop has.

    `blocks_by_loop` is empty where all loops share a queue, since then nobody can say beforehand.
    """

    ends_ms: tuple[float, ...]
    blocked: tuple[bool, ...]
    blocks_by_loop: tuple[int, ...]

    @property
    def wall_ms(self) -> float:
        """When the last request ends."""
        return max(self.ends_ms)

    @property
    def innocents_ms(self) -> list[float]:
        """Latencies of those that do not block, ascending."""
        return sorted(end for end, blocks in zip(self.ends_ms, self.blocked, strict=True) if not blocks)


def blocks(requests: int, blocking: int) -> tuple[bool, ...]:
    """Which of `requests` block: `blocking` of them, spread evenly (of 2,000 and 20 every hundredth)."""
    return tuple((i + 1) * blocking // requests > i * blocking // requests for i in range(requests))


def loops_with_blocks(every: int, loops: int) -> int:
    """On how many loops all blocks fall if every `every`-th request blocks and loops are dealt in turn.

    loops / gcd(every, loops): the steps of `every` round a circle of `loops` meet that many of them.
    """
    return loops // gcd(every, loops)


def dealt(assignment: str, requests: int, loops: int, seed: int) -> tuple[int, ...] | None:
    """The loop of each request, from 0; None for `shared`. The draw is the server's own, so it is known beforehand."""
    if assignment == "shared":
        return None
    if assignment == "pinned":
        return tuple(index % loops for index in range(requests))
    return tuple(drawn % loops for drawn in islice(_splittable(seed), requests))


def occupancy_ms(crowd: Crowd) -> float:
    """How long the crowd holds loops in all: innocents x hold + blocks x block (none and moved blocks hold none)."""
    return sum(_holds(crowd))


def shared_wall_ms(total_ms: float, loops: int, block_ms: float) -> float:
    """The longest that a shared queue can take: total / loops + one block at the end (Graham 1966)."""
    return total_ms / loops + block_ms


def own_ends_ms(holds_ms: Sequence[float], loop_of: Sequence[int], loops: int) -> list[float]:
    """Ends where each loop has a queue of its own: the sum of all holds before it on its loop, and its own."""
    worked = [0.0] * loops
    ends = []
    for hold, loop in zip(holds_ms, loop_of, strict=True):
        worked[loop] += hold
        ends.append(worked[loop])
    return ends


def shared_ends_ms(holds_ms: Sequence[float], loops: int) -> list[float]:
    """Ends where all loops take from one queue: the next request begins when the first loop is idle."""
    idle_at = [0.0] * loops
    ends = []
    for hold in holds_ms:
        end = idle_at[0] + hold
        heapq.heapreplace(idle_at, end)
        ends.append(end)
    return ends


def moved_ends_ms(handed_ms: Sequence[float], pool: int, block_ms: float) -> list[float]:
    """Ends of blocks in a pool, handed over in ascending order: max(handed over, end of the pool-th before) + block."""
    ends: list[float] = []
    for number, handed in enumerate(handed_ms):
        free = ends[number - pool] if number >= pool else 0.0
        ends.append(max(handed, free) + block_ms)
    return ends


@lru_cache(maxsize=64)
def theory(crowd: Crowd) -> Theory:
    """What this crowd must see, request by request."""
    blocked = blocks(crowd.requests, crowd.blocking)
    loop_of = dealt(crowd.assignment, crowd.requests, crowd.loops, crowd.seed)
    holds = _holds(crowd)
    ends = own_ends_ms(holds, loop_of, crowd.loops) if loop_of else shared_ends_ms(holds, crowd.loops)
    if crowd.where == "offload":
        ends = _with_moved(ends, blocked, crowd)
    on_loops = [0] * crowd.loops if loop_of and crowd.where == "onloop" else []
    for loop, blocks_here in zip(loop_of or (), blocked, strict=False):
        if on_loops and blocks_here:
            on_loops[loop] += 1
    return Theory(tuple(ends), blocked, tuple(on_loops))


def walls_by_pool(crowd: Crowd, pools: Sequence[int]) -> list[float]:
    """When the last request ends for each size of the offload pool: the loops' end or the pool's, whichever is later.

    At most the loops' end + ceil(blocks / pool) x block, and never before either.
    """
    with_room = theory(replace(crowd, where="offload", pool=max(crowd.blocking, 1)))
    ends = list(zip(with_room.ends_ms, with_room.blocked, strict=True))
    handed = sorted(end - crowd.block_ms for end, blocked in ends if blocked)
    loops_end = max((end for end, blocked in ends if not blocked), default=0.0)
    return [max([loops_end, *moved_ends_ms(handed, pool, crowd.block_ms)]) for pool in pools]


def held_by_blocks(rate_per_s: float, share: float, block_ms: float, loops: int, *, shared_accept: bool) -> float:
    """The share of strangers that meet a blocked loop under a steady load: theirs, or the one that accepts.

    A loop is blocked for u = rate x share x block / loops of the time (at most all of it). Where one of the loops
    that serve accepts too, it must be awake, and the stranger's own, if that is another one of the n:
    1 - (1 - u) (1 - u (n - 1) / n); else u.
    """
    busy = min(1.0, rate_per_s * share * block_ms / 1000 / loops)
    return 1 - (1 - busy) * (1 - busy * (loops - 1) / loops) if shared_accept else busy


def steady_percentile_ms(percentile: float, held: float, block_ms: float) -> float:
    """A percentile (0..1) of strangers of whom `held` wait for what a block has left, which is spread evenly, ms.

    P(wait > w) = held x (1 - w / block), so the percentile is block x (1 - (1 - percentile) / held), at least 0.
    """
    return block_ms * max(0.0, 1 - (1 - percentile) / held) if held else 0.0


def _holds(crowd: Crowd) -> list[float]:
    """How long each request holds its loop, ms."""
    of_a_block = {"none": crowd.hold_ms, "onloop": crowd.block_ms}.get(crowd.where, 0.0)
    return [of_a_block if blocking else crowd.hold_ms for blocking in blocks(crowd.requests, crowd.blocking)]


def _with_moved(ends: Sequence[float], blocked: Sequence[bool], crowd: Crowd) -> list[float]:
    """The ends, with those of the blocks as the pool gives them: handed over when their turn on the loop came."""
    handed = sorted((end, index) for index, end in enumerate(ends) if blocked[index])
    moved = moved_ends_ms([end for end, _ in handed], crowd.pool, crowd.block_ms)
    of_index = {index: end for (_, index), end in zip(handed, moved, strict=True)}
    return [of_index.get(index, end) for index, end in enumerate(ends)]


def _splittable(seed: int) -> Iterator[int]:
    """The unsigned 64-bit numbers of java.util.SplittableRandom(seed) (Steele, Lea and Flood 2014)."""
    state = seed
    while True:
        state = (state + 0x9E3779B97F4A7C15) & _64_BITS
        mixed = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & _64_BITS
        mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & _64_BITS
        yield mixed ^ (mixed >> 31)
