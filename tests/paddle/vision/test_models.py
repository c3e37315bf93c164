"""Names, shapes and outputs are those of PaddlePaddle 3.3.1.

FACTS: per network the entries of its state_dict, the elements of its parameters, and the first 16 hexadecimal digits
of the SHA-256 of the sorted lines "name:[shape]". OUTPUTS: see `test_outputs`.
"""

import hashlib
import importlib
import zlib

import numpy as np
import pytest

import paddle
from paddle import nn
from paddle.vision import models

FACTS = """
resnet18 102 11699112 55026671c7aca2bf
resnet34 182 21814696 8912f94ada292150
resnet50 267 25610152 fed804a6391d24f5
resnet101 522 44654504 a5de49c9a61045db
resnet152 777 60344232 752b0d22fd8eac1a
resnext50_32x4d 267 25097128 9af6c33491290d11
resnext50_64x4d 267 45290920 cf09e66186f6c8d4
resnext101_32x4d 522 44315560 7745d786b8772350
resnext101_64x4d 522 83658152 900f0b1064f9dc3d
resnext152_32x4d 777 60150696 7b5e72e2765d5bda
resnext152_64x4d 777 115266984 9eac827aa58f2761
wide_resnet50_2 267 68951464 a4ae65ad4c0c6681
wide_resnet101_2 522 127024552 e5a036730938da4c
vgg11 22 132863336 38de79586e22ee98
vgg11_bn 54 132874344 7ad20ad3eb14566d
vgg13 26 133047848 6e629b6028418793
vgg13_bn 66 133059624 0a6eac28fbbc1f2e
vgg16 32 138357544 56baef7657adf5f4
vgg16_bn 84 138374440 a52f36e3dbe947b8
vgg19 38 143667240 4e33b9bcfea700c3
vgg19_bn 102 143689256 afb8d498f439db14
mobilenet_v1 137 4253864 67d9c481eacfd1f1
mobilenet_v2 262 3538984 4340bfebeeebd375
mobilenet_v3_small 210 2554968 cf7fe3df0768c119
mobilenet_v3_large 266 5507432 784660a03ca572ad
densenet121 606 8062504 0122101cc1076633
densenet161 806 28900936 c7486b0d7ef88206
densenet169 846 14307880 9fcef2aa012727f0
densenet201 1006 20242984 b31191363ecbfc1b
densenet264 1326 33736232 001b2ac0f26b4c93
alexnet 16 61100840 db760301f3606cfa
inception_v3 472 23869000 90cadbcaaa2fb78b
squeezenet1_0 52 1248424 b4ebf99d9a0e01a2
squeezenet1_1 52 1235496 80eb527c58200cf7
googlenet 69 11535736 6100eb81517360f2
shufflenet_v2_x0_25 282 607712 aa52acded9d44afa
shufflenet_v2_x0_33 282 652264 03f4765d6d606b64
shufflenet_v2_x0_5 282 1374744 8af33144727e87a0
shufflenet_v2_x1_0 282 2294784 db71b6735a0e0eae
shufflenet_v2_x1_5 282 3527064 7dca271152d24cb9
shufflenet_v2_x2_0 282 7399952 51c64be7542f7fef
shufflenet_v2_swish 282 2294784 db71b6735a0e0eae
"""
VARIANTS = [
    ("mobilenet_v1", {"scale": 0.5, "num_classes": 10}, (137, 834666, "ac0839fdc577b89a")),
    ("mobilenet_v2", {"scale": 0.35, "with_pool": False, "num_classes": 0}, (260, 410208, "fb1ed6e082455e67")),
    ("mobilenet_v3_small", {"scale": 0.5}, (210, 923408, "f22cea6c3340c202")),
    ("mobilenet_v3_large", {"scale": 0.75, "num_classes": 0}, (262, 1742832, "415cc6185a517768")),
    ("resnet18", {"num_classes": 0}, (100, 11186112, "96b9d8820f303fe0")),
    ("vgg11", {"num_classes": 0, "with_pool": False}, (16, 9220480, "fe44f8fc0b33c897")),
    ("googlenet", {"num_classes": 0}, (57, 5966272, "83ea044f78087cec")),
    ("densenet121", {"num_classes": 0}, (604, 7037504, "3232f3d7456b6df8")),
    ("inception_v3", {"num_classes": 0}, (470, 21820000, "5199f19cbf467552")),
    ("squeezenet1_1", {"num_classes": 0}, (52, 722496, "034274908f8901b7")),
    ("shufflenet_v2_x0_5", {"num_classes": 0}, (280, 349744, "1ad708a9580cc1d2")),
    ("resnet50", {"width": 32, "groups": 2}, (267, 19951528, "cb58979909dff2f6")),
    ("alexnet", {"num_classes": 0}, (10, 2469696, "079589ab5dc5e4aa")),
]
# of the weights of `fill` and the images of `images`: the first output in evaluation and in training, without dropout
OUTPUTS = [
    ("squeezenet1_1", {"num_classes": 5},
     [0.147257, 0.091893, 3.177134, 3.813243, 0.024558], [0.147257, 0.091893, 3.177134, 3.813243, 0.024558]),
    ("shufflenet_v2_x0_25", {"num_classes": 5},
     [133.002487, -221.412552, 411.403717, -816.872192, 1056.300659],
     [0.374344, 0.451662, 0.419859, -0.571291, 1.351852]),
    ("mobilenet_v3_small", {"num_classes": 5, "scale": 0.35},
     [0.104784, 0.159635, 1.439652, -0.15208, -0.405455], [0.105055, 0.589854, 0.364807, -0.128322, -0.07469]),
]  # fmt: skip


def facts(net):
    state = net.state_dict()
    lines = sorted(f"{name}:{list(t.shape)}" for name, t in state.items())
    digest = hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]
    return len(state), sum(p.size for p in net.parameters()), digest


def fill(net):
    """Weights that follow from their names; those of products keep the scale of what passes through."""
    values = {}
    for name, t in net.state_dict().items():
        rng, shape = np.random.RandomState(zlib.crc32(name.encode()) % 2**31), list(t.shape)
        if len(shape) > 1:
            a = rng.normal(size=shape) * np.sqrt(2 / (np.prod(shape[1:]) if len(shape) > 2 else shape[0]))
        elif name.endswith(("_variance", "weight")):
            a = rng.uniform(0.5, 1.5, shape)
        else:
            a = rng.normal(size=shape) * 0.1
        values[name] = a.astype("float32")
    net.set_state_dict(values)
    for layer in net.sublayers():
        if isinstance(layer, nn.Dropout):
            layer.p = 0.0


def images():
    return paddle.to_tensor(np.random.RandomState(5).normal(size=(2, 3, 64, 64)).astype("float32"))


@pytest.mark.parametrize("row", FACTS.split("\n")[1:-1], ids=lambda row: row.split()[0])
def test_names_and_shapes(row):
    name, entries, elements, digest = row.split()
    make = getattr(models, name.removesuffix("_bn"))
    with paddle.LazyGuard():
        net = make(batch_norm=True) if name.endswith("_bn") else make()
    assert facts(net) == (int(entries), int(elements), digest)


@pytest.mark.parametrize(("name", "settings", "expected"), VARIANTS, ids=lambda v: v if isinstance(v, str) else "")
def test_names_and_shapes_of_variants(name, settings, expected):
    with paddle.LazyGuard():
        assert facts(getattr(models, name)(**settings)) == expected


@pytest.mark.parametrize(("name", "settings", "evaluated", "trained"), OUTPUTS, ids=[o[0] for o in OUTPUTS])
def test_outputs(name, settings, evaluated, trained):
    net = getattr(models, name)(**settings)
    fill(net)
    net.eval()
    np.testing.assert_allclose(net(images())[0].numpy(), evaluated, rtol=1e-4, atol=1e-4)
    net.train()
    np.testing.assert_allclose(net(images())[0].numpy(), trained, rtol=1e-3, atol=1e-3)


def test_a_network_learns():
    net = models.resnet18(num_classes=2)
    optimizer = paddle.optimizer.Momentum(0.01, parameters=net.parameters())
    x, y = images()[:, :, :32, :32], paddle.to_tensor([0, 1])
    losses = []
    for _ in range(4):
        loss = nn.functional.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        losses.append(float(loss))
    assert losses[-1] < losses[0]
    assert abs(net.bn1._mean.numpy()).max() > 0


def test_lenet_has_upstreams_names_and_shapes():
    state = {name: list(v.shape) for name, v in models.LeNet().state_dict().items()}
    assert state == {
        "features.0.weight": [6, 1, 3, 3], "features.0.bias": [6],
        "features.3.weight": [16, 6, 5, 5], "features.3.bias": [16],
        "fc.0.weight": [400, 120], "fc.0.bias": [120], "fc.1.weight": [120, 84], "fc.1.bias": [84],
        "fc.2.weight": [84, 10], "fc.2.bias": [10],
    }  # fmt: skip
    assert models.LeNet(4)(paddle.ones([2, 1, 28, 28])).shape == [2, 4]
    assert models.LeNet(0)(paddle.ones([1, 1, 28, 28])).shape == [1, 16, 5, 5]


def test_all_names_are_there():
    assert len(models.__all__) == len(set(models.__all__)) == 51
    assert all(callable(getattr(models, name)) for name in models.__all__)
    assert set(models.__all__) <= set(dir(models))


@pytest.mark.parametrize("module", ["alexnet", "googlenet", "resnet", "vgg", "mobilenetv3"])
def test_modules_are_importable_under_upstreams_names(module):
    found = importlib.import_module(f"paddle.vision.models.{module}")
    assert all(getattr(models, name) is getattr(found, name) for name in found.__all__)
    assert callable(models.alexnet) and callable(models.googlenet)


def test_blocks_of_residual_networks_are_importable():
    from paddle.vision.models.resnet import BasicBlock, BottleneckBlock

    assert (BasicBlock.expansion, BottleneckBlock.expansion) == (1, 4)
    with pytest.raises(NotImplementedError):
        BasicBlock(4, 4, dilation=2)


def test_pretrained_weights_need_a_download():
    with pytest.raises(RuntimeError, match=r"resnet50: pretrained weights need a download[\s\S]*set_state_dict"):
        models.resnet50(pretrained=True)


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: models.SqueezeNet("2.0"), AssertionError),
        (lambda: models.ShuffleNetV2(scale=3.0), NotImplementedError),
        (lambda: models.ShuffleNetV2(act="tanh"), RuntimeError),
        (lambda: models.DenseNet(layers=3), AssertionError),
        (lambda: models.ResNet(models.resnet.BasicBlock, 19), KeyError),
        (lambda: models.nothing, AttributeError),
    ],
)
def test_unknown_settings(make, error):
    with pytest.raises(error):
        make()
