"""The checks that a project lists in its pyproject.toml or setup.cfg."""

from __future__ import annotations

import configparser
import tomllib
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

FILES = ("pyproject.toml", "setup.cfg")
SECTION = "s2s_ad:check"
EXAMPLE = """\
pyproject.toml:
  [[tool.s2s_ad.check]]
  target = "td0.py"
  expression = "grad(td_loss)"
  like = "f64[3], f64[3], f64, f64[3]"
setup.cfg:
  [s2s_ad:check]
  td0.py =
      grad(td_loss) | f64[3], f64[3], f64, f64[3]"""


class ConfigurationError(ValueError):
    """A file lists no checks, or lists them wrongly."""


@dataclass(frozen=True, slots=True)
class Configured:
    """One check: an expression in a module, and what describes the arguments.

    `like` and `args` are the options of the command: one of them is given.
    """

    target: str
    expression: str
    like: str | None = None
    args: str | None = None
    seed: int = 0
    tolerance: float | None = None

    def __str__(self) -> str:
        return f"{self.target} {self.expression}"


def configured_checks(file: Path | None) -> list[Configured]:
    """The checks of a file, by default of the first in this folder that lists some.

    Raises:
        ConfigurationError: there is none, or one is not as it has to be.
    """
    for each in (file,) if file is not None else map(Path, FILES):
        if not each.is_file():
            if file is not None:
                raise ConfigurationError(f"there is no file {file}")
            continue
        found = _of_toml(each) if each.suffix == ".toml" else _of_sections(each)
        if found:
            return found
    where = file or "this folder"
    raise ConfigurationError(
        f"{where} lists no checks: give TARGET and EXPRESSION, or list some\n{EXAMPLE}"
    )


def _of_toml(file: Path) -> list[Configured]:
    try:
        table: Any = tomllib.loads(file.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError(f"{file}: {error}") from None
    rows = table.get("tool", {}).get("s2s_ad", {}).get("check", [])
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise ConfigurationError(
            f"{file}: tool.s2s_ad.check has to be an array of tables\n{EXAMPLE}"
        )
    return [_checked(file, row) for row in rows]


def _checked(file: Path, row: dict[str, Any]) -> Configured:
    known = {each.name for each in fields(Configured)}
    if row.keys() - known or not {"target", "expression"} <= row.keys():
        wrong = ", ".join(sorted(row.keys() - known)) or "target or expression is missing"
        raise ConfigurationError(f"{file}: a check that is not one: {wrong}\n{EXAMPLE}")
    for name, value in row.items():
        kind = {"seed": int, "tolerance": float}.get(name, str)
        if type(value) is not kind:
            raise ConfigurationError(f"{file}: {name} = {value!r} is no {kind.__name__}")
    if ("like" in row) == ("args" in row):
        raise ConfigurationError(f"{file}: {row['expression']} needs like or args, one of them")
    return Configured(**row)


def _of_sections(file: Path) -> list[Configured]:
    """Of each target lines of an expression and, behind the last bar, what describes arguments."""
    parser = configparser.ConfigParser(delimiters=("=",), interpolation=None)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    try:
        parser.read(file, encoding="utf-8")
    except configparser.Error as error:
        raise ConfigurationError(f"{file}: {error}") from None
    if not parser.has_section(SECTION):
        return []
    found = []
    for target, lines in parser.items(SECTION):
        for line in filter(None, map(str.strip, lines.splitlines())):
            expression, bar, given = line.rpartition("|")
            if not bar:
                raise ConfigurationError(f"{file}: no arguments in {line!r}\n{EXAMPLE}")
            found.append(Configured(target, expression.strip(), like=given.strip()))
    return found
