"""Schedules: their formulas, states and errors."""

import copy
import math
import pickle

import numpy as np
import pytest

import paddle
from paddle.optimizer import lr


def rates(schedule, n):
    out = []
    for _ in range(n):
        out.append(schedule())
        schedule.step()
    return out


FORMULAS = {
    "noam": (lambda: lr.NoamDecay(64, 4, 2.0), lambda n: 2.0 * 64**-0.5 * (min(n**-0.5, n * 4**-1.5) if n else 0.0)),
    "piecewise": (
        lambda: lr.PiecewiseDecay([2, 4], [3.0, 2.0, 1.0]),
        lambda n: 3.0 if n < 2 else 2.0 if n < 4 else 1.0,
    ),
    "natural exp": (lambda: lr.NaturalExpDecay(0.5, 0.1), lambda n: 0.5 * math.exp(-0.1 * n)),
    "inverse time": (lambda: lr.InverseTimeDecay(0.5, 0.1), lambda n: 0.5 / (1 + 0.1 * n)),
    "polynomial": (
        lambda: lr.PolynomialDecay(0.5, 4, 0.1, 2.0),
        lambda n: 0.4 * (1 - min(n, 4) / 4) ** 2 + 0.1,
    ),
    "polynomial cycle": (
        lambda: lr.PolynomialDecay(0.5, 4, 0.1, cycle=True),
        lambda n: 0.4 * (1 - n / (4 * max(math.ceil(n / 4), 1))) + 0.1,
    ),
    "warm up": (lambda: lr.LinearWarmup(0.5, 4, 0.1, 0.3), lambda n: 0.1 + 0.05 * n if n < 4 else 0.5),
    "warm up, then steps": (
        lambda: lr.LinearWarmup(lr.StepDecay(0.5, 2, 0.1), 3, 0.0, 0.5),
        lambda n: n / 6 if n < 3 else 0.5 * 0.1 ** ((n - 3) // 2),
    ),
    "exponential": (lambda: lr.ExponentialDecay(0.5, 0.9), lambda n: 0.5 * 0.9**n),
    "milestones": (lambda: lr.MultiStepDecay(0.5, [2, 5], 0.1), lambda n: 0.5 * 0.1 ** ((n >= 2) + (n >= 5))),
    "steps": (lambda: lr.StepDecay(0.5, 3, 0.1), lambda n: 0.5 * 0.1 ** (n // 3)),
    "lambda": (lambda: lr.LambdaDecay(0.5, lambda n: 0.95**n), lambda n: 0.5 * 0.95**n),
    "multiplicative": (lambda: lr.MultiplicativeDecay(0.5, lambda n: 1.0 / n), lambda n: 0.5 / math.factorial(n)),
    "cosine": (lambda: lr.CosineAnnealingDecay(0.5, 4, 0.1), lambda n: 0.1 + 0.2 * (1 + math.cos(math.pi * n / 4))),
    "restarts": (
        lambda: lr.CosineAnnealingWarmRestarts(0.5, 3, 1, 0.1),
        lambda n: 0.1 + 0.2 * (1 + math.cos(math.pi * (n % 3) / 3)),
    ),
    "linear": (lambda: lr.LinearLR(0.5, 4, 0.2, 1.0), lambda n: 0.5 * (0.2 + 0.8 * min(n, 4) / 4)),
    "cyclic": (lambda: lr.CyclicLR(0.1, 0.5, 2, 3), lambda n: 0.1 + 0.4 * min((n % 5) / 2, (5 - n % 5) / 3)),
}


@pytest.mark.parametrize("name", FORMULAS)
def test_the_formula(name):
    make, formula = FORMULAS[name]
    np.testing.assert_allclose(rates(make(), 9), [formula(n) for n in range(9)], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", FORMULAS)
def test_going_on_from_a_saved_state(name):
    make, _ = FORMULAS[name]
    whole = rates(make(), 9)
    first = make()
    rates(first, 4)
    second = make()
    second.set_state_dict(first.state_dict())
    if name != "restarts":  # its position within a cycle is no part of the state, as upstream
        np.testing.assert_allclose(rates(second, 5), whole[4:], rtol=1e-9, atol=1e-12)


def test_one_cycle():
    found = rates(lr.OneCycleLR(1.0, 10, phase_pct=0.3, anneal_strategy="linear"), 10)
    assert found[0] == pytest.approx(0.04) and found[2] == pytest.approx(1.0) and found[9] == pytest.approx(1e-4)
    cosine = rates(lr.OneCycleLR(1.0, 10, three_phase=True, phase_pct=0.4), 10)
    assert max(cosine) == pytest.approx(1.0) and cosine[6] == pytest.approx(0.04)
    schedule = lr.OneCycleLR(1.0, 3)
    with pytest.raises(ValueError, match="no more steps"):
        rates(schedule, 5)


@pytest.mark.parametrize("metric", [lambda v: v, lambda v: paddle.to_tensor([v]), np.float32])
def test_plateau(metric):
    schedule = lr.ReduceOnPlateau(1.0, factor=0.5, patience=1, cooldown=1, min_lr=0.2)
    seen = []
    for v in (1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.5, 1.0, 1.0, 1.0, 1.0):
        schedule.step(metric(v))
        seen.append(schedule())
    assert seen == [1.0, 1.0, 0.5, 0.5, 0.5, 0.25, 0.25, 0.25, 0.2, 0.2, 0.2]
    up = lr.ReduceOnPlateau(1.0, mode="max", patience=0, threshold_mode="abs")
    for v in (1.0, 2.0, 2.0):
        up.step(v)
    assert up() == pytest.approx(0.1)
    other = lr.ReduceOnPlateau(1.0)
    other.set_state_dict(schedule.state_dict())
    assert other() == schedule() and other.best == schedule.best


def test_steps_to_a_given_epoch(capsys):
    schedule = lr.StepDecay(0.5, 2, 0.1, verbose=True)
    schedule.step(4)
    assert schedule() == pytest.approx(0.005) and schedule.last_epoch == 4
    assert "Epoch 4: StepDecay set learning rate to" in capsys.readouterr().out


@pytest.mark.parametrize(
    "call, kind",
    [
        (lambda: lr.StepDecay("a", 2), TypeError),
        (lambda: lr.StepDecay(0.1, 2.5), TypeError),
        (lambda: lr.StepDecay(0.1, 2, 1.5), ValueError),
        (lambda: lr.StepDecay(-0.1, 2), ValueError),
        (lambda: lr.MultiStepDecay(0.1, 3), TypeError),
        (lambda: lr.MultiStepDecay(0.1, [3, 1]), ValueError),
        (lambda: lr.LambdaDecay(0.1, 3), TypeError),
        (lambda: lr.PolynomialDecay(0.1, -1), AssertionError),
        (lambda: lr.LinearWarmup("a", 1, 0.0, 1.0), TypeError),
        (lambda: lr.LinearWarmup(0.1, 1, 1.0, 0.5), AssertionError),
        (lambda: lr.ReduceOnPlateau(0.1, mode="x"), ValueError),
        (lambda: lr.ReduceOnPlateau(0.1).step("a"), TypeError),
        (lambda: lr.CosineAnnealingDecay(0.1, "a"), TypeError),
        (lambda: lr.OneCycleLR(1.0, 2.5), TypeError),
        (lambda: lr.CyclicLR(0.1, 0.5, 2, mode="x"), ValueError),
        (lambda: lr.LRScheduler(0.1), NotImplementedError),
        (lambda: lr.StepDecay(0.1, 2).set_state_dict({}), RuntimeError),
    ],
)
def test_bad_arguments(call, kind):
    with pytest.raises(kind):
        call()


def test_a_schedule_of_ones_own():
    class Half(lr.LRScheduler):
        def get_lr(self):
            return self.base_lr * 0.5**self.last_epoch

    assert rates(Half(1.0), 3) == [1.0, 0.5, 0.25]


@pytest.mark.parametrize("mode", ["triangular", "triangular2", "exp_range"])
def test_cyclic_rates_can_be_copied(mode):
    rate = paddle.optimizer.lr.CyclicLR(0.1, 0.5, 3, mode=mode, exp_gamma=0.9)
    for _ in range(8):
        rate.step()
    for again in (copy.deepcopy(rate), pickle.loads(pickle.dumps(rate))):
        assert again() == rate()
        again.step()
        assert again() != rate()
