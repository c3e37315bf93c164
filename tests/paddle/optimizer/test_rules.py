"""Each optimizer against its formula in numpy float64, over steps with changing gradients."""

import numpy as np
import pytest

import paddle
from paddle import optimizer as O

STEPS = 6
RNG = np.random.default_rng(3)
START = RNG.normal(size=(3, 4))
GRADS = [RNG.normal(size=(3, 4)) for _ in range(STEPS)]
LR = 0.05


def sgd(p, grads, lr):
    for g in grads:
        p = p - lr * g
    return p


def momentum(p, grads, lr, mu=0.9, nesterov=False):
    v = 0.0
    for g in grads:
        v = mu * v + g
        p = p - lr * (g + mu * v if nesterov else v)
    return p


def adam(p, grads, lr, b1=0.9, b2=0.999, eps=1e-8, decay=0.0, amsgrad=False):
    m = v = top = 0.0
    for t, g in enumerate(grads, 1):
        p = p * (1 - lr * decay)
        m, v = b1 * m + (1 - b1) * g, b2 * v + (1 - b2) * g * g
        top = np.maximum(top, v)
        root = np.sqrt(1 - b2**t)
        p = p - lr * root / (1 - b1**t) * m / (np.sqrt(top if amsgrad else v) + eps * root)
    return p


def adamax(p, grads, lr, b1=0.9, b2=0.999, eps=1e-8):
    m = u = 0.0
    for t, g in enumerate(grads, 1):
        m, u = b1 * m + (1 - b1) * g, np.maximum(abs(g), b2 * u + eps)
        p = p - lr / (1 - b1**t) * m / u
    return p


def adagrad(p, grads, lr, eps=1e-6, first=0.3):
    m = first
    for g in grads:
        m = m + g * g
        p = p - lr * g / (np.sqrt(m) + eps)
    return p


def adadelta(p, grads, lr, eps=1e-6, rho=0.95):
    e = d = 0.0
    for g in grads:
        e = rho * e + (1 - rho) * g * g
        u = -np.sqrt((d + eps) / (e + eps)) * g
        d = rho * d + (1 - rho) * u * u
        p = p + lr * u
    return p


def rmsprop(p, grads, lr, rho=0.95, eps=1e-6, mu=0.3, centered=False):
    r = a = v = 0.0
    for g in grads:
        r, a = rho * r + (1 - rho) * g * g, rho * a + (1 - rho) * g
        v = mu * v + lr * g / np.sqrt((r - a * a if centered else r) + eps)
        p = p - v
    return p


def lamb(p, grads, lr, decay=0.01, b1=0.9, b2=0.999, eps=1e-6):
    m = v = 0.0
    for t, g in enumerate(grads, 1):
        m, v = b1 * m + (1 - b1) * g, b2 * v + (1 - b2) * g * g
        u = m / (1 - b1**t) / (np.sqrt(v / (1 - b2**t)) + eps) + decay * p
        ratio = np.linalg.norm(p) / np.linalg.norm(u)
        p = p - lr * ratio * u
    return p


def nadam(p, grads, lr, b1=0.9, b2=0.999, eps=1e-8, decay=0.004):
    m = v = 0.0
    product = 1.0
    for t, g in enumerate(grads, 1):
        mu, after = (b1 * (1 - 0.5 * 0.96 ** (k * decay)) for k in (t, t + 1))
        product *= mu
        m, v = b1 * m + (1 - b1) * g, b2 * v + (1 - b2) * g * g
        mean = after * m / (1 - product * after) + (1 - mu) * g / (1 - product)
        p = p - lr * mean / (np.sqrt(v / (1 - b2**t)) + eps)
    return p


def radam(p, grads, lr, b1=0.9, b2=0.999, eps=1e-8):
    m = v = 0.0
    most = 2 / (1 - b2) - 1
    for t, g in enumerate(grads, 1):
        m, v = b1 * m + (1 - b1) * g, b2 * v + (1 - b2) * g * g
        rho = most - 2 * t * b2**t / (1 - b2**t)
        step = m / (1 - b1**t)
        if rho > 5:
            r = np.sqrt((rho - 4) * (rho - 2) * most / ((most - 4) * (most - 2) * rho))
            step = step * r * np.sqrt(1 - b2**t) / (np.sqrt(v) + eps)
        p = p - lr * step
    return p


def rprop(p, grads, lr, low=1e-5, high=50, etas=(0.5, 1.2)):
    before, rates = np.zeros_like(p), np.full_like(p, lr)
    for g in grads:
        s = g * before
        rates = np.clip(rates * np.where(s > 0, etas[1], np.where(s < 0, etas[0], 1)), low, high)
        before = np.where(s < 0, 0, g)
        p = p - np.sign(before) * rates
    return p


def asgd(p, grads, lr, n=3):
    d, y = 0.0, [0.0] * n
    for t, g in enumerate(grads):
        d, y[t % n] = d - y[t % n] + g, g
        p = p - lr / min(t + 1, n) * d
    return p


RULES = {
    "SGD": (O.SGD, {}, sgd, {}),
    "Momentum": (O.Momentum, {}, momentum, {}),
    "Nesterov": (O.Momentum, {"use_nesterov": True, "momentum": 0.8}, momentum, {"nesterov": True, "mu": 0.8}),
    "Adam": (O.Adam, {}, adam, {}),
    "Adam betas": (O.Adam, {"beta1": 0.8, "beta2": 0.9, "epsilon": 1e-3}, adam, {"b1": 0.8, "b2": 0.9, "eps": 1e-3}),
    "AMSGrad": (O.Adam, {"amsgrad": True}, adam, {"amsgrad": True}),
    "AdamW": (O.AdamW, {"weight_decay": 0.1}, adam, {"decay": 0.1}),
    "Adamax": (O.Adamax, {}, adamax, {}),
    "Adagrad": (O.Adagrad, {"initial_accumulator_value": 0.3}, adagrad, {}),
    "Adadelta": (O.Adadelta, {}, adadelta, {}),
    "RMSProp": (O.RMSProp, {"momentum": 0.3}, rmsprop, {}),
    "RMSProp centered": (O.RMSProp, {"momentum": 0.3, "centered": True}, rmsprop, {"centered": True}),
    "Lamb": (O.Lamb, {}, lamb, {}),
    "NAdam": (O.NAdam, {}, nadam, {}),
    "RAdam": (O.RAdam, {}, radam, {}),
    "RAdam long": (O.RAdam, {"beta2": 0.9}, radam, {"b2": 0.9}),
    "Rprop": (O.Rprop, {}, rprop, {}),
    "ASGD": (O.ASGD, {"batch_num": 3}, asgd, {}),
    "ASGD one": (O.ASGD, {"batch_num": 1}, asgd, {"n": 1}),
}


def parameter(values, dtype="float64"):
    p = paddle.create_parameter(list(np.shape(values)), dtype)
    p.set_value(np.asarray(values).astype(dtype) if dtype != "bfloat16" else paddle.to_tensor(values).astype(dtype))
    return p


def run(opt, p, grads):
    for g in grads:
        (p * paddle.to_tensor(g.astype("float64")).astype(p.dtype)).sum().backward()
        opt.step()
        opt.clear_grad()
    return p.astype("float64").numpy()


@pytest.mark.parametrize("name", RULES)
def test_the_formula(name):
    cls, args, reference, settings = RULES[name]
    p = parameter(START)
    found = run(cls(learning_rate=LR, parameters=[p], **args), p, GRADS)
    np.testing.assert_allclose(found, reference(START, GRADS, LR, **settings), rtol=2e-7, atol=1e-8)


@pytest.mark.parametrize("name", ["Adam", "NAdam", "Adamax", "RMSProp", "Adadelta"])
def test_a_first_step_in_float32_has_the_length_of_the_formula(name):
    cls, args, reference, settings = RULES[name]
    grads = GRADS[0][None].astype("float32").astype("float64")
    p = parameter(np.zeros_like(START), "float32")
    found = run(cls(learning_rate=LR, parameters=[p], **args), p, grads)
    wanted = reference(np.zeros_like(START), grads, LR, **settings)
    assert np.linalg.norm(found - wanted) < 1e-6 * np.linalg.norm(wanted)


@pytest.mark.parametrize("name", RULES)
def test_going_on_from_a_saved_state_gives_the_same_bits(name):
    cls, args, _, _ = RULES[name]
    p = parameter(START, "float32")
    whole = run(cls(learning_rate=LR, parameters=[p], **args), p, GRADS)
    q = parameter(START, "float32")
    first = cls(learning_rate=LR, parameters=[q], **args)
    run(first, q, GRADS[:3])
    second = cls(learning_rate=LR, parameters=[q], **args)
    second.set_state_dict(first.state_dict())
    np.testing.assert_array_equal(run(second, q, GRADS[3:]), whole)


@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW", "Lamb", "NAdam"])
def test_low_precision_is_computed_in_float32(name):
    cls, args, reference, settings = RULES[name]
    p = parameter(START, "bfloat16")
    grads = [paddle.to_tensor(g).astype("bfloat16").astype("float64").numpy() for g in GRADS]
    found = run(cls(learning_rate=LR, parameters=[p], **args), p, grads)
    np.testing.assert_allclose(found, reference(START, grads, LR, **settings), rtol=0.03, atol=0.02)
    assert p.dtype == paddle.bfloat16


def test_master_weights_keep_small_steps():
    p = parameter(np.full((4,), 256.0), "bfloat16")
    opt = O.SGD(1.0, parameters=[p], multi_precision=True)
    run(opt, p, [np.full((4,), 0.25)] * 8)
    assert p.astype("float32").numpy()[0] == 254.0
    state = opt.state_dict()
    assert list(state) == ["master_weights"] and list(state["master_weights"]) == [p.name]
    plain = parameter(np.full((4,), 256.0), "bfloat16")
    run(O.SGD(1.0, parameters=[plain]), plain, [np.full((4,), 0.25)] * 8)
    assert plain.astype("float32").numpy()[0] == 256.0


def test_empty_and_0d_parameters():
    a, b = parameter(np.zeros((0, 3))), parameter(np.array(2.0))
    opt = O.Adam(0.1, parameters=[a, b])
    ((a * 1.0).sum() + b * b).backward()
    opt.step()
    assert a.shape == [0, 3] and b.shape == [] and abs(b.item() - 1.9) < 1e-6


def test_nan_gradients_pass_through():
    p = parameter([1.0, 2.0])
    found = run(O.Adam(0.1, parameters=[p]), p, [np.array([np.nan, 1.0])])
    assert np.isnan(found[0]) and np.isfinite(found[1])


def test_lbfgs_finds_the_minimum():
    for search in (None, "strong_wolfe"):
        p = parameter([1.5, -1.0])
        opt = O.LBFGS(learning_rate=1.0 if search else 0.3, max_iter=30, line_search_fn=search, parameters=[p])

        def closure(p=p, opt=opt):
            opt.clear_grad()
            loss = (p[0] - 0.5) ** 2 * 3.0 + (p[1] + 0.25) ** 2 + (p[0] * p[1]) ** 2 * 0.1
            loss.backward()
            return loss

        first = opt.step(closure)
        for _ in range(5):
            last = opt.step(closure)
        assert last.item() < first.item()
        assert np.abs(p.grad.numpy()).max() < 1e-4
    state = opt.state_dict()["state"]
    assert state["n_iter"] > 0 and state["func_evals"] > 0


def test_lbfgs_goes_on_from_its_state():
    def make():
        p = parameter([1.5, -1.0])
        opt = O.LBFGS(0.5, max_iter=2, history_size=3, parameters=[p])

        def closure():
            opt.clear_grad()
            loss = (p[0] - 0.5) ** 2 * 3.0 + (p[1] + 0.25) ** 2 + (p[0] * p[1]) ** 2 * 0.1
            loss.backward()
            return loss

        return p, opt, lambda: opt.step(closure).item()

    p, opt, step = make()
    assert opt.state_dict() == {"state": {}}
    step(), step()
    q, other, follow = make()
    other.set_state_dict(opt.state_dict())
    q.set_value(p.detach())
    assert [follow(), follow()] == [step(), step()]
    state = opt.state_dict()["state"]
    assert len(state["al"]) == 3 and state["old_sk"][0].shape == [2] and state["H_diag"].shape == []
    with pytest.raises(KeyError, match="no state of LBFGS"):
        other.set_state_dict({})
    with pytest.raises(AttributeError, match="no state"):
        other.set_state_dict(None)


def test_lamb_groups():
    def moved(**group):
        p = parameter([1.0, 2.0])
        return run(O.Lamb(0.1, 0.2, parameters=[{"params": [p], **group}]), p, [np.array([-0.2, 0.5])])

    plain = moved()
    np.testing.assert_array_equal(moved(lamb_weight_decay=0.2), plain)
    free = moved(exclude_from_weight_decay_fn=lambda p: True)
    np.testing.assert_array_equal(moved(lamb_weight_decay=0.0), free)
    assert not np.allclose(free, plain)
    assert not np.allclose(moved(weight_decay=0.5), plain)  # a term of the gradient, as for all optimizers
