import numpy as np
import pytest

import paddle
import paddle.nn.functional as F

RNG = np.random.default_rng(0)
X = RNG.normal(size=(5, 4))
LABEL = np.array([0, 3, 1, 2, 3])
WEIGHT = np.array([0.5, 1.0, 2.0, 3.0])


def log_softmax(x, axis=-1):
    x = x - x.max(axis, keepdims=True)
    return x - np.log(np.exp(x).sum(axis, keepdims=True))


def T(a):
    return paddle.to_tensor(a)


# ---- cross entropy ----
@pytest.mark.parametrize("reduction", ["none", "sum", "mean"])
@pytest.mark.parametrize("weight", [None, WEIGHT])
@pytest.mark.parametrize("ignored", [-100, 3])
def test_cross_entropy(reduction, weight, ignored, gradients_hold):
    share = np.ones(5) if weight is None else weight[LABEL]
    share = share * (LABEL != ignored)
    losses = -log_softmax(X)[np.arange(5), LABEL] * share
    want = {"none": losses, "sum": losses.sum(), "mean": losses.sum() / share.sum()}[reduction]
    call = lambda x: F.cross_entropy(x, T(LABEL), None if weight is None else T(weight), ignored, reduction)  # noqa: E731
    np.testing.assert_allclose(call(T(X)).numpy(), want)
    gradients_hold(call, X)


@pytest.mark.parametrize(("ignored", "rows"), [(-100, 6), (2, 4)])
def test_cross_entropy_mean_counts_rows_with_a_negative_ignored_label(ignored, rows):
    """As upstream; nll_loss leaves them out in any case."""
    x, label = RNG.normal(size=(6, 4)), np.array([1, ignored, 0, ignored, 0, 3])
    losses = F.cross_entropy(T(x), T(label), ignore_index=ignored, reduction="none").numpy()
    got = F.cross_entropy(T(x), T(label), ignore_index=ignored)
    np.testing.assert_allclose(float(got), losses.sum() / rows)
    got = F.nll_loss(F.log_softmax(T(x)), T(label), ignore_index=ignored)
    np.testing.assert_allclose(float(got), losses.sum() / 4)


def test_cross_entropy_over_another_axis(gradients_hold):
    x, label = RNG.normal(size=(2, 3, 4)), RNG.integers(0, 3, (2, 4))
    want = -np.take_along_axis(log_softmax(x, 1), label[:, None], 1)
    np.testing.assert_allclose(F.cross_entropy(T(x), T(label), axis=1, reduction="none").numpy(), want[:, 0])
    kept = F.cross_entropy(T(x), T(label[:, None]), axis=1, reduction="none")
    np.testing.assert_allclose(kept.numpy(), want)
    gradients_hold(lambda t: F.cross_entropy(t, T(label), axis=1), x)


def test_cross_entropy_with_probabilities_as_labels(gradients_hold):
    soft = np.exp(log_softmax(RNG.normal(size=(5, 4))))
    want = -(soft * log_softmax(X)).sum(1, keepdims=True)
    np.testing.assert_allclose(F.cross_entropy(T(X), T(soft), soft_label=True, reduction="none").numpy(), want)
    share = soft @ WEIGHT
    got = F.cross_entropy(T(X), T(soft), T(WEIGHT), soft_label=True)
    np.testing.assert_allclose(got.numpy(), (want[:, 0] * share).sum() / share.sum())
    gradients_hold(lambda x, s: F.cross_entropy(x, s, soft_label=True), X, soft)


def test_label_smoothing(gradients_hold):
    smooth = np.eye(4)[LABEL] * 0.8 + 0.05
    want = -(smooth * log_softmax(X)).sum(1).mean()
    np.testing.assert_allclose(F.cross_entropy(T(X), T(LABEL), label_smoothing=0.2).numpy(), want)
    gradients_hold(lambda x: F.cross_entropy(x, T(LABEL), label_smoothing=0.2), X)


def test_probabilities_as_input():
    p = np.exp(log_softmax(X))
    got = F.cross_entropy(T(p), T(LABEL), use_softmax=False).numpy()
    np.testing.assert_allclose(got, -np.log(p[np.arange(5), LABEL]).mean())


def test_cross_entropy_is_stable():
    out = F.cross_entropy(T([[1e4, -1e4], [0.0, -np.inf]]), T([1, 0]), reduction="none").numpy()
    np.testing.assert_allclose(out, [2e4, 0.0])


@pytest.mark.parametrize("bad", [-1, 4, 10**9])
def test_a_label_out_of_range_is_named(bad):
    label = LABEL.copy()
    label[2] = bad
    for call in (
        lambda: F.cross_entropy(T(X), T(label)),
        lambda: F.cross_entropy(T(X), T(label), label_smoothing=0.1),
        lambda: F.softmax_with_cross_entropy(T(X), T(label[:, None])),
        lambda: F.cross_entropy(T(X), T(label), T(WEIGHT)),
    ):
        with pytest.raises(IndexError, match=str(bad)):
            call().numpy()
    assert float(F.cross_entropy(T(X), T(LABEL))) > 0  # the engine goes on


@pytest.mark.parametrize("change, text", [
    (dict(reduction="zz"), "reduction is not known"),
    (dict(label=T([0, 1])), "does not fit"),
    (dict(label=T(np.zeros((5, 4), "int64"))), "does not fit"),
    (dict(label=T(np.zeros((5, 1, 1), "int64"))), "number of axes"),
    (dict(weight=paddle.ones([3], "float64")), "weight does not fit"),
    (dict(soft_label=True, ignore_index=1), "ignore_index"),
    (dict(axis=5), "no such axis"),
    (dict(label_smoothing=2.0), "label_smoothing"),
    (dict(input=T(1.0)), "0-D"),
])  # fmt: skip
def test_cross_entropy_rejects(change, text):
    with pytest.raises(ValueError, match=text):
        F.cross_entropy(**(dict(input=T(X), label=T(LABEL)) | change))


def test_cross_entropy_of_nothing():
    assert F.cross_entropy(paddle.zeros([0, 3]), paddle.zeros([0], "int64"), reduction="none").shape == [0]
    assert np.isnan(F.cross_entropy(paddle.zeros([0, 3]), paddle.zeros([0], "int64")).numpy())
    assert F.cross_entropy(T(X), T(np.full(5, -100))).item() == 0.0


def test_softmax_with_cross_entropy():
    loss, p = F.softmax_with_cross_entropy(T(X), T(LABEL[:, None]), return_softmax=True)
    np.testing.assert_allclose(loss.numpy()[:, 0], -log_softmax(X)[np.arange(5), LABEL])
    np.testing.assert_allclose(p.numpy(), np.exp(log_softmax(X)))


def test_nll_loss(gradients_hold):
    logp = log_softmax(X)
    want = -(logp[np.arange(5), LABEL] * WEIGHT[LABEL]).sum() / WEIGHT[LABEL].sum()
    np.testing.assert_allclose(F.nll_loss(T(logp), T(LABEL), T(WEIGHT)).numpy(), want)
    gradients_hold(lambda x: F.nll_loss(x, T(LABEL), T(WEIGHT)), logp)
    with pytest.raises(ValueError, match="out of range"):
        F.nll_loss(T(logp), T([0, 0, 0, 0, 7]))


# ---- two classes ----
def test_binary_cross_entropy(gradients_hold):
    p, y = RNG.uniform(0.05, 0.95, (3, 4)), RNG.uniform(size=(3, 4))
    want = -(y * np.log(p) + (1 - y) * np.log(1 - p))
    np.testing.assert_allclose(F.binary_cross_entropy(T(p), T(y), reduction="none").numpy(), want)
    gradients_hold(F.binary_cross_entropy, p, y)
    ends = F.binary_cross_entropy(T([0.0, 1.0]), T([1.0, 0.0]), reduction="none")
    assert ends.tolist() == [100.0, 100.0]
    with pytest.raises(ValueError, match=r"a probability is out of range[^$]*numbers in \[0, 1\]"):
        F.binary_cross_entropy(T([2.0]), T([1.0])).numpy()


def test_binary_cross_entropy_with_logits(gradients_hold):
    x, y, w = RNG.normal(size=(3, 4)), RNG.uniform(size=(3, 4)), RNG.uniform(1, 3, 4)
    p = 1 / (1 + np.exp(-x))
    want = -(y * np.log(p) * w + (1 - y) * np.log(1 - p))
    got = F.binary_cross_entropy_with_logits(T(x), T(y), reduction="none", pos_weight=T(w))
    np.testing.assert_allclose(got.numpy(), want)
    gradients_hold(F.binary_cross_entropy_with_logits, x, y)
    far = F.binary_cross_entropy_with_logits(T([1e3, -1e3, -20.0]), T([0.0, 1.0, 0.0]), reduction="none").numpy()
    np.testing.assert_allclose(far, [1e3, 1e3, np.log1p(np.exp(-20.0))], rtol=1e-6)
    with pytest.raises(ValueError, match="differ in shape"):
        F.binary_cross_entropy_with_logits(T(x), T(y[0]))


def test_sigmoid_focal_loss(gradients_hold):
    x, y = RNG.normal(size=(3, 4)), RNG.integers(0, 2, (3, 4)).astype("float64")
    p = 1 / (1 + np.exp(-x))
    pt, a = np.where(y == 1, p, 1 - p), np.where(y == 1, 0.25, 0.75)
    np.testing.assert_allclose(F.sigmoid_focal_loss(T(x), T(y)).numpy(), (-a * (1 - pt) ** 2 * np.log(pt)).sum())
    gradients_hold(lambda t: F.sigmoid_focal_loss(t, T(y), gamma=1.5), x)


# ---- numbers ----
def test_differences(gradients_hold):
    x, y = RNG.normal(size=(3, 4)) * 2, RNG.normal(size=(3, 4))
    d = x - y
    np.testing.assert_allclose(F.mse_loss(T(x), T(y)).numpy(), (d * d).mean())
    np.testing.assert_allclose(F.l1_loss(T(x), T(y), "sum").numpy(), np.abs(d).sum())
    huber = np.where(np.abs(d) < 0.7, d * d / 2, 0.7 * (np.abs(d) - 0.35))
    np.testing.assert_allclose(F.smooth_l1_loss(T(x), T(y), "none", 0.7).numpy(), huber)
    np.testing.assert_allclose(F.smooth_l1_loss(T(x), T(y), "none", 0.7, False).numpy(), huber / 0.7)
    for f in (F.mse_loss, F.l1_loss, F.smooth_l1_loss):
        gradients_hold(f, x, y)
        with pytest.raises(ValueError, match="reduction"):
            f(T(x), T(y), "zz")


def test_the_slope_of_no_difference_is_zero():
    x = paddle.ones([2])
    x.stop_gradient = False
    F.l1_loss(x, paddle.ones([2])).backward()
    assert x.grad.tolist() == [0.0, 0.0]


def test_kl_div(gradients_hold):
    q, p = log_softmax(RNG.normal(size=(3, 4))), np.exp(log_softmax(RNG.normal(size=(3, 4))))
    want = p * (np.log(p) - q)
    for reduction, w in (("none", want), ("mean", want.mean()), ("batchmean", want.sum() / 3)):
        np.testing.assert_allclose(F.kl_div(T(q), T(p), reduction).numpy(), w)
    np.testing.assert_allclose(F.kl_div(T(q), T(np.log(p)), "sum", True).numpy(), want.sum())
    gradients_hold(F.kl_div, q, p)
    assert F.kl_div(T(q), paddle.zeros([3, 4], "float64"), "sum").item() == 0.0


# ---- margins ----
def test_margins(gradients_hold):
    x, y = RNG.normal(size=(3, 4)), RNG.choice([-1.0, 1.0], (3, 4))
    want = np.where(y == 1, x, np.maximum(0, 1 - x))
    np.testing.assert_allclose(F.hinge_embedding_loss(T(x), T(y), reduction="none").numpy(), want)
    np.testing.assert_allclose(F.soft_margin_loss(T(x), T(y)).numpy(), np.log1p(np.exp(-x * y)).mean())
    z = RNG.normal(size=(3, 4))
    want = np.maximum(0, -y * (x - z) + 0.3).mean()
    np.testing.assert_allclose(F.margin_ranking_loss(T(x), T(z), T(y), 0.3).numpy(), want)
    near, far = (np.linalg.norm(x - t + 1e-6, axis=1) for t in (y, z))
    np.testing.assert_allclose(F.triplet_margin_loss(T(x), T(y), T(z)).numpy(), np.maximum(near - far + 1, 0).mean())
    gradients_hold(F.triplet_margin_loss, x, y, z)
    with pytest.raises(ValueError, match="margin is negative"):
        F.triplet_margin_loss(T(x), T(y), T(z), -1.0)


def test_several_classes(gradients_hold):
    x, label = RNG.normal(size=(3, 4)), np.array([1, 0, 3])
    gap = np.maximum(0, 1 - x[np.arange(3), label][:, None] + x)
    gap[np.arange(3), label] = 0
    np.testing.assert_allclose(F.multi_margin_loss(T(x), T(label)).numpy(), gap.sum(1).mean() / 4)
    gradients_hold(lambda t: F.multi_margin_loss(t, T(label), 2), x)
    weight = np.array([0.5, 2.0, 1.0, 3.0])  # counts once, whatever the power
    want = weight[label] * (gap**2).sum(1) / 4
    np.testing.assert_allclose(F.multi_margin_loss(T(x), T(label), 2, 1.0, T(weight), "none").numpy(), want)
    own = np.array([[0, 2, -1, 1], [3, -1, -1, -1], [-1, 0, 0, 0]])
    want = []
    for row, classes in zip(x, ([0, 2], [3], [])):
        others = [j for j in range(4) if j not in classes]
        want.append(sum(max(0, 1 - row[i] + row[j]) for i in classes for j in others) / 4)
    np.testing.assert_allclose(F.multi_label_margin_loss(T(x), T(own), "none").numpy(), want)
    gradients_hold(lambda t: F.multi_label_margin_loss(t, T(own)), x)


def test_likelihoods(gradients_hold):
    x, y, v = RNG.normal(size=(3, 4)), RNG.normal(size=(3, 4)), RNG.uniform(0.5, 2, (3, 4))
    want = 0.5 * (np.log(v) + (x - y) ** 2 / v)
    np.testing.assert_allclose(F.gaussian_nll_loss(T(x), T(y), T(v), reduction="none").numpy(), want)
    gradients_hold(F.gaussian_nll_loss, x, y, v)
    k = RNG.integers(0, 5, (3, 4)).astype("float64")
    np.testing.assert_allclose(F.poisson_nll_loss(T(x), T(k)).numpy(), (np.exp(x) - k * x).mean())
    gradients_hold(lambda t: F.poisson_nll_loss(t, T(k), full=True), x)
    with pytest.raises(ValueError, match="variance is negative"):
        F.gaussian_nll_loss(T(x), T(y), T(-v))


# ---- sequences ----
def paths(steps, label, blank=0):
    """All ways to spell a label in some steps, by trying every sequence of classes."""
    import itertools

    for way in itertools.product(range(3), repeat=steps):
        merged = [c for i, c in enumerate(way) if (i == 0 or way[i - 1] != c) and c != blank]
        if merged == list(label):
            yield way


def test_ctc_loss_counts_all_alignments(gradients_hold):
    x = RNG.normal(size=(4, 3, 3))
    labels, times, lengths = [[1, 2], [1, 1], [2, 0]], [4, 4, 3], [2, 2, 1]
    logp = log_softmax(x)
    want = []
    for i, (label, t, n) in enumerate(zip(labels, times, lengths)):
        want.append(-np.log(sum(np.exp(sum(logp[s, i, c] for s, c in enumerate(way))) for way in paths(t, label[:n]))))
    call = lambda v: F.ctc_loss(v, T(np.array(labels, "int32")), T(times), T(lengths), reduction="none")  # noqa: E731
    np.testing.assert_allclose(call(T(x)).numpy(), want, rtol=1e-9)
    gradients_hold(call, x)
    mean = F.ctc_loss(T(x), T(np.array(labels, "int32")), T(times), T(lengths)).numpy()
    np.testing.assert_allclose(mean, (np.array(want) / lengths).mean())
    short = F.ctc_loss(T(x[:1]), T(np.array(labels, "int32")), T([1, 1, 1]), T(lengths), reduction="none")
    assert short.tolist()[:2] == [0.0, 0.0]
    with pytest.raises(IndexError, match=r"a label is out of range[^$]*labels: 9 at \[0, 0\], and 4 more"):
        F.ctc_loss(T(x), T(np.full((3, 2), 9, "int32")), T(times), T(lengths)).numpy()


def test_rnnt_loss(gradients_hold):
    logp = log_softmax(RNG.normal(size=(1, 2, 2, 3)))
    blank, emit = logp[0, :, :, 0], logp[0, :, 0, 2]
    # one label in two steps: emitted in the first or in the second
    ways = [emit[0] + blank[0, 1] + blank[1, 1], blank[0, 0] + emit[1] + blank[1, 1]]
    call = lambda v: F.rnnt_loss(v, T(np.array([[2]], "int32")), T([2]), T([1]), fastemit_lambda=0.0)  # noqa: E731
    np.testing.assert_allclose(call(T(logp)).numpy(), -np.log(np.exp(ways).sum()))
    gradients_hold(call, logp)


def test_many_classes(gradients_hold):
    x = RNG.normal(size=(3, 4))
    head, tail = RNG.normal(size=(4, 3)), [RNG.normal(size=(4, 2)), RNG.normal(size=(2, 2))]
    label = np.array([0, 3, 2])
    call = lambda v: F.adaptive_log_softmax_with_loss(v, T(label), T(head), [[T(t) for t in tail]], [2, 4])[0]  # noqa: E731
    top, low = log_softmax(x @ head), log_softmax(x @ tail[0] @ tail[1])
    np.testing.assert_allclose(call(T(x)).numpy(), [top[0, 0], top[1, 2] + low[1, 1], top[2, 2] + low[2, 0]])
    gradients_hold(call, x)
    renumbered, classes = F.class_center_sample(T(np.array([1, 3, 3])), 10, 5)
    assert renumbered.tolist() == [0, 1, 1] and classes.tolist()[:2] == [1, 3] and len(set(classes.tolist())) == 5
    weight = RNG.normal(size=(3, 4))
    gradients_hold(lambda a, w: F.hsigmoid_loss(a, T(np.array([0, 3, 1])), 4, w), x, weight)
