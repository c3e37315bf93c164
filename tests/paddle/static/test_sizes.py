"""Open sizes: what follows from them by more than a formula, and what is refused."""

import numpy as np
import pytest

import paddle
from paddle import nn, static

F = nn.functional


@pytest.fixture(autouse=True)
def static_mode():
    paddle.enable_static()
    with static.scope_guard(static.Scope()), static.program_guard(static.Program(), static.Program()):
        yield
    paddle.disable_static()


def array(*shape):
    return np.random.default_rng(len(shape)).standard_normal(shape).astype("float32")


def compare(f, *arrays):
    x = static.data("x", [None, None, 6])
    out = f(x)
    main, exe = static.default_main_program(), static.Executor()
    for a in arrays:
        found = exe.run(main, feed={"x": a}, fetch_list=[out])[0]
        paddle.disable_static()
        wanted = f(paddle.to_tensor(a)).numpy()
        paddle.enable_static()
        assert found.shape == wanted.shape and np.allclose(found, wanted, atol=1e-5), a.shape


SIZES = [array(2, 8, 6), array(3, 7, 6), array(4, 4, 6), array(1, 3, 6), array(2, 1, 6)]


@pytest.mark.parametrize(
    "f",
    [
        lambda x: F.max_pool1d(x.transpose([0, 2, 1]), 3, 2, ceil_mode=True),
        lambda x: F.avg_pool1d(x.transpose([0, 2, 1]), 2, 2),
        lambda x: F.adaptive_avg_pool1d(x.transpose([0, 2, 1]), 1),
        lambda x: F.conv1d(x.transpose([0, 2, 1]), paddle.ones([4, 6, 3]), stride=2, padding=1),
        lambda x: paddle.shape(x),
        lambda x: paddle.zeros_like(x) + 1.0,
        lambda x: F.scaled_dot_product_attention(*[x.unsqueeze(2)] * 3, is_causal=True),
        lambda x: paddle.stack([x, x], 1).flatten(1, 2),
        lambda x: x.var(axis=[0, 2], unbiased=False),
        lambda x: paddle.tril(x @ x.transpose([0, 2, 1])),
    ],
    ids=["ceil", "pool", "adaptive", "stride", "shape", "like", "attention", "stack", "var", "tril"],
)
def test_what_is_done_follows_from_the_sizes(f):
    compare(f, *SIZES)


def test_what_does_not_follow_by_a_rule_is_refused():
    x = static.data("x", [None, None, 6])
    n = x.shape[1] + 0  # what stands for it
    half, clipped, table = x[:, : n // 2], x[:, :5], F.adaptive_avg_pool1d(x.transpose([0, 2, 1]), 3)
    exe = static.Executor()
    with pytest.raises(ValueError, match="(?s)not known what slice does.*test_sizes.py"):
        exe.run(feed={"x": SIZES[0]}, fetch_list=[half])
    assert exe.run(feed={"x": SIZES[0]}, fetch_list=[clipped])[0].shape == (2, 5, 6)
    with pytest.raises(ValueError, match="(?s)slice does not take the sizes.*test_sizes.py"):
        exe.run(feed={"x": SIZES[3]}, fetch_list=[clipped])
    with pytest.raises(RuntimeError, match="constant of the program"):
        exe.run(feed={"x": SIZES[0]}, fetch_list=[table])
    spread = nn.BatchNorm1D(6)(x.mean(axis=1))
    exe.run(static.default_startup_program())
    exe.run(feed={"x": SIZES[0]}, fetch_list=[spread])
    with pytest.raises(ValueError, match="(?s)one element per channel.*test_sizes.py"):
        exe.run(feed={"x": SIZES[3]}, fetch_list=[spread])
    image = static.data("image", [None, 3, None, None])
    with pytest.raises(RuntimeError, match="interpolate: the size of the axis is open"):
        F.interpolate(image, scale_factor=2)
    with pytest.raises(RuntimeError, match="SAME"):
        F.conv2d(image, paddle.ones([4, 3, 3, 3]), stride=2, padding="SAME")


def test_constants_that_people_choose_stay():
    x = static.data("x", [None, 3])
    numbers = (1e-6, 1e-8, 1e6, 0.999, 0.001, 2.0**20, 30522.0, 1e-12)
    outs = [x * v for v in numbers]
    found = static.Executor().run(feed={"x": np.ones((2, 3), "float32")}, fetch_list=outs)
    for v, f in zip(numbers, found):
        assert np.array_equal(f, np.full((2, 3), v, "float32")), v


@pytest.mark.parametrize("kind", ["attention", "recurrent"])
def test_training_on_sentences_of_many_lengths(kind):
    class Model(nn.Layer):
        def __init__(self):
            super().__init__()
            self.table = nn.Embedding(50, 8)
            if kind == "recurrent":
                self.body = nn.LSTM(8, 4, direction="bidirect")
            else:
                self.body = nn.TransformerEncoderLayer(8, 2, 16, 0.1)
            self.out = nn.Linear(8, 5)

        def forward(self, words):
            h = self.body(self.table(words))
            return self.out((h[0] if kind == "recurrent" else h).mean(axis=1))

    def batches():
        rng = np.random.default_rng(0)
        for n, t in ((4, 6), (3, 9), (5, 6), (1, 4)):
            yield rng.integers(0, 50, (n, t)), np.arange(n) % 5

    x, y = static.data("x", [None, None], "int64"), static.data("y", [None], "int64")
    loss = F.cross_entropy(Model()(x), y).mean()
    paddle.optimizer.Adam(0.01).minimize(loss)
    exe = static.Executor()
    paddle.seed(1)
    exe.run(static.default_startup_program())
    found = [float(exe.run(feed={"x": a, "y": b}, fetch_list=[loss])[0]) for a, b in batches()]
    paddle.disable_static()
    paddle.seed(1)
    model = Model()
    optimizer = paddle.optimizer.Adam(0.01, parameters=model.parameters())
    wanted = []
    for a, b in batches():
        loss = F.cross_entropy(model(paddle.to_tensor(a)), paddle.to_tensor(b)).mean()
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        wanted.append(float(loss))
    paddle.enable_static()
    assert np.allclose(found, wanted, rtol=1e-5)


def test_control_flow_at_open_sizes_with_gradients():
    def f(x):
        either = static.nn.cond(x.sum() > 0, lambda: x * 2 + x.mean(), lambda: (x - 1).reshape([-1, 3]))
        i = paddle.zeros([1], "int64")
        step = lambda i, t: [i + 1, t + (t * 0.5).mean(axis=0, keepdim=True)]
        _, total = static.nn.while_loop(lambda i, t: i < 4, step, [i, x])
        return either, total, static.nn.switch_case(i + 1, {0: lambda: x[:, 0], 1: lambda: x[:, -1] + x.mean()})

    x = static.data("x", [None, 3])
    x.stop_gradient = False
    outs = f(x)
    (dx,) = static.gradients([o.sum() for o in outs], [x])
    main, exe = static.default_main_program(), static.Executor()
    for n, sign in ((2, 1), (5, -1), (1, 1)):
        a = np.abs(array(n, 3)) * sign
        found = exe.run(main, feed={"x": a}, fetch_list=[*outs, dx])
        paddle.disable_static()
        t = paddle.to_tensor(a, stop_gradient=False)
        wanted = f(t)
        sum(o.sum() for o in wanted).backward()
        for g, w in zip(found, [*wanted, t.grad]):
            assert np.allclose(g, w.numpy(), atol=1e-5)
        paddle.enable_static()
