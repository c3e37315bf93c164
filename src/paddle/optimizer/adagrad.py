"""Optimizers that divide by the size of past gradients: Adagrad, Adadelta, RMSProp."""

from __future__ import annotations

from typing import Any

from ..engine import errors
from ..engine.ops.elementwise import sqrt
from .arguments import given, held, within
from .optimizer import Optimizer
from .states import full

__all__ = ["Adadelta", "Adagrad", "RMSProp"]


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
        given("Adagrad", errors.asserted, learning_rate=learning_rate, epsilon=epsilon)
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
        given("Adadelta", learning_rate=learning_rate, epsilon=epsilon, rho=rho)
        self._epsilon, self._rho = epsilon, rho
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)

    def init_state(self, p):
        return {"_avg_squared_grad": full(p, 0.0), "_avg_squared_update": full(p, 0.0)}

    def update(self, p, g, state, lr):
        (rho,), eps = held(p, self._rho), self._epsilon
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
        given("RMSProp", learning_rate=learning_rate, rho=rho, epsilon=epsilon, momentum=momentum)
        for label, value in (("momentum", momentum), ("rho", rho), ("epsilon", epsilon)):
            within("RMSProp", 0.0, float("inf"), **{label: value})
        self._rho, self._epsilon, self._momentum, self._centered = rho, epsilon, momentum, bool(centered)
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)

    def init_state(self, p):
        return {"momentum": full(p, 0.0), "mean_square": full(p, 0.0), "mean_grad": full(p, 0.0)}

    def update(self, p, g, state, lr):
        (rho,) = held(p, self._rho)
        r = state["mean_square"] * rho + g * g * (1.0 - rho)
        new = {"mean_square": r}
        if self._centered:
            mean = new["mean_grad"] = state["mean_grad"] * rho + g * (1.0 - rho)
            r = r - mean * mean
        v = new["momentum"] = state["momentum"] * self._momentum + lr * g / sqrt(r + self._epsilon)
        return p - v, new
