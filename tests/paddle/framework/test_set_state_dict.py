"""What layers and optimizers do with states that do not fit: all is said, and nothing is half done."""

import warnings

import numpy as np
import pytest

import paddle
from paddle import nn


def layer():
    with paddle.utils.unique_name.guard():
        return nn.Linear(2, 3)


def trained(rate=0.1, steps=1, kind=paddle.optimizer.Adam):
    net = layer()
    optimizer = kind(rate, parameters=net.parameters())
    for _ in range(steps):
        net(paddle.ones([1, 2])).sum().backward()
        optimizer.step()
        optimizer.clear_grad()
    return net, optimizer


def values(state):
    return {k: v.numpy().copy() for k, v in state.items() if isinstance(v, paddle.Tensor)}


# ---- layers -----------------------------------------------------------------------------------
GOOD = {"weight": np.zeros([2, 3], "float32"), "bias": np.ones([3], "float32")}


@pytest.mark.parametrize(
    "change, result, warning",
    [
        ({}, ([], []), None),
        ({"more": np.ones(2)}, ([], ["more"]), None),
        ({"bias": None}, (["bias"], ["bias"]), "Skip loading for bias. bias is not found"),
        ({"bias": np.ones([4], "float32")}, (["bias"], ["bias"]), r"receives a shape \[4\], but the expected shape is"),
        ({"bias": np.ones([], "float32")}, (["bias"], ["bias"]), r"receives a shape \[\]"),
    ],
)
def test_what_a_layer_skips(change, result, warning):
    net = layer()
    before = net.bias.numpy()
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        assert net.set_state_dict({**GOOD, **change}) == result
    assert len(said) == (warning is not None)
    if warning:
        assert "bias" in str(said[0].message)
        with pytest.warns(UserWarning, match=warning):
            net.set_state_dict({**GOOD, **change})
        np.testing.assert_array_equal(net.bias.numpy(), before)
    np.testing.assert_array_equal(net.weight.numpy(), 0.0)


@pytest.mark.parametrize("kind", ["float64", "int64", "bfloat16", "bool"])
def test_a_layer_takes_nothing_where_a_dtype_is_wrong(kind):
    net = layer()
    before = net.weight.numpy()
    bad = {**GOOD, "bias": paddle.ones([3]).astype(kind)}
    with pytest.raises(AssertionError, match=rf"(?s)bias is of another dtype.*float32\[3\].*{kind}\[3\].*astype"):
        net.set_state_dict(bad)
    np.testing.assert_array_equal(net.weight.numpy(), before)
    with pytest.raises(AttributeError, match="holds no parameters"):
        net.set_state_dict([1])


def test_names_of_tensors_are_what_is_missing():
    net = layer()
    with pytest.warns(UserWarning, match="linear_0.b_0 is not found"):
        found = net.set_state_dict({"linear_0.w_0": GOOD["weight"]}, use_structured_name=False)
    assert found == (["linear_0.b_0"], [])


# ---- optimizers -------------------------------------------------------------------------------
MOMENT = "linear_0.w_0_moment1"


def without(state, *words):
    return {k: v for k, v in state.items() if not any(w in k for w in words)}


def changed(state, word, value):
    return {k: value if word in k else v for k, v in state.items()}


@pytest.mark.parametrize("steps", [0, 2])
@pytest.mark.parametrize(
    "spoil, what",
    [
        (lambda s: without(s, MOMENT), "a state of the optimizer is missing: linear_0.w_0_moment1"),
        (lambda s: without(s, "b_0_beta2_pow_acc"), "missing: linear_0.b_0_beta2_pow_acc"),
        (
            lambda s: changed(s, MOMENT, paddle.zeros([5])),
            r"(?s)w_0_moment1_\d+ does not fit.*float32\[2, 3\].*float32\[5\]",
        ),
        (lambda s: changed(s, MOMENT, paddle.zeros([3, 2])), r"float32\[3, 2\]"),
        (lambda s: changed(s, MOMENT, paddle.zeros([2, 3], "float64")), r"float64\[2, 3\]"),
        (lambda s: changed(s, MOMENT, None), "w_0_moment1_.+ does not fit"),
        (lambda s: changed(s, "pow", paddle.zeros([2])), r"(?s)pow_acc_.+ does not fit.*\[1\].*\[2\]"),
    ],
)
def test_an_optimizer_takes_nothing_where_a_state_is_wrong(steps, spoil, what):
    state = trained(steps=3)[1].state_dict()
    net, optimizer = trained(steps=steps)
    before = values(optimizer.state_dict())
    with pytest.raises(AssertionError, match=what):
        optimizer.set_state_dict(spoil(state))
    after = values(optimizer.state_dict())
    assert before.keys() == after.keys()
    for k in before:
        np.testing.assert_array_equal(after[k], before[k])
    net(paddle.ones([1, 2])).sum().backward()
    optimizer.step()  # goes on as if nothing had been
    expected = values(trained(steps=steps + 1)[1].state_dict())
    for a, b in zip(values(optimizer.state_dict()).values(), expected.values()):
        np.testing.assert_array_equal(a, b)
    optimizer.set_state_dict(state)
    for a, b in zip(values(optimizer.state_dict()).values(), values(state).values()):
        np.testing.assert_array_equal(a, b)


def test_states_under_other_names_are_noticed():
    with paddle.utils.unique_name.guard():
        nn.Linear(2, 2)
        net = nn.Linear(2, 3)
    optimizer = paddle.optimizer.Adam(parameters=net.parameters())
    optimizer.set_state_dict(trained()[1].state_dict())  # as upstream: found out when the states are needed
    net(paddle.ones([1, 2])).sum().backward()
    with pytest.raises(
        AssertionError, match=r"(?s)missing: linear_1.w_0_moment1.*linear_0.*make the layers in the same"
    ):
        optimizer.step()


def test_the_numbers_at_the_end_of_keys_do_not_count():
    state = trained(steps=2)[1].state_dict()
    other = {k.rsplit("_", 1)[0] + "_17": v for k, v in state.items()}
    optimizer = trained(steps=0)[1]
    optimizer.set_state_dict(other)
    found = values(optimizer.state_dict())
    for k, a in values(state).items():
        np.testing.assert_array_equal(
            next(v for n, v in found.items() if n.rsplit("_", 1)[0] == k.rsplit("_", 1)[0]), a
        )


def test_parameters_that_were_not_trained_then_begin_anew():
    with paddle.utils.unique_name.guard():
        a, b = nn.Linear(2, 2), nn.Linear(2, 1)
    first = paddle.optimizer.Adam(0.1, parameters=[*a.parameters(), *b.parameters()])
    a(paddle.ones([1, 2])).sum().backward()
    first.step()
    second = paddle.optimizer.Adam(0.1, parameters=[*a.parameters(), *b.parameters()])
    second.set_state_dict(first.state_dict())
    b(a(paddle.ones([1, 2]))).sum().backward()
    second.step()
    assert len(values(second.state_dict())) == 16


def test_the_schedule_of_an_optimizer():
    def make(schedule):
        return paddle.optimizer.SGD(schedule, parameters=layer().parameters())

    step = lambda: paddle.optimizer.lr.StepDecay(0.1, 2)
    with pytest.raises(AssertionError, match="the state of the schedule is missing"):
        make(step()).set_state_dict({})
    make(paddle.optimizer.lr.LambdaDecay(0.1, lambda e: 1.0)).set_state_dict({})  # has nothing to remember
    optimizer = make(step())
    optimizer._learning_rate.step()
    with pytest.raises(RuntimeError, match="last_lr is missing"):
        optimizer.set_state_dict({"LR_Scheduler": {"last_epoch": 7}})
    assert optimizer._learning_rate.last_epoch == 1
    with pytest.raises(AttributeError, match="a dict"):
        optimizer.set_state_dict([1])
