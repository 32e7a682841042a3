"""Recurrent layers: one step as a Cell, and sequences of steps."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from s2s_ad import ops
from s2s_ad.diagnostics import ArgumentTypeError
from s2s_ad.nn import check
from s2s_ad.nn.cell import Cell
from s2s_ad.nn.initializers import Uniform
from s2s_ad.nn.parameters import parameter

ACTIVATIONS = {"tanh": np.tanh, "relu": ops.relu}

# ---- one step ------------------------------------------------------------------------------------
# From what the input gives (x @ weight_ih.T + bias_ih, for all steps at once) and the state to the
# new state: a tuple, whose first item is the output.


def linear(x: Any, weight: Any, bias: Any) -> Any:
    return x @ weight.T if bias is None else x @ weight.T + bias


def rnn_step(given: Any, state: tuple, weight: Any, bias: Any, nonlinearity: str) -> tuple:
    return (ACTIVATIONS[nonlinearity](given + linear(state[0], weight, bias)),)


def lstm_step(given: Any, state: tuple, weight: Any, bias: Any) -> tuple:
    """Input, forget and output gates around a cell state."""
    h, c = state
    i, f, g, o = np.split(given + linear(h, weight, bias), 4, axis=-1)
    c = ops.sigmoid(f) * c + ops.sigmoid(i) * np.tanh(g)
    return ops.sigmoid(o) * np.tanh(c), c


def gru_step(given: Any, state: tuple, weight: Any, bias: Any) -> tuple:
    """A reset and an update gate."""
    (h,) = state
    r, z, n = np.split(given, 3, axis=-1)
    h_r, h_z, h_n = np.split(linear(h, weight, bias), 3, axis=-1)
    n = np.tanh(n + ops.sigmoid(r + h_r) * h_n)
    z = ops.sigmoid(z + h_z)
    return ((1 - z) * n + z * h,)


class _Recurrent(Cell):
    """What steps and sequences share: how many gates there are, and their step."""

    GATES = 1
    STATES = 1

    def _step(self, given: Any, state: tuple, weight: Any, bias: Any) -> tuple:
        raise NotImplementedError

    def _states(self, hx: Any) -> tuple:
        """What `hx` holds: as many states as a step hands on."""
        if self.STATES == 1:
            return (hx,)
        if not isinstance(hx, tuple | list) or len(hx) != self.STATES:
            raise ArgumentTypeError(
                "S2S501",
                f"{type(self).__name__}: argument 'hx' is no pair of Tensors; expected (h, c)",
            )
        return hx

    def _weights(self, name: str, suffix: str, width: int, has_bias: bool, dtype: Any) -> None:
        """The parameters of one step, uniform within 1 / sqrt(hidden_size)."""
        rows, init = self.GATES * self.hidden_size, Uniform(1 / math.sqrt(self.hidden_size))
        shapes = {"weight_ih": (rows, width), "weight_hh": (rows, self.hidden_size)}
        shapes |= {"bias_ih": (rows,), "bias_hh": (rows,)} if has_bias else {}
        for each in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"):
            made = parameter(name, each, init, shapes[each], dtype) if each in shapes else None
            if made is not None:
                made.name = each + suffix
            setattr(self, each + suffix, made)

    def _weights_of(self, kind: str, suffix: str) -> tuple:
        """Weight and bias of the input ('ih') or of the state ('hh')."""
        names = f"weight_{kind}{suffix}", f"bias_{kind}{suffix}"
        return tuple(self._used(getattr(self, name)) for name in names)


class _RnnKind(_Recurrent):
    def _step(self, given: Any, state: tuple, weight: Any, bias: Any) -> tuple:
        return rnn_step(given, state, weight, bias, self.nonlinearity)


class _LstmKind(_Recurrent):
    GATES, STATES = 4, 2

    def _step(self, given: Any, state: tuple, weight: Any, bias: Any) -> tuple:
        return lstm_step(given, state, weight, bias)


class _GruKind(_Recurrent):
    GATES = 3

    def _step(self, given: Any, state: tuple, weight: Any, bias: Any) -> tuple:
        return gru_step(given, state, weight, bias)


class _RecurrentCell(_Recurrent):
    """One step.

    Args:
        input_size, hidden_size: the lengths of an input and of a state.
        has_bias: whether there are biases.

    Inputs:
        x: of shape (n, input_size); hx: the state, of shape (n, hidden_size), or a pair of these.
    """

    def __init__(
        self, input_size: int, hidden_size: int, has_bias: bool = True, dtype: Any = np.float32
    ):
        super().__init__()
        name = type(self).__name__
        check.positive_int(name, input_size=input_size, hidden_size=hidden_size)
        check.flag(name, has_bias=has_bias)
        self.input_size, self.hidden_size, self.has_bias = input_size, hidden_size, has_bias
        self._weights(name, "", input_size, has_bias, dtype)

    def construct(self, x: Any, hx: Any) -> Any:
        state = self._states(hx)
        check.rank(type(self).__name__, "x", x, 2)
        for each in state:
            check.shape(type(self).__name__, "hx", each, (x.shape[0], self.hidden_size))
        given = linear(x, *self._weights_of("ih", ""))
        state = self._step(given, state, *self._weights_of("hh", ""))
        return state if self.STATES > 1 else state[0]

    def extend_repr(self) -> str:
        return f"input_size={self.input_size}, hidden_size={self.hidden_size}"


class RNNCell(_RecurrentCell, _RnnKind):
    """tanh(x @ weight_ih.T + bias_ih + hx @ weight_hh.T + bias_hh), or relu of it."""

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        has_bias: bool = True,
        nonlinearity: str = "tanh",
        dtype: Any = np.float32,
    ):
        super().__init__(input_size, hidden_size, has_bias, dtype)
        check.choice("RNNCell", "nonlinearity", nonlinearity, ACTIVATIONS)
        self.nonlinearity = nonlinearity


class LSTMCell(_RecurrentCell, _LstmKind):
    """A step of an LSTM: from (h, c) to (h, c)."""


class GRUCell(_RecurrentCell, _GruKind):
    """A step of a GRU."""


# ---- sequences -----------------------------------------------------------------------------------


class _Sequence(_Recurrent):
    """Steps along a sequence, in layers, in one direction or in both.

    Args:
        input_size, hidden_size: the lengths of an input and of a state.
        num_layers: the outputs of a layer are the inputs of the next.
        has_bias: whether there are biases.
        batch_first: whether axis 0 of input and output is that of the samples.
        dropout: in training, how likely an output between two layers is 0.
        bidirectional: whether a second state goes from the end to the beginning.

    Inputs:
        x: of shape (length, n, input_size), or (n, length, input_size) with `batch_first`.
        hx: the first state, (num_layers * directions, n, hidden_size), or a pair of these; zeros
            where it is left out.
        seq_length: how long the sequence of each sample is; outputs after it are 0.

    Returns:
        The outputs, (length, n, directions * hidden_size), and the last state, as `hx`.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        has_bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        dtype: Any = np.float32,
    ):
        super().__init__()
        name = type(self).__name__
        check.positive_int(
            name, input_size=input_size, hidden_size=hidden_size, num_layers=num_layers
        )
        check.flag(name, has_bias=has_bias, batch_first=batch_first, bidirectional=bidirectional)
        check.rate(name, dropout=dropout)
        self.input_size, self.hidden_size, self.num_layers = input_size, hidden_size, num_layers
        self.has_bias, self.batch_first, self.bidirectional = has_bias, batch_first, bidirectional
        self.dropout = dropout
        directions = ("", "_reverse") if bidirectional else ("",)
        self.layers = tuple(
            tuple(f"_l{layer}{direction}" for direction in directions)
            for layer in range(num_layers)
        )
        for suffixes in self.layers:
            width = input_size if suffixes is self.layers[0] else hidden_size * len(directions)
            for suffix in suffixes:
                self._weights(name, suffix, width, has_bias, dtype)

    def construct(self, x: Any, hx: Any = None, seq_length: Any = None) -> Any:
        check.rank(type(self).__name__, "x", x, 3)
        x = np.swapaxes(x, 0, 1) if self.batch_first else x
        states = self._first(x, hx)
        valid = None if seq_length is None else valid_steps(x, seq_length)
        last = []
        for suffixes in self.layers:
            if last:
                x = ops.dropout(x, self.dropout, self.training)
            outputs = []
            for suffix in suffixes:
                first = tuple(each[len(last)] for each in states)
                y, state = self._along(x, first, valid, suffix)
                outputs.append(y)
                last.append(state)
            x = np.concatenate(outputs, axis=-1) if self.bidirectional else outputs[0]
        states = tuple(np.stack(each) for each in zip(*last, strict=True))
        x = np.swapaxes(x, 0, 1) if self.batch_first else x
        return x, states if self.STATES > 1 else states[0]

    def _first(self, x: Any, hx: Any) -> tuple:
        """The first states of all layers and directions."""
        shape = self.num_layers * len(self.layers[0]), x.shape[1], self.hidden_size
        if hx is not None:
            states = self._states(hx)
            for each in states:
                check.shape(type(self).__name__, "hx", each, shape)
            return states
        return (np.zeros(shape, x.dtype),) * self.STATES

    def _along(self, x: Any, state: tuple, valid: Any, suffix: str) -> tuple:
        """The outputs and the last state of one layer in one direction."""
        weight_hh, bias_hh = self._weights_of("hh", suffix)
        given = linear(x, *self._weights_of("ih", suffix))
        backwards = suffix.endswith("_reverse")
        if backwards:
            given = given[::-1]
            valid = None if valid is None else valid[::-1]
        outputs = []
        for t in range(len(given)):
            new = self._step(given[t], state, weight_hh, bias_hh)
            if valid is None:
                state = new
                outputs.append(new[0])
            else:
                state = tuple(np.where(valid[t], a, b) for a, b in zip(new, state, strict=True))
                outputs.append(np.where(valid[t], new[0], 0))
        stacked = np.stack(outputs)
        return stacked[::-1] if backwards else stacked, state


def valid_steps(x: Any, seq_length: Any) -> Any:
    """Which steps belong to the sequence of a sample, of shape (length, n, 1)."""
    return (np.arange(x.shape[0])[:, None] < seq_length)[..., None]


class RNN(_Sequence, _RnnKind):
    """Steps of `RNNCell` along a sequence.

    Args:
        nonlinearity: 'tanh' or 'relu'.

    Example:
        >>> from s2s_ad import nn, ops
        >>> outputs, state = nn.RNN(3, 4)(ops.ones((5, 2, 3)))
        >>> outputs.shape, state.shape
        ((5, 2, 4), (1, 2, 4))
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        nonlinearity: str = "tanh",
        has_bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        dtype: Any = np.float32,
    ):
        super().__init__(
            input_size,
            hidden_size,
            num_layers,
            has_bias,
            batch_first,
            dropout,
            bidirectional,
            dtype,
        )
        check.choice("RNN", "nonlinearity", nonlinearity, ACTIVATIONS)
        self.nonlinearity = nonlinearity


class LSTM(_Sequence, _LstmKind):
    """Steps of `LSTMCell` along a sequence; the state is a pair (h, c)."""


class GRU(_Sequence, _GruKind):
    """Steps of `GRUCell` along a sequence."""


__all__ = ["GRU", "LSTM", "RNN", "GRUCell", "LSTMCell", "RNNCell"]
