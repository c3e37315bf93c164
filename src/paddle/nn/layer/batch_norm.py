"""Batch normalization layers."""

from __future__ import annotations

from typing import Any

from ...engine import errors, types
from ...tensor.tensor import Tensor
from .. import functional as F
from ..initializer import Constant
from .factory import activation_named
from .layers import Layer

__all__ = ["BatchNorm", "BatchNorm1D", "BatchNorm2D", "BatchNorm3D", "SyncBatchNorm"]


def _named(text: str, name: Any) -> str:
    return text + (f", name={name}" if name is not None else "")


class _Statistics(Layer):
    """Scale, shift and running statistics of batch normalization.

    Attributes:
        weight, bias: [C], or None. _mean, _variance: [C], parameters that are not trained.
    """

    def _make(self, n: int, weight_attr: Any, bias_attr: Any, mean_name: Any = None, variance_name: Any = None) -> None:
        from ...framework.param import ParamAttr

        kind = types.default_dtype() if self._dtype == "float32" else self._dtype
        if str(kind).endswith("float16"):
            kind = "float32"
        self.weight = self.create_parameter([n], weight_attr, kind, default_initializer=Constant(1.0))
        self.bias = self.create_parameter([n], bias_attr, kind, is_bias=True)
        for label, name, value in (("_mean", mean_name, 0.0), ("_variance", variance_name, 1.0)):
            attr = ParamAttr(name=name, initializer=Constant(value), trainable=False, do_model_average=True)
            setattr(self, label, self.create_parameter([n], attr, kind))


class _BatchNormBase(_Statistics):
    """Batch normalization.

    Source: Ioffe and Szegedy 2015, arXiv:1502.03167.
    """

    data_formats: tuple[str, ...] = ("NCHW", "NHWC", "NC", "NCL", "NLC", "NCDHW", "NDHWC")
    ndims: tuple[int, ...] = ()

    def __init__(
        self,
        num_features: int,
        momentum: float = 0.9,
        epsilon: float = 1e-05,
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str = "NCHW",
        use_global_stats: bool | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__()
        self._num_features, self._weight_attr, self._bias_attr = num_features, weight_attr, bias_attr
        self._momentum, self._epsilon, self._data_format = momentum, epsilon, data_format
        self._use_global_stats, self._name = use_global_stats, name
        self._make(num_features, weight_attr, bias_attr)

    def _check_data_format(self, given: str) -> None:
        if given not in self.data_formats:
            raise errors.invalid_argument(
                f"{type(self).__name__}: data_format is not known.",
                expected=" or ".join(self.data_formats),
                received=f"data_format: {given!r}",
            )

    def _check_input_dim(self, x: Tensor) -> None:
        if self.ndims and x.ndim not in self.ndims:
            raise errors.invalid_argument(
                f"{type(self).__name__}: x has the wrong number of axes.",
                expected=" or ".join(map(str, self.ndims)),
                received=f"x: {x.type}",
            )

    def forward(self, input: Tensor) -> Tensor:
        self._check_input_dim(input)
        return F.batch_norm(
            input,
            self._mean,
            self._variance,
            self.weight,
            self.bias,
            training=self.training,
            momentum=self._momentum,
            epsilon=self._epsilon,
            data_format=self._data_format,
            use_global_stats=self._use_global_stats,
        )

    def extra_repr(self) -> str:
        text = f"num_features={self._num_features}, momentum={self._momentum}, epsilon={self._epsilon}"
        if self._data_format != "NCHW":
            text += f", data_format={self._data_format}"
        return _named(text, self._name)


_BATCH_NORM = """

    Args:
        num_features (int): C, channels.
        momentum (float): running = momentum running + (1 - momentum) batch. Default: 0.9.
        epsilon (float): added to the variance. Default: 1e-5.
        weight_attr (ParamAttr|bool, optional): of weight [C]; ones by default, False for none.
        bias_attr (ParamAttr|bool, optional): of bias [C]; zeros by default, False for none.
        data_format (str): where channels are. Default: "{form}".
        use_global_stats (bool, optional): running statistics while training too.
        name (str, optional): for printing.

    Examples:
        >>> paddle.nn.{name}(3)(paddle.ones({shape})).shape
        paddle.Size({shape})
    """


class BatchNorm1D(_BatchNormBase):
    data_formats, ndims = ("NC", "NCL", "NLC"), (2, 3)

    def __init__(
        self,
        num_features: int,
        momentum: float = 0.9,
        epsilon: float = 1e-05,
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str = "NCL",
        use_global_stats: bool | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(num_features, momentum, epsilon, weight_attr, bias_attr, data_format, use_global_stats, name)
        self._check_data_format(data_format)


class BatchNorm2D(_BatchNormBase):
    data_formats, ndims = ("NCHW", "NHWC"), (4,)

    def __init__(
        self,
        num_features: int,
        momentum: float = 0.9,
        epsilon: float = 1e-05,
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str = "NCHW",
        use_global_stats: bool | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(num_features, momentum, epsilon, weight_attr, bias_attr, data_format, use_global_stats, name)
        self._check_data_format(data_format)


class BatchNorm3D(_BatchNormBase):
    data_formats, ndims = ("NCDHW", "NDHWC"), (5,)

    def __init__(
        self,
        num_features: int,
        momentum: float = 0.9,
        epsilon: float = 1e-05,
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str = "NCDHW",
        use_global_stats: bool | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(num_features, momentum, epsilon, weight_attr, bias_attr, data_format, use_global_stats, name)
        self._check_data_format(data_format)


for _cls, _form, _shape, _axes in (
    (BatchNorm1D, "NCL", "[2, 3]", "[N, C] or [N, C, L]"),
    (BatchNorm2D, "NCHW", "[2, 3, 4, 4]", "[N, C, H, W]"),
    (BatchNorm3D, "NCDHW", "[2, 3, 2, 2, 2]", "[N, C, D, H, W]"),
):
    _cls.__doc__ = f"Batch normalization of {_axes}." + _BATCH_NORM.format(form=_form, name=_cls.__name__, shape=_shape)


class SyncBatchNorm(_BatchNormBase):
    """Batch normalization whose statistics are those of all processes' batches together.

    Args:
        num_features (int): C, channels.
        momentum (float): running = momentum running + (1 - momentum) batch. Default: 0.9.
        epsilon (float): added to the variance. Default: 1e-5.
        weight_attr (ParamAttr|bool, optional): of weight [C].
        bias_attr (ParamAttr|bool, optional): of bias [C].
        data_format (str): where channels are. Default: "NCHW".
        name (str, optional): for printing.
    """

    def __init__(
        self,
        num_features: int,
        momentum: float = 0.9,
        epsilon: float = 1e-05,
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__(num_features, momentum, epsilon, weight_attr, bias_attr, data_format, None, name)
        for part, value in (("weight", 1.0), ("bias", 0.0)):
            if getattr(self, part) is None:  # what is not wanted is there all the same, and stays as it is
                fixed = self.create_parameter(
                    [num_features], is_bias=part == "bias", default_initializer=Constant(value)
                )
                fixed.stop_gradient = True
                setattr(self, part, fixed)

    def forward(self, x: Tensor) -> Tensor:  # type: ignore[override]
        return super().forward(x)

    @classmethod
    def convert_sync_batchnorm(cls, layer: Layer) -> Layer:
        """Replaces every BatchNorm layer inside `layer` by a SyncBatchNorm of the same state.

        Args:
            layer (Layer): is changed.

        Returns:
            Layer: the layer, or its replacement if it is a BatchNorm itself.
        """
        found = layer
        if isinstance(layer, _BatchNormBase) and not isinstance(layer, cls):
            attr = layer._weight_attr
            if attr is not None and not isinstance(attr, bool) and attr.name is not None:
                attr.name += "_sync"
            attr = layer._bias_attr
            if attr is not None and not isinstance(attr, bool) and attr.name is not None:
                attr.name += "_sync"
            found = cls(
                layer._num_features,
                layer._momentum,
                layer._epsilon,
                layer._weight_attr,
                layer._bias_attr,
                layer._data_format,
                layer._name,
            )
            for name in ("weight", "bias", "_mean", "_variance"):
                if getattr(layer, name) is not None:
                    setattr(found, name, getattr(layer, name))
            found.training = layer.training
        for name, part in layer.named_children():
            found.add_sublayer(name, cls.convert_sync_batchnorm(part))
        return found


class BatchNorm(_Statistics):
    """The older form of batch normalization, with an activation.

    Args:
        num_channels (int): C.
        act (str, optional): a function of nn.functional applied to the result.
        is_test (bool): statistics are the running ones. Default: False.
        momentum (float): running = momentum running + (1 - momentum) batch. Default: 0.9.
        epsilon (float): added to the variance. Default: 1e-5.
        param_attr (ParamAttr|bool, optional): of weight [C].
        bias_attr (ParamAttr|bool, optional): of bias [C].
        dtype (str): of the parameters. Default: "float32".
        data_layout (str): "NCHW" or "NHWC". Default: "NCHW".
        in_place (bool): accepted; memory is planned anyway. Default: False.
        moving_mean_name (str, optional), moving_variance_name (str, optional): names of the statistics.
        do_model_average_for_mean_and_var (bool): accepted. Default: True.
        use_global_stats (bool): running statistics while training too. Default: False.
        trainable_statistics (bool): the batch's statistics in evaluation too. Default: False.
    """

    def __init__(
        self,
        num_channels: int,
        act: str | None = None,
        is_test: bool = False,
        momentum: float = 0.9,
        epsilon: float = 1e-05,
        param_attr: Any = None,
        bias_attr: Any = None,
        dtype: str = "float32",
        data_layout: str = "NCHW",
        in_place: bool = False,
        moving_mean_name: str | None = None,
        moving_variance_name: str | None = None,
        do_model_average_for_mean_and_var: bool = True,
        use_global_stats: bool = False,
        trainable_statistics: bool = False,
    ) -> None:
        super().__init__(dtype=dtype)
        if bias_attr is False:
            raise errors.asserted("BatchNorm: bias_attr is False.", expected="a bias", received="bias_attr: False")
        self._param_attr, self._bias_attr, self._act = param_attr, bias_attr, act
        self._momentum, self._epsilon, self._data_layout = momentum, epsilon, data_layout
        self._is_test, self._use_global_stats = is_test, use_global_stats
        self._trainable_statistics = trainable_statistics
        self._make(num_channels, param_attr, bias_attr, moving_mean_name, moving_variance_name)
        if is_test:
            self.training = False

    def forward(self, input: Tensor) -> Tensor:
        out = F.batch_norm(
            input,
            self._mean,
            self._variance,
            self.weight,
            self.bias,
            training=self.training or self._trainable_statistics,
            momentum=self._momentum,
            epsilon=self._epsilon,
            data_format=self._data_layout,
            use_global_stats=self._use_global_stats,
        )
        return activation_named(self._act, "BatchNorm")(out) if self._act else out
