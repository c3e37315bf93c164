"""Families of programs: the same steps for inputs of other sizes, such as sentences of every length.

A program whose sizes are new is recorded step by step and planned like any other. Once a few have been that differ in
sizes only, a template takes their place: a copy of their part of the trie, and a plan of the first tier, both of which
are changed to the next new sizes as a whole, by rules learnt from the samples (see sizes.py). Nothing is left behind
for each size. Sizes that come again get a program of their own, which is compiled in time.

The walk checks what the user's program asks for, key by key, as in any other part of the trie: a program that takes
another way than its family leaves the template there. Result types are computed anew by the operators themselves.
"""

from __future__ import annotations

import weakref
from collections import Counter
from collections.abc import Iterable
from typing import Any

from .. import flags
from ..sizes import Fixed, Rule, Sizes, Unexplained, explained
from ..types import TensorType
from . import materialize, walk
from .materialize import Program, graph_of, path_to
from .trace import Trace, TrieNode, trie

SAMPLES = 4  # programs that a template is learnt from
statistics = {"templates": 0, "resized": 0}  # made so far, and how often one has taken new sizes
_MOST_NODES = 50_000
_MOST_TYPES = 10_000  # that are remembered


_families: "weakref.WeakSet[Family]" = weakref.WeakSet()
_before: set[str] = set()  # types that the process met which this one goes on with


def met() -> dict[str, int]:
    """The types that families have met, for `go_on` in another process: there they are recorded on their own."""
    return dict.fromkeys(_before.union(f"sizes {t!r}" for f in list(_families) for t in f.met), 1)


def go_on(names: Iterable[str]) -> None:
    """Goes on as the process would that `met` was called in: how often a program ran decides what tier it is in."""
    _before.clear()
    _before.update(n for n in names if n.startswith("sizes "))


class Family:
    """Leaves of one place in the trie with equal element type and number of axes, and what follows them.

    Attributes:
        samples: steps of leaves that were recorded one by one, by the form of what follows.
        fresh: those whose form is not known yet: the latest may be under way.
        templates: what new sizes take, by form; the one that took the last comes first.
        wanted: by form, how many samples there have to be before a template is made (again).
        met: all types that leaves have had.
    """

    __slots__ = ("samples", "fresh", "templates", "counts", "wanted", "met", "__weakref__")

    def __init__(self) -> None:
        self.met: set[TensorType] = set()
        _families.add(self)
        self.samples: dict[Any, list[TrieNode]] = {}
        self.fresh: list[TrieNode] = []
        self.templates: dict[Any, Template] = {}
        self.counts: Counter[Any] = Counter()
        self.wanted: dict[Any, int] = {}

    def meet(self, type_: TensorType) -> None:
        if len(self.met) > _MOST_TYPES:
            self.met.clear()
        self.met.add(type_)

    def learn(self, base: TrieNode) -> None:
        """Makes templates of new samples, where they allow it."""
        fresh, self.fresh = self.fresh, []
        forms = set()
        for node in fresh:
            form = form_of(node)
            if form is None:
                continue
            forms.add(form)
            known = self.samples.setdefault(form, [])
            known.append(node)
            del known[: -4 * SAMPLES]
            self.counts[form] += 1
        for form in forms:
            count = self.counts[form]
            if count < self.wanted.get(form, SAMPLES):
                continue
            before = self.templates.get(form)
            used = before is not None and before.used
            self.wanted[form] = count + max(2, count // 4) if used else 2 * count
            try:
                self.templates[form] = Template(base, spread(self.samples[form]))
            except Unexplained:
                continue
            if before is not None:
                before.leave()  # its sizes are known: they get a program of their own

    def take(self, type_: TensorType, key: Any) -> TrieNode | None:
        """The step for a leaf of this type, if a template takes it."""
        for form, template in self.templates.items():
            found = template.take(type_, key)
            if found is not None:
                self.meet(type_)
                if len(self.templates) > 1:
                    self.templates = {form: template, **self.templates}
                return found
        return None


def resized(trace: Trace, key: tuple[TensorType, int]) -> TrieNode | None:
    """The step for a leaf that is new at this place, if its family has a template for its sizes."""
    type_, kind = key
    base = trace.node
    families = base.families
    if kind == 1 or not type_.shape or type(families) is _Fixed:  # parameters do not change their sizes
        return None
    at = (type_.dtype, len(type_.shape), kind)
    family = families.get(at) if families is not None else None
    if family is None:
        leaves = [
            n for k, n in base.children.items() if type(k) is tuple and type(k[0]) is TensorType and k[1:] == (kind,)
        ]
        siblings = [n for n in leaves if (n.types[0].dtype, len(n.types[0].shape)) == at[:2]]
        if siblings:
            if base.families is None:
                base.families = {}
            family = base.families[at] = Family()
            family.fresh += siblings
            family.met.update(n.types[0] for n in siblings)
        return None
    if _before and f"sizes {type_!r}" in _before:
        return None
    if materialize.watcher is not None or flags.get("FLAGS_eager_compile") == "always":
        return None  # who watches is told of programs that are made
    if family.fresh:
        family.learn(base)
    return family.take(type_, key)


def note(base: TrieNode, node: TrieNode, key: tuple[TensorType, int]) -> None:
    """A leaf's step was added at a place, to be recorded from there on."""
    type_, kind = key
    family = base.families.get((type_.dtype, len(type_.shape), kind)) if base.families else None
    if family is not None:
        family.fresh.append(node)
        family.meet(type_)
        del family.fresh[: -4 * SAMPLES]


def form_of(root: TrieNode) -> Any:
    """What samples have in common from which one template is made; None where no program has run yet."""
    nodes, edges = flat(root)
    if not any(n.programs for n in nodes):
        return None
    return len(edges), hash(tuple((type(n.op), n.slot, n.sgs, a) for n, (a, _, _) in zip(nodes[1:], edges)))


def spread(samples: list[TrieNode]) -> list[TrieNode]:
    """Some whose sizes differ: along each axis all have the same size, or at least three sizes occur."""
    shape = lambda n: n.types[0].shape
    for axis in range(len(shape(samples[0]))):
        sizes = Counter(shape(n)[axis] for n in samples)
        usual, often = sizes.most_common(1)[0]
        if len(sizes) > 1 and 2 * often > len(samples):  # such as the last batch of a data set beside the others
            samples = [n for n in samples if shape(n)[axis] == usual]
    samples = sorted({n.types[0]: n for n in samples}.values(), key=lambda n: n.types[0].size)
    last = len(samples) - 1
    chosen = [samples[i] for i in sorted({i * last // (SAMPLES - 1) for i in range(SAMPLES)})]
    if len(chosen) < SAMPLES:
        raise Unexplained
    return chosen


class _Fixed(dict[Any, Any]):
    """Stands for the families at the steps of a template, where none begin."""


def flat(root: TrieNode) -> tuple[list[TrieNode], list[tuple[int, Any, int]]]:
    """All steps from one on, breadth first, and the ways between them: from, key, to."""
    nodes, edges = [root], []
    for i, node in enumerate(nodes):
        for key, child in node.children.items():
            edges.append((i, key, len(nodes)))
            nodes.append(child)
        if len(nodes) > _MOST_NODES:
            break
    return nodes, edges


def backward_of_records(key: Any) -> bool:
    """Whether a key is that of a backward of what an earlier program has computed (see tape.py)."""
    return type(key) is tuple and type(key[0]) is tuple and key[0][0] == "backward"


class Template:
    """A part of the trie that can be changed to other sizes.

    Args:
        base: where the family's leaves are entered.
        samples: steps of such leaves, recorded one by one.
    """

    def __init__(self, base: TrieNode, samples: list[TrieNode]):
        types = [n.types[0] for n in samples]
        self.base, self.usual = base, types[0]
        self.axes = [j for j, sizes in enumerate(zip(*(t.shape for t in types))) if len(set(sizes)) > 1]
        sizes = [self.sizes_of(t) for t in types]
        if not self.axes or any(len({s[j] for s in sizes}) < 3 for j in range(len(self.axes))):
            raise Unexplained
        self.low = tuple(min(s[j] for s in sizes) for j in range(len(self.axes)))
        self.high = tuple(max(s[j] for s in sizes) for j in range(len(self.axes)))
        if min(self.low) < 2:
            raise Unexplained  # axes of one element take other ways
        parts = [flat(n) for n in samples]
        if len({len(nodes) for nodes, _ in parts}) > 1 or len({len(edges) for _, edges in parts}) > 1:
            raise Unexplained
        self.takers: list[tuple[Rule, Any]] = []  # of backwards of earlier programs, by the rule of their keys
        self.nodes = [TrieNode(None, n.grad) for n in parts[0][0]]
        self._edges([edges for _, edges in parts], sizes)
        place = [{id(n): i for i, n in enumerate(nodes)} for nodes, _ in parts]
        self.steps: list[Any] = []
        self.outs: list[Any] = []
        for i, each in enumerate(zip(*(nodes for nodes, _ in parts))):
            self._node(self.nodes[i], list(each), place, sizes)
        self.key: Any = None
        self.known: list[Any] = []
        changing = {id(node) for node, *_ in self.steps}
        self.fixed: dict[int, TensorType] = {}
        for node in (*path_to(base), *(n for n in self.nodes if id(n) not in changing)):
            for i, t in enumerate(node.types):
                self.fixed[node.slot + i] = t
        self.seen: set[TensorType] = set(types)
        self.used = 0
        self.programs: list[Any] = []
        self.resize(self.high)
        self._programs(parts, sizes)
        trie.size += len(self.nodes)
        statistics["templates"] += 1

    def sizes_of(self, type_: TensorType) -> Sizes:
        return tuple(type_.shape[j] for j in self.axes)

    # -- learning --
    def _edges(self, samples: list[list[tuple[int, Any, int]]], sizes: list[Sizes]) -> None:
        """The ways from each step, with rules for their keys, and the steps from which a key changes."""
        self.children: list[list[tuple[Rule, int]]] = [[] for _ in self.nodes]
        changing = set()
        for each in zip(*samples):
            if len({(a, b) for a, _, b in each}) > 1:
                raise Unexplained
            rule = explained([key for _, key, _ in each], sizes)
            if type(rule) is not Fixed and backward_of_records(each[0][1]):
                takers = [walk.backwards.get(key[0]) for _, key, _ in each]
                if takers[0] is None or any(t != takers[0] for t in takers):
                    raise Unexplained
                self.takers.append((rule, takers[0]))
            start, _, to = each[0]
            self.children[start].append((rule, to))
            if type(rule) is not Fixed:
                changing.add(start)
        self.changing = sorted(changing)

    def _node(self, node: TrieNode, each: list[TrieNode], place: list[dict[int, int]], sizes: list[Sizes]) -> None:
        first = each[0]
        for name in ("grad", "slot", "next_slot", "sg", "sgs", "freed", "given"):
            value = getattr(first, name)
            if any(getattr(n, name) != value for n in each):
                raise Unexplained
            setattr(node, name, value)
        ends = {p.get(id(n.end)) for n, p in zip(each, place)}
        parents = {p.get(id(n.parent)) for n, p in zip(each, place)}
        if len(ends) > 1 or len(parents) > 1 or None in ends:
            raise Unexplained
        node.end = self.nodes[ends.pop()]  # type: ignore[index]
        parent = parents.pop()
        node.parent = self.base if parent is None else self.nodes[parent]
        node.line = first.line
        node.families = _Fixed()
        node.types, node.type = first.types, first.type
        refs = explained([n.refs for n in each], sizes)
        op = explained([n.op for n in each], sizes) if first.op is not None else None
        types = explained([n.types for n in each], sizes)
        node.refs, node.op = first.refs, first.op
        if any(type(rule) is not Fixed for rule in (refs, types, op) if rule is not None):
            self.steps.append((node, op, refs, None if first.op is not None else types))
        node.outs = first.outs
        outs = explained([n.outs for n in each], sizes)
        if type(outs) is not Fixed:
            self.outs.append((node, outs))

    def _programs(self, parts: list[Any], sizes: list[Sizes]) -> None:
        """A plan that can be resized for every flush that all samples had. The template has its largest sizes now."""
        from ..cpu.executor import Executor
        from ..cpu.resizable import Resizable

        for i, node in enumerate(self.nodes):
            each = [nodes[i] for nodes, _ in parts]
            if any(not n.programs for n in each):
                continue
            kept = {}
            for at, program in each[0].programs.items():
                others = [n.programs.get(at) for n in each]
                if not all(p is not None and isinstance(p.run, Executor) for p in others):
                    continue
                if any(p.leaves != program.leaves or p.made != program.made for p in others):
                    continue
                slots, donated = at
                graphs = [graph_of(path_to(n), slots)[0] for n in (*each, node)]
                mask = tuple(s in donated for s in program.leaves)
                run = Resizable(graphs, [*sizes, self.high], mask, self.leave)
                for g in graphs:
                    g.dispose()
                kept[at] = Program(program.leaves, run, (node, at), program.made)
            if kept:
                self.programs.append((node, kept))
        if not self.programs:
            raise Unexplained

    # -- another size --
    def take(self, type_: TensorType, key: Any) -> TrieNode | None:
        """The step for a leaf of this type, which the base leads to from then on; None if it has to be recorded."""
        usual = self.usual.shape
        if type_ in self.seen or any(n != usual[j] for j, n in enumerate(type_.shape) if j not in self.axes):
            return None
        sizes = self.sizes_of(type_)
        if any(not a <= n <= b for a, n, b in zip(self.low, sizes, self.high)):
            return None
        self.leave()
        try:
            self.resize(sizes)
        except (Unexplained, ValueError, TypeError, IndexError, AssertionError):
            return None
        if len(self.seen) > _MOST_TYPES:
            self.seen.clear()
        self.seen.add(type_)
        self.key = key
        statistics["resized"] += 1
        self.used += 1
        self.base.children[key] = self.nodes[0]
        return self.nodes[0]

    def leave(self) -> None:
        """From here on the sizes that the template has now are recorded on their own."""
        if self.key is not None:
            if self.base.children.get(self.key) is self.nodes[0]:
                del self.base.children[self.key]
            self.key = None

    def resize(self, sizes: Sizes) -> None:
        """Changes all types, operators and keys, and the plans. After Unexplained the template is not to be entered."""
        slots: dict[int, TensorType] = {}
        nodes, fixed = self.nodes, self.fixed
        takers = {rule(sizes)[0]: known for rule, known in self.takers}
        changed = []
        for node, op_rule, refs_rule, types_rule in self.steps:
            op, refs = node.op, node.refs
            if types_rule is not None:
                types = types_rule(sizes)
            else:
                if type(op_rule) is not Fixed:
                    op = op_rule(sizes)
                if type(refs_rule) is not Fixed:
                    refs = refs_rule(sizes)
                arguments = []
                for r in refs:
                    if type(r) is not int:
                        arguments.append(r.type)
                    else:
                        arguments.append(slots[r] if r in slots else fixed[r])
                types = op.infer_types(*arguments)
            slot = node.slot
            for t in types:
                slots[slot] = t
                slot += 1
            changed.append((node, op, refs, types))
        outs = [(node, rule(sizes)) for node, rule in self.outs]
        for _, out in outs:
            for spec in out:
                type_, slot = spec[1][:2] if type(spec[0]) is int else spec[:2]  # of a backward, or of other steps
                if (slots[slot] if slot in slots else fixed[slot]) is not type_:
                    raise Unexplained
        keys = [[(rule(sizes), nodes[b]) for rule, b in self.children[a]] for a in self.changing]
        for _, programs in self.programs:
            for (made, _), program in programs.items():
                if program.run.resize(sizes) != [(slots[s] if s in slots else fixed[s]).shape for s in made]:
                    raise Unexplained
        for key in self.known:
            walk.end_loan(key)
        for key, known in takers.items():
            walk.lend(key, known)
        self.known = list(takers)
        for node, op, refs, types in changed:
            node.op, node.refs, node.types, node.type = op, refs, types, types[0] if types else None
        for node, out in outs:
            node.outs = out
        for a, children in zip(self.changing, keys):
            nodes[a].children = dict(children)
        count = self.children
        for i, node in enumerate(nodes):
            if len(node.children) != len(count[i]):  # what was recorded beside the template had other sizes
                node.children = {rule(sizes): nodes[b] for rule, b in count[i]}
            node.programs = node.numbers = None
        for node, programs in self.programs:
            node.programs = dict(programs)
