"""Optimizers that step along the gradient: SGD, Momentum, ASGD, Rprop."""

from __future__ import annotations

from typing import Any

from ..engine import errors, types
from ..engine.ops.elementwise import cast, equal, greater_than, less_than, maximum, minimum
from ..engine.ops.reduction import sum_
from ..engine.ops.shape import reshape
from .arguments import given
from .optimizer import Optimizer
from .states import full

__all__ = ["ASGD", "Momentum", "Rprop", "SGD"]


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
        given("SGD", learning_rate=learning_rate)
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
        given("Momentum", learning_rate=learning_rate, momentum=momentum)
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
        given("ASGD", learning_rate=learning_rate, batch_num=batch_num)
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
        given("Rprop", learning_rate=learning_rate)
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
