"""The ResNet-18 of resnet18.py as an ONNX graph, and its inference in ONNX Runtime."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from . import Step


class _Graph:
    """Nodes and weights, one after the other; each method gives the name of its result."""

    def __init__(self) -> None:
        self.rng = np.random.default_rng(0)
        self.nodes: list[Any] = []
        self.weights: list[Any] = []

    def weight(self, value: np.ndarray) -> str:
        from onnx import numpy_helper

        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(value.astype("float32"), name))
        return name

    def node(self, operator: str, *inputs: str, **attributes: Any) -> str:
        from onnx import helper

        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, inputs, [name], **attributes))
        return name

    def convolution(self, x: str, inner: int, outer: int, size: int, stride: int) -> str:
        """Convolution and batch normalization."""
        kernel = self.rng.standard_normal((outer, inner, size, size)) * (2 / (inner * size * size)) ** 0.5
        x = self.node("Conv", x, self.weight(kernel), strides=[stride] * 2, pads=[size // 2] * 4)
        ones, zeros = (self.weight(np.full(outer, value)) for value in (1.0, 0.0))
        return self.node("BatchNormalization", x, ones, zeros, zeros, ones)

    def block(self, x: str, inner: int, outer: int, stride: int) -> str:
        y = self.node("Relu", self.convolution(x, inner, outer, 3, stride))
        y = self.convolution(y, outer, outer, 3, 1)
        if stride != 1 or inner != outer:
            x = self.convolution(x, inner, outer, 1, stride)
        return self.node("Relu", self.node("Add", y, x))


def model(batch: int, stages: tuple[tuple[int, int], ...]) -> bytes:
    """The file. Its input x is float32 [batch, 3, 224, 224], its output [batch, 1000]."""
    from onnx import TensorProto, helper

    g = _Graph()
    x = g.node("Relu", g.convolution("x", 3, 64, 7, 2))
    x = g.node("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    width = 64
    for outer, stride in stages:
        x = g.block(g.block(x, width, outer, stride), outer, outer, 1)
        width = outer
    x = g.node("Flatten", g.node("GlobalAveragePool", x))
    g.node("Gemm", x, g.weight(g.rng.standard_normal((512, 1000)) * 0.03), g.weight(np.zeros(1000)))
    value = lambda name, shape: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
    graph = helper.make_graph(
        g.nodes,
        "resnet18",
        [value("x", [batch, 3, 224, 224])],
        [value(g.nodes[-1].output[0], [batch, 1000])],
        g.weights,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9).SerializeToString()


def inference(x: np.ndarray, stages: tuple[tuple[int, int], ...]) -> Step:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = int(os.environ["OMP_NUM_THREADS"])
    session = onnxruntime.InferenceSession(model(len(x), stages), options, ["CPUExecutionProvider"])

    def step(i: int) -> float:
        return float(session.run(None, {"x": x})[0][0, 0])

    return step
