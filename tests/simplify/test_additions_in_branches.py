"""What adds zeros on one path of a branch is done on the other path alone."""

from __future__ import annotations

import re

import numpy as np
import pytest

from s2s_ad import grad, vmap
from transforms.differences import differences

POINTS = np.array([[0.9, 0.2, 0.4], [0.1, 0.7, 0.3], [0.6, 0.5, 0.8]])


def rows(points):
    total = 0.0
    for p in points:
        if p[0] > 0.5:
            total += p[0] * p[1]
    return total


def one_of_two(points):
    total = 0.0
    for p in points:
        if p[0] > p[1]:
            total += p[0] ** 2 * p[2]
        else:
            total += np.sin(p[1])
    return total


def behind_a_distance(points):
    """The distance is computed on all paths, and counts on one."""
    total = 0.0
    for i in range(len(points)):
        for j in range(i):
            square = (points[i, 0] - points[j, 0]) ** 2 + (points[i, 1] - points[j, 1]) ** 2
            if square < 0.4:
                total += 1.0 / (0.1 + square)
    return total


def in_branches(points):
    total = 0.0
    for p in points:
        if p[0] > 0.3:
            if p[2] < 0.7:
                total += p[0] * p[1] * p[2]
        elif p[1] > 0.5:
            total += p[1] ** 3
    return total


def a_number_on_a_path(points):
    """What an inner branch gives is a number other than zero on one of its paths."""
    total = 0.0
    for p in points:
        if p[0] > 0.3:
            total += np.sum(points[0]) if p[2] < 0.7 else p[2]
        else:
            total += p[1]
    return total


FUNCTIONS = [a_number_on_a_path, rows, one_of_two, behind_a_distance, in_branches]


@pytest.mark.parametrize("fn", [rows, behind_a_distance, in_branches])
def test_no_path_adds_zeros(fn):
    _, backward = grad(fn).source(POINTS).split("points_bar = np.zeros_like(points)")
    assert not re.search(r"= (0\.0|np\.zeros)", backward), backward


@pytest.mark.thinned(2)
@pytest.mark.parametrize("fn", FUNCTIONS)
def test_gradients(fn):
    expected = differences(fn, POINTS)
    np.testing.assert_allclose(grad(fn)(POINTS), expected, atol=1e-7)
    batch = np.stack([POINTS, POINTS[::-1]])
    np.testing.assert_allclose(
        vmap(grad(fn))(batch)[1], differences(fn, POINTS[::-1].copy()), atol=1e-7
    )
    weights = np.cos(np.arange(9.0)).reshape(3, 3)
    second = grad(lambda points: np.sum(grad(fn)(points) * weights))(POINTS)
    expected = differences(lambda points: np.sum(grad(fn)(points) * weights), POINTS)
    np.testing.assert_allclose(second, expected, atol=1e-6)
