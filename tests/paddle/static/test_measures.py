"""Measures, averages and printing in static programs."""

import numpy as np
import pytest

import paddle
from paddle import static


@pytest.fixture(autouse=True)
def static_mode():
    paddle.enable_static()
    with static.scope_guard(static.Scope()), static.program_guard(static.Program(), static.Program()):
        yield
    paddle.disable_static()


def test_accuracy_and_the_area_under_the_curve():
    x, y = static.data("x", [None, 2]), static.data("y", [None, 1], "int64")
    share, (area, positive, negative) = static.accuracy(x, y), static.auc(x, y)
    exe = static.Executor()
    exe.run(static.default_startup_program())
    rng = np.random.default_rng(0)
    every = paddle.metric.Auc()
    for _ in range(3):
        p = rng.random((40, 1)).astype("float32")
        scores, label = np.concatenate([1 - p, p], 1), (rng.random((40, 1)) < p).astype("int64")
        found = exe.run(feed={"x": scores, "y": label}, fetch_list=[share, area, positive.sum(), negative.sum()])
        assert np.isclose(found[0], ((p > 0.5) == label).mean())
        every.update(scores, label)
        assert np.isclose(found[1], every.accumulate())
    assert found[2] + found[3] == 120
    with pytest.raises(ValueError, match="not supported"):
        static.auc(x, y, curve="PR")


def test_averages_of_parameters():
    x = static.data("x", [None, 2])
    loss = static.nn.fc(x, 1, bias_attr=False).mean()
    paddle.optimizer.SGD(0.1).minimize(loss)
    average = static.ExponentialMovingAverage(0.9)
    average.update()
    exe = static.Executor()
    exe.run(static.default_startup_program())
    name = static.default_main_program().all_parameters()[0].name
    weight = lambda: np.array(static.global_scope().find_var(name).get_tensor())
    m, seen = 0.0, []
    for _ in range(4):
        exe.run(feed={"x": np.ones((1, 2), "float32")})
        seen.append(weight())
        m = 0.9 * m + 0.1 * seen[-1]
    with average.apply(exe):
        assert np.allclose(weight(), m / (1 - 0.9**4), atol=1e-6)
    assert np.array_equal(weight(), seen[-1])


def test_printing(capsys):
    x = static.data("x", [None])
    static.Print(x * 2, message="doubled", first_n=1, summarize=2)
    exe = static.Executor()
    for _ in range(2):
        exe.run(feed={"x": np.array([1, 2, 3], "float32")})
    out = capsys.readouterr().out
    assert out.count("doubled") == 1 and "data: [2 4]" in out and "shape: [3]" in out


def test_layers_as_functions():
    image, words = static.data("image", [None, 3, 8, 8]), static.data("words", [None, 4], "int64")
    h = static.nn.conv2d(image, 4, 3, padding=1, act="relu")
    outs = [
        h,
        static.nn.batch_norm(h),
        static.nn.layer_norm(h),
        static.nn.fc(h, 5, num_flatten_dims=2),
        static.nn.fc([words.astype("float32"), words.astype("float32")], 3, activation="tanh"),
        static.nn.embedding(words, [10, 6]),
        static.nn.group_norm(h, 2),
        static.nn.instance_norm(h),
        static.nn.prelu(h, "channel"),
    ]
    shapes = [[-1, 4, 8, 8], [-1, 4, 8, 8], [-1, 4, 8, 8], [-1, 4, 5], [-1, 3], [-1, 4, 6], *[[-1, 4, 8, 8]] * 3]
    assert [o.shape for o in outs] == shapes
    exe = static.Executor()
    exe.run(static.default_startup_program())
    feed = {"image": np.ones((2, 3, 8, 8), "float32"), "words": np.ones((2, 4), "int64")}
    assert [list(a.shape)[1:] for a in exe.run(feed=feed, fetch_list=outs)] == [s[1:] for s in shapes]
    with pytest.raises(TypeError, match="not of a floating"):
        static.nn.fc(words, 3)
    with pytest.raises(ValueError, match="no such mode"):
        static.nn.prelu(h, "row")
    strategy = static.BuildStrategy()
    strategy.fuse_bn_act_ops = True
    assert exe.run(static.CompiledProgram(static.default_main_program(), strategy), feed=feed, fetch_list=[outs[0]])
    with pytest.raises(AttributeError, match="no such setting"):
        strategy.fuse_everything = True
    with pytest.raises(ValueError, match="num_flatten_dims"):
        static.nn.fc(image, 3, num_flatten_dims=4)
