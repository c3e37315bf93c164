"""Which types operators compute in. Where upstream's lists decide, the expectations are those of its documentation."""

import threading

import numpy as np
import pytest

import paddle
import paddle.nn.functional as F
from paddle import amp, nn

bf16, f16, f32 = paddle.bfloat16, paddle.float16, paddle.float32


def randn(*shape, seed=0):
    return paddle.to_tensor(np.random.default_rng(seed).normal(size=shape).astype("float32"))


def test_products_compute_in_16_bits_and_sums_in_float32():
    x, fc, conv = randn(2, 4), nn.Linear(4, 4), nn.Conv2D(1, 2, 3)
    for _ in range(3):  # the second and third pass follow the recorded path
        for dtype, low in (("bfloat16", bf16), ("float16", f16)):
            with amp.auto_cast(dtype=dtype):
                h = fc(x)
                assert h.dtype is low
                assert conv(x.reshape([2, 1, 2, 2]).tile([1, 1, 3, 3])).dtype is low
                assert (x @ x.T).dtype is low
                assert paddle.einsum("ij,kj->ik", x, x).dtype is low
                assert F.relu(h).dtype is (h + 1).dtype is h.reshape([-1]).dtype is low
                for out in (h.exp(), h.sum(), h.mean(), F.softmax(h), F.layer_norm(h, [4]), h**3, h.square(),
                            F.cross_entropy(h, paddle.to_tensor([0, 1])), F.mse_loss(h, h)):  # fmt: skip
                    assert out.dtype is f32
                assert (x + 1).dtype is (x * x).dtype is f32
        assert fc(x).dtype is f32


def test_the_values_are_those_of_the_16_bit_type():
    x, y = randn(5, 7), randn(7, 3, seed=1)
    with amp.auto_cast(dtype="bfloat16"):
        out = x @ y
    want = (x.astype("bfloat16") @ y.astype("bfloat16")).astype("float32")
    np.testing.assert_array_equal(out.astype("float32").numpy(), want.numpy())
    assert np.abs(want.numpy() - x.numpy() @ y.numpy()).max() > 1e-4


def test_types_that_meet():
    x = randn(2, 2)
    with amp.auto_cast(dtype="bfloat16"):
        low = x @ x
        assert (low + x).dtype is paddle.concat([x, low]).dtype is f32
        assert paddle.where(low > 0, low, x).dtype is paddle.stack([low, x]).dtype is f32
        with pytest.raises(ValueError, match="concat: the element types differ"):
            paddle.concat([x, paddle.ones([1, 2], "int64")])
        assert (low + paddle.to_tensor(1.0)).dtype is bf16  # a 0-d Tensor counts as a number
    with amp.auto_cast(level="O2", dtype="bfloat16", use_promote=False):
        assert (low + x).dtype is paddle.concat([x, low]).dtype is bf16


@pytest.mark.parametrize("kind", ["float64", "int64"])
def test_other_types_stay(kind):
    x = paddle.ones([2, 2], kind)
    with amp.auto_cast():
        assert (x + x).dtype is x.sum().dtype is paddle.ones([1], kind).dtype
    with amp.auto_cast():
        assert (x.astype("float64") @ x.astype("float64")).dtype is paddle.float64


def test_levels():
    x = randn(2, 2)
    low = x.astype("bfloat16")
    for level, product, exponential, total in (("O0", f32, bf16, bf16), ("O1", bf16, f32, f32),
                                               ("O2", bf16, bf16, bf16), ("OD", bf16, f32, f32)):  # fmt: skip
        with amp.auto_cast(level=level, dtype="bfloat16"):
            assert (x @ x).dtype is product
            assert low.exp().dtype is exponential
            assert (low + low).dtype is (bf16 if level != "OD" else f32)
            assert low.sum().dtype is total
            assert amp.is_autocast_enabled() is (level != "O0")


def test_custom_lists_take_upstreams_names():
    x, fc = randn(2, 2), nn.Linear(2, 2)
    with amp.auto_cast(custom_white_list={"elementwise_add", "exp"}, custom_black_list=["matmul_v2"]):
        assert (x + x).dtype is x.exp().dtype is f16
        assert (x @ x).dtype is fc(x).dtype is f32
    with amp.auto_cast(custom_black_list={"conv2d"}):
        assert nn.Conv2D(1, 1, 1)(x.reshape([1, 1, 2, 2])).dtype is f32
        assert nn.Conv1D(1, 1, 1)(x.reshape([1, 1, 4])).dtype is f32
    with amp.auto_cast(custom_white_list=("layer_norm",)):
        assert F.layer_norm(x, [2]).dtype is f16
    with pytest.warns(UserWarning, match="no_such_operator"):
        amp.auto_cast(custom_white_list=["no_such_operator"])


def test_nesting_and_leaving():
    x = randn(2, 2)
    with amp.auto_cast(dtype="bfloat16"):
        with amp.auto_cast(enable=False):
            assert (x @ x).dtype is f32
            assert not amp.is_autocast_enabled()
        with amp.auto_cast(dtype="float16"):
            assert (x @ x).dtype is f16
        assert (x @ x).dtype is bf16
        with pytest.raises(ZeroDivisionError), amp.auto_cast(dtype="float16"):
            raise ZeroDivisionError
        assert amp.get_autocast_dtype() == "bfloat16"
    assert (x @ x).dtype is f32
    assert amp.get_autocast_dtype() == amp.get_autocast_cpu_dtype() == amp.get_autocast_gpu_dtype() == "float16"


def test_the_mode_survives_a_flush_and_changes_of_gradient_mode():
    x = randn(2, 2)
    with amp.auto_cast(dtype="bfloat16"):
        assert len((x @ x).tolist()) == 2
        assert (x @ x).dtype is bf16
        with paddle.no_grad():
            assert (x @ x).dtype is bf16
            assert len((x @ x).tolist()) == 2
            assert (x @ x).dtype is bf16
        assert (x @ x).dtype is bf16


def test_as_a_decorator_and_in_generators_of_results():
    @amp.auto_cast(dtype="bfloat16")
    def product(x):
        return x @ x

    assert product(randn(2, 2)).dtype is product(randn(2, 2)).dtype is bf16
    guard = amp.amp_guard(dtype="bfloat16")
    for _ in range(2):  # one object may be used again
        with guard, guard:
            assert (randn(2, 2) @ randn(2, 2)).dtype is bf16
        assert not amp.is_autocast_enabled()


def test_each_thread_has_its_own_mode():
    found = []
    with amp.auto_cast():
        thread = threading.Thread(target=lambda: found.append((randn(2, 2) @ randn(2, 2)).dtype))
        thread.start()
        thread.join()
    assert found == [f32]


def test_gradients_have_the_types_of_what_they_are_gradients_of():
    fc, x = nn.Linear(3, 2), randn(4, 3)
    x.stop_gradient = False
    exact = fc(x).sum()
    exact.backward()
    want = [t.grad.numpy() for t in (fc.weight, fc.bias, x)]
    for _ in range(3):
        for t in (fc.weight, fc.bias, x):
            t.clear_grad()
        with amp.auto_cast(dtype="bfloat16"):
            fc(x).sum().backward()  # inside the block too
        for t, w in zip((fc.weight, fc.bias, x), want):
            assert t.grad.dtype is f32
            np.testing.assert_allclose(t.grad.numpy(), w, rtol=0.02, atol=0.02)


def test_second_derivatives():
    x = randn(3, 3)
    x.stop_gradient = False
    with amp.auto_cast(dtype="bfloat16"):
        y = (x @ x).astype("float32").sum()
        (g,) = paddle.grad(y, x, create_graph=True)
        (h,) = paddle.grad((g * g).sum(), x)
    assert g.dtype is h.dtype is f32
    assert np.isfinite(h.numpy()).all()


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize("make", [
    lambda: nn.Sequential(nn.Conv2D(1, 4, 3), nn.BatchNorm2D(4), nn.ReLU(), nn.MaxPool2D(2), nn.Flatten(),
                          nn.Linear(36, 3)),
    lambda: nn.Sequential(nn.Flatten(2), nn.Flatten(0, 1), nn.Linear(64, 4), nn.Unflatten(0, [4, 1]),
                          nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0), nn.Flatten(), nn.Linear(4, 3)),
])  # fmt: skip
def test_a_network_learns_as_in_float32(dtype, make):
    x, y = randn(4, 1, 8, 8), paddle.to_tensor([0, 1, 2, 0])
    curves = []
    for enable in (False, True):
        paddle.seed(7)
        net = make()
        optimizer = paddle.optimizer.Adam(0.01, parameters=net.parameters())
        curve = []
        for _ in range(5):
            with amp.auto_cast(enable=enable, dtype=dtype):
                loss = F.cross_entropy(net(x), y)
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
            curve.append(float(loss))
        curves.append(curve)
        assert all(p.dtype is f32 for p in net.parameters())
    np.testing.assert_allclose(curves[1], curves[0], rtol=0.05, atol=0.05)
    assert curves[1][-1] < curves[1][0]


@pytest.mark.parametrize("cell", [nn.LSTM, nn.GRU, nn.SimpleRNN])
def test_recurrent_networks(cell):
    net, x = cell(4, 4), randn(2, 3, 4)
    want = net(x)[0].numpy()
    with amp.auto_cast(dtype="bfloat16"):
        out = net(x)[0]
    np.testing.assert_allclose(out.astype("float32").numpy(), want, atol=0.02)


def test_empty_and_0d_tensors():
    with amp.auto_cast(dtype="bfloat16"):
        assert (paddle.zeros([0, 3]) @ paddle.zeros([3, 2])).dtype is bf16
        assert paddle.to_tensor(2.0).exp().dtype is f32
        assert paddle.zeros([0], "bfloat16").sum().dtype is f32


def test_nan_and_inf_pass_through():
    x = paddle.to_tensor([[np.nan, 1.0], [np.inf, 1.0]])
    with amp.auto_cast(dtype="float16"):
        out = (x @ paddle.to_tensor([[1.0], [1.0]])).numpy()
    assert np.isnan(out[0, 0]) and np.isinf(out[1, 0])


@pytest.mark.parametrize("settings", [
    {"level": "O3"}, {"dtype": "float32"}, {"dtype": "int8"},
    {"custom_white_list": ["exp"], "custom_black_list": ["exp"]},
])  # fmt: skip
def test_bad_settings(settings):
    with pytest.raises(ValueError, match="auto_cast"):
        amp.auto_cast(**settings)


def test_what_is_supported():
    assert amp.is_float16_supported() and amp.is_bfloat16_supported("cpu")
    assert "matmul" in amp.white_list()["float16"]["O1"] and not amp.black_list()["float16"]["O2"]
    with pytest.raises(ValueError):
        amp.is_float16_supported("teapot")


def test_running_statistics_keep_their_type():
    norm, x = nn.BatchNorm1D(3), randn(8, 3)
    with amp.auto_cast(custom_white_list=["elementwise_add", "elementwise_mul"], dtype="bfloat16"):
        norm(x)
    assert norm._mean.dtype is norm._variance.dtype is f32
    np.testing.assert_allclose(norm._mean.numpy(), 0.1 * x.numpy().mean(0), atol=1e-3)
