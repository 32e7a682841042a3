"""Functions with loops, branches and calls, each beside the code that an expert wrote by hand."""

import numpy as np


def logistic_map(r, x, n):
    for _ in range(n):
        x = r * x * (1 - x)
    return x


def logistic_map_grad(r, x, n):
    x_saved = []
    for _ in range(n):
        x_saved.append(x)
        x = r * x * (1 - x)
    r_bar = 0.0
    x_bar = 1.0
    for _ in range(n):
        x = x_saved.pop()
        r_bar += x_bar * (1 - x) * x
        x_bar = x_bar * (1 - x) * r - x_bar * (r * x)
    return r_bar


def heat(u, k, steps):
    u = u.copy()
    for _ in range(steps):
        u[1:-1] += k * (u[2:] - 2 * u[1:-1] + u[:-2])
    return np.sum(u**2)


def heat_grad(u, k, steps):
    u = u.copy()
    curvature_saved = []
    for _ in range(steps):
        curvature = u[2:] - 2 * u[1:-1] + u[:-2]
        curvature_saved.append(curvature)
        u[1:-1] += k * curvature
    u_bar = 2 * u
    k_bar = 0.0
    for _ in range(steps):
        curvature = curvature_saved.pop()
        k_bar += np.sum(u_bar[1:-1] * curvature)
        curvature_bar = k * u_bar[1:-1]
        u_bar[2:] += curvature_bar
        u_bar[1:-1] -= 2 * curvature_bar
        u_bar[:-2] += curvature_bar
    return u_bar, k_bar


def newton_sqrt(a):
    x = a
    while abs(x * x - a) > 1e-10:
        x = 0.5 * (x + a / x)
    return x


def newton_sqrt_grad(a):
    x = a
    x_saved = []
    while abs(x * x - a) > 1e-10:
        x_saved.append(x)
        x = 0.5 * (x + a / x)
    a_bar = 0.0
    x_bar = 1.0
    while x_saved:
        x = x_saved.pop()
        half = 0.5 * x_bar
        a_bar += half / x
        x_bar = half - half * a / x**2
    a_bar += x_bar
    return a_bar


def newton_sqrt_vmap(a):
    x = a.copy()
    running = np.flatnonzero(abs(x * x - a) > 1e-10)
    while running.size:
        x_i, a_i = x[running], a[running]
        x_i = 0.5 * (x_i + a_i / x_i)
        x[running] = x_i
        running = running[abs(x_i * x_i - a_i) > 1e-10]
    return x


def huber(x, delta):
    r = abs(x)
    if r <= delta:
        return 0.5 * x * x
    return delta * (r - 0.5 * delta)


def huber_grad(x, delta):
    r = abs(x)
    if r <= delta:
        x_bar = x
    else:
        x_bar = delta * np.sign(x)
    return x_bar


def huber_grad_vmap(x, delta):
    r = abs(x)
    x_bar = np.where(r <= delta, x, delta * np.sign(x))
    return x_bar


def safe_log(x):
    if x > 0:
        y = np.log(x)
    else:
        y = 0.0
    return y


def safe_log_vmap(x):
    taken = x > 0
    y = np.zeros(len(x))
    y[taken] = np.log(x[taken])
    return y


def safe_log_vmap_grad(x):
    taken = x > 0
    x_bar = np.zeros_like(x)
    x_bar[taken] = 1 / x[taken]
    return x_bar


def cell(h, x, W, U):
    pre = W @ x + U @ h
    return np.tanh(pre)


def rnn_loss(W, U, xs, target):
    h = np.zeros(U.shape[0])
    for x in xs:
        h = cell(h, x, W, U)
    err = h - target
    return err @ err


def rnn_loss_grad(W, U, xs, target):
    h = np.zeros(U.shape[0])
    h_saved = []
    for x in xs:
        h_saved.append(h)
        h = cell(h, x, W, U)
    err = h - target
    W_bar = np.zeros_like(W)
    U_bar = np.zeros_like(U)
    h_bar = 2 * err
    for x in reversed(xs):
        h_prev = h_saved.pop()
        h_bar = cell_backward(h, h_prev, x, U, h_bar, W_bar, U_bar)
        h = h_prev
    return W_bar, U_bar


def cell_backward(y, h, x, U, y_bar, W_bar, U_bar):
    pre_bar = y_bar * (1 - y**2)
    W_bar += np.outer(pre_bar, x)
    U_bar += np.outer(pre_bar, h)
    return pre_bar @ U
