"""What type checkers know of the package: what a transformed function takes and gives."""

from collections.abc import Callable
from pathlib import Path
from types import EllipsisType
from typing import Any, Concatenate, Generic, Literal, ParamSpec, Protocol, TypeVar, overload

from s2s_ad import amp as amp
from s2s_ad import interop as interop
from s2s_ad import nn as nn
from s2s_ad import ops as ops
from s2s_ad import parallel as parallel
from s2s_ad.api.grad_operation import GradOperation as GradOperation
from s2s_ad.api.grad_operation import get_grad as get_grad
from s2s_ad.api.settings import GRAPH_MODE as GRAPH_MODE
from s2s_ad.api.settings import PYNATIVE_MODE as PYNATIVE_MODE
from s2s_ad.api.settings import set_context as set_context
from s2s_ad.api.surgery import InsertGradientOf as InsertGradientOf
from s2s_ad.api.surgery import insert_grad_of as insert_grad_of
from s2s_ad.diagnostics import S2SError as S2SError
from s2s_ad.ops import set_seed as set_seed
from s2s_ad.tensors import Parameter as Parameter
from s2s_ad.tensors import ParameterTuple as ParameterTuple
from s2s_ad.tensors import Tensor as Tensor
from s2s_ad.tensors import tensor as tensor
from s2s_ad.tensors.dtypes import DType

P = ParamSpec("P")
Q = ParamSpec("Q")
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)
T = TypeVar("T")

Positions = int | tuple[int, ...] | EllipsisType

__version__: str

bool_: DType
int8: DType
int16: DType
int32: DType
int64: DType
uint8: DType
uint16: DType
uint32: DType
uint64: DType
float16: DType
float32: DType
float64: DType
bfloat16: DType
complex64: DType
complex128: DType

class Transformed(Generic[P, R_co]):
    """A function made by `grad`, `vmap`, `jit` and their kin. It is called as the original."""

    fn: Callable[..., Any]
    label: str
    __name__: str
    __qualname__: str
    __wrapped__: Callable[..., Any]

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R_co: ...
    def source(
        self,
        *args: Any,
        standalone: bool = False,
        native: bool = False,
        namespace: str = "",
        **kwargs: Any,
    ) -> str: ...
    def explain(self, *args: Any, copies: bool = False, **kwargs: Any) -> str: ...
    def show(
        self, *args: Any, path: str | Path | None = None, time: bool = False, **kwargs: Any
    ) -> Any: ...
    def core(self, *args: Any, **kwargs: Any) -> Any: ...
    def lower(self, *args: Any, **kwargs: Any) -> dict[str, Any]: ...
    def text(self, *args: Any, **kwargs: Any) -> Any: ...
    @overload
    def __get__(self, instance: None, owner: type | None = None) -> Transformed[P, R_co]: ...
    @overload
    def __get__(
        self: Transformed[Concatenate[Any, Q], R], instance: object, owner: type | None = None
    ) -> Transformed[Q, R]: ...

class _ToAny(Protocol):
    """A decorator: the result takes what the function takes."""

    def __call__(self, fn: Callable[P, Any], /) -> Transformed[P, Any]: ...

class _ToPair(Protocol):
    def __call__(self, fn: Callable[P, R], /) -> Transformed[P, tuple[R, Any]]: ...

class _ToSame(Protocol):
    def __call__(self, fn: Callable[P, R], /) -> Transformed[P, R]: ...

class _ToMore(Protocol):
    """A decorator: the result takes other arguments than the function."""

    def __call__(self, fn: Callable[..., Any], /) -> Transformed[..., Any]: ...

@overload
def grad(
    fn: staticmethod[..., Any] | classmethod[Any, ..., Any],
    grad_position: Positions | None = 0,
    weights: Any = None,
    has_aux: bool = False,
    return_ids: bool = False,
    sens_param: Literal[False] = False,
    *,
    argnums: Positions | None = None,
) -> Any: ...
@overload
def grad(
    fn: Callable[P, Any],
    grad_position: Positions | None = 0,
    weights: Any = None,
    has_aux: bool = False,
    return_ids: bool = False,
    sens_param: Literal[False] = False,
    *,
    argnums: Positions | None = None,
) -> Transformed[P, Any]: ...
@overload
def grad(
    fn: Callable[..., Any],
    grad_position: Positions | None = 0,
    weights: Any = None,
    has_aux: bool = False,
    return_ids: bool = False,
    *,
    sens_param: Literal[True],
    argnums: Positions | None = None,
) -> Transformed[..., Any]: ...
@overload
def grad(
    *,
    grad_position: Positions | None = 0,
    weights: Any = None,
    has_aux: bool = False,
    return_ids: bool = False,
    sens_param: Literal[False] = False,
    argnums: Positions | None = None,
) -> _ToAny: ...
@overload
def grad(
    *,
    grad_position: Positions | None = 0,
    weights: Any = None,
    has_aux: bool = False,
    return_ids: bool = False,
    sens_param: Literal[True],
    argnums: Positions | None = None,
) -> _ToMore: ...
@overload
def value_and_grad(
    fn: staticmethod[..., Any] | classmethod[Any, ..., Any],
    grad_position: Positions | None = 0,
    weights: Any = None,
    has_aux: bool = False,
    return_ids: bool = False,
    sens_param: Literal[False] = False,
    *,
    argnums: Positions | None = None,
) -> Any: ...
@overload
def value_and_grad(
    fn: Callable[P, R],
    grad_position: Positions | None = 0,
    weights: Any = None,
    has_aux: bool = False,
    return_ids: bool = False,
    sens_param: Literal[False] = False,
    *,
    argnums: Positions | None = None,
) -> Transformed[P, tuple[R, Any]]: ...
@overload
def value_and_grad(
    fn: Callable[..., Any],
    grad_position: Positions | None = 0,
    weights: Any = None,
    has_aux: bool = False,
    return_ids: bool = False,
    *,
    sens_param: Literal[True],
    argnums: Positions | None = None,
) -> Transformed[..., Any]: ...
@overload
def value_and_grad(
    *,
    grad_position: Positions | None = 0,
    weights: Any = None,
    has_aux: bool = False,
    return_ids: bool = False,
    sens_param: Literal[False] = False,
    argnums: Positions | None = None,
) -> _ToPair: ...
@overload
def value_and_grad(
    *,
    grad_position: Positions | None = 0,
    weights: Any = None,
    has_aux: bool = False,
    return_ids: bool = False,
    sens_param: Literal[True],
    argnums: Positions | None = None,
) -> _ToMore: ...
@overload
def jacrev(
    fn: staticmethod[..., Any] | classmethod[Any, ..., Any],
    grad_position: Positions = 0,
    has_aux: bool = False,
    *,
    argnums: Positions | None = None,
) -> Any: ...
@overload
def jacrev(
    fn: Callable[P, Any],
    grad_position: Positions = 0,
    has_aux: bool = False,
    *,
    argnums: Positions | None = None,
) -> Transformed[P, Any]: ...
@overload
def jacrev(
    *,
    grad_position: Positions = 0,
    has_aux: bool = False,
    argnums: Positions | None = None,
) -> _ToAny: ...
@overload
def jacfwd(
    fn: staticmethod[..., Any] | classmethod[Any, ..., Any],
    grad_position: Positions = 0,
    has_aux: bool = False,
    *,
    argnums: Positions | None = None,
) -> Any: ...
@overload
def jacfwd(
    fn: Callable[P, Any],
    grad_position: Positions = 0,
    has_aux: bool = False,
    *,
    argnums: Positions | None = None,
) -> Transformed[P, Any]: ...
@overload
def jacfwd(
    *,
    grad_position: Positions = 0,
    has_aux: bool = False,
    argnums: Positions | None = None,
) -> _ToAny: ...
@overload
def hessian(
    fn: staticmethod[..., Any] | classmethod[Any, ..., Any],
    grad_position: Positions = 0,
    has_aux: bool = False,
    *,
    argnums: Positions | None = None,
) -> Any: ...
@overload
def hessian(
    fn: Callable[P, Any],
    grad_position: Positions = 0,
    has_aux: bool = False,
    *,
    argnums: Positions | None = None,
) -> Transformed[P, Any]: ...
@overload
def hessian(
    *,
    grad_position: Positions = 0,
    has_aux: bool = False,
    argnums: Positions | None = None,
) -> _ToAny: ...
@overload
def vmap(
    fn: staticmethod[..., Any] | classmethod[Any, ..., Any],
    in_axes: Any = 0,
    out_axes: Any = 0,
) -> Any: ...
@overload
def vmap(
    fn: Callable[..., Any],
    in_axes: Any = 0,
    out_axes: Any = 0,
) -> Transformed[..., Any]: ...
@overload
def vmap(
    *,
    in_axes: Any = 0,
    out_axes: Any = 0,
) -> _ToMore: ...
@overload
def jit(
    function: staticmethod[..., Any] | classmethod[Any, ..., Any],
    *,
    capture_mode: str = "ast",
    jit_level: str = "O0",
    dynamic: int = 0,
    fullgraph: bool = False,
    backend: str = "",
    native: bool = True,
    parallel: bool = False,
    wait: bool = True,
    cache: bool = True,
    **options: Any,
) -> Any: ...
@overload
def jit(
    function: Callable[P, R],
    *,
    capture_mode: str = "ast",
    jit_level: str = "O0",
    dynamic: int = 0,
    fullgraph: bool = False,
    backend: str = "",
    native: bool = True,
    parallel: bool = False,
    wait: bool = True,
    cache: bool = True,
    **options: Any,
) -> Transformed[P, R]: ...
@overload
def jit(
    *,
    capture_mode: str = "ast",
    jit_level: str = "O0",
    dynamic: int = 0,
    fullgraph: bool = False,
    backend: str = "",
    native: bool = True,
    parallel: bool = False,
    wait: bool = True,
    cache: bool = True,
    **options: Any,
) -> _ToSame: ...
def jvp(fn: Callable[..., R], inputs: Any, v: Any, has_aux: bool = False) -> tuple[Any, ...]: ...
def vjp(
    fn: Callable[..., Any], *inputs: Any, weights: Any = None, has_aux: bool = False
) -> tuple[Any, ...]: ...
def linearize(fn: Callable[..., Any], inputs: Any) -> tuple[Any, Callable[..., Any]]: ...
def derivative(fn: Callable[..., Any], primals: Any, order: int) -> tuple[Any, Any]: ...
def jet(fn: Callable[..., Any], primals: Any, series: Any) -> tuple[Any, Any]: ...
def stop_gradient(value: T) -> T: ...
def recompute(block: Callable[..., R], *args: Any, **kwargs: Any) -> R: ...
def checkpoint(function: T, *, every: int | None = None, memory: int | None = None) -> T: ...
@overload
def custom_rule(
    function: Callable[P, R],
    *,
    reverse: Callable[..., Any] | None = None,
    forward: Callable[..., Any] | None = None,
    results: int | None = None,
) -> Callable[P, R]: ...
@overload
def custom_rule(
    function: None = None,
    *,
    reverse: Callable[..., Any] | None = None,
    forward: Callable[..., Any] | None = None,
    results: int | None = None,
) -> Callable[[Callable[P, R]], Callable[P, R]]: ...

class SparseJacobian(Generic[P]):
    """What `sparse_jacobian` and `sparse_hessian` return: it gives a scipy.sparse.csr_array."""

    fn: Callable[..., Any]
    label: str

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Any: ...
    def pattern(self, *args: P.args, **kwargs: P.kwargs) -> Any: ...
    def directions(self, *args: P.args, **kwargs: P.kwargs) -> int: ...
    def source(self, *args: Any, standalone: bool = False, **kwargs: Any) -> str: ...

def sparse_jacobian(
    fn: Callable[P, Any], grad_position: int = 0, *, pattern: Any = None, by: str = "auto"
) -> SparseJacobian[P]: ...
def sparse_hessian(
    fn: Callable[P, Any], grad_position: int = 0, *, pattern: Any = None
) -> SparseJacobian[P]: ...
