"""Array kernels as users write them: updates in place, loops over slices, a number at the end.

Stencils, factorisations, solvers, chains of matrix products, statistics, layers of networks and
dynamics. Their adjoints by hand are in kernel_adjoints.py, their arguments in kernel_arguments.py.
"""

import numpy as np

# Stencils


def jacobi_1d(A, B, steps):
    for _ in range(steps):
        B[1:-1] = 0.33333 * (A[:-2] + A[1:-1] + A[2:])
        A[1:-1] = 0.33333 * (B[:-2] + B[1:-1] + B[2:])
    return np.sum(A)


def jacobi_2d(A, B, steps):
    for _ in range(steps):
        B[1:-1, 1:-1] = 0.2 * (
            A[1:-1, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:] + A[2:, 1:-1] + A[:-2, 1:-1]
        )
        A[1:-1, 1:-1] = 0.2 * (
            B[1:-1, 1:-1] + B[1:-1, :-2] + B[1:-1, 2:] + B[2:, 1:-1] + B[:-2, 1:-1]
        )
    return np.sum(A)


def heat_3d(A, steps):
    for _ in range(steps):
        inner = A[1:-1, 1:-1, 1:-1]
        A[1:-1, 1:-1, 1:-1] = (
            0.125 * (A[2:, 1:-1, 1:-1] - 2.0 * inner + A[:-2, 1:-1, 1:-1])
            + 0.125 * (A[1:-1, 2:, 1:-1] - 2.0 * inner + A[1:-1, :-2, 1:-1])
            + 0.125 * (A[1:-1, 1:-1, 2:] - 2.0 * inner + A[1:-1, 1:-1, :-2])
            + inner
        )
    return np.sum(A * A)


def seidel_2d(A, steps):
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
    return np.sum(A * A)


def fdtd_2d(ex, ey, hz, pulse):
    for t in range(len(pulse)):
        ey[0, :] = pulse[t]
        ey[1:, :] -= 0.5 * (hz[1:, :] - hz[:-1, :])
        ex[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
        hz[:-1, :-1] -= 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])
    return np.sum(hz)


def adi(u, steps):
    n = u.shape[0]
    v, p, q = np.empty_like(u), np.empty_like(u), np.empty_like(u)
    r = 1.0 / steps * (n - 1) ** 2
    a, b = -0.5 * r, 1.0 + r
    for _ in range(steps):
        v[0, 1:-1] = 1.0
        p[1:-1, 0] = 0.0
        q[1:-1, 0] = 1.0
        for j in range(1, n - 1):
            p[1:-1, j] = -a / (a * p[1:-1, j - 1] + b)
            q[1:-1, j] = (
                -a * u[j, :-2] + (1.0 + 2.0 * a) * u[j, 1:-1] - a * u[j, 2:] - a * q[1:-1, j - 1]
            ) / (a * p[1:-1, j - 1] + b)
        v[-1, 1:-1] = 1.0
        for j in range(n - 2, 0, -1):
            v[j, 1:-1] = p[1:-1, j] * v[j + 1, 1:-1] + q[1:-1, j]
        u[1:-1, 1:-1] = v[1:-1, 1:-1].T
    return np.sum(u * u)


def burgers(u, v, steps, dt, h, nu):
    for _ in range(steps):
        un, vn = u.copy(), v.copy()
        uc, vc = un[1:-1, 1:-1], vn[1:-1, 1:-1]
        u[1:-1, 1:-1] = (
            uc
            - dt / h * uc * (uc - un[1:-1, :-2])
            - dt / h * vc * (uc - un[:-2, 1:-1])
            + nu
            * dt
            / h**2
            * (un[1:-1, 2:] + un[1:-1, :-2] + un[2:, 1:-1] + un[:-2, 1:-1] - 4 * uc)
        )
        v[1:-1, 1:-1] = (
            vc
            - dt / h * uc * (vc - vn[1:-1, :-2])
            - dt / h * vc * (vc - vn[:-2, 1:-1])
            + nu
            * dt
            / h**2
            * (vn[1:-1, 2:] + vn[1:-1, :-2] + vn[2:, 1:-1] + vn[:-2, 1:-1] - 4 * vc)
        )
    return np.sum(u * u) + np.sum(v * v)


def horizontal_diffusion(field, coeff):
    lap = 4.0 * field[1:-1, 1:-1] - (
        field[2:, 1:-1] + field[:-2, 1:-1] + field[1:-1, 2:] + field[1:-1, :-2]
    )
    res = lap[1:, 1:-1] - lap[:-1, 1:-1]
    flx = np.where(res * (field[2:-1, 2:-2] - field[1:-2, 2:-2]) > 0, 0, res)
    res = lap[1:-1, 1:] - lap[1:-1, :-1]
    fly = np.where(res * (field[2:-2, 2:-1] - field[2:-2, 1:-2]) > 0, 0, res)
    out = field[2:-2, 2:-2] - coeff * (flx[1:, :] - flx[:-1, :] + fly[:, 1:] - fly[:, :-1])
    return np.sum(out * out)


def advection(q, u, steps, c):
    for _ in range(steps):
        flux = np.maximum(u, 0.0)[1:] * q[:-1] + np.minimum(u, 0.0)[1:] * q[1:]
        q[1:-1] -= c * (flux[1:] - flux[:-1])
    return np.sum(q * q)


# Solvers and factorisations


def cholesky(A):
    A[0, 0] = np.sqrt(A[0, 0])
    for i in range(1, A.shape[0]):
        for j in range(i):
            A[i, j] -= np.dot(A[i, :j], A[j, :j])
            A[i, j] /= A[j, j]
        A[i, i] -= np.dot(A[i, :i], A[i, :i])
        A[i, i] = np.sqrt(A[i, i])
    return np.sum(np.tril(A))


def lu(A):
    for i in range(A.shape[0]):
        for j in range(i):
            A[i, j] -= A[i, :j] @ A[:j, j]
            A[i, j] /= A[j, j]
        for j in range(i, A.shape[0]):
            A[i, j] -= A[i, :i] @ A[:i, j]
    return np.sum(A)


def lu_solve(A, b):
    n = A.shape[0]
    for i in range(n):
        for j in range(i):
            A[i, j] = (A[i, j] - A[i, :j] @ A[:j, j]) / A[j, j]
        for j in range(i, n):
            A[i, j] -= A[i, :i] @ A[:i, j]
    y = np.zeros_like(b)
    for i in range(n):
        y[i] = b[i] - A[i, :i] @ y[:i]
    x = np.zeros_like(b)
    for i in range(n - 1, -1, -1):
        x[i] = (y[i] - A[i, i + 1 :] @ x[i + 1 :]) / A[i, i]
    return np.sum(x)


def triangular_solve(L, x, b):
    for i in range(x.shape[0]):
        x[i] = (b[i] - L[i, :i] @ x[:i]) / L[i, i]
    return np.sum(x)


def gram_schmidt(A):
    n = A.shape[1]
    Q = np.zeros_like(A)
    R = np.zeros((n, n))
    for k in range(n):
        R[k, k] = np.sqrt(A[:, k] @ A[:, k])
        Q[:, k] = A[:, k] / R[k, k]
        for j in range(k + 1, n):
            R[k, j] = Q[:, k] @ A[:, j]
            A[:, j] -= Q[:, k] * R[k, j]
    return np.sum(R) + np.sum(Q)


def durbin(r):
    y = np.empty_like(r)
    alpha = -r[0]
    beta = 1.0
    y[0] = -r[0]
    for k in range(1, r.shape[0]):
        beta *= 1.0 - alpha * alpha
        alpha = -(r[k] + np.dot(np.flip(r[:k]), y[:k])) / beta
        y[:k] += alpha * np.flip(y[:k])
        y[k] = alpha
    return np.sum(y)


def thomas(a, b, c, d):
    n = b.shape[0]
    for i in range(1, n):
        w = a[i - 1] / b[i - 1]
        b[i] -= w * c[i - 1]
        d[i] -= w * d[i - 1]
    x = np.zeros_like(d)
    x[-1] = d[-1] / b[-1]
    for i in range(n - 2, -1, -1):
        x[i] = (d[i] - c[i] * x[i + 1]) / b[i]
    return np.sum(x * x)


def conjugate_gradient(A, b, steps):
    x = np.zeros_like(b)
    r = b - A @ x
    p = r.copy()
    rr = r @ r
    for _ in range(steps):
        Ap = A @ p
        alpha = rr / (p @ Ap)
        x += alpha * p
        r -= alpha * Ap
        rr_next = r @ r
        p = r + rr_next / rr * p
        rr = rr_next
    return np.sum(x)


# Chains of matrix products


def gemm(alpha, beta, C, A, B):
    C[:] = alpha * A @ B + beta * C
    return np.sum(C)


def k2mm(alpha, beta, A, B, C, D):
    D[:] = alpha * A @ B @ C + beta * D
    return np.sum(D * D)


def k3mm(A, B, C, D):
    G = (A @ B) @ (C @ D)
    return np.sum(G * G)


def atax(A, x):
    return np.sum((A @ x) @ A)


def bicg(A, p, r):
    s = r @ A
    q = A @ p
    return np.sum(s) + np.sum(q)


def mvt(x1, x2, y1, y2, A):
    x1 += A @ y1
    x2 += y2 @ A
    return np.sum(x1 * x2)


def gemver(alpha, beta, A, u1, v1, u2, v2, w, x, y, z):
    A += np.outer(u1, v1) + np.outer(u2, v2)
    x += beta * y @ A + z
    w += alpha * A @ x
    return np.sum(w)


def gesummv(alpha, beta, A, B, x):
    return np.sum(alpha * A @ x + beta * B @ x)


def syrk(alpha, beta, C, A):
    for i in range(A.shape[0]):
        C[i, : i + 1] *= beta
        for k in range(A.shape[1]):
            C[i, : i + 1] += alpha * A[i, k] * A[: i + 1, k]
    return np.sum(C)


def syr2k(alpha, beta, C, A, B):
    for i in range(A.shape[0]):
        C[i, : i + 1] *= beta
        for k in range(A.shape[1]):
            C[i, : i + 1] += A[: i + 1, k] * alpha * B[i, k] + B[: i + 1, k] * alpha * A[i, k]
    return np.sum(C)


def trmm(alpha, A, B):
    for i in range(B.shape[0]):
        for j in range(B.shape[1]):
            B[i, j] += np.dot(A[i + 1 :, i], B[i + 1 :, j])
    B *= alpha
    return np.sum(B)


def symm(alpha, beta, C, A, B):
    temp = np.empty((C.shape[1],))
    C *= beta
    for i in range(C.shape[0]):
        for j in range(C.shape[1]):
            C[:i, j] += alpha * B[i, j] * A[i, :i]
            temp[j] = B[:i, j] @ A[i, :i]
        C[i, :] += alpha * B[i, :] * A[i, i] + alpha * temp
    return np.sum(C)


def doitgen(A, C4):
    for r in range(A.shape[0]):
        for q in range(A.shape[1]):
            A[r, q, :] = A[r, q, :] @ C4
    return np.sum(A)


def spmv(indptr, indices, data, x):
    y = np.empty(len(indptr) - 1)
    for i in range(len(indptr) - 1):
        cols = indices[indptr[i] : indptr[i + 1]]
        vals = data[indptr[i] : indptr[i + 1]]
        y[i] = vals @ x[cols]
    return np.sum(y * y)


# Statistics and filters


def covariance(data):
    m = data.shape[1]
    data -= np.mean(data, axis=0)
    cov = np.zeros((m, m))
    for i in range(m):
        cov[i, i:] = data[:, i] @ data[:, i:] / (data.shape[0] - 1.0)
        cov[i:, i] = cov[i, i:]
    return np.sum(cov * cov)


def correlation(data):
    n, m = data.shape
    mean = np.mean(data, axis=0)
    stddev = np.std(data, axis=0)
    stddev[stddev <= 0.1] = 1.0
    data -= mean
    data /= np.sqrt(n) * stddev
    corr = np.eye(m)
    for i in range(m - 1):
        corr[i, i + 1 :] = data[:, i] @ data[:, i + 1 :]
        corr[i + 1 :, i] = corr[i, i + 1 :]
    return np.sum(corr * corr)


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
    out = y1 + y2
    return np.sum(out * out)


# Layers of networks


def softmax(x, weight):
    shifted = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return np.sum(weight * (shifted / np.sum(shifted, axis=-1, keepdims=True)))


def mlp(x, w1, b1, w2, b2, w3, b3):
    h1 = np.maximum(x @ w1 + b1, 0)
    h2 = np.maximum(h1 @ w2 + b2, 0)
    return np.sum((h2 @ w3 + b3) ** 2)


def conv2d(image, weights, bias):
    K, H, W = weights.shape[0], image.shape[1], image.shape[2]
    out = np.empty((image.shape[0], H - K + 1, W - K + 1, weights.shape[3]))
    for i in range(H - K + 1):
        for j in range(W - K + 1):
            out[:, i, j, :] = np.sum(
                image[:, i : i + K, j : j + K, :, np.newaxis] * weights[np.newaxis, :, :, :],
                axis=(1, 2, 3),
            )
    return np.sum((out + bias) ** 2)


def batch_norm(x, eps=1e-5):
    mean = np.mean(x, axis=0, keepdims=True)
    std = np.std(x, axis=0, keepdims=True)
    return (x - mean) / np.sqrt(std + eps)


def conv_padded(x, w):
    k = w.shape[0] // 2
    padded = np.zeros((x.shape[0], x.shape[1] + 2 * k, x.shape[2] + 2 * k, x.shape[3]))
    padded[:, k : k + x.shape[1], k : k + x.shape[2], :] = x
    out = np.zeros((x.shape[0], x.shape[1], x.shape[2], w.shape[3]))
    for i in range(w.shape[0]):
        for j in range(w.shape[1]):
            out += padded[:, i : i + x.shape[1], j : j + x.shape[2], :] @ w[i, j]
    return out


def residual_block(x, w1, w2):
    h = np.maximum(batch_norm(conv_padded(x, w1)), 0)
    h = batch_norm(conv_padded(h, w2))
    return np.sum(np.maximum(h + x, 0) ** 2)


# Dynamics and distances


def nbody(mass, pos, vel, steps, dt, softening):
    for _ in range(steps):
        dx = pos[:, 0] - pos[:, 0, np.newaxis]
        dy = pos[:, 1] - pos[:, 1, np.newaxis]
        dz = pos[:, 2] - pos[:, 2, np.newaxis]
        inv_r3 = (dx**2 + dy**2 + dz**2 + softening**2) ** -1.5
        ax = (dx * inv_r3) @ mass
        ay = (dy * inv_r3) @ mass
        az = (dz * inv_r3) @ mass
        vel += dt * np.stack((ax, ay, az), axis=1)
        pos += dt * vel
    return 0.5 * np.sum(mass[:, np.newaxis] * vel**2)


def arc_distance(theta_1, phi_1, theta_2, phi_2):
    temp = (
        np.sin((theta_2 - theta_1) / 2) ** 2
        + np.cos(theta_1) * np.cos(theta_2) * np.sin((phi_2 - phi_1) / 2) ** 2
    )
    return np.sum(2 * np.arctan2(np.sqrt(temp), np.sqrt(1 - temp)))


def shortest_paths(path):
    for k in range(path.shape[0]):
        path[:] = np.minimum(path[:], np.add.outer(path[:, k], path[k, :]))
    return np.sum(path)
