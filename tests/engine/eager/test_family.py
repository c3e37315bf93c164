"""Programs that differ in sizes only share a template; what they compute is the same without."""

import threading

import numpy as np
import pytest

import paddle
import paddle.nn.functional as F
from paddle import nn
from paddle.engine import flags
from paddle.engine.eager import family
from paddle.engine.eager.trace import forget_programs


@pytest.fixture(autouse=True)
def fresh_programs():
    forget_programs()
    yield
    forget_programs()


@pytest.fixture
def alone(monkeypatch):
    """As if no second thread had ever recorded."""
    from paddle.engine.eager import trace

    monkeypatch.setattr(trace, "_several", False)


def taken(run):
    """What `run` gives, and how many of its programs were those of a template."""
    before = family.statistics["resized"]
    out = run()
    return out, family.statistics["resized"] - before


def without(run, monkeypatch):
    forget_programs()
    with monkeypatch.context() as m:
        m.setattr(family, "resized", lambda *a: None)
        out, count = taken(run)
    assert count == 0
    forget_programs()
    return out


def encoder(lengths):
    paddle.seed(0)
    rng = np.random.default_rng(0)
    words, layer, head = nn.Embedding(50, 16), nn.TransformerEncoderLayer(16, 2, 32, dropout=0.1), nn.Linear(16, 3)
    parameters = words.parameters() + layer.parameters() + head.parameters()
    optimizer = paddle.optimizer.AdamW(1e-2, parameters=parameters, grad_clip=nn.ClipGradByGlobalNorm(1.0))
    losses = []
    for n in lengths:
        ids = paddle.to_tensor(rng.integers(0, 50, (2, n)))
        mask = paddle.to_tensor(rng.random((2, 1, 1, n)) > 0.1)
        loss = F.cross_entropy(head(layer(words(ids), mask).mean(1)), paddle.to_tensor([0, 2]))
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        losses.append(float(loss))
    return losses


def linear(lengths, use=lambda y: (y.mean(),)):
    paddle.seed(0)
    layer = nn.Linear(4, 8)
    found = []
    with paddle.no_grad():
        for i, n in enumerate(lengths):
            x = np.random.default_rng(i).standard_normal((n, 4)).astype("float32")
            found += [np.asarray(v.numpy() if hasattr(v, "numpy") else v) for v in use(layer(paddle.to_tensor(x)))]
    return found


def equal(a, b):
    assert len(a) == len(b)
    for x, y in zip(a, b):
        np.testing.assert_array_equal(x, y)


ORDER = [12, 30, 7, 21, 19, 8, 28, 11, 25, 9, 14, 29, 10, 27, 13]


def test_training_with_a_new_length_every_step(alone, monkeypatch):
    plain = without(lambda: encoder(ORDER), monkeypatch)
    losses, count = taken(lambda: encoder(ORDER))
    assert losses == plain
    assert count >= 5


def test_two_axes_change(alone, monkeypatch):
    rng = np.random.default_rng(0)
    sizes = rng.permutation([(h, w) for h in range(8, 24, 3) for w in range(9, 26, 4)])

    def run():
        paddle.seed(0)
        net = nn.Sequential(nn.Conv2D(2, 4, 3, padding=1), nn.ReLU(), nn.BatchNorm2D(4), nn.AdaptiveAvgPool2D(1))
        return [net(paddle.ones([2, 2, int(h), int(w)]).cumsum(2) * 0.1).sum().numpy() for h, w in sizes]

    def images():
        paddle.seed(0)
        net = nn.Sequential(nn.Conv2D(2, 4, 3, padding=1), nn.ReLU(), nn.BatchNorm2D(4))
        found = []
        for h, w in sizes:
            x = paddle.to_tensor(np.linspace(-1, 1, 4 * h * w, dtype="float32").reshape(2, 2, h, w))
            found.append(net(x).mean().numpy())
        return found

    plain = without(images, monkeypatch)
    found, count = taken(images)
    equal(found, plain)
    assert count > 5
    equal(run(), without(run, monkeypatch))


USES = {
    "half": lambda y: (y[: y.shape[0] // 2].sum(), y[y.shape[0] // 2 :].mean()),
    "at most 20": lambda y: (y[: min(y.shape[0], 20)].sum(),),
    "slices": lambda y: (y[:20].sum(), y[-3:].mean(), y[::2].max(), y[1:-1].min()),
    "branches": lambda y: (y.sum() if y.shape[0] % 2 else y.mean(), y.max() if y.shape[0] > 15 else y.min()),
    "padded": lambda y: (F.pad(y, [0, 0, 0, 64 - y.shape[0]]).mean(0),),
    "padded if short": lambda y: (F.pad(y, [0, 0, 0, max(0, 20 - y.shape[0])]).std(),),
    "shapes": lambda y: (y.reshape([-1]), y.T.flatten(), y.unsqueeze(0).expand([3, -1, -1]).sum(0), y.shape[0]),
    "search": lambda y: (*paddle.topk(y, 3, axis=0), y.argsort(0), (y > 0).sum(), y.cumsum(0)),
    "joined": lambda y: (paddle.concat([y, y[:3]]).var(), paddle.stack([y, y * 2]).sum(0)),
    "numbers": lambda y: (y / y.shape[0], y * (1.0 / y.shape[0]), y + y.shape[0], y * 0.1 * y.shape[0]),
    "made": lambda y: (paddle.arange(y.shape[0]) + 1, paddle.full([y.shape[0], 2], 3.0), paddle.eye(y.shape[0])),
}  # fmt: skip


@pytest.mark.parametrize("name", USES)
def test_programs_that_ask_for_sizes(name, alone, monkeypatch):
    run = lambda: linear(ORDER, USES[name])
    equal(taken(run)[0], without(run, monkeypatch))


def test_numbers_that_do_not_follow_from_sizes(alone, monkeypatch):
    def use(y):
        return (y * (float(y.sum()) + 7.5), y * float("nan" if y.shape[0] % 2 else 2.5), y + 1.0 / (y.shape[0] - 11.5))

    run = lambda: linear(ORDER, use)
    equal(taken(run)[0], without(run, monkeypatch))


def test_backward_of_values_that_were_read(alone, monkeypatch):
    """Steps of backwards are found by keys; those that samples and programs of their own have recorded stay."""

    def run(sizes):
        w, v = paddle.ones([4]), paddle.full([4], 2.0)
        w.stop_gradient = v.stop_gradient = False
        found = []
        for n in sizes:
            x = paddle.to_tensor(np.random.default_rng(n).standard_normal((n, 4)).astype("float32"))
            h = (x * w).tanh()
            y = (h * v).sum()
            found += [h.numpy(), y.numpy()]
            y.backward()
            found += [w.grad.numpy(), v.grad.numpy()]
        return found

    for sizes in (
        [10, 33, 3, 28, 31, 9, 33],
        [10, 33, 3, 28, *[9, 12, 9, 12, 9, 31] * 3],
        [*ORDER, *ORDER, 15, *ORDER],
    ):
        forget_programs()
        found, count = taken(lambda sizes=sizes: run(sizes))
        assert count
        equal(found, without(lambda sizes=sizes: run(sizes), monkeypatch))


def test_templates_are_taken(alone):
    for name in ("slices", "shapes", "numbers", "joined"):
        forget_programs()
        _, count = taken(lambda name=name: linear(ORDER, USES[name]))
        assert count >= 4, name


def test_sizes_beyond_those_of_the_samples(alone, monkeypatch):
    order = [*ORDER, 1, 60, 0, 2, 61, 3, 62, 59, 40, 45]
    run = lambda: linear(order, lambda y: (y, y.sum()))
    equal(taken(run)[0], without(run, monkeypatch))


def test_sizes_that_come_again_get_programs_of_their_own(alone):
    from paddle.engine.eager.materialize import statistics

    sizes = [*ORDER, *[ORDER[-1]] * 80]
    before = statistics()["compiled"]["runs"]
    found = linear(sizes, lambda y: (y.sum(),))
    assert statistics()["compiled"]["runs"] > before
    again = linear(sizes[::-1], lambda y: (y.sum(),))
    assert len(found) == len(again)


def test_a_program_that_leaves_its_family(alone, monkeypatch):
    """What is recorded beside a template is not found there at other sizes."""

    def use(y):
        return (y.exp().sum(), y.shape[0]) if y.shape[0] in (9, 13) else (y.sum(), y.shape[0])

    run = lambda: linear([*ORDER, 9, 13, 15, 16], use)
    equal(taken(run)[0], without(run, monkeypatch))


def test_values_held_over_several_sizes(alone, monkeypatch):
    """Tensors and gradients of one size stay right while others run."""

    def run():
        paddle.seed(0)
        w = paddle.create_parameter([4, 4], "float32")
        kept, found = [], []
        for i, n in enumerate(ORDER):
            x = paddle.to_tensor(np.random.default_rng(i).standard_normal((n, 4)).astype("float32"))
            y = paddle.tanh(x @ w)
            kept.append((y, y.sum()))
            float(kept[-1][1])
        for y, s in kept:
            s.backward()
            found += [y.numpy(), w.grad.numpy()]
        return found

    equal(taken(run)[0], without(run, monkeypatch))


def test_the_loss_is_read_before_backward(alone, monkeypatch):
    """Two programs a step: the second goes back over what the first one has computed."""

    def run():
        paddle.seed(0)
        layer, found = nn.Linear(4, 3), []
        for i, n in enumerate(ORDER):
            x = paddle.to_tensor(np.random.default_rng(i).standard_normal((2, n, 4)).astype("float32"))
            loss = paddle.tanh(layer(x)).square().mean()
            found.append(loss.numpy())
            loss.backward()
            found.append(layer.weight.grad.numpy())
            layer.clear_gradients()
        return found

    found, count = taken(run)
    equal(found, without(run, monkeypatch))
    assert count >= 10


def test_errors_at_run_time_name_the_place(alone):
    table = paddle.ones([10, 2])
    for i, n in enumerate(ORDER):
        ids = np.zeros(n, "int64")
        if i == len(ORDER) - 1:
            ids[n - 1] = 12
            with pytest.raises(ValueError, match="12"):
                F.embedding(paddle.to_tensor(ids), table).sum().numpy()
        else:
            F.embedding(paddle.to_tensor(ids), table).sum().numpy()
    assert float(F.embedding(paddle.to_tensor([1, 2]), table).sum()) == 4.0


def test_several_threads_take_no_templates():
    run = lambda: linear(ORDER, lambda y: (y.sum(),))
    expected, results = run(), []
    threads = [threading.Thread(target=lambda: results.append(taken(run))) for _ in range(2)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    for found, count in results:
        equal(found, expected)
        assert count == 0


def test_modes_without_templates(alone):
    was = flags.get("FLAGS_eager_compile")
    flags.set_("FLAGS_eager_compile", "always")
    try:
        assert taken(lambda: linear(ORDER[:8], lambda y: (y.sum(),)))[1] == 0
    finally:
        flags.set_("FLAGS_eager_compile", was)


def test_attention_of_any_length(alone, monkeypatch):
    """Its kernels are planned for each length, over one block and over several."""
    lengths = [60, 230, 41, 100, 97, 130, 191, 44, 150, 220, 53, 199, 48, 88]

    def run():
        paddle.seed(0)
        layer, found = nn.MultiHeadAttention(16, 2), []
        for i, n in enumerate(lengths):
            x = paddle.to_tensor(np.random.default_rng(i).standard_normal((2, n, 16)).astype("float32"))
            mask = paddle.to_tensor(np.random.default_rng(i).random((2, 1, 1, n)) > 0.1)
            layer(x, x, x, mask).square().mean().backward()
            found.append(layer.k_proj.weight.grad.numpy())
            layer.clear_gradients()
        return found

    plain = without(run, monkeypatch)
    got, count = taken(run)
    equal(got, plain)
    assert count >= 4
