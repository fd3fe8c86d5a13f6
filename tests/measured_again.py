"""Relations in chapters: what does not hold is measured again."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

Test = Callable[..., None]


def holds(tags: str) -> Callable[[Test], Test]:
    """A test of what was measured in these cells, in order, with a space between; see `Book.holds`."""

    def again(test: Test) -> Test:
        @wraps(test)
        def judged(book: Any, **more: Any) -> None:
            book.holds(tags, lambda: test(book, **more))

        return judged

    return again
