"""`Optimizer`: what all optimizers share. Each of them adds `init_state` and `update` for one parameter."""

from __future__ import annotations

import bisect
import copy
import re
from collections import OrderedDict
from typing import Any

import numpy as np

from ..engine import errors, types
from ..engine.eager import trace as tracing
from ..engine.eager.rows import RowTensor, from_tensor
from ..engine.eager.tape import gradient
from ..engine.ops.creation import Full
from ..engine.ops.elementwise import cast
from ..engine.ops.rows import dense
from ..engine.types import DType
from ..nn.clip import ClipGradBase
from ..regularizer import L2Decay, WeightDecayRegularizer
from ..tensor.tensor import Tensor
from ..utils import unique_name
from ..utils.public import guard, guard_class
from .lr import LambdaDecay, LRScheduler
from .plan import Cohort, Entry, Plan

__all__ = ["Optimizer"]

_local = tracing.local


class Optimizer:
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
            lr: 0-d float32.

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
    def _parameters(self) -> list[Any]:
        return [p for _, params, _, _ in self._rules for p in params]

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
        value = self._learning_rate
        if isinstance(value, LRScheduler):
            value = value()
        known, rate = self._rate
        if rate is None or known != value:
            rate = tracing.from_array(np.array(value, np.float32))
            rate.__dict__["_name"] = "learning_rate"  # as printed graphs show it
            self._rate = (value, rate)
        grads += [grads[i].row_numbers for i in plan.by_rows]
        grads.append(rate)
        plan.reads = grads
        try:
            trace.update(plan.key, grads, plan.writes, plan.run)
        finally:
            plan.reads = []
        trace.flush_before_next()

    # -- states --
    def _work_dtype(self, p: Any) -> DType:
        return types.float32 if p.type.dtype.itemsize < 4 else p.type.dtype

    def _state_of(self, rule: Optimizer, p: Any) -> OrderedDict[str, Tensor]:
        state = self._states.get(id(p))
        if state is None:
            trace = tracing.current()
            before = trace.grad
            trace.set_grad(False)
            state = OrderedDict()
            try:
                wide = self._work_dtype(p)
                if p.type.dtype is not wide and self._multi_precision:
                    state["master_weight"] = cast(p, wide)
                for name, t in rule.init_state(p).items():
                    state[name] = t
            finally:
                trace.set_grad(before)
            for name in list(state):
                key = self._key(p, name)
                given = self._take_given(p, name, state[name].type.shape, state[name].type.dtype)
                if given is not None:
                    state[name] = tracing.from_array(given)
                label(state[name], key)
            self._states[id(p)] = state
        return state

    def _key(self, p: Any, name: str) -> str:
        """The key of a state in state_dict. As upstream, states are named after the float32 copy if there is one."""
        key = self._names.get((id(p), name))
        if key is None:
            of = self._names.get((id(p), "master_weight"), p.name)
            key = unique_name.generate(f"{of}_fp32_master" if name == "master_weight" else f"{of}_{name}")
            self._names[(id(p), name)] = key
        return key

    def _take_given(self, p: Any, name: str, shape: tuple[int, ...], dtype: DType) -> np.ndarray | None:
        """What set_state_dict gave for a state that did not exist then, once.

        Raises:
            AssertionError: it does not fit, or other states were given and this one was not.
        """
        if name == "master_weight":
            key, value = p.name, self._given_masters.pop(p.name, None)
            if value is None:
                return None
        else:
            found = self._given.pop(f"{p.name}_{name}", None)
            if found is None and not self._given and not self._taking:
                return None
            if found is None:
                raise missing_state(f"{p.name}_{name}", [k for k, _ in self._given.values()])
            key, value = found
        return fitting(key, value, shape, dtype)

    def _cohort_of(self, rule: Optimizer, p: Any) -> Cohort | None:
        if not rule.shared:
            return None
        cohort = self._cohorts.get(id(p))
        if cohort is None:
            wide = self._work_dtype(p)
            values = {}
            for name, (start, extent) in rule.shared.items():
                start = getattr(rule, start) if isinstance(start, str) else start
                shape = (1,) if extent == "one" else p.type.shape
                given = self._take_given(p, name, shape, types.int64 if isinstance(start, int) else wide)
                values[name] = given.ravel()[0].item() if given is not None and given.size else start
                self._key(p, name)
            hyper = tuple(getattr(rule, k) for k in rule.settings)
            cohort = Cohort.join(self._cohorts, values, hyper, wide)
            cohort.members.add(id(p))
            self._cohorts[id(p)] = cohort
        return cohort

    def _shared_export(self, rule: Optimizer, p: Any, name: str) -> Tensor:
        value = self._cohorts[id(p)].states[name]
        a = np.full((1,) if rule.shared[name][1] == "one" else p.type.shape, value.array())
        t = tracing.from_array(a.astype(value.type.dtype.np))
        label(t, self._key(p, name))
        return t

    def _export(self) -> list[tuple[str, Any, Tensor]]:
        """(state, parameter, Tensor), state by state."""
        found: dict[str, list[tuple[str, Any, Tensor]]] = {}
        for rule, params, _, _ in self._rules:
            for p in params:
                state = self._states.get(id(p))
                for name in () if state is None else rule.state_order(state):
                    if name != "master_weight":
                        t = state[name] if name in state else self._shared_export(rule, p, name)  # type: ignore[index]
                        found.setdefault(name, []).append((name, p, t))
        return [e for of in found.values() for e in of]

    @property
    def _accumulators(self) -> dict[str, dict[str, Tensor]]:
        found: dict[str, dict[str, Tensor]] = {}
        for name, p, t in self._export():
            found.setdefault(name, {})[self._names.get((id(p), "master_weight"), p.name)] = t
        return found

    def state_order(self, state: dict[str, Tensor]) -> list[str]:
        """Names of all states, in the order of state_dict."""
        return [*state, *self.shared]

    def state_dict(self) -> dict[str, Any]:
        """States by name, as in `linear_0.w_0_moment1_0`, and the schedule's under `LR_Scheduler`."""
        out: dict[str, Any] = {self._key(p, name): t for name, p, t in self._export()}
        masters = {
            p.name: self._states[id(p)]["master_weight"]
            for p in self._parameters()
            if "master_weight" in self._states.get(id(p), ())
        }
        if masters:
            out["master_weights"] = masters
        if isinstance(self._learning_rate, LRScheduler):
            out["LR_Scheduler"] = self._learning_rate.state_dict()
        return out

    @guard
    def set_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Takes over what state_dict gave; the parameters must have the names that they had then.

        Where it raises, nothing has been taken over.

        Args:
            state_dict (dict): states by name, and the schedule's under `LR_Scheduler`.

        Raises:
            AssertionError: a state is missing or does not fit, or the schedule's is missing (a LambdaDecay needs none).
            AttributeError: no dictionary.
            RuntimeError: an entry of the schedule's is missing.
        """
        if not isinstance(state_dict, dict):
            raise errors.no_attribute(
                "set_state_dict: this holds no states.", expected="a dict", received=type(state_dict).__name__
            )
        schedule = self._learning_rate if isinstance(self._learning_rate, LRScheduler) else None
        entries = state_dict.get("LR_Scheduler")
        if schedule is not None and entries is None and not isinstance(schedule, LambdaDecay):
            raise AssertionError(
                errors.message(
                    "NotFound",
                    "set_state_dict: the state of the schedule is missing.",
                    "LR_Scheduler in the dictionary",
                    f"{str(list(state_dict))[:300]}",
                    "an optimizer without schedule saved it: give this one a number as learning_rate.",
                )
            )
        before = self._states, self._cohorts, self._given, self._given_masters, self._plan
        self._taking = True
        try:
            self._set_states({k: v for k, v in state_dict.items() if k != "LR_Scheduler"})
            if schedule is not None and entries:
                schedule.set_state_dict(entries)
        except BaseException:
            self._states, self._cohorts, self._given, self._given_masters, self._plan = before
            raise
        finally:
            self._taking = False

    def _set_states(self, given: dict[str, Any]) -> None:
        masters = given.pop("master_weights", None) or {}
        self._given_masters = {k: held(v) for k, v in masters.items()}
        self._given = {}
        for key in sorted(given, key=lambda k: not k.endswith("_0")):
            self._given.setdefault(_NUMBERS.sub("", key), (key, held(given[key])))
        names = sorted(self._given)
        present = self._states
        self._states, self._cohorts, self._plan = {}, {}, None
        for rule, params, _, _ in self._rules:
            for p in params:
                at = bisect.bisect_left(names, f"{p.name}_")
                known = p.name in masters or (at < len(names) and names[at].startswith(f"{p.name}_"))
                before = present.get(id(p))
                lost = [n for n in (*before, *rule.shared) if n != "master_weight"] if before is not None else []
                if lost and not known:
                    raise missing_state(f"{p.name}_{lost[0]}", list(given))
                if known and not p.sg:
                    self._state_of(rule, p)
                    self._cohort_of(rule, p)
        tracing.current().flush_before_next()

    set_dict = load_state_dict = set_state_dict

    # -- rates --
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
            list: empty: in dynamic mode there are no operations to run later.
        """
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

    def __getstate__(self) -> dict[str, Any]:
        self._places.update(ids=[id(p) for p in self._parameters()], done=[])
        return {k: v for k, v in self.__dict__.items() if k not in ("_plan", "_rate")} | {
            "_plan": None,
            "_rate": (None, None),
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        """States are found under the ids of parameters: those of a copy are others."""
        self.__dict__.update(state)
        before, params = self._places["ids"], self._parameters()
        moved = {old: id(p) for old, p in zip(before, params) if old != id(p)}
        if not moved or len(params) != len(before):  # the rules of groups are there before their lists are whole
            return
        shared = self._places["done"]  # by rules of groups, which hold the same dictionaries
        for name in ("_states", "_cohorts", "_names", "_coeffs", "_of_groups"):
            found = self.__dict__.get(name)
            if found is None or any(found is d for d in shared):
                continue
            shared.append(found)
            entries = list(found.items())
            found.clear()
            for k, v in entries:
                found[(moved.get(k[0], k[0]), k[1]) if name == "_names" else moved.get(k, k)] = v
            if name == "_cohorts":
                for cohort in {id(c): c for c in found.values()}.values():
                    cohort.members = {moved.get(k, k) for k in cohort.members}


def label(t: Tensor, name: str) -> None:
    t.name = name  # type: ignore[attr-defined]
    t.persistable = True  # type: ignore[attr-defined]


_NUMBERS = re.compile(r"_fp32_master_\d+(?=_)|_\d+$")  # what in a key counts how often its name was given


def held(value: Any) -> Any:
    """The values as they are now: the arrays of Tensors are never written to while somebody holds them."""
    return value.array() if isinstance(value, Tensor) else np.array(value)


def fitting(key: str, a: np.ndarray, shape: tuple[int, ...], dtype: DType) -> np.ndarray:
    """An array of its own for a state, or AssertionError. Halves become float32, in which states are kept here."""
    if a.dtype == np.uint16:
        a = a.view(types.bfloat16.np)
    halves = a.dtype in (np.float16, types.bfloat16.np) and dtype is types.float32
    if a.shape != shape and a.size == 1 and shape in ((), (1,)):
        a = a.reshape(shape)
    if a.shape != shape or not (a.dtype == dtype.np or halves):
        raise AssertionError(
            errors.message(
                "InvalidArgument",
                f"set_state_dict: {key} does not fit.",
                f"{dtype.name}{list(shape)}",
                f"{a.dtype.name}{list(a.shape)}",
            )
        )
    return np.array(a, dtype.np, order="C")


def missing_state(name: str, keys: list[str]) -> AssertionError:
    more = f" and {len(keys) - 8} more" if len(keys) > 8 else ""
    return AssertionError(
        errors.message(
            "NotFound",
            f"set_state_dict: a state of the optimizer is missing: {name}.",
            f"{name}_<number>" if keys else "the states of an optimizer",
            f"{', '.join(map(str, keys[:8]))}{more}" if keys else "none",
            "parameters must have the names that they had when the state was saved: make the layers in the same order.",
        )
    )


def full(p: Tensor, value: float, dtype: DType | None = None) -> Tensor:
    """A state of the shape of p, in float32 at least."""
    dtype = dtype or (types.float32 if p.type.dtype.itemsize < 4 else p.type.dtype)
    return Full(p.type.shape, float(value), dtype)()
