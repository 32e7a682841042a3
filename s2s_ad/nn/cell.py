"""Cell: a function with parameters and with cells of its own."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from s2s_ad.diagnostics import ArgumentTypeError, ArgumentValueError, CellError, UnsupportedError
from s2s_ad.nn.calling import cast, special_call
from s2s_ad.nn.check import shown
from s2s_ad.nn.hooks import Hooks
from s2s_ad.tensors import Parameter, ParameterTuple, dtype_of

#: the dtypes that `to_float` takes
FLOATS = (np.float16, np.float32, np.float64)
#: the name of a Parameter that was given none
UNNAMED = re.compile(r"Parameter#\d+")


class Cell:
    """A function with parameters: subclasses say in `construct` what a call computes.

    Attributes that are Parameters are parameters of the cell, attributes that are Cells are its
    children, in the order in which they were first assigned. A parameter without a name of its own
    is called as its attribute; the parameters of a child carry the attribute of the child before
    theirs, `fc.weight`.

    Args:
        auto_prefix: whether the names of children's parameters begin with the child's.
        flags: attributes to be set at once, by name.

    Attributes:
        training: what `set_train` was told; Dropout and BatchNorm ask for it.

    A subclass may define `bprop(self, *inputs, out, dout)`, which gives the tuple of the inputs'
    gradients from the inputs, the output and the gradient of the output: its code takes the place
    of the derivative of `construct`.

    Raises:
        CellError: an attribute is assigned before `super().__init__()`; called without `construct`.

    Example:
        >>> from s2s_ad import Parameter, Tensor, nn
        >>> class Line(nn.Cell):
        ...     def __init__(self):
        ...         super().__init__()
        ...         self.slope = Parameter(Tensor([2.0]))
        ...     def construct(self, x):
        ...         return self.slope * x
        ...
        >>> print(Line()(Tensor([1.0, 3.0])))
        [2. 6.]
    """

    __s2s_static__ = True  # the numbers among the attributes are part of compiled code

    @classmethod
    def __s2s_made__(cls, *args: Any, **kwargs: Any) -> Cell:
        """A cell that compiled code makes, as in nn.ReLU()(x): once, so it has no parameters."""
        made = cls(*args, **kwargs)
        if made.parameters_dict():
            raise CellError(
                "S2S201",
                f"{cls.__name__} is made inside the function",
                why="it has parameters, and would have others in each call",
                help="make it outside, in __init__",
            )
        return made

    def __init__(self, auto_prefix: bool = True, flags: dict[str, Any] | None = None):
        self._params: dict[str, Parameter] = {}
        self._cells: dict[str, Cell] = {}
        self._hooks = Hooks()
        self._compute_dtype: np.dtype | None = None
        self._result_dtype: np.dtype | None = None
        self._is_special = hasattr(type(self), "bprop")
        self._auto_prefix = auto_prefix
        self.cls_name = type(self).__name__
        self.param_prefix = ""
        self.phase = "train"
        self.requires_grad = False
        self.training = False
        for name, value in (flags or {}).items():
            setattr(self, name, value)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return (
            special_call(self, args, kwargs)
            if self._is_special
            else self.construct(*args, **kwargs)
        )

    __call__.__s2s_method__ = "construct"  # type: ignore[attr-defined]

    def construct(self, *args: Any, **kwargs: Any) -> Any:
        """What a call of the cell computes; each subclass says it."""
        raise CellError("S2S601", f"{type(self).__name__} has no construct method")

    # ---- attributes

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, Parameter | ParameterTuple | Cell):
            self._register(name, value)
        elif name in self.__dict__.get("_params", ()):
            value = self._assigned(name, value)
        else:
            self.__dict__.get("_cells", {}).pop(name, None)
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        for registry in (self._params, self._cells):
            registry.pop(name, None)
        object.__delattr__(self, name)

    def _register(self, name: str, value: Parameter | ParameterTuple | Cell) -> None:
        if "_cells" not in self.__dict__:
            kind = type(self).__name__
            raise CellError(
                "S2S601",
                f"{kind}.__init__: the attribute {name!r} is assigned too early",
                why="the cell cannot keep parameters and cells yet",
                help="call super().__init__() before assigning attributes",
            )
        if isinstance(value, Parameter):
            self._cells.pop(name, None)
            self.insert_param_to_cell(name, value)
        elif isinstance(value, Cell):
            self._params.pop(name, None)
            self._adopt(name, value)
        else:
            for each in value:
                self.insert_param_to_cell(each.name, each, check_name_contain_dot=False)

    def _assigned(self, name: str, value: Any) -> Any:
        """What the attribute of a parameter becomes: None, or the parameter with the new value."""
        if value is None:
            return self._params.pop(name) and None
        if not isinstance(value, np.ndarray | np.generic | int | float):
            raise ArgumentTypeError(
                "S2S501",
                f"{type(self).__name__}.{name} is a Parameter, got {shown(value)}",
                help="assign a Parameter, a Tensor with its new value, or None",
            )
        return self._params[name].set_data(value)

    def _adopt(self, name: str, cell: Cell) -> None:
        """Let a cell be the child of this name, and its parameters be called so."""
        if self._auto_prefix:
            cell.update_parameters_name(self._prefix() + name + ".")
        self._cells[name] = cell

    def _prefix(self) -> str:
        return f"{self.param_prefix}." if self.param_prefix else ""

    def insert_param_to_cell(
        self, param_name: str, param: Parameter | None, check_name_contain_dot: bool = True
    ) -> None:
        """Let `param` be a parameter of the cell under this name.

        Raises:
            ArgumentTypeError: `param` is no Parameter, or the name no text.
            ArgumentValueError: the name is empty or has a dot, or another parameter of the cell
                has the name of this one.
        """
        if not isinstance(param_name, str) or not isinstance(param, Parameter | None):
            wrong = "param" if isinstance(param_name, str) else "param_name"
            got = param if wrong == "param" else param_name
            raise ArgumentTypeError(
                "S2S501",
                f"insert_param_to_cell: argument {wrong!r}, got {shown(got)}; "
                f"expected {'a Parameter' if wrong == 'param' else 'a str'}",
            )
        if not param_name or (check_name_contain_dot and "." in param_name):
            raise ArgumentValueError(
                "S2S502",
                f"insert_param_to_cell: argument 'param_name', got {param_name!r}; "
                "expected a name without a dot",
            )
        if param is not None:
            self._name(param_name, param)
            self._params[param_name] = param
            if check_name_contain_dot:
                self.__dict__[param_name] = param

    def _name(self, attribute: str, param: Parameter) -> None:
        if UNNAMED.fullmatch(param.name):
            param.name = self._prefix() + attribute
        for other, each in self._params.items():
            if each.name == param.name and each is not param and other != attribute:
                raise ArgumentValueError(
                    "S2S502",
                    f"{type(self).__name__}: the parameters {other!r} and {attribute!r} "
                    f"are both called {param.name!r}",
                    help="give each parameter of a cell a name of its own, or none",
                )

    def insert_child_to_cell(self, child_name: str, child_cell: Cell) -> None:
        """Let `child_cell` be a child of the cell under this name.

        Raises:
            ArgumentTypeError: `child_cell` is no Cell.
            ArgumentValueError: the cell has an attribute of that name.
        """
        check_cell("insert_child_to_cell", "child_cell", child_cell)
        if child_name in self.__dict__:
            raise ArgumentValueError(
                "S2S502",
                f"insert_child_to_cell: argument 'child_name', got {child_name!r}; "
                f"{type(self).__name__} has an attribute of that name",
            )
        setattr(self, child_name, child_cell)

    # ---- parameters

    def parameters_and_names(
        self, name_prefix: str = "", expand: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """(path of attributes, parameter) of each: the cell's own first, then its children's."""
        cells = self.cells_and_names(name_prefix) if expand else [(name_prefix, self)]
        seen: set[int] = set()
        for path, cell in cells:
            for name, parameter in cell._params.items():
                if id(parameter) not in seen:
                    seen.add(id(parameter))
                    yield f"{path}.{name}" if path else name, parameter

    def get_parameters(self, expand: bool = True) -> Iterator[Parameter]:
        """The parameters, each once; with `expand` those of all cells in it."""
        return (parameter for _, parameter in self.parameters_and_names(expand=expand))

    def parameters_dict(self, recurse: bool = True) -> OrderedDict[str, Parameter]:
        """The parameters by their names."""
        return OrderedDict((each.name, each) for each in self.get_parameters(recurse))

    def trainable_params(self, recurse: bool = True) -> list[Parameter]:
        """The parameters that require a gradient."""
        return [each for each in self.get_parameters(recurse) if each.requires_grad]

    def untrainable_params(self, recurse: bool = True) -> list[Parameter]:
        """The parameters that require no gradient."""
        return [each for each in self.get_parameters(recurse) if not each.requires_grad]

    def update_parameters_name(self, prefix: str = "", recurse: bool = True) -> None:
        """Call each parameter by its path of attributes, with `prefix` before it.

        Raises:
            ArgumentTypeError: the prefix is no text.
        """
        if not isinstance(prefix, str):
            raise ArgumentTypeError(
                "S2S501",
                f"update_parameters_name: argument 'prefix', got {shown(prefix)}; expected a str",
            )
        for name, parameter in self.parameters_and_names(expand=recurse):
            parameter.name = prefix + name
        for path, cell in self.cells_and_names() if recurse else [("", self)]:
            object.__setattr__(cell, "param_prefix", (prefix + path).rstrip("."))

    # ---- cells

    def name_cells(self) -> OrderedDict[str, Cell]:
        """The children by their names, each once."""
        return OrderedDict((name, cell) for name, cell in _once(self._cells.items()))

    def cells(self) -> Any:
        """The children."""
        return self.name_cells().values()

    def cells_and_names(self, name_prefix: str = "") -> Iterator[tuple[str, Cell]]:
        """(path of attributes, cell) of the cell itself and of all cells in it, each once."""
        return _once(self._all_cells(name_prefix))

    def _all_cells(self, path: str) -> Iterator[tuple[str, Cell]]:
        yield path, self
        for name, cell in self._cells.items():
            yield from cell._all_cells(f"{path}.{name}" if path else name)

    def apply(self, fn: Callable[[Cell], Any]) -> Cell:
        """Call `fn` with every cell in it, and with itself last; gives the cell."""
        for cell in self.cells():
            cell.apply(fn)
        fn(self)
        return self

    # ---- modes

    def set_train(self, mode: bool = True) -> Cell:
        """Say to the cell, and to all in it, whether it is trained; gives the cell."""
        return self.add_flags_recursive(training=bool(mode), phase="train" if mode else "predict")

    def set_grad(self, requires_grad: bool = True) -> Cell:
        """Set `requires_grad` of the cell, which nothing here depends on; gives the cell."""
        return self.add_flags(requires_grad=requires_grad)

    def add_flags(self, **flags: Any) -> Cell:
        """Set attributes of the cell; gives the cell."""
        for name, value in flags.items():
            setattr(self, name, value)
        return self

    def add_flags_recursive(self, **flags: Any) -> Cell:
        """Set attributes of the cell and of all cells in it; gives the cell."""
        for _, cell in self.cells_and_names():
            cell.add_flags(**flags)
        return self

    def to_float(self, dst_type: Any) -> Cell:
        """Let the cell, and all in it, compute in this precision; gives the cell.

        Floating-point inputs are cast to it, and so are the weights of this package's layers where
        they are used. Gradients of parameters have the parameters' dtypes.

        Raises:
            ArgumentValueError: it is not float16, float32 or float64.
        """
        dtype = dtype_of(dst_type)
        if dtype not in FLOATS:
            raise ArgumentValueError(
                "S2S502",
                f"to_float: argument 'dst_type', got {shown(dst_type)}; "
                "expected float16, float32 or float64",
            )
        return self.add_flags_recursive(_compute_dtype=dtype, _is_special=True)

    def _used(self, parameter: Any) -> Any:
        """A parameter, or None, in the precision that the cell computes in."""
        return (
            cast(parameter, self._compute_dtype) if self._compute_dtype is not None else parameter
        )

    # ---- hooks

    def register_forward_pre_hook(self, hook_fn: Callable) -> Any:
        """Call `hook_fn(cell, inputs)` before `construct`; what it gives replaces the inputs.

        Returns:
            A handle, whose `remove()` ends it.
        """
        return self._hooks.register("forward_pre", hook_fn, self)

    def register_forward_hook(self, hook_fn: Callable) -> Any:
        """Call `hook_fn(cell, inputs, output)` after `construct`; what it gives is the output."""
        return self._hooks.register("forward", hook_fn, self)

    def register_backward_pre_hook(self, hook_fn: Callable) -> Any:
        """Call `hook_fn(cell, grad_output)` in the backward pass, before that of `construct`.

        What it gives replaces the gradient of the output. It is compiled like any other code.
        """
        return self._hooks.register("backward_pre", hook_fn, self)

    def register_backward_hook(self, hook_fn: Callable) -> Any:
        """Call `hook_fn(cell, grad_input, grad_output)`, with tuples, after the backward pass.

        What it gives replaces the gradients of the inputs. `construct` is computed again there. It
        is for cells without parameters: where their gradients are asked for it is refused.
        """
        return self._hooks.register("backward", hook_fn, self)

    # ---- text

    def extend_repr(self) -> str:
        """What stands in the parentheses of the cell's text before its children."""
        return ""

    def __repr__(self) -> str:
        own = self.extend_repr()
        if not self._cells:
            return f"{type(self).__name__}({own})"
        lines = [own] if own else []
        lines += [f"({name}): {cell!r}" for name, cell in self._cells.items()]
        inner = "\n".join(lines).replace("\n", "\n  ")
        return f"{type(self).__name__}(\n  {inner}\n)"


def _once(pairs: Any) -> Iterator[tuple[str, Cell]]:
    """The pairs whose cell has not been there."""
    seen: set[int] = set()
    for name, cell in pairs:
        if id(cell) not in seen:
            seen.add(id(cell))
            yield name, cell


def _not_inside(lowering: Any, args: list, kwargs: dict[str, Any]) -> None:
    """A call inside a function that is compiled."""
    raise UnsupportedError(
        "S2S201",
        "the parameters or cells of a Cell are listed inside the function",
        why="which there are is found by walking through Python objects",
        help="list them outside, as in __init__: self.weights = self.trainable_params()",
    )


for _listing in (
    Cell.cells,
    Cell.cells_and_names,
    Cell.get_parameters,
    Cell.name_cells,
    Cell.parameters_and_names,
    Cell.parameters_dict,
    Cell.trainable_params,
    Cell.untrainable_params,
):
    _listing.__s2s_call__ = _not_inside  # type: ignore[attr-defined]


def check_cell(api: str, name: str, value: Any) -> None:
    if not isinstance(value, Cell):
        raise ArgumentTypeError(
            "S2S501", f"{api}: argument {name!r}, got {shown(value)}; expected a Cell"
        )


__all__ = ["Cell", "check_cell"]
