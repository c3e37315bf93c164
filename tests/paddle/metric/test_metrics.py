import numpy as np
import pytest

import paddle
from paddle.metric import Accuracy, Auc, Metric, Precision, Recall, accuracy

SCORES = np.array([[0.1, 0.9, 0.0], [0.5, 0.3, 0.2], [0.1, 0.2, 0.7], [0.4, 0.5, 0.1]], "float32")
LABELS = np.array([1, 0, 1, 1])


@pytest.mark.parametrize("form", ["vector", "column", "one hot"])
def test_accuracy_of_label_forms(form):
    label = {"vector": LABELS, "column": LABELS[:, None], "one hot": np.eye(3, dtype="float32")[LABELS]}[form]
    m = Accuracy()
    correct = m.compute(paddle.to_tensor(SCORES), paddle.to_tensor(label))
    assert correct.shape == [4, 1] and correct.dtype is paddle.float32
    assert m.update(correct) == 0.75 and m.accumulate() == 0.75 and m.name() == ["acc"]


def test_accuracy_of_several_k():
    m = Accuracy(topk=(1, 2))
    for _ in range(2):
        batch = m.update(m.compute(paddle.to_tensor(SCORES), paddle.to_tensor(LABELS)))
    assert batch == [0.75, 1.0] and m.accumulate() == [0.75, 1.0] and m.name() == ["acc_top1", "acc_top2"]
    assert m.count == [8, 8]
    m.reset()
    assert m.accumulate() == [0.0, 0.0]


def test_accuracy_of_sequences():
    m = Accuracy()
    scores, labels = paddle.to_tensor(SCORES.reshape(2, 2, 3)), paddle.to_tensor(LABELS.reshape(2, 2))
    assert m.compute(scores, labels).shape == [2, 2, 1]
    assert m.update(m.compute(scores, labels)) == 0.75


def test_accuracy_of_no_samples():
    m = Accuracy()
    assert m.update(np.zeros((0, 1), "float32")) == 0.0 and m.accumulate() == 0.0


def test_accuracy_name():
    assert Accuracy(name="q").name() == ["q"] and Accuracy(topk=(1, 3), name="q").name() == ["q_top1", "q_top3"]
    with pytest.raises(TypeError):
        Accuracy(topk=1)


def test_precision_and_recall():
    preds, labels = np.array([0.9, 0.8, 0.2, 0.5]), np.array([1, 0, 1, 1])
    for metric, expected in ((Precision(), 2 / 3), (Recall(), 2 / 3)):
        assert metric.accumulate() == 0.0
        metric.update(preds, labels)
        metric.update(paddle.to_tensor(preds[:, None]), paddle.to_tensor(labels[:, None]))
        assert metric.accumulate() == pytest.approx(expected)
        metric.reset()
        assert metric.accumulate() == 0.0
        with pytest.raises(ValueError, match="neither"):
            metric.update([1], [1])
        with pytest.raises(ValueError, match="differ in number"):
            metric.update(np.ones(3), np.ones(2))
    assert Precision().name() == "precision" and Recall("r").name() == "r"


def test_auc_is_the_share_of_ordered_pairs():
    rng = np.random.default_rng(0)
    score, y = np.round(rng.random(200), 2), rng.integers(0, 2, 200)
    m = Auc()
    for part in np.array_split(np.arange(200), 3):
        m.update(np.stack([1 - score[part], score[part]], 1), y[part][:, None])
    pairs = np.sign(score[y == 1][:, None] - score[y == 0]) / 2 + 0.5
    assert m.accumulate() == pytest.approx(pairs.mean(), abs=1e-9)
    m.reset()
    assert m.accumulate() == 0.0 and m.name() == "auc" and Auc.trapezoid_area(1, 2, 3, 4) == 3.5


def test_auc_rejects():
    with pytest.raises(IndexError):
        Auc().update(np.array([0.2]), np.array([1]))
    with pytest.raises(AssertionError):
        Auc().update(np.array([[1.5, 1.5]]), np.array([[1]]))


def test_metric_is_abstract():
    with pytest.raises(TypeError):
        Metric()


def test_functional_accuracy():
    x, y = paddle.to_tensor(SCORES), paddle.to_tensor(LABELS[:, None])
    correct, total = paddle.zeros([1], "int32"), paddle.zeros([1], "int32")
    assert float(accuracy(x, y)) == 0.75 and accuracy(x, y).shape == []
    assert float(accuracy(x, y, k=2, correct=correct, total=total)) == 1.0
    assert correct.tolist() == [4] and total.tolist() == [4]
    with pytest.raises(ValueError, match="does not match"):
        accuracy(x, paddle.to_tensor(LABELS))
    with pytest.raises(ValueError):
        accuracy(x, y, k=9)
