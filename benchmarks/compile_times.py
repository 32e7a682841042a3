"""What compiling costs: `python benchmarks/compile_times.py [--every N] [--worst N]`.

Two tables: the programs of the corpus in each mode (median and worst, in seconds of the processor),
and programs that consist of n equal parts, at n and at 2n: the time may grow as the program does.
"""

from __future__ import annotations

import argparse
import copy
import gc
import importlib.util
import inspect
import math
import pathlib
import statistics
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from time import process_time
from typing import Any

import numpy as np
from timing import shown

from s2s_ad import S2SError, grad, jvp, vmap
from s2s_ad.api.function import Transformed
from s2s_ad.api.transform import Jvp
from s2s_ad.core import tree

sys.path.append(str(pathlib.Path(__file__).parent.parent / "tests"))

# ---- the corpus ----------------------------------------------------------------------------------


def corpus() -> dict[str, Any]:
    """The programs by name."""
    from programs.test_corpus import CASES

    return CASES


def of_moving(case: Any) -> Callable:
    """The program as a function of the arguments that it is differentiated by."""
    from programs.test_corpus import of_moving

    return of_moving(case)


def _stacked(values: tuple) -> Any:
    """Two samples of each array."""
    return tree.to_object(tree.from_object(values, lambda x, _: np.stack([np.asarray(x)] * 2)))


def _gradient(case: Any, moving: tuple) -> tuple:
    return grad(case.function, case.wrt), case.arguments


def _tangent(case: Any, moving: tuple) -> tuple:
    return Transformed(of_moving(case), Jvp(len(moving)), jvp.__name__), (*moving, *moving)


def _second(case: Any, moving: tuple) -> tuple:
    every = tuple(range(len(moving)))
    return grad(grad(of_moving(case), every), every), moving


def _batched(case: Any, moving: tuple) -> tuple:
    return vmap(grad(of_moving(case), tuple(range(len(moving))))), _stacked(moving)


MODES: dict[str, Callable] = {
    "grad": _gradient,
    "jvp": _tangent,
    "grad(grad)": _second,
    "vmap(grad)": _batched,
}


def text_of(case: Any, mode: str) -> tuple[str | None, float]:
    """(the generated text, or None where the program is refused; seconds)."""
    function, arguments = MODES[mode](case, tuple(case.arguments[i] for i in case.wrt))
    arguments = copy.deepcopy(arguments)
    gc.collect()
    start = process_time()
    try:
        text = function.source(*arguments)
    except S2SError:
        text = None
    return text, process_time() - start


# ---- programs of n parts -------------------------------------------------------------------------


def statements(n: int) -> list[str]:
    return [f"x = np.sin(x) * {i}.5 + x" for i in range(n)]


def named_statements(n: int) -> list[str]:
    return [*(f"x{i + 1} = np.sin(x{i}) * {i}.5 + x{i}" for i in range(n)), f"x = x{n}"]


def array_statements(n: int) -> list[str]:
    return [*(f"a = np.sin(a) * {i}.5 + a" for i in range(n)), "x = x + np.sum(a)"]


def updates(n: int) -> list[str]:
    return [f"a += np.sin(a) * {i}.5" for i in range(n)]


def several_at_once(n: int) -> list[str]:
    return ["y = x", *(f"x, y = y * {i}.5, np.sin(x) + y" for i in range(n)), "x = x + y"]


def terms(n: int) -> list[str]:
    """One expression."""
    return ["x = (x", *(f"    + np.sin(x * {i}.5)" for i in range(n)), ")"]


def stores(n: int) -> list[str]:
    return [f"a[{i % 3}] = a[{(i + 1) % 3}] * x" for i in range(n)]


def branches(n: int) -> list[str]:
    return [line for i in range(n) for line in (f"if x > {i}:", "    x = x * np.sin(x)")]


def nested_branches(n: int) -> list[str]:
    return _nested([[f"if x > {i}:", "    x = x * np.sin(x)"] for i in range(n)])


def returns(n: int) -> list[str]:
    return [line for i in range(n) for line in (f"if x > {n - i}.5:", f"    return x * {i}.5")]


def early_returns(n: int) -> list[str]:
    parts = ([f"if x > {i}.5:", f"    return x * {i}.5", "x = np.sin(x) + x"] for i in range(n))
    return [line for part in parts for line in part]


def nested_returns(n: int) -> list[str]:
    after = [f"{'    ' * i}return x * {i}.5" for i in range(n, 0, -1)]
    return [*_nested([[f"if x > {i}.5:"] for i in range(n)]), *after]


def loops(n: int) -> list[str]:
    parts = (["for i in range(3):", f"    x = x * np.sin(x) + {i}"] for i in range(n))
    return [line for part in parts for line in part]


def nested_loops(n: int) -> list[str]:
    return _nested([[f"for i{i} in range(2):", f"    x = np.sin(x) + {i}"] for i in range(n)])


def in_a_loop(lines: list[str]) -> list[str]:
    return ["for _ in range(3):", *("    " + line for line in lines)]


def carried(n: int) -> list[str]:
    names = [f"c{i}" for i in range(n)]
    start = [f"{name} = x * {i}.5" for i, name in enumerate(names)]
    turn = [f"{a} = np.sin({b}) + {a}" for a, b in zip(names, [*names[1:], "x"], strict=True)]
    return [*start, *in_a_loop(turn), "x = " + " + ".join(names)]


def appended(n: int) -> list[str]:
    body = [f"values.append(np.sin(x) * {i}.5)" for i in range(n)]
    return ["values = []", *in_a_loop(body), "for v in values:", "    x = x + v"]


def _nested(parts: list[list[str]]) -> list[str]:
    """Each part inside the one before."""
    return ["    " * depth + line for depth, part in enumerate(parts) for line in part]


#: what a program consists of -> (its lines, how many parts to begin with)
PARTS: dict[str, tuple[Callable[[int], list[str]], int]] = {
    "statements": (statements, 100),
    "statements, each with a name": (named_statements, 100),
    "statements on arrays": (array_statements, 100),
    "updates of whole arrays": (updates, 100),
    "several values at once": (several_at_once, 100),
    "terms of one expression": (terms, 100),
    "stores": (stores, 50),
    "branches in a row": (branches, 32),
    "nested branches": (nested_branches, 8),
    "early returns in a row": (returns, 32),
    "early returns, statements between": (early_returns, 16),
    "nested early returns": (nested_returns, 8),
    "loops in a row": (loops, 16),
    "nested loops": (nested_loops, 3),
    "statements in a loop": (lambda n: in_a_loop(statements(n)), 50),
    "stores in a loop": (lambda n: in_a_loop(stores(n)), 16),
    "branches in a loop": (lambda n: in_a_loop(branches(n)), 16),
    "returns in a loop": (lambda n: in_a_loop(early_returns(n)), 8),
    "values that a loop carries": (carried, 16),
    "appended in a loop": (appended, 8),
}


def program_text(lines: list[str]) -> str:
    """A module with the function `program(x, a)` that consists of the lines."""
    body = ["a = a * 1.0", "x0 = x", *lines, "return x + a[0]"]
    return "import numpy as np\n\n\ndef program(x, a):\n    " + "\n    ".join(body) + "\n"


def made(text: str, folder: pathlib.Path, number: int) -> Callable:
    """The function of a module with this text."""
    path = folder / f"parts_{number}.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.program


def growth(part: str, mode: str, folder: pathlib.Path, rounds: int = 3) -> tuple[float, float]:
    """Median seconds for n parts and for twice as many, in turn."""
    write, n = PARTS[part]
    times: tuple[list, list] = ([], [])
    for turn in range(rounds):
        for mine, count in zip(times, (n, 2 * n), strict=True):
            function = made(program_text(write(count)), folder, turn)
            derived = {"grad": grad(function), "grad(grad)": grad(grad(function))}[mode]
            gc.collect()
            start = process_time()
            derived.source(0.3, np.ones(3))
            mine.append(process_time() - start)
    return statistics.median(times[0]), statistics.median(times[1])


# ---- tables --------------------------------------------------------------------------------------


def corpus_rows(every: int) -> Iterator[tuple[str, str, float]]:
    """(program, mode, seconds) of every program that is not refused."""
    cases = corpus()
    text_of(next(iter(cases.values())), "grad")  # what is paid once
    for name in list(cases)[::every]:
        for mode in MODES:
            text, seconds = text_of(cases[name], mode)
            if text is not None:
                yield name, mode, seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=inspect.getdoc(sys.modules[__name__]))
    parser.add_argument("--every", type=int, default=1, help="take each Nth program of the corpus")
    parser.add_argument("--worst", type=int, default=20, help="how many of the slowest are listed")
    parser.add_argument("--rounds", type=int, default=3, help="of the programs of n parts")
    options = parser.parse_args()
    warnings.simplefilter("ignore")

    print_corpus(options.every, options.worst)
    print_growth(options.rounds)


def print_corpus(every: int, worst: int) -> None:
    rows = list(corpus_rows(every))
    print("## Compiling the programs of the corpus\n")
    _head("mode", "median", "mean", "worst")
    for mode in MODES:
        times = [seconds for _, of, seconds in rows if of == mode]
        _row(mode, *map(shown, (statistics.median(times), statistics.mean(times), max(times))))
    print()
    _head("slowest", "mode", "time")
    for name, mode, seconds in sorted(rows, key=lambda row: -row[2])[:worst]:
        _row(name, mode, shown(seconds))


def print_growth(rounds: int) -> None:
    print("\n## Programs of n parts\n")
    _head("parts", "mode", "n", "time", "2n", "grows as n to the")
    with tempfile.TemporaryDirectory() as folder:
        for part, (_, n) in PARTS.items():
            for mode in ("grad", "grad(grad)"):
                short, long = growth(part, mode, pathlib.Path(folder), rounds)
                _row(
                    part, mode, str(n), shown(short), shown(long), f"{math.log2(long / short):.1f}"
                )


def _head(*cells: str) -> None:
    _row(*cells)
    _row(*("---" for _ in cells))


def _row(*cells: str) -> None:
    print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
