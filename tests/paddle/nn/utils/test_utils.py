"""nn.utils: gradients that are clipped in place, parameters as a vector, weights computed from others."""

import numpy as np
import pytest

import paddle
from paddle import nn
from paddle.nn import utils


def with_grads(*grads):
    out = []
    for g in grads:
        p = paddle.create_parameter([len(g)], "float32")
        p.grad = paddle.to_tensor(np.array(g, "float32"))
        out.append(p)
    return out


@pytest.mark.parametrize(
    "order, norm", [(2.0, 13.0), (1.0, 19.0), (float("inf"), 12.0), (-float("inf"), 3.0), (0.0, 3.0)]
)
def test_clip_grad_norm(order, norm):
    a, b = params = with_grads([3.0, -4.0], [12.0])
    assert utils.clip_grad_norm_(params, norm / 2, order).item() == pytest.approx(norm)
    np.testing.assert_allclose(a.grad.numpy(), [1.5, -2.0], rtol=1e-4)
    np.testing.assert_allclose(b.grad.numpy(), [6.0], rtol=1e-4)
    utils.clip_grad_norm_(params, 1000.0, order)
    np.testing.assert_allclose(b.grad.numpy(), [6.0], rtol=1e-4)


def test_norms_that_are_not_finite():
    params = with_grads([np.nan])
    with pytest.raises(RuntimeError, match="not finite"):
        utils.clip_grad_norm_(params, 1.0, error_if_nonfinite=True)
    with pytest.raises(ValueError):
        utils.clip_grad_norm_(params, 1.0, norm_type=3)
    assert utils.clip_grad_norm_([paddle.create_parameter([1], "float32")], 1.0).item() == 0.0


def test_clip_grad_value():
    (a,) = with_grads([3.0, -4.0])
    utils.clip_grad_value_(a, 2)
    np.testing.assert_array_equal(a.grad.numpy(), [2.0, -2.0])
    with pytest.raises(ValueError):
        utils.clip_grad_value_([a], "x")


def test_vectors():
    fc = nn.Linear(2, 3)
    v = utils.parameters_to_vector(fc.parameters())
    assert v.shape == [9] and not v.stop_gradient
    utils.vector_to_parameters(v * 0.0 + 2.0, fc.parameters())
    assert (fc.weight.numpy() == 2.0).all() and fc.weight.is_leaf and not fc.bias.stop_gradient


@pytest.mark.parametrize("dim", [0, 1, None])
def test_weight_norm(dim):
    fc = nn.Linear(3, 4)
    before = fc.weight.numpy()
    x = paddle.ones([2, 3])
    plain = fc(x).numpy()
    utils.weight_norm(fc, dim=dim)
    assert [n for n, _ in fc.named_parameters()] == ["bias", "weight_v", "weight_g"]
    assert [p.name for p in fc.parameters()] == ["linear_0.b_0", "linear_0.w_1", "linear_0.w_2"]
    assert [n for n, _ in fc.named_buffers()] == ["weight"] and "weight" not in fc.state_dict()
    np.testing.assert_allclose(fc(x).numpy(), plain, rtol=1e-5, atol=1e-6)
    fc(x).sum().backward()
    assert fc.weight_g.grad is not None and fc.weight_v.grad is not None
    with pytest.raises(RuntimeError, match="already"):
        utils.weight_norm(fc)
    utils.remove_weight_norm(fc)
    np.testing.assert_allclose(fc.weight.numpy(), before, rtol=1e-5, atol=1e-6)
    assert sorted(n for n, _ in fc.named_parameters()) == ["bias", "weight"]
    with pytest.raises(ValueError):
        utils.remove_weight_norm(fc)


def test_spectral_norm():
    fc = utils.spectral_norm(nn.Linear(5, 4), n_power_iterations=30)
    x = paddle.ones([2, 5])
    y = fc(x)
    np.testing.assert_allclose(np.linalg.norm(fc.weight.numpy(), 2), 1.0, rtol=1e-3)
    y.sum().backward()
    assert fc.weight_orig.grad is not None
    assert sorted(fc.state_dict()) == ["bias", "weight_orig", "weight_u", "weight_v"]
    fc.eval()
    np.testing.assert_array_equal(fc(x).numpy(), fc(x).numpy())
    with pytest.raises(ValueError):
        utils.spectral_norm(nn.Linear(2, 2), n_power_iterations=0)
