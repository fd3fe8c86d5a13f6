"""House rules for Python: short modules, short functions, docstrings, sorted `__all__`.

Each rule is a function that returns what it objects to; beside it stands a text that it must object to.
"""

import ast
from pathlib import Path
from statistics import median

import pytest

ROOT = Path(__file__).parents[2]
MODULES = sorted((ROOT / "labs" / "waitlab").rglob("*.py"))
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def name_of(path):
    return str(path.relative_to(ROOT / "labs"))


def functions(text):
    return [node for node in ast.walk(ast.parse(text)) if isinstance(node, FUNCTIONS)]


def length(node):
    return node.end_lineno - node.lineno + 1


def too_long(text):
    lines = len(text.splitlines())
    module = [f"a module of {lines} lines"] if lines > 250 else []
    return module + [f"{node.name} has {length(node)} lines" for node in functions(text) if length(node) > 40]


def undocumented(text):
    tree = ast.parse(text)
    public = [
        node
        for scope in [
            tree,
            *(n for n in tree.body if isinstance(n, ast.ClassDef) and not n.name.startswith("_")),
        ]
        for node in scope.body
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)) and not node.name.startswith("_")
    ]
    module = [] if ast.get_docstring(tree) else ["the module"]
    return module + [node.name for node in public if not ast.get_docstring(node)]


def unsorted(text):
    """`__all__` where it is not sorted: constants, then classes, then the rest; or names something twice."""
    tree = ast.parse(text)
    found = [
        ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__"
    ]
    return [names for names in found if names != sorted(names, key=rank) or len(set(names)) < len(names)]


def rank(name):
    return (0 if name.isupper() else 1 if name[0].isupper() else 2, name)


def unannotated(text):
    return [
        node.name
        for node in functions(text)
        if node.returns is None or any(a.annotation is None and a.arg not in ("self", "cls") for a in arguments(node))
    ]


def arguments(node):
    return [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]


@pytest.fixture(params=MODULES, ids=name_of)
def text(request):
    return request.param.read_text(encoding="utf-8")


def test_modules_and_functions_are_short(text):
    assert too_long(text) == []


def test_tests_are_short():
    texts = {path: path.read_text(encoding="utf-8") for path in sorted((ROOT / "tests").rglob("*.py"))}
    assert {path.name: found for path, text in texts.items() if (found := too_long(text))} == {}


def test_public_names_have_docstrings(text):
    assert undocumented(text) == []


def test_all_is_sorted(text):
    assert unsorted(text) == []


def test_everything_is_annotated(text):
    assert unannotated(text) == []


def test_the_median_function_is_under_ten_lines():
    lengths = [length(node) for path in MODULES for node in functions(path.read_text(encoding="utf-8"))]
    assert median(lengths) < 10


def test_the_package_offers_what_its_modules_have():
    import waitlab

    assert waitlab.__all__ == sorted(waitlab.__all__)
    assert all(callable(getattr(waitlab, name)) for name in waitlab.__all__)


def test_long_modules_and_functions_are_noticed():
    body = "\n".join(["    x = 1"] * 40)
    assert too_long(f"def long():\n{body}") == ["long has 41 lines"]
    assert too_long("x = 1\n" * 251) == ["a module of 251 lines"]


def test_missing_docstrings_are_noticed():
    assert undocumented("class A:\n    def told(self): pass\n    def _quiet(self): pass") == [
        "the module",
        "A",
        "told",
    ]


def test_an_unsorted_or_double_all_is_noticed():
    assert unsorted('__all__ = ["b", "a"]') and unsorted('__all__ = ["a", "a"]')
    assert not unsorted('__all__ = ["MOST", "Table", "a", "b"]')


def test_missing_annotations_are_noticed():
    assert unannotated("def f(x) -> int: ...\ndef g(x: int): ...\ndef h(self) -> None: ...") == ["f", "g"]
