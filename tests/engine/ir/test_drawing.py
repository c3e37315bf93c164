"""Graphs as pictures."""

import xml.etree.ElementTree as xml

import numpy as np
import pytest

from paddle.engine import types
from paddle.engine.ir import arrange, drawing
from paddle.engine.ir.graph import Graph
from paddle.engine.ops import elementwise as ew
from paddle.engine.ops.reduction import Sum

F32 = types.float32


def chain(n):
    """n operations, made by lines of four each."""
    graph = Graph("chain")
    x = graph.input(types.TensorType((2, 3), F32), "x")
    for i in range(n):
        (x,) = graph.add(ew.tanh, [x], ("a <b>.py", 10 + i // 4))
    graph.outputs = [x]
    return graph


def small():
    graph = Graph("small")
    x, y = (graph.input(types.TensorType((2, 3), F32), name) for name in "xy")
    graph.outputs = [Sum((0,))(ew.tanh(x * y + 1.0)), y]
    return graph


def parse(text):
    root = xml.fromstring(text)
    found = {}
    for e in root.iter():
        found.setdefault(e.get("class", "").split(" ")[0], []).append(e)
    return root, found


def test_every_operation_has_a_box_and_every_use_a_line():
    drawn = drawing.picture(small(), "two & <three>", outputs=["total"])
    heads = [b.rows[0] for b in drawn.boxes]
    assert heads == ["x", "y", "multiply", "add(·, 1)", "tanh", "sum"]
    assert drawn.boxes[-1].rows[1:] == [" axes=(0,)", "float32[3]", "→ total"]
    assert drawn.boxes[1].rows[-1] == "→ output 1" and drawn.boxes[1].out
    assert set(drawn.edges) == {(0, 2), (1, 2), (2, 3), (3, 4), (4, 5)}
    root, found = parse(drawing.svg(drawn))
    assert len(found["box"]) == 6 and len(found["edge"]) == 5
    assert found["title"][0].text == "two & <three>"


def test_the_users_line_is_told():
    _, found = parse(drawing.svg(drawing.picture(chain(1))))
    box = found["box"][1]
    assert box.get("data-lines") == "a <b>.py:10" and "a <b>.py:10" in "".join(box.itertext())


def test_a_big_graph_is_folded_by_lines():
    drawn = drawing.picture(chain(40), limit=10)
    boxes = drawn.boxes[1:]
    assert [b.rows[:2] for b in boxes] == [["4 operations", "tanh ×4"]] * 10
    assert [b.lines for b in boxes] == [(("a <b>.py", 10 + i),) for i in range(10)]
    assert drawn.note.startswith("40 operations in 10 boxes") and drawn.note in drawing.svg(drawn).replace("&lt;", "<")
    assert len(drawing.picture(chain(40), limit=None).boxes) == 41 and not drawing.picture(chain(40)).note


@pytest.mark.parametrize("limit", [1, 3, 7, 12, 39])
def test_folding_keeps_order_and_bound(limit):
    nodes = chain(40).nodes
    groups = drawing.fold(nodes, limit)
    assert [n for g in groups for n in g] == nodes and len(groups) <= limit and all(groups)


def test_an_empty_graph():
    assert "nothing is computed here" in drawing.svg(drawing.picture(Graph("empty")))


def test_boxes_lie_apart_and_below_what_they_come_from():
    rng = np.random.default_rng(0)
    n = 60
    edges = [(int(rng.integers(max(0, i - 20), i)), i) for i in range(1, n) for _ in range(2)]
    sizes = [(float(rng.integers(30, 200)), float(rng.integers(20, 80))) for _ in range(n)]
    layout = arrange.lay_out(sizes, edges)
    for i in range(n):
        (x, y), (w, h) = layout.boxes[i], sizes[i]
        assert -1e-6 <= x and x + w <= layout.width + 1e-6 and 0 <= y and y + h <= layout.height + 1e-6
        for j in range(i):
            (u, v), (s, t) = layout.boxes[j], sizes[j]
            assert x + w <= u or u + s <= x or y + h <= v or v + t <= y, f"{i} lies on {j}"
    for (a, b), points in zip(edges, layout.lines):
        assert layout.boxes[a][1] + sizes[a][1] <= layout.boxes[b][1]
        assert points[0][1] == layout.boxes[a][1] + sizes[a][1] and points[-1][1] == layout.boxes[b][1]


def test_crossings_are_counted_and_removed():
    layers, below, above = [[0, 1], [2, 3]], [[3], [2], [], []], [[], [], [1], [0]]
    place = {0: 0, 1: 1, 2: 0, 3: 1}
    assert arrange.crossings(layers, below, place) == 1
    arrange.order(layers, above, below)
    assert arrange.crossings(layers, below, {i: k for layer in layers for k, i in enumerate(layer)}) == 0
