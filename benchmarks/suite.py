"""Array kernels unlike those of kernel_programs: with masks, complex numbers and whole numbers.

Each is written as a suite of kernels for compilers of NumPy has it: sizes as arguments, results in
place or returned. `SUITE` says with respect to which arguments it is differentiated, and on what.
"""

# ruff: noqa: E501, E741, RUF059  (kernels as they are written elsewhere)

import numpy as np

# Filters and solvers of which the result is an array


def ludcmp(A, b):
    n = A.shape[0]
    x, y = np.zeros_like(b), np.zeros_like(b)
    for i in range(n):
        for j in range(i):
            A[i, j] -= A[i, :j] @ A[:j, j]
            A[i, j] /= A[j, j]
        for j in range(i, n):
            A[i, j] -= A[i, :i] @ A[:i, j]
    for i in range(n):
        y[i] = b[i] - A[i, :i] @ y[:i]
    for i in range(n - 1, -1, -1):
        x[i] = (y[i] - A[i, i + 1 :] @ x[i + 1 :]) / A[i, i]
    return x, y


def cholesky2(A):
    A[:] = np.linalg.cholesky(A) + np.triu(A, k=1)


def clipped(array_1, array_2, a, b, c):
    return np.clip(array_1, 2, 10) * a + array_2 * b + c


def go_fast(a):
    trace = 0.0
    for i in range(a.shape[0]):
        trace += np.tanh(a[i, i])
    return a + trace


# Weather and flow


def vadv(utens_stage, u_stage, wcon, u_pos, utens, dtr_stage):
    I, J, K = utens_stage.shape[0], utens_stage.shape[1], utens_stage.shape[2]
    ccol = np.ndarray((I, J, K), dtype=utens_stage.dtype)
    dcol = np.ndarray((I, J, K), dtype=utens_stage.dtype)
    data_col = np.ndarray((I, J), dtype=utens_stage.dtype)

    for k in range(1):
        gcv = 0.25 * (wcon[1:, :, k + 1] + wcon[:-1, :, k + 1])
        cs = gcv * 0.5
        ccol[:, :, k] = gcv * 0.5
        bcol = dtr_stage - ccol[:, :, k]
        correction = -cs * (u_stage[:, :, k + 1] - u_stage[:, :, k])
        dcol[:, :, k] = (
            dtr_stage * u_pos[:, :, k] + utens[:, :, k] + utens_stage[:, :, k] + correction
        )
        divided = 1.0 / bcol
        ccol[:, :, k] = ccol[:, :, k] * divided
        dcol[:, :, k] = dcol[:, :, k] * divided
    for k in range(1, K - 1):
        gav = -0.25 * (wcon[1:, :, k] + wcon[:-1, :, k])
        gcv = 0.25 * (wcon[1:, :, k + 1] + wcon[:-1, :, k + 1])
        as_ = gav * 0.5
        cs = gcv * 0.5
        acol = gav * 0.5
        ccol[:, :, k] = gcv * 0.5
        bcol = dtr_stage - acol - ccol[:, :, k]
        correction = -as_ * (u_stage[:, :, k - 1] - u_stage[:, :, k]) - cs * (
            u_stage[:, :, k + 1] - u_stage[:, :, k]
        )
        dcol[:, :, k] = (
            dtr_stage * u_pos[:, :, k] + utens[:, :, k] + utens_stage[:, :, k] + correction
        )
        divided = 1.0 / (bcol - ccol[:, :, k - 1] * acol)
        ccol[:, :, k] = ccol[:, :, k] * divided
        dcol[:, :, k] = (dcol[:, :, k] - dcol[:, :, k - 1] * acol) * divided
    for k in range(K - 1, K):
        gav = -0.25 * (wcon[1:, :, k] + wcon[:-1, :, k])
        as_ = gav * 0.5
        acol = gav * 0.5
        bcol = dtr_stage - acol
        correction = -as_ * (u_stage[:, :, k - 1] - u_stage[:, :, k])
        dcol[:, :, k] = (
            dtr_stage * u_pos[:, :, k] + utens[:, :, k] + utens_stage[:, :, k] + correction
        )
        divided = 1.0 / (bcol - ccol[:, :, k - 1] * acol)
        dcol[:, :, k] = (dcol[:, :, k] - dcol[:, :, k - 1] * acol) * divided
    for k in range(K - 1, K - 2, -1):
        datacol = dcol[:, :, k]
        data_col[:] = datacol
        utens_stage[:, :, k] = dtr_stage * (datacol - u_pos[:, :, k])
    for k in range(K - 2, -1, -1):
        datacol = dcol[:, :, k] - ccol[:, :, k] * data_col
        data_col[:] = datacol
        utens_stage[:, :, k] = dtr_stage * (datacol - u_pos[:, :, k])


def _rhs(b, rho, dt, u, v, dx, dy):
    b[1:-1, 1:-1] = rho * (
        1
        / dt
        * ((u[1:-1, 2:] - u[1:-1, 0:-2]) / (2 * dx) + (v[2:, 1:-1] - v[0:-2, 1:-1]) / (2 * dy))
        - ((u[1:-1, 2:] - u[1:-1, 0:-2]) / (2 * dx)) ** 2
        - 2 * ((u[2:, 1:-1] - u[0:-2, 1:-1]) / (2 * dy) * (v[1:-1, 2:] - v[1:-1, 0:-2]) / (2 * dx))
        - ((v[2:, 1:-1] - v[0:-2, 1:-1]) / (2 * dy)) ** 2
    )


def _poisson(nit, p, dx, dy, b):
    pn = np.empty_like(p)
    pn = p.copy()
    for q in range(nit):
        pn = p.copy()
        p[1:-1, 1:-1] = (
            (pn[1:-1, 2:] + pn[1:-1, 0:-2]) * dy**2 + (pn[2:, 1:-1] + pn[0:-2, 1:-1]) * dx**2
        ) / (2 * (dx**2 + dy**2)) - dx**2 * dy**2 / (2 * (dx**2 + dy**2)) * b[1:-1, 1:-1]
        p[:, -1] = p[:, -2]
        p[0, :] = p[1, :]
        p[:, 0] = p[:, 1]
        p[-1, :] = 0


def cavity_flow(nx, ny, nt, nit, u, v, dt, dx, dy, p, rho, nu):
    un, vn = np.empty_like(u), np.empty_like(v)
    b = np.zeros((ny, nx))
    for n in range(nt):
        un = u.copy()
        vn = v.copy()
        _rhs(b, rho, dt, u, v, dx, dy)
        _poisson(nit, p, dx, dy, b)
        u[1:-1, 1:-1] = (
            un[1:-1, 1:-1]
            - un[1:-1, 1:-1] * dt / dx * (un[1:-1, 1:-1] - un[1:-1, 0:-2])
            - vn[1:-1, 1:-1] * dt / dy * (un[1:-1, 1:-1] - un[0:-2, 1:-1])
            - dt / (2 * rho * dx) * (p[1:-1, 2:] - p[1:-1, 0:-2])
            + nu
            * (
                dt / dx**2 * (un[1:-1, 2:] - 2 * un[1:-1, 1:-1] + un[1:-1, 0:-2])
                + dt / dy**2 * (un[2:, 1:-1] - 2 * un[1:-1, 1:-1] + un[0:-2, 1:-1])
            )
        )
        v[1:-1, 1:-1] = (
            vn[1:-1, 1:-1]
            - un[1:-1, 1:-1] * dt / dx * (vn[1:-1, 1:-1] - vn[1:-1, 0:-2])
            - vn[1:-1, 1:-1] * dt / dy * (vn[1:-1, 1:-1] - vn[0:-2, 1:-1])
            - dt / (2 * rho * dy) * (p[2:, 1:-1] - p[0:-2, 1:-1])
            + nu
            * (
                dt / dx**2 * (vn[1:-1, 2:] - 2 * vn[1:-1, 1:-1] + vn[1:-1, 0:-2])
                + dt / dy**2 * (vn[2:, 1:-1] - 2 * vn[1:-1, 1:-1] + vn[0:-2, 1:-1])
            )
        )
        u[0, :] = 0
        u[:, 0] = 0
        u[:, -1] = 0
        u[-1, :] = 1
        v[0, :] = 0
        v[-1, :] = 0
        v[:, 0] = 0
        v[:, -1] = 0


def channel_flow(nit, u, v, dt, dx, dy, p, rho, nu, F):
    udiff = 1
    steps = 0
    while udiff > 0.001:
        un = u.copy()
        vn = v.copy()
        b = np.zeros_like(u)
        b[1:-1, 1:-1] = rho * (
            1
            / dt
            * ((u[1:-1, 2:] - u[1:-1, 0:-2]) / (2 * dx) + (v[2:, 1:-1] - v[0:-2, 1:-1]) / (2 * dy))
            - ((u[1:-1, 2:] - u[1:-1, 0:-2]) / (2 * dx)) ** 2
        )
        b[1:-1, -1] = rho * (1 / dt * ((u[1:-1, 0] - u[1:-1, -2]) / (2 * dx)))
        b[1:-1, 0] = rho * (1 / dt * ((u[1:-1, 1] - u[1:-1, -1]) / (2 * dx)))
        for q in range(nit):
            pn = p.copy()
            p[1:-1, 1:-1] = (
                (pn[1:-1, 2:] + pn[1:-1, 0:-2]) * dy**2 + (pn[2:, 1:-1] + pn[0:-2, 1:-1]) * dx**2
            ) / (2 * (dx**2 + dy**2)) - dx**2 * dy**2 / (2 * (dx**2 + dy**2)) * b[1:-1, 1:-1]
            p[1:-1, -1] = (
                (pn[1:-1, 0] + pn[1:-1, -2]) * dy**2 + (pn[2:, -1] + pn[0:-2, -1]) * dx**2
            ) / (2 * (dx**2 + dy**2)) - dx**2 * dy**2 / (2 * (dx**2 + dy**2)) * b[1:-1, -1]
            p[1:-1, 0] = (
                (pn[1:-1, 1] + pn[1:-1, -1]) * dy**2 + (pn[2:, 0] + pn[0:-2, 0]) * dx**2
            ) / (2 * (dx**2 + dy**2)) - dx**2 * dy**2 / (2 * (dx**2 + dy**2)) * b[1:-1, 0]
            p[-1, :] = p[-2, :]
            p[0, :] = p[1, :]
        u[1:-1, 1:-1] = (
            un[1:-1, 1:-1]
            - un[1:-1, 1:-1] * dt / dx * (un[1:-1, 1:-1] - un[1:-1, 0:-2])
            - dt / (2 * rho * dx) * (p[1:-1, 2:] - p[1:-1, 0:-2])
            + nu * dt / dx**2 * (un[1:-1, 2:] - 2 * un[1:-1, 1:-1] + un[1:-1, 0:-2])
            + F * dt
        )
        v[1:-1, 1:-1] = (
            vn[1:-1, 1:-1]
            - vn[1:-1, 1:-1] * dt / dy * (vn[1:-1, 1:-1] - vn[0:-2, 1:-1])
            - dt / (2 * rho * dy) * (p[2:, 1:-1] - p[0:-2, 1:-1])
        )
        u[1:-1, -1] = un[1:-1, -1] - un[1:-1, -1] * dt / dx * (un[1:-1, -1] - un[1:-1, -2]) + F * dt
        u[0, :] = 0
        u[-1, :] = 0
        v[0, :] = 0
        v[-1, :] = 0
        udiff = (np.sum(u) - np.sum(un)) / np.sum(u)
        steps += 1
    return steps


# Counting and masks


def azimuthal_naive(data, radius, npt):
    rmax = radius.max()
    res = np.zeros(npt, dtype=np.float64)
    for i in range(npt):
        r1 = rmax * i / npt
        r2 = rmax * (i + 1) / npt
        mask_r12 = np.logical_and((r1 <= radius), (radius < r2))
        values_r12 = data[mask_r12]
        res[i] = values_r12.mean()
    return res


def azimuthal_histogram(data, radius, npt):
    histu = np.histogram(radius, npt)[0]
    histw = np.histogram(radius, npt, weights=data)[0]
    return histw / histu


def nussinov(n, seq):
    table = np.zeros((n, n), np.int64)
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            if j - 1 >= 0:
                table[i, j] = max(table[i, j], table[i, j - 1])
            if i + 1 < n:
                table[i, j] = max(table[i, j], table[i + 1, j])
            if j - 1 >= 0 and i + 1 < n:
                if i < j - 1:
                    table[i, j] = max(
                        table[i, j], table[i + 1, j - 1] + (1 if seq[i] + seq[j] == 3 else 0)
                    )
                else:
                    table[i, j] = max(table[i, j], table[i + 1, j - 1])
            for k in range(i + 1, j):
                table[i, j] = max(table[i, j], table[i, k] + table[k + 1, j])
    return table


def crc16(data, poly=0x8408):
    crc = 0xFFFF
    for b in data:
        cur_byte = 0xFF & b
        for _ in range(0, 8):
            if (crc & 0x0001) ^ (cur_byte & 0x0001):
                crc = (crc >> 1) ^ poly
            else:
                crc >>= 1
            cur_byte >>= 1
    crc = ~crc & 0xFFFF
    crc = (crc << 8) | ((crc >> 8) & 0xFF)
    return crc & 0xFFFF


def mandelbrot1(xmin, xmax, ymin, ymax, xn, yn, maxiter, horizon=2.0):
    X = np.linspace(xmin, xmax, xn, dtype=np.float64)
    Y = np.linspace(ymin, ymax, yn, dtype=np.float64)
    C = X + Y[:, None] * 1j
    N = np.zeros(C.shape, dtype=np.int64)
    Z = np.zeros(C.shape, dtype=np.complex128)
    for n in range(maxiter):
        I = np.less(abs(Z), horizon)
        N[I] = n
        Z[I] = Z[I] ** 2 + C[I]
    N[N == maxiter - 1] = 0
    return Z, N


def mandelbrot2(xmin, xmax, ymin, ymax, xn, yn, itermax, horizon=2.0):
    Xi, Yi = np.mgrid[0:xn, 0:yn]
    X = np.linspace(xmin, xmax, xn, dtype=np.float64)[Xi]
    Y = np.linspace(ymin, ymax, yn, dtype=np.float64)[Yi]
    C = X + Y * 1j
    N_ = np.zeros(C.shape, dtype=np.int64)
    Z_ = np.zeros(C.shape, dtype=np.complex128)
    Xi.shape = Yi.shape = C.shape = xn * yn
    Z = np.zeros(C.shape, np.complex128)
    for i in range(itermax):
        if not len(Z):
            break
        np.multiply(Z, Z, Z)
        np.add(Z, C, Z)
        I = abs(Z) > horizon
        N_[Xi[I], Yi[I]] = i + 1
        Z_[Xi[I], Yi[I]] = Z[I]
        np.logical_not(I, I)
        Z = Z[I]
        Xi, Yi = Xi[I], Yi[I]
        C = C[I]
    return Z_.T, N_.T


# Complex numbers


def contour_integral(nr, nm, slab, ham, int_pts, y):
    p0 = np.zeros((nr, nm), dtype=np.complex128)
    p1 = np.zeros((nr, nm), dtype=np.complex128)
    for idx in range(len(int_pts)):
        z = int_pts[idx]
        tz = np.zeros((nr, nr), dtype=np.complex128)
        for n in range(slab + 1):
            zz = np.power(z, slab / 2 - n)
            tz += zz * ham[n]
        if nr == nm:
            x = np.linalg.inv(tz)
        else:
            x = np.linalg.solve(tz, y)
        if abs(z) < 1.0:
            x = -x
        p0 += x
        p1 += z * x
    return p0, p1


def stockham_fft(n, r, k, x, y):
    i_coord, j_coord = np.mgrid[0:r, 0:r]
    dft_mat = np.empty((r, r), dtype=np.complex128)
    dft_mat = np.exp(-2.0j * np.pi * i_coord * j_coord / r)
    y[:] = x[:]
    ii_coord, jj_coord = np.mgrid[0:r, 0 : r**k]
    for i in range(k):
        yv = np.reshape(y, (r**i, r, r ** (k - i - 1)))
        tmp_perm = np.transpose(yv, axes=(1, 0, 2))
        d = np.empty((r, r**i, r ** (k - i - 1)), dtype=np.complex128)
        tmp = np.exp(-2.0j * np.pi * ii_coord[:, : r**i] * jj_coord[:, : r**i] / r ** (i + 1))
        d[:] = np.repeat(np.reshape(tmp, (r, r**i, 1)), r ** (k - i - 1), axis=2)
        tmp_twid = np.reshape(tmp_perm, (n,)) * np.reshape(d, (n,))
        y[:] = np.reshape(dft_mat @ np.reshape(tmp_twid, (r, r ** (k - 1))), (n,))


def scattering(neigh_idx, dH, G, D, sigma):
    for k in range(G.shape[0]):
        for E in range(G.shape[1]):
            for q in range(D.shape[0]):
                for w in range(D.shape[1]):
                    for i in range(D.shape[-2]):
                        for j in range(D.shape[-1]):
                            for a in range(neigh_idx.shape[0]):
                                for b in range(neigh_idx.shape[1]):
                                    if E - w >= 0:
                                        dHG = G[k, E - w, neigh_idx[a, b]] @ dH[a, b, i]
                                        dHD = dH[a, b, j] * D[q, w, a, b, i, j]
                                        sigma[k, E, a] += dHG @ dHD


# Networks


def _relu(x):
    return np.maximum(x, 0)


def _conv2d(input, weights):
    K = weights.shape[0]
    N = input.shape[0]
    H_out = input.shape[1] - K + 1
    W_out = input.shape[2] - K + 1
    C_out = weights.shape[3]
    output = np.empty((N, H_out, W_out, C_out), dtype=input.dtype)
    for i in range(H_out):
        for j in range(W_out):
            output[:, i, j, :] = np.sum(
                input[:, i : i + K, j : j + K, :, np.newaxis] * weights[np.newaxis, :, :, :],
                axis=(1, 2, 3),
            )
    return output


def _maxpool2d(x):
    output = np.empty([x.shape[0], x.shape[1] // 2, x.shape[2] // 2, x.shape[3]], dtype=x.dtype)
    for i in range(x.shape[1] // 2):
        for j in range(x.shape[2] // 2):
            output[:, i, j, :] = np.max(x[:, 2 * i : 2 * i + 2, 2 * j : 2 * j + 2, :], axis=(1, 2))
    return output


def lenet(
    input, conv1, conv1bias, conv2, conv2bias, fc1w, fc1b, fc2w, fc2b, fc3w, fc3b, N, C_before_fc1
):
    x = _relu(_conv2d(input, conv1) + conv1bias)
    x = _maxpool2d(x)
    x = _relu(_conv2d(x, conv2) + conv2bias)
    x = _maxpool2d(x)
    x = np.reshape(x, (N, C_before_fc1))
    x = _relu(x @ fc1w + fc1b)
    x = _relu(x @ fc2w + fc2b)
    return x @ fc3w + fc3b


def _softmax(x):
    tmp_max = np.max(x, axis=-1, keepdims=True)
    tmp_out = np.exp(x - tmp_max)
    tmp_sum = np.sum(tmp_out, axis=-1, keepdims=True)
    return tmp_out / tmp_sum


def mlp_softmax(input, w1, b1, w2, b2, w3, b3):
    x = _relu(input @ w1 + b1)
    x = _relu(x @ w2 + b2)
    return _softmax(x @ w3 + b3)


# Statistics and sequences, of the kinds that users write


def sorted_gaps(x):
    y = np.sort(x, axis=1)
    return np.diff(y, axis=1) ** 2


def median_filter(x, width):
    out = np.empty(len(x) - width + 1)
    for i in range(len(out)):
        out[i] = np.median(x[i : i + width])
    return out


def viterbi(score, trans):
    T, K = score.shape
    best = score[0].copy()
    for t in range(1, T):
        step = best[:, None] + trans
        best = score[t] + np.max(step, axis=0)
    return np.max(best)


def nearest(points, centres):
    d = np.sum((points[:, None, :] - centres[None, :, :]) ** 2, axis=2)
    k = np.argmin(d, axis=1)
    return (points - centres[k]) ** 2


def bincounts(labels, weights, k):
    sums = np.bincount(labels, weights, minlength=k)
    return sums**2


def tiled(x, w):
    return np.pad(np.tile(x, (2, 2)), 1)[: len(w)] @ w


def polynomial(coefficients, x):
    return np.polyval(coefficients, x) ** 2


def cubic(x, y, at):
    h = np.diff(x)
    k = np.clip(np.searchsorted(x, at) - 1, 0, len(x) - 2)
    t = (at - x[k]) / h[k]
    slope = np.gradient(y)
    return (
        (1 + 2 * t) * (1 - t) ** 2 * y[k]
        + t * (1 - t) ** 2 * slope[k]
        + t**2 * (3 - 2 * t) * y[k + 1]
        + t**2 * (t - 1) * slope[k + 1]
    )


def smoothed(x, weights):
    return np.convolve(x, weights, mode="same") ** 2


def rotations(v, k, angle):
    k = k / np.linalg.norm(k)
    return (
        v * np.cos(angle)
        + np.cross(k, v) * np.sin(angle)
        + k * (v @ k)[:, None] * (1 - np.cos(angle))
    )


def spectrum(x, freqs, dt):
    t = np.arange(len(x)) * dt
    waves = np.exp(-2j * np.pi * freqs[:, None] * t)
    return np.abs(waves @ x) ** 2


def impedance(omega, R, L, C):
    z = R + 1j * omega * L + 1 / (1j * omega * C)
    return 20 * np.log10(np.abs(1 / z)), np.angle(z)


def schroedinger(psi, potential, dt, dx, steps):
    for _ in range(steps):
        lap = np.zeros_like(psi)
        lap[1:-1] = (psi[2:] - 2 * psi[1:-1] + psi[:-2]) / dx**2
        psi = psi + 1j * dt * (0.5 * lap - potential * psi)
    return np.abs(psi) ** 2


def eig_power(A, steps):
    v = np.ones(A.shape[0]) / np.sqrt(A.shape[0])
    for _ in range(steps):
        v = A @ v
        v /= np.linalg.norm(v)
    return v @ A @ v


def select_pieces(x):
    return np.select([x < 0.2, x < 0.6], [x**2, np.sin(x)], default=np.sqrt(x))


def flat_nonzero(x):
    k = np.flatnonzero(x > 0.5)
    y = np.zeros_like(x)
    y[k] = x[k] ** 2
    return y


def game_of_rows(field, mask):
    field[mask, 1:-1] *= 2.0
    field[~mask] += field[mask][0]
    return field


# ---- arguments -----------------------------------------------------------------------------------


def _complex(r, *shape):
    return r.random(shape) + 1j * r.random(shape)


def _spd(r, n):
    a = r.random((n, n))
    return a @ a.T + n * np.eye(n)


def _lenet(r, n, h, c):
    h1 = (h - 4) // 2
    h2 = (h1 - 4) // 2
    flat = h2 * h2 * 16
    shapes = [(n, h, h, 1), (5, 5, 1, 6), (6,), (5, 5, 6, 16), (16,), (flat, 120), (120,)]
    shapes += [(120, 84), (84,), (84, 10), (10,)]
    return (*(r.random(s) - 0.5 for s in shapes), n, flat)


def _flow(r, n, nt, nit):
    return (
        n,
        n,
        nt,
        nit,
        r.random((n, n)) * 0.1,
        r.random((n, n)) * 0.1,
        0.1 / (n - 1),
        2 / (n - 1),
        2 / (n - 1),
        r.random((n, n)) * 0.1,
        1.0,
        0.1,
    )


def _channel(r, n, nit):
    return (
        nit,
        np.zeros((n, n)),
        np.zeros((n, n)),
        0.1 / (n - 1),
        2 / (n - 1),
        2 / (n - 1),
        np.ones((n, n)),
        1.0,
        0.1,
        1.0,
    )


def _column(r, i, k):
    shapes = [(i, i, k), (i, i, k), (i + 1, i, k), (i, i, k), (i, i, k)]
    return (*(r.random(s) for s in shapes), 3.0 / 20)


def _scatter(r, k, e, q, w, d, a, b, n):
    return (
        r.integers(0, a, (a, b)),
        _complex(r, a, b, d, n, n),
        _complex(r, k, e, a, n, n),
        _complex(r, q, w, a, b, d, d),
        np.zeros((k, e, a, n, n), complex),
    )


#: kernel -> (which arguments hold the result; () where it is returned, which are differentiated, arguments)
SUITE = {
    ludcmp: ((), (0, 1), lambda r, s: (_spd(r, (5, 60)[s]), r.random((5, 60)[s]))),
    cholesky2: ((0,), (0,), lambda r, s: (_spd(r, (5, 120)[s]),)),
    clipped: (
        (),
        (0, 1),
        lambda r, s: (12 * r.random(2 * [(4, 300)[s]]), r.random(2 * [(4, 300)[s]]), 4.0, 3.0, 9.0),
    ),
    go_fast: ((), (0,), lambda r, s: (r.random(2 * [(4, 400)[s]]),)),
    vadv: ((0,), (0, 1, 2, 3, 4), lambda r, s: _column(r, *((3, 5), (40, 40))[s])),
    cavity_flow: ((4, 5, 9), (4, 5, 9), lambda r, s: _flow(r, *((6, 3, 3), (41, 20, 10))[s])),
    channel_flow: ((1, 2, 6), (1, 2, 6), lambda r, s: _channel(r, *((6, 3), (21, 5))[s])),
    azimuthal_naive: (
        (),
        (0,),
        lambda r, s: (r.random((60, 20000)[s]), r.random((60, 20000)[s]), (4, 50)[s]),
    ),
    azimuthal_histogram: (
        (),
        (0,),
        lambda r, s: (r.random((60, 20000)[s]), r.random((60, 20000)[s]), (4, 50)[s]),
    ),
    nussinov: ((), (), lambda r, s: ((8, 60)[s], r.integers(0, 4, (8, 60)[s]))),
    crc16: ((), (), lambda r, s: (r.integers(0, 256, (8, 2000)[s]),)),
    mandelbrot1: ((), (), lambda r, s: (-1.75, 0.25, -1.0, 1.0, *((7, 6, 5), (80, 80, 30))[s])),
    mandelbrot2: ((), (), lambda r, s: (-1.75, 0.25, -1.0, 1.0, *((7, 6, 5), (80, 80, 30))[s])),
    contour_integral: (
        (),
        (3, 5),
        lambda r, s: (
            *((4, 3), (40, 30))[s],
            2,
            _complex(r, 3, *2 * [(4, 40)[s]]),
            _complex(r, (3, 16)[s]),
            _complex(r, *((4, 3), (40, 30))[s]),
        ),
    ),
    stockham_fft: (
        (4,),
        (3,),
        lambda r, s: (4096, 4, 6, _complex(r, 4096), np.zeros(4096, complex)),
    ),
    scattering: (
        (4,),
        (1, 2, 3),
        lambda r, s: _scatter(r, *((2, 2, 2, 2, 2, 3, 2, 2), (2, 4, 2, 2, 2, 6, 2, 4))[s]),
    ),
    lenet: (
        (),
        (1, 2, 3, 4, 5, 6, 7, 8, 9, 10),
        lambda r, s: _lenet(r, *((2, 16, 1), (4, 28, 1))[s]),
    ),
    mlp_softmax: (
        (),
        (1, 2, 3, 4, 5, 6),
        lambda r, s: tuple(
            r.random(e) - 0.5
            for e in (
                ((3, 4), (4, 5), (5,), (5, 6), (6,), (6, 2), (2,)),
                ((32, 64), (64, 100), (100,), (100, 50), (50,), (50, 10), (10,)),
            )[s]
        ),
    ),
    sorted_gaps: ((), (0,), lambda r, s: (r.random(((3, 5), (200, 100))[s]),)),
    median_filter: ((), (0,), lambda r, s: (r.random((9, 500)[s]), (3, 7)[s])),
    viterbi: (
        (),
        (0, 1),
        lambda r, s: (r.random(((4, 3), (100, 20))[s]), r.random(((3, 3), (20, 20))[s])),
    ),
    nearest: (
        (),
        (0, 1),
        lambda r, s: (r.random(((6, 2), (2000, 3))[s]), r.random(((3, 2), (12, 3))[s])),
    ),
    bincounts: (
        (),
        (1,),
        lambda r, s: (r.integers(0, 5, (9, 10000)[s]), r.random((9, 10000)[s]), 6),
    ),
    tiled: (
        (),
        (0, 1),
        lambda r, s: (r.random(2 * [(3, 60)[s]]), r.random(((8, 4), (122, 20))[s])),
    ),
    polynomial: ((), (0, 1), lambda r, s: (r.random(5), r.random((4, 5000)[s]))),
    cubic: (
        (),
        (1, 2),
        lambda r, s: (
            np.linspace(0, 1, (6, 100)[s]),
            r.random((6, 100)[s]),
            r.random((7, 5000)[s]),
        ),
    ),
    smoothed: ((), (0, 1), lambda r, s: (r.random((9, 4000)[s]), r.random((3, 15)[s]))),
    rotations: ((), (0, 1, 2), lambda r, s: (r.random(((4, 3), (3000, 3))[s]), r.random(3), 0.7)),
    spectrum: ((), (0, 1), lambda r, s: (r.random((9, 500)[s]), r.random((4, 60)[s]), 0.1)),
    impedance: ((), (1, 2, 3), lambda r, s: (1 + r.random((5, 5000)[s]), 0.7, 0.3, 0.4)),
    schroedinger: (
        (),
        (0, 1),
        lambda r, s: (_complex(r, (7, 300)[s]), r.random((7, 300)[s]), 1e-3, 0.1, (3, 30)[s]),
    ),
    eig_power: ((), (0,), lambda r, s: (_spd(r, (4, 100)[s]), (5, 20)[s])),
    select_pieces: ((), (0,), lambda r, s: (r.random((7, 20000)[s]),)),
    flat_nonzero: ((), (0,), lambda r, s: (r.random((7, 20000)[s]),)),
    game_of_rows: (
        (),
        (0,),
        lambda r, s: (r.random(((4, 5), (300, 200))[s]), np.arange((4, 300)[s]) % 3 == 1),
    ),
}
