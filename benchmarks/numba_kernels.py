"""The adjoints of kernel_programs.py as an expert writes them for Numba: explicit loops.

Each function has the arguments of its kernel and returns the adjoints of those that count, as in
kernel_adjoints.py; large products of matrices are BLAS. What a loop needs again stands in arrays of
known length, stencils are read instead of scattered, and sums may be added in any order.
"""

# ruff: noqa: E741  (lengths of axes are n, m, l)

import numpy as np
from numba import njit

expert = njit(error_model="numpy", fastmath={"contract", "reassoc"}, nogil=True)

# Stencils


@expert
def _spread_1d(out_bar, in_bar, part):
    n = len(out_bar)
    for i in range(1, n - 1):
        part[i] = 0.33333 * out_bar[i]
        out_bar[i] = 0.0
    for i in range(1, n - 1):
        in_bar[i] += part[i - 1] + part[i] + part[i + 1]
    in_bar[0] += part[1]
    in_bar[n - 1] += part[n - 2]


@expert
def jacobi_1d(A, B, steps):
    A_bar, B_bar, part = np.ones(len(A)), np.zeros(len(B)), np.zeros(len(A))
    for _ in range(steps):
        _spread_1d(A_bar, B_bar, part)
        _spread_1d(B_bar, A_bar, part)
    return A_bar, B_bar


@expert
def _spread_2d(out_bar, in_bar, part):
    n, m = out_bar.shape
    for i in range(1, n - 1):
        for j in range(1, m - 1):
            part[i, j] = 0.2 * out_bar[i, j]
            out_bar[i, j] = 0.0
    for j in range(1, m - 1):
        in_bar[0, j] += part[1, j]
        in_bar[n - 1, j] += part[n - 2, j]
    for i in range(1, n - 1):
        in_bar[i, 0] += part[i, 1]
        in_bar[i, m - 1] += part[i, m - 2]
        for j in range(1, m - 1):
            around = part[i, j - 1] + part[i, j + 1] + part[i - 1, j] + part[i + 1, j]
            in_bar[i, j] += part[i, j] + around


@expert
def jacobi_2d(A, B, steps):
    A_bar, B_bar, part = np.ones(A.shape), np.zeros(B.shape), np.zeros(A.shape)
    for _ in range(steps):
        _spread_2d(A_bar, B_bar, part)
        _spread_2d(B_bar, A_bar, part)
    return A_bar, B_bar


@expert
def heat_3d(A, steps):
    n, m, l = A.shape
    A, B = A.copy(), A.copy()
    for _ in range(steps):
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                for k in range(1, l - 1):
                    around = A[i + 1, j, k] + A[i - 1, j, k] + A[i, j + 1, k] + A[i, j - 1, k]
                    around += A[i, j, k + 1] + A[i, j, k - 1]
                    B[i, j, k] = 0.125 * around + 0.25 * A[i, j, k]
        A, B = B, A
    A_bar, part = 2.0 * A, np.zeros(A.shape)
    for _ in range(steps):
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                for k in range(1, l - 1):
                    part[i, j, k] = 0.125 * A_bar[i, j, k]
                    A_bar[i, j, k] *= 0.25
        for i in range(n):
            for j in range(m):
                for k in range(l):
                    around = 0.0
                    if i > 0:
                        around += part[i - 1, j, k]
                    if i < n - 1:
                        around += part[i + 1, j, k]
                    if j > 0:
                        around += part[i, j - 1, k]
                    if j < m - 1:
                        around += part[i, j + 1, k]
                    A_bar[i, j, k] += around
                for k in range(1, l):
                    A_bar[i, j, k] += part[i, j, k - 1]
                for k in range(l - 1):
                    A_bar[i, j, k] += part[i, j, k + 1]
    return A_bar


@expert
def seidel_2d(A, steps):
    A = A.copy()
    n = len(A)
    for _ in range(steps):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                A[i, j] += (
                    A[i - 1, j - 1]
                    + A[i - 1, j]
                    + A[i - 1, j + 1]
                    + A[i, j + 1]
                    + A[i + 1, j - 1]
                    + A[i + 1, j]
                    + A[i + 1, j + 1]
                )
            for j in range(1, n - 1):
                A[i, j] = (A[i, j] + A[i, j - 1]) / 9.0
    A_bar = 2.0 * A
    part = np.empty(n)
    for _ in range(steps):
        for i in range(n - 2, 0, -1):
            for j in range(n - 2, 0, -1):
                A_bar[i, j] /= 9.0
                A_bar[i, j - 1] += A_bar[i, j]
            for j in range(1, n - 1):
                part[j] = A_bar[i, j]
            for j in range(1, n - 1):
                A_bar[i - 1, j - 1] += part[j]
                A_bar[i + 1, j - 1] += part[j]
            for j in range(1, n - 1):
                A_bar[i - 1, j] += part[j]
                A_bar[i + 1, j] += part[j]
            for j in range(1, n - 1):
                A_bar[i - 1, j + 1] += part[j]
                A_bar[i, j + 1] += part[j]
                A_bar[i + 1, j + 1] += part[j]
    return A_bar


@expert
def fdtd_2d(ex, ey, hz, pulse):
    n, m = hz.shape
    ex_bar, ey_bar, hz_bar = np.zeros(ex.shape), np.zeros(ey.shape), np.ones(hz.shape)
    pulse_bar = np.zeros(len(pulse))
    for t in range(len(pulse) - 1, -1, -1):
        for i in range(n - 1):
            for j in range(m - 1):
                part = 0.7 * hz_bar[i, j]
                ex_bar[i, j] += part
                ey_bar[i, j] += part
                ey_bar[i + 1, j] -= part
            for j in range(m - 1):
                ex_bar[i, j + 1] -= 0.7 * hz_bar[i, j]
        for i in range(n):
            for j in range(1, m):
                hz_bar[i, j] -= 0.5 * ex_bar[i, j]
            for j in range(1, m):
                hz_bar[i, j - 1] += 0.5 * ex_bar[i, j]
        for i in range(1, n):
            for j in range(m):
                part = 0.5 * ey_bar[i, j]
                hz_bar[i, j] -= part
                hz_bar[i - 1, j] += part
        total = 0.0
        for j in range(m):
            total += ey_bar[0, j]
            ey_bar[0, j] = 0.0
        pulse_bar[t] = total
    return ex_bar, ey_bar, hz_bar, pulse_bar


@expert
def adi(u, steps):
    n = len(u)
    u = u.copy()
    v, q = np.empty((n, n)), np.empty((n, n))
    r = 1.0 / steps * (n - 1) ** 2
    a, b = -0.5 * r, 1.0 + r
    p = np.zeros(n)  # alike in all rows
    for j in range(1, n - 1):
        p[j] = -a / (a * p[j - 1] + b)
    for _ in range(steps):
        for i in range(1, n - 1):
            q[0, i] = 1.0
            v[n - 1, i] = 1.0
        for j in range(1, n - 1):  # q stands turned
            scale = 1.0 / (a * p[j - 1] + b)
            for i in range(1, n - 1):
                here = (1.0 + 2.0 * a) * u[j, i] - a * (u[j, i - 1] + u[j, i + 1])
                q[j, i] = (here - a * q[j - 1, i]) * scale
        for j in range(n - 2, 0, -1):
            for i in range(1, n - 1):
                v[j, i] = p[j] * v[j + 1, i] + q[j, i]
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                u[i, j] = v[j, i]
    u_bar = 2.0 * u
    v_bar, q_bar, part = np.zeros((n, n)), np.zeros((n, n)), np.zeros(n)
    for _ in range(steps):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                v_bar[i, j] = u_bar[j, i]
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                u_bar[i, j] = 0.0
        for j in range(1, n - 1):
            for i in range(1, n - 1):
                q_bar[j, i] = v_bar[j, i]
                v_bar[j + 1, i] += p[j] * v_bar[j, i]
        for j in range(n - 2, 0, -1):
            scale = 1.0 / (a * p[j - 1] + b)
            for i in range(1, n - 1):
                part[i] = q_bar[j, i] * scale
                q_bar[j - 1, i] -= a * part[i]
            for i in range(1, n - 1):
                around = part[i - 1] + part[i + 1]
                u_bar[j, i] += (1.0 + 2.0 * a) * part[i] - a * around
            u_bar[j, 0] -= a * part[1]
            u_bar[j, n - 1] -= a * part[n - 2]
    return u_bar


@expert
def burgers(u, v, steps, dt, h, nu):
    n, m = u.shape
    c, d = dt / h, nu * dt / h**2
    us, vs = np.empty((steps + 1, n, m)), np.empty((steps + 1, n, m))
    us[0], vs[0] = u, v
    for t in range(steps):
        us[t + 1], vs[t + 1] = us[t], vs[t]
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                here, there = us[t, i, j], vs[t, i, j]
                us[t + 1, i, j] = (
                    here
                    - c * here * (here - us[t, i, j - 1])
                    - c * there * (here - us[t, i - 1, j])
                    + d * (us[t, i, j + 1] + us[t, i, j - 1])
                    + d * (us[t, i + 1, j] + us[t, i - 1, j] - 4 * here)
                )
                vs[t + 1, i, j] = (
                    there
                    - c * here * (there - vs[t, i, j - 1])
                    - c * there * (there - vs[t, i - 1, j])
                    + d * (vs[t, i, j + 1] + vs[t, i, j - 1])
                    + d * (vs[t, i + 1, j] + vs[t, i - 1, j] - 4 * there)
                )
    u_bar, v_bar = 2.0 * us[steps], 2.0 * vs[steps]
    new_u_bar, new_v_bar = np.zeros((n, m)), np.zeros((n, m))
    for t in range(steps - 1, -1, -1):
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                new_u_bar[i, j], new_v_bar[i, j] = u_bar[i, j], v_bar[i, j]
                here, there = us[t, i, j], vs[t, i, j]
                stay = 1.0 - 4.0 * d - c * (here + there)
                u_bar[i, j] = (stay - c * (here - us[t, i, j - 1])) * new_u_bar[i, j] - c * (
                    there - vs[t, i, j - 1]
                ) * new_v_bar[i, j]
                v_bar[i, j] = (stay - c * (there - vs[t, i - 1, j])) * new_v_bar[i, j] - c * (
                    here - us[t, i - 1, j]
                ) * new_u_bar[i, j]
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                along, across = d + c * us[t, i, j], d + c * vs[t, i, j]
                u_bar[i - 1, j] += across * new_u_bar[i, j]
                v_bar[i - 1, j] += across * new_v_bar[i, j]
                u_bar[i + 1, j] += d * new_u_bar[i, j]
                v_bar[i + 1, j] += d * new_v_bar[i, j]
            for j in range(1, m - 1):
                along = d + c * us[t, i, j]
                u_bar[i, j - 1] += along * new_u_bar[i, j]
                v_bar[i, j - 1] += along * new_v_bar[i, j]
            for j in range(1, m - 1):
                u_bar[i, j + 1] += d * new_u_bar[i, j]
                v_bar[i, j + 1] += d * new_v_bar[i, j]
    return u_bar, v_bar


@expert
def horizontal_diffusion(field, coeff):
    n, m, l = coeff.shape
    lap = np.empty((n + 2, m + 2, l))
    for i in range(n + 2):
        for j in range(m + 2):
            for k in range(l):
                around = field[i + 2, j + 1, k] + field[i, j + 1, k]
                around += field[i + 1, j + 2, k] + field[i + 1, j, k]
                lap[i, j, k] = 4.0 * field[i + 1, j + 1, k] - around
    field_bar, coeff_bar = np.zeros(field.shape), np.empty(coeff.shape)
    lap_bar = np.zeros(lap.shape)
    flx, fly = np.empty((n + 1, m, l)), np.empty((n, m + 1, l))
    flx_bar, fly_bar = np.zeros((n + 1, m, l)), np.zeros((n, m + 1, l))
    for i in range(n + 1):
        for j in range(m):
            for k in range(l):
                res = lap[i + 1, j + 1, k] - lap[i, j + 1, k]
                slope = field[i + 2, j + 2, k] - field[i + 1, j + 2, k]
                flx[i, j, k] = 0.0 if res * slope > 0 else res
    for i in range(n):
        for j in range(m + 1):
            for k in range(l):
                res = lap[i + 1, j + 1, k] - lap[i + 1, j, k]
                slope = field[i + 2, j + 2, k] - field[i + 2, j + 1, k]
                fly[i, j, k] = 0.0 if res * slope > 0 else res
    for i in range(n):
        for j in range(m):
            for k in range(l):
                div = flx[i + 1, j, k] - flx[i, j, k] + fly[i, j + 1, k] - fly[i, j, k]
                out_bar = 2.0 * (field[i + 2, j + 2, k] - coeff[i, j, k] * div)
                coeff_bar[i, j, k] = -out_bar * div
                field_bar[i + 2, j + 2, k] = out_bar
                part = coeff[i, j, k] * out_bar
                flx_bar[i + 1, j, k] -= part
                flx_bar[i, j, k] += part
                fly_bar[i, j + 1, k] -= part
                fly_bar[i, j, k] += part
    for i in range(n + 1):
        for j in range(m):
            for k in range(l):
                part = 0.0 if flx[i, j, k] == 0.0 else flx_bar[i, j, k]
                lap_bar[i + 1, j + 1, k] += part
                lap_bar[i, j + 1, k] -= part
    for i in range(n):
        for j in range(m + 1):
            for k in range(l):
                part = 0.0 if fly[i, j, k] == 0.0 else fly_bar[i, j, k]
                lap_bar[i + 1, j + 1, k] += part
                lap_bar[i + 1, j, k] -= part
    for i in range(n + 2):
        for j in range(m + 2):
            for k in range(l):
                part = lap_bar[i, j, k]
                field_bar[i + 1, j + 1, k] += 4.0 * part
                field_bar[i + 2, j + 1, k] -= part
                field_bar[i, j + 1, k] -= part
                field_bar[i + 1, j + 2, k] -= part
                field_bar[i + 1, j, k] -= part
    return field_bar, coeff_bar


@expert
def advection(q, u, steps, c):
    n = len(q)
    right, left = np.empty(n - 1), np.empty(n - 1)
    for i in range(n - 1):
        right[i], left[i] = max(u[i + 1], 0.0), min(u[i + 1], 0.0)
    qs, flux = np.empty((steps + 1, n)), np.empty(n - 1)
    qs[0] = q
    for t in range(steps):
        for i in range(n - 1):
            flux[i] = right[i] * qs[t, i] + left[i] * qs[t, i + 1]
        qs[t + 1, 0], qs[t + 1, n - 1] = qs[t, 0], qs[t, n - 1]
        for i in range(1, n - 1):
            qs[t + 1, i] = qs[t, i] - c * (flux[i] - flux[i - 1])
    q_bar = 2.0 * qs[steps]
    right_bar, left_bar, flux_bar = np.zeros(n - 1), np.zeros(n - 1), np.empty(n - 1)
    for t in range(steps - 1, -1, -1):
        flux_bar[0] = c * q_bar[1]
        flux_bar[n - 2] = -c * q_bar[n - 2]
        for i in range(1, n - 2):
            flux_bar[i] = c * (q_bar[i + 1] - q_bar[i])
        for i in range(n - 1):
            right_bar[i] += flux_bar[i] * qs[t, i]
            left_bar[i] += flux_bar[i] * qs[t, i + 1]
        q_bar[0] += flux_bar[0] * right[0]
        q_bar[n - 1] += flux_bar[n - 2] * left[n - 2]
        for i in range(1, n - 1):
            q_bar[i] += flux_bar[i] * right[i] + flux_bar[i - 1] * left[i - 1]
    u_bar = np.zeros(n)
    for i in range(1, n):
        if u[i] > 0.0:
            u_bar[i] = right_bar[i - 1]
        elif u[i] < 0.0:
            u_bar[i] = left_bar[i - 1]
    return q_bar, u_bar


# Solvers and factorisations


@expert
def cholesky(A):
    n = len(A)
    L = A.copy()
    for i in range(n):
        for j in range(i):
            total = L[i, j]
            for k in range(j):
                total -= L[i, k] * L[j, k]
            L[i, j] = total / L[j, j]
        total = L[i, i]
        for k in range(i):
            total -= L[i, k] * L[i, k]
        L[i, i] = np.sqrt(total)
    A_bar = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            A_bar[i, j] = 1.0
    for i in range(n - 1, -1, -1):
        A_bar[i, i] *= 0.5 / L[i, i]
        for k in range(i):
            A_bar[i, k] -= 2.0 * A_bar[i, i] * L[i, k]
        for j in range(i - 1, -1, -1):
            part = A_bar[i, j] / L[j, j]
            A_bar[i, j] = part
            A_bar[j, j] -= part * L[i, j]
            for k in range(j):
                A_bar[i, k] -= part * L[j, k]
                A_bar[j, k] -= part * L[i, k]
    return A_bar


@expert
def _factors(A):
    n = len(A)
    LU = A.copy()
    for i in range(n):  # row by row: rows are added to rows
        for k in range(i):
            LU[i, k] /= LU[k, k]
            for j in range(k + 1, n):
                LU[i, j] -= LU[i, k] * LU[k, j]
    return LU


@expert
def _factors_backward(LU, A_bar):
    n = len(LU)
    for i in range(n - 1, -1, -1):
        for k in range(i - 1, -1, -1):
            total = 0.0
            for j in range(k + 1, n):
                total += A_bar[i, j] * LU[k, j]
                A_bar[k, j] -= LU[i, k] * A_bar[i, j]
            part = (A_bar[i, k] - total) / LU[k, k]
            A_bar[i, k] = part
            A_bar[k, k] -= part * LU[i, k]


@expert
def lu(A):
    LU = _factors(A)
    A_bar = np.ones(A.shape)
    _factors_backward(LU, A_bar)
    return A_bar


@expert
def lu_solve(A, b):
    n = len(A)
    LU = _factors(A)
    y, x = np.empty(n), np.empty(n)
    for i in range(n):
        total = b[i]
        for k in range(i):
            total -= LU[i, k] * y[k]
        y[i] = total
    for i in range(n - 1, -1, -1):
        total = y[i]
        for k in range(i + 1, n):
            total -= LU[i, k] * x[k]
        x[i] = total / LU[i, i]
    A_bar, x_bar, y_bar = np.zeros(A.shape), np.ones(n), np.empty(n)
    for i in range(n):
        part = x_bar[i] / LU[i, i]
        y_bar[i] = part
        for k in range(i, n):
            A_bar[i, k] -= part * x[k]
        for k in range(i + 1, n):
            x_bar[k] -= part * LU[i, k]
    for i in range(n - 1, -1, -1):
        part = y_bar[i]
        for k in range(i):
            A_bar[i, k] -= part * y[k]
            y_bar[k] -= part * LU[i, k]
    _factors_backward(LU, A_bar)
    return A_bar, y_bar


@expert
def triangular_solve(L, x, b):
    n = len(x)
    x = np.empty(n)
    for i in range(n):
        total = b[i]
        for k in range(i):
            total -= L[i, k] * x[k]
        x[i] = total / L[i, i]
    x_bar, b_bar, L_bar = np.ones(n), np.empty(n), np.zeros(L.shape)
    for i in range(n - 1, -1, -1):
        part = x_bar[i] / L[i, i]
        b_bar[i] = part
        for k in range(i + 1):
            L_bar[i, k] = -part * x[k]
        for k in range(i):
            x_bar[k] -= part * L[i, k]
    return L_bar, b_bar


@expert
def gram_schmidt(A):
    m, n = A.shape
    A = A.T.copy()  # columns as rows
    Q, R, saved = np.empty((n, m)), np.zeros((n, n)), np.empty((n, n, m))
    for k in range(n):
        saved[k, k:] = A[k:]
        total = 0.0
        for i in range(m):
            total += A[k, i] * A[k, i]
        R[k, k] = np.sqrt(total)
        for i in range(m):
            Q[k, i] = A[k, i] / R[k, k]
        for j in range(k + 1, n):
            total = 0.0
            for i in range(m):
                total += Q[k, i] * A[j, i]
            R[k, j] = total
            for i in range(m):
                A[j, i] -= Q[k, i] * total
    A_bar, q_bar = np.zeros((n, m)), np.empty(m)
    for k in range(n - 1, -1, -1):
        q_bar[:] = 1.0
        for j in range(n - 1, k, -1):
            slope = 1.0
            for i in range(m):
                slope -= Q[k, i] * A_bar[j, i]
            for i in range(m):
                q_bar[i] += slope * saved[k, j, i] - R[k, j] * A_bar[j, i]
                A_bar[j, i] += slope * Q[k, i]
        total = 0.0
        for i in range(m):
            total += q_bar[i] * Q[k, i]
        slope = 1.0 - total / R[k, k]
        for i in range(m):
            A_bar[k, i] += q_bar[i] / R[k, k] + slope * Q[k, i]
    return A_bar.T.copy()


@expert
def durbin(r):
    n = len(r)
    ys, alphas, betas = np.empty((n, n)), np.empty(n), np.empty(n)
    y = np.empty(n)
    alphas[0], betas[0] = -r[0], 1.0
    y[0] = -r[0]
    for k in range(1, n):
        betas[k] = betas[k - 1] * (1.0 - alphas[k - 1] * alphas[k - 1])
        total = r[k]
        for i in range(k):
            total += r[k - 1 - i] * y[i]
            ys[k, i] = y[i]
        alpha = alphas[k] = -total / betas[k]
        for i in range(k):
            y[i] = ys[k, i] + alpha * ys[k, k - 1 - i]
        y[k] = alpha
    y_bar, r_bar, back = np.ones(n), np.zeros(n), np.empty(n)
    alpha_bar = beta_bar = 0.0
    for k in range(n - 1, 0, -1):
        alpha_bar += y_bar[k]
        for i in range(k):
            back[i] = y_bar[k - 1 - i]
            alpha_bar += back[i] * ys[k, i]
        part = -alpha_bar / betas[k]
        beta_bar += part * alphas[k]
        r_bar[k] += part
        for i in range(k):
            r_bar[i] += part * ys[k, k - 1 - i]
            y_bar[i] += alphas[k] * back[i] + part * r[k - 1 - i]
        alpha_bar = -2.0 * alphas[k - 1] * betas[k - 1] * beta_bar
        beta_bar *= 1.0 - alphas[k - 1] * alphas[k - 1]
    r_bar[0] -= y_bar[0] + alpha_bar
    return r_bar


@expert
def thomas(a, b, c, d):
    n, m = b.shape
    b, d, w, x = b.copy(), d.copy(), np.empty((n - 1, m)), np.empty((n, m))
    for i in range(1, n):
        for j in range(m):
            w[i - 1, j] = a[i - 1, j] / b[i - 1, j]
            b[i, j] -= w[i - 1, j] * c[i - 1, j]
            d[i, j] -= w[i - 1, j] * d[i - 1, j]
    for j in range(m):
        x[n - 1, j] = d[n - 1, j] / b[n - 1, j]
    for i in range(n - 2, -1, -1):
        for j in range(m):
            x[i, j] = (d[i, j] - c[i, j] * x[i + 1, j]) / b[i, j]
    x_bar = 2.0 * x
    a_bar, b_bar = np.empty((n - 1, m)), np.empty((n, m))
    c_bar, d_bar = np.empty((n - 1, m)), np.empty((n, m))
    for i in range(n - 1):
        for j in range(m):
            part = x_bar[i, j] / b[i, j]
            d_bar[i, j] = part
            b_bar[i, j] = -part * x[i, j]
            c_bar[i, j] = -part * x[i + 1, j]
            x_bar[i + 1, j] -= part * c[i, j]
    for j in range(m):
        d_bar[n - 1, j] = x_bar[n - 1, j] / b[n - 1, j]
        b_bar[n - 1, j] = -d_bar[n - 1, j] * x[n - 1, j]
    for i in range(n - 1, 0, -1):
        for j in range(m):
            w_bar = -(d_bar[i, j] * d[i - 1, j] + b_bar[i, j] * c[i - 1, j])
            d_bar[i - 1, j] -= d_bar[i, j] * w[i - 1, j]
            c_bar[i - 1, j] -= b_bar[i, j] * w[i - 1, j]
            a_bar[i - 1, j] = w_bar / b[i - 1, j]
            b_bar[i - 1, j] -= a_bar[i - 1, j] * w[i - 1, j]
    return a_bar, b_bar, c_bar, d_bar


# Chains of matrix products


@expert
def gemm(alpha, beta, C, A, B):
    C_bar, A_bar, B_bar = np.full(C.shape, beta), np.empty(A.shape), np.empty(B.shape)
    rows, columns = np.empty(len(B)), np.zeros(len(B))
    for k in range(len(B)):
        total = 0.0
        for j in range(B.shape[1]):
            total += B[k, j]
        rows[k] = alpha * total
    for i in range(len(A)):
        for k in range(A.shape[1]):
            A_bar[i, k] = rows[k]
            columns[k] += A[i, k]
    for k in range(len(B)):
        for j in range(B.shape[1]):
            B_bar[k, j] = alpha * columns[k]
    return C_bar, A_bar, B_bar


@expert
def k2mm(alpha, beta, A, B, C, D):
    AB = np.dot(A, B)
    for i in range(AB.shape[0]):
        for j in range(AB.shape[1]):
            AB[i, j] *= alpha
    D_bar = np.dot(AB, C)
    for i in range(D.shape[0]):
        for j in range(D.shape[1]):
            D_bar[i, j] = 2.0 * (D_bar[i, j] + beta * D[i, j])
    AB_bar = np.dot(D_bar, C.T)
    for i in range(AB.shape[0]):
        for j in range(AB.shape[1]):
            AB_bar[i, j] *= alpha
    return np.dot(AB_bar, B.T), np.dot(A.T, AB_bar), np.dot(AB.T, D_bar), beta * D_bar


@expert
def k3mm(A, B, C, D):
    AB, CD = np.dot(A, B), np.dot(C, D)
    out_bar = 2.0 * np.dot(AB, CD)
    AB_bar, CD_bar = np.dot(out_bar, CD.T), np.dot(AB.T, out_bar)
    return np.dot(AB_bar, B.T), np.dot(A.T, AB_bar), np.dot(CD_bar, D.T), np.dot(C.T, CD_bar)


@expert
def atax(A, x):
    n, m = A.shape
    A_bar, x_bar = np.empty((n, m)), np.zeros(m)
    for i in range(n):
        Ax = Ax_bar = 0.0
        for j in range(m):
            Ax += A[i, j] * x[j]
            Ax_bar += A[i, j]
        for j in range(m):
            A_bar[i, j] = Ax + Ax_bar * x[j]
            x_bar[j] += Ax_bar * A[i, j]
    return A_bar, x_bar


@expert
def bicg(A, p, r):
    n, m = A.shape
    A_bar, p_bar, r_bar = np.empty((n, m)), np.zeros(m), np.empty(n)
    for i in range(n):
        total = 0.0
        for j in range(m):
            A_bar[i, j] = r[i] + p[j]
            p_bar[j] += A[i, j]
            total += A[i, j]
        r_bar[i] = total
    return A_bar, p_bar, r_bar


@expert
def mvt(x1, x2, y1, y2, A):
    n = len(A)
    x1_bar, x2_bar = x2.copy(), np.empty(n)
    for i in range(n):
        total = x1[i]
        for j in range(n):
            total += A[i, j] * y1[j]
            x1_bar[j] += y2[i] * A[i, j]
        x2_bar[i] = total
    A_bar, y1_bar, y2_bar = np.empty((n, n)), np.zeros(n), np.empty(n)
    for i in range(n):
        total = 0.0
        for j in range(n):
            A_bar[i, j] = x1_bar[i] * y1[j] + y2[i] * x2_bar[j]
            y1_bar[j] += x1_bar[i] * A[i, j]
            total += A[i, j] * x2_bar[j]
        y2_bar[i] = total
    return x1_bar, x2_bar, y1_bar, y2_bar, A_bar


@expert
def gemver(alpha, beta, A, u1, v1, u2, v2, w, x, y, z):
    n = len(A)
    sums, x_bar, x = np.zeros(n), np.zeros(n), x + z
    part = np.empty((n, n))
    for i in range(n):
        for j in range(n):
            part[i, j] = A[i, j] + u1[i] * v1[j] + u2[i] * v2[j]
            x_bar[j] += alpha * part[i, j]
            sums[j] += y[i] * part[i, j]
    for j in range(n):
        x[j] += beta * sums[j]
    A_bar, y_bar = np.empty((n, n)), np.empty(n)
    u1_bar, v1_bar, u2_bar, v2_bar = np.empty(n), np.zeros(n), np.empty(n), np.zeros(n)
    for i in range(n):
        total = first = second = 0.0
        for j in range(n):
            slope = alpha * x[j] + y[i] * beta * x_bar[j]
            A_bar[i, j] = slope
            first += slope * v1[j]
            second += slope * v2[j]
            v1_bar[j] += u1[i] * slope
            v2_bar[j] += u2[i] * slope
            total += part[i, j] * beta * x_bar[j]
        u1_bar[i], u2_bar[i], y_bar[i] = first, second, total
    return A_bar, u1_bar, v1_bar, u2_bar, v2_bar, np.ones(n), x_bar, y_bar, x_bar.copy()


@expert
def gesummv(alpha, beta, A, B, x):
    n, m = A.shape
    A_bar, B_bar, x_bar = np.empty((n, m)), np.empty((n, m)), np.zeros(m)
    for i in range(n):
        for j in range(m):
            A_bar[i, j] = alpha * x[j]
            B_bar[i, j] = beta * x[j]
            x_bar[j] += alpha * A[i, j] + beta * B[i, j]
    return A_bar, B_bar, x_bar


@expert
def syrk(alpha, beta, C, A):
    n, m = A.shape
    C_bar, A_bar = np.ones(C.shape), np.zeros((n, m))
    for i in range(n):
        for j in range(i + 1):
            part = alpha * C_bar[i, j]
            for k in range(m):
                A_bar[i, k] += part * A[j, k]
                A_bar[j, k] += part * A[i, k]
            C_bar[i, j] *= beta
    return C_bar, A_bar


@expert
def syr2k(alpha, beta, C, A, B):
    n, m = A.shape
    C_bar, A_bar, B_bar = np.ones(C.shape), np.zeros((n, m)), np.zeros((n, m))
    for i in range(n):
        for j in range(i + 1):
            part = alpha * C_bar[i, j]
            for k in range(m):
                A_bar[i, k] += part * B[j, k]
                B_bar[i, k] += part * A[j, k]
            for k in range(m):
                A_bar[j, k] += part * B[i, k]
                B_bar[j, k] += part * A[i, k]
            C_bar[i, j] *= beta
    return C_bar, A_bar, B_bar


@expert
def trmm(alpha, A, B):
    n, m = B.shape
    A_bar, B_bar = np.zeros(A.shape), np.full((n, m), alpha)
    for i in range(n - 1, -1, -1):
        for k in range(i + 1, n):
            total = 0.0
            for j in range(m):
                total += B_bar[i, j] * B[k, j]
                B_bar[k, j] += B_bar[i, j] * A[k, i]
            A_bar[k, i] = total
    return A_bar, B_bar


@expert
def symm(alpha, beta, C, A, B):
    n, m = C.shape
    C_bar, A_bar, B_bar = np.ones((n, m)), np.zeros(A.shape), np.zeros((n, m))
    for i in range(n - 1, -1, -1):
        total = 0.0
        for j in range(m):
            total += alpha * C_bar[i, j] * B[i, j]
            B_bar[i, j] += A[i, i] * alpha * C_bar[i, j]
        A_bar[i, i] += total
        for k in range(i):
            total = 0.0
            for j in range(m):
                own, other = alpha * C_bar[i, j], alpha * C_bar[k, j]
                B_bar[k, j] += own * A[i, k]
                B_bar[i, j] += other * A[i, k]
                total += own * B[k, j] + B[i, j] * other
            A_bar[i, k] += total
    for i in range(n):
        for j in range(m):
            C_bar[i, j] *= beta
    return C_bar, A_bar, B_bar


@expert
def doitgen(A, C4):
    n, m, l = A.shape
    A_bar, C4_bar, row = np.ones(A.shape), np.zeros(C4.shape), np.empty(l)
    for r in range(n):
        for q in range(m):
            for p in range(l):
                total = 0.0
                for s in range(l):
                    total += C4[p, s] * A_bar[r, q, s]
                    C4_bar[p, s] += A[r, q, p] * A_bar[r, q, s]
                row[p] = total
            for p in range(l):
                A_bar[r, q, p] = row[p]
    return A_bar, C4_bar


@expert
def spmv(indptr, indices, data, x):
    data_bar, x_bar = np.empty(len(data)), np.zeros(len(x))
    for i in range(len(indptr) - 1):
        total = 0.0
        for k in range(indptr[i], indptr[i + 1]):
            total += data[k] * x[indices[k]]
        for k in range(indptr[i], indptr[i + 1]):
            data_bar[k] = 2.0 * total * x[indices[k]]
            x_bar[indices[k]] += 2.0 * total * data[k]
    return data_bar, x_bar


# Statistics and filters


@expert
def _centred(data):
    n, m = data.shape
    means, centred = np.zeros(m), np.empty((n, m))
    for i in range(n):
        for j in range(m):
            means[j] += data[i, j]
    for i in range(n):
        for j in range(m):
            centred[i, j] = data[i, j] - means[j] / n
    return centred


@expert
def covariance(data):
    n = len(data)
    data = _centred(data)
    cov = np.dot(data.T, data)
    for i in range(len(cov)):
        for j in range(len(cov)):
            cov[i, j] *= 4.0 / (n - 1.0) ** 2
    return _centred(np.dot(data, cov))


@expert
def correlation(data):
    n, m = data.shape
    centred, deviation, z = _centred(data), np.zeros(m), np.empty((n, m))
    for i in range(n):
        for j in range(m):
            deviation[j] += centred[i, j] * centred[i, j] / n
    moves = np.ones(m)
    for j in range(m):
        deviation[j] = np.sqrt(deviation[j])
        if deviation[j] <= 0.1:
            deviation[j], moves[j] = 1.0, 0.0
    for i in range(n):
        for j in range(m):
            z[i, j] = centred[i, j] / (np.sqrt(n) * deviation[j])
    corr = np.dot(z.T, z)
    for i in range(m):
        for j in range(m):
            corr[i, j] *= 4.0
        corr[i, i] = 0.0
    z_bar, spread = np.dot(z, corr), np.zeros(m)
    for i in range(n):
        for j in range(m):
            spread[j] += z_bar[i, j] * z[i, j]
    for i in range(n):
        for j in range(m):
            slope = z_bar[i, j] / (np.sqrt(n) * deviation[j])
            own = moves[j] * spread[j] * centred[i, j] / (n * deviation[j] ** 2)
            z_bar[i, j] = slope - own
    return _centred(z_bar)


@expert
def deriche(alpha, image):
    n, m = image.shape
    k = (1.0 - np.exp(-alpha)) ** 2 / (1.0 + 2.0 * alpha * np.exp(-alpha) - np.exp(2.0 * alpha))
    a1, a2 = k, k * np.exp(-alpha) * (alpha - 1.0)
    a3, a4 = k * np.exp(-alpha) * (alpha + 1.0), -k * np.exp(-2.0 * alpha)
    b1, b2 = 2.0 ** (-alpha), -np.exp(-2.0 * alpha)
    y1, y2, image_bar = np.empty(m), np.empty(m), np.zeros((n, m))
    for i in range(n):
        y1[0] = a1 * image[i, 0]
        y1[1] = a1 * image[i, 1] + a2 * image[i, 0] + b1 * y1[0]
        for j in range(2, m):
            y1[j] = a1 * image[i, j] + a2 * image[i, j - 1] + b1 * y1[j - 1] + b2 * y1[j - 2]
        y2[m - 1] = 0.0
        y2[m - 2] = a3 * image[i, m - 1]
        for j in range(m - 3, -1, -1):
            y2[j] = a3 * image[i, j + 1] + a4 * image[i, j + 2] + b1 * y2[j + 1] + b2 * y2[j + 2]
        for j in range(m):
            y1[j] = 2.0 * (y1[j] + y2[j])
            y2[j] = y1[j]
        for j in range(m - 2):
            y2[j + 1] += b1 * y2[j]
            y2[j + 2] += b2 * y2[j]
        for j in range(m - 1, 1, -1):
            y1[j - 1] += b1 * y1[j]
            y1[j - 2] += b2 * y1[j]
        y1[0] += b1 * y1[1]
        for j in range(m):
            slope = a1 * y1[j]
            if j < m - 1:
                slope += a2 * y1[j + 1]
            if j > 0:
                slope += a3 * y2[j - 1]
            if j > 1:
                slope += a4 * y2[j - 2]
            image_bar[i, j] = slope
    return image_bar


# Layers of networks


@expert
def softmax(x, weight):
    x_bar, p = np.empty(x.shape), np.empty(x.shape)
    a, b, n, m = x.shape
    for i in range(a):
        for j in range(b):
            for k in range(n):
                most = -np.inf
                for l in range(m):
                    most = max(most, x[i, j, k, l])
                total = weighted = 0.0
                for l in range(m):
                    one = np.exp(x[i, j, k, l] - most)
                    p[i, j, k, l] = one
                    total += one
                    weighted += weight[i, j, k, l] * one
                weighted /= total
                for l in range(m):
                    p[i, j, k, l] /= total
                    x_bar[i, j, k, l] = p[i, j, k, l] * (weight[i, j, k, l] - weighted)
    return x_bar, p


@expert
def _layer(x, w, b, bend):
    y = np.dot(x, w)
    for i in range(y.shape[0]):
        for j in range(y.shape[1]):
            y[i, j] += b[j]
            if bend:
                y[i, j] = max(y[i, j], 0.0)
    return y


@expert
def _layer_backward(y_bar, w, x):
    x_bar = np.dot(y_bar, w.T)
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            if x[i, j] <= 0.0:
                x_bar[i, j] = 0.0
    return x_bar


@expert
def _columns(x):
    sums = np.zeros(x.shape[1])
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            sums[j] += x[i, j]
    return sums


@expert
def mlp(x, w1, b1, w2, b2, w3, b3):
    h1 = _layer(x, w1, b1, True)
    h2 = _layer(h1, w2, b2, True)
    out_bar = 2.0 * _layer(h2, w3, b3, False)
    h2_bar = _layer_backward(out_bar, w3, h2)
    h1_bar = _layer_backward(h2_bar, w2, h1)
    return (
        np.dot(x.T, h1_bar),
        _columns(h1_bar),
        np.dot(h1.T, h2_bar),
        _columns(h2_bar),
        np.dot(h2.T, out_bar),
        _columns(out_bar),
    )


@expert
def conv2d(image, weights, bias):
    K, C, F = weights.shape[0], weights.shape[2], weights.shape[3]
    N, H, W = image.shape[0], image.shape[1] - K + 1, image.shape[2] - K + 1
    image_bar, weights_bar, bias_bar = np.zeros(image.shape), np.zeros(weights.shape), np.zeros(F)
    out = np.empty(F)
    for n in range(N):
        for i in range(H):
            for j in range(W):
                out[:] = bias
                for a in range(K):
                    for b in range(K):
                        for c in range(C):
                            for f in range(F):
                                out[f] += image[n, i + a, j + b, c] * weights[a, b, c, f]
                for f in range(F):
                    out[f] *= 2.0
                    bias_bar[f] += out[f]
                for a in range(K):
                    for b in range(K):
                        for c in range(C):
                            total = 0.0
                            for f in range(F):
                                total += out[f] * weights[a, b, c, f]
                                weights_bar[a, b, c, f] += image[n, i + a, j + b, c] * out[f]
                            image_bar[n, i + a, j + b, c] += total
    return image_bar, weights_bar, bias_bar


# Dynamics and distances


@expert
def nbody(mass, pos, vel, steps, dt, softening):
    n = len(mass)
    pos, vel = pos.T.copy(), vel.T.copy()
    saved = np.empty((steps, 3, n))
    for t in range(steps):
        saved[t] = pos
        for i in range(n):
            ax = ay = az = 0.0
            for j in range(n):
                dx, dy, dz = pos[0, j] - pos[0, i], pos[1, j] - pos[1, i], pos[2, j] - pos[2, i]
                inv_r2 = 1.0 / (dx * dx + dy * dy + dz * dz + softening**2)
                pull = mass[j] * inv_r2 * np.sqrt(inv_r2)
                ax += dx * pull
                ay += dy * pull
                az += dz * pull
            vel[0, i] += dt * ax
            vel[1, i] += dt * ay
            vel[2, i] += dt * az
        for c in range(3):
            for i in range(n):
                pos[c, i] += dt * vel[c, i]
    mass_bar, pos_bar, vel_bar = np.zeros(n), np.zeros((3, n)), np.empty((3, n))
    for c in range(3):
        for i in range(n):
            mass_bar[i] += 0.5 * vel[c, i] ** 2
            vel_bar[c, i] = mass[i] * vel[c, i]
    for t in range(steps - 1, -1, -1):
        for c in range(3):
            for i in range(n):
                vel_bar[c, i] += dt * pos_bar[c, i]
        for i in range(n):
            bx, by, bz = dt * vel_bar[0, i], dt * vel_bar[1, i], dt * vel_bar[2, i]
            own_x = own_y = own_z = 0.0
            for j in range(n):
                dx, dy = saved[t, 0, j] - saved[t, 0, i], saved[t, 1, j] - saved[t, 1, i]
                dz = saved[t, 2, j] - saved[t, 2, i]
                inv_r2 = 1.0 / (dx * dx + dy * dy + dz * dz + softening**2)
                inv_r3 = inv_r2 * np.sqrt(inv_r2)
                along = bx * dx + by * dy + bz * dz
                mass_bar[j] += along * inv_r3
                pull, slope = mass[j] * inv_r3, -3.0 * along * mass[j] * inv_r3 * inv_r2
                x, y, z = bx * pull + dx * slope, by * pull + dy * slope, bz * pull + dz * slope
                pos_bar[0, j] += x
                pos_bar[1, j] += y
                pos_bar[2, j] += z
                own_x += x
                own_y += y
                own_z += z
            pos_bar[0, i] -= own_x
            pos_bar[1, i] -= own_y
            pos_bar[2, i] -= own_z
    return mass_bar, pos_bar.T.copy(), vel_bar.T.copy()


@expert
def arc_distance(theta_1, phi_1, theta_2, phi_2):
    n = len(theta_1)
    a, b, c, d = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    for i in range(n):
        half_theta, half_phi = (theta_2[i] - theta_1[i]) / 2, (phi_2[i] - phi_1[i]) / 2
        sin_theta, sin_phi = np.sin(half_theta), np.sin(half_phi)
        cos_1, cos_2 = np.cos(theta_1[i]), np.cos(theta_2[i])
        temp = sin_theta * sin_theta + cos_1 * cos_2 * sin_phi * sin_phi
        temp_bar = 1 / np.sqrt(temp * (1 - temp))
        theta_bar = temp_bar * sin_theta * np.cos(half_theta)
        scaled = temp_bar * sin_phi * sin_phi
        phi_bar = temp_bar * cos_1 * cos_2 * sin_phi * np.cos(half_phi)
        a[i] = -theta_bar - scaled * cos_2 * np.sin(theta_1[i])
        b[i] = -phi_bar
        c[i] = theta_bar - scaled * cos_1 * np.sin(theta_2[i])
        d[i] = phi_bar
    return a, b, c, d


@expert
def shortest_paths(path):
    n = len(path)
    path = path.copy()
    shorter, column, row = np.empty((n, n, n), np.bool_), np.empty(n), np.empty(n)
    for k in range(n):
        for i in range(n):
            column[i], row[i] = path[i, k], path[k, i]
        for i in range(n):
            for j in range(n):
                through = column[i] + row[j]
                shorter[k, i, j] = through < path[i, j]
                path[i, j] = min(through, path[i, j])
    path_bar = np.ones((n, n))
    for k in range(n - 1, -1, -1):
        for i in range(n):
            column[i] = row[i] = 0.0
        for i in range(n):
            total = 0.0
            for j in range(n):
                part = path_bar[i, j] if shorter[k, i, j] else 0.0
                path_bar[i, j] -= part
                total += part
                row[j] += part
            column[i] = total
        for i in range(n):
            path_bar[i, k] += column[i]
            path_bar[k, i] += row[i]
    return path_bar
