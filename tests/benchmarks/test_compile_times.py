"""The programs whose compile time is measured are programs, and right ones."""

import pathlib
import sys

import numpy as np
import pytest

from s2s_ad import value_and_grad
from s2s_ad.check import central_differences

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "benchmarks"))
import compile_times

ARGUMENTS = 3.3, np.array([0.9, 0.4, -0.3])


@pytest.mark.parametrize("part", compile_times.PARTS)
def test_a_program_of_parts_and_its_gradient(part, tmp_path):
    lines = compile_times.PARTS[part][0](3)
    program = compile_times.made(compile_times.program_text(lines), tmp_path, 0)
    value, slope = value_and_grad(program)(*ARGUMENTS)
    np.testing.assert_allclose(value, program(*ARGUMENTS), rtol=1e-12)
    expected = central_differences(lambda x: program(x, ARGUMENTS[1]), ARGUMENTS[:1])
    np.testing.assert_allclose(slope, expected, rtol=1e-5, atol=1e-8)


def test_a_program_of_n_parts_grows_with_n():
    for write, n in compile_times.PARTS.values():
        assert len(write(n)) < len(write(2 * n)) <= 2 * len(write(n)) + 1


def test_each_mode_gives_a_text_and_its_time():
    case = next(iter(compile_times.corpus().values()))
    for mode in compile_times.MODES:
        text, seconds = compile_times.text_of(case, mode)
        assert "def " in text
        assert seconds > 0
