"""s2s_ad: derivatives and batched forms of NumPy functions, as Python source."""

import importlib
from typing import Any

from s2s_ad import tensors
from s2s_ad.api.function import Transformed
from s2s_ad.api.grad_operation import GradOperation, get_grad
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
from s2s_ad.api.settings import GRAPH_MODE, PYNATIVE_MODE, set_context
from s2s_ad.api.surgery import (
    InsertGradientOf,
    checkpoint,
    custom_rule,
    insert_grad_of,
    recompute,
)
from s2s_ad.api.taylor import derivative, jet, linearize
from s2s_ad.diagnostics import S2SError
from s2s_ad.tensors import DTYPES, Parameter, ParameterTuple, Tensor, tensor

globals().update(DTYPES)

#: packages that are imported when they are first asked for, and what is in such ones
PACKAGES = ("amp", "interop", "nn", "ops", "parallel")
MEMBERS = {
    "SparseJacobian": "s2s_ad.sparse",
    "set_seed": "s2s_ad.ops",
    "sparse_hessian": "s2s_ad.sparse",
    "sparse_jacobian": "s2s_ad.sparse",
}

__all__ = [
    *DTYPES,
    *PACKAGES,
    "GRAPH_MODE",
    "PYNATIVE_MODE",
    "GradOperation",
    "InsertGradientOf",
    "Parameter",
    "ParameterTuple",
    "S2SError",
    "SparseJacobian",
    "Tensor",
    "Transformed",
    "checkpoint",
    "custom_rule",
    "derivative",
    "get_grad",
    "grad",
    "hessian",
    "insert_grad_of",
    "jacfwd",
    "jacrev",
    "jet",
    "jit",
    "jvp",
    "linearize",
    "recompute",
    "set_context",
    "set_seed",
    "sparse_hessian",
    "sparse_jacobian",
    "stop_gradient",
    "tensor",
    "value_and_grad",
    "vjp",
    "vmap",
]


def __getattr__(name: str) -> Any:
    if name in PACKAGES:
        return importlib.import_module(f"s2s_ad.{name}")
    if name in MEMBERS:
        return getattr(importlib.import_module(MEMBERS[name]), name)
    if name == "__version__":
        return importlib.import_module("importlib.metadata").version("s2s_ad")
    if name == "bfloat16":
        return tensors.bfloat16()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__all__", "__doc__", "__file__", "__name__", "__path__", "__version__"]
