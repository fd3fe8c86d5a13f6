"""The house rules for notebooks, as functions that return what they object to; `test_chapters` applies them."""

import ast
import json
import re
from functools import partial
from pathlib import Path
from statistics import median

from waitlab import decide, exercises, experiments
from waitlab.errors import WaitlabError

ROOT = Path(__file__).parents[2]
SNIPPET = re.compile(r"^ *// snippet: (\S+)\n(.*?)^ *// end$", re.MULTILINE | re.DOTALL)


def read(path):
    return json.loads(path.read_text(encoding="utf-8"))


def source(cell):
    return "".join(cell["source"])


def cells(book, kind):
    return [cell for cell in book["cells"] if cell["cell_type"] == kind]


def tags(cell):
    return cell["metadata"].get("tags", [])


def code_lines(book):
    return [sum(bool(line.strip()) for line in source(cell).splitlines()) for cell in cells(book, "code")]


def headings(book, level):
    prose = "\n".join(re.sub(r"```.*?```", "", source(cell), flags=re.DOTALL) for cell in cells(book, "markdown"))
    return re.findall(rf"^{'#' * level} (.+)$", prose, re.MULTILINE)


def words(book):
    """Words of prose: no code, no tags, no rulers of tables."""
    prose = " ".join(re.sub(r"```.*?```", " ", source(cell), flags=re.DOTALL) for cell in cells(book, "markdown"))
    plain = re.sub(r"<[^>]+>|\]\([^)]+\)|[|#*`]|---", " ", prose)
    return len(re.findall(r"\S*\w\S*", plain))


def bad_cells(book):
    lines = code_lines(book)
    kinds = [cell["cell_type"] for cell in book["cells"]]
    rows = [kinds[i : i + 3] for i in range(len(kinds) - 2)]
    rules = {
        "a cell of more than 10 lines": max(lines) > 10,
        "under 80 % of the cells have at most 5 lines": sum(n <= 5 for n in lines) < 0.8 * len(lines),
        "the median cell has more than 3 lines": median(lines) > 3,
        "not 20 to 30 code cells": not 20 <= len(lines) <= 30,
        "more than two code cells in a row": ["code"] * 3 in rows,
        "not 1,500 to 2,500 words": not 1500 <= words(book) <= 2500,
        "more than three functions": sum(source(cell).count("def ") for cell in cells(book, "code")) > 3,
    }
    return [rule for rule, broken in rules.items() if broken]


def bad_skeleton(book, template):
    first = source(book["cells"][0]).split("\n\n")
    sections = [name for name in headings(book, 2) if re.match(r"\d+\. ", name)]
    overview = next((source(c) for c in cells(book, "markdown") if source(c).startswith("## Overview")), "")
    without = [name for name in headings(book, 2) if name not in sections]
    rules = {
        "the first cell is not a title and a promise": len(first) != 2 or not first[0].startswith("# "),
        "the promise is not one sentence": not re.fullmatch(r"[^.!?]+\.", first[-1].strip()),
        "not one title": len(headings(book, 1)) != 1,
        "headings differ from the template's": without != fixed_headings(template),
        "sections are not between set-up and exercises": not in_place(book, sections),
        "the overview differs from the sections": re.findall(r"^\d+\. .+$", overview, re.MULTILINE) != sections,
        "no minutes": not re.search(r"\| needed \| helpful \| minutes \|", "".join(map(source, book["cells"]))),
    }
    return [rule for rule, broken in rules.items() if broken]


def fixed_headings(book):
    return [name for name in headings(book, 2) if not re.match(r"\d+\. ", name)]


def in_place(book, sections):
    names = headings(book, 2)
    start = names.index("Set-up") + 1 if "Set-up" in names else 0
    numbered = [f"{number}." for number in range(1, len(sections) + 1)]
    return names[start : start + len(sections)] == sections and [name.split()[0] for name in sections] == numbered


def bad_upkeep(book):
    ids = [cell.get("id") for cell in book["cells"]]
    code = cells(book, "code")
    names = [tag for cell in code for tag in tags(cell) if ":" not in tag and tag != "raises-exception"]
    unanswered = [
        cell["id"]
        for cell in code
        if source(cell).count("predict(") != sum(tag.startswith("predict:") for tag in tags(cell))
    ]
    rules = {
        "a cell without an id, or two of the same": None in ids or len(set(ids)) < len(ids),
        "outputs are kept": any(cell["outputs"] or cell["execution_count"] for cell in code),
        "a code cell without a name among its tags": len(names) < len(code),
        "two cells of one name": len(set(names)) < len(names),
        "another kernel than python3": book["metadata"]["kernelspec"]["name"] != "python3",
        "widget states are kept": "widgets" in book["metadata"],
        f"predictions without a tagged guess: {unanswered}": bool(unanswered),
    }
    return [rule for rule, broken in rules.items() if broken]


def bad_calls(book):
    """Experiments, controls and exercises that a notebook names and that do not exist."""
    found = []
    for cell in cells(book, "code"):
        for call in (node for node in ast.walk(ast.parse(source(cell))) if isinstance(node, ast.Call)):
            name = getattr(call.func, "id", "")
            first = call.args[0].value if call.args and isinstance(call.args[0], ast.Constant) else None
            if name == "decide" or [getattr(each, "id", "") for each in call.args] == ["decide"]:
                found += refused_by(decide, call.keywords)
            elif name in ("run", "explore", "recorded"):
                found += refused_by(partial(settled, first), call.keywords)
            if name == "check" and first not in exercises.known():
                found.append(f"no exercise named {first}")
    return found


def settled(experiment, **given):
    return experiments.get(experiment).settle(given)


def refused_by(takes, keywords):
    """What `takes` says against the constants among these keywords."""
    plain = [each for each in keywords if isinstance(each.value, (ast.Constant, ast.UnaryOp))]
    try:
        takes(**{each.arg: ast.literal_eval(each.value) for each in plain})
    except WaitlabError as error:
        return [error.what]
    return []


def bad_java(book, snippets):
    blocks = [
        block for cell in cells(book, "markdown") for block in re.findall(r"```java\n(.*?)```", source(cell), re.DOTALL)
    ]
    return [f"not cut from the source: {block}" for block in blocks if block.strip() not in snippets]


def java_snippets():
    sources = sorted((ROOT / "labs" / "apps").glob("*/src/main/java/**/*.java"))
    found = [match.group(2) for path in sources for match in SNIPPET.finditer(path.read_text(encoding="utf-8"))]
    return {outdent(text) for text in found}


def outdent(text):
    lines = text.rstrip().splitlines()
    margin = min(len(line) - len(line.lstrip()) for line in lines if line.strip())
    return "\n".join(line[margin:] for line in lines)


def bad_terms(book, glossary):
    """Emphasised words that the glossary lacks; questions, formulas and labels are emphasised too, and no terms."""
    prose = "\n".join(re.sub(r"```.*?```|\*\*.+?\*\*", "", source(c), flags=re.DOTALL) for c in cells(book, "markdown"))
    said = re.findall(r"(?<![\w*])\*([^*\n]+)\*(?!\*)", prose)
    words = [text.lower() for text in said if text[-1] not in "?:" and "=" not in text]
    return [text for text in words if text not in glossary and text.removesuffix("s") not in glossary]


def glossary_terms():
    text = (ROOT / "book" / "glossary.md").read_text(encoding="utf-8")
    heads = re.findall(r"^\*\*(.+)\*\*$", text, re.MULTILINE)
    return {term.strip().lower() for head in heads for term in head.split(",")}
