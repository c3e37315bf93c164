"""Normalization layers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...engine import errors
from ...tensor.tensor import Tensor
from .. import functional as F
from ..functional._check import integer
from ..initializer import Constant, Normal
from .batch_norm import BatchNorm, BatchNorm1D, BatchNorm2D, BatchNorm3D, SyncBatchNorm, _BatchNormBase, _named  # noqa: F401
from .factory import older_order
from .layers import Layer

__all__ = [
    "BatchNorm",
    "BatchNorm1D",
    "BatchNorm2D",
    "BatchNorm3D",
    "GroupNorm",
    "InstanceNorm1D",
    "InstanceNorm2D",
    "InstanceNorm3D",
    "LayerNorm",
    "LocalResponseNorm",
    "SpectralNorm",
    "SyncBatchNorm",
]


class _InstanceNormNd(Layer):
    """Normalizes each channel of each example by itself.

    Source: Ulyanov, Vedaldi and Lempitsky 2016, arXiv:1607.08022.

    Args:
        num_features (int): C, channels.
        epsilon (float): added to the variance. Default: 1e-5.
        momentum (float): accepted; there are no running statistics. Default: 0.9.
        weight_attr (ParamAttr|bool, optional): of scale [C]; both attributes False for no parameters.
        bias_attr (ParamAttr|bool, optional): of bias [C].
        data_format (str): where channels are.
        name (str, optional): for printing.
    """

    ndims: tuple[int, ...] = ()
    form = "NCHW"

    def __init__(
        self,
        num_features: int,
        epsilon: float = 1e-5,
        momentum: float = 0.9,
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__()
        if (weight_attr is False) != (bias_attr is False):
            raise errors.asserted(
                f"{type(self).__name__}: one of weight_attr and bias_attr is False.",
                expected="both of them False, or neither",
                received=f"weight_attr: {weight_attr!r}, bias_attr: {bias_attr!r}",
            )
        self._num_features, self._epsilon, self._momentum, self._name = num_features, epsilon, momentum, name
        self._weight_attr, self._bias_attr, self._data_format = weight_attr, bias_attr, data_format
        if weight_attr is not False:
            self.scale = self.create_parameter([num_features], weight_attr, default_initializer=Constant(1.0))
            self.bias = self.create_parameter([num_features], bias_attr, is_bias=True)
        else:
            self.scale = self.bias = None

    def forward(self, input: Tensor) -> Tensor:
        if self.ndims and input.ndim not in self.ndims:
            raise errors.invalid_argument(
                f"{type(self).__name__}: the input has the wrong number of axes.",
                expected=" or ".join(map(str, self.ndims)),
                received=f"input: {input.type}",
            )
        return F.instance_norm(
            input, weight=self.scale, bias=self.bias, eps=self._epsilon, data_format=self._data_format
        )

    def extra_repr(self) -> str:
        return _named(f"num_features={self._num_features}, epsilon={self._epsilon}", self._name)


def _instance_norm(n: int, form: str, ndims: tuple[int, ...]) -> type[Layer]:
    def __init__(
        self,
        num_features: int,
        epsilon: float = 1e-5,
        momentum: float = 0.9,
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str = form,
        name: str | None = None,
    ) -> None:
        _InstanceNormNd.__init__(self, num_features, epsilon, momentum, weight_attr, bias_attr, data_format, name)

    body = {"__init__": __init__, "ndims": ndims, "__doc__": _InstanceNormNd.__doc__, "__module__": __name__}
    return type(f"InstanceNorm{n}D", (_InstanceNormNd,), body)


InstanceNorm1D = _instance_norm(1, "NCL", (2, 3))
InstanceNorm2D = _instance_norm(2, "NCHW", (4,))
InstanceNorm3D = _instance_norm(3, "NCDHW", (5,))


def _layer_norm_order(rest: tuple[Any, ...]) -> dict[str, Any]:
    """elementwise_affine, bias, device, dtype; or, of old, weight_attr, bias_attr, name."""
    if len(rest) > 3 or (isinstance(rest[0], bool) and (len(rest) == 1 or rest[0] is True)):
        return dict(zip(("elementwise_affine", "bias", "device", "dtype"), rest))
    return dict(zip(("weight_attr", "bias_attr", "name"), rest))


class LayerNorm(Layer):
    """Normalizes over the last axes.

    Source: Ba, Kiros and Hinton 2016, arXiv:1607.06450.

    Args:
        normalized_shape (int|list[int]): sizes of the axes that are normalized together.
        epsilon (float): added to the variance. Default: 1e-5.
        elementwise_affine (bool): False for no parameters. Default: True.
        bias (bool): False for no bias. Default: True.
        device (optional): parameters stay on the current device.
        dtype (str|DType, optional): of the parameters.
        weight_attr (ParamAttr|bool, optional): of weight, a vector; ones by default.
        bias_attr (ParamAttr|bool, optional): of bias, a vector; zeros by default.
        name (str, optional): for printing.

    Examples:
        >>> paddle.nn.LayerNorm(4)(paddle.ones([2, 4])).shape
        paddle.Size([2, 4])
    """

    @older_order(2, _layer_norm_order)
    def __init__(
        self,
        normalized_shape: Any,
        epsilon: float = 1e-05,
        *,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
        weight_attr: Any = None,
        bias_attr: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__()
        if isinstance(normalized_shape, (int, np.integer)):
            normalized_shape = [int(normalized_shape)]
        if not elementwise_affine:
            weight_attr = bias_attr = False
        if not bias:
            bias_attr = False
        self._normalized_shape, self._epsilon, self._name = list(normalized_shape), epsilon, name
        self._weight_attr, self._bias_attr = weight_attr, bias_attr
        n = math.prod(self._normalized_shape)
        self.weight = self.create_parameter([n], weight_attr, dtype, default_initializer=Constant(1.0))
        self.bias = self.create_parameter([n], bias_attr, dtype, is_bias=True)

    def forward(self, input: Tensor) -> Tensor:
        return F.layer_norm(
            input,
            normalized_shape=self._normalized_shape,
            weight=self.weight,
            bias=self.bias,
            epsilon=self._epsilon,
        )

    def extra_repr(self) -> str:
        return f"normalized_shape={self._normalized_shape}, epsilon={self._epsilon}"


def _group_norm_order(rest: tuple[Any, ...]) -> dict[str, Any]:
    """affine, device, dtype; or, of old, weight_attr, bias_attr, data_format, name."""
    if rest[0] is True or (rest[0] is False and (len(rest) == 1 or not isinstance(rest[1], bool))):
        return dict(zip(("affine", "device", "dtype"), rest))
    return dict(zip(("weight_attr", "bias_attr", "data_format", "name"), rest))


class GroupNorm(Layer):
    """Normalizes groups of channels.

    Source: Wu and He 2018, arXiv:1803.08494.

    Args:
        num_groups (int): channels are divided into as many groups.
        num_channels (int): C.
        epsilon (float): added to the variance. Default: 1e-5.
        affine (bool): False for no parameters. Default: True.
        device (optional): parameters stay on the current device.
        dtype (str|DType, optional): of the parameters.
        weight_attr (ParamAttr|bool, optional): of weight [C]; ones by default.
        bias_attr (ParamAttr|bool, optional): of bias [C]; zeros by default.
        data_format (str): where channels are. Default: "NCHW".
        name (str, optional): for printing.
    """

    @older_order(3, _group_norm_order)
    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        epsilon: float = 1e-05,
        *,
        affine: bool = True,
        device: Any = None,
        dtype: Any = None,
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__()
        if not affine:
            weight_attr = bias_attr = False
        if data_format not in ("NCHW", "NHWC", "NCL", "NLC", "NCDHW", "NDHWC", "NC"):
            raise errors.invalid_argument(
                "GroupNorm: data_format is not known.",
                expected="channels first or last, as in NCHW or NHWC",
                received=f"data_format: {data_format!r}",
            )
        self._num_groups, self._num_channels, self._epsilon = num_groups, num_channels, epsilon
        self._weight_attr, self._bias_attr, self._data_format, self._name = weight_attr, bias_attr, data_format, name
        if integer(num_groups, "GroupNorm", "num_groups") < 1:
            raise errors.invalid_argument(
                "GroupNorm: num_groups is not positive.",
                expected="num_groups > 0",
                received=f"num_groups: {num_groups}",
            )
        if num_channels % num_groups:
            raise errors.invalid_argument(
                "GroupNorm: num_groups does not divide num_channels.",
                expected="num_channels % num_groups == 0",
                received=f"num_channels: {num_channels}, num_groups: {num_groups}",
            )
        self.weight = self.create_parameter([num_channels], weight_attr, dtype, default_initializer=Constant(1.0))
        self.bias = self.create_parameter([num_channels], bias_attr, dtype, is_bias=True)

    def forward(self, input: Tensor) -> Tensor:
        return F.group_norm(input, self._num_groups, self._epsilon, self.weight, self.bias, self._data_format)

    def extra_repr(self) -> str:
        return _named(
            f"num_groups={self._num_groups}, num_channels={self._num_channels}, epsilon={self._epsilon}", self._name
        )


class LocalResponseNorm(Layer):
    """Divides by the size of neighbouring channels.

    Source: Krizhevsky, Sutskever and Hinton 2012, section 3.3.

    Args:
        size (int): how many channels.
        alpha (float): Default: 0.0001.
        beta (float): exponent. Default: 0.75.
        k (float): Default: 1.0.
        data_format (str): where channels are. Default: "NCHW".
        name (str, optional): for printing.
    """

    def __init__(
        self,
        size: int,
        alpha: float = 0.0001,
        beta: float = 0.75,
        k: float = 1.0,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__()
        self.size, self.alpha, self.beta, self.k = size, alpha, beta, k
        self.data_format, self.name = data_format, name

    def forward(self, input: Tensor) -> Tensor:
        return F.local_response_norm(input, self.size, self.alpha, self.beta, self.k, self.data_format)

    def extra_repr(self) -> str:
        text = f"size={self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"
        if self.data_format != "NCHW":
            text += f", data_format={self.data_format}"
        return _named(text, self.name)


class SpectralNorm(Layer):
    """Divides a weight by its greatest singular value, found by power iteration.

    Source: Miyato et al. 2018, arXiv:1802.05957.

    Args:
        weight_shape (list[int]): of the weights that it is called with.
        dim (int): axis that counts as rows. Default: 0.
        power_iters (int): iterations per call. Default: 1.
        eps (float): least norm. Default: 1e-12.
        dtype (str): of the vectors. Default: "float32".
    """

    def __init__(
        self, weight_shape: Any, dim: int = 0, power_iters: int = 1, eps: float = 1e-12, dtype: str = "float32"
    ) -> None:
        super().__init__()
        self._power_iters, self._epsilon, self._dim, self._dtype = power_iters, eps, dim, dtype
        shape = list(weight_shape)
        if math.prod(shape) <= 0:
            raise errors.asserted(
                "SpectralNorm: a size is not positive.", expected="sizes above 0", received=f"weight_shape: {shape}"
            )
        if dim >= len(shape):
            raise errors.asserted(
                "SpectralNorm: there is no such axis.", expected=f"dim in [0, {len(shape)})", received=f"dim: {dim}"
            )
        h = shape[dim]
        for name, n in (("weight_u", h), ("weight_v", math.prod(shape) // h)):
            p = self.create_parameter([n], None, dtype, default_initializer=Normal(0.0, 1.0))
            p.stop_gradient = True
            setattr(self, name, p)

    def forward(self, x: Tensor) -> Tensor:
        from ...engine.eager.trace import rebind
        from ...framework.grad_mode import no_grad

        axes = [self._dim] + [i for i in range(x.ndim) if i != self._dim]
        rows = x.transpose(axes).reshape([x.shape[self._dim], -1])
        with no_grad():
            u, v, m = self.weight_u, self.weight_v, rows.detach()
            for _ in range(self._power_iters):
                v = m.t().matmul(u)
                v = v / ((v * v).sum().sqrt() + self._epsilon)
                u = m.matmul(v)
                u = u / ((u * u).sum().sqrt() + self._epsilon)
            if self._power_iters:
                rebind(self.weight_u, u)
                rebind(self.weight_v, v)
            u, v = u.detach(), v.detach()
        sigma = (u * rows.matmul(v)).sum()
        return x / sigma
