"""The arguments of each kernel, large and small, and which of them count."""

import itertools

import kernel_programs as programs
import numpy as np


def _fields(rng, *shapes):
    return tuple(rng.uniform(0.1, 1.0, shape) for shape in shapes)


def _definite(rng, n):
    """A well-conditioned symmetric matrix, dominated by its diagonal."""
    A = rng.uniform(0.1, 1.0, (n, n))
    return A @ A.T / n + 2.0 * np.eye(n)


def _sparse(rng, n, per_row):
    indptr = np.arange(0, n * per_row + 1, per_row)
    indices = np.concatenate([np.sort(rng.permutation(n)[:per_row]) for _ in range(n)])
    return indptr, indices, *_fields(rng, n * per_row, n)


def _network(rng, batch, sizes):
    weights = []
    for a, b in itertools.pairwise(sizes):
        weights += [rng.standard_normal((a, b)) / np.sqrt(a), 0.1 * rng.standard_normal(b)]
    return rng.standard_normal((batch, sizes[0])), *weights


def _block(rng, batch, size, channels, k):
    weights = (0.3 * rng.standard_normal((k, k, channels, channels)) for _ in range(2))
    return rng.standard_normal((batch, size, size, channels)), *weights


def _bodies(rng, n, steps):
    pos, vel = rng.standard_normal((2, n, 3))
    return rng.uniform(0.5, 1.5, n) / n, pos, vel, steps, 0.01, 0.1


def _angles(rng, n):
    return tuple(rng.uniform(low, low + 1.0, n) for low in (0.1, 0.2, 1.3, 1.5))


# kernel: (positions of the arguments that count, arguments of a size: 0 small, 1 large)
ARGUMENTS = {
    programs.jacobi_1d: ((0, 1), lambda r, s: (*_fields(r, *2 * [(8, 4000)[s]]), (3, 50)[s])),
    programs.jacobi_2d: ((0, 1), lambda r, s: (*_fields(r, *2 * [2 * [(6, 150)[s]]]), (2, 20)[s])),
    programs.heat_3d: ((0,), lambda r, s: (*_fields(r, 3 * [(5, 25)[s]]), (2, 20)[s])),
    programs.seidel_2d: ((0,), lambda r, s: (*_fields(r, 2 * [(5, 40)[s]]), (2, 4)[s])),
    programs.fdtd_2d: (
        (0, 1, 2, 3),
        lambda r, s: _fields(r, *3 * [((5, 6), (100, 120))[s]], (3, 20)[s]),
    ),
    programs.adi: ((0,), lambda r, s: (*_fields(r, 2 * [(6, 100)[s]]), (2, 5)[s])),
    programs.burgers: (
        (0, 1),
        lambda r, s: (*_fields(r, *2 * [2 * [(6, 80)[s]]]), (2, 20)[s], 0.01, 0.5, 0.1),
    ),
    programs.horizontal_diffusion: (
        (0, 1),
        lambda r, s: _fields(r, ((7, 8, 2), (64, 64, 30))[s], ((3, 4, 2), (60, 60, 30))[s]),
    ),
    programs.advection: (
        (0, 1),
        lambda r, s: (
            r.standard_normal((7, 4000)[s]),
            r.standard_normal((7, 4000)[s]),
            (3, 50)[s],
            0.1,
        ),
    ),
    programs.cholesky: ((0,), lambda r, s: (_definite(r, (5, 50)[s]),)),
    programs.lu: ((0,), lambda r, s: (_definite(r, (5, 50)[s]),)),
    programs.lu_solve: ((0, 1), lambda r, s: (_definite(r, (5, 50)[s]), *_fields(r, (5, 50)[s]))),
    programs.triangular_solve: (
        (0, 2),
        lambda r, s: (_definite(r, (5, 400)[s]), *_fields(r, *2 * [(5, 400)[s]])),
    ),
    programs.gram_schmidt: ((0,), lambda r, s: (r.standard_normal(((6, 4), (80, 50))[s]),)),
    programs.durbin: (
        (0,),
        lambda r, s: (0.3 * r.standard_normal((6, 400)[s]) / (6, 400)[s] ** 0.5,),
    ),
    programs.thomas: (
        (0, 1, 2, 3),
        lambda r, s: (
            *_fields(r, ((5, 3), (100, 200))[s]),
            2.0 + r.uniform(0, 1, ((6, 3), (101, 200))[s]),
            *_fields(r, ((5, 3), (100, 200))[s], ((6, 3), (101, 200))[s]),
        ),
    ),
    programs.conjugate_gradient: (
        (0, 1),
        lambda r, s: (_definite(r, (5, 100)[s]), *_fields(r, (5, 100)[s]), (3, 10)[s]),
    ),
    programs.gemm: (
        (2, 3, 4),
        lambda r, s: (
            1.5,
            1.2,
            *_fields(r, *(((3, 4), (3, 5), (5, 4)), ((150, 120), (150, 110), (110, 120)))[s]),
        ),
    ),
    programs.k2mm: (
        (2, 3, 4, 5),
        lambda r, s: (
            1.5,
            1.2,
            *_fields(
                r,
                *(
                    ((3, 4), (4, 5), (5, 2), (3, 2)),
                    ((120, 130), (130, 140), (140, 110), (120, 110)),
                )[s],
            ),
        ),
    ),
    programs.k3mm: (
        (0, 1, 2, 3),
        lambda r, s: _fields(
            r,
            *(((3, 4), (4, 5), (5, 2), (2, 3)), ((120, 130), (130, 140), (140, 110), (110, 100)))[
                s
            ],
        ),
    ),
    programs.atax: ((0, 1), lambda r, s: _fields(r, *(((4, 5), 5), ((300, 350), 350))[s])),
    programs.bicg: (
        (0, 1, 2),
        lambda r, s: _fields(r, *(((4, 5), 5, 4), ((300, 350), 350, 300))[s]),
    ),
    programs.mvt: (
        (0, 1, 2, 3, 4),
        lambda r, s: _fields(r, *4 * [(4, 300)[s]], 2 * [(4, 300)[s]]),
    ),
    programs.gemver: (
        (2, 3, 4, 5, 6, 7, 8, 9, 10),
        lambda r, s: (1.5, 1.2, *_fields(r, 2 * [(4, 300)[s]], *8 * [(4, 300)[s]])),
    ),
    programs.gesummv: (
        (2, 3, 4),
        lambda r, s: (1.5, 1.2, *_fields(r, *2 * [2 * [(4, 300)[s]]], (4, 300)[s])),
    ),
    programs.syrk: (
        (2, 3),
        lambda r, s: (1.5, 1.2, *_fields(r, *(((5, 5), (5, 3)), ((60, 60), (60, 50)))[s])),
    ),
    programs.syr2k: (
        (2, 3, 4),
        lambda r, s: (
            1.5,
            1.2,
            *_fields(r, *(((5, 5), *2 * [(5, 3)]), ((60, 60), *2 * [(60, 50)]))[s]),
        ),
    ),
    programs.trmm: (
        (1, 2),
        lambda r, s: (1.5, *_fields(r, *(((4, 4), (4, 3)), ((60, 60), (60, 50)))[s])),
    ),
    programs.symm: (
        (2, 3, 4),
        lambda r, s: (
            1.5,
            1.2,
            *_fields(r, *(((4, 3), (4, 4), (4, 3)), ((50, 40), (50, 50), (50, 40)))[s]),
        ),
    ),
    programs.doitgen: (
        (0, 1),
        lambda r, s: _fields(r, *(((2, 3, 4), (4, 4)), ((20, 25, 30), (30, 30)))[s]),
    ),
    programs.spmv: ((2, 3), lambda r, s: _sparse(r, *((5, 2), (500, 20))[s])),
    programs.covariance: ((0,), lambda r, s: _fields(r, ((6, 4), (300, 100))[s])),
    programs.correlation: ((0,), lambda r, s: _fields(r, ((6, 4), (300, 100))[s])),
    programs.deriche: ((1,), lambda r, s: (0.25, *_fields(r, ((4, 6), (150, 100))[s]))),
    programs.softmax: ((0, 1), lambda r, s: _fields(r, *2 * [((2, 2, 3, 4), (8, 8, 64, 64))[s]])),
    programs.mlp: (
        (1, 2, 3, 4, 5, 6),
        lambda r, s: _network(r, *((4, (3, 4, 3, 2)), (64, (100, 200, 100, 10)))[s]),
    ),
    programs.conv2d: (
        (0, 1, 2),
        lambda r, s: _fields(
            r, *(((2, 5, 4, 2), (2, 2, 2, 3), 3), ((8, 20, 20, 3), (5, 5, 3, 8), 8))[s]
        ),
    ),
    programs.residual_block: (
        (0, 1, 2),
        lambda r, s: _block(r, *((3, 4, 2, 3), (8, 14, 16, 3))[s]),
    ),
    programs.nbody: ((0, 1, 2), lambda r, s: _bodies(r, *((4, 2), (100, 10))[s])),
    programs.arc_distance: ((0, 1, 2, 3), lambda r, s: _angles(r, (4, 20000)[s])),
    programs.shortest_paths: ((0,), lambda r, s: _fields(r, 2 * [(5, 100)[s]])),
}
