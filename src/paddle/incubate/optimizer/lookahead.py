"""Steps ahead, and part of the way back."""

from __future__ import annotations

from typing import Any

from ...engine import errors
from ...framework.grad_mode import no_grad
from ...tensor.tensor import Tensor

__all__: list[str] = []


class LookAhead:
    """An optimizer whose parameters, after every k steps of another, go from where they were k steps ago only a part of
    the way.

    Args:
        inner_optimizer (Optimizer): The other.
        alpha (float): The part, in [0, 1]. Default: 0.5.
        k (int): Steps ahead, at least 1. Default: 5.
        name (str, optional): Default: None.

    Raises:
        AssertionError: a parameter out of range.

    Source: Zhang, Lucas, Hinton and Ba 2019, arXiv:1907.08610. As upstream has it, the first way begins after the first
    step.

    Examples:
        >>> net = paddle.nn.Linear(2, 1)
        >>> inner = paddle.optimizer.SGD(0.1, parameters=net.parameters())
        >>> optimizer = paddle.incubate.LookAhead(inner, alpha=0.2, k=5)
        >>> net(paddle.ones([1, 2])).sum().backward()
        >>> optimizer.step()
        >>> optimizer.clear_grad()
    """

    def __init__(self, inner_optimizer: Any, alpha: float = 0.5, k: int = 5, name: str | None = None):
        if inner_optimizer is None:
            raise errors.asserted("LookAhead: there is no inner_optimizer.")
        if not 0.0 <= alpha <= 1.0:
            raise errors.asserted("LookAhead: alpha is out of range.", expected="[0, 1]", received=f"{alpha}")
        if not isinstance(k, int) or k < 1:
            raise errors.asserted("LookAhead: k is no positive integer.", expected="at least 1", received=f"{k!r}")
        inner_optimizer._parameters()
        self.inner_optimizer, self.alpha, self.k = inner_optimizer, alpha, k
        self._slow: dict[str, Tensor] = {}
        self._steps = 0

    @no_grad()
    def step(self) -> None:
        """A step of the other optimizer; after every k-th, part of the way back."""
        self.inner_optimizer.step()
        self._steps += 1
        for p in self.inner_optimizer._parameters():
            if p.stop_gradient:
                continue
            slow = self._slow.get(p.name)
            if slow is None:
                slow = self._slow[p.name] = p.detach().clone()
            if self._steps % self.k == 0:
                slow = slow + self.alpha * (p - slow)
                self._slow[p.name] = slow
                p.set_value(slow)

    def clear_grad(self, set_to_zero: bool = True) -> None:
        """Clears the gradients of the parameters."""
        self.inner_optimizer.clear_grad(set_to_zero)

    clear_gradients = clear_grad

    def minimize(
        self, loss: Tensor, startup_program: Any = None, parameters: Any = None, no_grad_set: Any = None
    ) -> tuple[list[Any], list[Any]]:
        """backward() and step(). Returns the empty list of operators, and the parameters with gradients."""
        loss.backward()
        pairs = [(p, p.grad) for p in self.inner_optimizer._parameters() if p.grad is not None]
        self.step()
        return [], pairs

    def get_lr(self) -> float:
        """The learning rate of the other optimizer."""
        return self.inner_optimizer.get_lr()

    def set_lr(self, value: float) -> None:
        """Sets the learning rate of the other optimizer."""
        self.inner_optimizer.set_lr(value)

    def state_dict(self) -> dict[str, Any]:
        """The values of k steps ago, and what the other optimizer keeps."""
        found = dict(self.inner_optimizer.state_dict())
        found.update({f"{name}_slow_0": t for name, t in self._slow.items()})
        found["lookahead_steps"] = self._steps
        return found

    def set_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Takes over what `state_dict` gave."""
        rest = dict(state_dict)
        self._steps = int(rest.pop("lookahead_steps", self._steps))
        for key in [k for k in rest if k.endswith("_slow_0")]:
            value = rest.pop(key)
            self._slow[key.removesuffix("_slow_0")] = value.detach().clone() if isinstance(value, Tensor) else value
        self.inner_optimizer.set_state_dict(rest)
