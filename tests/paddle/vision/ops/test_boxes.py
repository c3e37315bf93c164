"""Boxes: suppression, codes, proposals. What follows from no short definition was recorded from PaddlePaddle 3.3.1."""

import numpy as np
import pytest

import paddle
from paddle.vision import ops

BOXES = np.array([[0, 0, 4, 4], [0, 0, 4, 5], [1, 1, 5, 5], [8, 8, 9, 9]], "float32")
T = paddle.to_tensor


def test_nms():
    boxes, scores = T(BOXES), T(np.array([0.6, 0.9, 0.7, 0.3], "float32"))
    assert ops.nms(boxes, 0.5).tolist() == [0, 2, 3] and ops.nms(boxes, 0.9).tolist() == [0, 1, 2, 3]
    assert ops.nms(boxes, 0.3, scores).tolist() == [1, 3] and ops.nms(boxes, 0.79, scores).tolist() == [1, 2, 3]
    kinds = T(np.array([0, 0, 1, 1]))
    assert ops.nms(boxes, 0.3, scores, kinds, [0, 1]).tolist() == [1, 2, 3]
    assert ops.nms(boxes, 0.3, scores, kinds, [1]).tolist() == [2, 3]
    best = ops.nms(boxes, 0.3, scores, kinds, [0, 1], top_k=2)
    assert best.tolist() == [1, 2] and best.dtype is paddle.int64
    assert ops.nms(paddle.zeros([0, 4])).tolist() == []


def test_nms_rejects():
    boxes, scores = T(BOXES), paddle.ones([4])
    for args, error in (
        ((BOXES,), TypeError), ((boxes[:, :3],), ValueError), ((boxes, 0.3, scores[:2]), ValueError),
        ((boxes, 0.3, scores, scores), AssertionError), ((boxes, 0.3, scores, scores, [0], 5), AssertionError),
    ):  # fmt: skip
        with pytest.raises(error):
            ops.nms(*args)


def test_matrix_nms():
    scores = T(np.array([[[0.6, 0.9, 0.7, 0.3], [0.2, 0.1, 0.8, 0.5]]], "float32"))
    boxes = T(BOXES[None])
    first, last = [0, 0.9, 0, 0, 4, 5], [1, 1, 5, 5]
    middle = [[1, 0.8, 1, 1, 5, 5], [1, 0.5, 8, 8, 9, 9]]
    for gaussian, score in ((False, 0.35), (True, 0.4246)):
        out, count, index = ops.matrix_nms(boxes, scores, 0.15, 0.12, 3, 4, gaussian, 2.0, -1, True, True)
        np.testing.assert_allclose(out.numpy(), [first, *middle, [0, score, *last]], atol=1e-4)
        assert count.tolist() == [4] and index.tolist() == [[1], [2], [3], [2]] and index.dtype is paddle.int32
    out, count, index = ops.matrix_nms(boxes, scores, 0.15, 0.13, 3, 4, return_rois_num=False)
    np.testing.assert_allclose(out.numpy(), middle)
    assert count is None and index is None
    assert ops.matrix_nms(boxes, scores, 1.0, 0.1, -1, -1)[0].shape == [0, 6]


@pytest.mark.parametrize("normalized", [True, False])
@pytest.mark.parametrize("kind", ["list", "tensor"])
def test_box_coder_decodes_what_it_encodes(normalized, kind):
    priors, boxes = T(BOXES), T(BOXES[::-1] + np.array([0, 1, 2, 3], "float32"))
    spread = [0.1, 0.1, 0.2, 0.2] if kind == "list" else T(np.full((4, 4), 0.3, "float32"))
    code = ops.box_coder(priors, spread, boxes, "encode_center_size", normalized)
    assert code.shape == [4, 4, 4]
    decode = lambda c, axis: ops.box_coder(priors, spread, c, "decode_center_size", normalized, axis)  # noqa: E731
    expected = np.repeat(boxes.numpy()[:, None], 4, 1) - (0 if normalized else 0.5)  # as upstream
    np.testing.assert_allclose(decode(code, 0).numpy(), expected, atol=1e-4)
    np.testing.assert_allclose(decode(code.transpose([1, 0, 2]), 1).numpy(), expected.transpose(1, 0, 2), atol=1e-4)


def test_box_coder_has_gradients_and_rejects():
    priors, target = T(BOXES), T(np.zeros((1, 4, 4), "float32"), stop_gradient=False)
    ops.box_coder(priors, [1.0, 1.0, 1.0, 1.0], target, "decode_center_size")[..., 0].sum().backward()
    np.testing.assert_allclose(target.grad[0, 0].numpy(), [4, 0, -2, 0])
    for args, error in (
        ((priors, 1.0, priors), TypeError), ((priors, [1.0] * 3, priors), AssertionError),
        ((priors, [1.0] * 4, priors, "encode"), ValueError), ((priors, [1.0] * 4, target), ValueError),
        ((priors, [1.0] * 4, priors, "decode_center_size"), ValueError),
        ((priors, [1.0] * 4, target, "decode_center_size", True, 1), ValueError),
    ):  # fmt: skip
        with pytest.raises(error):
            ops.box_coder(*args)


def test_prior_box():
    x, image = paddle.zeros([1, 2, 2, 4]), paddle.zeros([1, 3, 20, 20])
    boxes, variances = ops.prior_box(x, image, [4.0], [9.0], [2.0, 1.0], flip=True)
    assert boxes.shape == variances.shape == [2, 4, 4, 4]
    np.testing.assert_allclose(variances[1, 1, 3].numpy(), [0.1, 0.1, 0.2, 0.2])
    wide = np.sqrt(2.0) * 2 / 20, np.sqrt(0.5) * 2 / 20
    center = np.array([0.125, 0.25, 0.125, 0.25])
    for i, (w, h) in enumerate(((0.1, 0.1), wide, wide[::-1], (0.15, 0.15))):
        np.testing.assert_allclose(boxes[0, 0, i].numpy(), center + [-w, -h, w, h], rtol=1e-5)
    second = ops.prior_box(x, image, 4.0, 9.0, 2.0, min_max_aspect_ratios_order=True, clip=True, steps=[5.0, 5.0])[0]
    np.testing.assert_allclose(second[1, 3, 1].numpy(), [0.725, 0.225, 1, 0.525], rtol=1e-5)
    for bad in ({"steps": [1.0]}, {"max_sizes": [3.0]}, {"max_sizes": [5.0, 6.0]}, {"variance": [1.0]}):
        with pytest.raises(ValueError):
            ops.prior_box(x, image, [4.0], **bad)


def test_generate_proposals():
    anchors = np.array([[[[0, 0, 7, 7], [2, 2, 5, 9]]], [[[4, 0, 11, 7], [6, 2, 9, 9]]]], "float32").reshape(1, 2, 2, 4)
    scores = np.array([[[[0.9, 0.8]], [[0.3, 0.95]]]], "float32")
    deltas = (np.arange(16).reshape(1, 8, 1, 2) % 5 - 2).astype("float32") / 4
    args = [T(v) for v in (scores, deltas, np.array([[9, 10]], "float32"), anchors, np.full_like(anchors, 0.5))]
    expected = {
        False: [[6.5503, 1.8992, 9.9497, 7.3508], [0, 0.4113, 6.2441, 6.5887], [3.8992, 0.875, 9.3508, 7.875]],
        True: [[6.7337, 1.8848, 9, 7.1152], [0, 0.47, 6.1361, 6.53], [3.8848, 1, 9, 8]],
    }
    for offset, boxes in expected.items():
        rois, probabilities, count = ops.generate_proposals(*args, 10, 3, 0.5, 2.0, 0.9, offset, True)
        np.testing.assert_allclose(rois.numpy(), boxes, atol=2e-4)
        np.testing.assert_allclose(probabilities.numpy(), [[0.95], [0.9], [0.8]])
        assert count.tolist() == [3]
    rois, probabilities, count = ops.generate_proposals(*args, min_size=50.0, return_rois_num=True)
    assert rois.tolist() == [[0, 0, 0, 0]] and count.tolist() == [1]
    with pytest.raises(AssertionError, match="return_rois_num"):
        ops.generate_proposals(*args)


def test_distribute_fpn_proposals():
    rois = np.array([[0, 0, 10, 10], [5, 5, 400, 300], [0, 0, 112, 112], [3, 3, 60, 200], [9, 9, 3, 3]], "float32")
    counts = T(np.array([2, 3], "int32"))
    levels, restore, each = ops.distribute_fpn_proposals(T(rois), 2, 5, 4, 224, True, counts)
    assert [len(level) for level in levels] == [3, 1, 1, 0] and restore.tolist() == [[0], [4], [3], [1], [2]]
    assert [n.tolist() for n in each] == [[1, 2], [0, 1], [1, 0], [0, 0]]
    np.testing.assert_array_equal(np.concatenate([v.numpy() for v in levels])[restore.numpy()[:, 0]], rois)
    for bad in ((0, 5), (5, 5), (1, 100)):
        with pytest.raises(AssertionError, match="levels"):
            ops.distribute_fpn_proposals(T(rois), *bad, 4, 224, rois_num=counts)
    with pytest.raises(AssertionError, match="rois_num"):
        ops.distribute_fpn_proposals(T(rois), 2, 5, 4, 224)
