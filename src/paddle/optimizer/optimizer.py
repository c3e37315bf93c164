"""`Optimizer`: what all optimizers share. Each of them adds `init_state` and `update` for one parameter."""

from __future__ import annotations

import copy
from collections import OrderedDict
from typing import Any

import numpy as np

from ..engine import errors, types
from ..engine.eager import trace as tracing
from ..engine.eager.capture import each_run, in_program
from ..engine.eager.rows import RowTensor, from_tensor
from ..engine.eager.tape import gradient
from ..engine.ops.rows import dense
from ..engine.types import TensorType
from ..nn.clip import ClipGradBase
from ..regularizer import L2Decay, WeightDecayRegularizer
from ..tensor.tensor import Tensor
from ..utils.public import guard, guard_class
from .classic import Classic
from .lr import LRScheduler
from .plan import Cohort, Entry, Plan

__all__ = ["Optimizer"]

_local = tracing.local


class Optimizer(Classic):
    """Base of optimizers.

    A subclass gives two pure functions of one parameter, `init_state` and `update`. This class walks parameters,
    keeps their states, asks the schedule for the rate, clips gradients and adds weight decay. A whole step is one
    step of the recorded program.

    Args:
        learning_rate (float|LRScheduler): the rate.
        parameters (list[Parameter]|list[dict], optional): what is trained, or groups of it: dictionaries with
            "params" and settings of their own ("learning_rate" is a factor, "weight_decay", "grad_clip", ...).
        weight_decay (float|L1Decay|L2Decay, optional): a penalty; a number is L2Decay's.
        grad_clip (ClipGradBase, optional): clips the gradients, of each group by itself.
        name (str, optional): for printing.

    Attributes:
        shared (dict): states that are one number, the same for all parameters of the same age: name to (first
            value, shape on export: "one" or "full").
        settings (tuple of str): attributes that a group may have for itself, and that `update` reads.
        by_rows (bool): where the gradient of a table holds some rows only, just these are updated. True where
            `update` works element by element and changes nothing where the gradient is 0, or is not meant to.
    """

    shared: dict[str, tuple[Any, str]] = {}
    settings: tuple[str, ...] = ()
    by_rows: bool = False

    @guard
    def __init__(
        self,
        learning_rate: Any,
        parameters: Any = None,
        weight_decay: Any = None,
        grad_clip: Any = None,
        name: str | None = None,
    ) -> None:
        if parameters is None and _local.trace.abstract:
            parameters = []  # those of the program, see `minimize`
        if parameters is None:
            raise errors.no_attribute(
                f"{type(self).__name__}: parameters is missing.",
                expected="a list of Parameters, such as layer.parameters()",
                received="parameters: None",
            )
        if isinstance(parameters, (Tensor, dict)) or not hasattr(parameters, "__iter__"):
            raise errors.invalid_type(
                f"{type(self).__name__}: parameters is not a list.",
                expected="a list of Parameters, or of dictionaries with `params`",
                received=type(parameters).__name__,
            )
        if not isinstance(learning_rate, (float, int, LRScheduler, np.floating)) or isinstance(learning_rate, bool):
            raise errors.invalid_type(
                f"{type(self).__name__}: the learning rate is of the wrong type.",
                expected="a float or an LRScheduler",
                received=type(learning_rate).__name__,
            )
        if grad_clip is not None and not callable(grad_clip):
            raise errors.invalid_type(
                f"{type(self).__name__}: grad_clip does not clip.",
                expected="an instance of ClipGradByValue, ClipGradByNorm or ClipGradByGlobalNorm",
                received=type(grad_clip).__name__,
            )
        self._learning_rate = learning_rate
        self._grad_clip, self._name = grad_clip, name
        self._weight_decay = weight_decay
        self.regularization = self._regularizer(weight_decay)
        parameters = list(parameters)
        self._parameter_list = parameters
        self._param_groups: list[Any] = []
        self._rules: list[tuple[Optimizer, list[Any], Any, Any]] = []
        self._states: dict[int, OrderedDict[str, Tensor]] = {}
        self._names: dict[tuple[int, str], str] = {}
        self._places: dict[str, list[Any]] = {}  # for copies: ids of the parameters, and what has been put right
        self._cohorts: dict[int, Cohort] = {}
        self._given: dict[str, tuple[str, Any]] = {}  # by name without numbers: key and value
        self._given_masters: dict[str, Any] = {}
        self._taking = False  # inside set_state_dict
        self._plan: Plan | None = None
        self._rate: tuple[Any, Tensor | None] = (None, None)
        self._multi_precision = getattr(self, "_multi_precision", False)
        if parameters and isinstance(parameters[0], dict):
            for group in parameters:
                if not isinstance(group, dict):
                    raise errors.invalid_type(
                        f"{type(self).__name__}: groups and parameters are mixed.",
                        expected="dictionaries alone, or Parameters alone",
                        received=type(group).__name__,
                    )
                self._add_param_group(dict(group))
        else:
            self._check_parameters(parameters)
            self._param_groups = parameters
            self._rules.append((self, parameters, grad_clip, self.regularization))

    @staticmethod
    def _regularizer(weight_decay: Any) -> Any:
        if weight_decay is None or isinstance(weight_decay, WeightDecayRegularizer):
            return weight_decay
        if isinstance(weight_decay, Tensor):
            weight_decay = weight_decay.item()
        return L2Decay(weight_decay) if isinstance(weight_decay, (int, float)) else weight_decay

    @guard
    def _add_param_group(self, group: dict[str, Any]) -> None:
        """Adds a dictionary of parameters with settings of their own."""
        if "params" not in group:
            raise errors.asserted(
                f"{type(self).__name__}: a group has no parameters.",
                expected='an entry "params" in each dictionary',
                received=f"entries {list(group)}",
            )
        params = group["params"]
        if isinstance(params, Tensor):
            params = [params]
        elif isinstance(params, set):
            raise errors.invalid_type("parameters: a set has no order.", expected="a list", received="params: set")
        elif not hasattr(params, "__iter__"):
            raise errors.invalid_type(
                f"{type(self).__name__}: the parameters of a group are no list.",
                expected="a list of Parameters",
                received=f"params: {type(params).__name__}",
            )
        group["params"] = params = list(params)
        self._check_parameters(params)
        for p in params:
            if not hasattr(p, "optimize_attr"):
                raise errors.no_attribute(
                    f"{type(self).__name__}: a group holds a Tensor that is no Parameter.",
                    expected="Parameters, as of layer.parameters()",
                    received=f"{p.type}",
                )
        group.setdefault("weight_decay", self._weight_decay)
        group.setdefault("grad_clip", self._grad_clip)
        known = {id(p) for g in self._param_groups for p in g["params"]}
        if any(id(p) in known for p in params):
            twice = next(p for p in params if id(p) in known)
            raise errors.invalid_argument(
                f"{type(self).__name__}: a parameter is in more than one group.",
                expected="each parameter once",
                received=f"{twice.name} twice",
            )
        rule = self
        own = {k: group[k.lstrip("_")] for k in self.settings if k.lstrip("_") in group}
        if own:
            rule = copy.copy(self)
            for k, v in own.items():
                setattr(rule, k, v)
        for p in params:
            if "learning_rate" in group:
                p.optimize_attr["learning_rate"] = group["learning_rate"]
        self._param_groups.append(group)
        decay = self._group_decay(rule, group["weight_decay"])
        self._rules.append((rule, params, group["grad_clip"], decay))

    def _check_parameters(self, params: list[Any]) -> None:
        for i, p in enumerate(params):
            if not isinstance(p, Tensor):
                raise errors.no_attribute(
                    f"{type(self).__name__}: this is no parameter.",
                    expected="a list of Parameters",
                    received=f"parameters[{i}]: {type(p).__name__}",
                )

    def _group_decay(self, rule: Optimizer, weight_decay: Any) -> Any:
        """The regularizer of a group."""
        return self._regularizer(weight_decay)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        guard_class(cls)

    # -- the rule --
    def init_state(self, p: Tensor) -> dict[str, Tensor]:
        """The states of a parameter before its first update."""
        return {}

    def update(self, p: Tensor, g: Tensor, state: dict[str, Tensor], lr: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
        """One update.

        Args:
            p, g: the parameter and its gradient, of one shape and floating dtype.
            state: what init_state or the last update gave, shared states included.
            lr: 0-d, float64 where a parameter is, else float32.

        Returns:
            tuple: the new parameter, and the states that changed.
        """
        raise errors.unimplemented(
            f"{type(self).__name__}: it has no update.",
            expected="a subclass with `def update(self, p, g, state, lr)`, such as Adam",
            received="a call of Optimizer.step",
        )

    def accept_rows(self, p: Any, decay: Any) -> None:
        """Raises what upstream does where it cannot combine a gradient by rows with the settings."""

    def parameter_config(self, p: Any) -> Any:
        """What else of a parameter `update` depends on; given to it as `state["config"]`."""
        return None

    # -- stepping --
    def step(self) -> None:
        """Updates every parameter that has a gradient.

        Examples:
            >>> fc = paddle.nn.Linear(2, 1)
            >>> opt = paddle.optimizer.SGD(0.1, parameters=fc.parameters())
            >>> fc(paddle.ones([1, 2])).sum().backward()
            >>> opt.step()
            >>> opt.clear_grad()
        """
        plan = self._plan
        grads: list[Any] = []
        if plan is not None:
            for p, type_, by_rows in plan.grads_of:
                leaf = p.leaf
                g = leaf.grad if leaf is not None and not p.sg else None
                if g is None or g.type is not type_ or isinstance(g, RowTensor) is not by_rows:
                    plan = None
                    break
                grads.append(g)
            else:
                for p in plan.without:
                    if p.leaf is not None and (p.leaf.grad is not None or p.leaf.zero) and not p.sg:
                        plan = None
                        break
        if plan is None:
            found = []
            for rule, params, clip, decay in self._rules:
                pairs = [(p, gradient(p)) for p in params if not p.sg]
                found.append((rule, [(p, g) for p, g in pairs if g is not None], clip, decay))
            self._apply(found)
            return
        self._run(plan, grads)

    def _apply(self, found: list[Any]) -> None:
        """Makes the plan for these parameters and gradients, and runs it."""
        if not any(pairs for _, pairs, _, _ in found):
            return
        if hasattr(self, "_append_optimize_op"):
            self._apply_classic(found)
            return
        entries: list[Entry] = []
        grads = []
        clips = []
        standard = True
        for rule, pairs, clip, decay in found:
            if clip is not None and (not isinstance(clip, ClipGradBase) or clip.config() is None):
                pairs, clip, standard = clip(pairs), None, False
            start = len(entries)
            for p, g in pairs:
                entries.append(self._entry(rule, p, decay))
                grads.append(g)
            if clip is not None:
                at = [i for i in range(start, len(entries)) if getattr(entries[i].p, "need_clip", True)]
                clips.append((clip, tuple(at)))
        if not entries:
            return
        for e, g in zip(entries, grads):
            if isinstance(g, RowTensor):
                e.rule.accept_rows(e.p, e.decay)
        Cohort.split(entries)
        plan = Plan(entries, clips, grads, self._parameters())
        self._plan = plan if standard else None
        self._run(plan, grads)

    def _entry(self, rule: Optimizer, p: Any, decay: Any) -> Entry:
        own = getattr(p, "regularizer", None)
        attr = getattr(p, "optimize_attr", None) or {}
        state = self._state_of(rule, p)
        config = rule.parameter_config(p)
        hyper = tuple(getattr(rule, k) for k in rule.settings)
        if not isinstance(decay, WeightDecayRegularizer):
            decay = None
        return Entry(
            rule, p, state, self._cohort_of(rule, p), own or decay, float(attr.get("learning_rate", 1.0)), config, hyper
        )

    def _run(self, plan: Plan, grads: list[Any]) -> None:
        trace = _local.trace
        rate = self._rate_of(plan)
        grads += [grads[i].row_numbers for i in plan.by_rows]
        grads.append(rate)
        plan.reads = grads
        try:
            trace.update(plan.key, grads, plan.writes, plan.run)
        finally:
            plan.reads = []
        trace.flush_before_next()

    # -- rates --
    def _rate_of(self, plan: Plan) -> Any:
        """The learning rate of a step as a Tensor; in a program, a stand-in that each run gives its rate."""
        kind = plan.rate_type
        if _local.trace.abstract:
            return each_run(TensorType((), types.dtype_of(kind)), lambda: self._current_rate(kind))
        return self._current_rate(kind)

    def _current_rate(self, kind: Any) -> Tensor:
        value = self._learning_rate
        if isinstance(value, LRScheduler):
            value = value()
        known, rate = self._rate
        if rate is None or known != (value, kind):
            rate = tracing.from_array(np.array(value, kind))
            rate.__dict__["_name"] = "learning_rate"  # as printed graphs show it
            self._rate = ((value, kind), rate)
        return rate

    def get_lr(self) -> float:
        """The learning rate of the next step."""
        rate = self._learning_rate
        return rate() if isinstance(rate, LRScheduler) else rate

    @guard
    def set_lr(self, value: float) -> None:
        """Sets the learning rate.

        Args:
            value (float|Tensor): the rate.

        Raises:
            RuntimeError: the rate comes from a schedule.
            TypeError: not a number.
        """
        if isinstance(value, Tensor) and value.size == 1:
            value = float(value.item())
        if not isinstance(value, (int, float)):
            raise errors.invalid_type(
                "set_lr: the value is of the wrong type.", expected="a float", received=type(value).__name__
            )
        if isinstance(self._learning_rate, LRScheduler):
            raise errors.precondition(
                "set_lr: the learning rate comes from a schedule.",
                hint="call set_lr_scheduler, or the schedule's step.",
                expected="a float as the learning rate",
                received=f"{type(self._learning_rate).__name__}",
            )
        self._learning_rate = float(value)

    def set_lr_scheduler(self, scheduler: LRScheduler) -> None:
        """Takes the learning rate from a schedule from now on."""
        if not isinstance(scheduler, LRScheduler):
            raise errors.invalid_type(
                "set_lr_scheduler: not a schedule.", expected="an LRScheduler", received=type(scheduler).__name__
            )
        self._learning_rate = scheduler

    # -- gradients --
    def clear_grad(self, set_to_zero: bool = True) -> None:
        """Sets the gradients of all parameters to zero, or to None.

        Args:
            set_to_zero (bool): zeros rather than None. Default: True.
        """
        for _, params, _, _ in self._rules:
            for p in params:
                leaf = p.leaf
                if leaf is not None and not p.sg:
                    leaf.zero = set_to_zero and (leaf.grad is not None or leaf.zero)
                    leaf.zero = leaf.zero and not isinstance(leaf.grad, RowTensor)
                    leaf.grad = None

    clear_gradients = clear_grad

    def zero_grad(self, set_to_none: bool = True) -> None:
        self.clear_grad(not set_to_none)

    @guard
    def backward(
        self,
        loss: Tensor,
        startup_program: Any = None,
        parameters: Any = None,
        no_grad_set: Any = None,
        callbacks: Any = None,
    ) -> list[tuple[Any, Tensor]]:
        """The parameters that have a gradient, with it. In dynamic mode `loss.backward()` must have been called."""
        if _local.trace.abstract and in_program():
            from ..static.backward import append_backward

            return append_backward(loss, parameters or self._parameters() or None, no_grad_set)
        params = self._parameters() if parameters is None else parameters
        barred = {id(t) for t in no_grad_set or () if not isinstance(t, str)}
        barred_names = {t for t in no_grad_set or () if isinstance(t, str)}
        return [
            (p, p.grad)
            for p in params
            if not p.sg and p.grad is not None and id(p) not in barred and p.name not in barred_names
        ]

    @guard
    def apply_gradients(self, params_grads: list[tuple[Any, Tensor]]) -> list[Any]:
        """Updates the given parameters by the given gradients.

        Returns:
            list: in static mode the operations; empty in dynamic mode.
        """
        if _local.trace.abstract and in_program():
            from ..static.backward import apply

            return apply(self, params_grads)
        by_id = {id(p): g for p, g in params_grads}
        found = [
            (rule, [(p, by_id[id(p)]) for p in params if id(p) in by_id], clip, decay)
            for rule, params, clip, decay in self._rules
        ]
        self._apply(found)
        self._plan = None
        return []

    @guard
    def append_regularization_ops(
        self, parameters_and_grads: list[tuple[Any, Tensor]], regularization: Any = None
    ) -> list[tuple[Any, Tensor]]:
        """The pairs with the penalty's term added to each gradient."""
        out = []
        trace = tracing.current()
        before = trace.grad
        trace.set_grad(False)
        try:
            for p, g in parameters_and_grads:
                penalty = getattr(p, "regularizer", None) or regularization
                out.append((p, g if g is None or penalty is None else dense(from_tensor(g)) + penalty.term(p)))
        finally:
            trace.set_grad(before)
        return out

    @guard
    def minimize(
        self, loss: Tensor, startup_program: Any = None, parameters: Any = None, no_grad_set: Any = None
    ) -> tuple[Any, list[tuple[Any, Tensor]]]:
        """backward and apply_gradients in one.

        Args:
            loss (Tensor): of which `backward()` was called.
            startup_program (optional): not used in dynamic mode.
            parameters (list, optional): only these.
            no_grad_set (set, optional): not these.

        Returns:
            tuple: an empty list, and the pairs of parameter and gradient.
        """
        if not isinstance(loss, Tensor):
            raise errors.asserted(
                f"{type(self).__name__}.minimize: loss is not a Tensor.",
                expected="a Tensor",
                received=f"loss: {type(loss).__name__}",
            )
        pairs = self.backward(loss, startup_program, parameters, no_grad_set)
        return self.apply_gradients(pairs), pairs

    def get_opti_var_name_list(self) -> list[str]:
        """Names of all states."""
        return [t.name for of in self._accumulators.values() for t in of.values()]
