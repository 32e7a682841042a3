"""Parameter: a Tensor with a name, whose value is changed in place; and tuples of Parameters."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any

import numpy as np

from s2s_ad.diagnostics import ArgumentTypeError, ArgumentValueError
from s2s_ad.tensors.conversion import array_of
from s2s_ad.tensors.dtypes import DTYPES
from s2s_ad.tensors.tensor import Tensor, plain

_numbers = itertools.count(1)
_LONGEST_NAME = 1024
_FILLS = {"same": None, "zeros": 0, "ones": 1}


class Parameter(Tensor):
    """A Tensor that a model has and training changes. What is computed with it is a Tensor.

    The value is a copy of what is given and changes in place only (`set_data`, `p[...] = v`,
    `p += v`): whoever holds the parameter, or a view of it, sees the change. So its shape and its
    dtype stay.

    Args:
        default_input: a Tensor, an array, or numbers: a float gives Float32, an int Int32.
        name: by default 'Parameter#k', until a Cell names it by its attribute.
        requires_grad: whether it is among the `trainable_params` of a Cell.
        layerwise_parallel, parallel_optimizer: accepted, without effect.

    Attributes:
        over_chunks: what becomes of the values that chunks of data give it, where
            `parallel.data_parallel` computes them apart: "mean", or None where nobody has said.

    Raises:
        ArgumentTypeError: the data is not numbers, the name not a string, or requires_grad not
            True or False.

    Example:
        >>> p = Parameter(Tensor([1.0, 2.0]), name="w")
        >>> p.set_data(Tensor([3.0, 4.0]))
        Parameter (name=w, shape=(2,), dtype=Float32, requires_grad=True)
        >>> print(p * 2)
        [6. 8.]
    """

    def __new__(
        cls,
        default_input: Any,
        name: str | None = None,
        requires_grad: bool = True,
        layerwise_parallel: bool = False,
        parallel_optimizer: bool = True,
    ) -> Parameter:
        if isinstance(default_input, bool):
            raise ArgumentTypeError("S2S501", "Parameter: argument 'default_input' is a bool")
        dtype = DTYPES["int32"] if isinstance(default_input, int) else None
        self = np.array(array_of("Parameter", default_input, dtype)).view(cls)
        self.name = name
        self.requires_grad = requires_grad
        self.layerwise_parallel = layerwise_parallel
        self.parallel_optimizer = parallel_optimizer
        self.over_chunks = None
        return self

    def __array_finalize__(self, source: Any) -> None:
        """What NumPy makes of a Parameter, a view or a result, is a Tensor."""
        if isinstance(source, Parameter):
            self.__class__ = Tensor

    # ---- name and requires_grad ----------------------------------------------------------------

    @property
    def name(self) -> str:
        return self._name

    @name.setter
    def name(self, name: str | None) -> None:
        if not isinstance(name, str | None):
            raise ArgumentTypeError(
                "S2S501", f"Parameter: argument 'name' must be a string or None, got {name!r}"
            )
        if name and len(name) > _LONGEST_NAME:
            raise ArgumentValueError(
                "S2S502", f"Parameter: the name has more than {_LONGEST_NAME} characters"
            )
        self._name = (name or "").strip() or f"Parameter#{next(_numbers)}"

    @property
    def requires_grad(self) -> bool:
        return self._requires_grad

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        if not isinstance(value, bool):
            raise ArgumentTypeError(
                "S2S501", f"Parameter: argument 'requires_grad' must be a bool, got {value!r}"
            )
        self._requires_grad = value

    @property
    def over_chunks(self) -> str | None:
        return self._over_chunks

    @over_chunks.setter
    def over_chunks(self, value: str | None) -> None:
        if value not in (None, "mean"):
            raise ArgumentValueError(
                "S2S502", f"Parameter: over_chunks must be 'mean' or None, got {value!r}"
            )
        self._over_chunks = value

    # ---- value ---------------------------------------------------------------------------------

    @property
    def data(self) -> Tensor:
        """The value as a Tensor, in the same memory."""
        return self.view(Tensor)

    @data.setter
    def data(self, data: Any) -> None:
        self.set_data(data)

    def value(self) -> Tensor:
        """The value as a Tensor, in the same memory."""
        return self.view(Tensor)

    def set_data(self, data: Any, slice_shape: bool = False) -> Parameter:
        """Change the value in place, in the parameter's dtype, and give the parameter back.

        Raises:
            ArgumentTypeError: the data is not a Tensor, an array or a number, or is complex where
                the parameter is not.
            ArgumentValueError: the data has another shape.
        """
        if not isinstance(data, np.ndarray | np.generic | int | float | complex):
            raise ArgumentTypeError(
                "S2S501",
                f"set_data: argument 'data' of parameter {self.name!r} must be a Tensor, an array "
                f"or a number, got {type(data).__name__}",
                help="make it one: Tensor(data)",
            )
        value = plain(np.asarray(data))
        if value.dtype.kind == "c" and self.dtype.kind != "c":
            raise ArgumentTypeError(
                "S2S501", f"set_data: complex data, but parameter {self.name!r} is of {self.dtype}"
            )
        if value.shape != self.shape:
            raise ArgumentValueError(
                "S2S502",
                f"set_data: shape {value.shape} != shape {self.shape} of parameter {self.name!r}",
                why="a parameter keeps its memory, which others may look at",
                help="make a new Parameter of the other shape",
            )
        np.copyto(plain(self), value, casting="unsafe")
        return self

    def clone(self, init: Any = "same") -> Parameter:
        """A new parameter of the same name: with a copy of the value, zeros, ones or a number.

        Raises:
            ArgumentValueError: `init` is something else.
        """
        fill = _FILLS.get(init, init) if isinstance(init, str) else init
        if not isinstance(fill, int | float | None) or init is None:
            raise ArgumentValueError(
                "S2S502", f"clone: init must be 'same', 'zeros', 'ones' or a number, got {init!r}"
            )
        found = Parameter(plain(self), self.name, self.requires_grad)
        found.layerwise_parallel = self.layerwise_parallel
        found.parallel_optimizer = self.parallel_optimizer
        found.over_chunks = self.over_chunks
        if fill is not None:
            found[...] = fill
        return found

    # ---- text and copies -----------------------------------------------------------------------

    def __repr__(self) -> str:
        return (
            f"Parameter (name={self.name}, shape={self.shape}, dtype={self.dtype}, "
            f"requires_grad={self.requires_grad})"
        )

    __str__ = __repr__

    def __copy__(self) -> Parameter:
        return self.clone()

    def __deepcopy__(self, memo: dict) -> Parameter:
        return self.clone()

    def __reduce__(self) -> tuple:
        return _remade, (np.asarray(self), self.name, self.requires_grad, self.over_chunks)


def _remade(value: Any, name: str, requires_grad: bool, over_chunks: str | None) -> Parameter:
    made = Parameter(value, name, requires_grad)
    made.over_chunks = over_chunks
    return made


class ParameterTuple(tuple):
    """Parameters in their order, with names that differ.

    Raises:
        ArgumentTypeError: an item is not a Parameter.
        ArgumentValueError: two Parameters have one name.

    Example:
        >>> p = ParameterTuple([Parameter(1.0, name="w")])
        >>> p.clone(prefix="accumulate", init="zeros")[0].name
        'accumulate.w'
    """

    __slots__ = ()

    def __new__(cls, iterable: Iterable[Parameter]) -> ParameterTuple:
        items = tuple(iterable)
        by_name: dict[str, Parameter] = {}
        for i, item in enumerate(items):
            if not isinstance(item, Parameter):
                raise ArgumentTypeError(
                    "S2S501", f"ParameterTuple: item {i} is a {type(item).__name__}, no Parameter"
                )
            if by_name.setdefault(item.name, item) is not item:
                raise ArgumentValueError(
                    "S2S502",
                    f"ParameterTuple: two parameters have the name {item.name!r}",
                    help="give each its own: Parameter(data, name=...)",
                )
        return super().__new__(cls, items)

    def clone(self, prefix: str, init: Any = "same") -> ParameterTuple:
        """New parameters, each called `prefix.name`; `init` as for `Parameter.clone`.

        Raises:
            ArgumentTypeError: the prefix is not a string.
        """
        if not isinstance(prefix, str):
            raise ArgumentTypeError(
                "S2S501", f"clone: argument 'prefix' must be a string, got {prefix!r}"
            )
        clones = {item.name: item.clone(init) for item in self}
        for name, item in clones.items():
            item.name = f"{prefix}.{name}"
        return ParameterTuple(clones[item.name] for item in self)
