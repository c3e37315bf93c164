"""Adam and its relatives: AdamW, Adamax, NAdam, RAdam, Lamb."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..engine import errors
from ..engine.ops.elementwise import cast, greater_than, maximum, sqrt
from ..engine.ops.reduction import sum_
from ..tensor.tensor import Tensor
from .arguments import given, held, numbers, within
from .optimizer import Optimizer
from .states import full

__all__ = ["Adam", "AdamW", "Adamax", "Lamb", "NAdam", "RAdam"]


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
        given(who, errors.asserted, learning_rate=learning_rate, beta1=beta1, beta2=beta2, epsilon=epsilon)
        within(who, 0, 1, beta1=beta1, beta2=beta2)
        within(who, 0, float("inf"), epsilon=epsilon)
        self._beta1, self._beta2, self._epsilon = numbers(beta1, beta2, epsilon)
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
        b1, b2 = held(p, self._beta1, self._beta2)
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
        self._coeff = numbers(weight_decay)[0]
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
        coeffs.update({id(p): numbers(coeff)[0] for p in self._param_groups[-1]["params"]})

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
        given("Adamax", errors.asserted, learning_rate=learning_rate, beta1=beta1, beta2=beta2, epsilon=epsilon)
        within("Adamax", 0, 1, beta1=beta1, beta2=beta2)
        within("Adamax", 0, float("inf"), epsilon=epsilon)
        self._beta1, self._beta2, self._epsilon = numbers(beta1, beta2, epsilon)
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)

    def init_state(self, p):
        return {"moment": full(p, 0.0), "inf_norm": full(p, 0.0)}

    def update(self, p, g, state, lr):
        p1 = state["beta1_pow_acc"]
        b1, b2 = held(p, self._beta1, self._beta2)
        m = state["moment"] * b1 + g * (1.0 - b1)
        u = maximum(maximum(g, -g), state["inf_norm"] * b2 + self._epsilon)
        new = {"moment": m, "inf_norm": u, "beta1_pow_acc": p1 * b1}
        return p - lr / (1.0 - p1) * (m / u), new


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
        given("NAdam", errors.invalid_type, learning_rate=learning_rate, beta1=beta1, beta2=beta2, epsilon=epsilon)
        within("NAdam", 0, 1, beta1=beta1, beta2=beta2)
        within("NAdam", 0, float("inf"), epsilon=epsilon, momentum_decay=momentum_decay)
        self._beta1, self._beta2, self._epsilon = numbers(beta1, beta2, epsilon)
        self._momentum_decay = momentum_decay
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)

    def state_order(self, state):
        return [*self.shared, *state]

    def init_state(self, p):
        return {"moment1": full(p, 0.0), "moment2": full(p, 0.0)}

    def update(self, p, g, state, lr):
        (b1, b2), decay = held(p, self._beta1, self._beta2), self._momentum_decay
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
        given("RAdam", errors.invalid_type, learning_rate=learning_rate, beta1=beta1, beta2=beta2, epsilon=epsilon)
        within("RAdam", 0, 1, beta1=beta1, beta2=beta2)
        within("RAdam", 0, float("inf"), epsilon=epsilon)
        self._beta1, self._beta2, self._epsilon = numbers(beta1, beta2, epsilon)
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)

    def state_order(self, state):
        return [*self.shared, *state]

    def init_state(self, p):
        return {"moment1": full(p, 0.0), "moment2": full(p, 0.0)}

    def update(self, p, g, state, lr):
        b1, b2 = held(p, self._beta1, self._beta2)
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
        given("Lamb", errors.asserted, learning_rate=learning_rate, beta1=beta1, beta2=beta2, epsilon=epsilon,
               lamb_weight_decay=lamb_weight_decay)  # fmt: skip
        self._beta1, self._beta2, self._epsilon = numbers(beta1, beta2, epsilon)
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
        (b1, b2), decay = held(p, self._beta1, self._beta2), state["config"]
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
