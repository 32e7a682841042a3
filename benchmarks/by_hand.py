"""What an expert writes for the same derivatives: what the generated code is measured against."""

import numpy as np

r_tp1 = np.array(2.0)
s_tp1 = np.array([1.0, 2.0, 0.0])


def td_loss_grad(theta, s_tm1, r_t, s_t):
    v_t = theta @ s_t
    target = r_tp1 + theta @ s_tp1
    v_t_bar = -2 * (target - v_t)
    theta_bar = v_t_bar * s_t
    return theta_bar


def td_loss_grad_vmap(theta, s_tm1, r_t, s_t):
    v_t = s_t @ theta
    target = r_tp1 + theta @ s_tp1
    v_t_bar = -2 * (target - v_t)
    theta_bar = v_t_bar[:, None] * s_t
    return theta_bar


def mlp_loss_value_and_grad_vmap(params, x, label):
    W1, b1, W2, b2 = params["W1"], params["b1"], params["W2"], params["b2"]
    batch = np.arange(len(x))
    h = np.tanh(x @ W1 + b1)
    logits = h @ W2 + b2
    z = logits - np.max(logits, axis=1, keepdims=True)
    exp_z = np.exp(z)
    sum_exp_z = np.sum(exp_z, axis=1)
    loss = np.log(sum_exp_z) - z[batch, label]
    z_bar = exp_z / sum_exp_z[:, None]
    z_bar[batch, label] -= 1.0
    logits_bar = z_bar.copy()
    logits_bar[batch, np.argmax(logits, axis=1)] -= np.sum(z_bar, axis=1)
    W2_bar = np.einsum("bi,bj->bij", h, logits_bar)
    h_bar = logits_bar @ W2.T
    pre_bar = h_bar * (1 - h**2)
    W1_bar = np.einsum("bi,bj->bij", x, pre_bar)
    return loss, {"W1": W1_bar, "b1": pre_bar, "W2": W2_bar, "b2": logits_bar}


def rosenbrock_grad(x):
    x_bar = np.zeros_like(x)
    valley = x[1:] - x[:-1] ** 2
    valley_bar = 200.0 * valley
    x_bar[1:] += valley_bar
    x_bar[:-1] -= 2 * x[:-1] * valley_bar
    x_bar[:-1] -= 2 * (1 - x[:-1])
    return x_bar


def rosenbrock_hvp(x, x_dot):
    x_bar = np.zeros_like(x)
    x_bar_dot = np.zeros_like(x)
    valley = x[1:] - x[:-1] ** 2
    valley_dot = x_dot[1:] - 2 * x[:-1] * x_dot[:-1]
    valley_bar = 200.0 * valley
    valley_bar_dot = 200.0 * valley_dot
    x_bar[1:] += valley_bar
    x_bar_dot[1:] += valley_bar_dot
    x_bar[:-1] -= 2 * x[:-1] * valley_bar
    x_bar_dot[:-1] -= 2 * (x_dot[:-1] * valley_bar + x[:-1] * valley_bar_dot)
    x_bar[:-1] -= 2 * (1 - x[:-1])
    x_bar_dot[:-1] += 2 * x_dot[:-1]
    return x_bar, x_bar_dot


def logistic_grad(W, b, x, y):
    t = np.tanh(x @ W + b)
    p = 0.5 * (t + 1)
    p_bar = (1 - y) / (1 - p) - y / p
    h_bar = 0.5 * p_bar * (1 - t * t)
    return h_bar @ x, np.sum(h_bar)
