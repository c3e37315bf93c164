import numpy as np
import pytest

import paddle
from paddle.static import InputSpec


def test_open_sizes_are_minus_one():
    spec = InputSpec([None, 3], "int64", "x")
    assert spec.shape == (-1, 3) and spec.dtype is paddle.int64 and spec.name == "x"
    assert repr(spec) == "InputSpec(shape=(-1, 3), dtype=paddle.int64, name=x, stop_gradient=False)"


def test_from_values():
    spec = InputSpec.from_tensor(paddle.ones([2, 3]), "q")
    assert spec.shape == (2, 3) and spec.name == "q"
    assert InputSpec.from_numpy(np.ones(2)).dtype is paddle.float64
    with pytest.raises(ValueError, match="not a Tensor"):
        InputSpec.from_tensor(np.ones(2))


def test_batch_and_unbatch():
    assert InputSpec([2]).batch(5).shape == (5, 2) and InputSpec([2]).batch([4]).shape == (4, 2)
    assert InputSpec([5, 2]).unbatch().shape == (2,)
    with pytest.raises(TypeError):
        InputSpec([2]).batch("a")
    with pytest.raises(ValueError):
        InputSpec([2]).batch([4, 3])
    with pytest.raises(ValueError):
        InputSpec([]).unbatch()


def test_equality_and_hash():
    assert InputSpec([2]) == InputSpec((2,)) and hash(InputSpec([2])) == hash(InputSpec([2]))
    assert InputSpec([2], name="a") != InputSpec([2]) and InputSpec([2]) != InputSpec([3])


@pytest.mark.parametrize("shape, error", [(3, TypeError), (None, TypeError), (["a"], ValueError), ([2.5], ValueError)])
def test_rejects(shape, error):
    with pytest.raises(error):
        InputSpec(shape)
    with pytest.raises(TypeError):
        InputSpec([2], "nope")
