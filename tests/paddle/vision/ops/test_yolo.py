"""YOLO layers. The numbers are those of PaddlePaddle 3.3.1."""

import numpy as np
import pytest

import paddle
from paddle.vision import ops

T = paddle.to_tensor
X = (np.arange(2 * 14 * 4).reshape(2, 14, 2, 2) * 7 % 11 / 5 - 1).astype("float32")
SIZE = T(np.array([[50, 60]], "int32"))
TRUE = np.array([[[0.3, 0.3, 0.2, 0.4], [0.7, 0.8, 0.6, 0.5], [0, 0, 0, 0]],
                 [[0.6, 0.2, 0.3, 0.9], [0.1, 0.9, 0.05, 0.1], [0.5, 0.5, 0.9, 0.9]]], "float32")  # fmt: skip
LABELS = np.array([[0, 1, 0], [1, 1, 0]], "int32")
SCORES = np.array([[1, 0.5, 1], [0.3, 1, 0.8]], "float32")


def test_yolo_box():
    boxes, scores = ops.yolo_box(T(X[:1]), SIZE, [10, 13, 16, 30], 2, 0.6, 16, True, None, 1.1)
    assert boxes.shape == [1, 8, 4] and scores.shape == [1, 8, 2]
    np.testing.assert_allclose(boxes[0, :3].numpy()[[0, 2]], 0)
    np.testing.assert_allclose(boxes[0, 1].numpy(), [31.1743, 1.6865, 59, 15.3024], rtol=1e-4)
    x = (np.arange(64).reshape(1, 16, 2, 2) * 7 % 11 / 5 - 1).astype("float32")
    boxes, scores = ops.yolo_box(T(x), SIZE, [10, 13, 16, 30], 2, 0.6, 16, False, None, 1.0, True, 0.3)
    np.testing.assert_allclose(boxes[0, 1].numpy(), [28.5052, 1.7176, 70.2341, 18.348], rtol=1e-4)
    np.testing.assert_allclose(scores[0, :2].numpy(), [[0, 0], [0.3443, 0.1852]], atol=1e-4)


def test_yolo_loss():
    x = T(X, stop_gradient=False)
    args = (T(TRUE), T(LABELS))
    loss = ops.yolo_loss(x, *args, [10, 13, 16, 30, 40, 40], [1, 2], 2, 0.3, 32, T(SCORES), True, None, 1.05)
    np.testing.assert_allclose(loss.numpy(), [14.42284, 10.69917], rtol=1e-5)
    loss.sum().backward()
    confidence = [[0.37631, 0, 0, 0], [0, -0.12755, 0, 0]]
    np.testing.assert_allclose(x.grad.numpy()[:, 6].reshape(2, 4) * (np.array(confidence) != 0), confidence, atol=1e-4)
    np.testing.assert_allclose(
        x.grad.numpy()[0, :3:2].reshape(2, 4), [[-0.63563, 0, 0, 0], [-1.92, 0, 0, 0]], atol=1e-4
    )
    plain = ops.yolo_loss(T(X), *args, [10, 13, 16, 30], [0, 1], 2, 0.5, 32, None, False)
    np.testing.assert_allclose(plain.numpy(), [17.2736, 28.93945], rtol=1e-5)


def test_the_gradient_counts_every_true_box():
    """Upstream keeps that of the last one where two lie in one cell."""
    box = np.array([[[0.3, 0.3, 0.3, 0.4], [0.35, 0.2, 0.2, 0.3]]], "float32")
    f = lambda x: ops.yolo_loss(x, T(box), T(np.array([[0, 1]], "int32")), [10, 13, 16, 30], [0, 1], 2, 0.9, 32)  # noqa: E731
    x = T(X[:1], stop_gradient=False)
    f(x).sum().backward()
    step = np.random.default_rng(0).normal(size=X[:1].shape) * 1e-4
    up, down = (f(T(X[:1].astype("float64") + sign * step)).numpy().sum() for sign in (1, -1))
    assert (up - down) / 2 == pytest.approx((x.grad.numpy() * step).sum(), rel=1e-3)


def test_no_true_boxes():
    loss = ops.yolo_loss(T(X), T(TRUE * 0), T(LABELS), [10, 13, 16, 30], [0, 1], 2, 0.5, 32)
    confidence = X.reshape(2, 2, 7, 2, 2)[:, :, 4]
    np.testing.assert_allclose(loss.numpy(), np.log1p(np.exp(confidence)).sum((1, 2, 3)), rtol=1e-5)


def test_rejects():
    box, label = T(TRUE), T(LABELS)
    for f, error in (
        (lambda: ops.yolo_box(T(X), SIZE, [10, 13], 2, 0.6, 16), ValueError),
        (lambda: ops.yolo_box(T(X[:1]), SIZE, [10, 13, 16], 2, 0.6, 16), ValueError),
        (lambda: ops.yolo_box(X, SIZE, [10, 13], 2, 0.6, 16), TypeError),
        (lambda: ops.yolo_loss(T(X), box, label, [10, 13, 16, 30], [0, 2], 2, 0.5, 32), ValueError),
        (lambda: ops.yolo_loss(T(X), box[:1], label, [10, 13, 16, 30], [0, 1], 2, 0.5, 32), ValueError),
        (lambda: ops.yolo_loss(T(X), box, label[:, :2], [10, 13, 16, 30], [0, 1], 2, 0.5, 32), ValueError),
        (lambda: ops.yolo_loss(T(X[..., :1]), box, label, [10, 13, 16, 30], [0, 1], 2, 0.5, 32), ValueError),
    ):
        with pytest.raises(error):
            f()
