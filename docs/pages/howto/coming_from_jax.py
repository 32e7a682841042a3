"""
Coming from JAX
===============

The transforms have the same names and go together in the same way. What is different is what you
write inside: plain NumPy.
"""

import numpy as np

from s2s_ad import grad, value_and_grad, vjp, vmap

# %%
# .. list-table::
#    :header-rows: 1
#
#    * - JAX
#      - here
#    * - ``import jax.numpy as jnp``
#      - ``import numpy as np``
#    * - ``jax.grad``, ``value_and_grad``, ``jacfwd``, ``jacrev``, ``hessian``, ``jvp``, ``vjp``,
#        ``linearize``, ``vmap``
#      - the same names; ``argnums=`` and ``has_aux=`` too
#    * - ``x.at[i].set(v)``
#      - ``x[i] = v``
#    * - ``lax.scan``, ``lax.fori_loop``, ``lax.while_loop``
#      - ``for`` and ``while``
#    * - ``lax.cond``, ``jnp.where`` for control
#      - ``if``
#    * - ``jax.checkpoint``
#      - :func:`~s2s_ad.checkpoint`, also ``for i in checkpoint(range(n), every=k)``
#    * - ``jax.custom_vjp``, ``custom_jvp``
#      - :func:`~s2s_ad.custom_rule`
#    * - ``lax.stop_gradient``
#      - :func:`~s2s_ad.stop_gradient`
#    * - ``jax.make_jaxpr(grad(f))(x)``
#      - ``grad(f).source(x)``
#
# A loop is a loop
# ----------------


def newton(a):
    x = a
    for _ in range(20):
        if abs(x * x - a) < 1e-12:
            break
        x = 0.5 * (x + a / x)
    return x


print(grad(newton)(2.0), "is", 0.5 / np.sqrt(2.0))

# %%
# An update is an update
# ----------------------


def prefix(x):
    y = x.copy()
    for i in range(1, len(y)):
        y[i] += 0.5 * y[i - 1]
    return np.sum(y**2)


x = np.arange(4.0)
print(grad(prefix)(x))
value, pullback = vjp(prefix, x)
print(value, pullback(1.0))

# %%
# What to know
# ------------
#
# * Results are arrays of NumPy on the CPU, in float64 where you give float64.
# * ``grad`` of a function that returns an array is the gradient of its sum; JAX refuses it.
# * The gradient with respect to a complex number is the direction of steepest ascent, as in
#   PyTorch; JAX gives its conjugate.
# * ``jit`` simplifies, and writes :doc:`loops that Numba compiles <numba_gradients>` where that is
#   installed.
# * There are no tracers: ``print(x)`` prints numbers, ``if x > 0`` decides, and NumPy's functions
#   are NumPy's. What cannot be read is refused when it is compiled, with its line.
# * Random numbers are drawn by ``np.random.default_rng(seed)``, and a draw is a constant to the
#   gradient.

per_sample = vmap(value_and_grad(prefix))
print(per_sample(np.ones((2, 3))))
