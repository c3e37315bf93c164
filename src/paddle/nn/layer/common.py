"""Linear, Embedding, Dropout, Identity, Flatten, Bilinear, similarity and folding layers."""

from __future__ import annotations

from typing import Any

from ...engine import errors
from ...tensor.tensor import Tensor
from .. import functional as F
from .factory import named, older_order
from .layers import Layer

__all__ = [
    "AlphaDropout",
    "Bilinear",
    "CosineSimilarity",
    "Dropout",
    "Dropout2D",
    "Dropout3D",
    "Embedding",
    "FeatureAlphaDropout",
    "Flatten",
    "Fold",
    "Identity",
    "Linear",
    "Unflatten",
    "Unfold",
]


class Identity(Layer):
    """Gives back what it gets. Arguments are accepted and not used."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: Any) -> Any:
        return input


class Linear(Layer):
    """out = x @ weight + bias.

    Args:
        in_features (int): size of the last axis of x.
        out_features (int): size of the last axis of out.
        weight_attr (ParamAttr, optional): of weight [in_features, out_features]; Xavier uniform by default.
        bias_attr (ParamAttr|bool, optional): of bias [out_features]; zeros by default, False for no bias.
        name (str, optional): for printing.

    Examples:
        >>> paddle.nn.Linear(4, 3)(paddle.ones([2, 4])).shape
        paddle.Size([2, 3])
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        weight_attr: Any = None,
        bias_attr: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__()
        self._weight_attr, self._bias_attr, self.name = weight_attr, bias_attr, name
        self.in_features, self.out_features = in_features, out_features
        self.weight = self.create_parameter([in_features, out_features], weight_attr)
        self.bias = self.create_parameter([out_features], bias_attr, is_bias=True)

    def forward(self, input: Tensor) -> Tensor:
        return F.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        in_, out = self.weight.type.shape
        return named(f"in_features={in_}, out_features={out}, dtype={self._dtype}", self.name)


def _embedding_order(rest: tuple[Any, ...]) -> dict[str, Any]:
    names = ("scale_grad_by_freq", "sparse", "_weight", "_freeze", "device", "dtype")
    return dict(zip(names, rest))


class Embedding(Layer):
    """Rows of a table by their numbers.

    Args:
        num_embeddings (int): rows.
        embedding_dim (int): columns.
        padding_idx (int, optional): this row is zero and takes no gradient; negative counts from the end.
        max_norm (float, optional): rows that are used are first shortened to this norm.
        norm_type (float): of max_norm. Default: 2.0.
        scale_grad_by_freq (bool): divides a row's gradient by how often it is used. Default: False.
        sparse (bool): the gradient holds only the rows that were read, see `nn.functional.embedding`. Default: False.
        weight_attr (ParamAttr, optional): of weight [num_embeddings, embedding_dim].
        name (str, optional): for printing.

    Examples:
        >>> paddle.nn.Embedding(10, 3)(paddle.to_tensor([1, 2])).shape
        paddle.Size([2, 3])
    """

    @older_order(5, lambda rest: dict(zip(("name",), rest)) if isinstance(rest[0], str) else _embedding_order(rest))
    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        *,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
        _weight: Tensor | None = None,
        _freeze: bool = False,
        device: Any = None,
        dtype: Any = None,
        weight_attr: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__()
        if isinstance(max_norm, bool):  # the older order of positions: padding_idx, sparse, weight_attr, name
            sparse, max_norm = max_norm, None
            if not isinstance(norm_type, (int, float)):
                weight_attr, norm_type = norm_type, 2.0
        self._num_embeddings, self._embedding_dim = num_embeddings, embedding_dim
        self._sparse, self._scale_grad_by_freq = sparse, scale_grad_by_freq
        self._max_norm, self._norm_type, self._name = max_norm, norm_type, name
        if num_embeddings <= 0 or embedding_dim <= 0:
            raise errors.invalid_argument(
                "Embedding: the table has no elements.",
                expected="num_embeddings > 0 and embedding_dim > 0",
                received=f"num_embeddings: {num_embeddings}, embedding_dim: {embedding_dim}",
            )
        if padding_idx is not None and not -num_embeddings <= padding_idx < num_embeddings:
            raise errors.invalid_argument(
                "Embedding: padding_idx is not a row.",
                expected=f"{-num_embeddings} <= padding_idx < {num_embeddings}",
                received=f"padding_idx: {padding_idx}",
            )
        self._padding_idx = padding_idx
        self.weight = self.create_parameter([num_embeddings, embedding_dim], weight_attr, dtype)
        if _weight is not None:
            self.weight.set_value(_weight)
        if _freeze:
            self.weight.stop_gradient = True
        if self._padding_idx is not None:
            from ...framework.grad_mode import no_grad

            with no_grad():
                self.weight[self._padding_idx] = 0.0

    @property
    def num_embeddings(self) -> int:
        return self._num_embeddings

    @property
    def embedding_dim(self) -> int:
        return self._embedding_dim

    @property
    def padding_idx(self) -> int | None:
        return self._padding_idx

    def forward(self, x: Tensor) -> Tensor:
        if self._max_norm is None and not self._scale_grad_by_freq:
            return F.embedding(x, self.weight, padding_idx=self._padding_idx, sparse=self._sparse)
        return F.embedding(
            x,
            self.weight,
            padding_idx=self._padding_idx,
            max_norm=self._max_norm,
            norm_type=self._norm_type,
            sparse=self._sparse,
            scale_grad_by_freq=self._scale_grad_by_freq,
        )

    def extra_repr(self) -> str:
        text = f"{self._num_embeddings}, {self._embedding_dim}"
        if self._padding_idx is not None:
            text += f", padding_idx={self._padding_idx}"
        if self._max_norm is not None:
            text += f", max_norm={self._max_norm}, norm_type={self._norm_type}"
        text += f", sparse={self._sparse}, scale_grad_by_freq={self._scale_grad_by_freq}"
        return named(text, self._name)


class Dropout(Layer):
    """Zeros elements at random while training.

    Args:
        p (float): probability of zero. Default: 0.5.
        inplace (bool): overwrites the input. Default: False.
        axis (int|list[int], optional): along other axes the choice is the same; each element by default.
        mode (str): "upscale_in_train" divides what is kept by 1 - p; "downscale_in_infer" multiplies by 1 - p when
            not training. Default: "upscale_in_train".
        name (str, optional): for printing.
    """

    def __init__(
        self,
        p: float = 0.5,
        inplace: Any = False,
        axis: Any = None,
        mode: str = "upscale_in_train",
        name: str | None = None,
    ) -> None:
        super().__init__()
        if not isinstance(inplace, bool):  # the older order of positions: p, axis, mode
            inplace, axis, mode = False, inplace, axis if isinstance(axis, str) else mode
        self.p, self.inplace, self.axis, self.mode, self.name = p, inplace, axis, mode, name

    def forward(self, input: Tensor) -> Tensor:
        out = F.dropout(input, p=self.p, axis=self.axis, training=self.training, mode=self.mode)
        if self.inplace:
            from ...engine.eager.trace import rebind

            return rebind(input, out)  # type: ignore[return-value]
        return out

    def extra_repr(self) -> str:
        return named(f"p={self.p}, axis={self.axis}, mode={self.mode}, inplace={self.inplace}", self.name)


class Dropout2D(Layer):
    """Zeros whole feature maps of [N, C, H, W] at random while training.

    Args:
        p (float): probability of zero. Default: 0.5.
        data_format (str): "NCHW" or "NHWC". Default: "NCHW".
        name (str, optional): for printing.
    """

    def __init__(self, p: float = 0.5, data_format: str = "NCHW", name: str | None = None) -> None:
        super().__init__()
        self.p, self.data_format, self.name = p, data_format, name

    def forward(self, input: Tensor) -> Tensor:
        return F.dropout2d(input, p=self.p, training=self.training, data_format=self.data_format)

    def extra_repr(self) -> str:
        return named(f"p={self.p}, data_format={self.data_format}", self.name)


class Dropout3D(Layer):
    """Zeros whole feature maps of [N, C, D, H, W] at random while training.

    Args:
        p (float): probability of zero. Default: 0.5.
        data_format (str): "NCDHW" or "NDHWC". Default: "NCDHW".
        name (str, optional): for printing.
    """

    def __init__(self, p: float = 0.5, data_format: str = "NCDHW", name: str | None = None) -> None:
        super().__init__()
        self.p, self.data_format, self.name = p, data_format, name

    def forward(self, input: Tensor) -> Tensor:
        return F.dropout3d(input, p=self.p, training=self.training, data_format=self.data_format)

    def extra_repr(self) -> str:
        return named(f"p={self.p}, data_format={self.data_format}", self.name)


class AlphaDropout(Layer):
    """Dropout that keeps mean and variance, for networks of SELU.

    Source: Klambauer et al. 2017, arXiv:1706.02515.

    Args:
        p (float): probability of being dropped. Default: 0.5.
        name (str, optional): for printing.
    """

    def __init__(self, p: float = 0.5, name: str | None = None) -> None:
        super().__init__()
        self.p, self.name = p, name

    def forward(self, input: Tensor) -> Tensor:
        return F.alpha_dropout(input, p=self.p, training=self.training)

    def extra_repr(self) -> str:
        return named(f"p={self.p}", self.name)


class FeatureAlphaDropout(AlphaDropout):
    """AlphaDropout of whole feature maps."""

    def forward(self, input: Tensor) -> Tensor:
        return F.feature_alpha_dropout(input, p=self.p, training=self.training)


class Flatten(Layer):
    """Axes start_axis to stop_axis become one.

    Args:
        start_axis (int): Default: 1.
        stop_axis (int): Default: -1.
    """

    def __init__(self, start_axis: int = 1, stop_axis: int = -1) -> None:
        super().__init__()
        self.start_axis, self.stop_axis = start_axis, stop_axis

    def forward(self, input: Tensor) -> Tensor:
        return input.flatten(self.start_axis, self.stop_axis)


class Unflatten(Layer):
    """One axis becomes several.

    Args:
        axis (int): which.
        shape (list[int]|Tensor): their sizes; one may be -1.
        name (str, optional): for printing.
    """

    def __init__(self, axis: int, shape: Any, name: str | None = None) -> None:
        super().__init__()
        self.axis, self.shape, self.name = axis, shape, name

    def forward(self, input: Tensor) -> Tensor:
        return input.unflatten(self.axis, self.shape)

    def extra_repr(self) -> str:
        return named(f"axis={self.axis}, shape={self.shape}", self.name)


class Bilinear(Layer):
    """out[n, k] = x1[n] @ weight[k] @ x2[n] + bias[k].

    Args:
        in1_features (int), in2_features (int): sizes of x1 and x2.
        out_features (int): size of out.
        weight_attr (ParamAttr, optional): of weight [out_features, in1_features, in2_features].
        bias_attr (ParamAttr|bool, optional): of bias [1, out_features].
        name (str, optional): for printing.
    """

    def __init__(
        self,
        in1_features: int,
        in2_features: int,
        out_features: int,
        weight_attr: Any = None,
        bias_attr: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__()
        self._name = name
        self._in1_features, self._in2_features, self._out_features = in1_features, in2_features, out_features
        self.weight = self.create_parameter([out_features, in1_features, in2_features], weight_attr)
        self.bias = self.create_parameter([1, out_features], bias_attr, is_bias=True)

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        return F.bilinear(x1, x2, self.weight, self.bias)

    def extra_repr(self) -> str:
        return named(
            f"in1_features={self._in1_features}, in2_features={self._in2_features}, "
            f"out_features={self._out_features}, dtype={self._dtype}",
            self._name,
        )


class CosineSimilarity(Layer):
    """Cosine of the angle between vectors along an axis.

    Args:
        axis (int): Default: 1.
        eps (float): least product of the norms. Default: 1e-8.
    """

    def __init__(self, axis: int = 1, eps: float = 1e-8) -> None:
        super().__init__()
        self._axis, self._eps = axis, eps

    @property
    def dim(self) -> int:
        return self._axis

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        return F.cosine_similarity(x1, x2, axis=self._axis, eps=self._eps)

    def extra_repr(self) -> str:
        return f"axis={self._axis}, eps={self._eps}"


class Fold(Layer):
    """Patches put back to where Unfold took them from, overlaps summed.

    Args:
        output_sizes (int|list[int]): height and width of the result.
        kernel_sizes (int|list[int]): of a patch.
        dilations (int|list[int]): Default: 1.
        paddings (int|list[int]): Default: 0.
        strides (int|list[int]): Default: 1.
        name (str, optional): for printing.
    """

    def __init__(
        self,
        output_sizes: Any,
        kernel_sizes: Any,
        dilations: Any = 1,
        paddings: Any = 0,
        strides: Any = 1,
        name: str | None = None,
    ) -> None:
        super().__init__()
        self.output_sizes, self.kernel_sizes, self.dilations = output_sizes, kernel_sizes, dilations
        self.paddings, self.strides, self.name = paddings, strides, name

    output_size = property(lambda self: self.output_sizes)
    kernel_size = property(lambda self: self.kernel_sizes)
    dilation = property(lambda self: self.dilations)
    padding = property(lambda self: self.paddings)
    stride = property(lambda self: self.strides)

    def forward(self, input: Tensor) -> Tensor:
        return F.fold(
            input, self.output_sizes, self.kernel_sizes, strides=self.strides, paddings=self.paddings,
            dilations=self.dilations,
        )  # fmt: skip

    def extra_repr(self) -> str:
        return named(
            f"kernel_size={self.kernel_sizes}, dilation={self.dilations}, padding={self.paddings}, "
            f"stride={self.strides}",
            self.name,
        )


class Unfold(Layer):
    """Patches of [N, C, H, W], each a column of the result.

    Args:
        kernel_sizes (int|list[int]): of a patch.
        dilations (int|list[int]): Default: 1.
        paddings (int|list[int]): Default: 0.
        strides (int|list[int]): Default: 1.
        name (str, optional): for printing.
    """

    def __init__(
        self, kernel_sizes: Any, dilations: Any = 1, paddings: Any = 0, strides: Any = 1, name: str | None = None
    ) -> None:
        super().__init__()
        self.kernel_sizes, self.dilations, self.paddings = kernel_sizes, dilations, paddings
        self.strides, self.name = strides, name

    kernel_size = property(lambda self: self.kernel_sizes)
    dilation = property(lambda self: self.dilations)
    padding = property(lambda self: self.paddings)
    stride = property(lambda self: self.strides)

    def forward(self, input: Tensor) -> Tensor:
        return F.unfold(
            input, self.kernel_sizes, strides=self.strides, paddings=self.paddings, dilations=self.dilations
        )

    def extra_repr(self) -> str:
        return named(
            f"kernel_size={self.kernel_sizes}, dilation={self.dilations}, padding={self.paddings}, "
            f"stride={self.strides}",
            self.name,
        )
