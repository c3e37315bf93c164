"""How one optimizer step becomes one step of the recorded program."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from ..engine import types
from ..engine.eager import trace as tracing
from ..engine.eager.rows import RowTensor
from ..engine.ops.elementwise import cast
from ..engine.ops.indexing import Gather
from ..engine.ops.rows import MergeRows, RowGrad, ScatterRows, dense
from ..engine.types import DType, TensorType
from ..tensor.tensor import Tensor

_tokens: dict[Any, int] = {}
_next_token = itertools.count()


class Cohort:
    """States that are one number, common to parameters that were updated together from the start.

    Attributes:
        states: 0-d Tensors by name. members: ids of the parameters.
    """

    def __init__(self, states: dict[str, Tensor], dtype: DType):
        self.states, self.dtype = states, dtype
        self.members: set[int] = set()
        self.start: Any = None

    @staticmethod
    def join(known: dict[int, Cohort], values: dict[str, Any], hyper: Any, dtype: DType) -> Cohort:
        """The cohort of these values that has made no step, or a new one."""
        for cohort in known.values():
            if cohort.start == (values, hyper) and cohort.dtype is dtype:
                return cohort
        states = {}
        for name, v in values.items():
            kind = np.dtype("int64") if isinstance(v, int) else dtype.np
            states[name] = tracing.from_array(np.array(v, kind))
            states[name].__dict__["_name"] = name  # as printed graphs show it
        cohort = Cohort(states, dtype)
        cohort.start = (dict(values), hyper)
        return cohort

    @staticmethod
    def split(entries: list[Entry]) -> None:
        """Takes those that make a step out of the cohorts of those that do not."""
        stepping: dict[int, list[Entry]] = {}
        for e in entries:
            if e.cohort is not None:
                stepping.setdefault(id(e.cohort), []).append(e)
        for group in stepping.values():
            old = group[0].cohort
            assert old is not None
            if len(group) < len(old.members):
                copies = {n: tracing.from_array(t.array().copy()) for n, t in old.states.items()}
                new = Cohort(copies, old.dtype)
                for e in group:
                    old.members.discard(id(e.p))
                    new.members.add(id(e.p))
                    e.move(new)
                new.start = None
            else:
                old.start = None


class Entry:
    """One parameter in a plan.

    Attributes:
        rule: whose `update` runs. p: the parameter. state: its own states. cohort: its shared ones.
        decay: its regularizer or None. factor: of the learning rate. config, hyper: what else update depends on.
    """

    __slots__ = ("rule", "p", "state", "cohort", "decay", "factor", "config", "hyper", "owner")

    def __init__(
        self, rule: Any, p: Any, state: Any, cohort: Any, decay: Any, factor: float, config: Any, hyper: Any
    ) -> None:
        self.rule, self.p, self.state, self.cohort = rule, p, state, cohort
        self.decay, self.factor, self.config, self.hyper = decay, factor, config, hyper

    def move(self, cohort: Cohort) -> None:
        self.cohort = cohort
        self.rule_owner()[id(self.p)] = cohort

    def rule_owner(self) -> dict[int, Cohort]:
        return self.rule._cohorts

    def key(self) -> Any:
        decay = None if self.decay is None else (type(self.decay), self.decay.coeff)
        states = tuple((n, t.type) for n, t in self.state.items())
        shared = None if self.cohort is None else tuple((n, t.type) for n, t in self.cohort.states.items())
        by_rows = self.rule.by_rows
        return (type(self.rule), self.hyper, self.p.type, states, shared, decay, self.factor, self.config, by_rows)

    def update(self, g: Tensor, lr: Tensor, rows: Any = None) -> tuple[Tensor, dict[str, Tensor]]:
        """One update of the parameter, or of some of its rows alone, with g the gradient of these.

        Returns:
            tuple: the new parameter, and the states that changed; the new rows of both where rows are given.
        """
        part = (lambda t: t) if rows is None else (lambda t: Gather(0, False)(t, rows))
        own = {n: part(t) for n, t in self.state.items()}
        wide = self.rule._work_dtype(self.p)
        work = own["master_weight"] if "master_weight" in own else cast(part(self.p), wide)
        g = cast(g, wide)
        if lr.dtype is types.float64 and wide is not types.float64:
            lr = cast(lr, types.float32)
        if self.decay is not None:
            g = g + self.decay.term(work)
        state: dict[str, Any] = {**own, "config": self.config}
        if self.cohort is not None:
            state.update(self.cohort.states)
        new, changed = self.rule.update(work, g, state, lr if self.factor == 1.0 else lr * self.factor)
        if "master_weight" in own:
            changed = {**changed, "master_weight": new}
        return cast(new, self.p.type.dtype), changed


class Plan:
    """What a step reads and writes, and how: for one set of parameters that have gradients.

    Attributes:
        key: says all that the step's program depends on.
        writes: parameters, then own states, then shared ones.
        grads_of: parameters with the type of their gradient, and whether it is by rows, in order.
        without: parameters without gradient.
        by_rows: which of the entries have a gradient by rows.
        reads: while it runs, the gradients, the numbers of rows of those by rows, and the learning rate.
        rate_type: of the learning rate: float64 where a parameter is.
    """

    def __init__(
        self, entries: list[Entry], clips: list[tuple[Any, tuple[int, ...]]], grads: list[Tensor], every: list[Any]
    ) -> None:
        types_: list[TensorType] = [g.type for g in grads]
        self.by_rows = tuple(i for i, g in enumerate(grads) if isinstance(g, RowTensor))
        self.entries, self.clips = entries, clips
        cohorts = {id(e.cohort): e.cohort for e in entries if e.cohort is not None}
        self.cohorts = list(cohorts.values())
        place = {k: i for i, k in enumerate(cohorts)}
        self.writes: list[Tensor] = [e.p for e in entries]
        self.writes += [t for e in entries for t in e.state.values()]
        self.writes += [t for c in self.cohorts for t in c.states.values()]
        self.grads_of = [(e.p, t, i in self.by_rows) for i, (e, t) in enumerate(zip(entries, types_))]
        stepping = {id(e.p) for e in entries}
        self.without = [p for p in every if id(p) not in stepping]
        self.reads: list[Tensor] = []
        double = any(e.rule._work_dtype(e.p) is types.float64 for e in entries)
        self.rate_type = np.float64 if double else np.float32
        config = (
            tuple(e.key() for e in entries),
            tuple((c.config(), at) for c, at in clips),
            tuple(types_),
            self.by_rows,
            tuple(place[id(e.cohort)] if e.cohort is not None else -1 for e in entries),
        )
        token = _tokens.get(config)
        if token is None:
            if len(_tokens) > 4096:
                _tokens.clear()
            token = _tokens[config] = next(_next_token)
        self.key = ("optimizer", token)

    def run(self) -> list[Tensor]:
        """The new values of `writes`."""
        count = len(self.entries)
        grads: list[Any] = self.reads[:count]
        *numbers, lr = self.reads[count:]
        for i, rows in zip(self.by_rows, numbers):
            grads[i] = RowGrad(grads[i], rows, self.entries[i].p.type.shape[0])
        for clip, at in self.clips:
            for i, g in zip(at, clip.clip_all([grads[i] for i in at])):
                grads[i] = g
        done: list[Any] = [None] * count
        shared: dict[int, dict[str, Tensor]] = {}
        # Rows first, and written back last: what is overwritten in place is read, and every row checked, before that.
        for i in sorted(range(count), key=lambda i: not isinstance(grads[i], RowGrad)):
            e, g = self.entries[i], grads[i]
            if isinstance(g, RowGrad) and e.rule.by_rows and e.decay is None:
                done[i] = e.update(MergeRows(g.height)(g.values, g.rows), lr, g.rows)
            else:
                done[i] = e.update(dense(g), lr)
                grads[i] = None
            if e.cohort is not None and id(e.cohort) not in shared:
                shared[id(e.cohort)] = {n: done[i][1].get(n, t) for n, t in e.cohort.states.items()}
        params: list[Tensor] = []
        states: list[Tensor] = []
        for e, g, (new, changed) in zip(self.entries, grads, done):
            old = {"": e.p, **e.state}
            changed = {"": new, **changed}
            if isinstance(g, RowGrad):
                old |= {n: ScatterRows()(t, g.rows, changed[n]) for n, t in old.items() if n in changed}
            else:
                old |= {n: changed[n] for n in old if n in changed}
            params.append(old.pop(""))
            states.extend(old.values())
        for c in self.cohorts:
            states.extend(shared[id(c)].values())
        return params + states
