"""The doctor's report in words: one row a question, and for what is missing, what follows from that."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Report = dict[str, Any]
Row = tuple[str, str, str]


def rows(report: Report) -> list[Row]:
    """Rows (what, state, detail); state is ok, note, missing or problem."""
    return [_row(what, report.get(name), words) for name, what, words in _WORDS]


def _row(what: str, entry: Any, words: Callable[[Any], tuple[str, str]]) -> Row:
    if entry is None or (isinstance(entry, dict) and "error" in entry):
        return what, "problem", "not found out" if entry is None else str(entry["error"])
    return what, *words(entry)


def _cpus(entry: Report) -> tuple[str, str]:
    usable = min(filter(None, (entry["affinity"], entry["cgroup_limit"])))
    limit = f", limited to {entry['cgroup_limit']:g} by the container" if entry["cgroup_limit"] else ""
    bound = f", {entry['affinity']} of them for this process" if entry["affinity"] < entry["host"] else ""
    few = "; server, database and client share them, so expect some noise" if usable < 4 else ""
    return ("note" if few else "ok"), f"{entry['host']} ({entry['model']}){bound}{limit}{few}"


def _memory(entry: Report) -> tuple[str, str]:
    limit = entry["cgroup_limit_mb"]
    within = f", limited to {limit:,} MB by the container" if limit else ""
    state = "ok" if min(entry["available_mb"], limit or entry["available_mb"]) >= 2000 else "note"
    return (
        state,
        f"{entry['available_mb']:,} of {entry['total_mb']:,} MB available{within}; a lab needs 2,000",
    )


def _disk(entry: Report) -> tuple[str, str]:
    free = min(entry["cache_free_mb"], entry["project_free_mb"])
    return ("ok" if free >= 1000 else "problem"), f"{free:,} MB free; downloads are kept in {entry['cache']}"


def _java(entry: Report) -> tuple[str, str]:
    return "ok", f"Java {entry['version']} runs the servers ({entry['home']})"


def _javac(entry: Report) -> tuple[str, str]:
    if entry["home"]:
        return "ok", f"JDK {entry['version']} compiles them ({entry['home']})"
    return "ok", "no JDK 25 here; Eclipse's compiler takes its place"


def _maven(entry: Report) -> tuple[str, str]:
    if entry["home"]:
        return "ok", f"Maven {entry['version']} ({entry['home']})"
    return "missing", "not here yet; `waitlab build` fetches it (9 MB)"


def _postgres(entry: Report) -> tuple[str, str]:
    if entry["version"]:
        return "ok", f"PostgreSQL {entry['version']} ({entry['home']})"
    if entry["home"]:
        return (
            "problem",
            f"the programs in {entry['home']} do not run; remove that folder, then `waitlab build`",
        )
    return "missing", "not here yet; `waitlab build` fetches it (15 to 30 MB)"


def _build(entry: Report) -> tuple[str, str]:
    missing = [name for name, state in entry.items() if state != "current"]
    if not missing:
        return "ok", f"{', '.join(entry)} built from the present sources"
    return "missing", f"{', '.join(f'{name} is {entry[name]}' for name in missing)}; run `waitlab build`"


def _docker(entry: Report) -> tuple[str, str]:
    if entry["engine"] != "ready":
        return "note", f"{entry['engine']}: {entry['detail']}; the embedded servers need none"
    compose = f"compose {entry['compose']}" if entry["compose"] else "no compose plugin"
    images = ", ".join(entry["images"]) or "none of the lab's images"
    return "ok", f"engine {entry['version']} (API {entry['api']}), {compose}, {images}"


def _browser(entry: Report) -> tuple[str, str]:
    if entry["command"]:
        return "ok", str(entry["command"])
    return "note", "no Chromium or Chrome found; browser tests are skipped, chapters work in any browser"


def _runtime(entry: Report) -> tuple[str, str]:
    return ("note" if entry["choice"] == "recorded" else "ok"), f"{entry['choice']}: {entry['why']}"


def _leftovers(entry: list[Report]) -> tuple[str, str]:
    if not entry:
        return "ok", "nothing is left over from labs that died"
    labs = ", ".join(lab["lab_id"] for lab in entry)
    return "problem", f"left over from labs that died: {labs}; `waitlab down` removes them"


_WORDS: tuple[tuple[str, str, Callable[[Any], tuple[str, str]]], ...] = (
    ("cpus", "CPUs", _cpus),
    ("memory", "memory", _memory),
    ("disk", "disk", _disk),
    ("java", "Java", _java),
    ("javac", "compiler", _javac),
    ("maven", "Maven", _maven),
    ("postgres", "PostgreSQL", _postgres),
    ("build", "servers", _build),
    ("docker", "Docker", _docker),
    ("browser", "browser", _browser),
    ("runtime", "runtime", _runtime),
    ("leftovers", "left over", _leftovers),
)
