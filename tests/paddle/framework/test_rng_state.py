import copy
import io

import numpy as np
import pytest

import paddle
from paddle.framework.random import Generator, default_generator


def through_a_file(value):
    f = io.BytesIO()
    paddle.save(value, f)
    f.seek(0)
    return paddle.load(f)


@pytest.mark.parametrize("seed", [0, 5, -3, 2**80 + 1])
def test_a_state_from_a_file_goes_on(seed):
    paddle.seed(seed)
    paddle.rand([3])
    state = through_a_file({"rng": paddle.get_rng_state(), "step": 3})["rng"]
    wanted = paddle.rand([3]).numpy()
    paddle.seed(99)
    paddle.set_rng_state(state)
    np.testing.assert_array_equal(paddle.rand([3]).numpy(), wanted)
    assert copy.deepcopy(state) == state


def test_a_file_with_a_wrong_state_is_refused():
    f = io.BytesIO()
    state = paddle.get_rng_state()[0]
    paddle.save([type(state)("seed", 0)], f)
    f.seek(0)
    with pytest.raises(ValueError, match="state of a generator"):
        paddle.load(f)


def test_branches_leave_the_sequence_as_it_is():
    paddle.seed(3)
    wanted = paddle.rand([2]).numpy()
    paddle.seed(3)
    g = default_generator()
    first, second = g.branch(), g.branch()
    assert first != second and 0 <= first < 2**63
    np.testing.assert_array_equal(paddle.rand([2]).numpy(), wanted)
    state = paddle.get_rng_state()
    third = g.branch()
    paddle.set_rng_state(state)
    assert g.branch() == third
    paddle.seed(3)
    assert g.branch() == first


def test_a_generator_that_nobody_seeded_has_no_branches():
    assert Generator().branch() is None
    assert isinstance(Generator().manual_seed(1).branch(), int)
