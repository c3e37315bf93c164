"""Recurrent cells, and the layers that run them over sequences."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any, NoReturn

from ...engine import errors, types
from ...engine.ops import recurrent
from ...engine.ops.creation import Full
from ...engine.ops.elementwise import cast, promote_pair
from ...engine.types import dtype_of
from ...tensor.tensor import Tensor
from .. import functional as F
from ..functional import _check as check
from ..initializer import Constant, Uniform
from .container import LayerList
from .layers import Layer

__all__ = ["BiRNN", "GRU", "GRUCell", "LSTM", "LSTMCell", "RNN", "RNNCellBase", "SimpleRNN", "SimpleRNNCell"]

# Shape letters: T time, B batch, I input size, H hidden size, G gates times H.


def map_structure(f: Any, *trees: Any) -> Any:
    """f on the corresponding Tensors of nested tuples, lists and dictionaries."""
    first = trees[0]
    if isinstance(first, dict):
        return {k: map_structure(f, *(t[k] for t in trees)) for k in first}
    if isinstance(first, tuple) and hasattr(first, "_fields"):
        return type(first)(*(map_structure(f, *items) for items in zip(*trees)))
    if isinstance(first, (list, tuple)):
        return type(first)(map_structure(f, *items) for items in zip(*trees))
    return f(*trees)


def leaves(tree: Any) -> list[Any]:
    """All Tensors of a nested structure, in order."""
    if isinstance(tree, dict):
        return [x for k in sorted(tree) for x in leaves(tree[k])]
    if isinstance(tree, (list, tuple)):
        return [x for t in tree for x in leaves(t)]
    return [tree]


class RNNCellBase(Layer):
    """Base of cells: one step of a recurrent network, from an input and states to an output and states."""

    def get_initial_states(
        self, batch_ref: Any, shape: Any = None, dtype: Any = None, init_value: float = 0.0, batch_dim_idx: int = 0
    ) -> Any:
        """States to begin with.

        Args:
            batch_ref (Tensor): its size along batch_dim_idx is the batch.
            shape (optional): shapes of the states without the batch; those of the cell by default.
            dtype (optional): of the states; that of the cell or float32 by default.
            init_value (float): of all elements. Default: 0.0.
            batch_dim_idx (int): Default: 0.

        Returns:
            Tensor or a nested structure of Tensors, as shape is.
        """
        batch = leaves(batch_ref)[0].shape[batch_dim_idx]
        shape = self.state_shape if shape is None else shape
        if dtype is None:
            try:
                dtype = self.state_dtype
            except NotImplementedError:
                dtype = None
        kind = types.default_dtype() if dtype is None else dtype_of(leaves(dtype)[0])

        def make(s: Any) -> Any:
            if isinstance(s, dict):
                return {k: make(v) for k, v in s.items()}
            if all(isinstance(n, int) for n in s):
                full = (batch, *s) if not s or s[0] != -1 else (batch, *s[1:])
                value = float(init_value) if kind.kind in "fc" else int(init_value)
                return Full(tuple(full), value, kind)()
            return type(s)(make(v) for v in s)

        return make(shape)

    @property
    def state_shape(self) -> Any:
        """Shapes of the states, without the batch."""
        raise NotImplementedError(f"{type(self).__name__}: write the property state_shape in the subclass.")

    @property
    def state_dtype(self) -> Any:
        """Element types of the states."""
        raise NotImplementedError(f"{type(self).__name__}: write the property state_dtype in the subclass.")


class _Cell(RNNCellBase):
    """What the three cells share: `gates` blocks of weights."""

    gates = 1

    def _make(self, input_size: int, hidden_size: int, out_size: int, attrs: Sequence[Any]) -> None:
        if hidden_size <= 0:
            raise errors.invalid_argument(
                f"{type(self).__name__}: hidden_size is not positive.", expected="> 0", received=f"{hidden_size}"
            )
        self.input_size, self.hidden_size = input_size, hidden_size
        rows = self.gates * hidden_size
        bound = 1.0 / math.sqrt(hidden_size)
        for name, columns, attr in zip(("weight_ih", "weight_hh"), (input_size, out_size), attrs):
            setattr(self, name, self._parameter([rows, columns], attr, bound))
        for name, attr in zip(("bias_ih", "bias_hh"), attrs[2:]):
            start: Any = Uniform(-bound, bound) if attr is not False else Constant(0.0)
            p = self.create_parameter([rows], attr or None, is_bias=True, default_initializer=start)
            if attr is False:
                p.stop_gradient = True  # upstream keeps zeros, under the same name
            setattr(self, name, p)

    def _parameter(self, shape: list[int], attr: Any, bound: float) -> Any:
        if attr is not False:
            return self.create_parameter(shape, attr, default_initializer=Uniform(-bound, bound))
        p = self.create_parameter(shape, None, default_initializer=Constant(1.0))
        p.stop_gradient = True
        return p

    def gates_of(self, x: Tensor) -> Tensor:
        """The input's part of the gates with the biases that belong there; x may have more axes in front."""
        return x.matmul(self.weight_ih, transpose_y=True) + (self.bias_ih + self.bias_hh)

    @property
    def kind(self) -> str:
        """The name of the network in the engine."""
        raise NotImplementedError

    def weights(self) -> list[Tensor]:
        """What a step takes beside gates and states."""
        return [self.weight_hh]

    def advance(self, gates: Tensor, states: Any) -> tuple[Tensor, Any]:
        """One step from the input's part of the gates."""
        raise NotImplementedError

    def forward(self, inputs: Tensor, states: Any = None) -> tuple[Tensor, Any]:
        check.tensor(inputs, type(self).__name__, "inputs")
        self.check(inputs, states, inputs.ndim)
        if states is None:
            states = self.get_initial_states(inputs, self.state_shape)
        return self.advance(self.gates_of(inputs), states)

    def check(self, inputs: Tensor, states: Any, axes: int) -> None:
        """ValueError where the last sizes are not those of the cell, or states are not as many as it has.

        Args:
            axes: that a state has. One Tensor with one more stands for two states.
        """
        name = type(self).__name__
        if not inputs.ndim or inputs.shape[-1] != self.input_size:
            raise errors.invalid_argument(
                f"{name}: inputs are not of input_size.",
                expected=f"inputs: [batch, {self.input_size}]",
                received=f"inputs: {inputs.type}",
            )
        sizes = [s[-1] for s in self.state_shape] if isinstance(self.state_shape[0], tuple) else list(self.state_shape)
        if states is None:
            return
        if len(sizes) == 1:
            fits = isinstance(states, Tensor) and states.ndim and states.shape[-1] == sizes[0]
        elif isinstance(states, Tensor):
            fits = states.ndim == axes + 1 and len(states) == len(sizes) and {states.shape[-1]} == set(sizes)
        else:
            fits = isinstance(states, (list, tuple)) and len(states) == len(sizes)
            fits = fits and all(isinstance(s, Tensor) and s.shape[-1:] == [n] for s, n in zip(states, sizes))
        if not fits:
            _refuse_states(name, states, [f"[batch, {n}]" for n in sizes])

    def extra_repr(self) -> str:
        return f"{self.input_size}, {self.hidden_size}"


_CELL_ARGS = """
        weight_ih_attr (ParamAttr, optional): of weight_ih [{gates}hidden_size, input_size].
        weight_hh_attr (ParamAttr, optional): of weight_hh [{gates}hidden_size, hidden_size].
        bias_ih_attr (ParamAttr|bool, optional): of bias_ih [{gates}hidden_size]; False for zeros.
        bias_hh_attr (ParamAttr|bool, optional): of bias_hh [{gates}hidden_size]; False for zeros.
        name (str, optional): not used.
    """


class SimpleRNNCell(_Cell):
    __doc__ = """h = act(W_ih x + b_ih + W_hh h + b_hh).

    Args:
        input_size (int): size of x.
        hidden_size (int): size of h.
        activation (str): "tanh" or "relu". Default: "tanh".""" + _CELL_ARGS.format(gates="")

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        activation: str = "tanh",
        weight_ih_attr: Any = None,
        weight_hh_attr: Any = None,
        bias_ih_attr: Any = None,
        bias_hh_attr: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__()
        if activation not in ("tanh", "relu"):
            raise errors.invalid_argument(
                "SimpleRNNCell: activation is not known.", expected="tanh or relu", received=f"{activation!r}"
            )
        self._make(input_size, hidden_size, hidden_size, (weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr))
        self.activation = activation
        self._activation_fn = F.tanh if activation == "tanh" else F.relu

    @property
    def kind(self) -> str:
        return self.activation

    def advance(self, gates: Tensor, states: Any) -> tuple[Tensor, Any]:
        h = recurrent.rnn_step(gates, states, self.weight_hh, self.activation)
        return h, h

    @property
    def state_shape(self) -> Any:
        return (self.hidden_size,)

    def extra_repr(self) -> str:
        return super().extra_repr() + (f", activation={self.activation}" if self.activation != "tanh" else "")


class LSTMCell(_Cell):
    __doc__ = """Long short-term memory: i, f, g, o = gates; c = f c + i g; h = o tanh(c).

    Source: Hochreiter and Schmidhuber 1997, with the forget gate of Gers et al. 2000.

    Args:
        input_size (int): size of x.
        hidden_size (int): size of c, and of h without projection.""" + _CELL_ARGS.format(gates="4 ").replace(
        "        name (str",
        "        proj_size (int): h is projected to this size; 0 for not. Default: 0.\n        name (str",
    )

    gates = 4

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        weight_ih_attr: Any = None,
        weight_hh_attr: Any = None,
        bias_ih_attr: Any = None,
        bias_hh_attr: Any = None,
        proj_size: int = 0,
        name: str | None = None,
    ) -> None:
        super().__init__()
        if proj_size < 0 or (proj_size and proj_size >= hidden_size):
            raise errors.invalid_argument(
                "LSTMCell: proj_size is out of range.",
                expected="0 <= proj_size < hidden_size",
                received=f"proj_size: {proj_size}, hidden_size: {hidden_size}",
            )
        self.proj_size = proj_size
        attrs = (weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr)
        self._make(input_size, hidden_size, proj_size or hidden_size, attrs)
        if proj_size:
            bound = 1.0 / math.sqrt(hidden_size)
            self.weight_ho = self.create_parameter(
                [hidden_size, proj_size], weight_hh_attr, default_initializer=Uniform(-bound, bound)
            )

    kind = "lstm"

    def weights(self) -> list[Tensor]:
        return [self.weight_hh, self.weight_ho] if self.proj_size else [self.weight_hh]

    def advance(self, gates: Tensor, states: Any) -> tuple[Tensor, Any]:
        h, c = recurrent.lstm_step(gates, *states, *self.weights())
        return h, (h, c)

    @property
    def state_shape(self) -> Any:
        return ((self.proj_size or self.hidden_size,), (self.hidden_size,))


class GRUCell(_Cell):
    __doc__ = """Gated recurrent unit: r, z = gates; c = tanh(x part + r h part); h = z h + (1 - z) c.

    Source: Cho et al. 2014, arXiv:1406.1078.

    Args:
        input_size (int): size of x.
        hidden_size (int): size of h.""" + _CELL_ARGS.format(gates="3 ")

    gates = 3

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        weight_ih_attr: Any = None,
        weight_hh_attr: Any = None,
        bias_ih_attr: Any = None,
        bias_hh_attr: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__()
        self._make(input_size, hidden_size, hidden_size, (weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr))

    kind = "gru"

    def gates_of(self, x: Tensor) -> Tensor:
        return x.matmul(self.weight_ih, transpose_y=True) + self.bias_ih

    def weights(self) -> list[Tensor]:
        return [self.weight_hh, self.bias_hh]

    def advance(self, gates: Tensor, states: Any) -> tuple[Tensor, Any]:
        h = recurrent.gru_step(gates, states, *self.weights())
        return h, h

    @property
    def state_shape(self) -> Any:
        return (self.hidden_size,)


def _refuse_states(name: str, states: Any, shapes: list[str]) -> NoReturn:
    from ...utils.explain import describe

    raise errors.invalid_argument(
        f"{name}: the states do not fit.",
        expected=f"a Tensor {shapes[0]}" if len(shapes) == 1 else f"a tuple (h, c) of Tensors {' and '.join(shapes)}",
        received=f"states: {describe(states)}",
    )


def _lengths(lengths: Any, batch: int) -> Tensor:
    """[B], from [B] or [B, 1]. Raises ValueError where they are not one integer for each sequence."""
    check.tensor(lengths, "rnn", "sequence_length")
    if lengths.dtype.name not in ("int32", "int64") or lengths.shape not in ([batch], [batch, 1]):
        raise errors.invalid_argument(
            "rnn: sequence_length does not fit the inputs.",
            expected=f"an integer for each sequence: int64[{batch}] or int32[{batch}]",
            received=f"sequence_length: {lengths.type}",
        )
    return lengths if lengths.ndim == 1 else lengths.squeeze(1)


def _stack(items: list[Any], axis: int) -> Any:
    from ...tensor import stack

    return map_structure(lambda *t: stack(list(t), axis), *items)


def _mask(lengths: Tensor, steps: int) -> Tensor:
    """[T, B]: whether the sequence has not ended."""
    from ...tensor import arange

    return arange(steps, dtype=lengths.dtype).unsqueeze(1) < lengths.unsqueeze(0)


def _keep(on: Tensor, new: Tensor, old: Tensor) -> Tensor:
    while on.ndim < new.ndim:
        on = on.unsqueeze(-1)
    on = on.astype(new.dtype)
    return new * on + old * (1.0 - on)


def run(
    cell: Any,
    inputs: Any,
    states: Any,
    lengths: Tensor | None,
    reverse: bool,
    time_major: bool,
    zero_outputs: bool = False,
    **kwargs: Any,
) -> tuple[Any, Any]:
    """A cell over a sequence.

    Args:
        zero_outputs: outputs past the end of a sequence are zeros.

    Returns:
        tuple: outputs, stacked along time, and the last states.
    """
    axis = 0 if time_major else 1
    first = leaves(inputs)[0]
    steps = first.shape[axis]
    if not steps:
        raise errors.invalid_argument(
            "rnn: the sequences have no steps.",
            expected="at least one step along the axis of time",
            received=f"inputs: {first.type}",
        )
    if states is None:
        states = cell.get_initial_states(inputs, cell.state_shape, batch_dim_idx=1 - axis)
    masks = None if lengths is None else _mask(_lengths(lengths, first.shape[1 - axis]), steps)
    if isinstance(cell, _Cell) and not kwargs and type(cell).forward is _Cell.forward and first.ndim == 3:
        cell.check(first, states, 2)
        many = cell.kind == "lstm"
        turn = (lambda t: t) if time_major else (lambda t: t.transpose([1, 0, 2]))
        gates = cell.gates_of(turn(first))
        begin, weights = tuple(states) if many else (states,), cell.weights()
        promote = functools.partial(promote_pair, name="rnn")
        dtype = functools.reduce(promote, (t.type.dtype for t in (gates, *begin, *weights)))
        gates, *begin = (cast(t, dtype) for t in (gates, *begin))
        weights = [cast(w, dtype) for w in weights]
        on = None if masks is None else masks.unsqueeze(-1)
        out, last = recurrent.network(cell.kind, gates, begin, weights, on, reverse, zero_outputs)
        return turn(out), (last if many else last[0])
    take = (lambda t: lambda x: x[t]) if time_major else (lambda t: lambda x: x[:, t])
    outs: list[Any] = [None] * steps
    for t in reversed(range(steps)) if reverse else range(steps):
        out, new = cell(map_structure(take(t), inputs), states, **kwargs)
        if masks is not None:
            on = masks[t]
            new = map_structure(lambda a, b, on=on: _keep(on, a, b), new, states)
            if zero_outputs:
                out = map_structure(lambda a, on=on: _keep(on, a, a * 0.0), out)
        outs[t], states = out, new
    return _stack(outs, axis), states


class RNN(Layer):
    """Runs a cell over sequences.

    Args:
        cell (RNNCellBase): one step.
        is_reverse (bool): from the end to the start. Default: False.
        time_major (bool): inputs are [T, B, I] rather than [B, T, I]. Default: False.
    """

    def __init__(self, cell: Any, is_reverse: bool = False, time_major: bool = False) -> None:
        super().__init__()
        self.cell = cell
        if not hasattr(cell, "call"):
            cell.call = cell.forward
        self.is_reverse, self.time_major = is_reverse, time_major

    def forward(
        self, inputs: Any, initial_states: Any = None, sequence_length: Any = None, **kwargs: Any
    ) -> tuple[Any, Any]:
        return run(self.cell, inputs, initial_states, sequence_length, self.is_reverse, self.time_major, **kwargs)


class BiRNN(Layer):
    """Runs one cell forward and one backward over sequences, outputs side by side.

    Args:
        cell_fw (RNNCellBase): forward.
        cell_bw (RNNCellBase): backward, of the same input size.
        time_major (bool): inputs are [T, B, I] rather than [B, T, I]. Default: False.
    """

    def __init__(self, cell_fw: Any, cell_bw: Any, time_major: bool = False) -> None:
        super().__init__()
        self.cell_fw, self.cell_bw, self.time_major = cell_fw, cell_bw, time_major
        a, b = getattr(cell_fw, "input_size", None), getattr(cell_bw, "input_size", None)
        if a != b:
            raise errors.invalid_argument(
                "BiRNN: the cells take inputs of different sizes.", expected="equal input_size", received=f"{a}, {b}"
            )
        for cell in (cell_fw, cell_bw):
            if not hasattr(cell, "call"):
                cell.call = cell.forward

    def forward(
        self, inputs: Any, initial_states: Any = None, sequence_length: Any = None, **kwargs: Any
    ) -> tuple[Any, Any]:
        if isinstance(initial_states, (list, tuple)) and len(initial_states) != 2:
            raise AssertionError("(InvalidArgument) BiRNN: initial_states is not a pair.")
        fw, bw = (None, None) if initial_states is None else initial_states
        out_fw, last_fw = run(self.cell_fw, inputs, fw, sequence_length, False, self.time_major, **kwargs)
        out_bw, last_bw = run(self.cell_bw, inputs, bw, sequence_length, True, self.time_major, **kwargs)
        return map_structure(lambda a, b: _side_by_side([a, b]), out_fw, out_bw), (last_fw, last_bw)


def _side_by_side(items: list[Tensor]) -> Tensor:
    from ...tensor import concat

    return concat(items, axis=-1)


class _RNNBase(LayerList):
    """Layers of RNN or BiRNN, with their parameters also as `weight_ih_l0`, `weight_ih_l0_reverse`, ..."""

    cell_class: type[Any]

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int,
        direction: str,
        time_major: bool,
        dropout: float,
        proj_size: int = 0,
        **cell: Any,
    ) -> None:
        super().__init__()
        if direction not in ("forward", "bidirect", "bidirectional"):
            raise errors.invalid_argument(
                f"{type(self).__name__}: direction is not known.",
                expected="forward, bidirect or bidirectional",
                received=f"direction: {direction!r}",
            )
        two = direction != "forward"
        self.mode = self.cell_class.__name__
        self.input_size, self.hidden_size, self.num_layers = input_size, hidden_size, num_layers
        self.num_directions, self.time_major, self.dropout = 2 if two else 1, time_major, dropout
        self.proj_size = proj_size
        self.state_components = 2 if self.cell_class is LSTMCell else 1
        self.could_use_cudnn = False
        if proj_size:
            cell["proj_size"] = proj_size
        size = input_size
        for i in range(num_layers):
            if two:
                made: Layer = BiRNN(
                    self.cell_class(size, hidden_size, **cell), self.cell_class(size, hidden_size, **cell), time_major
                )
            else:
                made = RNN(self.cell_class(size, hidden_size, **cell), False, time_major)
            self.append(made)
            size = self.num_directions * (proj_size or hidden_size)
            names = ["weight_ih", "weight_hh"]
            names += [n for n in ("bias_ih", "bias_hh") if cell[n + "_attr"] is not False]
            for suffix, c in zip(("", "_reverse"), self._cells(i)):
                for name, p in zip(names, c.parameters()):
                    setattr(self, f"{name}_l{i}{suffix}", p)

    def _cells(self, i: int) -> list[Any]:
        layer = self[i]
        return [layer.cell_fw, layer.cell_bw] if self.num_directions == 2 else [layer.cell]

    def flatten_parameters(self) -> None:
        """Parameters need no common buffer here: products read them where they are."""

    def forward(self, inputs: Tensor, initial_states: Any = None, sequence_length: Any = None) -> tuple[Tensor, Any]:
        name = type(self).__name__
        check.tensor(inputs, name, "inputs")
        if inputs.ndim != 3 or inputs.shape[2] != self.input_size:
            order = "steps, batch" if self.time_major else "batch, steps"
            raise errors.invalid_argument(
                f"{name}: inputs have the wrong shape.",
                expected=f"inputs: [{order}, {self.input_size}]",
                received=f"inputs: {inputs.type}",
            )
        batch = inputs.shape[1 if self.time_major else 0]
        d, n = self.num_directions, self.num_layers
        sizes = (self.proj_size or self.hidden_size, self.hidden_size)[: self.state_components]
        if initial_states is None:
            states = [Full((n * d, batch, s), 0.0, inputs.dtype)() for s in sizes]
        else:
            states = list(initial_states) if isinstance(initial_states, (list, tuple)) else [initial_states]
            shapes = [[n * d, batch, s] for s in sizes]
            if [getattr(s, "shape", None) for s in states] != shapes:
                _refuse_states(name, initial_states, [str(s) for s in shapes])
        many = self.state_components == 2
        x, lasts = inputs, []
        for i in range(n):
            if i and self.dropout:
                x = F.dropout(x, self.dropout, training=self.training, mode="upscale_in_train")
            outs = []
            for k, cell in enumerate(self._cells(i)):
                at = i * d + k
                start = tuple(s[at] for s in states) if many else states[0][at]
                out, last = run(cell, x, start, sequence_length, k == 1, self.time_major, zero_outputs=True)
                outs.append(out)
                lasts.append(last)
            x = outs[0] if d == 1 else _side_by_side(outs)
        return x, _stack(lasts, 0)

    def extra_repr(self) -> str:
        text = f"{self.input_size}, {self.hidden_size}"
        if self.num_layers != 1:
            text += f", num_layers={self.num_layers}"
        if self.time_major:
            text += f", time_major={self.time_major}"
        if self.dropout:
            text += f", dropout={self.dropout}"
        return text


_NET_ARGS = """
    Args:
        input_size (int): size of the inputs.
        hidden_size (int): size of the states.
        num_layers (int): one on top of the other. Default: 1.
        direction (str): "forward", or "bidirect" (or "bidirectional"). Default: "forward".
        time_major (bool): inputs are [T, B, I] rather than [B, T, I]. Default: False.
        dropout (float): between layers, while training. Default: 0.0.
{more}        weight_ih_attr (ParamAttr, optional), weight_hh_attr (ParamAttr, optional): of the weights.
        bias_ih_attr (ParamAttr|bool, optional), bias_hh_attr (ParamAttr|bool, optional): of the biases.
{last}        name (str, optional): not used.

    Examples:
        >>> rnn = paddle.nn.{name}(3, 4)
        >>> out, _ = rnn(paddle.ones([2, 5, 3]))
        >>> out.shape
        paddle.Size([2, 5, 4])
    """


class SimpleRNN(_RNNBase):
    __doc__ = "Layers of SimpleRNNCell over sequences.\n" + _NET_ARGS.format(
        more='        activation (str): "tanh" or "relu". Default: "tanh".\n', last="", name="SimpleRNN"
    )
    cell_class = SimpleRNNCell

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        direction: str = "forward",
        time_major: bool = False,
        dropout: float = 0.0,
        activation: str = "tanh",
        weight_ih_attr: Any = None,
        weight_hh_attr: Any = None,
        bias_ih_attr: Any = None,
        bias_hh_attr: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__(
            input_size, hidden_size, num_layers, direction, time_major, dropout, activation=activation,
            weight_ih_attr=weight_ih_attr, weight_hh_attr=weight_hh_attr, bias_ih_attr=bias_ih_attr,
            bias_hh_attr=bias_hh_attr,
        )  # fmt: skip
        self.activation = activation


class LSTM(_RNNBase):
    __doc__ = "Layers of LSTMCell over sequences.\n" + _NET_ARGS.format(
        more="", last="        proj_size (int): h is projected to this size; 0 for not. Default: 0.\n", name="LSTM"
    )
    cell_class = LSTMCell

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        direction: str = "forward",
        time_major: bool = False,
        dropout: float = 0.0,
        weight_ih_attr: Any = None,
        weight_hh_attr: Any = None,
        bias_ih_attr: Any = None,
        bias_hh_attr: Any = None,
        proj_size: int = 0,
        name: str | None = None,
    ) -> None:
        super().__init__(
            input_size, hidden_size, num_layers, direction, time_major, dropout, proj_size,
            weight_ih_attr=weight_ih_attr, weight_hh_attr=weight_hh_attr, bias_ih_attr=bias_ih_attr,
            bias_hh_attr=bias_hh_attr,
        )  # fmt: skip


class GRU(_RNNBase):
    __doc__ = "Layers of GRUCell over sequences.\n" + _NET_ARGS.format(more="", last="", name="GRU")
    cell_class = GRUCell

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        direction: str = "forward",
        time_major: bool = False,
        dropout: float = 0.0,
        weight_ih_attr: Any = None,
        weight_hh_attr: Any = None,
        bias_ih_attr: Any = None,
        bias_hh_attr: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__(
            input_size, hidden_size, num_layers, direction, time_major, dropout,
            weight_ih_attr=weight_ih_attr, weight_hh_attr=weight_hh_attr, bias_ih_attr=bias_ih_attr,
            bias_hh_attr=bias_hh_attr,
        )  # fmt: skip
