"""How often programs ran goes with the state of the generators, so that a later process runs the same tiers."""

import io

import numpy as np
import pytest

import paddle
from paddle.engine.cpu import executor
from paddle.engine.eager import materialize, trace


@pytest.fixture(autouse=True)
def afterwards():
    yield
    executor.go_on({})


def new_process():
    """Forgets all programs."""
    trace.forget_programs()
    materialize._runs.clear()
    materialize._programs.clear()


def tiers(x, times):
    """Which tier each of some runs of one program took."""
    found = []
    for _ in range(times):
        before = executor.statistics["compiled_runs"]
        (paddle.tanh(x) * x + 1.0).numpy()
        found.append(executor.statistics["compiled_runs"] > before)
    return found


@pytest.mark.parametrize("after", [2, 40])
def test_tiers_of_a_later_process_are_those_of_the_first(after):
    x = paddle.to_tensor(np.ones((64, 64), "float32"))
    new_process()
    whole = tiers(x, 80)
    assert not whole[0] and whole[-1]
    new_process()
    first = tiers(x, after)
    file = io.BytesIO()
    paddle.save(paddle.get_rng_state(), file)
    file.seek(0)
    new_process()
    paddle.set_rng_state(paddle.load(file))
    assert first + tiers(x, 80 - after) == whole


def test_a_state_of_this_process_leaves_programs_alone():
    state = paddle.get_rng_state()
    paddle.set_rng_state(state)
    assert not executor._earlier and state[0].visits == {}


def test_constant_weights_of_a_later_process_are_those_of_the_first():
    conv, x = paddle.nn.Conv2D(3, 32, 3), paddle.ones([1, 3, 8, 8])

    def constants():
        with paddle.no_grad():
            conv(x).numpy()
        return [r.constant for r in materialize._runs.values() if isinstance(r, executor.Executor) and any(r.constant)]

    new_process()
    assert not constants()
    for _ in range(70):
        first = constants()
    (mask,) = first
    file = io.BytesIO()
    paddle.save(paddle.get_rng_state(), file)
    file.seek(0)
    new_process()
    paddle.set_rng_state(paddle.load(file))
    assert constants() == [mask]
    executor.go_on({name: n for name, n in executor._earlier.items() if not name.startswith(executor.CONSTANT_OF)})
    new_process()
    assert not constants()
