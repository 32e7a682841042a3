"""s2s_ad: derivatives and batched forms of NumPy functions, as Python source."""

from s2s_ad.api.make import (
    grad,
    hessian,
    jacfwd,
    jacrev,
    jit,
    jvp,
    stop_gradient,
    value_and_grad,
    vjp,
    vmap,
)
from s2s_ad.api.surgery import checkpoint, custom_rule, insert_grad_of
from s2s_ad.diagnostics import S2SError

__all__ = [
    "S2SError",
    "checkpoint",
    "custom_rule",
    "grad",
    "hessian",
    "insert_grad_of",
    "jacfwd",
    "jacrev",
    "jit",
    "jvp",
    "stop_gradient",
    "value_and_grad",
    "vjp",
    "vmap",
]
