"""Programs as text: what eager code records, what simplification leaves, and what each kernel computes.

A change in fusion, in the memory plan or in a gradient rule shows here as a diff. `--update-snapshots` accepts it.
"""

import numpy as np
import pytest

import paddle
from paddle import nn
from paddle.engine import flags
from paddle.engine.cpu import compiler, jit
from paddle.engine.cpu.lower import AliasStep, HostStep, LoopStep, steps_of
from paddle.engine.cpu.plan import MemoryPlan, split
from paddle.engine.cpu.split import split as split_steps
from paddle.engine.cpu.steps import GroupStep
from paddle.engine.eager import materialize
from paddle.engine.eager.trace import trie
from paddle.engine.ir.printer import text
from paddle.engine.ops.number import Constant

pytestmark = pytest.mark.skipif(not jit.is_x86(), reason="snapshots are of code generation for AVX2")


def draw(*shape):
    return paddle.to_tensor(np.random.default_rng(0).normal(size=shape).astype("float32"))


def mlp_step():
    """One step of training 784-128-10 with Adam, and its loss."""
    net = nn.Sequential(nn.Linear(784, 128), nn.ReLU(), nn.Linear(128, 10))
    optimizer = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
    x, label = draw(64, 784), paddle.to_tensor(np.arange(64) % 10)

    def step():
        loss = nn.functional.cross_entropy(net(x), label)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        return loss

    return step


def layer_norm():
    """A layer norm with its gradients."""
    x, norm = draw(32, 96), nn.LayerNorm(96)
    x.stop_gradient = False

    def step():
        norm.clear_gradients()
        x.clear_gradient()
        out = norm(x)
        (out * out).sum().backward()
        return out, x.grad, norm.weight.grad, norm.bias.grad

    return step


def conv_block():
    """Convolution, batch norm in training, ReLU, pooling, with the gradient of the weights."""
    net = nn.Sequential(nn.Conv2D(3, 16, 3, padding=1, bias_attr=False), nn.BatchNorm2D(16), nn.ReLU(), nn.MaxPool2D(2))
    x = draw(4, 3, 16, 16)

    def step():
        net.clear_gradients()
        out = net(x)
        out.mean().backward()
        return out, net[0].weight.grad

    return step


@pytest.fixture
def recorded(monkeypatch):
    """Graphs that flushes make, with which inputs they may overwrite."""
    seen = []

    def spy(graph, donated, again=None, lasting=()):
        seen.append((graph, donated))
        return materialize.Reference(graph)

    before = flags.get("FLAGS_cpu_features")
    flags.set_("FLAGS_cpu_features", "avx2")
    monkeypatch.setattr(materialize, "backend", spy)
    trie.clear()
    yield seen
    trie.clear()  # programs that run by their meaning do not outlive this test
    flags.set_("FLAGS_cpu_features", before)


def values(out):
    return [t.numpy() for t in (out if isinstance(out, tuple) else (out,))]


@pytest.mark.parametrize("case", [mlp_step, layer_norm, conv_block], ids=lambda f: f.__name__)
def test_program(case, recorded, snapshot):
    paddle.seed(0)
    step = case()
    for _ in range(3):  # state comes into being in the first step, gradients are one trie step from the second on
        values(step())
    graph, donated = next(r for r in reversed(recorded) if len(r[0].nodes) > 4)
    simplified = compiler.prepare(graph, True)
    parts = [case.__doc__, "# recorded", text(graph, lines=False), "# simplified", text(simplified, lines=False)]
    snapshot(f"{case.__name__}.txt", "\n\n".join([*parts, "# kernels", kernels(simplified, donated)]) + "\n")


def kernels(graph, donated):
    """One line for each launch of the compiled tier: what it computes, from what, and how it is divided."""
    steps = split_steps(graph, steps_of(graph))
    plan = MemoryPlan(graph, steps, donated)
    lines = []

    def tell(i, s, indent):
        kind = "host" if isinstance(s, HostStep) else "loops" if isinstance(s, LoopStep) else "product"
        size = ""
        if isinstance(s, LoopStep):
            total, grain = split(compiler.loop_kernel(s, plan, i), {})
            size = f" in {total} units, {grain} a task"
        reads, writes = (", ".join(str(v.type) for v in vs) for vs in (s.inputs, s.outputs))
        lines.append(f"{indent}{kind} {' '.join(operators(graph, s))}: {reads} -> {writes}{size}")

    launches = [(i, s) for i, s in enumerate(steps) if not isinstance(s, AliasStep)]
    for i, s in launches:
        if isinstance(s, GroupStep):
            lines.append(f"{len(s.members)} kernels in one launch:")
        for member in s.members if isinstance(s, GroupStep) else [s]:
            tell(i, member, "  " if member is not s else "")
    lines.append(
        f"{len(launches)} launches, arena {plan.arena} bytes, {len(plan.taken)} outputs take the place of inputs"
    )
    return "\n".join(lines)


def operators(graph, step):
    """Names of all that is computed inside a step, in order."""
    if any(v.node is not None and v.node is step.outputs[0].node for v in step.inputs):
        return ["(sum of its parts)"]
    inside, todo = set(), list(step.outputs)
    while todo:
        v = todo.pop()
        if v.node is not None and v.node not in inside and v not in step.inputs:
            inside.add(v.node)
            todo += v.node.inputs
    return [n.op.name for n in graph.nodes if n in inside and not isinstance(n.op, Constant)]
