"""LBFGS: a quasi-Newton method with a short memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..engine import errors
from ..engine.eager import trace as tracing
from ..engine.eager.tape import gradient
from ..tensor.tensor import Tensor
from .optimizer import Optimizer

__all__ = ["LBFGS"]


class LBFGS(Optimizer):
    """Steps by an estimate of the inverse Hessian from the last changes of parameters and gradients.

    The loss is evaluated several times per step; the vectors of the method are kept in host memory, in float64 for
    float64 parameters and float32 for all else.

    Source: Nocedal and Wright 2006, "Numerical Optimization", Algorithm 7.4; line search of Algorithms 3.5 and 3.6.

    Args:
        learning_rate (float): length of the first trial step. Default: 1.0.
        max_iter (int): iterations per step. Default: 20.
        max_eval (int, optional): evaluations per step; max_iter * 5 / 4 by default.
        tolerance_grad (float): stops where the greatest gradient is below. Default: 1e-7.
        tolerance_change (float): stops where the change of loss or parameters is below. Default: 1e-9.
        history_size (int): changes that are remembered. Default: 100.
        line_search_fn (str, optional): "strong_wolfe", or None for fixed steps.
        parameters (list[Parameter], optional): what is trained.
        weight_decay (float|L1Decay|L2Decay, optional): a penalty.
        grad_clip (ClipGradBase, optional): clips the gradients.
        name (str, optional): for printing.
    """

    def __init__(
        self,
        learning_rate: float = 1.0,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = None,
        parameters: Any = None,
        weight_decay: Any = None,
        grad_clip: Any = None,
        name: str | None = None,
    ) -> None:
        if line_search_fn not in (None, "strong_wolfe"):
            raise errors.invalid_argument(
                "LBFGS: line_search_fn is not known.", expected="None or strong_wolfe", received=repr(line_search_fn)
            )
        self.max_iter = max_iter
        self.max_eval = max_iter * 5 // 4 if max_eval is None else max_eval
        self.tolerance_grad, self.tolerance_change = tolerance_grad, tolerance_change
        self.history_size, self.line_search_fn = history_size, line_search_fn
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)
        self._memory: dict[str, Any] = {}

    def state_dict(self) -> dict[str, Any]:
        """The memory of the method, under `state`.

        `func_evals` and `n_iter` are counts; `d` the direction and `alpha` the length of the last step, from where
        the gradient was `prev_flat_grad` and the loss `prev_loss`; `old_sk` and `old_yk` the last changes of
        parameters and gradients, `ro` the inverses of their products; `H_diag` the first guess of the inverse Hessian;
        `al` the weights of the last recursion, as many as history_size.
        """
        state = {k: [_tensor(t) for t in v] if isinstance(v, list) else _tensor(v) for k, v in self._memory.items()}
        return {"state": state}

    def set_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Takes over what state_dict gave."""
        expected = "what LBFGS.state_dict() gives"
        if not isinstance(state_dict, dict):
            raise errors.no_attribute(
                "LBFGS.set_state_dict: this is no state.", expected=expected, received=type(state_dict).__name__
            )
        if not isinstance(state_dict.get("state"), dict):
            raise errors.missing_key(
                "LBFGS.set_state_dict: there is no state of LBFGS.",
                expected=expected,
                received=f"a dict with {list(state_dict)}",
            )
        found = {
            k: [_array(t) for t in v] if isinstance(v, list) else _array(v) for k, v in state_dict["state"].items()
        }
        self._memory = found

    set_dict = load_state_dict = set_state_dict

    # -- parameters as one vector --
    def _pairs(self) -> list[tuple[Any, Any]]:
        pairs = [(p, gradient(p)) for p in self._parameters() if not p.sg]
        pairs = [(p, g if g is not None else tracing.from_array(np.zeros(p.type.shape, p.type.dtype.np)))
                 for p, g in pairs]  # fmt: skip
        if self._grad_clip is not None:
            pairs = self._grad_clip(pairs)
        return self.append_regularization_ops(pairs, self.regularization)

    def _gradient(self) -> np.ndarray:
        return np.concatenate([g.array().ravel() for _, g in self._pairs()])

    def _point(self) -> np.ndarray:
        return np.concatenate([p.array().ravel() for p in self._parameters() if not p.sg])

    def _move(self, x: np.ndarray) -> None:
        at = 0
        for p in self._parameters():
            if not p.sg:
                p.set_value(x[at : at + p.size].reshape(p.type.shape).astype(p.type.dtype.np))
                at += p.size

    def _evaluate(self, closure: Callable[[], Any], x: np.ndarray) -> tuple[float, np.ndarray]:
        self._move(x)
        with _grad_enabled():
            loss = float(closure().item())
        self._memory["func_evals"] += 1
        return loss, self._gradient()

    def _direction(self, g: np.ndarray) -> np.ndarray:
        """-H g by the two-loop recursion."""
        m = self._memory
        q = -g
        weights = m["al"] = [None] * self.history_size
        changes = list(enumerate(zip(m["old_sk"], m["old_yk"], m["ro"])))
        for i, (s, y, r) in reversed(changes):
            weights[i] = (s @ q) * r
            q = q - weights[i] * y
        d = q * m["H_diag"]
        for i, (s, y, r) in changes:
            d = d + s * (weights[i] - (y @ d) * r)
        return d

    def step(self, closure: Callable[[], Any]) -> Tensor:  # type: ignore[override]
        """Up to max_iter iterations.

        Args:
            closure (Callable): clears gradients, computes the loss, calls backward on it, returns it.

        Returns:
            Tensor: the loss before the step.
        """
        with _grad_enabled():
            first = closure()
        loss, m = float(first.item()), self._memory
        evals = 1
        m["func_evals"] = m.get("func_evals", 0) + 1
        m.setdefault("n_iter", 0)
        g = self._gradient()
        if np.abs(g).max(initial=0.0) <= self.tolerance_grad:
            return first
        x, lr, n = self._point(), self.get_lr(), 0
        while n < self.max_iter:
            n += 1
            m["n_iter"] += 1
            if m["n_iter"] == 1:
                d = -g
                m.update(old_sk=[], old_yk=[], ro=[], H_diag=g.dtype.type(1))
            else:
                y, s = g - m["prev_flat_grad"], m["d"] * m["alpha"]
                ys = y @ s
                if ys > 1e-10:
                    if len(m["old_sk"]) == self.history_size:
                        for k in ("old_sk", "old_yk", "ro"):
                            m[k].pop(0)
                    m["old_sk"].append(s)
                    m["old_yk"].append(y)
                    m["ro"].append(1 / ys)
                    m["H_diag"] = ys / (y @ y)
                d = self._direction(g)
            m["prev_flat_grad"], m["prev_loss"], previous = g, loss, loss
            alpha = min(1.0, 1.0 / np.abs(g).sum()) * lr if m["n_iter"] == 1 else lr
            slope = float(g @ d)
            m["d"] = d
            if slope > -self.tolerance_change:
                m["alpha"] = alpha
                break
            if self.line_search_fn == "strong_wolfe":
                loss, g, alpha, more = strong_wolfe(
                    lambda a, x=x, d=d: self._evaluate(closure, x + a * d), alpha, d, loss, g, slope
                )
                x = x + alpha * d
                self._move(x)
            else:
                x, more = x + alpha * d, 0
                self._move(x)
                if n != self.max_iter:
                    loss, g = self._evaluate(closure, x)
                    more = 1
            m["alpha"] = alpha
            evals += more
            small = np.abs(g).max(initial=0.0) <= self.tolerance_grad
            still = np.abs(d * alpha).max(initial=0.0) <= self.tolerance_change
            if evals >= self.max_eval or small or still or abs(loss - previous) < self.tolerance_change:
                break
        return first


def _tensor(value: Any) -> Any:
    return tracing.from_array(np.array(value)) if isinstance(value, (np.ndarray, np.floating)) else value


def _array(value: Any) -> Any:
    return np.array(value.array())[()] if isinstance(value, Tensor) else value


def _grad_enabled() -> Any:
    from ..framework.grad_mode import enable_grad

    return enable_grad()


def cubic_minimum(x1: float, f1: float, g1: float, x2: float, f2: float, g2: float, bounds: Any = None) -> float:
    """Where the cubic through two points with given slopes is least, within bounds."""
    low, high = bounds if bounds is not None else (min(x1, x2), max(x1, x2))
    d1 = g1 + g2 - 3 * (f1 - f2) / (x1 - x2)
    square = d1 * d1 - g1 * g2
    if square < 0:
        return (low + high) / 2.0
    d2 = square**0.5
    if x1 <= x2:
        at = x2 - (x2 - x1) * ((g2 + d2 - d1) / (g2 - g1 + 2 * d2))
    else:
        at = x1 - (x1 - x2) * ((g1 + d2 - d1) / (g1 - g2 + 2 * d2))
    return min(max(at, low), high)


def strong_wolfe(
    evaluate: Callable[[float], tuple[float, np.ndarray]],
    alpha: float,
    d: np.ndarray,
    loss: float,
    grad: np.ndarray,
    slope: float,
    c1: float = 1e-4,
    c2: float = 0.9,
    change: float = 1e-9,
    most: int = 25,
) -> tuple[float, np.ndarray, float, int]:
    """A step along d that satisfies the strong Wolfe conditions.

    Returns:
        tuple: loss and gradient there, the step, the number of evaluations.
    """
    size = float(np.abs(d).max(initial=0.0))
    f, g = evaluate(alpha)
    count, s = 1, float(g @ d)
    last = (0.0, loss, grad, slope)
    bracket: list[tuple[float, float, np.ndarray, float]] = []
    done = False
    for i in range(most):
        here = (alpha, f, g, s)
        if f > loss + c1 * alpha * slope or (i > 0 and f >= last[1]) or s >= 0:
            done = abs(s) <= -c2 * slope and not (f > loss + c1 * alpha * slope or (i > 0 and f >= last[1]))
            bracket = [here] if done else [last, here]
            break
        if abs(s) <= -c2 * slope:
            bracket, done = [here], True
            break
        low, high = alpha + 0.01 * (alpha - last[0]), alpha * 10
        following = cubic_minimum(last[0], last[1], last[3], alpha, f, s, (low, high))
        last, alpha = here, following
        f, g = evaluate(alpha)
        count, s = count + 1, float(g @ d)
    else:
        bracket = [(0.0, loss, grad, slope), (alpha, f, g, s)]
    stuck = False
    while not done and count < most and len(bracket) == 2:
        a, b = bracket
        if abs(b[0] - a[0]) * size < change:
            break
        alpha = cubic_minimum(a[0], a[1], a[3], b[0], b[1], b[3])
        low, high = min(a[0], b[0]), max(a[0], b[0])
        margin = 0.1 * (high - low)
        if min(high - alpha, alpha - low) < margin:
            if stuck or alpha >= high or alpha <= low:
                alpha = high - margin if abs(alpha - high) < abs(alpha - low) else low + margin
                stuck = False
            else:
                stuck = True
        else:
            stuck = False
        f, g = evaluate(alpha)
        count, s = count + 1, float(g @ d)
        best = 0 if a[1] <= b[1] else 1
        if f > loss + c1 * alpha * slope or f >= bracket[best][1]:
            bracket[1 - best] = (alpha, f, g, s)
        else:
            if abs(s) <= -c2 * slope:
                done = True
            elif s * (bracket[1 - best][0] - bracket[best][0]) >= 0:
                bracket[1 - best] = bracket[best]
            bracket[best] = (alpha, f, g, s)
    alpha, f, g, s = min(bracket, key=lambda t: t[1])
    return f, g, alpha, count
