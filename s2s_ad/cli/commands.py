"""The command line: dump, explain, show, check, cache and help."""

from __future__ import annotations

import argparse
import difflib
import linecache
import sys
import traceback
from collections.abc import Callable, Sequence
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from s2s_ad.api.function import Transformed
from s2s_ad.api.make import jit
from s2s_ad.api.pages import failed_page, page
from s2s_ad.api.shown import Shown
from s2s_ad.check import check
from s2s_ad.check.rows import (
    DOMAINS,
    check_row,
    coverage_row,
    function_at,
    numpy_path,
    row_text,
    table_of,
)
from s2s_ad.cli import caching, codes, like
from s2s_ad.cli.configured import ConfigurationError, configured_checks
from s2s_ad.cli.drift import difference
from s2s_ad.cli.serving import Job, serve
from s2s_ad.cli.target import TargetError, defined_in, evaluate, file_of, module_of
from s2s_ad.core.dump import Dump
from s2s_ad.core.passes import KNOWN, watched
from s2s_ad.core.text import program_text
from s2s_ad.diagnostics import Origin, S2SError
from s2s_ad.emit.namespaces import DIALECTS
from s2s_ad.load.disk_cache import DiskCache, default_folder
from s2s_ad.show.model import Page

USAGE, REFUSED = 2, 1
EPILOG = """\
LIKE describes the arguments: 'f64[3], f32[64,3], i64, float, {"W": f64[3]}, "mode", None'.
f16 f32 f64, c64 c128, i8 to i64, u8 to u64 and b are arrays (0-d without a shape); float, int,
bool and complex are Python numbers; tuples, lists, dicts and literals are what they look like.

  s2s-ad dump td0.py 'grad(td_loss)' --like 'f64[3], f64[3], f64, f64[3]'
  s2s-ad check td0.py 'vmap(grad(td_loss), in_axes=(None, 0, 0, 0))' \\
      --like 'f64[3], f64[64,3], f64[64], f64[64,3]'
"""


class UsageError(Exception):
    """The command was called in a way that it cannot follow."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns the status for the shell."""
    options = parser().parse_args(arguments)
    return _reported(options.run, options)


def _reported(run: Callable, options: argparse.Namespace) -> int:
    """The status of a command; what it raises is said."""
    try:
        return run(options)
    except (
        UsageError,
        TargetError,
        ConfigurationError,
        like.LikeError,
        codes.UnknownCode,
    ) as error:
        return _say(str(error), USAGE)
    except S2SError as error:
        return _say(str(error), REFUSED)
    except (Exception, SystemExit) as error:  # the user's module may raise anything
        return _say(_as_python_shows(error, options.target or ""), REFUSED)


def _as_python_shows(error: BaseException, target: str) -> str:
    """The end of a traceback, after the last line of the user's file that it passed."""
    file = str(Path(target).resolve())
    passed = [each for each in traceback.extract_tb(error.__traceback__) if each.filename == file]
    end = [*traceback.format_list(passed[-1:]), *traceback.format_exception_only(error)]
    return "".join(end).strip()


def _say(message: str, status: int) -> int:
    print(f"s2s-ad: {message}", file=sys.stderr)
    return status


def parser() -> argparse.ArgumentParser:
    """What the command line takes."""
    parser = argparse.ArgumentParser(
        prog="s2s-ad",
        description="Derivatives and batched forms of NumPy functions, as Python source.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"s2s_ad {version('s2s_ad')}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    dump = _command(commands, "dump", _dump, "print the source that is generated")
    dump.add_argument(
        "--standalone", action="store_true", help="write a module that needs NumPy alone"
    )
    dump.add_argument("--native", action="store_true", help="the loops that jit has Numba compile")
    dump.add_argument(
        "--core",
        action="store_true",
        help="the program in Core after the last pass, which text is written from",
    )
    dump.add_argument(
        "--facts", action="store_true", help="with --core: what is known of each value, too"
    )
    dump.add_argument(
        "--passes",
        metavar="NAME,...",
        nargs="?",
        const="",
        help="what passes of these names, or all, change in Core: before and after",
    )
    dump.add_argument(
        "--namespace",
        choices=[*DIALECTS],
        default="",
        help="write a module for arrays of another library, or of any that follows the standard",
    )
    file = dump.add_mutually_exclusive_group()
    file.add_argument("-o", "--output", metavar="FILE", type=Path, help="write into a file")
    file.add_argument(
        "--check",
        metavar="FILE",
        type=Path,
        help="write nothing: fail where the file is not what would be written",
    )
    explaining = _command(
        commands, "explain", _explain, "say what the backward pass keeps, and why"
    )
    explaining.add_argument(
        "--copies", action="store_true", help="say of each copy in the text why it is made, too"
    )
    explaining.add_argument(
        "--native", action="store_true", help="say of each line which native code it is in, too"
    )
    showing = _command(
        commands, "show", _show, "write a page with your code beside the generated code"
    )
    showing.add_argument(
        "-o", "--output", metavar="FILE", type=Path, help="the page; else the browser opens it"
    )
    showing.add_argument(
        "--time", action="store_true", help="call the functions, and show the time of each line"
    )
    showing.add_argument(
        "--port",
        type=int,
        metavar="N",
        help="serve the page, with an editor, to this machine alone",
    )
    showing.add_argument(
        "--watch", action="store_true", help="serve it, and follow the file while it is edited"
    )
    checking = _command(
        commands,
        "check",
        _check,
        "compare reverse and forward mode and central differences",
        configured=True,
    )
    checking.add_argument(
        "--config",
        metavar="FILE",
        type=Path,
        help="without TARGET: what lists the checks (pyproject.toml or setup.cfg of this folder)",
    )
    checking.add_argument("--seed", type=int, default=0, help="of the random inputs (0)")
    checking.add_argument("--tolerance", type=float, help="relative error that is still right")
    _cache_command(commands)
    _rule_command(commands)
    _help_command(commands)
    return parser


def _sentence(what: str) -> str:
    return f"{what[0].upper()}{what[1:]}."


def _cache_command(commands: Any) -> None:
    what = "list the native code that is kept on disk between processes"
    command = commands.add_parser("cache", help=what, description=_sentence(what))
    command.add_argument("--clear", action="store_true", help="remove all of it")
    command.set_defaults(run=_cache, target=None)


def _rule_command(commands: Any) -> None:
    what = "check a row of the table of elementwise functions before it is added"
    command = commands.add_parser("rule", help=what, description=_sentence(what))
    command.set_defaults(run=_rule, target="")
    command.add_argument("function", metavar="FUNCTION", help="np.cbrt, scipy.special.erf")
    command.add_argument(
        "texts",
        metavar="TEXT",
        nargs="+",
        help="for each operand what it adds to the adjoint: 'y_bar / (3 * y**2)'; - for nothing",
    )
    command.add_argument(
        "--domain", choices=[*DOMAINS], default="real", help="where it is defined and smooth (real)"
    )
    command.add_argument("--seed", type=int, default=0, help="of the random inputs (0)")


def _help_command(commands: Any) -> None:
    what = "explain the code of an error, as S2S207"
    command = commands.add_parser("help", help=what, description=_sentence(what))
    command.set_defaults(run=_help)
    command.add_argument("code", metavar="CODE", nargs="?", help="lists the codes where left out")


def _command(
    commands: Any, name: str, run: Callable, what: str, *, configured: bool = False
) -> argparse.ArgumentParser:
    """A command on an expression; if `configured`, one that may be left to a file."""
    command = commands.add_parser(
        name,
        help=what,
        description=_sentence(what),
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.set_defaults(run=run)
    nargs = "?" if configured else None
    command.add_argument(
        "target", metavar="TARGET", nargs=nargs, help="a .py file or a dotted module"
    )
    command.add_argument(
        "expression",
        metavar="EXPRESSION",
        nargs="?",
        help="gives the function: td_loss, 'grad(td_loss)'",
    )
    given = command.add_mutually_exclusive_group()
    given.add_argument("--like", metavar="LIKE", help="types and shapes of the arguments")
    given.add_argument("--args", metavar="EXPRESSION", help="the arguments, as a tuple")
    return command


# ---- the commands --------------------------------------------------------------------------------


def _dump(options: argparse.Namespace) -> int:
    fn, args = _function(options), _arguments(options, like.zeros)
    source = _dumped(fn, args, options)
    if options.check is not None:
        return _compared(source, options.check)
    if options.output is None:
        print(source, end="")
    else:
        options.output.write_text(source, encoding="utf-8")
    return 0


def _dumped(fn: Transformed, args: tuple, options: argparse.Namespace) -> str:
    """The text that the options ask for."""
    if options.passes is not None:
        return _passes(fn, args, options.passes)
    if options.core or options.facts:
        return program_text(fn.core(*args), facts=options.facts) + "\n"
    kinds = {"standalone": options.standalone, "native": options.native}
    return fn.source(*args, **kinds, namespace=options.namespace)


def _passes(fn: Transformed, args: tuple, names: str) -> str:
    """What the passes of these names, or all of them, change."""
    wanted = [each.strip() for each in names.split(",") if each.strip()]
    unknown = [each for each in wanted if each not in KNOWN]
    if unknown:
        raise UsageError(f"no pass is called {', '.join(unknown)}: {', '.join(KNOWN)}")
    texts: list[str] = []
    with watched(Dump(texts.append, wanted, KNOWN)):
        fn.core(*args)
    return "\n".join(texts)


def _compared(source: str, file: Path) -> int:
    """Print how a file differs from what would be written."""
    try:
        found = difference(file, source)
    except FileNotFoundError:
        return _say(f"there is no file {file}", REFUSED)
    print(found, end="")
    return REFUSED if found else 0


def _explain(options: argparse.Namespace) -> int:
    fn, args = _function(options), _arguments(options, like.zeros)
    print(fn.explain(*args, copies=options.copies, native=options.native))
    return 0


def _show(options: argparse.Namespace) -> int:
    if options.port is not None or options.watch:
        file = file_of(options.target)
        job = Job(file, options.expression, options.like or "", options.args, options.time)
        return serve(job, options.port or 0, watched=options.watch)
    if options.like is None and options.args is None:
        raise UsageError("show needs arguments: give --like or --args")
    made = Shown(page_of(options))
    path = made.open() if options.output is None else made.save(options.output)
    print(path)
    refused = made.page.shown.refused
    return 0 if refused is None else _say(str(refused), REFUSED)


def page_of(options: argparse.Namespace) -> Page:
    """The page of what the options name; what is wrong with them, or with the file, is on it."""
    told = {"title": options.expression, "like": options.like or ""}
    file = str(Path(options.target).resolve())
    rng = np.random.default_rng(0)
    try:
        fn = _function(options)
        fill = like.random(rng) if options.time else like.zeros
        return page(fn, _arguments(options, fill), {}, timed=options.time, **told)
    except S2SError as error:
        return failed_page(error, file=file, **told)
    except (Exception, SystemExit) as error:  # the user's module may raise anything
        return failed_page(_as_refusal(error, file), file=file, **told)


def _as_refusal(error: BaseException, file: str) -> S2SError:
    """What is wrong before there is a function, at the last of the user's lines that it passed."""
    if isinstance(error, UsageError | TargetError | like.LikeError):
        return S2SError("s2s-ad", str(error).replace("\n  ", "\n"))
    what = traceback.format_exception_only(error)[-1].strip()
    lines = [each for each in traceback.extract_tb(error.__traceback__) if each.filename == file]
    if isinstance(error, SyntaxError) and error.filename == file:
        line, column = error.lineno or 1, (error.offset or 1) - 1
        end = (error.end_offset or 0) - 1 if error.end_lineno == line else 0
    elif lines:
        line, column, end = lines[-1].lineno, lines[-1].colno or 0, lines[-1].end_colno or 0
    else:
        return S2SError("Python", what)
    text = linecache.getline(file, line).rstrip("\n")
    origin = Origin(file, line, column, max(end, column + 1), text, "<module>")
    return S2SError("Python", what, origin=origin)


def _check(options: argparse.Namespace) -> int:
    if options.target is None:
        return _check_configured(options.config)
    if options.expression is None or options.config is not None:
        raise UsageError("check needs TARGET and EXPRESSION, or --config alone")
    if options.like is None and options.args is None:
        raise UsageError("check needs arguments: give --like or --args")
    fill = like.random(np.random.default_rng(options.seed))
    fn, args = _function(options), _arguments(options, fill)
    subject = fn.fn if options.plain else fn
    report = check(subject, *args, seed=options.seed, tolerance=options.tolerance)
    print(report)
    return 0 if report.passed else REFUSED


def _rule(options: argparse.Namespace) -> int:
    texts = [None if each == "-" else each for each in options.texts]
    function = function_at(options.function)
    report = check_row(function, texts, domain=options.domain, seed=options.seed)
    print(report)
    if not report.passed:
        return REFUSED
    print(f"\n{table_of(options.function)}, in the order of the names:")
    print(f"  {row_text(options.function, texts, options.domain)}")
    print("tests/data/coverage.csv:")
    print(f"  {coverage_row(options.function, len(texts))}")
    print("then, for the page and the record of what the row does:")
    print(f"  python docs/make_rules.py --measure {numpy_path(options.function)}")
    return 0


def _help(options: argparse.Namespace) -> int:
    print(codes.page(options.code) if options.code else codes.overview(), end="")
    return 0


def _cache(options: argparse.Namespace) -> int:
    folder = default_folder()
    if folder is None:
        return _say("nothing is kept: S2S_AD_CACHE=0, or a user without a home", REFUSED)
    kept = DiskCache(folder)
    if kept.problem():
        return _say(f"{folder} is not used: {kept.problem()}", REFUSED)
    print(caching.cleared(kept) if options.clear else caching.listing(kept), end="")
    return 0


def _check_configured(file: Path | None) -> int:
    """All checks that a project lists, each whatever became of those before it."""
    rows = configured_checks(file)
    folder = Path() if file is None else file.parent
    modules: dict[str, ModuleType] = {}
    failed = []
    for row in rows:
        print(row)
        target = str(folder / row.target) if row.target.endswith(".py") else row.target
        options = argparse.Namespace(**asdict(row) | {"target": target, "config": None})
        options.module = modules.get(target)
        status = _reported(_check, options)
        modules[target] = options.module
        failed += [row] if status else []
        print()
    print(f"{len(rows) - len(failed)} of {len(rows)} passed")
    return REFUSED if failed else 0


def _function(options: argparse.Namespace) -> Transformed:
    file, _, name = options.target.partition(".py:")
    if options.expression is None or name:
        given = options.expression or f"grad({name or 'f'})"
        raise UsageError(
            f"give the file and the expression apart: {file}{'.py' if name else ''} '{given}'"
        )
    if getattr(options, "module", None) is None:
        options.module = module_of(options.target)
    value = _evaluated(options.expression, options, "expression")
    if not callable(value):
        kind = type(value).__name__
        raise UsageError(f"EXPRESSION has to give a function, and {options.expression} is a {kind}")
    options.plain = not isinstance(value, Transformed)
    return jit(value) if options.plain else value


def _evaluated(text: str, options: argparse.Namespace, label: str) -> Any:
    try:
        return evaluate(text, options.module, label)
    except SyntaxError as error:
        raise UsageError(f"{label} {text!r}: {error.msg}") from None
    except NameError as error:
        defined = defined_in(options.module)
        close = difflib.get_close_matches(str(error.name), defined, 1)
        meant = f"did you mean {close[0]!r}?" if close else f"it has {', '.join(defined[:20])}"
        if error.name not in vars(options.module) and defined:
            error.add_note(f"{options.target}: {meant}")
        raise


def _arguments(options: argparse.Namespace, fill: like.Fill) -> tuple:
    """Those of --args, or what `fill` makes of --like."""
    if options.args is not None:
        args = _evaluated(options.args, options, "args")
        return args if isinstance(args, tuple) else (args,)
    return like.parse(options.like or "", fill)
