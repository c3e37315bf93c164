"""What an optimizer remembers of its parameters: `state_dict`, `set_state_dict`, and copies."""

from __future__ import annotations

import bisect
import re
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

import numpy as np

from ..engine import errors, types
from ..engine.eager import trace as tracing
from ..engine.ops.creation import Full
from ..engine.ops.elementwise import cast
from ..engine.types import DType
from ..tensor.tensor import Tensor
from ..utils import unique_name
from ..utils.public import guard
from .lr import LambdaDecay, LRScheduler
from .plan import Cohort

if TYPE_CHECKING:
    from .optimizer import Optimizer


class States:
    """States by parameter and name."""

    _learning_rate: Any
    _multi_precision: bool
    _rules: list[Any]
    _states: dict[int, OrderedDict[str, Tensor]]
    _names: dict[tuple[int, str], str]
    _places: dict[str, list[Any]]
    _cohorts: dict[int, Cohort]
    _given: dict[str, tuple[str, Any]]
    _given_masters: dict[str, Any]
    _taking: bool
    _plan: Any

    def _parameters(self) -> list[Any]:
        return [p for _, params, _, _ in self._rules for p in params]

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
