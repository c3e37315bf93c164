"""Kernels for aarch64, run under an emulator: the compiler, the loader and the driver are those of every machine."""

import random

import numpy as np
import pytest
from aarch64 import EMULATOR, machine
from programs import Maker
from test_layout import net
from test_programs import check
from test_targets import FAMILIES, check_operators, settings, train

import paddle
from paddle.engine.cpu import jit

pytestmark = pytest.mark.skipif(
    EMULATOR is None, reason="there is no qemu-aarch64-static (of Debian's qemu-user-static)"
)


@pytest.fixture
def guest():
    with machine() as guest:
        yield guest


@pytest.mark.parametrize("family", FAMILIES)
def test_operators(family, guest):
    check_operators(family)
    assert jit.target()[0].startswith("aarch64") and len(guest.regions) >= 2


@pytest.mark.parametrize("seed", range(2))
def test_random_programs(seed, guest):
    check(Maker(random.Random(200 + seed).randrange))


@pytest.mark.parametrize("tier", ["never", "always"])
def test_a_net_learns_alike(tier):
    with settings(FLAGS_eager_compile="never"):
        want = train(2)
    with machine(), settings(FLAGS_eager_compile=tier):
        assert train(2) == pytest.approx(want, abs=2e-5)


def test_channels_come_last(guest):
    x = np.random.default_rng(0).standard_normal((2, 3, 9, 10)).astype("float32")
    found = []
    for flags in ({"FLAGS_reference": True}, {"FLAGS_eager_compile": "always"}):
        with settings(**flags):
            paddle.seed(1)
            model, given = net("plain"), paddle.to_tensor(x, stop_gradient=False)
            (model(given) * 2).square().mean().backward()
            found.append([given.grad.numpy(), *(p.grad.numpy() for p in model.parameters() if p.trainable)])
    for want, got in zip(*found):
        np.testing.assert_allclose(got, want, 2e-4, 2e-5)


def test_faults_come_back(guest):
    x, at = paddle.arange(5), paddle.to_tensor([3, 7])
    with settings(FLAGS_eager_compile="always"), pytest.raises(IndexError, match="7"):
        paddle.gather(x, at).numpy()
