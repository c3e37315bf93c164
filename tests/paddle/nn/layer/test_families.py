"""Layers that call a function: they pass on what they were given; containers; what their state holds."""

import numpy as np
import pytest

import paddle
from paddle import nn
from paddle.nn import functional as F

RNG = np.random.default_rng(9)


def tensor(*shape, low=-2.0, high=2.0):
    return paddle.to_tensor(RNG.uniform(low, high, shape).astype("float32"))


X = tensor(2, 4, 6, 6)
PAIRS = [
    (nn.ReLU(), F.relu), (nn.ReLU6(), F.relu6), (nn.GELU(True), lambda x: F.gelu(x, True)), (nn.Sigmoid(), F.sigmoid),
    (nn.Tanh(), F.tanh), (nn.Softmax(1), lambda x: F.softmax(x, 1)), (nn.LogSoftmax(1), lambda x: F.log_softmax(x, 1)),
    (nn.LeakyReLU(0.3), lambda x: F.leaky_relu(x, 0.3)), (nn.ELU(0.7), lambda x: F.elu(x, 0.7)),
    (nn.CELU(0.7), lambda x: F.celu(x, 0.7)), (nn.SELU(), F.selu), (nn.Hardsigmoid(), F.hardsigmoid),
    (nn.Hardswish(), F.hardswish), (nn.Hardtanh(-0.5, 0.7), lambda x: F.hardtanh(x, -0.5, 0.7)),
    (nn.Hardshrink(0.3), lambda x: F.hardshrink(x, 0.3)), (nn.Softshrink(0.3), lambda x: F.softshrink(x, 0.3)),
    (nn.Softplus(2.0, 1.0), lambda x: F.softplus(x, 2.0, 1.0)), (nn.Softsign(), F.softsign), (nn.Swish(), F.swish),
    (nn.Silu(), F.silu), (nn.Mish(), F.mish), (nn.Tanhshrink(), F.tanhshrink), (nn.LogSigmoid(), F.log_sigmoid),
    (nn.ThresholdedReLU(0.5, 0.1), lambda x: F.thresholded_relu(x, 0.5, 0.1)), (nn.GLU(1), lambda x: F.glu(x, 1)),
    (nn.Maxout(2), lambda x: F.maxout(x, 2)), (nn.Softmax2D(), lambda x: F.softmax(x, -3)),
    (nn.MaxPool2D(2, 1, 1), lambda x: F.max_pool2d(x, 2, 1, 1)), (nn.AvgPool2D(3, 2, 1), lambda x: F.avg_pool2d(x, 3, 2, 1)),  # noqa: E501
    (nn.AvgPool2D(3, 2, 1, exclusive=False), lambda x: F.avg_pool2d(x, 3, 2, 1, exclusive=False)),
    (nn.AdaptiveAvgPool2D([2, None]), lambda x: F.adaptive_avg_pool2d(x, [2, None])),
    (nn.AdaptiveMaxPool2D(3), lambda x: F.adaptive_max_pool2d(x, 3)),
    (nn.Pad2D([1, 0, 2, 1], "reflect"), lambda x: F.pad(x, [1, 0, 2, 1], "reflect")),
    (nn.ZeroPad2D(1), lambda x: F.pad(x, [1, 1, 1, 1])), (nn.PixelShuffle(2), lambda x: F.pixel_shuffle(x, 2)),
    (nn.PixelUnshuffle(2), lambda x: F.pixel_unshuffle(x, 2)), (nn.ChannelShuffle(2), lambda x: F.channel_shuffle(x, 2)),  # noqa: E501
    (nn.Upsample(scale_factor=2), lambda x: F.interpolate(x, scale_factor=2)),
    (nn.UpsamplingBilinear2D([9, 9]), lambda x: F.interpolate(x, [9, 9], mode="bilinear", align_corners=True)),
    (nn.Flatten(), lambda x: x.flatten(1)), (nn.Unflatten(1, [2, 2]), lambda x: x.unflatten(1, [2, 2])),
    (nn.Identity(3, a=4), lambda x: x), (nn.Unfold(2), lambda x: F.unfold(x, 2)),
    (nn.LocalResponseNorm(3), lambda x: F.local_response_norm(x, 3)),
]  # fmt: skip


@pytest.mark.parametrize("layer, function", PAIRS, ids=[repr(p[0]) for p in PAIRS])
def test_the_function_is_called(layer, function):
    np.testing.assert_array_equal(layer(X).numpy(), function(X).numpy())
    assert not layer.state_dict()


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_losses(reduction):
    x, y, p = tensor(4, 3), tensor(4, 3), tensor(4, 3, low=0.1, high=0.9)
    label = paddle.to_tensor([0, 2, 1, 1])
    sign = paddle.to_tensor([[1.0, -1.0, 1.0]] * 4)
    for layer, function, args in (
        (nn.CrossEntropyLoss(reduction=reduction, label_smoothing=0.1),
         lambda a, b: F.cross_entropy(a, b, reduction=reduction, label_smoothing=0.1), (x, label)),
        (nn.MSELoss(reduction), lambda a, b: F.mse_loss(a, b, reduction), (x, y)),
        (nn.L1Loss(reduction), lambda a, b: F.l1_loss(a, b, reduction), (x, y)),
        (nn.BCELoss(reduction=reduction), lambda a, b: F.binary_cross_entropy(a, b, reduction=reduction), (p, p)),
        (nn.BCEWithLogitsLoss(reduction=reduction),
         lambda a, b: F.binary_cross_entropy_with_logits(a, b, reduction=reduction), (x, p)),
        (nn.NLLLoss(reduction=reduction), lambda a, b: F.nll_loss(a, b, reduction=reduction), (x, label)),
        (nn.KLDivLoss(reduction), lambda a, b: F.kl_div(a, b, reduction), (x, p)),
        (nn.SmoothL1Loss(reduction, 0.5), lambda a, b: F.smooth_l1_loss(a, b, reduction, 0.5), (x, y)),
        (nn.HingeEmbeddingLoss(0.5, reduction), lambda a, b: F.hinge_embedding_loss(a, b, 0.5, reduction), (x, sign)),
        (nn.SoftMarginLoss(reduction), lambda a, b: F.soft_margin_loss(a, b, reduction), (x, sign)),
    ):  # fmt: skip
        np.testing.assert_array_equal(layer(*args).numpy(), function(*args).numpy(), err_msg=repr(layer))
    with pytest.raises(ValueError, match="reduction"):
        nn.CrossEntropyLoss(reduction="x")


@pytest.mark.parametrize("n", [1, 2, 3])
def test_convolutions(n):
    x = tensor(2, 4, *[7] * n)
    conv = getattr(nn, f"Conv{n}D")(4, 6, 3, stride=2, padding=1, groups=2)
    assert conv.weight.shape == [6, 2, *[3] * n] and conv.bias.shape == [6]
    expected = getattr(F, f"conv{n}d")(x, conv.weight, conv.bias, 2, 1, 1, 2)
    np.testing.assert_array_equal(conv(x).numpy(), expected.numpy())
    back = getattr(nn, f"Conv{n}DTranspose")(4, 6, 3, stride=2, padding=1)
    assert back.weight.shape == [4, 6, *[3] * n]
    assert back(x).shape == [2, 6, *[13] * n] and back(x, output_size=[14] * n).shape == [2, 6, *[14] * n]
    circular = getattr(nn, f"Conv{n}D")(4, 6, 3, padding=[1] * n, padding_mode="circular")
    padded = F.pad(x, [1] * (2 * n), mode="circular", data_format=circular._data_format)
    plain = getattr(F, f"conv{n}d")(padded, circular.weight, circular.bias)
    np.testing.assert_allclose(circular(x).numpy(), plain.numpy(), rtol=1e-5)


def test_arguments_of_convolutions_in_the_older_order():
    conv = nn.Conv2D(2, 3, 3, 1, 0, 1, 1, "zeros", None, False, "NHWC")
    assert conv.bias is None and conv._data_format == "NHWC"
    assert nn.Conv2D(2, 3, 3, bias=False).bias is None
    assert str(nn.Conv2D(2, 3, 3, dtype="float64").weight.dtype) == "paddle.float64"


@pytest.mark.parametrize("n, layer", [(3, nn.BatchNorm1D), (4, nn.BatchNorm2D), (5, nn.BatchNorm3D)])
def test_batch_norm(n, layer):
    x = tensor(3, 4, *[5] * (n - 2))
    norm = layer(4, momentum=0.8)
    y = norm(x).numpy()
    a = x.numpy()
    axes = (0, *range(2, n))
    mean, var = a.mean(axes), a.var(axes)
    shape = (1, 4, *[1] * (n - 2))
    np.testing.assert_allclose(y, (a - mean.reshape(shape)) / np.sqrt(var.reshape(shape) + 1e-5), rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(norm._mean.numpy(), 0.2 * mean, rtol=1e-4, atol=1e-6)
    norm.eval()
    z = (a - norm._mean.numpy().reshape(shape)) / np.sqrt(norm._variance.numpy().reshape(shape) + 1e-5)
    np.testing.assert_allclose(norm(x).numpy(), z, rtol=1e-4, atol=1e-4)
    assert list(norm.state_dict()) == ["weight", "bias", "_mean", "_variance"]
    with pytest.raises(ValueError, match="number of axes"):
        norm(tensor(2, 4, 2, 2, 2, 2))


def test_synchronized_batch_norm_takes_over_the_state():
    net = nn.Sequential(nn.Conv2D(3, 4, 1), nn.BatchNorm2D(4), nn.Sequential(nn.BatchNorm2D(4)))
    synced = nn.SyncBatchNorm.convert_sync_batchnorm(net)
    assert isinstance(synced[1], nn.SyncBatchNorm) and isinstance(synced[2][0], nn.SyncBatchNorm)
    assert synced[1](tensor(2, 4, 3, 3)).shape == [2, 4, 3, 3]


def test_other_norms():
    x = tensor(2, 4, 6)
    a = x.numpy()
    norm = nn.LayerNorm(6)
    expected = (a - a.mean(-1, keepdims=True)) / np.sqrt(a.var(-1, keepdims=True) + 1e-5)
    np.testing.assert_allclose(norm(x).numpy(), expected, rtol=1e-4, atol=1e-5)
    assert nn.LayerNorm([4, 6]).weight.shape == [24]
    assert nn.LayerNorm(6, 1e-5, False, False).weight is None and nn.LayerNorm(6, bias=False).bias is None
    np.testing.assert_array_equal(nn.GroupNorm(2, 4)(x).numpy(), F.group_norm(x, 2).numpy())
    assert nn.GroupNorm(2, 4, affine=False).weight is None
    np.testing.assert_allclose(nn.InstanceNorm1D(4)(x).numpy(), expected, rtol=1e-4, atol=1e-5)
    assert nn.InstanceNorm1D(4, weight_attr=False, bias_attr=False).scale is None
    w = tensor(3, 5)
    spectral = nn.SpectralNorm([3, 5], power_iters=30)
    np.testing.assert_allclose(np.linalg.norm(spectral(w).numpy(), 2), 1.0, rtol=1e-4)


def test_embedding():
    table = nn.Embedding(5, 3, padding_idx=-1)
    assert not table.weight.numpy()[4].any() and table.padding_idx == -1
    i = paddle.to_tensor([[0, 4], [2, 2]])
    np.testing.assert_array_equal(table(i).numpy(), table.weight.numpy()[i.numpy()])
    table(i).sum().backward()
    np.testing.assert_array_equal(table.weight.grad.numpy()[:, 0], [1, 0, 2, 0, 0])
    assert nn.Embedding(5, 3, _weight=paddle.ones([5, 3]), _freeze=True).weight.stop_gradient
    for bad in (lambda: nn.Embedding(0, 3), lambda: nn.Embedding(5, 3, padding_idx=5)):
        with pytest.raises(ValueError):
            bad()


def test_dropout():
    x = paddle.ones([100, 100])
    layer = nn.Dropout(0.25)
    y = layer(x).numpy()
    assert set(np.unique(y)) == {0.0, np.float32(1 / 0.75)} and abs((y == 0).mean() - 0.25) < 0.03
    layer.eval()
    np.testing.assert_array_equal(layer(x).numpy(), x.numpy())
    np.testing.assert_allclose(nn.Dropout(0.25, mode="downscale_in_infer").eval()(x).numpy(), 0.75)
    maps = nn.Dropout2D(0.5)(paddle.ones([8, 8, 3, 3])).numpy()
    assert (maps.reshape(64, -1).std(1) == 0).all()


def test_learned_slopes():
    layer = nn.PReLU(4, 0.1)
    x = tensor(2, 4, 3)
    a = x.numpy()
    np.testing.assert_allclose(layer(x).numpy(), np.where(a > 0, a, a * 0.1), rtol=1e-6)
    assert list(layer.state_dict()) == ["_weight"] and layer.weight is layer._weight


def test_pairs_of_inputs():
    a, b = tensor(3, 4), tensor(3, 4)
    np.testing.assert_array_equal(nn.CosineSimilarity()(a, b).numpy(), F.cosine_similarity(a, b).numpy())
    np.testing.assert_array_equal(nn.PairwiseDistance(1.0)(a, b).numpy(), F.pairwise_distance(a, b, 1.0).numpy())
    layer = nn.Bilinear(4, 4, 5)
    expected = np.einsum("ni,kij,nj->nk", a.numpy(), layer.weight.numpy(), b.numpy())
    np.testing.assert_allclose(layer(a, b).numpy(), expected, rtol=1e-4, atol=1e-5)


def test_many_classes():
    layer = nn.AdaptiveLogSoftmaxWithLoss(8, 20, [5, 10], div_value=2.0)
    x, label = tensor(6, 8), paddle.to_tensor([0, 4, 5, 9, 10, 19])
    out, loss = layer(x, label)
    logs = layer.log_prob(x).numpy()
    np.testing.assert_allclose(np.exp(logs).sum(1), 1.0, rtol=1e-4)
    np.testing.assert_allclose(out.numpy(), logs[np.arange(6), label.numpy()], rtol=1e-4)
    np.testing.assert_allclose(loss.item(), -out.numpy().mean(), rtol=1e-5)
    np.testing.assert_array_equal(layer.predict(x).numpy(), logs.argmax(1))


def test_sequential():
    net = nn.Sequential(("fc", nn.Linear(2, 3)), ("act", nn.ReLU()))
    assert net["fc"] is net[0] is net.fc and len(net) == 2 and net[-1] is net.act
    assert isinstance(net[:1], nn.Sequential) and len(net[:1]) == 1
    plain = nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 1))
    del plain[1]
    assert list(plain.state_dict()) == ["0.weight", "0.bias", "2.weight", "2.bias"]
    plain.append(nn.Tanh()).extend([nn.ReLU()]).insert(0, nn.Identity())
    assert [type(x).__name__ for x in plain] == ["Identity", "Linear", "Linear", "Tanh", "ReLU"]
    assert type(plain.pop(0)).__name__ == "Identity"
    with pytest.raises(IndexError):
        plain[9]
    assert len(nn.Sequential(nn.ReLU()) + nn.Sequential(nn.ReLU())) == 2
    assert len(nn.Sequential([nn.ReLU(), nn.Tanh()])) == 2


def test_lists_and_dictionaries():
    layers = nn.LayerList([nn.Linear(1, 1) for _ in range(3)])
    layers.append(nn.ReLU())
    layers.insert(1, nn.Tanh())
    layers.extend([nn.Identity()])
    assert [type(x).__name__ for x in layers] == ["Linear", "Tanh", "Linear", "Linear", "ReLU", "Identity"]
    del layers[0]
    assert isinstance(layers.pop(-1), nn.Identity) and len(layers) == 4 and isinstance(layers[-1], nn.ReLU)
    assert len(layers[1:3]) == 2 and len(layers.parameters()) == 4
    named = nn.LayerDict({"a": nn.ReLU()})
    named["b"] = nn.Linear(1, 1)
    named.update([("c", nn.Tanh())])
    assert list(named) == ["a", "b", "c"] and "a" in named and len(named) == 3
    named.pop("a")
    assert list(named.keys()) == ["b", "c"]
    params = nn.ParameterList([paddle.create_parameter([2], "float32")])
    params.append(paddle.create_parameter([3], "float32"))
    assert [p.shape for p in params] == [[2], [3]] and list(params.state_dict()) == ["0", "1"]
    table = nn.ParameterDict({"x": paddle.create_parameter([2], "float32")})
    assert list(table.items())[0][0] == "x" and table["x"].shape == [2]
    with pytest.raises(IndexError):
        layers[10]
    with pytest.raises(AssertionError):
        layers.insert(9, nn.ReLU())


def test_attributes_by_upstream_s_names():
    assert nn.MaxPool2D(2).ksize == 2
    assert nn.AvgPool2D(2, divisor_override=3).divisor == 3
    assert (nn.Pad2D(1).padding, nn.Pad2D(1, value=2.0).value) == ([1, 1, 1, 1], 2.0)
    assert repr(nn.SELU(1.1, 1.5)) == "SELU(scale=1.1000000000000001, alpha=1.5000000000000000)"
    assert repr(nn.UpsamplingNearest2D(3)) == "UpsamplingNearest2D(size=[3, 3], data_format=NCHW)"


def test_other_names_of_arguments():
    assert nn.MaxPool2D(3).ksize == 3 and nn.AvgPool2D(2, divisor_override=3).divisor == 3
    pool = nn.AdaptiveAvgPool2D(2)
    pool.output_size = 1
    assert pool._output_size == 1 and list(pool(paddle.ones([1, 1, 4, 4])).shape) == [1, 1, 1, 1]
    pad = nn.Pad2D(1, value=2.0)
    assert pad.padding == [1, 1, 1, 1] and pad.value == 2.0 and nn.GELU(name="g")._name == "g"


def test_sync_batch_norm_without_weight_has_a_fixed_one():
    layer = nn.SyncBatchNorm(2, weight_attr=False)
    assert layer.weight.stop_gradient and layer.weight.tolist() == [1.0, 1.0] and "weight" in layer.state_dict()
