"""The functions that are differentiated, once for every library that has NumPy's names."""

from types import SimpleNamespace


def programs(np, stop_gradient):
    """The functions, written with a module that has NumPy's names."""
    r_tp1 = np.array(2.0)
    s_tp1 = np.array([1.0, 2.0, 0.0])

    def td_loss(theta, s_tm1, r_t, s_t):
        v_t = theta @ s_t
        target = r_tp1 + theta @ s_tp1
        return (stop_gradient(target) - v_t) ** 2

    def mlp_loss(params, x, label):
        h = np.tanh(x @ params["W1"] + params["b1"])
        logits = h @ params["W2"] + params["b2"]
        z = logits - np.max(logits)
        return np.log(np.sum(np.exp(z))) - z[label]

    def rosenbrock(x):
        return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)

    def logistic(W, b, x, y):
        h = x @ W + b
        t = np.tanh(h)
        p = 0.5 * (t + 1)
        return -np.sum(np.log(p * y + (1 - p) * (1 - y)))

    return SimpleNamespace(
        td_loss=td_loss, mlp_loss=mlp_loss, rosenbrock=rosenbrock, logistic=logistic
    )
