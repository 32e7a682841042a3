"""The adjoints of kernel_programs.py as an expert writes them by hand.

Each function has the arguments of its kernel and returns the adjoints of those that count
(kernel_arguments.py says which), and leaves its arguments as they are.
"""

import numpy as np

# Stencils


def jacobi_1d(A, B, steps):
    A_bar, B_bar = np.ones_like(A), np.zeros_like(B)
    for _ in range(steps):
        part = 0.33333 * A_bar[1:-1]
        A_bar[1:-1] = 0.0
        B_bar[:-2] += part
        B_bar[1:-1] += part
        B_bar[2:] += part
        part = 0.33333 * B_bar[1:-1]
        B_bar[1:-1] = 0.0
        A_bar[:-2] += part
        A_bar[1:-1] += part
        A_bar[2:] += part
    return A_bar, B_bar


def jacobi_2d(A, B, steps):
    A_bar, B_bar = np.ones_like(A), np.zeros_like(B)
    for _ in range(steps):
        for out_bar, in_bar in ((A_bar, B_bar), (B_bar, A_bar)):
            part = 0.2 * out_bar[1:-1, 1:-1]
            out_bar[1:-1, 1:-1] = 0.0
            in_bar[1:-1, 1:-1] += part
            in_bar[1:-1, :-2] += part
            in_bar[1:-1, 2:] += part
            in_bar[2:, 1:-1] += part
            in_bar[:-2, 1:-1] += part
    return A_bar, B_bar


def heat_3d(A, steps):
    A = A.copy()
    for _ in range(steps):
        A[1:-1, 1:-1, 1:-1] = (
            0.125 * (A[2:, 1:-1, 1:-1] + A[:-2, 1:-1, 1:-1])
            + 0.125 * (A[1:-1, 2:, 1:-1] + A[1:-1, :-2, 1:-1])
            + 0.125 * (A[1:-1, 1:-1, 2:] + A[1:-1, 1:-1, :-2])
            + 0.25 * A[1:-1, 1:-1, 1:-1]
        )
    A_bar = 2.0 * A
    for _ in range(steps):
        part = 0.125 * A_bar[1:-1, 1:-1, 1:-1]
        A_bar[1:-1, 1:-1, 1:-1] *= 0.25
        A_bar[2:, 1:-1, 1:-1] += part
        A_bar[:-2, 1:-1, 1:-1] += part
        A_bar[1:-1, 2:, 1:-1] += part
        A_bar[1:-1, :-2, 1:-1] += part
        A_bar[1:-1, 1:-1, 2:] += part
        A_bar[1:-1, 1:-1, :-2] += part
    return A_bar


def seidel_2d(A, steps):
    A = A.copy()
    n = A.shape[0]
    for _ in range(steps):
        for i in range(1, n - 1):
            A[i, 1:-1] += (
                A[i - 1, :-2]
                + A[i - 1, 1:-1]
                + A[i - 1, 2:]
                + A[i, 2:]
                + A[i + 1, :-2]
                + A[i + 1, 1:-1]
                + A[i + 1, 2:]
            )
            for j in range(1, n - 1):
                A[i, j] += A[i, j - 1]
                A[i, j] /= 9.0
    A_bar = 2.0 * A
    for _ in range(steps):
        for i in range(n - 2, 0, -1):
            for j in range(n - 2, 0, -1):
                A_bar[i, j] /= 9.0
                A_bar[i, j - 1] += A_bar[i, j]
            part = A_bar[i, 1:-1].copy()
            A_bar[i - 1, :-2] += part
            A_bar[i - 1, 1:-1] += part
            A_bar[i - 1, 2:] += part
            A_bar[i, 2:] += part
            A_bar[i + 1, :-2] += part
            A_bar[i + 1, 1:-1] += part
            A_bar[i + 1, 2:] += part
    return A_bar


def fdtd_2d(ex, ey, hz, pulse):
    ex_bar, ey_bar, hz_bar = np.zeros_like(ex), np.zeros_like(ey), np.ones_like(hz)
    pulse_bar = np.zeros_like(pulse)
    for t in range(len(pulse) - 1, -1, -1):
        part = 0.7 * hz_bar[:-1, :-1]
        ex_bar[:-1, 1:] -= part
        ex_bar[:-1, :-1] += part
        ey_bar[1:, :-1] -= part
        ey_bar[:-1, :-1] += part
        part = 0.5 * ex_bar[:, 1:]
        hz_bar[:, 1:] -= part
        hz_bar[:, :-1] += part
        part = 0.5 * ey_bar[1:, :]
        hz_bar[1:, :] -= part
        hz_bar[:-1, :] += part
        pulse_bar[t] = np.sum(ey_bar[0, :])
        ey_bar[0, :] = 0.0
    return ex_bar, ey_bar, hz_bar, pulse_bar


def adi(u, steps):
    u = u.copy()
    n = u.shape[0]
    v, p, q = np.empty_like(u), np.empty_like(u), np.empty_like(u)
    r = 1.0 / steps * (n - 1) ** 2
    a, b = -0.5 * r, 1.0 + r
    p[1:-1, 0] = 0.0
    for j in range(1, n - 1):
        p[1:-1, j] = -a / (a * p[1:-1, j - 1] + b)
    for _ in range(steps):
        v[0, 1:-1] = v[-1, 1:-1] = 1.0
        q[1:-1, 0] = 1.0
        for j in range(1, n - 1):
            q[1:-1, j] = (
                -a * u[j, :-2] + (1.0 + 2.0 * a) * u[j, 1:-1] - a * u[j, 2:] - a * q[1:-1, j - 1]
            ) / (a * p[1:-1, j - 1] + b)
        for j in range(n - 2, 0, -1):
            v[j, 1:-1] = p[1:-1, j] * v[j + 1, 1:-1] + q[1:-1, j]
        u[1:-1, 1:-1] = v[1:-1, 1:-1].T
    u_bar = 2.0 * u
    v_bar, q_bar = np.zeros_like(u), np.zeros_like(u)
    for _ in range(steps):
        v_bar[1:-1, 1:-1] = u_bar[1:-1, 1:-1].T
        u_bar[1:-1, 1:-1] = 0.0
        for j in range(1, n - 1):
            q_bar[1:-1, j] = v_bar[j, 1:-1]
            v_bar[j + 1, 1:-1] += p[1:-1, j] * v_bar[j, 1:-1]
        for j in range(n - 2, 0, -1):
            part = q_bar[1:-1, j] / (a * p[1:-1, j - 1] + b)
            q_bar[1:-1, j - 1] -= a * part
            u_bar[j, 1:-1] += (1.0 + 2.0 * a) * part
            part *= a
            u_bar[j, :-2] -= part
            u_bar[j, 2:] -= part
    return u_bar


def burgers(u, v, steps, dt, h, nu):
    u, v = u.copy(), v.copy()
    c, d = dt / h, nu * dt / h**2
    saved = []
    for _ in range(steps):
        un, vn = u.copy(), v.copy()
        uc, vc = un[1:-1, 1:-1], vn[1:-1, 1:-1]
        saved.append((un, vn))
        u[1:-1, 1:-1] = (
            uc
            - c * uc * (uc - un[1:-1, :-2])
            - c * vc * (uc - un[:-2, 1:-1])
            + d * (un[1:-1, 2:] + un[1:-1, :-2] + un[2:, 1:-1] + un[:-2, 1:-1] - 4 * uc)
        )
        v[1:-1, 1:-1] = (
            vc
            - c * uc * (vc - vn[1:-1, :-2])
            - c * vc * (vc - vn[:-2, 1:-1])
            + d * (vn[1:-1, 2:] + vn[1:-1, :-2] + vn[2:, 1:-1] + vn[:-2, 1:-1] - 4 * vc)
        )
    u_bar, v_bar = 2.0 * u, 2.0 * v
    for un, vn in reversed(saved):
        uc, vc = un[1:-1, 1:-1], vn[1:-1, 1:-1]
        new_u_bar, new_v_bar = u_bar[1:-1, 1:-1].copy(), v_bar[1:-1, 1:-1].copy()
        along = c * uc
        across = c * vc
        stay = 1.0 - 4.0 * d - along - across
        u_bar[1:-1, 1:-1] = (stay - c * (uc - un[1:-1, :-2])) * new_u_bar - c * (
            vc - vn[1:-1, :-2]
        ) * new_v_bar
        v_bar[1:-1, 1:-1] = (stay - c * (vc - vn[:-2, 1:-1])) * new_v_bar - c * (
            uc - un[:-2, 1:-1]
        ) * new_u_bar
        along += d
        across += d
        for x_bar, new_bar in ((u_bar, new_u_bar), (v_bar, new_v_bar)):
            x_bar[1:-1, :-2] += along * new_bar
            x_bar[:-2, 1:-1] += across * new_bar
            new_bar *= d
            x_bar[1:-1, 2:] += new_bar
            x_bar[2:, 1:-1] += new_bar
    return u_bar, v_bar


def horizontal_diffusion(field, coeff):
    lap = 4.0 * field[1:-1, 1:-1] - (
        field[2:, 1:-1] + field[:-2, 1:-1] + field[1:-1, 2:] + field[1:-1, :-2]
    )
    res_x = lap[1:, 1:-1] - lap[:-1, 1:-1]
    stop_x = res_x * (field[2:-1, 2:-2] - field[1:-2, 2:-2]) > 0
    flx = np.where(stop_x, 0, res_x)
    res_y = lap[1:-1, 1:] - lap[1:-1, :-1]
    stop_y = res_y * (field[2:-2, 2:-1] - field[2:-2, 1:-2]) > 0
    fly = np.where(stop_y, 0, res_y)
    div = flx[1:, :] - flx[:-1, :] + fly[:, 1:] - fly[:, :-1]
    out_bar = 2.0 * (field[2:-2, 2:-2] - coeff * div)
    coeff_bar = -out_bar * div
    field_bar = np.zeros_like(field)
    field_bar[2:-2, 2:-2] = out_bar
    part = coeff * out_bar
    flx_bar = np.zeros_like(flx)
    flx_bar[1:] -= part
    flx_bar[:-1] += part
    flx_bar[stop_x] = 0.0
    fly_bar = np.zeros_like(fly)
    fly_bar[:, 1:] -= part
    fly_bar[:, :-1] += part
    fly_bar[stop_y] = 0.0
    lap_bar = np.zeros_like(lap)
    lap_bar[1:, 1:-1] += flx_bar
    lap_bar[:-1, 1:-1] -= flx_bar
    lap_bar[1:-1, 1:] += fly_bar
    lap_bar[1:-1, :-1] -= fly_bar
    field_bar[1:-1, 1:-1] += 4.0 * lap_bar
    field_bar[2:, 1:-1] -= lap_bar
    field_bar[:-2, 1:-1] -= lap_bar
    field_bar[1:-1, 2:] -= lap_bar
    field_bar[1:-1, :-2] -= lap_bar
    return field_bar, coeff_bar


def advection(q, u, steps, c):
    q = q.copy()
    right, left = np.maximum(u, 0.0)[1:], np.minimum(u, 0.0)[1:]
    saved = []
    for _ in range(steps):
        saved.append(q.copy())
        flux = right * q[:-1] + left * q[1:]
        q[1:-1] -= c * (flux[1:] - flux[:-1])
    q_bar = 2.0 * q
    right_bar, left_bar = np.zeros_like(right), np.zeros_like(left)
    flux_bar = np.empty_like(right)
    for q in reversed(saved):
        part = c * q_bar[1:-1]
        flux_bar[0] = 0.0
        flux_bar[1:] = -part
        flux_bar[:-1] += part
        right_bar += flux_bar * q[:-1]
        left_bar += flux_bar * q[1:]
        q_bar[:-1] += flux_bar * right
        q_bar[1:] += flux_bar * left
    u_bar = np.zeros_like(u)
    u_bar[1:] = right_bar * (u[1:] > 0.0) + left_bar * (u[1:] < 0.0)
    return q_bar, u_bar


# Solvers and factorisations


def cholesky(A):
    L = A.copy()
    n = L.shape[0]
    L[0, 0] = np.sqrt(L[0, 0])
    for i in range(1, n):
        for j in range(i):
            L[i, j] = (L[i, j] - L[i, :j] @ L[j, :j]) / L[j, j]
        L[i, i] = np.sqrt(L[i, i] - L[i, :i] @ L[i, :i])
    A_bar = np.tril(np.ones_like(A))
    for i in range(n - 1, 0, -1):
        A_bar[i, i] *= 0.5 / L[i, i]
        A_bar[i, :i] -= 2.0 * A_bar[i, i] * L[i, :i]
        for j in range(i - 1, -1, -1):
            part = A_bar[i, j] / L[j, j]
            A_bar[i, j] = part
            A_bar[j, j] -= part * L[i, j]
            A_bar[i, :j] -= part * L[j, :j]
            A_bar[j, :j] -= part * L[i, :j]
    A_bar[0, 0] *= 0.5 / L[0, 0]
    return A_bar


def _factors(A):
    LU = A.copy()
    n = LU.shape[0]
    for i in range(n):
        for j in range(i):
            LU[i, j] = (LU[i, j] - LU[i, :j] @ LU[:j, j]) / LU[j, j]
        for j in range(i, n):
            LU[i, j] -= LU[i, :i] @ LU[:i, j]
    return LU


def _factors_backward(LU, A_bar):
    n = LU.shape[0]
    for i in range(n - 1, -1, -1):
        for j in range(n - 1, i - 1, -1):
            part = A_bar[i, j]
            A_bar[i, :i] -= part * LU[:i, j]
            A_bar[:i, j] -= part * LU[i, :i]
        for j in range(i - 1, -1, -1):
            part = A_bar[i, j] / LU[j, j]
            A_bar[i, j] = part
            A_bar[j, j] -= part * LU[i, j]
            A_bar[i, :j] -= part * LU[:j, j]
            A_bar[:j, j] -= part * LU[i, :j]


def lu(A):
    LU = _factors(A)
    A_bar = np.ones_like(A)
    _factors_backward(LU, A_bar)
    return A_bar


def lu_solve(A, b):
    n = A.shape[0]
    LU = _factors(A)
    y = np.zeros_like(b)
    for i in range(n):
        y[i] = b[i] - LU[i, :i] @ y[:i]
    x = np.zeros_like(b)
    for i in range(n - 1, -1, -1):
        x[i] = (y[i] - LU[i, i + 1 :] @ x[i + 1 :]) / LU[i, i]
    A_bar = np.zeros_like(A)
    x_bar, y_bar = np.ones_like(x), np.empty_like(y)
    for i in range(n):
        part = x_bar[i] / LU[i, i]
        y_bar[i] = part
        A_bar[i, i] -= part * x[i]
        A_bar[i, i + 1 :] -= part * x[i + 1 :]
        x_bar[i + 1 :] -= part * LU[i, i + 1 :]
    for i in range(n - 1, -1, -1):
        part = y_bar[i]
        A_bar[i, :i] -= part * y[:i]
        y_bar[:i] -= part * LU[i, :i]
    _factors_backward(LU, A_bar)
    return A_bar, y_bar


def triangular_solve(L, x, b):
    n = x.shape[0]
    x = np.empty_like(x)
    for i in range(n):
        x[i] = (b[i] - L[i, :i] @ x[:i]) / L[i, i]
    x_bar = np.ones_like(x)
    L_bar, b_bar = np.zeros_like(L), np.empty_like(b)
    for i in range(n - 1, -1, -1):
        part = x_bar[i] / L[i, i]
        b_bar[i] = part
        L_bar[i, i] = -part * x[i]
        L_bar[i, :i] = -part * x[:i]
        x_bar[:i] -= part * L[i, :i]
    return L_bar, b_bar


def gram_schmidt(A):
    A = A.copy()
    n = A.shape[1]
    Q, R = np.zeros_like(A), np.zeros((n, n))
    saved = []
    for k in range(n):
        saved.append(A[:, k:].copy())
        R[k, k] = np.sqrt(A[:, k] @ A[:, k])
        Q[:, k] = A[:, k] / R[k, k]
        for j in range(k + 1, n):
            R[k, j] = Q[:, k] @ A[:, j]
            A[:, j] -= Q[:, k] * R[k, j]
    A_bar = np.zeros_like(A)
    for k in range(n - 1, -1, -1):
        A_k = saved.pop()
        q, q_bar = Q[:, k], np.ones(A.shape[0])
        for j in range(n - 1, k, -1):
            R_bar_kj = 1.0 - q @ A_bar[:, j]
            q_bar += R_bar_kj * A_k[:, j - k] - R[k, j] * A_bar[:, j]
            A_bar[:, j] += R_bar_kj * q
        R_bar_kk = 1.0 - (q_bar @ q) / R[k, k]
        A_bar[:, k] += q_bar / R[k, k] + R_bar_kk * q
    return A_bar


def durbin(r):
    n = r.shape[0]
    y = np.empty_like(r)
    alpha, beta = -r[0], 1.0
    y[0] = -r[0]
    saved = []
    for k in range(1, n):
        before, beta = (alpha, beta), beta * (1.0 - alpha * alpha)
        alpha = -(r[k] + np.flip(r[:k]) @ y[:k]) / beta
        saved.append((before, y[:k].copy(), alpha, beta))
        y[:k] += alpha * np.flip(y[:k])
        y[k] = alpha
    y_bar, r_bar = np.ones_like(r), np.zeros_like(r)
    alpha_bar = beta_bar = 0.0
    for k in range(n - 1, 0, -1):
        (alpha_before, beta_before), y, alpha, beta = saved.pop()
        back = np.flip(y_bar[:k])
        alpha_bar += y_bar[k] + back @ y
        part = -alpha_bar / beta
        beta_bar += part * alpha
        r_bar[k] += part
        r_bar[:k] += part * np.flip(y)
        y_bar[:k] += alpha * back + part * np.flip(r[:k])
        alpha_bar = -2.0 * alpha_before * beta_before * beta_bar
        beta_bar *= 1.0 - alpha_before * alpha_before
    r_bar[0] -= y_bar[0] + alpha_bar
    return r_bar


def thomas(a, b, c, d):
    n = b.shape[0]
    b, d = b.copy(), d.copy()
    w = np.empty_like(a)
    for i in range(1, n):
        w[i - 1] = a[i - 1] / b[i - 1]
        b[i] -= w[i - 1] * c[i - 1]
        d[i] -= w[i - 1] * d[i - 1]
    x = np.empty_like(d)
    x[-1] = d[-1] / b[-1]
    for i in range(n - 2, -1, -1):
        x[i] = (d[i] - c[i] * x[i + 1]) / b[i]
    x_bar = 2.0 * x
    a_bar, b_bar, c_bar, d_bar = (
        np.empty_like(a),
        np.empty_like(b),
        np.empty_like(c),
        np.empty_like(d),
    )
    for i in range(n - 1):
        part = x_bar[i] / b[i]
        d_bar[i] = part
        b_bar[i] = -part * x[i]
        c_bar[i] = -part * x[i + 1]
        x_bar[i + 1] -= part * c[i]
    d_bar[-1] = x_bar[-1] / b[-1]
    b_bar[-1] = -d_bar[-1] * x[-1]
    for i in range(n - 1, 0, -1):
        w_bar = -(d_bar[i] * d[i - 1] + b_bar[i] * c[i - 1])
        d_bar[i - 1] -= d_bar[i] * w[i - 1]
        c_bar[i - 1] -= b_bar[i] * w[i - 1]
        a_bar[i - 1] = w_bar / b[i - 1]
        b_bar[i - 1] -= a_bar[i - 1] * w[i - 1]
    return a_bar, b_bar, c_bar, d_bar


def conjugate_gradient(A, b, steps):
    x = np.zeros_like(b)
    r = b.copy()
    p = r.copy()
    rr = r @ r
    saved = []
    for _ in range(steps):
        Ap = A @ p
        pAp = p @ Ap
        alpha = rr / pAp
        x += alpha * p
        r_next = r - alpha * Ap
        rr_next = r_next @ r_next
        saved.append((p, Ap, pAp, r_next, rr, rr_next))
        p = r_next + rr_next / rr * p
        r, rr = r_next, rr_next
    x_bar = np.ones_like(x)
    A_bar = np.zeros_like(A)
    p_bar, r_bar, rr_bar = np.zeros_like(x), np.zeros_like(x), 0.0
    for p, Ap, pAp, r_next, rr, rr_next in reversed(saved):
        alpha, beta = rr / pAp, rr_next / rr
        beta_bar = p_bar @ p
        r_bar += p_bar
        r_bar += 2.0 * (rr_bar + beta_bar / rr) * r_next
        alpha_bar = x_bar @ p - r_bar @ Ap
        pAp_bar = -alpha_bar * alpha / pAp
        rr_bar = alpha_bar / pAp - beta_bar * beta / rr
        Ap_bar = pAp_bar * p - alpha * r_bar
        p_bar = beta * p_bar + alpha * x_bar + pAp_bar * Ap + Ap_bar @ A
        A_bar += np.outer(Ap_bar, p)
    return A_bar, r_bar + p_bar + 2.0 * rr_bar * b


# Chains of matrix products


def gemm(alpha, beta, C, A, B):
    C_bar = np.full_like(C, beta)
    A_bar = np.empty_like(A)
    A_bar[:] = alpha * np.sum(B, axis=1)
    B_bar = np.empty_like(B)
    B_bar[:] = alpha * np.sum(A, axis=0)[:, None]
    return C_bar, A_bar, B_bar


def k2mm(alpha, beta, A, B, C, D):
    ABa = alpha * A @ B
    D_bar = 2.0 * (ABa @ C + beta * D)
    AB_bar = alpha * (D_bar @ C.T)
    return AB_bar @ B.T, A.T @ AB_bar, ABa.T @ D_bar, beta * D_bar


def k3mm(A, B, C, D):
    AB, CD = A @ B, C @ D
    out_bar = 2.0 * (AB @ CD)
    AB_bar, CD_bar = out_bar @ CD.T, AB.T @ out_bar
    return AB_bar @ B.T, A.T @ AB_bar, CD_bar @ D.T, C.T @ CD_bar


def atax(A, x):
    Ax = A @ x
    y_bar = np.ones(A.shape[1])
    Ax_bar = A @ y_bar
    A_bar = np.outer(Ax, y_bar)
    A_bar += np.outer(Ax_bar, x)
    return A_bar, Ax_bar @ A


def bicg(A, p, r):
    A_bar = r[:, None] + p
    return A_bar, np.sum(A, axis=0), np.sum(A, axis=1)


def mvt(x1, x2, y1, y2, A):
    x2_bar = x1 + A @ y1
    x1_bar = x2 + y2 @ A
    A_bar = np.outer(x1_bar, y1)
    A_bar += np.outer(y2, x2_bar)
    return x1_bar, x2_bar, x1_bar @ A, A @ x2_bar, A_bar


def gemver(alpha, beta, A, u1, v1, u2, v2, w, x, y, z):
    A = A + np.outer(u1, v1)
    A += np.outer(u2, v2)
    x = x + beta * (y @ A) + z
    w_bar = np.ones_like(w)
    part = np.full_like(w, alpha)
    x_bar = part @ A
    scaled = beta * x_bar
    A_bar = np.outer(part, x)
    A_bar += np.outer(y, scaled)
    return (
        A_bar,
        A_bar @ v1,
        u1 @ A_bar,
        A_bar @ v2,
        u2 @ A_bar,
        w_bar,
        x_bar,
        A @ scaled,
        x_bar.copy(),
    )


def gesummv(alpha, beta, A, B, x):
    A_bar, B_bar = np.empty_like(A), np.empty_like(B)
    A_bar[:] = alpha * x
    B_bar[:] = beta * x
    x_bar = alpha * np.sum(A, axis=0) + beta * np.sum(B, axis=0)
    return A_bar, B_bar, x_bar


def syrk(alpha, beta, C, A):
    C_bar, A_bar = np.ones_like(C), np.zeros_like(A)
    for i in range(A.shape[0] - 1, -1, -1):
        row_bar = alpha * C_bar[i, : i + 1]
        for k in range(A.shape[1] - 1, -1, -1):
            A_bar[i, k] += row_bar @ A[: i + 1, k]
            A_bar[: i + 1, k] += A[i, k] * row_bar
        C_bar[i, : i + 1] *= beta
    return C_bar, A_bar


def syr2k(alpha, beta, C, A, B):
    C_bar, A_bar, B_bar = np.ones_like(C), np.zeros_like(A), np.zeros_like(B)
    for i in range(A.shape[0] - 1, -1, -1):
        row_bar = alpha * C_bar[i, : i + 1]
        for k in range(A.shape[1] - 1, -1, -1):
            A_bar[i, k] += row_bar @ B[: i + 1, k]
            B_bar[i, k] += row_bar @ A[: i + 1, k]
            A_bar[: i + 1, k] += B[i, k] * row_bar
            B_bar[: i + 1, k] += A[i, k] * row_bar
        C_bar[i, : i + 1] *= beta
    return C_bar, A_bar, B_bar


def trmm(alpha, A, B):
    A_bar, B_bar = np.zeros_like(A), np.full_like(B, alpha)
    for i in range(B.shape[0] - 1, -1, -1):
        for j in range(B.shape[1] - 1, -1, -1):
            A_bar[i + 1 :, i] += B_bar[i, j] * B[i + 1 :, j]
            B_bar[i + 1 :, j] += B_bar[i, j] * A[i + 1 :, i]
    return A_bar, B_bar


def symm(alpha, beta, C, A, B):
    C_bar = np.ones_like(C)
    A_bar, B_bar = np.zeros_like(A), np.zeros_like(B)
    for i in range(C.shape[0] - 1, -1, -1):
        scaled = alpha * C_bar[i]
        A_bar[i, i] += scaled @ B[i]
        B_bar[i] += A[i, i] * scaled
        for j in range(C.shape[1] - 1, -1, -1):
            B_bar[:i, j] += scaled[j] * A[i, :i]
            part = alpha * C_bar[:i, j]
            B_bar[i, j] += part @ A[i, :i]
            A_bar[i, :i] += scaled[j] * B[:i, j] + B[i, j] * part
    C_bar *= beta
    return C_bar, A_bar, B_bar


def doitgen(A, C4):
    A_bar = np.ones_like(A)
    C4_bar = np.zeros_like(C4)
    for r in range(A.shape[0] - 1, -1, -1):
        for q in range(A.shape[1] - 1, -1, -1):
            C4_bar += np.outer(A[r, q], A_bar[r, q])
            A_bar[r, q] = C4 @ A_bar[r, q]
    return A_bar, C4_bar


def spmv(indptr, indices, data, x):
    n = len(indptr) - 1
    y = np.empty(n)
    for i in range(n):
        row = slice(indptr[i], indptr[i + 1])
        y[i] = data[row] @ x[indices[row]]
    y_bar = 2.0 * y
    data_bar, x_bar = np.zeros_like(data), np.zeros_like(x)
    for i in range(n - 1, -1, -1):
        row = slice(indptr[i], indptr[i + 1])
        cols = indices[row]
        data_bar[row] = y_bar[i] * x[cols]
        np.add.at(x_bar, cols, y_bar[i] * data[row])
    return data_bar, x_bar


# Statistics and filters


def covariance(data):
    n, m = data.shape
    data = data - np.mean(data, axis=0)
    cov = np.zeros((m, m))
    for i in range(m):
        cov[i, i:] = data[:, i] @ data[:, i:] / (n - 1.0)
        cov[i:, i] = cov[i, i:]
    cov_bar = 2.0 * cov
    data_bar = np.zeros_like(data)
    for i in range(m - 1, -1, -1):
        cov_bar[i, i] /= 2.0
        row_bar = (cov_bar[i, i:] + cov_bar[i:, i]) / (n - 1.0)
        data_bar[:, i] += data[:, i:] @ row_bar
        data_bar[:, i:] += np.outer(data[:, i], row_bar)
    data_bar -= np.mean(data_bar, axis=0)
    return data_bar


def correlation(data):
    n, m = data.shape
    data = data - np.mean(data, axis=0)
    stddev = np.sqrt(np.mean(data * data, axis=0))
    small = stddev <= 0.1
    stddev[small] = 1.0
    scale = np.sqrt(n) * stddev
    z = data / scale
    corr = np.eye(m)
    for i in range(m - 1):
        corr[i, i + 1 :] = z[:, i] @ z[:, i + 1 :]
        corr[i + 1 :, i] = corr[i, i + 1 :]
    corr_bar = 2.0 * corr
    z_bar = np.zeros_like(z)
    for i in range(m - 2, -1, -1):
        row_bar = corr_bar[i, i + 1 :] + corr_bar[i + 1 :, i]
        z_bar[:, i] += z[:, i + 1 :] @ row_bar
        z_bar[:, i + 1 :] += np.outer(z[:, i], row_bar)
    spread_bar = np.sum(z_bar * z, axis=0) / scale
    spread_bar[small] = 0.0
    z_bar /= scale
    z_bar -= data * (spread_bar / (np.sqrt(n) * stddev))
    z_bar -= np.mean(z_bar, axis=0)
    return z_bar


def deriche(alpha, image):
    k = (1.0 - np.exp(-alpha)) ** 2 / (1.0 + 2.0 * alpha * np.exp(-alpha) - np.exp(2.0 * alpha))
    a1, a2 = k, k * np.exp(-alpha) * (alpha - 1.0)
    a3, a4 = k * np.exp(-alpha) * (alpha + 1.0), -k * np.exp(-2.0 * alpha)
    b1, b2 = 2.0 ** (-alpha), -np.exp(-2.0 * alpha)
    y1, y2 = np.empty_like(image), np.empty_like(image)
    n = image.shape[1]
    y1[:, 0] = a1 * image[:, 0]
    y1[:, 1] = a1 * image[:, 1] + a2 * image[:, 0] + b1 * y1[:, 0]
    for j in range(2, n):
        y1[:, j] = a1 * image[:, j] + a2 * image[:, j - 1] + b1 * y1[:, j - 1] + b2 * y1[:, j - 2]
    y2[:, -1] = 0.0
    y2[:, -2] = a3 * image[:, -1]
    for j in range(n - 3, -1, -1):
        y2[:, j] = (
            a3 * image[:, j + 1] + a4 * image[:, j + 2] + b1 * y2[:, j + 1] + b2 * y2[:, j + 2]
        )
    y1 += y2
    y1 *= 2.0
    y1_bar, y2_bar = y1, y1.copy()
    image_bar = np.zeros_like(image)
    for j in range(n - 2):
        y_bar = y2_bar[:, j]
        image_bar[:, j + 1] += a3 * y_bar
        image_bar[:, j + 2] += a4 * y_bar
        y2_bar[:, j + 1] += b1 * y_bar
        y2_bar[:, j + 2] += b2 * y_bar
    image_bar[:, -1] += a3 * y2_bar[:, -2]
    for j in range(n - 1, 1, -1):
        y_bar = y1_bar[:, j]
        image_bar[:, j] += a1 * y_bar
        image_bar[:, j - 1] += a2 * y_bar
        y1_bar[:, j - 1] += b1 * y_bar
        y1_bar[:, j - 2] += b2 * y_bar
    y_bar = y1_bar[:, 1]
    image_bar[:, 1] += a1 * y_bar
    image_bar[:, 0] += a2 * y_bar + a1 * (y1_bar[:, 0] + b1 * y_bar)
    return image_bar


# Layers of networks


def softmax(x, weight):
    p = np.exp(x - np.max(x, axis=-1, keepdims=True))
    p /= np.sum(p, axis=-1, keepdims=True)
    weighted = weight * p
    x_bar = weighted - p * np.sum(weighted, axis=-1, keepdims=True)
    return x_bar, p


def mlp(x, w1, b1, w2, b2, w3, b3):
    h1 = np.maximum(x @ w1 + b1, 0)
    h2 = np.maximum(h1 @ w2 + b2, 0)
    out_bar = 2 * (h2 @ w3 + b3)
    h2_bar = out_bar @ w3.T
    h2_bar *= h2 > 0
    h1_bar = h2_bar @ w2.T
    h1_bar *= h1 > 0
    return (
        x.T @ h1_bar,
        np.sum(h1_bar, axis=0),
        h1.T @ h2_bar,
        np.sum(h2_bar, axis=0),
        h2.T @ out_bar,
        np.sum(out_bar, axis=0),
    )


def conv2d(image, weights, bias):
    K, H, W = weights.shape[0], image.shape[1], image.shape[2]
    out = np.empty((image.shape[0], H - K + 1, W - K + 1, weights.shape[3]))
    for i in range(H - K + 1):
        for j in range(W - K + 1):
            out[:, i, j, :] = np.sum(
                image[:, i : i + K, j : j + K, :, np.newaxis] * weights[np.newaxis, :, :, :],
                axis=(1, 2, 3),
            )
    out_bar = 2 * (out + bias)
    image_bar, weights_bar = np.zeros_like(image), np.zeros_like(weights)
    for i in range(H - K + 1):
        for j in range(W - K + 1):
            part = out_bar[:, i, j, :]
            image_bar[:, i : i + K, j : j + K, :] += np.tensordot(part, weights, axes=(1, 3))
            weights_bar += np.tensordot(image[:, i : i + K, j : j + K, :], part, axes=(0, 0))
    return image_bar, weights_bar, np.sum(out_bar, axis=(0, 1, 2))


def _norm(x):
    centred = x - np.mean(x, axis=0, keepdims=True)
    std = np.sqrt(np.mean(centred * centred, axis=0, keepdims=True))
    scale = np.sqrt(std + 1e-5)
    return centred / scale, std, scale


def _norm_backward(y_bar, y, std, scale):
    n = y.shape[0]
    std_bar = np.sum(y_bar * y, axis=0, keepdims=True) / (-2 * scale * scale)
    x_bar = y_bar / scale
    x_bar -= np.mean(x_bar, axis=0, keepdims=True)
    x_bar += y * (std_bar * scale / (n * std))
    return x_bar


def _conv(x, w):
    k = w.shape[0] // 2
    n, H, W, c = x.shape
    padded = np.zeros((n, H + 2 * k, W + 2 * k, c))
    padded[:, k : k + H, k : k + W, :] = x
    out = np.zeros((n, H, W, w.shape[3]))
    for i in range(w.shape[0]):
        for j in range(w.shape[1]):
            out += padded[:, i : i + H, j : j + W, :] @ w[i, j]
    return out, padded


def _conv_backward(out_bar, padded, w):
    k = w.shape[0] // 2
    _, H, W, _ = out_bar.shape
    padded_bar, w_bar = np.zeros_like(padded), np.empty_like(w)
    for i in range(w.shape[0]):
        for j in range(w.shape[1]):
            padded_bar[:, i : i + H, j : j + W, :] += out_bar @ w[i, j].T
            w_bar[i, j] = np.tensordot(
                padded[:, i : i + H, j : j + W, :], out_bar, axes=((0, 1, 2), (0, 1, 2))
            )
    return padded_bar[:, k : k + H, k : k + W, :], w_bar


def residual_block(x, w1, w2):
    c1, padded_1 = _conv(x, w1)
    n1, *stats_1 = _norm(c1)
    h = np.maximum(n1, 0)
    c2, padded_2 = _conv(h, w2)
    n2, *stats_2 = _norm(c2)
    n2_bar = 2 * np.maximum(n2 + x, 0)
    h_bar, w2_bar = _conv_backward(_norm_backward(n2_bar, n2, *stats_2), padded_2, w2)
    h_bar *= h > 0
    x_bar, w1_bar = _conv_backward(_norm_backward(h_bar, n1, *stats_1), padded_1, w1)
    return x_bar + n2_bar, w1_bar, w2_bar


# Dynamics and distances


def nbody(mass, pos, vel, steps, dt, softening):
    pos, vel = pos.copy(), vel.copy()
    saved = []
    for _ in range(steps):
        d = pos.T[:, np.newaxis, :] - pos.T[:, :, np.newaxis]
        inv_r2 = 1.0 / (np.sum(d * d, axis=0) + softening**2)
        inv_r3 = inv_r2 * np.sqrt(inv_r2)
        saved.append((d, inv_r2, inv_r3))
        vel += dt * ((d * inv_r3) @ mass).T
        pos += dt * vel
    mass_bar = 0.5 * np.sum(vel * vel, axis=1)
    vel_bar = mass[:, np.newaxis] * vel
    pos_bar = np.zeros_like(pos)
    for d, inv_r2, inv_r3 in reversed(saved):
        vel_bar += dt * pos_bar
        acc_bar = dt * vel_bar.T
        along = np.einsum("ci,cij->ij", acc_bar, d)
        mass_bar += np.einsum("ij,ij->j", along, inv_r3)
        inv_r3_bar = along * mass
        r2_bar = -3.0 * inv_r3_bar * inv_r3 * inv_r2
        d_bar = acc_bar[:, :, np.newaxis] * (inv_r3 * mass)
        d_bar += d * r2_bar
        pos_bar += (np.sum(d_bar, axis=1) - np.sum(d_bar, axis=2)).T
    return mass_bar, pos_bar, vel_bar


def arc_distance(theta_1, phi_1, theta_2, phi_2):
    half_theta, half_phi = (theta_2 - theta_1) / 2, (phi_2 - phi_1) / 2
    sin_theta, sin_phi = np.sin(half_theta), np.sin(half_phi)
    cos_1, cos_2 = np.cos(theta_1), np.cos(theta_2)
    sin_phi_2 = sin_phi * sin_phi
    temp = sin_theta * sin_theta + cos_1 * cos_2 * sin_phi_2
    temp_bar = 1 / np.sqrt(temp * (1 - temp))
    theta_bar = temp_bar * sin_theta * np.cos(half_theta)
    scaled = temp_bar * sin_phi_2
    phi_bar = temp_bar * cos_1 * cos_2 * sin_phi * np.cos(half_phi)
    return (
        -theta_bar - scaled * cos_2 * np.sin(theta_1),
        -phi_bar,
        theta_bar - scaled * cos_1 * np.sin(theta_2),
        phi_bar,
    )


def shortest_paths(path):
    path = path.copy()
    n = path.shape[0]
    saved = []
    for k in range(n):
        through = np.add.outer(path[:, k], path[k, :])
        shorter = through < path
        saved.append(shorter)
        np.copyto(path, through, where=shorter)
    path_bar = np.ones_like(path)
    for k in range(n - 1, -1, -1):
        through_bar = path_bar * saved[k]
        path_bar -= through_bar
        path_bar[:, k] += np.sum(through_bar, axis=1)
        path_bar[k, :] += np.sum(through_bar, axis=0)
    return path_bar
