"""The layers of the package: what each may import, and what no module may load."""

import ast
import functools
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from configparser import ConfigParser
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = "s2s_ad"
PUBLIC = PACKAGE  # the layer of s2s_ad/__init__.py: the public names

PASS = {"analysis", "core", "diagnostics", "runtime", "simplify"}
COMPILER = PASS | {
    "emit",
    "frontend",
    "load",
    "native",
    "rules",
    "storage",
    "tensors",
    "transforms",
}
COMPILER |= {"versions"}

# A layer is a module or a package, here without the leading "s2s_ad.", with everything in it that
# is not a layer itself. Any part may refuse a program, so all may import diagnostics.
MAY_IMPORT = {
    "diagnostics": set(),
    "versions": set(),
    "runtime": {"runtime_stacks"},
    "runtime_stacks": set(),
    "tensors": {"diagnostics"},
    "core": {"diagnostics", "runtime", "tensors"},
    "rules": {"core", "diagnostics", "runtime", "versions"},
    "frontend": PASS - {"analysis", "simplify"} | {"rules", "tensors", "versions"},
    "analysis": {"core", "diagnostics", "runtime"},
    "simplify": PASS - {"simplify"},
    "transforms": PASS | {"storage"},
    "storage": PASS,
    "emit": {"analysis", "core", "diagnostics", "runtime", "storage"},
    "native": {"analysis", "core", "diagnostics", "emit", "rules", "runtime", "simplify"},
    "load": {"core", "diagnostics", "emit", "native", "runtime", "tensors"},
    "written": {"versions"},
    "show": {"diagnostics"},
    "api": COMPILER | {"show", "written"},
    "sparse": COMPILER | {"api"},
    "interop": COMPILER | {"api", "sparse"},
    "check": COMPILER | {"api"},
    "cli": COMPILER | {"api", "check", "show"},
    "pytest_plugin": {"check", "cli"},
    "__main__": {"cli"},
    PUBLIC: {"api", "check", "diagnostics", "tensors"},
    "ops": {PUBLIC, "diagnostics", "tensors"},
    "nn": {PUBLIC, "diagnostics", "ops", "tensors"},
    "amp": {PUBLIC, "diagnostics", "nn", "ops", "tensors"},
    "parallel": COMPILER | {PUBLIC, "api", "nn"},
    "common": {"nn"},
}

# Modules of the standard library that some supported Pythons lack: annotationlib came with 3.14.
LATER_STANDARD_MODULES = {"annotationlib"}

# Libraries that the package may use, but never loads before they are asked for.
OPTIONAL_LIBRARIES = ["autograd", "dask", "jax", "matplotlib", "numba", "scipy", "torch"]

# What needs an optional library is imported when a function of it is first met.
RULES_OF_OPTIONAL = {"s2s_ad.api.scipy_": "scipy", "s2s_ad.rules.scipy_": "scipy"}
RULES_OF_OPTIONAL |= {"s2s_ad.written.scipy_": "scipy", "s2s_ad.ops.special": "scipy"}
RULES_OF_OPTIONAL |= {"s2s_ad.parallel": "dask"}
RULES_OF_OPTIONAL |= {"s2s_ad.sparse.scipy_": "scipy"}
RULES_OF_OPTIONAL |= {"s2s_ad.sparse.scipy_": "scipy", "s2s_ad.pytest_plugin": "pytest"}
RULES_OF_OPTIONAL |= {"s2s_ad.interop.for_jax": "jax", "s2s_ad.interop.for_torch": "torch"}


# Helpers of generated code import SciPy where they run, and facts where they are asked for.
IMPORT_SCIPY_INSIDE = ["runtime", "runtime_stacks", "versions"]

# The one module that may ask for the number of a release, and one whose import depends on Python's.
ASK_FOR_RELEASES = {"s2s_ad.versions", "s2s_ad.frontend.signatures", "s2s_ad.load.native"}

# Folders whose files may stand in a circle: the walk over syntax, and ops, one space of names.
CIRCLES = ("s2s_ad.frontend.lower", "s2s_ad.ops")

# Imports inside functions that lead to what is above, with the reason; they make no circle.
LATE = {
    ("s2s_ad.core.program", "s2s_ad.core.text"): "str(program): text stands above all of Core",
    ("s2s_ad.api.function", "s2s_ad.api.pages"): "a view of a function is made by what shows them",
}


class Module(NamedTuple):
    """A module of the package: its dotted name, its file, and whether it is an __init__.py."""

    name: str
    path: Path
    is_package: bool


class Import(NamedTuple):
    """A module that an import statement names, and where."""

    target: str
    line: int


def find_modules() -> list[Module]:
    modules = []
    for path in sorted((ROOT / PACKAGE).rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        is_package = parts[-1] == "__init__"
        modules.append(Module(".".join(parts[:-1] if is_package else parts), path, is_package))
    return modules


def read(module: Module) -> str:
    return module.path.read_text(encoding="utf-8")


MODULES = find_modules()
NAMES = {module.name for module in MODULES}


def find_imports(
    source: str, name: str, is_package: bool, known: set[str] = NAMES
) -> Iterator[Import]:
    """Every import in the source, wherever it stands; `known` tells modules from other names."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(alias.name, node.lineno)
        elif isinstance(node, ast.ImportFrom):
            base = absolute_name(node, name, is_package)
            for alias in node.names:
                member = f"{base}.{alias.name}"
                yield Import(member if member in known else base, node.lineno)


def absolute_name(node: ast.ImportFrom, name: str, is_package: bool) -> str:
    """The module after `from`, its leading dots resolved."""
    if not node.level:
        return node.module
    parts = name.split(".")
    parts = parts[: len(parts) - node.level + is_package]
    return ".".join([*parts, node.module] if node.module else parts)


@functools.cache
def imports_of(module: Module) -> tuple[Import, ...]:
    return tuple(find_imports(read(module), module.name, module.is_package))


def imported_packages(module: Module) -> set[str]:
    """The top-level names of everything that a module imports."""
    return {target.partition(".")[0] for target, _ in imports_of(module)}


def layer_of(name: str) -> str | None:
    """The longest entry of the table that contains the module; None if there is none."""
    if name == PACKAGE:
        return PUBLIC
    inner = name.removeprefix(f"{PACKAGE}.")
    containing = [layer for layer in MAY_IMPORT if f"{inner}.".startswith(f"{layer}.")]
    return max(containing, key=len, default=None)


def is_ours(name: str) -> bool:
    return f"{name}.".startswith(f"{PACKAGE}.")


def find_violations(imports: Iterable[Import], module: Module) -> list[str]:
    """One message for each import that the module's layer does not allow."""
    layer = layer_of(module.name)
    allowed = MAY_IMPORT.get(layer, set()) | {layer}
    return [
        f"{module.path.relative_to(ROOT)}:{line}: imports {target}, "
        f"but {layer} may import only: {', '.join(sorted(allowed - {layer})) or 'nothing of ours'}"
        for target, line in imports
        if is_ours(target) and layer_of(target) not in allowed
    ]


def test_modules_import_only_layers_below_their_own():
    found = [each for module in MODULES for each in find_violations(imports_of(module), module)]
    assert not found, "\n" + "\n".join(found)


def test_every_module_is_in_a_layer_and_every_layer_exists():
    stray = [module.name for module in MODULES if layer_of(module.name) is None]
    assert not stray, f"modules in no layer of MAY_IMPORT: {stray}"
    existing = {layer_of(module.name) for module in MODULES}
    assert set(MAY_IMPORT) == existing


def test_layers_have_one_direction():
    order = list(TopologicalSorter(MAY_IMPORT).static_order())  # raises CycleError
    assert set(order) == set(MAY_IMPORT)


def circle(edges: dict[str, set[str]]) -> list[str]:
    """Names of which each leads to the next, from one back to itself; none if there are none."""
    try:
        TopologicalSorter(edges).prepare()
    except CycleError as error:
        return error.args[1]
    return []


def unit_of(name: str) -> str:
    """The file, or the folder that may have circles."""
    return next((each for each in CIRCLES if f"{name}.".startswith(f"{each}.")), name)


def test_files_stand_in_no_circle():
    """Imports inside functions and those for type checkers count, but for `LATE` ones."""
    edges: dict[str, set[str]] = {}
    for module in MODULES:
        known = edges.setdefault(unit_of(module.name), set())
        for target, _ in imports_of(module):
            late = (module.name, target) in LATE
            if target in NAMES and not late and unit_of(target) != unit_of(module.name):
                known.add(unit_of(target))
    assert circle(edges) == []


@pytest.mark.parametrize(
    "edges, expected",
    [
        ({"a": {"b"}, "b": {"c"}}, []),
        ({"a": {"b"}, "b": {"c"}, "c": {"b"}}, ["b", "c", "b"]),
    ],
)
def test_circles_are_found(edges, expected):
    assert circle(edges) in (expected, ["c", "b", "c"])


def test_late_imports_are_there():
    for name, target in LATE:
        (module,) = [each for each in MODULES if each.name == name]
        assert target in {each.target for each in imports_of(module)}


def library_of(module: Module) -> set[str]:
    """The optional library whose functions the rules in a module are of."""
    prefixes = RULES_OF_OPTIONAL.items()
    return {library for prefix, library in prefixes if module.name.startswith(prefix)}


@functools.cache
def declared_packages() -> frozenset[str]:
    """What the package requires, and what its two extras for users bring."""
    config = ConfigParser(interpolation=None)
    config.read(ROOT / "setup.cfg", encoding="utf-8")
    extras = config["options.extras_require"]
    requirements = (config["options"]["install_requires"], extras["native"], extras["parallel"])
    return frozenset(re.findall(r"^[\w-]+", "\n".join(requirements), re.MULTILINE))


def test_modules_import_only_declared_dependencies():
    standard = sys.stdlib_module_names | LATER_STANDARD_MODULES | {PACKAGE}
    strange = {}
    for module in MODULES:
        declared = declared_packages() | library_of(module)
        if module.name.removeprefix(f"{PACKAGE}.") in IMPORT_SCIPY_INSIDE:
            declared |= {"scipy"}
        strange[module.name] = imported_packages(module) - declared - standard
    assert not {name: each for name, each in strange.items() if each}


def test_releases_are_asked_for_in_one_place():
    asks = {
        module.name
        for module in MODULES
        if re.search(r"version_info|\w\.__version__", read(module))
    }
    assert asks == ASK_FOR_RELEASES


@pytest.mark.parametrize("name", IMPORT_SCIPY_INSIDE)
def test_scipy_is_imported_where_it_is_called(name):
    (runtime,) = [module for module in MODULES if layer_of(module.name) == name]
    allowed = sys.stdlib_module_names | {"numpy", "scipy", PACKAGE}
    assert imported_packages(runtime) <= allowed
    statements = ast.parse(runtime.path.read_text(encoding="utf-8")).body
    at_the_top = [each for each in statements if isinstance(each, ast.Import | ast.ImportFrom)]
    named = {ast.unparse(each).split()[1].partition(".")[0] for each in at_the_top}
    assert named - sys.stdlib_module_names <= {"numpy", PACKAGE}


@pytest.mark.parametrize(
    "source, name, is_package, expected",
    [
        ("import s2s_ad.emit.layout", "s2s_ad.core.form", False, ["s2s_ad.emit.layout"]),
        ("import numpy as np, s2s_ad", "s2s_ad.core.form", False, ["numpy", "s2s_ad"]),
        ("from s2s_ad.core import values", "s2s_ad.api", True, ["s2s_ad.core.values"]),
        ("from s2s_ad.core import Program", "s2s_ad.api", True, ["s2s_ad.core"]),
        ("from s2s_ad import core", "s2s_ad.api", True, ["s2s_ad.core"]),
        ("from . import values", "s2s_ad.core.form", False, ["s2s_ad.core.values"]),
        ("from . import values", "s2s_ad.core", True, ["s2s_ad.core.values"]),
        ("from .. import core", "s2s_ad.emit.layout", False, ["s2s_ad.core"]),
        ("from ..core.values import Array", "s2s_ad.emit", True, ["s2s_ad.core.values"]),
        ("def f():\n    import s2s_ad.core", "s2s_ad.api", True, ["s2s_ad.core"]),
        ("import numpy", "s2s_ad.api", True, ["numpy"]),
    ],
)
def test_imports_are_found_and_resolved(source, name, is_package, expected):
    known = {"s2s_ad", "s2s_ad.core", "s2s_ad.core.values"}
    found = find_imports(source, name, is_package, known)
    assert [target for target, _ in found] == expected


@pytest.mark.parametrize(
    "source, expected",
    [
        ("import numpy\nfrom s2s_ad.core import Program\nfrom s2s_ad.emit.layout import x", []),
        ("import numpy\n\ndef f():\n    from s2s_ad.api import grad", ["4: imports s2s_ad.api"]),
        (
            "import s2s_ad.rules.elementwise, s2s_ad.core.registry",
            ["1: imports s2s_ad.rules.elementwise"],
        ),
        (
            "import s2s_ad\nimport s2s_ad.nowhere",
            ["1: imports s2s_ad", "2: imports s2s_ad.nowhere"],
        ),
    ],
)
def test_violations_name_the_line_the_import_and_what_is_allowed(source, expected):
    module = Module("s2s_ad.emit.layout", ROOT / "s2s_ad" / "emit" / "layout.py", False)
    allowed = "analysis, core, diagnostics, runtime, storage"
    assert find_violations(find_imports(source, module.name, False), module) == [
        f"s2s_ad/emit/layout.py:{place}, but emit may import only: {allowed}" for place in expected
    ]


def test_importing_the_package_loads_no_optional_library(tmp_path):
    """Empty stand-ins for the libraries make an import succeed even where they are missing."""
    for library in OPTIONAL_LIBRARIES:
        (tmp_path / f"{library}.py").touch()
    own = [module for module in MODULES if not library_of(module)]
    imports = "\n".join(f"import {module.name}" for module in own)
    loaded = subprocess.run(
        [sys.executable, "-c", f"import sys\n{imports}\nprint(*sys.modules)"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    ).stdout.split()
    assert PACKAGE in loaded
    assert [library for library in OPTIONAL_LIBRARIES if library in loaded] == []


def test_what_is_computed_once_has_no_lock_that_a_fork_may_find_taken():
    """Until Python 3.12 all uses of a `functools.cached_property` share one lock."""
    uses = re.compile(r"@(functools\.)?cached_property")
    assert not [each.name for each in MODULES if uses.search(read(each))]
