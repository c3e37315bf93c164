import numpy as np
import pytest

import paddle
from paddle.incubate.autograd import Hessian, Jacobian, jvp, vjp

T = paddle.to_tensor
X = T([[0.5, 0.75, -1.0], [1.0, 2.0, -0.5]])
V = T([0.5, -1.0, 2.0])


def test_products_with_vectors():
    ys, dx = vjp(lambda a: a * a, X, paddle.ones([2, 3]) * 3)
    assert ys.tolist() == (X * X).tolist() and dx.tolist() == (X * 6).tolist()
    ys, tangent = jvp(lambda a: a * a, X, paddle.ones([2, 3]) * 3)
    assert tangent.tolist() == (X * 6).tolist()
    outs, grads = vjp(lambda a, b: (a * b, a + b), (V, V * 2))
    assert [g.tolist() for g in grads] == [(V * 2 + 1).tolist(), (V + 1).tolist()] and len(outs) == 2
    _, tangents = jvp(lambda a, b: (a * b, a + b), (V, V * 2))
    assert [t.tolist() for t in tangents] == [(V * 3).tolist(), [2.0] * 3]
    _, unused = vjp(lambda a, b: a * a, [V, V])
    assert unused[1].tolist() == [0.0] * 3


def test_products_agree_with_the_matrix():
    f = lambda a: paddle.sin(a.sum()) * a  # noqa: E731
    matrix = Jacobian(f, V)[:].numpy()
    w = T([1.0, 2.0, 3.0])
    np.testing.assert_allclose(vjp(f, V, w)[1].numpy(), w.numpy() @ matrix, rtol=1e-5)
    np.testing.assert_allclose(jvp(f, V, w)[1].numpy(), matrix @ w.numpy(), rtol=1e-5)


def test_matrices():
    j = Jacobian(lambda a, b: (a * b, a), [V, V * 2])
    assert j.shape == (6, 6) and j[0].tolist() == [1.0, 0.0, 0.0, 0.5, 0.0, 0.0] and j[0, 3].item() == 0.5
    assert j[:].tolist()[3] == [1.0, 0.0, 0.0, 0.0, 0.0, 0.0] and j[:, 0].tolist() == [1.0, 0.0, 0.0, 1.0, 0.0, 0.0]
    assert j[-1].tolist() == j[5].tolist() and j[1:3].shape == [2, 6]
    batched = Jacobian(lambda a: a * a, X, is_batched=True)
    assert batched.shape == (2, 3, 3) and batched[1, 2, 2].item() == -1.0 and batched[:, 0].shape == [2, 3]
    with pytest.raises(IndexError):
        j[0, 0, 0]
    with pytest.raises(IndexError):
        j[6]


def test_second_derivatives():
    h = Hessian(lambda a, b: (a * b).sum() + (a**3).sum(), [V, V])
    want = np.block([[np.diag(6 * V.numpy()), np.eye(3)], [np.eye(3), np.zeros((3, 3))]])
    np.testing.assert_allclose(h[:].numpy(), want, rtol=1e-6)
    batched = Hessian(lambda a: (a**3).sum(-1, keepdim=True), X, is_batched=True)
    np.testing.assert_allclose(batched[:].numpy()[1], np.diag(6 * X.numpy()[1]), rtol=1e-6)
    with pytest.raises(RuntimeError, match="several values"):
        Hessian(lambda a: a * a, V)


@pytest.mark.parametrize("f", [jvp, vjp])
def test_bad_arguments(f):
    for kind, arguments in ((TypeError, (3, V)), (TypeError, (lambda a: a, 3)), (RuntimeError, (lambda a: a, X, V))):
        with pytest.raises(kind):
            f(*arguments)
