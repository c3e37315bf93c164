import math

import numpy as np
import pytest

import paddle
from paddle import distribution as D
from paddle.distribution import transform

T = paddle.to_tensor


def t64(x):
    return T(x, dtype="float64")


ONE_TO_ONE = [
    (lambda: D.ExpTransform(), [-1.0, 2.0]),
    (lambda: D.AffineTransform(t64(1.0), t64(-2.0)), [-1.0, 2.0]),
    (lambda: D.PowerTransform(t64(3.0)), [0.5, 2.0]),
    (lambda: D.SigmoidTransform(), [-1.0, 2.0]),
    (lambda: D.TanhTransform(), [-1.0, 0.5]),
    (lambda: D.StickBreakingTransform(), [-1.0, 0.5]),
    (lambda: D.ReshapeTransform((2,), (2, 1)), [1.0, 2.0]),
    (lambda: D.IndependentTransform(D.ExpTransform(), 1), [-1.0, 0.5]),
    (lambda: D.ChainTransform([D.TanhTransform(), D.ExpTransform()]), [-1.0, 0.5]),
    (lambda: D.ChainTransform([D.ExpTransform(), D.StickBreakingTransform()]), [-1.0, 0.5]),
    (lambda: D.StackTransform([D.ExpTransform(), D.TanhTransform()]), [-1.0, 0.5]),
]


@pytest.mark.parametrize("make, values", ONE_TO_ONE, ids=[type(c[0]()).__name__ for c in ONE_TO_ONE])
def test_inverse_and_determinant(make, values):
    t, x = make(), t64(values)
    y = t.forward(x)
    np.testing.assert_allclose(t.inverse(y).numpy(), values, rtol=1e-6)
    assert list(t.forward_shape((2,))) == y.shape
    assert list(t.inverse_shape(tuple(y.shape))) == x.shape
    # the derivative by differences; of the stick breaking the last share follows from the others
    h = 1e-6
    step = lambda i: t64([v + (h if j == i else 0) for j, v in enumerate(values)])  # noqa: E731
    columns = [((t.forward(step(i)) - y) / h).numpy().reshape(-1)[: len(values)] for i in range(len(values))]
    jacobian = np.stack(columns, 1)
    want = np.log(abs(np.linalg.det(jacobian)))
    got = t.forward_log_det_jacobian(x).numpy()
    got = got.sum() if got.size > 1 or t._domain.event_rank else got * len(values)
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)
    back = t.inverse_log_det_jacobian(y).numpy()
    back = back.sum() if back.size > 1 or t._domain.event_rank else back * len(values)
    np.testing.assert_allclose(back, -want, rtol=1e-4, atol=1e-5)


def test_maps_without_an_inverse():
    t = D.AbsTransform()
    assert t(T([-1.0, 2.0])).tolist() == [1.0, 2.0] and [v.tolist() for v in t.inverse(T([3.0]))] == [[-3.0], [3.0]]
    for lossy in (t, D.SoftmaxTransform()):
        with pytest.raises(NotImplementedError):
            lossy.forward_log_det_jacobian(T([1.0, 2.0]))
    assert D.SoftmaxTransform().forward(paddle.zeros([4])).tolist() == [0.25] * 4


def test_calls():
    n = D.Normal(paddle.zeros([2]), paddle.ones([2]))
    assert isinstance(D.ExpTransform()(n), D.TransformedDistribution)
    both = D.ExpTransform()(D.AffineTransform(T(1.0), T(2.0)))
    assert both(T([0.0])).tolist() == [3.0]  # the one that is called comes first
    with pytest.raises(TypeError):
        D.ExpTransform()(3)


def test_transformed_distributions():
    base = D.Normal(t64([0.0, 1.0]), t64([1.0, 2.0]))
    log_normal = D.TransformedDistribution(base, [D.ExpTransform()])
    x = t64([0.5, 1.5])
    np.testing.assert_allclose(log_normal.log_prob(x).numpy(), D.LogNormal(base.loc, base.scale).log_prob(x).numpy())
    shares = D.TransformedDistribution(base, [D.StickBreakingTransform()])
    assert shares.batch_shape == () and shares.event_shape == (3,)
    s = shares.sample([5])
    assert s.shape == [5, 3] and shares.log_prob(s).shape == [5]
    np.testing.assert_allclose(s.sum(-1).numpy(), 1)
    moved = D.TransformedDistribution(base, [D.AffineTransform(t64(1.0), t64(2.0)), D.ExpTransform()])
    y = np.exp(1 + 2 * np.array([0.3, 0.2]))
    want = base.log_prob(t64([0.3, 0.2])).numpy() - math.log(2) - np.log(y)
    np.testing.assert_allclose(moved.log_prob(t64(y)).numpy(), want)
    assert D.TransformedDistribution(base, []).log_prob(x).shape == [2]
    with pytest.raises(NotImplementedError):
        D.TransformedDistribution(base, [D.AbsTransform()]).log_prob(x)


def test_constraints():
    from paddle.distribution import constraint, variable

    assert constraint.simplex(T([[0.5, 0.5], [0.5, 0.6]])).tolist() == [True, False]
    assert constraint.Range(0.0, 1.0)(T([-0.1, 1.0])).tolist() == [False, True]
    assert variable.Independent(variable.positive, 1).constraint(T([[1.0, 2.0], [1.0, -2.0]])).tolist() == [True, False]
    both = variable.Stack([variable.real, variable.positive])
    assert both.constraint(T([[-1.0], [-1.0]])).tolist() == [[True], [False]] and both.event_rank == 0
    assert variable.real.constraint(T([float("nan"), 1.0])).tolist() == [False, True]


@pytest.mark.parametrize("kind, call", [
    (TypeError, lambda: D.AffineTransform(1.0, 2.0)),
    (TypeError, lambda: D.PowerTransform(2.0)),
    (TypeError, lambda: D.ChainTransform([3])),
    (TypeError, lambda: D.StackTransform([])),
    (ValueError, lambda: D.ReshapeTransform((2, 3), (4,))),
    (ValueError, lambda: D.IndependentTransform(D.ExpTransform(), 0)),
    (ValueError, lambda: D.ReshapeTransform((2, 3), (6,)).forward(T([1.0, 2.0]))),
    (ValueError, lambda: D.StackTransform([D.ExpTransform()]).forward(T([1.0, 2.0]))),
    (ValueError, lambda: D.SoftmaxTransform().forward(T(1.0))),
    (TypeError, lambda: D.ExpTransform().forward(3)),
    (TypeError, lambda: D.ExpTransform().forward_shape(3)),
    (NotImplementedError, lambda: transform.Transform().forward(T(1.0))),
    (TypeError, lambda: D.TransformedDistribution(3, [])),
    (ValueError, lambda: D.TransformedDistribution(D.Normal(0.0, 1.0), [D.SoftmaxTransform()])),
])  # fmt: skip
def test_bad_arguments(kind, call):
    with pytest.raises(kind):
        call()
