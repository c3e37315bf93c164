"""An index that is out of range is found late; the Tensors are what they were when the wrong line was reached."""

import numpy as np
import pytest

import paddle
import paddle.nn as nn
import paddle.nn.functional as F
from paddle.engine import flags


@pytest.fixture(params=["never", "always"])
def tier(request):
    before = flags.get("FLAGS_eager_compile")
    paddle.set_flags({"FLAGS_eager_compile": request.param})
    yield request.param
    paddle.set_flags({"FLAGS_eager_compile": before})


def tensor(*shape, seed=0, sg=True):
    return paddle.to_tensor(np.random.RandomState(seed).randn(*shape).astype("float32"), stop_gradient=sg)


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.embed, self.norm, self.out = nn.Embedding(5, 3), nn.BatchNorm1D(3), nn.Linear(3, 2)

    def forward(self, i):
        return self.out(self.norm(self.embed(i)))


@pytest.mark.parametrize("bad_at", [0, 1, 5])
@pytest.mark.parametrize("read", ["loss", "nothing"])
def test_a_bad_batch_leaves_parameters_and_optimizer_as_they_were(tier, bad_at, read):
    def train(batches):
        paddle.seed(3)
        m = Net()
        for k, p in enumerate(m.parameters()):
            p.set_value(np.random.RandomState(k).rand(*p.shape).astype("float32") + 0.5)
        o = paddle.optimizer.Adam(0.01, parameters=m.parameters())
        failed = 0
        for i in batches:
            try:
                loss = m(paddle.to_tensor(i)).pow(2).mean()
                loss.backward()
                o.step()
                o.clear_grad()
                if read == "loss":
                    loss.item()
                else:
                    m.embed.weight.numpy()
            except IndexError:
                failed += 1
                o.clear_grad()
        return failed, [p.numpy() for p in m.parameters()]

    good = [[0, 1, 2], [2, 3, 4], [0, 3, 1], [4, 1, 0], [2, 2, 3], [1, 0, 4]]
    bad = [*good[:bad_at], [1, 7, 2], *good[bad_at:]]
    failed, got = train(bad)
    assert failed == 1
    _, expected = train(good)
    for a, b in zip(got, expected):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-7)


def test_a_bad_label_after_a_long_way(tier):
    lin = nn.Linear(4, 3)
    o = paddle.optimizer.Momentum(0.1, parameters=lin.parameters())
    total = paddle.zeros([])
    for label in ([0, 1], [0, 9], [2, 1]):
        before = lin.weight.numpy()
        try:
            loss = F.cross_entropy(lin(tensor(2, 4)), paddle.to_tensor(label))
            loss.backward()
            o.step()
            o.clear_grad()
            total = total + loss.detach()
            total.item()
        except IndexError:
            np.testing.assert_array_equal(lin.weight.numpy(), before)
            assert float(lin.weight.grad.abs().max()) == 0
    assert np.isfinite(total.item()) or label != [2, 1]


def test_values_that_do_not_depend_on_the_failure_are_there(tier):
    x = tensor(3)
    kept = x * 2
    changed = x + 0
    changed.add_(x)
    bad = paddle.gather(kept, paddle.to_tensor([5]))
    changed.add_(bad.sum())
    other = x * 3
    with pytest.raises(IndexError):
        bad.numpy()
    np.testing.assert_allclose(kept.numpy(), x.numpy() * 2)
    np.testing.assert_allclose(changed.numpy(), x.numpy() * 2)
    np.testing.assert_allclose(other.numpy(), x.numpy() * 3)
    with pytest.raises(RuntimeError, match="lost"):
        bad.numpy()


def test_gradients_of_a_backward_that_did_not_happen(tier):
    w = tensor(4, 2, sg=False)
    (w * 2).sum().backward()
    w.grad.numpy()
    loss = paddle.gather(w, paddle.to_tensor([1, 9])).sum()
    loss.backward()
    with pytest.raises(IndexError):
        loss.item()
    np.testing.assert_array_equal(w.grad.numpy(), np.full((4, 2), 2.0, "float32"))
    (w * 3).sum().backward()
    np.testing.assert_array_equal(w.grad.numpy(), np.full((4, 2), 5.0, "float32"))
