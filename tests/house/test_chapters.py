"""House rules for notebooks: short cells, one skeleton, tags, no outputs, Java cut from the source.

The rules stand in `notebook_rules`; beside each stands here a notebook that it must object to.
"""

import re
from copy import deepcopy

import pytest
from notebook_rules import (
    ROOT,
    bad_calls,
    bad_cells,
    bad_java,
    bad_skeleton,
    bad_terms,
    bad_upkeep,
    cells,
    glossary_terms,
    java_snippets,
    read,
    source,
)
from waitlab import exercises, experiments

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
NO_CHAPTERS = ("00_start_here", "interview_room")
CHAPTERS = [path for path in NOTEBOOKS if path.stem not in NO_CHAPTERS]
TEMPLATE = ROOT / "book" / "chapter_template.ipynb"


# -- applied -----------------------------------------------------------------------------------------------


@pytest.fixture(params=CHAPTERS, ids=lambda path: path.stem)
def chapter(request):
    return read(request.param)


@pytest.fixture(params=[*NOTEBOOKS, TEMPLATE], ids=lambda path: path.stem)
def notebook(request):
    return read(request.param)


def test_there_are_chapters():
    assert CHAPTERS and TEMPLATE.is_file()


def test_cells_are_sentences(chapter):
    assert bad_cells(chapter) == []


def test_chapters_have_the_one_skeleton(chapter):
    assert bad_skeleton(chapter, read(TEMPLATE)) == []


def test_notebooks_are_kept_clean(notebook):
    assert bad_upkeep(notebook) == []


def test_notebooks_call_what_exists(notebook):
    assert bad_calls(notebook) == []


def test_java_is_cut_from_the_source(notebook):
    assert bad_java(notebook, java_snippets()) == []


def test_emphasised_terms_are_in_the_glossary(notebook):
    assert bad_terms(notebook, glossary_terms()) == []


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_one_stem_names_a_chapter_everywhere(path):
    assert path.stem in experiments.CHAPTERS
    assert path.stem in exercises.CHAPTERS
    assert (ROOT / "tests" / "chapters" / f"test_{path.stem}.py").is_file()
    assert {e.chapter for e in experiments.known().values()} == set(experiments.CHAPTERS)


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_every_exercise_is_in_its_chapter(path):
    text = "".join(source(cell) for cell in cells(read(path), "code"))
    for exercise in exercises.known().values():
        assert (f'check("{exercise.name}"' in text) == (exercise.chapter == path.stem)


def test_the_glossary_is_in_alphabetical_order():
    text = (ROOT / "book" / "glossary.md").read_text(encoding="utf-8")
    heads = [head.lower() for head in re.findall(r"^\*\*(.+)\*\*$", text, re.MULTILINE)]
    assert heads == sorted(heads)


# -- and each rule can fail --------------------------------------------------------------------------------


@pytest.fixture
def broken():
    """A copy of a chapter, to be broken."""
    return deepcopy(read(CHAPTERS[0]))


def first_code(book):
    return cells(book, "code")[0]


def test_a_long_cell_is_noticed(broken):
    first_code(broken)["source"] = ["x = 1\n"] * 11
    assert "a cell of more than 10 lines" in bad_cells(broken)


def test_three_code_cells_in_a_row_are_noticed(broken):
    broken["cells"] += [first_code(broken)] * 3
    assert "more than two code cells in a row" in bad_cells(broken)


def test_many_words_are_noticed(broken):
    broken["cells"][1]["source"] = ["wait " * 3000]
    assert "not 1,500 to 2,500 words" in bad_cells(broken)


def test_tall_cells_are_noticed(broken):
    for cell in cells(broken, "code"):
        cell["source"] = ["x = 1\n"] * 6
    assert "the median cell has more than 3 lines" in bad_cells(broken)
    assert "under 80 % of the cells have at most 5 lines" in bad_cells(broken)


def test_a_missing_heading_is_noticed(broken):
    broken["cells"] = [c for c in broken["cells"] if not source(c).startswith("## Sources")]
    assert "headings differ from the template's" in bad_skeleton(broken, read(TEMPLATE))


def test_an_overview_that_differs_is_noticed(broken):
    overview = next(c for c in broken["cells"] if source(c).startswith("## Overview"))
    overview["source"] = ["## Overview\n\n1. Something else\n"]
    assert "the overview differs from the sections" in bad_skeleton(broken, read(TEMPLATE))


def test_a_promise_of_two_sentences_is_noticed(broken):
    broken["cells"][0]["source"] = ["# Title\n\nYou can say this. And that."]
    assert "the promise is not one sentence" in bad_skeleton(broken, read(TEMPLATE))


def test_outputs_missing_tags_and_twins_are_noticed(broken):
    first_code(broken)["outputs"] = [{"output_type": "stream", "name": "stdout", "text": "x"}]
    first_code(broken)["metadata"] = {}
    broken["cells"].append(deepcopy(cells(broken, "code")[1]))
    complaints = bad_upkeep(broken)
    assert "outputs are kept" in complaints
    assert "a code cell without a name among its tags" in complaints or "two cells of one name" in complaints
    assert "a cell without an id, or two of the same" in complaints


def test_a_prediction_without_a_guess_is_noticed(broken):
    first_code(broken)["source"] = ['predict("p50")']
    assert any("predictions without" in complaint for complaint in bad_upkeep(broken))


CALLS = (
    'run("bistander")', 'run("bystander", q=1)', 'explore("bystander", k=-1)', 'check("x", 1)',
    "decide(rate_per_s=-1)", "explore(decide, rate=1)",
)  # fmt: skip


@pytest.mark.parametrize("text", CALLS)
def test_calls_of_what_does_not_exist_are_noticed(broken, text):
    first_code(broken)["source"] = [text]
    assert len(bad_calls(broken)) == 1


def test_retyped_java_is_noticed(broken):
    broken["cells"][1]["source"] = ["```java\nreturn Mono.just(1);\n```"]
    assert len(bad_java(broken, java_snippets())) == 1


def test_an_unexplained_term_is_noticed(broken):
    broken["cells"][1]["source"] = [
        "A *flux capacitor* is needed. *Is it?* *In short:* yes, *a = b*, two *event loops*."
    ]
    assert bad_terms(broken, glossary_terms()) == ["flux capacitor"]
