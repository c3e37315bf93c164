"""What all optimizers share: groups, clipping, decay, states, rates, errors, and that a step is one recorded step."""

import copy
import pickle

import numpy as np
import pytest

import paddle
from paddle import nn
from paddle import optimizer as O
from paddle.engine.eager import trace as tracing


def parameter(values, name=None, **attr):
    p = paddle.create_parameter(list(np.shape(values)), "float32", attr=paddle.ParamAttr(name=name, **attr))
    p.set_value(np.asarray(values, "float32"))
    return p


def give(p, grad):
    (p * paddle.to_tensor(np.asarray(grad, "float32"))).sum().backward()


def test_a_repeated_step_records_nothing_anew():
    net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
    rate = O.lr.ExponentialDecay(0.1, 0.9)
    opt = O.AdamW(rate, parameters=net.parameters(), grad_clip=nn.ClipGradByGlobalNorm(1.0))
    x = paddle.ones([5, 4])
    for i in range(8):
        before = tracing.trie.size
        loss = net(x).mean()
        loss.backward()
        opt.step()
        opt.clear_grad()
        rate.step()  # a changing rate is an input of the program
        loss.numpy()
        if i > 3:
            assert tracing.trie.size == before, i


def test_the_loss_may_be_read_before_backward_and_gradients_before_the_step():
    def train(read):
        p = parameter([1.0, 2.0])
        opt = O.Momentum(0.1, parameters=[p])
        for _ in range(4):
            loss = (p * p).sum()
            if read:
                loss.numpy()
            loss.backward()
            if read:
                p.grad.numpy()
            opt.step()
            if read:
                p.numpy()
            opt.clear_grad()
        return p.numpy()

    np.testing.assert_array_equal(train(False), train(True))


def test_parameters_without_gradient_stay():
    a, b, c = parameter([1.0]), parameter([1.0]), parameter([1.0], trainable=False)
    opt = O.Adam(0.1, parameters=[a, b, c])
    give(a, [1.0])
    opt.step()
    opt.clear_grad(set_to_zero=False)
    assert (b.item(), c.item()) == (1.0, 1.0) and a.item() != 1.0
    # b is younger by a step from here on
    give(a, [1.0])
    give(b, [1.0])
    opt.step()
    ages = [float(v.numpy()[0]) for k, v in opt.state_dict().items() if "beta1_pow" in k]
    np.testing.assert_allclose(ages, [0.9**3, 0.9**2], rtol=1e-6)
    one = parameter([1.0])
    alone = O.Adam(0.1, parameters=[one])
    give(one, [1.0])
    alone.step()
    assert b.item() == one.item()


def test_cleared_gradients_are_zeros_for_the_next_step():
    p = parameter([1.0])
    opt = O.Momentum(0.1, momentum=0.5, parameters=[p])
    give(p, [1.0])
    opt.step()
    opt.clear_grad()
    opt.step()
    np.testing.assert_allclose(p.numpy(), [1.0 - 0.1 - 0.05], rtol=1e-6)
    opt.clear_grad(set_to_zero=False)
    opt.step()
    np.testing.assert_allclose(p.numpy(), [0.85], rtol=1e-6)


def test_groups():
    a, b = parameter([1.0]), parameter([1.0])
    opt = O.SGD(0.1, parameters=[{"params": [a], "learning_rate": 0.5}, {"params": b, "weight_decay": 0.1}])
    for p in (a, b):
        give(p, [1.0])
    opt.step()
    np.testing.assert_allclose([a.item(), b.item()], [0.95, 1 - 0.1 * 1.1], rtol=1e-6)
    with pytest.raises(ValueError, match="more than one group"):
        O.SGD(0.1, parameters=[{"params": [a]}, {"params": [a, b]}])


def test_groups_have_settings_of_their_own():
    a, b = parameter([1.0]), parameter([1.0])
    opt = O.Adam(0.1, parameters=[{"params": [a], "beta1": 0.5}, {"params": [b]}])
    for g in (1.0, 3.0):
        for p in (a, b):
            give(p, [g])
        opt.step()
        opt.clear_grad()
    c = parameter([1.0])
    alone = O.Adam(0.1, beta1=0.5, parameters=[c])
    for g in (1.0, 3.0):
        give(c, [g])
        alone.step()
        alone.clear_grad()
    assert a.item() == c.item() != b.item()


def test_attributes_of_parameters_count():
    a = parameter([1.0], learning_rate=0.5)
    b = parameter([1.0], regularizer=paddle.regularizer.L1Decay(1.0))
    opt = O.SGD(0.1, parameters=[a, b], weight_decay=paddle.regularizer.L2Decay(2.0))
    for p in (a, b):
        give(p, [1.0])
    opt.step()
    np.testing.assert_allclose([a.item(), b.item()], [1 - 0.05 * 3, 1 - 0.1 * 2], rtol=1e-6)


@pytest.mark.parametrize(
    "clip, expected",
    [
        (nn.ClipGradByValue(0.5), [[0.5, 0.5], [0.5]]),
        (nn.ClipGradByValue(10.0, 3.5), [[3.5, 4.0], [10.0]]),
        (nn.ClipGradByNorm(1.0), [[0.6, 0.8], [1.0]]),
        (nn.ClipGradByNorm(100.0), [[3.0, 4.0], [12.0]]),
        (nn.ClipGradByGlobalNorm(13.0), [[3.0, 4.0], [12.0]]),
        (nn.ClipGradByGlobalNorm(1.3), [[0.3, 0.4], [1.2]]),
    ],
)
def test_clipping(clip, expected):
    a, b, c = parameter([0.0, 0.0]), parameter([0.0]), parameter([0.0], need_clip=False)
    opt = O.SGD(1.0, parameters=[a, b, c], grad_clip=clip)
    for p, g in ((a, [3.0, 4.0]), (b, [12.0]), (c, [100.0])):
        give(p, g)
    opt.step()
    np.testing.assert_allclose(-a.numpy(), expected[0], rtol=1e-6)
    np.testing.assert_allclose(-b.numpy(), expected[1], rtol=1e-6)
    assert c.item() == -100.0


def test_a_clipper_of_ones_own():
    p = parameter([0.0])
    opt = O.SGD(1.0, parameters=[p], grad_clip=lambda pairs: [(p, g * 0.5) for p, g in pairs])
    for _ in range(2):
        give(p, [4.0])
        opt.step()
        opt.clear_grad()
    assert p.item() == -4.0


def test_names_of_states():
    with paddle.utils.unique_name.guard():
        net = nn.Linear(2, 1)
        opt = O.Adam(O.lr.StepDecay(0.1, 2), parameters=net.parameters())
        assert list(opt.state_dict()) == ["LR_Scheduler"]
        net(paddle.ones([1, 2])).sum().backward()
        opt.step()
    assert list(opt.state_dict()) == [
        f"linear_0.{p}_0_{s}_0" for s in ("moment1", "moment2", "beta1_pow_acc", "beta2_pow_acc") for p in "wb"
    ] + ["LR_Scheduler"]
    assert opt.state_dict()["linear_0.w_0_beta1_pow_acc_0"].shape == [1]
    assert set(opt._accumulators) == {"moment1", "moment2", "beta1_pow_acc", "beta2_pow_acc"}


def test_minimize_and_apply_gradients():
    p = parameter([1.0])
    opt = O.SGD(0.1, parameters=[p])
    loss = (p * 2.0).sum()
    loss.backward()
    operations, pairs = opt.minimize(loss)
    assert operations == [] and pairs[0][0] is p and abs(p.item() - 0.8) < 1e-6
    opt.apply_gradients([(p, paddle.to_tensor([1.0]))])
    assert abs(p.item() - 0.7) < 1e-6
    assert opt.backward(loss, no_grad_set={p}) == []


def test_rates():
    p = parameter([1.0])
    opt = O.SGD(0.1, parameters=[p])
    opt.set_lr(0.5)
    assert opt.get_lr() == 0.5
    give(p, [1.0])
    opt.step()
    assert p.item() == 0.5
    opt.set_lr_scheduler(O.lr.PiecewiseDecay([1], [0.25, 0.125]))
    assert opt.get_lr() == 0.25
    with pytest.raises(RuntimeError, match="schedule"):
        opt.set_lr(0.1)


@pytest.mark.parametrize(
    "call, kind",
    [
        (lambda p: O.SGD(0.1), AttributeError),
        (lambda p: O.SGD(0.1, parameters=p), TypeError),
        (lambda p: O.SGD("a", parameters=[p]), TypeError),
        (lambda p: O.SGD(None, parameters=[p]), ValueError),
        (lambda p: O.Adam(0.1, beta1=1.2, parameters=[p]), ValueError),
        (lambda p: O.Adam(0.1, epsilon=None, parameters=[p]), AssertionError),
        (lambda p: O.Momentum(0.1, momentum=None, parameters=[p]), ValueError),
        (lambda p: O.AdamW(0.1, weight_decay="a", parameters=[p]), TypeError),
        (lambda p: O.SGD(0.1, parameters=[p], grad_clip=3), TypeError),
        (lambda p: O.SGD(0.1, parameters=[p]).set_lr("a"), TypeError),
        (lambda p: O.SGD(0.1, parameters=[p]).set_lr_scheduler(3), TypeError),
        (lambda p: O.SGD(0.1, parameters=[p]).minimize(3), AssertionError),
        (lambda p: O.Rprop(0.1, etas=(2.0, 3.0), parameters=[p]), ValueError),
        (lambda p: O.LBFGS(line_search_fn="x", parameters=[p]), ValueError),
        (lambda p: nn.ClipGradByNorm("a"), ValueError),
        (lambda p: nn.ClipGradByValue(None), TypeError),
    ],
)
def test_bad_arguments(call, kind):
    with pytest.raises(kind):
        call(parameter([1.0]))


def test_an_option_without_effect_says_so():
    with pytest.warns(UserWarning, match="rescale_grad has no effect"):
        O.Momentum(0.1, parameters=[parameter([1.0])], rescale_grad=0.5)


def test_many_steps_hold_memory_flat():
    p = parameter(np.ones(4))
    opt = O.Adam(O.lr.CosineAnnealingDecay(0.1, 50), parameters=[p])
    sizes = []
    for i in range(60):
        give(p, np.full(4, float(i)))
        opt.step()
        opt._learning_rate.step()
        opt.clear_grad()
        if i in (20, 59):
            sizes.append(tracing.trie.size)
    assert sizes[0] == sizes[1]


@pytest.mark.parametrize("name", ["Momentum", "Adam", "AdamW", "Lamb", "RMSProp"])
@pytest.mark.parametrize("grouped", [False, True])
def test_copies_go_on_where_the_original_stands(name, grouped):
    def step(net, opt):
        loss = net(paddle.ones([2, 3])).square().mean()
        loss.backward()
        opt.step()
        opt.clear_grad()
        return loss.item()

    net = paddle.nn.Sequential(paddle.nn.Linear(3, 3), paddle.nn.Linear(3, 2))
    groups = net.parameters()
    if grouped:
        own = {"Momentum": "momentum", "Lamb": "lamb_weight_decay"}.get(name, "weight_decay")
        groups = [{"params": net[0].parameters(), own: 0.3}, {"params": net[1].parameters(), "beta1": 0.5}]
    opt = getattr(paddle.optimizer, name)(0.01, parameters=groups)
    for _ in range(3):
        step(net, opt)
    copies = [copy.deepcopy((net, opt)), pickle.loads(pickle.dumps((net, opt)))]
    expected = [step(net, opt) for _ in range(3)]
    for pair in copies:
        np.testing.assert_allclose([step(*pair) for _ in range(3)], expected, rtol=1e-4)
        assert len(pair[1].state_dict()) == len(opt.state_dict())


class Heavy(paddle.optimizer.Optimizer):
    """SGD with momentum, as a user writes it for Paddle."""

    def __init__(self, learning_rate, parameters, share=0.5, **settings):
        super().__init__(learning_rate, parameters, **settings)
        self.share = share

    def _create_accumulators(self, block, parameters):
        for p in parameters:
            self._add_accumulator("speed", p)

    def _append_optimize_op(self, block, param_and_grad):
        if isinstance(param_and_grad, dict):
            self.share = param_and_grad.get("share", 0.5)
            param_and_grad = self._update_param_group(param_and_grad)
        p, g = param_and_grad
        speed = self._get_accumulator("speed", p)
        speed.set_value(speed * self.share + g)
        p.set_value(p - self._create_param_lr(param_and_grad) * speed)


def trained(make, steps=3):
    paddle.utils.unique_name.switch()
    net = paddle.nn.Linear(2, 2, weight_attr=paddle.ParamAttr(learning_rate=0.5))
    net.weight.set_value(np.full([2, 2], 0.5, "float32"))
    opt = make(net)
    for _ in range(steps):
        net(paddle.ones([1, 2])).square().sum().backward()
        opt.step()
        opt.clear_grad()
    return net, opt


@pytest.mark.parametrize(
    "settings", [{}, {"weight_decay": 0.1}, {"grad_clip": paddle.nn.ClipGradByGlobalNorm(0.3)}, {"grouped": 0.2}]
)
def test_an_optimizer_written_for_paddle(settings):
    settings = dict(settings)
    share = settings.pop("grouped", None)
    mine, opt = trained(
        lambda net: Heavy(
            0.1, [{"params": net.parameters(), "share": share}] if share else net.parameters(), **settings
        )
    )
    other, _ = trained(
        lambda net: paddle.optimizer.Momentum(0.1, share or 0.5, parameters=net.parameters(), **settings)
    )
    np.testing.assert_allclose(mine.weight.numpy(), other.weight.numpy(), rtol=1e-5)
    np.testing.assert_allclose(mine.bias.numpy(), other.bias.numpy(), rtol=1e-5)
    assert list(opt.state_dict()) == ["linear_0.w_0_speed_0", "linear_0.b_0_speed_0"]


def test_its_states_are_saved():
    def make(steps):
        return trained(lambda net: Heavy(paddle.optimizer.lr.StepDecay(0.1, 1), net.parameters()), steps)

    def next_step(net, opt):
        net(paddle.ones([1, 2])).square().sum().backward()
        opt.step()
        return net.weight.tolist()

    net, opt = make(2)
    saved = copy.deepcopy(({k: v.numpy() for k, v in net.state_dict().items()}, opt.state_dict()))
    want = next_step(net, opt)
    again, other = make(0)
    again.set_state_dict(saved[0])
    other.set_state_dict(saved[1])
    assert next_step(again, other) == want
    assert list(other.state_dict()) == list(opt.state_dict())
    with pytest.raises(RuntimeError, match="no state 'mass'"):
        other._get_accumulator("mass", again.weight)


@pytest.mark.parametrize("others", [(), ("float32",), ("bfloat16", "float32")])
def test_the_rate_of_float64_parameters_is_of_float64(others):
    make = lambda kind: paddle.create_parameter([1], kind, default_initializer=paddle.nn.initializer.Constant(1.0))
    p, *more = map(make, ("float64", *others))
    optimizer = paddle.optimizer.SGD(0.1, parameters=[*more, p])
    for _ in range(2):
        sum(((q * 0.7).sum().astype("float64") for q in more), (p * 0.7).sum()).backward()
        optimizer.step()
        optimizer.clear_grad()
    assert p.item() == 1.0 - 0.1 * 0.7 - 0.1 * 0.7
    for q in more:
        assert abs(q.astype("float32").item() - 0.86) < 0.01 and str(q.dtype).split(".")[1] in others
