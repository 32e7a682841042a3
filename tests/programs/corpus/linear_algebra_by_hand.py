"""Linear algebra as a textbook writes it: loops over rows and columns, in place."""

import math

import numpy as np

from programs.case import Case


def log_determinant_by_lu(A):
    A = A.copy()
    n = len(A)
    for k in range(n):
        for i in range(k + 1, n):
            A[i, k] /= A[k, k]
            A[i, k + 1 :] -= A[i, k] * A[k, k + 1 :]
    return sum(np.log(A[i, i]) for i in range(n))


def cholesky_by_hand(A, b):
    n = A.shape[0]
    L = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            s = A[i, j] - np.dot(L[i, :j], L[j, :j])
            if i == j:
                L[i, j] = math.sqrt(s)
            else:
                L[i, j] = s / L[j, j]
    y = np.zeros(n)
    for i in range(n):
        y[i] = (b[i] - L[i, :i] @ y[:i]) / L[i, i]
    return y @ y


def gram_schmidt(A):
    m, n = A.shape
    Q = np.zeros((m, n))
    R = np.zeros((n, n))
    for j in range(n):
        v = A[:, j].copy()
        for i in range(j):
            R[i, j] = Q[:, i] @ v
            v -= R[i, j] * Q[:, i]
        R[j, j] = np.linalg.norm(v)
        Q[:, j] = v / R[j, j]
    return np.sum(R) + Q[0, -1]


def householder_least_squares(A, b):
    R, y = A.copy(), b.copy()
    n = R.shape[1]
    for k in range(n):
        column = R[k:, k]
        v = column.copy()
        v[0] += np.copysign(1.0, column[0]) * np.sqrt(column @ column)
        v = v / np.sqrt(v @ v)
        R[k:, k:] -= 2 * np.outer(v, v @ R[k:, k:])
        y[k:] -= 2 * v * (v @ y[k:])
    x = np.zeros(n)
    for i in reversed(range(n)):
        x[i] = (y[i] - R[i, i + 1 :] @ x[i + 1 :]) / R[i, i]
    return x


def thomas(lower, diagonal, upper, rhs):
    n = len(rhs)
    c, d = upper.copy(), rhs.copy()
    c[0] = c[0] / diagonal[0]
    d[0] = d[0] / diagonal[0]
    for i in range(1, n):
        m = diagonal[i] - lower[i - 1] * c[i - 1]
        if i < n - 1:
            c[i] /= m
        d[i] = (d[i] - lower[i - 1] * d[i - 1]) / m
    x = d
    for i in range(n - 2, -1, -1):
        x[i] -= c[i] * x[i + 1]
    return np.sum(x**2)


def solve_with_pivoting(A, b):
    """Gaussian elimination; rows are exchanged in place."""
    n = len(b)
    M = np.hstack([A, b[:, None]])
    for k in range(n):
        pivot = k + np.argmax(np.abs(M[k:, k]))
        if pivot != k:
            M[[k, pivot]] = M[[pivot, k]]
        for i in range(k + 1, n):
            factor = M[i, k] / M[k, k]
            M[i, k:] -= factor * M[k, k:]
    x = np.zeros(n)
    for i in range(n - 1, -1, -1):
        x[i] = M[i, -1]
        for j in range(i + 1, n):
            x[i] -= M[i, j] * x[j]
        x[i] /= M[i, i]
    return x[0] * x[1] + x[2]


def power_iteration(A, start):
    v = start / np.linalg.norm(start)
    eigenvalue = 0.0
    for _ in range(60):
        w = A @ v
        v = w / np.linalg.norm(w)
        previous, eigenvalue = eigenvalue, v @ A @ v
        if abs(eigenvalue - previous) < 1e-14:
            break
    return eigenvalue


def jacobi_iteration(A, b):
    x = np.zeros_like(b)
    diagonal = np.diag(A)
    rest = A - np.diag(diagonal)
    change, passes = 1.0, 0
    while change > 1e-11 and passes < 100:
        x_new = (b - rest @ x) / diagonal
        change = np.max(np.abs(x_new - x))
        x = x_new
        passes += 1
    return x.sum()


def gauss_seidel(A, b, relaxation):
    x = np.zeros(len(b))
    for _ in range(5):
        for i in range(len(b)):
            sigma = 0.0
            for j in range(len(b)):
                if j != i:
                    sigma += A[i, j] * x[j]
            x[i] += relaxation * ((b[i] - sigma) / A[i, i] - x[i])
    return x @ b


def jacobi_eigenvalues(A):
    """Rotations in planes, on a copy that becomes diagonal."""
    A = A.copy()
    n = A.shape[0]
    for _ in range(3):
        for p in range(n - 1):
            for q in range(p + 1, n):
                if abs(A[p, q]) < 1e-15:
                    continue
                theta = 0.5 * np.arctan2(2 * A[p, q], A[q, q] - A[p, p])
                c, s = np.cos(theta), np.sin(theta)
                row_p, row_q = A[p].copy(), A[q].copy()
                A[p], A[q] = c * row_p - s * row_q, s * row_p + c * row_q
                column_p, column_q = A[:, p].copy(), A[:, q].copy()
                A[:, p] = c * column_p - s * column_q
                A[:, q] = s * column_p + c * column_q
    return np.sum(np.exp(np.diag(A)))


def matrix_exponential(A, t):
    """Scaling, a Taylor series until its terms are small, squaring."""
    M = A * t
    squarings = 0
    while np.max(np.sum(np.abs(M), axis=1)) > 0.5:
        M = M / 2
        squarings += 1
    term = np.eye(len(A))
    result = term
    for k in range(1, 30):
        term = term @ M / k
        result = result + term
        if np.max(np.abs(term)) < 1e-17:
            break
    for _ in range(squarings):
        result = result @ result
    return np.trace(result)


def gauss_jordan_inverse(A):
    n = len(A)
    M = np.concatenate([A, np.eye(n)], axis=1)
    for k in range(n):
        M[k] /= M[k, k]
        for i in range(n):
            if i == k:
                continue
            M[i] -= M[i, k] * M[k]
    inverse = M[:, n:]
    return np.sum(inverse * np.arange(1.0, n * n + 1).reshape(n, n))


def determinant_by_minors(A):
    if A.shape == (1, 1):
        return A[0, 0]
    total = 0.0
    sign = 1
    for j in range(A.shape[1]):
        minor = np.concatenate([A[1:, :j], A[1:, j + 1 :]], axis=1)
        total += sign * A[0, j] * determinant_by_minors(minor)
        sign = -sign
    return total


def givens_rotations(A):
    R = A.copy()
    m, n = R.shape
    for j in range(n):
        for i in range(m - 1, j, -1):
            a, b = R[i - 1, j], R[i, j]
            r = np.hypot(a, b)
            G = np.array([[a / r, b / r], [-b / r, a / r]])
            R[i - 1 : i + 1] = G @ R[i - 1 : i + 1]
    return R[0, 0] + np.sum(np.abs(R[1, 1:]))


def strassen(A, B):
    n = A.shape[0]
    if n <= 1:
        return A * B
    h = n // 2
    a, b, c, d = A[:h, :h], A[:h, h:], A[h:, :h], A[h:, h:]
    e, f, g, k = B[:h, :h], B[:h, h:], B[h:, :h], B[h:, h:]
    p1, p2 = strassen(a, f - k), strassen(a + b, k)
    p3, p4 = strassen(c + d, e), strassen(d, g - e)
    p5, p6, p7 = strassen(a + d, e + k), strassen(b - d, g + k), strassen(a - c, e + f)
    C = np.empty_like(A)
    C[:h, :h] = p5 + p4 - p2 + p6
    C[:h, h:] = p1 + p2
    C[h:, :h] = p3 + p4
    C[h:, h:] = p1 + p5 - p3 - p7
    return C


def strassen_trace(A, B):
    return np.trace(strassen(A, B)) + np.sum(strassen(A, B) ** 2)


def newton_schulz_root(A):
    scale = np.sqrt(np.sum(A * A))
    Y, Z = A / scale, np.eye(A.shape[0])
    for _ in range(12):
        T = 0.5 * (3.0 * np.eye(A.shape[0]) - Z @ Y)
        Y, Z = Y @ T, T @ Z
    return np.sum(Y) * np.sqrt(scale)


def lanczos(A, start):
    n = len(start)
    steps = 3
    Q = np.zeros((steps + 1, n))
    alphas, betas = [], [0.0]
    Q[0] = start / np.sqrt(start @ start)
    for k in range(steps):
        w = A @ Q[k]
        if k > 0:
            w -= betas[-1] * Q[k - 1]
        alpha = w @ Q[k]
        w -= alpha * Q[k]
        alphas.append(alpha)
        betas.append(np.linalg.norm(w))
        Q[k + 1] = w / betas[-1]
    T = np.diag(np.array(alphas))
    for k, beta in enumerate(betas[1:-1]):
        T[k, k + 1] = T[k + 1, k] = beta
    return np.linalg.det(T)


def characteristic_polynomial(A, x):
    """Faddeev-LeVerrier, then Horner."""
    n = len(A)
    coefficients = [1.0]
    M = np.zeros((n, n))
    for k in range(1, n + 1):
        M = A @ M + coefficients[-1] * np.eye(n)
        coefficients.append(-np.trace(A @ M) / k)
    value = 0.0
    for c in coefficients:
        value = value * x + c
    return value


def continued_fraction(terms, x):
    value = terms[-1]
    for k in range(len(terms) - 2, -1, -1):
        value = terms[k] + x / value
    return value


def kronecker_sum(A, B):
    p, q = len(A), len(B)
    K = np.zeros((p * q, p * q))
    for i in range(p):
        for j in range(p):
            K[i * q : (i + 1) * q, j * q : (j + 1) * q] += A[i, j] * np.eye(q)
        K[i * q : (i + 1) * q, i * q : (i + 1) * q] += B
    return np.log(np.linalg.det(K))


SYMMETRIC = np.array([[4.0, 1.0, -0.5], [1.0, 3.0, 0.7], [-0.5, 0.7, 2.5]])
GENERAL = np.array([[0.4, 1.5, -0.3], [2.0, 0.3, 0.8], [-0.7, 0.9, 1.6]])
TALL = np.array([[1.0, 0.4, -0.2], [0.3, -1.2, 0.8], [0.9, 0.5, 1.1], [-0.6, 0.7, 0.2]])
VECTOR = np.array([0.7, -1.1, 0.4])

CASES = [
    Case(log_determinant_by_lu, (SYMMETRIC,), complex_step=True),
    Case(cholesky_by_hand, (SYMMETRIC, VECTOR), wrt=(0, 1)),
    Case(gram_schmidt, (TALL,)),
    Case(householder_least_squares, (TALL, np.array([0.4, 1.0, -0.3, 0.8])), wrt=(0, 1)),
    Case(
        thomas,
        (
            np.array([0.5, -0.3, 0.8]),
            np.array([2.0, 2.5, 3.0, 2.2]),
            np.array([0.4, 0.9, -0.6]),
            np.array([1.0, 0.2, -0.7, 0.5]),
        ),
        wrt=(0, 1, 2, 3),
    ),
    Case(solve_with_pivoting, (GENERAL, VECTOR), wrt=(0, 1)),
    Case(power_iteration, (SYMMETRIC, np.ones(3)), tolerance=1e-5),
    Case(jacobi_iteration, (SYMMETRIC, VECTOR), wrt=(0, 1), complex_step=True),
    Case(gauss_seidel, (SYMMETRIC, VECTOR, 1.1), wrt=(0, 1, 2)),
    Case(jacobi_eigenvalues, (SYMMETRIC,)),
    Case(matrix_exponential, (GENERAL, 0.4), wrt=(0, 1), complex_step=True),
    Case(gauss_jordan_inverse, (SYMMETRIC,), complex_step=True),
    Case(determinant_by_minors, (GENERAL,), complex_step=True),
    Case(givens_rotations, (TALL,)),
    Case(
        strassen_trace,
        (np.array([[1.0, 0.3], [-0.6, 0.8]]), np.array([[0.2, 1.1], [0.9, -0.4]])),
        wrt=(0, 1),
    ),
    Case(newton_schulz_root, (SYMMETRIC,), complex_step=True),
    Case(
        lanczos, (np.diag([1.0, 2.0, 4.0, 0.5]) + 0.3, np.array([1.0, 0.5, -0.7, 0.9])), wrt=(0, 1)
    ),
    Case(characteristic_polynomial, (GENERAL, 0.9), wrt=(0, 1), complex_step=True),
    Case(continued_fraction, (np.array([1.0, 2.0, 1.5, 3.0]), 0.8), wrt=(0, 1), complex_step=True),
    Case(kronecker_sum, (SYMMETRIC, np.array([[1.0, 0.2], [-0.3, 2.0]])), wrt=(0, 1)),
]
