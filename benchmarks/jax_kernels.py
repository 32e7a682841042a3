"""The kernels as one writes them for JAX: whole arrays, `at[...]`, and loops that it compiles."""

import jax
import jax.numpy as jnp
from jax.lax import fori_loop

jax.config.update("jax_enable_x64", True)


def gradient(kernel, places):
    """The gradient of the port of a kernel, compiled; None where there is none."""
    port = globals().get(kernel.__name__)
    if port is None:
        return None
    whole = jax.grad(port, places if len(places) > 1 else places[0])
    compiled = {}

    def finished(*args):
        static = tuple(k for k, each in enumerate(args) if isinstance(each, int))
        if static not in compiled:
            compiled[static] = jax.jit(whole, static_argnums=static)
        return jax.block_until_ready(compiled[static](*args))

    return finished


def jacobi_1d(A, B, steps):
    def step(_, both):
        A, B = both
        B = B.at[1:-1].set(0.33333 * (A[:-2] + A[1:-1] + A[2:]))
        return A.at[1:-1].set(0.33333 * (B[:-2] + B[1:-1] + B[2:])), B

    return jnp.sum(fori_loop(0, steps, step, (A, B))[0])


def _cross(A):
    return 0.2 * (A[1:-1, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:] + A[2:, 1:-1] + A[:-2, 1:-1])


def jacobi_2d(A, B, steps):
    def step(_, both):
        A, B = both
        B = B.at[1:-1, 1:-1].set(_cross(A))
        return A.at[1:-1, 1:-1].set(_cross(B)), B

    return jnp.sum(fori_loop(0, steps, step, (A, B))[0])


def heat_3d(A, steps):
    def step(_, A):
        inner = A[1:-1, 1:-1, 1:-1]
        return A.at[1:-1, 1:-1, 1:-1].set(
            0.125 * (A[2:, 1:-1, 1:-1] - 2.0 * inner + A[:-2, 1:-1, 1:-1])
            + 0.125 * (A[1:-1, 2:, 1:-1] - 2.0 * inner + A[1:-1, :-2, 1:-1])
            + 0.125 * (A[1:-1, 1:-1, 2:] - 2.0 * inner + A[1:-1, 1:-1, :-2])
            + inner
        )

    A = fori_loop(0, steps, step, A)
    return jnp.sum(A * A)


def fdtd_2d(ex, ey, hz, pulse):
    def step(t, fields):
        ex, ey, hz = fields
        ey = ey.at[0, :].set(pulse[t])
        ey = ey.at[1:, :].add(-0.5 * (hz[1:, :] - hz[:-1, :]))
        ex = ex.at[:, 1:].add(-0.5 * (hz[:, 1:] - hz[:, :-1]))
        curl = ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1]
        return ex, ey, hz.at[:-1, :-1].add(-0.7 * curl)

    return jnp.sum(fori_loop(0, len(pulse), step, (ex, ey, hz))[2])


def advection(q, u, steps, c):
    def step(_, q):
        flux = jnp.maximum(u, 0.0)[1:] * q[:-1] + jnp.minimum(u, 0.0)[1:] * q[1:]
        return q.at[1:-1].add(-c * (flux[1:] - flux[:-1]))

    q = fori_loop(0, steps, step, q)
    return jnp.sum(q * q)


def thomas(a, b, c, d):
    n = b.shape[0]

    def down(i, both):
        b, d = both
        w = a[i - 1] / b[i - 1]
        return b.at[i].add(-w * c[i - 1]), d.at[i].add(-w * d[i - 1])

    b, d = fori_loop(1, n, down, (b, d))

    def up(k, x):
        i = n - 2 - k
        return x.at[i].set((d[i] - c[i] * x[i + 1]) / b[i])

    x = fori_loop(0, n - 1, up, jnp.zeros_like(d).at[-1].set(d[-1] / b[-1]))
    return jnp.sum(x * x)


def conjugate_gradient(A, b, steps):
    x = jnp.zeros_like(b)
    r = b - A @ x

    def step(_, state):
        x, r, p, rr = state
        Ap = A @ p
        alpha = rr / (p @ Ap)
        x, r = x + alpha * p, r - alpha * Ap
        rr_next = r @ r
        return x, r, r + rr_next / rr * p, rr_next

    return jnp.sum(fori_loop(0, steps, step, (x, r, r, r @ r))[0])


def gemm(alpha, beta, C, A, B):
    return jnp.sum(alpha * A @ B + beta * C)


def k2mm(alpha, beta, A, B, C, D):
    D = alpha * A @ B @ C + beta * D
    return jnp.sum(D * D)


def k3mm(A, B, C, D):
    G = (A @ B) @ (C @ D)
    return jnp.sum(G * G)


def atax(A, x):
    return jnp.sum((A @ x) @ A)


def bicg(A, p, r):
    return jnp.sum(r @ A) + jnp.sum(A @ p)


def mvt(x1, x2, y1, y2, A):
    return jnp.sum((x1 + A @ y1) * (x2 + y2 @ A))


def gemver(alpha, beta, A, u1, v1, u2, v2, w, x, y, z):
    A = A + jnp.outer(u1, v1) + jnp.outer(u2, v2)
    x = x + beta * y @ A + z
    return jnp.sum(w + alpha * A @ x)


def gesummv(alpha, beta, A, B, x):
    return jnp.sum(alpha * A @ x + beta * B @ x)


def softmax(x, weight):
    shifted = jnp.exp(x - jnp.max(x, axis=-1, keepdims=True))
    return jnp.sum(weight * (shifted / jnp.sum(shifted, axis=-1, keepdims=True)))


def mlp(x, w1, b1, w2, b2, w3, b3):
    h1 = jnp.maximum(x @ w1 + b1, 0)
    h2 = jnp.maximum(h1 @ w2 + b2, 0)
    return jnp.sum((h2 @ w3 + b3) ** 2)


def nbody(mass, pos, vel, steps, dt, softening):
    def step(_, both):
        pos, vel = both
        dx = pos[:, 0] - pos[:, 0, None]
        dy = pos[:, 1] - pos[:, 1, None]
        dz = pos[:, 2] - pos[:, 2, None]
        inv_r3 = (dx**2 + dy**2 + dz**2 + softening**2) ** -1.5
        pulls = [(each * inv_r3) @ mass for each in (dx, dy, dz)]
        vel = vel + dt * jnp.stack(pulls, axis=1)
        return pos + dt * vel, vel

    _, vel = fori_loop(0, steps, step, (pos, vel))
    return 0.5 * jnp.sum(mass[:, None] * vel**2)


def arc_distance(theta_1, phi_1, theta_2, phi_2):
    temp = (
        jnp.sin((theta_2 - theta_1) / 2) ** 2
        + jnp.cos(theta_1) * jnp.cos(theta_2) * jnp.sin((phi_2 - phi_1) / 2) ** 2
    )
    return jnp.sum(2 * jnp.arctan2(jnp.sqrt(temp), jnp.sqrt(1 - temp)))


def shortest_paths(path):
    def step(k, path):
        return jnp.minimum(path, path[:, k][:, None] + path[k, :])

    return jnp.sum(fori_loop(0, path.shape[0], step, path))
