"""Random Tensors: seeds, states, shapes, and what they are distributed like."""

import pytest

import paddle

MAKERS = {
    "rand": lambda: paddle.rand([5]), "randn": lambda: paddle.randn([5]), "randint": lambda: paddle.randint(0, 99, [5]),
    "randperm": lambda: paddle.randperm(9), "uniform": lambda: paddle.uniform([5]),
    "normal": lambda: paddle.normal(0.0, 1.0, [5]), "bernoulli": lambda: paddle.bernoulli(paddle.full([40], 0.5)),
    "multinomial": lambda: paddle.multinomial(paddle.ones([9]), 4),
    "poisson": lambda: paddle.poisson(paddle.full([9], 5.0)),
    "standard_gamma": lambda: paddle.standard_gamma(paddle.ones([5])),
    "exponential_": lambda: paddle.zeros([5]).exponential_(),
}  # fmt: skip


@pytest.mark.parametrize("name", MAKERS)
def test_a_seed_repeats_and_states_return(name):
    make = MAKERS[name]
    paddle.seed(42)
    first, second = make().tolist(), make().tolist()
    paddle.seed(42)
    assert make().tolist() == first and first != second
    state = paddle.get_rng_state()
    third = make().tolist()
    paddle.set_rng_state(state)
    assert make().tolist() == third


def test_numbers_do_not_depend_on_when_they_are_computed():
    paddle.seed(1)
    a, b = paddle.rand([3]), paddle.rand([3])
    b = b.tolist()
    a = a.tolist()
    paddle.seed(1)
    assert paddle.rand([3]).tolist() == a and paddle.rand([3]).tolist() == b


@pytest.mark.parametrize("bad", ["a", None, [1]])
def test_seeds_are_integers(bad):
    with pytest.raises(ValueError, match="seed"):
        paddle.seed(bad)


def test_generator():
    g = paddle.seed(5)
    assert type(g).__name__ == "Generator" and g.initial_seed() == 5
    state = g.get_state()
    a = g.random()
    g.set_state(state)
    assert g.random() == a
    with pytest.raises(ValueError):
        g.set_state("x")


@pytest.mark.parametrize("shape", [[], [0], [2, 3]])
def test_shapes_and_types(shape):
    assert paddle.rand(shape).shape == shape and paddle.randn(shape, "float64").dtype == paddle.float64
    assert paddle.randint(0, 5, shape, "int32").dtype == paddle.int32
    assert paddle.rand_like(paddle.ones(shape)).shape == shape
    assert paddle.rand(2, 3).shape == [2, 3]


def test_distributions():
    paddle.seed(0)
    n = 20_000
    u = paddle.uniform([n], min=-2.0, max=3.0).numpy()
    assert u.min() >= -2 and u.max() <= 3 and abs(u.mean() - 0.5) < 0.05
    z = paddle.normal(2.0, 0.5, [n]).numpy()
    assert abs(z.mean() - 2) < 0.02 and abs(z.std() - 0.5) < 0.02
    means = paddle.normal(paddle.to_tensor([0.0, 100.0]), 1.0).numpy()
    assert means[1] > 50 > means[0]
    e = paddle.zeros([n]).exponential_(2.0).numpy()
    assert abs(e.mean() - 0.5) < 0.03 and e.min() >= 0
    assert abs(paddle.bernoulli(paddle.full([n], 0.8)).numpy().mean() - 0.8) < 0.02


def test_bad_arguments():
    with pytest.raises(ValueError, match="range is empty"):
        paddle.randint(5, 1)
    with pytest.raises(ValueError):
        paddle.multinomial(paddle.ones([3]), 4)
    with pytest.raises(ValueError):
        paddle.rand([-1])
    with pytest.raises(TypeError):
        paddle.rand([2], "int64")
