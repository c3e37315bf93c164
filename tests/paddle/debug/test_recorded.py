"""What a function records, shown."""

import re
import xml.etree.ElementTree as xml
from html.parser import HTMLParser

import numpy as np
import pytest

import paddle
from paddle import debug, nn
from paddle.engine.eager import materialize
from paddle.engine.ir.verifier import verify


def training():
    net = nn.Sequential(nn.Linear(6, 4), nn.ReLU(), nn.Linear(4, 3))
    opt = paddle.optimizer.Momentum(0.1, parameters=net.parameters())

    def step(x, y):
        loss = nn.functional.cross_entropy(net(x), y)
        loss.backward()
        opt.step()
        opt.clear_grad()
        return loss

    x, y = paddle.rand([5, 6]), paddle.to_tensor(np.arange(5) % 3)
    step(x, y).numpy()
    return net, step, x, y


def test_a_training_step_runs_and_shows_names():
    net, step, x, y = training()
    before = net[0].weight.numpy()
    g = debug.capture(step, x, y)
    assert float(g.result) > 0 and not np.array_equal(before, net[0].weight.numpy())
    (program,) = g.programs
    verify(program.graph)
    names = {v.name for v in program.graph.inputs}
    assert {"x", "y", "learning_rate", net[0].weight.name, net[2].bias.name} <= names and "" not in names
    assert "returned" in program.outputs and net[0].weight.name in program.outputs
    text = str(g)
    assert f"%{net[0].weight.name}: float32[6, 4]" in text and "test_recorded.py:" in text
    assert materialize.watcher is None


def test_training_goes_on_as_without():
    values = []
    for seen in (False, True):
        paddle.seed(3)
        net, step, x, y = training()
        for _ in range(3):
            debug.capture(step, x, y) if seen else step(x, y)
        values.append([p.numpy() for p in net.parameters()])
    for a, b in zip(*values):
        np.testing.assert_array_equal(a, b)


def test_values_read_in_between_make_several_programs():
    def f(x):
        if float(x.sum()) > 0:
            return x * 2
        return x

    g = debug.capture(f, paddle.ones([3]))
    assert [p.title for p in g.programs] == ["f, program 1 of 2", "f, program 2 of 2"]
    assert str(g).count("graph eager(") == 2 and g.result.tolist() == [2.0] * 3


def test_what_is_saved_for_backward_is_told():
    fc = nn.Linear(3, 3)
    g = debug.capture(lambda x: paddle.tanh(fc(x)).exp(), paddle.ones([2, 3]))
    assert sorted(g.programs[0].outputs) == ["returned", "saved for backward"]


def test_a_function_that_records_nothing():
    with pytest.raises(RuntimeError, match="nothing was recorded"):
        debug.capture(lambda: 3)
    with pytest.raises(ZeroDivisionError):
        debug.capture(lambda: 1 / 0)
    assert materialize.watcher is None


def test_the_graph_behind_a_deferred_tensor_does_not_run():
    x = paddle.ones([2])
    y = paddle.exp(x)
    g = debug.graph(y, y + 1)
    assert y.buffer is None
    assert [n.op.name for n in g.programs[0].graph.nodes if n.inputs] == ["exp", "add"]
    assert len(g.programs[0].graph.outputs) == 2


def test_the_graph_of_a_computed_tensor_is_that_of_its_record():
    w = paddle.create_parameter([3], "float32")
    y = (paddle.exp(w) * 2).sum()
    y.numpy()
    g = debug.graph(y).programs[0].graph
    verify(g)
    assert [n.op.name for n in g.nodes if n.inputs] == ["exp", "multiply", "sum"]
    assert g.inputs[0].name == w.name
    y.backward()
    assert debug.graph(y).programs[0].graph.inputs[0].name == "freed"


def test_bad_arguments_of_graph():
    x = paddle.to_tensor([1.0])
    with pytest.raises(RuntimeError, match="has its value"):
        debug.graph(x)
    with pytest.raises(TypeError, match="argument 0 is not a Tensor"):
        debug.graph(len)
    with pytest.raises(ValueError, match="no Tensor"):
        debug.graph()


STAGES = ["recorded", "written out", "simplified", "laid out", "kernels", "memory"]


def test_every_stage_as_text_and_picture(tmp_path):
    _, step, x, y = training()
    g = debug.capture(step, x, y)
    for stage in STAGES:
        assert g.text(stage)
        path = tmp_path / "g.svg"
        assert g.svg(path, stage) == path.read_text(encoding="utf-8")
        assert xml.parse(path).getroot().tag.endswith("svg")
    with pytest.raises(ValueError, match="there is no such stage"):
        g.svg(stage="linked")
    assert len(g.text("kernels").splitlines()) < len(g.programs[0].graph.nodes)


class Page(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.loads = [], []

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.loads += [v for k, v in attributes if k in ("src", "href")]


def test_the_page_holds_everything(tmp_path):
    _, step, x, y = training()
    text = debug.capture(step, x, y).html(tmp_path / "g.html")
    page = Page()
    page.feed(text)
    assert page.tags.count("figure") == page.tags.count("svg") == 6 and not page.loads
    assert "loss.backward()" in text and "opt.step()" in text  # the user's lines, with their text
    assert re.search(r"\d+ operations → \d+: ", text)


def test_a_big_program_is_folded():
    def many(x):
        for _ in range(100):
            x = paddle.tanh(x)
            x = x * 1.5
        return x

    g = debug.capture(many, paddle.ones([2]))
    svg = g.svg(limit=20)
    assert "200 operations in 20 boxes" in svg and svg.count('class="box') == 21
    assert g.svg(limit=None).count('class="box') == 201


def test_what_a_recurrent_layer_repeats_is_shown():
    lstm = nn.LSTM(3, 4)
    g = debug.capture(lambda x: lstm(x)[0], paddle.rand([2, 5, 3]))
    assert "graph step(" in str(g)
    assert re.search(r"(?m)^  \d+\.0: product matmul: ", g.text("kernels"))
    assert "each step:" in g.svg() and "each step:" in g.svg(stage="kernels")


def test_debug_is_imported_when_it_is_named():
    import subprocess
    import sys

    code = "import sys, paddle; print('paddle.debug' in sys.modules, paddle.debug.graph is not None)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]
    with pytest.raises(AttributeError, match="no attribute 'debugg'"):
        _ = paddle.debugg
