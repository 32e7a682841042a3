"""A Newton-CG fit with SciPy: gradient and Hessian-vector products, both generated."""

import numpy as np
from scipy.optimize import minimize

from s2s_ad import grad, jvp, value_and_grad

rng = np.random.default_rng(0)
design = np.column_stack([np.ones(200), rng.normal(size=(200, 4))])
truth = np.array([0.5, 1.0, -2.0, 0.0, 0.75])
counts = rng.poisson(np.exp(design @ truth * 0.5)).astype(float)


def negative_log_likelihood(beta):
    """Of a Poisson regression, with a small ridge."""
    rate = design @ beta
    return np.sum(np.exp(rate) - counts * rate) + 0.5 * np.sum(beta**2)


def hessian_times(beta, direction):
    """The Hessian times a direction: forward mode over reverse mode, no Hessian is made."""
    return jvp(grad(negative_log_likelihood), beta, direction)[1]


def main():
    fit = minimize(
        value_and_grad(negative_log_likelihood),
        np.zeros(5),
        method="Newton-CG",
        jac=True,
        hessp=hessian_times,
        options={"xtol": 1e-10},
    )
    print("coefficients:", np.round(fit.x, 4))
    print("gradient below 1e-6:", bool(np.max(np.abs(grad(negative_log_likelihood)(fit.x))) < 1e-6))
    print(value_and_grad(negative_log_likelihood).source(fit.x))


if __name__ == "__main__":
    main()

# Output:
#
# coefficients: [ 0.3069  0.4442 -1.0302  0.0467  0.3078]
# gradient below 1e-6: True
# import numpy as np
#
# # bound when it was compiled: design, counts
#
#
# def negative_log_likelihood_value_and_grad(beta):
#     """negative_log_likelihood and its gradient with respect to beta (newton_cg.py:14).
#     """
#     # forward
#     rate = design @ beta  # line 16
#     exp_rate = np.exp(rate)  # line 17
#     value = np.sum(exp_rate - counts * rate) + 0.5 * np.sum(beta**2)
#     # backward
#     rate_bar = exp_rate - counts
#     beta_bar = beta + rate_bar @ design  # line 16
#     return value, beta_bar
