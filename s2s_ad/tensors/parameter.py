"""Parameter: a Tensor with a name, whose value is changed in place."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any

import numpy as np

from s2s_ad.tensors.tensor import Tensor

_numbers = itertools.count(1)


class Parameter(Tensor):
    """A Tensor that a model has and training changes. Operations on it give Tensors."""

    name: str
    requires_grad: bool

    def __new__(cls, default_input: Any, name: str | None = None, requires_grad: bool = True):
        data = np.array(Tensor(default_input)).view(cls)
        data.name = f"Parameter#{next(_numbers)}" if name is None else name
        data.requires_grad = requires_grad
        return data

    def __array_wrap__(self, array: np.ndarray, context: Any = None, return_scalar: bool = False):
        return array.view(Tensor)

    def set_data(self, data: Any) -> Parameter:
        """Change the value in place: whoever holds the parameter sees it."""
        self[...] = data
        return self

    __hash__ = object.__hash__


class ParameterTuple(tuple):
    """Parameters in their order."""

    def __new__(cls, parameters: Iterable[Parameter]) -> ParameterTuple:
        return super().__new__(cls, parameters)
