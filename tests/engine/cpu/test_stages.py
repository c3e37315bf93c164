"""The stages of a program, as they are shown."""

import xml.etree.ElementTree as xml

from paddle.engine import types
from paddle.engine.cpu import stages
from paddle.engine.ir import drawing
from paddle.engine.ir.graph import Graph
from paddle.engine.ops import elementwise as ew
from paddle.engine.ops.linalg import MatMul
from paddle.engine.ops.reduction import Sum


def program():
    """Sums of tanh(x @ w) * 2 * 1, and what takes the place of x."""
    graph = Graph("small")
    x, w = (graph.input(types.TensorType((64, 64), types.float32), name) for name in "xw")
    h = ew.tanh(MatMul(False, False)(x, w))
    for node in graph.nodes:
        node.line = ("a.py", 1)
    graph.outputs = [Sum((0,))(h * 2.0 * 1.0), ew.exp(x)]
    return stages.Stages(graph, (True, False))


def test_passes_kernels_and_places():
    made = program()
    names = lambda g: [n.op.name for n in g.nodes]
    assert names(made.recorded).count("multiply") == 2 and names(made.simplified).count("multiply") == 1
    assert [x.kind for x in made.launches][:1] == ["product"] and made.launches[0].line == ("a.py", 1)
    text = stages.kernels_text(made)
    assert text.startswith("0: product matmul: float32[64, 64], float32[64, 64] -> float32[64, 64]  # a.py:1")
    assert "tanh, multiply, sum" in text or "tanh" in text.split("\n")[1]
    memory = stages.memory_text(made)
    assert (
        memory.startswith(f"work area: {made.plan.arena:,} bytes")
        and "output 1, float32[64, 64]: written over" in memory
    )


def test_stays_do_not_overlap():
    found = stages.stays(program())
    assert found
    for i, a in enumerate(found):
        for b in found[:i]:
            together = a.first < b.last and b.first < a.last
            assert not together or a.offset + a.nbytes <= b.offset or b.offset + b.nbytes <= a.offset


def test_pictures_are_svg():
    made = program()
    drawn = stages.kernels_picture(made, "kernels", ["total"])
    assert any("→ total" in b.rows for b in drawn.boxes) and {b.kind for b in drawn.boxes} >= {
        "input",
        "product",
        "loop",
    }
    xml.fromstring(drawing.svg(drawn))
    xml.fromstring(stages.memory_svg(made, "a < b"))
    assert stages.kernels_picture(made, "", limit=1).note.startswith("the first 1 of")
    assert set(stages.kinds(made.simplified).values()) <= set(drawing.KINDS)


def test_sizes_with_units():
    assert [stages.size_text(n) for n in (0, 1023, 1536, 1 << 20, 300 << 20)] == [
        "0 B",
        "1023 B",
        "1.5 KiB",
        "1.0 MiB",
        "300 MiB",
    ]
