import numpy as np
import pytest

import paddle
from paddle import nn


class Two(nn.Layer):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(2, 3)
        self.b = nn.Sequential(nn.Linear(3, 3), nn.ReLU())
        self.a.weight.stop_gradient = True

    def forward(self, x, y):
        return self.b(self.a(x)), y


def test_counts_parameters_and_buffers(capsys):
    net = nn.Sequential(nn.Conv2D(1, 2, 3), nn.BatchNorm2D(2), nn.Flatten(), nn.Linear(18, 2))
    assert paddle.summary(net, (1, 1, 5, 5)) == {"total_params": 66, "trainable_params": 62}
    text = capsys.readouterr().out
    assert "Conv2D-1" in text and "[1, 2, 3, 3]" in text and "66" in text


def test_several_inputs_by_shape_or_as_they_are(capsys):
    net = Two()
    expected = {"total_params": 21, "trainable_params": 15}
    assert paddle.summary(net, [(1, 2), (1, 3)]) == expected
    assert paddle.summary(net, input=(paddle.ones([1, 2]), paddle.ones([1, 2]))) == expected
    assert paddle.summary(net, input={"x": paddle.ones([1, 2]), "y": paddle.ones([1])}) == expected
    assert net.training and not net.a._forward_post_hooks


def test_open_sizes_and_specs(capsys):
    for size in ((-1, 2), (None, 2), paddle.static.InputSpec([None, 2]), [1, 2]):
        assert paddle.summary(nn.Linear(2, 2), size)["total_params"] == 6


def test_summary_rejects():
    with pytest.raises(ValueError, match="neither"):
        paddle.summary(nn.Linear(2, 2))
    with pytest.raises(TypeError):
        paddle.summary(nn.Linear(2, 2), "x")


def test_multiply_adds(capsys):
    net = nn.Sequential(nn.Conv2D(1, 2, 3), nn.BatchNorm2D(2), nn.ReLU(), nn.Flatten(), nn.Linear(18, 2))
    # 18 outputs of 9 products and a bias, two per normalized element, one per activation, 36 products
    assert paddle.flops(net, [1, 1, 5, 5]) == 18 * 10 + 2 * 18 + 18 + 36
    wrapped = nn.Sequential(nn.Linear(4, 2))
    assert paddle.flops(wrapped, [3, 4], print_detail=True) == 24 and paddle.flops(nn.Linear(4, 2), [3, 4]) == 0
    assert "24" in capsys.readouterr().out


def test_rules_of_the_user_and_layers_without_one(capsys):
    class Odd(nn.Layer):
        def forward(self, x):
            return x

    assert paddle.flops(nn.Sequential(Odd(), nn.Linear(4, 2)), [1, 4]) == 8
    assert "no rule for Odd" in capsys.readouterr().out
    assert paddle.flops(nn.Sequential(Odd()), [1, 4], custom_ops={Odd: lambda layer, x, y: 7}) == 7
    with pytest.raises(TypeError):
        paddle.flops(3, [1])


def test_counts_of_summary_are_numpy_integers(capsys):
    found = paddle.summary(nn.Sequential(nn.Linear(4, 3), nn.Linear(3, 2)), (1, 4))
    assert {k: (v, type(v)) for k, v in found.items()} == {
        "total_params": (23, np.int64),
        "trainable_params": (23, np.int64),
    }
