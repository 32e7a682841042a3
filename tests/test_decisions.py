"""Nothing is decided by a hint, a spelling, the code of an error or a list of functions.

What has to be known of a value is a fact of it, what has to be known of a function an attribute of
its rule. A table from functions to what is written for them, or to what handles them, is no list.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1] / "s2s_ad"
FOLDERS = ["simplify", "storage", "analysis", "transforms", "emit", "native", "frontend/lower"]

#: what a decision must not be made by: what something is called, or how an error is numbered
SPELLINGS = {"text", "name", "__name__", "__qualname__", "code", "doc"}
ASKED = {"startswith", "endswith", "removesuffix", "removeprefix"}
#: modules whose attributes are functions that user code calls, or that Core holds
LIBRARIES = {"np", "runtime", "operator", "math", "cmath", "builtins", "itertools", "functools"}

SPELLED = "only what the text is called depends on it"
LIBRARY = "a library, a dtype or a module that has the name by definition"
OF_PYTHON = "Python's own protocol: these functions have no rule that could say it"
BACKEND = "inside the handler of these very functions, of how they are written in loops"

ALLOWED = {
    "emit/namespaces.py": {
        "each.name == 'numpy'": LIBRARY,
    },
    "emit/rename.py": {"call.program.name.removesuffix('_forward')": SPELLED},
    "emit/updates.py": {
        "AUGMENTED": "the operators that Python has in place; true: a + b is b + a"
    },
    "transforms/batch/lockstep.py": {"hint.text.startswith('_')": SPELLED},
    "transforms/gradients.py": {"program.doc.startswith('gradient')": SPELLED},
    "native/batches.py": {"dtype.name == 'float64'": LIBRARY},
    "native/nodes.py": {"dtype.name not in ('bool', 'int64', 'float64', 'complex128')": LIBRARY},
    "native/writer.py": {"dtype.name == 'float64'": LIBRARY},
    "frontend/lower/builtin.py": {
        "operators": OF_PYTHON,
        "_NUMBERS": "the types of a NumPy number whose dtype is not known",
    },
    "frontend/lower/constants.py": {"MAKERS": OF_PYTHON},
    "frontend/lower/in_place.py": {
        "(np.add, np.subtract)": "the ufuncs that `index_add` stands for"
    },
    "frontend/lower/iteration.py": {"READ_IN_TURN": OF_PYTHON, "CHOOSE_ITEMS": OF_PYTHON},
    "frontend/lower/operators.py": {"OF_SETS": OF_PYTHON},
    "frontend/lower/outline.py": {"made.is_kept": "a field of the frame, no mark on a node"},
    "frontend/lower/stores.py": {
        "lowering.builder.hints[target.name].text.removeprefix('new_')": SPELLED
    },
}
#: folders whose tables of functions are how a backend writes them
TABLES_OF_A_BACKEND = {"native"}


def is_function(node: ast.AST) -> bool:
    """Whether it names something of a library: `np.sum`, `operator.add`."""
    if not isinstance(node, ast.Attribute):
        return False
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name) and node.id in LIBRARIES


def is_text(node: ast.AST) -> bool:
    """Whether it is a text, or a container of texts, the empty one apart: that is no name."""
    if isinstance(node, ast.Tuple | ast.Set | ast.List):
        return bool(node.elts) and all(map(is_text, node.elts))
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value != ""


def is_spelling(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and node.attr in SPELLINGS


def decisions(tree: ast.AST, *, tables: bool) -> Iterator[tuple[ast.AST, str]]:
    """Where something is decided by what it is called, or by a list; `tables` may be in it."""
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            if any(map(is_spelling, sides)) and any(map(is_text, sides)):
                yield node, ast.unparse(node)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr in ASKED and is_spelling(node.func.value):
                yield node, ast.unparse(node)
        elif isinstance(node, ast.Tuple | ast.Set | ast.List) and not tables:
            if sum(map(is_function, node.elts)) > 1 and not is_gone_through(node, parents):
                yield node, name_of(node, parents)
        elif isinstance(node, ast.Dict) and not tables:
            keys = [key for key in node.keys if key is not None and is_function(key)]
            flags = [
                isinstance(each, ast.Constant) and each.value in (True, False, None)
                for each in node.values
            ]
            if len(keys) > 1 and all(flags):
                yield node, name_of(node, parents)
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Attribute):
            target = node.targets[0]
            marks = target.attr.startswith("is_") and ast.unparse(target.value) != "self"
            if marks and not tables:
                yield node, ast.unparse(target)


def is_gone_through(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> bool:
    """Whether a list is what a `for` goes through, to register handlers, or is in a table."""
    parent = parents[node]
    if isinstance(parent, ast.Dict):
        return True  # an entry of a table
    return isinstance(parent, ast.For | ast.comprehension) and parent.iter is node


def name_of(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> str:
    """What a list is called, or else the list itself."""
    parent = parents[node]
    if isinstance(parent, ast.Assign):
        return ast.unparse(parent.targets[0])
    if isinstance(parent, ast.AugAssign | ast.AnnAssign):
        return ast.unparse(parent.target)
    return ast.unparse(node)


@functools.cache
def made_in(file: str) -> list[tuple[int, str]]:
    """(line, decision) for each that is made in a file."""
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    tables = any(file.startswith(f"{each}/") for each in TABLES_OF_A_BACKEND)
    return [(node.lineno, text) for node, text in decisions(tree, tables=tables)]


@pytest.mark.parametrize("folder", FOLDERS)
def test_nothing_is_decided_by_a_name_or_a_list(folder):
    files = [path.relative_to(ROOT).as_posix() for path in sorted((ROOT / folder).rglob("*.py"))]
    strange = [
        f"s2s_ad/{file}:{line}: {text}"
        for file in files
        for line, text in made_in(file)
        if text not in ALLOWED.get(file, {})
    ]
    assert not strange, (
        "ask a fact of the value or an attribute of the rule instead:\n" + "\n".join(strange)
    )


def test_what_is_allowed_is_there():
    for file, texts in ALLOWED.items():
        assert {*texts} <= {text for _, text in made_in(file)}, file


@pytest.mark.parametrize(
    "source, expected",
    [
        ("if hint.text in ('failed', 'stopped'): pass", ["hint.text in ('failed', 'stopped')"]),
        ("if error.code == 'S2S207': pass", ["error.code == 'S2S207'"]),
        ("rule.name.startswith('index_')", ["rule.name.startswith('index_')"]),
        ("KNOWN = (np.array, np.copy)", ["KNOWN"]),
        ("KNOWN += (np.array, np.copy)", ["KNOWN"]),
        ("function in {np.array, runtime.copied}", ["{np.array, runtime.copied}"]),
        ("KNOWN = {np.array: True, np.copy: False}", ["KNOWN"]),
        ("node.is_rest = True", ["node.is_rest"]),
        ("WRITTEN = {operator.add: '+', operator.sub: '-'}", []),
        ("for each in (np.array, np.copy): register(each)", []),
        ("if hint.text == other.text or not hint.text: pass", []),
        ("if function is np.copy or rule.copy: pass", []),
        ("self.is_rest = True", []),
    ],
)
def test_what_is_a_decision_by_name(source, expected):
    assert [text for _, text in decisions(ast.parse(source), tables=False)] == expected
