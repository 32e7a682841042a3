"""Bridges: functions of NumPy arrays, with their derivatives, in PyTorch, JAX and SciPy.

`interop.torch(f)` and `interop.jax(f)` are functions of tensors and of JAX arrays, which these
libraries differentiate; `fun_and_jac`, `jac` and `hessp` have the forms that SciPy asks for.
"""

from __future__ import annotations

from collections.abc import Callable

from s2s_ad.interop.for_scipy import fun_and_jac, hessp, jac, vector

__all__ = ["fun_and_jac", "hessp", "jac", "jax", "torch", "vector"]


def torch(fn: Callable) -> Callable:
    """`fn`, a function of NumPy arrays, as one of tensors that PyTorch differentiates.

    Its derivatives are those of s2s_ad, of any order; `torch.func.vmap` makes one call of the
    batched function. (`torch.func.jvp` is not served.) Tensors, also those in tuples, lists and
    dicts, reach `fn` as arrays that share their memory (of another device, a copy); what else is
    passed reaches it as it is, and counts as known to the code. What `fn` changes in its arguments
    is not seen outside. Results are tensors of the dtype that `fn` gives.

    Args:
        fn: a function, or what `vmap` or `jit` made of one.

    Raises:
        ModuleNotFoundError: PyTorch is not installed.
        S2SError: where `fn` is called or differentiated, as by `grad` itself.

    Example:
        >>> import numpy as np
        >>> torch = __import__("pytest").importorskip("torch")
        >>> from s2s_ad import interop
        >>> energy = interop.torch(lambda x, k: k * np.sum(x**2))
        >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
        >>> energy(x, 3).backward()
        >>> x.grad
        tensor([ 6., 12.])
    """
    from s2s_ad.interop import for_torch

    return for_torch.bridge(fn)


def jax(fn: Callable) -> Callable:
    """`fn`, a function of NumPy arrays, as one of JAX arrays that JAX differentiates.

    Its derivatives are those of s2s_ad: `jax.grad`, `jax.vjp` and `jax.jacrev`, of any order, under
    `jax.jit` and `jax.vmap` too, which makes one call of the batched function. (`jax.jvp` and
    `jax.jacfwd` are not served: JAX takes either rule of a function, and this one has that for
    reverse mode.) JAX arrays, also those in containers, reach `fn` as NumPy arrays; what else is
    passed (Python's numbers, texts, None) reaches it as it is, and counts as known to the code.

    Args:
        fn: a function, or what `vmap` or `jit` made of one.

    Raises:
        ModuleNotFoundError: JAX is not installed.
        S2SError: where `fn` is called or differentiated, as by `grad` itself; the shapes of its
            results must follow from those of its arguments.

    Example:
        >>> import numpy as np
        >>> jax = __import__("pytest").importorskip("jax")
        >>> from s2s_ad import interop
        >>> energy = interop.jax(lambda x, k: k * np.sum(x**2))
        >>> jax.jit(jax.grad(lambda x: energy(x, 3)))(jax.numpy.array([1.0, 2.0]))
        Array([ 6., 12.], dtype=float32)
    """
    from s2s_ad.interop import for_jax

    return for_jax.bridge(fn)
