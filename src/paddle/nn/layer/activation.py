"""Activations as layers: each calls the function of its name in `nn.functional`."""

from __future__ import annotations

from typing import Any

from ...engine import errors
from ...tensor.tensor import Tensor
from .. import functional as F
from ..initializer import Constant
from .factory import layer_class, named
from .layers import Layer

__all__ = ["PReLU", "RReLU"]


def _activation(
    name: str, function: str, text: str, args: str = "", shown: Any = None, **signature: Any
) -> type[Layer]:
    """A layer that passes its arguments on, in order, to a function."""
    names = tuple(signature)
    apply = getattr(F, function)
    attributes = ["_" + k for k in names if k != "name"]
    if not attributes:

        def forward(self: Any, x: Tensor) -> Tensor:
            return apply(x)
    elif len(attributes) == 1:
        (only,) = attributes

        def forward(self: Any, x: Tensor) -> Tensor:
            return apply(x, self.__dict__[only])
    else:

        def forward(self: Any, x: Tensor) -> Tensor:
            state = self.__dict__
            return apply(x, *[state[k] for k in attributes])

    doc = f"{text}\n\n    Args:\n{args}        name (str, optional): for printing.\n"
    if "name" not in signature:
        signature = {**signature, "name": None}
    cls = layer_class(name, signature, forward, shown=names if shown is None else shown, doc=doc, module=__name__)
    __all__.append(name)
    return cls


def _arg(name: str, kind: str, text: str) -> str:
    return f"        {name} ({kind}): {text}\n"


ReLU = _activation("ReLU", "relu", "max(x, 0).")
ReLU6 = _activation("ReLU6", "relu6", "min(max(x, 0), 6).")
Sigmoid = _activation("Sigmoid", "sigmoid", "1 / (1 + exp(-x)).")
Tanh = _activation("Tanh", "tanh", "Hyperbolic tangent.")
LogSigmoid = _activation("LogSigmoid", "log_sigmoid", "log(1 / (1 + exp(-x))).")
Hardsigmoid = _activation("Hardsigmoid", "hardsigmoid", "x / 6 + 1/2, kept within [0, 1].")
Hardswish = _activation("Hardswish", "hardswish", "x min(max(x + 3, 0), 6) / 6.")
Softsign = _activation("Softsign", "softsign", "x / (1 + |x|).")
Swish = _activation("Swish", "swish", "x sigmoid(x).")
Mish = _activation("Mish", "mish", "x tanh(log(1 + exp(x))).")
Tanhshrink = _activation("Tanhshrink", "tanhshrink", "x - tanh(x).")
GELU = _activation(
    "GELU",
    "gelu",
    "x times the normal distribution function of x.",
    _arg("approximate", "bool", "by tanh. Default: False."),
    approximate=False,
)
Silu = layer_class(
    "Silu",
    {"inplace": False, "name": None},
    lambda self, x: _silu(self, x),
    shown=("inplace",),
    doc="x sigmoid(x).\n\n    Args:\n        inplace (bool): overwrites the input. Default: False.\n"
    "        name (str, optional): for printing.\n",
    module=__name__,
)
SiLU = Silu


def _silu(layer: Any, x: Tensor) -> Tensor:
    out = F.silu(x)
    if layer._inplace:
        from ...engine.eager.trace import rebind

        return rebind(x, out)  # type: ignore[return-value]
    return out


LeakyReLU = _activation(
    "LeakyReLU",
    "leaky_relu",
    "x where positive, negative_slope x elsewhere.",
    _arg("negative_slope", "float", "Default: 0.01."),
    negative_slope=0.01,
)
ELU = _activation(
    "ELU", "elu", "x where positive, alpha (exp(x) - 1) elsewhere.", _arg("alpha", "float", "Default: 1.0."), alpha=1.0
)
CELU = _activation(
    "CELU",
    "celu",
    "x where positive, alpha (exp(x / alpha) - 1) elsewhere.",
    _arg("alpha", "float", "Default: 1.0."),
    alpha=1.0,
)
SELU = _activation(
    "SELU",
    "selu",
    "scale times ELU, with constants that keep mean and variance.",
    _arg("scale", "float", "Default: 1.0507...") + _arg("alpha", "float", "Default: 1.6732..."),
    shown=lambda self: f"scale={self._scale:.16f}, alpha={self._alpha:.16f}",
    scale=1.0507009873554805,
    alpha=1.6732632423543772,
)
Hardtanh = _activation(
    "Hardtanh",
    "hardtanh",
    "x kept within [min, max].",
    _arg("min", "float", "Default: -1.0.") + _arg("max", "float", "Default: 1.0."),
    min=-1.0,
    max=1.0,
)
Hardshrink = _activation(
    "Hardshrink",
    "hardshrink",
    "x, zero within [-threshold, threshold].",
    _arg("threshold", "float", "Default: 0.5."),
    threshold=0.5,
)
Softshrink = _activation(
    "Softshrink",
    "softshrink",
    "x moved toward zero by threshold, zero within it.",
    _arg("threshold", "float", "Default: 0.5."),
    threshold=0.5,
)
Hardshrink.lambd = Softshrink.lambd = property(lambda self: self._threshold)  # type: ignore[attr-defined]
Softplus = _activation(
    "Softplus",
    "softplus",
    "log(1 + exp(beta x)) / beta, x itself where beta x is above threshold.",
    _arg("beta", "float", "Default: 1.") + _arg("threshold", "float", "Default: 20."),
    beta=1,
    threshold=20,
)
ThresholdedReLU = _activation(
    "ThresholdedReLU",
    "thresholded_relu",
    "x above threshold, value elsewhere.",
    _arg("threshold", "float", "Default: 1.0.") + _arg("value", "float", "Default: 0.0."),
    threshold=1.0,
    value=0.0,
)
Softmax = _activation(
    "Softmax",
    "softmax",
    "exp(x), divided by its sum along an axis.",
    _arg("axis", "int", "Default: -1."),
    axis=-1,
)
LogSoftmax = _activation(
    "LogSoftmax", "log_softmax", "The log of softmax.", _arg("axis", "int", "Default: -1."), axis=-1
)
Maxout = _activation(
    "Maxout",
    "maxout",
    "The greatest of `groups` consecutive channels.",
    _arg("groups", "int", "how many.") + _arg("axis", "int", "of the channels. Default: 1."),
    groups=...,
    axis=1,
)
GLU = _activation(
    "GLU",
    "glu",
    "The first half along an axis times the sigmoid of the second.",
    _arg("axis", "int", "Default: -1."),
    axis=-1,
)
GLU.dim = property(lambda self: self._axis)  # type: ignore[attr-defined]
Softmax.dim = property(lambda self: self._axis)  # type: ignore[attr-defined]


def _softmax2d(self: Any, x: Tensor) -> Tensor:
    if x.ndim not in (3, 4):
        raise errors.asserted("Softmax2D: x is not an image.", expected="3 or 4 axes", received=f"x: {x.type}")
    return F.softmax(x, axis=-3)


Softmax2D = layer_class(
    "Softmax2D",
    {"name": None},
    _softmax2d,
    doc="Softmax over the channels of [C, H, W] or [N, C, H, W].\n\n    Args:\n        name (str, optional): for "
    "printing.\n",
    module=__name__,
)
__all__ += ["Silu", "Softmax2D"]


class PReLU(Layer):
    """x where positive, weight x elsewhere; the weight is learned.

    Args:
        num_parameters (int): 1, or one per channel. Default: 1.
        init (float): first value. Default: 0.25.
        weight_attr (ParamAttr, optional): of weight [num_parameters].
        data_format (str): where channels are. Default: "NCHW".
        name (str, optional): for printing.
    """

    def __init__(
        self,
        num_parameters: int = 1,
        init: float = 0.25,
        weight_attr: Any = None,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__()
        self._num_parameters, self._init, self._name, self._data_format = num_parameters, init, name, data_format
        self._weight = self.create_parameter([num_parameters], weight_attr, default_initializer=Constant(init))

    @property
    def weight(self) -> Any:
        return self._weight

    def forward(self, x: Tensor) -> Tensor:
        return F.prelu(x, self._weight, data_format=self._data_format)

    def extra_repr(self) -> str:
        return named(
            f"num_parameters={self._num_parameters}, data_format={self._data_format}, init={self._init}, "
            f"dtype={self._dtype}",
            self._name,
        )


class RReLU(Layer):
    """x where positive, a x elsewhere, a drawn evenly from [lower, upper] while training, their mean otherwise.

    Args:
        lower (float): Default: 1/8.
        upper (float): Default: 1/3.
        name (str, optional): for printing.
    """

    def __init__(self, lower: float = 1.0 / 8.0, upper: float = 1.0 / 3.0, name: str | None = None) -> None:
        super().__init__()
        self._lower, self._upper, self._name = lower, upper, name

    def forward(self, x: Tensor) -> Tensor:
        return F.rrelu(x, lower=self._lower, upper=self._upper, training=self.training)

    def extra_repr(self) -> str:
        return named(
            f"lower={self._lower}, upper={self._upper}, training={self.training}, dtype={self._dtype}", self._name
        )
