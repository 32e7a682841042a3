"""s2s_ad: derivatives and batched forms of NumPy functions, as Python source."""

import importlib
from typing import Any

from s2s_ad import tensors
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
from s2s_ad.tensors import DTYPES, Parameter, ParameterTuple, Tensor, tensor

globals().update(DTYPES)

#: packages that are imported when they are first asked for
PACKAGES = ("amp", "nn", "ops")

__all__ = [
    *DTYPES,
    *PACKAGES,
    "Parameter",
    "ParameterTuple",
    "S2SError",
    "Tensor",
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
    "tensor",
    "value_and_grad",
    "vjp",
    "vmap",
]


def __getattr__(name: str) -> Any:
    if name in PACKAGES:
        return importlib.import_module(f"s2s_ad.{name}")
    if name == "bfloat16":
        return tensors.bfloat16()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
