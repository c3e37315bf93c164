"""Programs around convolutions: channels come last in memory, and nothing else changes."""

import numpy as np
import pytest

import paddle
from paddle import nn
from paddle.engine.cpu.layout import channels_last, orders, same_but_for_units, through_reshape, turn_weights
from paddle.engine.ir.graph import Graph
from paddle.engine.ops.convolution import Conv
from paddle.engine.ops.elementwise import add
from paddle.engine.ops.recurrence import typed
from paddle.engine.ops.reduction import sum_
from paddle.engine.ops.shape import reshape, transpose


def test_unit_axes_do_not_matter():
    assert same_but_for_units((2, 1, 3), (2, 3)) and not same_but_for_units((2, 3), (3, 2))
    assert through_reshape((2, 1, 32, 5, 6), (2, 32, 5, 6), (0, 3, 4, 1, 2)) == (0, 2, 3, 1)
    assert through_reshape((2, 32, 1, 1), (2, 32), (0, 2, 3, 1)) == (0, 1)


def convolved(channels):
    graph = Graph("g")
    x, w = (graph.input(t) for t in typed((2, 1, 3, 8, 8), (1, channels, 3, 3, 3)))
    (y,) = graph.add(Conv((1, 1), (1, 1)), (x, w))
    return graph, y


def test_few_channels_stay_as_they_are():
    assert channels_last(convolved(31)[1]) is None
    assert channels_last(convolved(32)[1]) == (0, 3, 4, 1, 2)


@pytest.mark.parametrize(
    ("after", "places"),
    [
        (lambda y: y, []),
        (lambda y: sum_(add(y, y), (3, 4)), [(0, 3, 4, 1, 2)] * 2),
        (
            lambda y: reshape(add(y, y), (2, 32 * 36)),
            [(0, 3, 4, 1, 2)],
        ),  # what mixes axes reads them in their own order
        (lambda y: sum_(transpose(y, (0, 3, 4, 1, 2)), (1, 2)), [(0, 3, 4, 1, 2)]),  # turned, it lies in its own order
    ],
)
def test_what_others_read_lies_as_its_shape_says(after, places):
    graph, y = convolved(32)
    graph.outputs = [after(y)]
    assert list(orders(graph)[0].values()) == places


def test_a_kernel_from_outside_is_copied_and_lies_with_its_output_channels_last():
    graph, y = convolved(32)
    graph.outputs = [sum_(y, (3, 4))]
    turned = turn_weights(graph)
    copy = next(n for n in turned.nodes if n.op.name == "copy").outputs[0]
    found, kept = orders(turned)
    assert found[copy] == (3, 4, 2, 0, 1) and copy in kept


def net(kind):
    if kind == "plain":
        return nn.Sequential(
            nn.Conv2D(3, 40, 3, padding=1, bias_attr=False), nn.BatchNorm2D(40), nn.ReLU(), nn.MaxPool2D(3, 2, 1),
            nn.Conv2D(40, 48, 3, stride=2, padding=1), nn.Hardswish(), nn.Conv2D(48, 33, 1), nn.AdaptiveAvgPool2D(1),
        )  # fmt: skip
    if kind == "groups":
        return nn.Sequential(
            nn.Conv2D(3, 32, 3), nn.Conv2D(32, 32, 3, groups=32), nn.ReLU(), nn.Conv2D(32, 64, 3, groups=2, dilation=2)
        )
    if kind == "transposed":
        return nn.Sequential(
            nn.Conv2DTranspose(3, 32, 3, stride=2), nn.LeakyReLU(), nn.Conv2DTranspose(32, 40, 2, stride=2, groups=2)
        )
    if kind == "line":
        return nn.Sequential(nn.Flatten(2), nn.Conv1D(3, 32, 5, stride=3), nn.ELU(), nn.Conv1D(32, 35, 3))
    return nn.Sequential(nn.Conv2D(3, 32, 3), nn.AvgPool2D(2), nn.Conv2D(32, 96, 3), nn.PixelShuffle(4), nn.Pad2D(1))


@pytest.mark.parametrize("kind", ["plain", "groups", "transposed", "line", "shuffle"])
def test_training_gives_what_the_meaning_gives(kind):
    x = np.random.default_rng(0).standard_normal((2, 3, 14, 17)).astype("float32")
    found = []
    before = paddle.get_flags(["FLAGS_reference", "FLAGS_eager_compile"])
    for flags in ({"FLAGS_reference": True}, {"FLAGS_reference": False, "FLAGS_eager_compile": "always"}):
        paddle.set_flags(flags)
        paddle.seed(1)
        model = net(kind)
        optimizer = paddle.optimizer.SGD(0.01, parameters=model.parameters())
        losses = []
        for _ in range(2):
            out = model(paddle.to_tensor(x))
            loss = (out * out).mean() + (out * paddle.arange(out.shape[-1], dtype="float32")).mean()
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
            losses.append(float(loss))
        found.append([losses, *(p.numpy() for p in model.parameters())])
        paddle.set_flags(before)
    for got, want in zip(*found):
        np.testing.assert_allclose(got, want, 2e-4, 2e-5)
