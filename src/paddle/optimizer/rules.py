"""The optimizers, each by its two functions of one parameter."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..engine import errors, types
from ..engine.ops.elementwise import cast, equal, greater_than, less_than, maximum, minimum, sqrt
from ..engine.ops.reduction import sum_
from ..engine.ops.shape import reshape
from ..tensor.tensor import Tensor
from .optimizer import Optimizer, full

__all__ = [
    "ASGD",
    "Adadelta",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "Lamb",
    "Momentum",
    "NAdam",
    "RAdam",
    "RMSProp",
    "Rprop",
    "SGD",
]


def _given(who: str, kind: Any = errors.invalid_argument, **values: Any) -> None:
    for name, value in values.items():
        if value is None:
            raise kind(f"{who}: {name} is not set.", expected="a number", received=f"{name}: None")


def _within(who: str, low: float, high: float, **values: Any) -> None:
    """ValueError unless low <= value < high."""
    for name, value in values.items():
        if not isinstance(value, Tensor) and not low <= value < high:
            raise errors.invalid_argument(
                f"{who}: {name} is out of range.", expected=f"{low} <= {name} < {high}", received=f"{name}: {value}"
            )


def _numbers(*values: Any) -> tuple[float, ...]:
    return tuple(v.item() if isinstance(v, Tensor) else v for v in values)


def _held(p: Tensor, *values: float) -> tuple[float, ...]:
    """Decay rates as numbers of p's type.

    1 - beta is then exactly what the bias correction, which multiplies rounded betas, makes up for. With 0.999 and
    its float32 neighbour in one formula all steps are 6e-6 too short.
    """
    return values if p.dtype is types.float64 else tuple(float(np.float32(v)) for v in values)


class SGD(Optimizer):
    r"""Plain gradient descent.

    .. math:: p \leftarrow p - \eta\, g

    Args:
        learning_rate (float|LRScheduler): Default: 0.001.
        parameters (list[Parameter]|list[dict], optional): what is trained.
        weight_decay (float|L1Decay|L2Decay, optional): a penalty.
        grad_clip (ClipGradBase, optional): clips the gradients.
        multi_precision (bool): keeps low precision parameters in float32 too. Default: False.
        name (str, optional): for printing.

    Examples:
        >>> opt = paddle.optimizer.SGD(0.1, parameters=paddle.nn.Linear(2, 1).parameters())
        >>> opt.get_lr()
        0.1
    """

    by_rows = True

    def __init__(
        self,
        learning_rate: Any = 0.001,
        parameters: Any = None,
        weight_decay: Any = None,
        grad_clip: Any = None,
        multi_precision: bool = False,
        name: str | None = None,
    ) -> None:
        _given("SGD", learning_rate=learning_rate)
        self._multi_precision = multi_precision
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)

    def update(self, p, g, state, lr):
        return p - lr * g, {}


class Momentum(Optimizer):
    r"""Gradient descent with a velocity.

    .. math:: v \leftarrow \mu v + g, \quad p \leftarrow p - \eta v

    or, of Nesterov, :math:`p \leftarrow p - \eta (g + \mu v)`.

    Args:
        learning_rate (float|LRScheduler): Default: 0.001.
        momentum (float): mu. Default: 0.9.
        parameters (list[Parameter]|list[dict], optional): what is trained.
        use_nesterov (bool): Default: False.
        weight_decay (float|L1Decay|L2Decay, optional): a penalty.
        grad_clip (ClipGradBase, optional): clips the gradients.
        multi_precision (bool): keeps low precision parameters in float32 too. Default: False.
        rescale_grad (float): accepted; as upstream in dynamic mode, gradients are not scaled. Default: 1.0.
        use_multi_tensor (bool): accepted; all parameters are updated together anyway. Default: False.
        name (str, optional): for printing.
    """

    settings = ("_momentum", "_use_nesterov")

    def __init__(
        self,
        learning_rate: Any = 0.001,
        momentum: float = 0.9,
        parameters: Any = None,
        use_nesterov: bool = False,
        weight_decay: Any = None,
        grad_clip: Any = None,
        multi_precision: bool = False,
        rescale_grad: float = 1.0,
        use_multi_tensor: bool = False,
        name: str | None = None,
    ) -> None:
        _given("Momentum", learning_rate=learning_rate, momentum=momentum)
        if rescale_grad != 1.0:
            errors.warn("Momentum: rescale_grad has no effect; scale the loss instead.")
        self._momentum, self._use_nesterov, self._rescale_grad = momentum, bool(use_nesterov), rescale_grad
        self._multi_precision = multi_precision
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)

    def init_state(self, p):
        return {"velocity": full(p, 0.0)}

    def update(self, p, g, state, lr):
        v = state["velocity"] * self._momentum + g
        return p - lr * (g + v * self._momentum if self._use_nesterov else v), {"velocity": v}


class Adam(Optimizer):
    r"""Steps of about the learning rate, by running means of the gradient and its square.

    .. math::
        m \leftarrow \beta_1 m + (1 - \beta_1) g, \quad v \leftarrow \beta_2 v + (1 - \beta_2) g^2, \quad
        p \leftarrow p - \eta \frac{\sqrt{1 - \beta_2^t}}{1 - \beta_1^t}
        \frac{m}{\sqrt v + \epsilon \sqrt{1 - \beta_2^t}}

    Source: Kingma and Ba 2015, arXiv:1412.6980, Algorithm 1 in the order of section 2.

    Args:
        learning_rate (float|LRScheduler): Default: 0.001.
        beta1 (float|Tensor): decay of the first moment. Default: 0.9.
        beta2 (float|Tensor): decay of the second moment. Default: 0.999.
        epsilon (float|Tensor): added to the root. Default: 1e-8.
        parameters (list[Parameter]|list[dict], optional): what is trained.
        weight_decay (float|L1Decay|L2Decay, optional): a penalty.
        grad_clip (ClipGradBase, optional): clips the gradients.
        lazy_mode (bool): of a table whose gradient is by rows (`nn.Embedding(sparse=True)`), only the rows that were
            read are updated, moments included. Default: False, all moments decay in each step.
        multi_precision (bool): keeps low precision parameters in float32 too. Default: False.
        use_multi_tensor (bool): accepted; all parameters are updated together anyway. Default: False.
        amsgrad (bool): divides by the greatest second moment so far. Default: False.
        name (str, optional): for printing.
    """

    shared = {"beta1_pow_acc": ("_beta1", "one"), "beta2_pow_acc": ("_beta2", "one")}
    settings = ("_beta1", "_beta2", "_epsilon", "_amsgrad")

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta1: Any = 0.9,
        beta2: Any = 0.999,
        epsilon: Any = 1e-8,
        parameters: Any = None,
        weight_decay: Any = None,
        grad_clip: Any = None,
        lazy_mode: bool = False,
        multi_precision: bool = False,
        use_multi_tensor: bool = False,
        amsgrad: bool = False,
        name: str | None = None,
    ) -> None:
        who = type(self).__name__
        _given(who, errors.asserted, learning_rate=learning_rate, beta1=beta1, beta2=beta2, epsilon=epsilon)
        _within(who, 0, 1, beta1=beta1, beta2=beta2)
        _within(who, 0, float("inf"), epsilon=epsilon)
        self._beta1, self._beta2, self._epsilon = _numbers(beta1, beta2, epsilon)
        self._amsgrad, self._multi_precision, self._lazy_mode = bool(amsgrad), multi_precision, lazy_mode
        self.by_rows = bool(lazy_mode)
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)

    def accept_rows(self, p, decay):
        if decay is not None:
            raise errors.precondition(
                "Adam: a penalty cannot be combined with a gradient by rows.",
                expected="weight_decay None",
                received=f"weight_decay: {decay!r}, {p.name}: a table used with sparse=True",
                hint="use AdamW, whose decay does not go through the gradient, or sparse=False.",
            )

    def init_state(self, p):
        state = {"moment1": full(p, 0.0), "moment2": full(p, 0.0)}
        if self._amsgrad:
            state["moment2_max"] = full(p, 0.0)
        return state

    def update(self, p, g, state, lr):
        b1, b2 = _held(p, self._beta1, self._beta2)
        p1, p2 = state["beta1_pow_acc"], state["beta2_pow_acc"]
        m = state["moment1"] * b1 + g * (1.0 - b1)
        v = state["moment2"] * b2 + g * g * (1.0 - b2)
        new = {"moment1": m, "moment2": v, "beta1_pow_acc": p1 * b1, "beta2_pow_acc": p2 * b2}
        if self._amsgrad:
            v = new["moment2_max"] = maximum(v, state["moment2_max"])
        root = sqrt(1.0 - p2)
        step = lr * root / (1.0 - p1)
        return p - step * (m / (sqrt(v) + root * self._epsilon)), new


class AdamW(Adam):
    r"""Adam, with weight decay applied to the parameter itself: first :math:`p \leftarrow p (1 - \eta \lambda)`.

    Source: Loshchilov and Hutter 2017, arXiv:1711.05101.

    Args:
        learning_rate (float|LRScheduler): Default: 0.001.
        beta1 (float|Tensor): decay of the first moment. Default: 0.9.
        beta2 (float|Tensor): decay of the second moment. Default: 0.999.
        epsilon (float|Tensor): added to the root. Default: 1e-8.
        parameters (list[Parameter]|list[dict], optional): what is trained.
        weight_decay (float|Tensor): lambda. Default: 0.01.
        use_lowprecision_moment (bool): accepted; moments are float32 at least. Default: False.
        lr_ratio (Callable, optional): takes a parameter, gives a factor of its learning rate.
        apply_decay_param_fun (Callable, optional): takes a parameter's name, says whether it decays.
        grad_clip (ClipGradBase, optional): clips the gradients.
        lazy_mode (bool): of a table whose gradient is by rows (`nn.Embedding(sparse=True)`), only the rows that were
            read are updated, moments included. Default: False, all moments decay in each step.
        multi_precision (bool): keeps low precision parameters in float32 too. Default: False.
        amsgrad (bool): divides by the greatest second moment so far. Default: False.
        name (str, optional): for printing.
    """

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta1: Any = 0.9,
        beta2: Any = 0.999,
        epsilon: Any = 1e-8,
        parameters: Any = None,
        weight_decay: Any = 0.01,
        use_lowprecision_moment: bool = False,
        lr_ratio: Callable[[Any], float] | None = None,
        apply_decay_param_fun: Callable[[str], bool] | None = None,
        grad_clip: Any = None,
        lazy_mode: bool = False,
        multi_precision: bool = False,
        amsgrad: bool = False,
        name: str | None = None,
    ) -> None:
        if not isinstance(weight_decay, (float, int, Tensor)):
            raise errors.invalid_type(
                "AdamW: weight_decay is of the wrong type.",
                expected="an int, a float or a Tensor",
                received=type(weight_decay).__name__,
            )
        if lr_ratio is not None and not callable(lr_ratio):
            raise errors.asserted(
                "AdamW: lr_ratio is not a function.",
                expected="a function of a parameter",
                received=f"lr_ratio: {type(lr_ratio).__name__}",
            )
        self._coeff = _numbers(weight_decay)[0]
        self._lr_ratio, self._apply_decay_param_fun = lr_ratio, apply_decay_param_fun
        super().__init__(
            learning_rate, beta1, beta2, epsilon, parameters, weight_decay, grad_clip, lazy_mode, multi_precision,
            False, amsgrad, name,
        )  # fmt: skip
        self.regularization = None
        self._rules = [(rule, params, clip, None) for rule, params, clip, _ in self._rules]

    def _group_decay(self, rule, weight_decay):
        return None

    def _add_param_group(self, group):
        super()._add_param_group(group)
        coeff = self._param_groups[-1]["weight_decay"]
        coeffs = self.__dict__.setdefault("_coeffs", {})
        coeffs.update({id(p): _numbers(coeff)[0] for p in self._param_groups[-1]["params"]})

    def parameter_config(self, p):
        fun = self._apply_decay_param_fun
        coeff = self.__dict__.get("_coeffs", {}).get(id(p), self._coeff)
        if fun is not None and not fun(p.name):
            coeff = 0.0
        return coeff, 1.0 if self._lr_ratio is None else float(self._lr_ratio(p))

    def update(self, p, g, state, lr):
        coeff, ratio = state["config"]
        if ratio != 1.0:
            lr = lr * ratio
        if coeff:
            p = p * (1.0 - lr * coeff)
        return super().update(p, g, state, lr)


class Adamax(Optimizer):
    r"""Adam with the greatest gradient in place of the second moment.

    .. math::
        m \leftarrow \beta_1 m + (1 - \beta_1) g, \quad u \leftarrow \max(\beta_2 u + \epsilon, |g|), \quad
        p \leftarrow p - \frac{\eta}{1 - \beta_1^t} \frac m u

    Source: Kingma and Ba 2015, arXiv:1412.6980, Algorithm 2.

    Args:
        learning_rate (float|LRScheduler): Default: 0.001.
        beta1 (float|Tensor): decay of the first moment. Default: 0.9.
        beta2 (float|Tensor): decay of the norm. Default: 0.999.
        epsilon (float|Tensor): Default: 1e-8.
        parameters (list[Parameter]|list[dict], optional): what is trained.
        weight_decay (float|L1Decay|L2Decay, optional): a penalty.
        grad_clip (ClipGradBase, optional): clips the gradients.
        name (str, optional): for printing.
    """

    shared = {"beta1_pow_acc": ("_beta1", "one")}
    settings = ("_beta1", "_beta2", "_epsilon")

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta1: Any = 0.9,
        beta2: Any = 0.999,
        epsilon: Any = 1e-8,
        parameters: Any = None,
        weight_decay: Any = None,
        grad_clip: Any = None,
        name: str | None = None,
    ) -> None:
        _given("Adamax", errors.asserted, learning_rate=learning_rate, beta1=beta1, beta2=beta2, epsilon=epsilon)
        _within("Adamax", 0, 1, beta1=beta1, beta2=beta2)
        _within("Adamax", 0, float("inf"), epsilon=epsilon)
        self._beta1, self._beta2, self._epsilon = _numbers(beta1, beta2, epsilon)
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)

    def init_state(self, p):
        return {"moment": full(p, 0.0), "inf_norm": full(p, 0.0)}

    def update(self, p, g, state, lr):
        p1 = state["beta1_pow_acc"]
        b1, b2 = _held(p, self._beta1, self._beta2)
        m = state["moment"] * b1 + g * (1.0 - b1)
        u = maximum(maximum(g, -g), state["inf_norm"] * b2 + self._epsilon)
        new = {"moment": m, "inf_norm": u, "beta1_pow_acc": p1 * b1}
        return p - lr / (1.0 - p1) * (m / u), new


class Adagrad(Optimizer):
    r"""Divides the rate by the root of the summed squared gradients.

    .. math:: m \leftarrow m + g^2, \quad p \leftarrow p - \eta\, g / (\sqrt{m} + \epsilon)

    Source: Duchi, Hazan and Singer 2011, JMLR 12:2121-2159, in its diagonal form.

    Args:
        learning_rate (float|LRScheduler): the rate.
        epsilon (float): Default: 1e-6.
        parameters (list[Parameter]|list[dict], optional): what is trained.
        weight_decay (float|L1Decay|L2Decay, optional): a penalty.
        grad_clip (ClipGradBase, optional): clips the gradients.
        name (str, optional): for printing.
        initial_accumulator_value (float): the first m. Default: 0.0.
    """

    settings = ("_epsilon",)
    by_rows = True  # a row with gradient 0 stays as it is

    def __init__(
        self,
        learning_rate: Any,
        epsilon: float = 1e-6,
        parameters: Any = None,
        weight_decay: Any = None,
        grad_clip: Any = None,
        name: str | None = None,
        initial_accumulator_value: float = 0.0,
    ) -> None:
        _given("Adagrad", errors.asserted, learning_rate=learning_rate, epsilon=epsilon)
        self._epsilon, self.initial = epsilon, initial_accumulator_value
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)

    def init_state(self, p):
        return {"moment": full(p, self.initial)}

    def update(self, p, g, state, lr):
        moment = state["moment"] + g * g
        return p - lr * g / (sqrt(moment) + self._epsilon), {"moment": moment}


class Adadelta(Optimizer):
    r"""Rates from running means of squared gradients and squared updates.

    .. math::
        E \leftarrow \rho E + (1 - \rho) g^2, \quad d = -\sqrt{\frac{D + \epsilon}{E + \epsilon}}\, g, \quad
        D \leftarrow \rho D + (1 - \rho) d^2, \quad p \leftarrow p + \eta d

    Source: Zeiler 2012, arXiv:1212.5701.

    Args:
        learning_rate (float|LRScheduler): Default: 0.001.
        epsilon (float): Default: 1e-6.
        rho (float): Default: 0.95.
        parameters (list[Parameter]|list[dict], optional): what is trained.
        weight_decay (float|L1Decay|L2Decay, optional): a penalty.
        grad_clip (ClipGradBase, optional): clips the gradients.
        name (str, optional): for printing.
    """

    settings = ("_epsilon", "_rho")

    def __init__(
        self,
        learning_rate: Any = 0.001,
        epsilon: float = 1e-6,
        rho: float = 0.95,
        parameters: Any = None,
        weight_decay: Any = None,
        grad_clip: Any = None,
        name: str | None = None,
    ) -> None:
        _given("Adadelta", learning_rate=learning_rate, epsilon=epsilon, rho=rho)
        self._epsilon, self._rho = epsilon, rho
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)

    def init_state(self, p):
        return {"_avg_squared_grad": full(p, 0.0), "_avg_squared_update": full(p, 0.0)}

    def update(self, p, g, state, lr):
        (rho,), eps = _held(p, self._rho), self._epsilon
        e = state["_avg_squared_grad"] * rho + g * g * (1.0 - rho)
        d = sqrt((state["_avg_squared_update"] + eps) / (e + eps)) * g
        u = state["_avg_squared_update"] * rho + d * d * (1.0 - rho)
        return p - lr * d, {"_avg_squared_grad": e, "_avg_squared_update": u}


class RMSProp(Optimizer):
    r"""Divides the gradient by a running root mean square.

    .. math::
        r \leftarrow \rho r + (1 - \rho) g^2, \quad v \leftarrow \mu v + \eta g / \sqrt{r + \epsilon}, \quad
        p \leftarrow p - v

    Centered, the square of a running mean gradient is taken from r.

    Source: Hinton, lecture 6 of "Neural Networks for Machine Learning"; Graves 2013, arXiv:1308.0850.

    Args:
        learning_rate (float|LRScheduler): the rate.
        rho (float): Default: 0.95.
        epsilon (float): Default: 1e-6.
        momentum (float): mu. Default: 0.0.
        centered (bool): Default: False.
        parameters (list[Parameter]|list[dict], optional): what is trained.
        weight_decay (float|L1Decay|L2Decay, optional): a penalty.
        grad_clip (ClipGradBase, optional): clips the gradients.
        name (str, optional): for printing.
    """

    settings = ("_rho", "_epsilon", "_momentum", "_centered")

    def __init__(
        self,
        learning_rate: Any,
        rho: float = 0.95,
        epsilon: float = 1e-6,
        momentum: float = 0.0,
        centered: bool = False,
        parameters: Any = None,
        weight_decay: Any = None,
        grad_clip: Any = None,
        name: str | None = None,
    ) -> None:
        _given("RMSProp", learning_rate=learning_rate, rho=rho, epsilon=epsilon, momentum=momentum)
        for label, value in (("momentum", momentum), ("rho", rho), ("epsilon", epsilon)):
            _within("RMSProp", 0.0, float("inf"), **{label: value})
        self._rho, self._epsilon, self._momentum, self._centered = rho, epsilon, momentum, bool(centered)
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)

    def init_state(self, p):
        return {"momentum": full(p, 0.0), "mean_square": full(p, 0.0), "mean_grad": full(p, 0.0)}

    def update(self, p, g, state, lr):
        (rho,) = _held(p, self._rho)
        r = state["mean_square"] * rho + g * g * (1.0 - rho)
        new = {"mean_square": r}
        if self._centered:
            mean = new["mean_grad"] = state["mean_grad"] * rho + g * (1.0 - rho)
            r = r - mean * mean
        v = new["momentum"] = state["momentum"] * self._momentum + lr * g / sqrt(r + self._epsilon)
        return p - v, new


class Lamb(Optimizer):
    r"""Adam, with a rate per parameter in proportion to its norm.

    .. math:: u = \frac{m / (1 - \beta_1^t)}{\sqrt{v / (1 - \beta_2^t)} + \epsilon} + \lambda p, \quad
        p \leftarrow p - \eta \frac{\|p\|}{\|u\|} u

    Source: You et al. 2019, arXiv:1904.00962.

    Args:
        learning_rate (float|LRScheduler): Default: 0.001.
        lamb_weight_decay (float): lambda. Default: 0.01.
        beta1 (float): Default: 0.9.
        beta2 (float): Default: 0.999.
        epsilon (float): Default: 1e-6.
        parameters (list[Parameter]|list[dict], optional): what is trained.
        grad_clip (ClipGradBase, optional): clips the gradients.
        exclude_from_weight_decay_fn (Callable, optional): takes a parameter, says whether it does not decay.
        multi_precision (bool): keeps low precision parameters in float32 too. Default: False.
        always_adapt (bool): the norms count for parameters that do not decay too. Default: False.
        name (str, optional): for printing.
    """

    shared = {"beta1_pow_acc": ("_beta1", "one"), "beta2_pow_acc": ("_beta2", "one")}
    settings = ("_beta1", "_beta2", "_epsilon", "always_adapt")

    def __init__(
        self,
        learning_rate: Any = 0.001,
        lamb_weight_decay: float = 0.01,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-6,
        parameters: Any = None,
        grad_clip: Any = None,
        exclude_from_weight_decay_fn: Callable[[Any], bool] | None = None,
        multi_precision: bool = False,
        always_adapt: bool = False,
        name: str | None = None,
    ) -> None:
        _given("Lamb", errors.asserted, learning_rate=learning_rate, beta1=beta1, beta2=beta2, epsilon=epsilon,
               lamb_weight_decay=lamb_weight_decay)  # fmt: skip
        self._beta1, self._beta2, self._epsilon = _numbers(beta1, beta2, epsilon)
        self._lamb_weight_decay, self._exclude = lamb_weight_decay, exclude_from_weight_decay_fn
        self.always_adapt, self._multi_precision = bool(always_adapt), multi_precision
        super().__init__(learning_rate, parameters, None, grad_clip, name)

    def _add_param_group(self, group):
        super()._add_param_group(group)
        own = self.__dict__.setdefault("_of_groups", {})
        excluded = group.get("exclude_from_weight_decay_fn", self._exclude)
        decay = group.get("lamb_weight_decay", self._lamb_weight_decay)
        own.update({id(p): (excluded, decay) for p in self._param_groups[-1]["params"]})

    def init_state(self, p):
        return {"moment1": full(p, 0.0), "moment2": full(p, 0.0)}

    def parameter_config(self, p):
        default = (self._exclude, self._lamb_weight_decay)
        excluded, decay = self.__dict__.get("_of_groups", {}).get(id(p), default)
        return 0.0 if excluded is not None and excluded(p) else decay

    def update(self, p, g, state, lr):
        (b1, b2), decay = _held(p, self._beta1, self._beta2), state["config"]
        p1, p2 = state["beta1_pow_acc"], state["beta2_pow_acc"]
        m = state["moment1"] * b1 + g * (1.0 - b1)
        v = state["moment2"] * b2 + g * g * (1.0 - b2)
        u = m / (1.0 - p1) / (sqrt(v / (1.0 - p2)) + self._epsilon)
        if decay:
            u = u + p * decay
        step = lr * u
        if decay or self.always_adapt:
            norms = [sqrt(sum_(t * t, tuple(range(t.ndim)))) for t in (p, u)]
            both = cast(greater_than(norms[0], 0.0), lr.dtype) * cast(greater_than(norms[1], 0.0), lr.dtype)
            # 1 where one of the norms is 0; its division by 0 is never looked at
            ratio = both * (norms[0] / (norms[1] + (1.0 - both))) + (1.0 - both)
            step = step * ratio
        return p - step, {"moment1": m, "moment2": v, "beta1_pow_acc": p1 * b1, "beta2_pow_acc": p2 * b2}


class NAdam(Optimizer):
    r"""Adam with Nesterov's look ahead.

    Source: Dozat 2016, "Incorporating Nesterov Momentum into Adam".

    Args:
        learning_rate (float|LRScheduler): Default: 0.002.
        beta1 (float|Tensor): Default: 0.9.
        beta2 (float|Tensor): Default: 0.999.
        epsilon (float): Default: 1e-8.
        momentum_decay (float): of the schedule of momentum. Default: 0.004.
        parameters (list[Parameter]|list[dict], optional): what is trained.
        weight_decay (float|L1Decay|L2Decay, optional): a penalty.
        grad_clip (ClipGradBase, optional): clips the gradients.
        name (str, optional): for printing.
    """

    shared = {"momentum_decay_pow": (1.0, "full"), "beta2_pow": (1.0, "full"), "mu_product": (1.0, "full")}
    settings = ("_beta1", "_beta2", "_epsilon", "_momentum_decay")

    def __init__(
        self,
        learning_rate: Any = 0.002,
        beta1: Any = 0.9,
        beta2: Any = 0.999,
        epsilon: float = 1e-8,
        momentum_decay: float = 0.004,
        parameters: Any = None,
        weight_decay: Any = None,
        grad_clip: Any = None,
        name: str | None = None,
    ) -> None:
        _given("NAdam", errors.invalid_type, learning_rate=learning_rate, beta1=beta1, beta2=beta2, epsilon=epsilon)
        _within("NAdam", 0, 1, beta1=beta1, beta2=beta2)
        _within("NAdam", 0, float("inf"), epsilon=epsilon, momentum_decay=momentum_decay)
        self._beta1, self._beta2, self._epsilon = _numbers(beta1, beta2, epsilon)
        self._momentum_decay = momentum_decay
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)

    def state_order(self, state):
        return [*self.shared, *state]

    def init_state(self, p):
        return {"moment1": full(p, 0.0), "moment2": full(p, 0.0)}

    def update(self, p, g, state, lr):
        (b1, b2), decay = _held(p, self._beta1, self._beta2), self._momentum_decay
        powers = state["momentum_decay_pow"] * 0.96
        p2 = state["beta2_pow"] * b2
        damped = powers**decay
        mu = (1.0 - damped * 0.5) * b1
        mu_next = (1.0 - damped * (0.5 * 0.96**decay)) * b1
        product = state["mu_product"] * mu
        m = state["moment1"] * b1 + g * (1.0 - b1)
        v = state["moment2"] * b2 + g * g * (1.0 - b2)
        mean = m * (mu_next / (1.0 - product * mu_next)) + g * ((1.0 - mu) / (1.0 - product))
        new = {"momentum_decay_pow": powers, "beta2_pow": p2, "mu_product": product, "moment1": m, "moment2": v}
        return p - lr * mean / (sqrt(v / (1.0 - p2)) + self._epsilon), new


class RAdam(Optimizer):
    r"""Adam whose adaptive rate sets in once its variance is small enough.

    Source: Liu et al. 2019, arXiv:1908.03265.

    Args:
        learning_rate (float|LRScheduler): Default: 0.001.
        beta1 (float|Tensor): Default: 0.9.
        beta2 (float|Tensor): Default: 0.999.
        epsilon (float): Default: 1e-8.
        parameters (list[Parameter]|list[dict], optional): what is trained.
        weight_decay (float|L1Decay|L2Decay, optional): a penalty.
        grad_clip (ClipGradBase, optional): clips the gradients.
        name (str, optional): for printing.
    """

    shared = {"beta1_pow": (1.0, "full"), "beta2_pow": (1.0, "full"), "rho": (1.0, "full")}
    settings = ("_beta1", "_beta2", "_epsilon")

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta1: Any = 0.9,
        beta2: Any = 0.999,
        epsilon: float = 1e-8,
        parameters: Any = None,
        weight_decay: Any = None,
        grad_clip: Any = None,
        name: str | None = None,
    ) -> None:
        _given("RAdam", errors.invalid_type, learning_rate=learning_rate, beta1=beta1, beta2=beta2, epsilon=epsilon)
        _within("RAdam", 0, 1, beta1=beta1, beta2=beta2)
        _within("RAdam", 0, float("inf"), epsilon=epsilon)
        self._beta1, self._beta2, self._epsilon = _numbers(beta1, beta2, epsilon)
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)

    def state_order(self, state):
        return [*self.shared, *state]

    def init_state(self, p):
        return {"moment1": full(p, 0.0), "moment2": full(p, 0.0)}

    def update(self, p, g, state, lr):
        b1, b2 = _held(p, self._beta1, self._beta2)
        most = 2.0 / (1.0 - b2) - 1.0
        p1, p2 = state["beta1_pow"] * b1, state["beta2_pow"] * b2
        # t b^t / (1 - b^t), from its value at t - 1
        tail = (state["rho"] * (b2 - p2) + p2) / (1.0 - p2)
        length = most - tail * 2.0
        m = state["moment1"] * b1 + g * (1.0 - b1)
        v = state["moment2"] * b2 + g * g * (1.0 - b2)
        mean = m / (1.0 - p1)
        adapts = cast(greater_than(length, 5.0), length.dtype)
        long = maximum(length, 5.0)
        r = sqrt((long - 4.0) * (long - 2.0) * most / (long * ((most - 4.0) * (most - 2.0)))) if most > 5.0 else adapts
        scaled = mean * (r * sqrt(1.0 - p2)) / (sqrt(v) + self._epsilon)
        step = scaled * adapts + mean * (1.0 - adapts)
        return p - lr * step, {"beta1_pow": p1, "beta2_pow": p2, "rho": tail, "moment1": m, "moment2": v}


class Rprop(Optimizer):
    r"""Steps whose size depends on the signs of gradients only; for full batches.

    Source: Riedmiller and Braun 1993.

    Args:
        learning_rate (float|LRScheduler): the first step of every element. Default: 0.001.
        learning_rate_range (tuple[float, float]): least and greatest step. Default: (1e-5, 50).
        parameters (list[Parameter]|list[dict], optional): what is trained.
        etas (tuple[float, float]): factors when the sign changes, and when it does not. Default: (0.5, 1.2).
        grad_clip (ClipGradBase, optional): clips the gradients.
        multi_precision (bool): keeps low precision parameters in float32 too. Default: False.
        name (str, optional): for printing.
    """

    settings = ("_learning_rate_range", "_etas")

    def __init__(
        self,
        learning_rate: Any = 0.001,
        learning_rate_range: Any = (1e-5, 50),
        parameters: Any = None,
        etas: Any = (0.5, 1.2),
        grad_clip: Any = None,
        multi_precision: bool = False,
        name: str | None = None,
    ) -> None:
        _given("Rprop", learning_rate=learning_rate)
        low, high = learning_rate_range
        if not 0.0 < low <= high:
            raise errors.invalid_argument(
                "Rprop: learning_rate_range is not a range.", expected="0 < low <= high", received=f"{(low, high)}"
            )
        if isinstance(learning_rate, (int, float)) and not low <= learning_rate <= high:
            raise errors.invalid_argument(
                "Rprop: learning_rate is not within learning_rate_range.",
                expected=f"{low} <= learning_rate <= {high}",
                received=f"{learning_rate}",
            )
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise errors.invalid_argument("Rprop: etas are out of range.", expected="0 < etas[0] < 1 < etas[1]",
                                          received=f"{etas}")  # fmt: skip
        self._learning_rate_range, self._etas = (float(low), float(high)), tuple(etas)
        self._multi_precision = multi_precision
        self._first = float(learning_rate) if isinstance(learning_rate, (int, float)) else learning_rate()
        super().__init__(learning_rate, parameters, None, grad_clip, name)

    def init_state(self, p):
        return {"prevs": full(p, 0.0), "learning_rates": full(p, self._first)}

    def update(self, p, g, state, lr):
        low, high = self._learning_rate_range
        product = g * state["prevs"]
        same = cast(greater_than(product, 0.0), g.dtype)
        turned = cast(less_than(product, 0.0), g.dtype)
        factor = same * (self._etas[1] - 1.0) + turned * (self._etas[0] - 1.0) + 1.0
        g = g * (1.0 - turned)
        rates = minimum(maximum(state["learning_rates"] * factor, low), high)
        sign = cast(greater_than(g, 0.0), g.dtype) - cast(less_than(g, 0.0), g.dtype)
        return p - sign * rates, {"prevs": g, "learning_rates": rates}


class ASGD(Optimizer):
    r"""Steps along the mean of the last gradients of `batch_num` batches.

    .. math:: d \leftarrow d - y_i + g, \quad y_i \leftarrow g, \quad p \leftarrow p - \frac{\eta}{\min(t, n)} d

    Source: Schmidt, Le Roux and Bach 2013, arXiv:1309.2388, Algorithm 1.

    Args:
        learning_rate (float|LRScheduler): Default: 0.001.
        batch_num (int): n, batches that are remembered. Default: 1.
        parameters (list[Parameter]|list[dict], optional): what is trained.
        weight_decay (float|L1Decay|L2Decay, optional): a penalty.
        grad_clip (ClipGradBase, optional): clips the gradients.
        multi_precision (bool): keeps low precision parameters in float32 too. Default: False.
        name (str, optional): for printing.
    """

    shared = {"m": (0, "one")}
    settings = ("_n",)

    def __init__(
        self,
        learning_rate: Any = 0.001,
        batch_num: int = 1,
        parameters: Any = None,
        weight_decay: Any = None,
        grad_clip: Any = None,
        multi_precision: bool = False,
        name: str | None = None,
    ) -> None:
        _given("ASGD", learning_rate=learning_rate, batch_num=batch_num)
        if batch_num <= 0:
            raise errors.invalid_argument(
                "ASGD: batch_num is not positive.", expected="batch_num > 0", received=f"batch_num: {batch_num}"
            )
        self._n, self._multi_precision = int(batch_num), multi_precision
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)

    def init_state(self, p):
        from ..engine.ops.creation import Full

        d = full(p, 0.0)
        return {"d": d, "y": Full((self._n, *p.type.shape), 0.0, d.dtype)()}

    def update(self, p, g, state, lr):
        n, m = self._n, state["m"]
        seen = minimum(m + 1, n)
        if n == 1:
            old, y = reshape(state["y"], g.shape), reshape(g, (1, *g.shape))
        else:
            from ..tensor import arange

            # which of the rows this batch is: 1 there, 0 elsewhere
            here = reshape(cast(equal(arange(n, dtype="int64"), m % n), g.dtype), (n, *(1,) * g.ndim))
            old = sum_(state["y"] * here, (0,))
            y = state["y"] * (1.0 - here) + reshape(g, (1, *g.shape)) * here
        d = state["d"] - old + g
        return p - lr / cast(seen, types.float32) * d, {"d": d, "y": y, "m": m + 1}
