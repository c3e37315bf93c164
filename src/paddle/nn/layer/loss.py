"""Losses as layers: each calls the function of its kind in `nn.functional`."""

from __future__ import annotations

from typing import Any

from ...engine import errors
from ...tensor.tensor import Tensor
from .. import functional as F
from .factory import layer_class
from .layers import Layer

__all__ = ["AdaptiveLogSoftmaxWithLoss", "HSigmoidLoss"]


def _reduction(layer: Any) -> None:
    value = layer.reduction
    if value not in ("sum", "mean", "none"):
        raise errors.invalid_argument(
            f"{type(layer).__name__}: reduction is not known.",
            expected="sum, mean or none",
            received=f"reduction: {value!r}",
        )


def _loss(
    name: str,
    call: Any,
    text: str,
    /,
    *,
    check: Any = _reduction,
    **signature: Any,
) -> type[Layer]:
    args = "".join(f"        {k} ({_DESCRIBED.get(k, 'optional')}\n" for k in signature)
    doc = f"{text}\n\n    Args:\n{args}"
    cls = layer_class(name, signature, call, doc=doc, module=__name__, prefix="", check=check)
    cls.extra_repr = Layer.extra_repr  # type: ignore[method-assign]
    __all__.append(name)
    return cls


_DESCRIBED = {
    "reduction": 'str): "mean", "sum" or "none". Default: "mean".',
    "name": "str, optional): for printing.",
    "weight": "Tensor, optional): a factor per class or element.",
    "pos_weight": "Tensor, optional): a factor of positive labels.",
    "ignore_index": "int): labels of this number do not count.",
    "soft_label": "bool): labels are distributions. Default: False.",
    "axis": "int): of the classes.",
    "use_softmax": "bool): the input are logits. Default: True.",
    "label_smoothing": "float): share of the label spread over all classes. Default: 0.0.",
    "margin": "float): the margin.",
    "delta": "float): where the square ends. Default: 1.0.",
    "is_huber": "bool): delta times smaller where False. Default: True.",
    "log_target": "bool): the label is a logarithm. Default: False.",
    "blank": "int): the label for no symbol. Default: 0.",
    "p": "float): the norm or power.",
    "epsilon": "float): keeps divisions and logarithms finite.",
    "swap": "bool): takes the nearer of anchor and positive. Default: False.",
    "log_input": "bool): the input is a logarithm. Default: True.",
    "full": "bool): adds the constant terms. Default: False.",
    "distance_function": "Callable, optional): the 2-norm of the difference by default.",
    "fastemit_lambda": "float): weight of FastEmit. Default: 0.001.",
    "zero_infinity": "bool): infinite losses count as zero. Default: False.",
}


def _cross_entropy(self: Any, input: Tensor, label: Tensor) -> Tensor:
    return F.cross_entropy(
        input, label, self.weight, self.ignore_index, self.reduction, self.soft_label, self.axis, self.use_softmax,
        self.label_smoothing,
    )  # fmt: skip


CrossEntropyLoss = _loss(
    "CrossEntropyLoss",
    _cross_entropy,
    "The log of the probability that softmax gives to the label, negative.",
    weight=None,
    ignore_index=-100,
    reduction="mean",
    soft_label=False,
    axis=-1,
    use_softmax=True,
    label_smoothing=0.0,
    name=None,
)
MSELoss = _loss(
    "MSELoss",
    lambda self, input, label: F.mse_loss(input, label, self.reduction),
    "The square of the difference.",
    reduction="mean",
)
L1Loss = _loss(
    "L1Loss",
    lambda self, input, label: F.l1_loss(input, label, self.reduction, name=self.name),
    "The size of the difference.",
    reduction="mean",
    name=None,
)
BCELoss = _loss(
    "BCELoss",
    lambda self, input, label: F.binary_cross_entropy(input, label, self.weight, self.reduction, self.name),
    "Cross entropy of probabilities and labels of two classes.",
    weight=None,
    reduction="mean",
    name=None,
)
BCEWithLogitsLoss = _loss(
    "BCEWithLogitsLoss",
    lambda self, logit, label: F.binary_cross_entropy_with_logits(
        logit, label, self.weight, self.reduction, self.pos_weight, self.name
    ),
    "Cross entropy of logits and labels of two classes.",
    weight=None,
    reduction="mean",
    pos_weight=None,
    name=None,
)
NLLLoss = _loss(
    "NLLLoss",
    lambda self, input, label: F.nll_loss(
        input, label, weight=self.weight, ignore_index=self.ignore_index, reduction=self.reduction, name=self.name
    ),
    "The log probability of the label, negative.",
    weight=None,
    ignore_index=-100,
    reduction="mean",
    name=None,
)
KLDivLoss = _loss(
    "KLDivLoss",
    lambda self, input, label: (
        F.kl_div(input, label, self.reduction, log_target=self.log_target)
        if self.log_target
        else F.kl_div(input, label, self.reduction)
    ),
    "Kullback-Leibler divergence of a distribution, given by its logarithm, from the label.",
    check=None,
    reduction="mean",
    log_target=False,
)
SmoothL1Loss = _loss(
    "SmoothL1Loss",
    lambda self, input, label: F.smooth_l1_loss(
        input, label, reduction=self.reduction, delta=self.delta, **({} if self.is_huber else {"is_huber": False})
    ),
    "Half the square of the difference where small, its size elsewhere.",
    check=None,
    reduction="mean",
    delta=1.0,
    is_huber=True,
    name=None,
)
HuberLoss = SmoothL1Loss
MarginRankingLoss = _loss(
    "MarginRankingLoss",
    lambda self, input, other, label: F.margin_ranking_loss(
        input, other, label, self.margin, self.reduction, self.name
    ),
    "max(0, margin - label (input - other)).",
    margin=0.0,
    reduction="mean",
    name=None,
)
CTCLoss = _loss(
    "CTCLoss",
    lambda self, log_probs, labels, input_lengths, label_lengths, norm_by_times=False: F.ctc_loss(
        log_probs,
        labels,
        input_lengths,
        label_lengths,
        self.blank,
        self.reduction,
        norm_by_times,
        **({"zero_infinity": True} if self.zero_infinity else {}),
    ),  # fmt: skip
    "Connectionist temporal classification.\n\n    Source: Graves et al. 2006, ICML, section 4.",
    check=None,
    blank=0,
    reduction="mean",
    zero_infinity=False,
)
RNNTLoss = _loss(
    "RNNTLoss",
    lambda self, input, label, input_lengths, label_lengths: F.rnnt_loss(
        input,
        label,
        input_lengths,
        label_lengths,
        blank=self.blank,
        fastemit_lambda=self.fastemit_lambda,
        reduction=self.reduction,
        name=self.name,
    ),
    "Loss of a recurrent transducer.\n\n    Source: Graves 2012, arXiv:1211.3711.",
    check=None,
    blank=0,
    fastemit_lambda=0.001,
    reduction="mean",
    name=None,
)
HingeEmbeddingLoss = _loss(
    "HingeEmbeddingLoss",
    lambda self, input, label: F.hinge_embedding_loss(
        input, label, reduction=self.reduction, margin=self.margin, name=self.name
    ),
    "The input where the label is 1, max(0, margin - input) where it is -1.",
    check=None,
    margin=1.0,
    reduction="mean",
    name=None,
)


def _cosine_check(layer: Any) -> None:
    if not -1 <= layer.margin <= 1:
        raise errors.invalid_argument(
            "CosineEmbeddingLoss: margin is out of range.", expected="-1 <= margin <= 1", received=f"{layer.margin}"
        )
    _reduction(layer)


CosineEmbeddingLoss = _loss(
    "CosineEmbeddingLoss",
    lambda self, input1, input2, label: F.cosine_embedding_loss(
        input1, input2, label, margin=self.margin, reduction=self.reduction, name=self.name
    ),
    "1 - cosine where the label is 1, max(0, cosine - margin) where it is -1.",
    check=_cosine_check,
    margin=0,
    reduction="mean",
    name=None,
)
TripletMarginLoss = _loss(
    "TripletMarginLoss",
    lambda self, input, positive, negative: F.triplet_margin_loss(
        input,
        positive,
        negative,
        margin=self.margin,
        p=self.p,
        epsilon=self.epsilon,
        swap=self.swap,
        reduction=self.reduction,
        name=self.name,
    ),
    "max(0, |input - positive| - |input - negative| + margin).",
    margin=1.0,
    p=2.0,
    epsilon=1e-6,
    swap=False,
    reduction="mean",
    name=None,
)
TripletMarginWithDistanceLoss = _loss(
    "TripletMarginWithDistanceLoss",
    lambda self, input, positive, negative: F.triplet_margin_with_distance_loss(
        input,
        positive,
        negative,
        distance_function=self.distance_function,
        margin=self.margin,
        swap=self.swap,
        reduction=self.reduction,
        name=self.name,
    ),
    "TripletMarginLoss with a distance of one's own.",
    distance_function=None,
    margin=1.0,
    swap=False,
    reduction="mean",
    name=None,
)
MultiLabelSoftMarginLoss = _loss(
    "MultiLabelSoftMarginLoss",
    lambda self, input, label: F.multi_label_soft_margin_loss(
        input, label, weight=self.weight, reduction=self.reduction, name=self.name
    ),
    "Mean cross entropy of logits and several labels of two classes.",
    weight=None,
    reduction="mean",
    name=None,
)
MultiLabelMarginLoss = _loss(
    "MultiLabelMarginLoss",
    lambda self, input, label: F.multi_label_margin_loss(input, label, reduction=self.reduction, name=self.name),
    "Margin of every class that is a label over every other.",
    reduction="mean",
    name=None,
)
MultiMarginLoss = _loss(
    "MultiMarginLoss",
    lambda self, input, label: F.multi_margin_loss(
        input, label, p=self.p, margin=self.margin, weight=self.weight, reduction=self.reduction, name=self.name
    ),
    "Margin of the label over every other class.",
    p=1,
    margin=1.0,
    weight=None,
    reduction="mean",
    name=None,
)
SoftMarginLoss = _loss(
    "SoftMarginLoss",
    lambda self, input, label: F.soft_margin_loss(input, label, self.reduction, self.name),
    "log(1 + exp(-label input)).",
    reduction="mean",
    name=None,
)
PoissonNLLLoss = _loss(
    "PoissonNLLLoss",
    lambda self, input, label: F.poisson_nll_loss(
        input,
        label,
        log_input=self.log_input,
        full=self.full,
        epsilon=self.epsilon,
        reduction=self.reduction,
        name=self.name,
    ),
    "The log probability of counts under Poisson's distribution, negative.",
    log_input=True,
    full=False,
    epsilon=1e-8,
    reduction="mean",
    name=None,
)
GaussianNLLLoss = _loss(
    "GaussianNLLLoss",
    lambda self, input, label, variance: F.gaussian_nll_loss(
        input, label, variance, full=self.full, epsilon=self.epsilon, reduction=self.reduction, name=self.name
    ),
    "The log probability under a normal distribution, negative.",
    full=False,
    epsilon=1e-6,
    reduction="mean",
    name=None,
)


class HSigmoidLoss(Layer):
    """Softmax by a tree of two-way choices.

    Source: Morin and Bengio 2005.

    Args:
        feature_size (int): size of the input.
        num_classes (int): at least 2.
        weight_attr (ParamAttr, optional): of weight [num_classes - 1, feature_size].
        bias_attr (ParamAttr|bool, optional): of bias [num_classes - 1, 1].
        is_custom (bool): the tree is given with each call. Default: False.
        is_sparse (bool): accepted; gradients are dense. Default: False.
        name (str, optional): for printing.
    """

    def __init__(
        self,
        feature_size: int,
        num_classes: int,
        weight_attr: Any = None,
        bias_attr: Any = None,
        is_custom: bool = False,
        is_sparse: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__()
        if num_classes < 2 and not is_custom:
            raise errors.invalid_argument(
                "HSigmoidLoss: there are too few classes.", expected="num_classes >= 2", received=f"{num_classes}"
            )
        self._feature_size, self._num_classes = feature_size, num_classes
        self._is_custom, self._is_sparse, self._name = is_custom, is_sparse, name
        rows = num_classes if is_custom else num_classes - 1
        self.weight = self.create_parameter([rows, feature_size], weight_attr)
        self.bias = self.create_parameter([rows, 1], bias_attr, is_bias=True)

    def forward(self, input: Tensor, label: Tensor, path_table: Any = None, path_code: Any = None) -> Tensor:
        return F.hsigmoid_loss(
            input,
            label,
            self._num_classes,
            self.weight,
            self.bias,
            path_table=path_table,
            path_code=path_code,
            is_sparse=self._is_sparse,
        )


class AdaptiveLogSoftmaxWithLoss(Layer):
    """Softmax over many classes, the rare ones in clusters of their own.

    Source: Grave et al. 2016, arXiv:1609.04309.

    Args:
        in_features (int): size of the input.
        n_classes (int): number of classes, the frequent ones first.
        cutoffs (list[int]): where clusters begin.
        weight_attr (ParamAttr, optional): of the weights.
        bias_attr (ParamAttr|bool, optional): of the head's bias.
        div_value (float): by what the size of clusters shrinks. Default: 4.0.
        head_bias (bool): whether the head has a bias. Default: False.
        name (str, optional): for printing.
    """

    def __init__(
        self,
        in_features: int,
        n_classes: int,
        cutoffs: Any,
        weight_attr: Any = None,
        bias_attr: Any = None,
        div_value: float = 4.0,
        head_bias: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__()
        cutoffs = list(cutoffs)
        if (
            not cutoffs
            or cutoffs != sorted(cutoffs)
            or min(cutoffs) <= 0
            or max(cutoffs) > n_classes - 1
            or len(set(cutoffs)) != len(cutoffs)
            or any(int(c) != c for c in cutoffs)
        ):
            raise errors.invalid_argument(
                "AdaptiveLogSoftmaxWithLoss: cutoffs do not divide the classes.",
                expected="different, increasing integers between 1 and n_classes - 1",
                received=f"cutoffs: {cutoffs}, n_classes: {n_classes}",
            )
        self.in_features, self.n_classes, self.cutoffs = in_features, n_classes, [*cutoffs, n_classes]
        self.div_value, self.is_head_bias, self.name = div_value, head_bias, name
        self.shortlist_size, self.n_clusters = cutoffs[0], len(self.cutoffs) - 1
        self.head_size = self.shortlist_size + self.n_clusters
        self.head_weight = self.create_parameter([in_features, self.head_size], weight_attr)
        self.head_bias = self.create_parameter([self.head_size], bias_attr, is_bias=True) if head_bias else None
        self.tail_weights = []
        for i in range(self.n_clusters):
            inner = int(in_features // (div_value ** (i + 1)))
            size = self.cutoffs[i + 1] - self.cutoffs[i]
            pair = [
                self.create_parameter([in_features, inner], weight_attr),
                self.create_parameter([inner, size], weight_attr),
            ]
            self.tail_weights.append(pair)  # upstream does not register these: state_dict has the head alone

    def forward(self, input: Tensor, label: Tensor) -> tuple[Tensor, Tensor]:
        return F.adaptive_log_softmax_with_loss(
            input, label, self.head_weight, self.tail_weights, self.cutoffs, self.head_bias
        )

    def log_prob(self, input: Tensor) -> Tensor:
        """Log probabilities of all classes, [N, n_classes]."""
        from ...tensor import concat

        head = F.linear(input, self.head_weight, self.head_bias)
        logs = F.log_softmax(head, axis=1)
        parts = [logs[:, : self.shortlist_size]]
        for i, (a, b) in enumerate(self.tail_weights):
            cluster = F.log_softmax(F.linear(F.linear(input, a), b), axis=1)
            parts.append(cluster + logs[:, self.shortlist_size + i].unsqueeze(1))
        return concat(parts, axis=1)

    def predict(self, input: Tensor) -> Tensor:
        """The most likely class of each row, float32 [N]."""
        return self.log_prob(input).argmax(axis=1).astype("float32")
