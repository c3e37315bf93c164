"""How errors of Python and numpy inside the package reach the user, and that those of the user's code stay."""

import inspect
import pickle

import pytest

import paddle
import paddle.nn.functional as F
from paddle import nn


@pytest.fixture
def x():
    return paddle.ones([2, 3])


class Own(nn.Layer):
    def __init__(self, action):
        super().__init__()
        self.action = action

    def forward(self, x):
        return self.action(x)


def fails(x):
    raise ValueError("mine")


def test_errors_of_the_users_code_stay(x):
    with pytest.raises(ValueError, match="^mine$"):
        Own(fails)(x)
    with pytest.raises(ZeroDivisionError, match="^division by zero$"):
        Own(lambda x: 1 / 0)(x)
    with pytest.raises(AttributeError, match="^'dict' object has no attribute 'nope'$"):
        nn.Sequential(Own(lambda x: {}.nope))(x)
    with pytest.raises(ValueError, match="^mine$"):
        F.triplet_margin_with_distance_loss(x, x, x, distance_function=lambda a, b: fails(a))


def test_the_line_is_the_users_innermost(x):
    with pytest.raises(TypeError) as e:
        nn.Sequential(Own(lambda x: F.smooth_l1_loss(x, x, delta="innermost")))(x)
    assert 'F.smooth_l1_loss(x, x, delta="innermost")' in str(e.value).split("at:")[1]


def test_an_explained_error_is_not_explained_again(x):
    deep = nn.Sequential(nn.Sequential(Own(lambda x: F.softmax(x, axis="a"))))
    with pytest.raises(TypeError) as e:
        deep(x)
    assert str(e.value).count("expected:") == 1


def test_arguments_left_at_their_defaults_are_not_told():
    with pytest.raises(TypeError) as e:
        nn.LayerNorm(None)
    assert "received: normalized_shape: None\n" in str(e.value)


def test_an_unclear_error_keeps_its_cause():
    with pytest.raises(TypeError) as e:
        nn.LayerList(3)
    assert isinstance(e.value.__cause__, TypeError)
    with pytest.raises(TypeError) as e:
        nn.Linear(3)
    assert e.value.__cause__ is None


def test_guards_do_not_hide_signatures():
    assert list(inspect.signature(nn.Linear).parameters)[:2] == ["in_features", "out_features"]
    assert list(inspect.signature(nn.ReLU).parameters) == ["name"]
    assert "learning_rate" in inspect.signature(paddle.optimizer.Adam).parameters


def test_layers_of_users_are_not_guarded():
    class Mine(nn.Linear):
        def __init__(self):
            super().__init__(2, 3)
            raise KeyError("own")

    assert not hasattr(Mine.__init__, "__wrapped__")
    with pytest.raises(KeyError, match="^'own'$"):
        Mine()


def test_a_warning_stands_at_the_users_line():
    p = paddle.create_parameter([2], "float32")
    with pytest.warns(UserWarning, match="rescale_grad") as seen:
        paddle.optimizer.Momentum(0.1, parameters=[p], rescale_grad=2.0)
    assert seen[0].filename == __file__


def test_a_tensor_of_several_elements_where_a_number_belongs(x):
    with pytest.raises(TypeError, match="epsilon is not a number[^$]*float32"):
        F.layer_norm(x, [3], epsilon=x)


@pytest.mark.parametrize(
    ("wrong", "kind"), [(lambda: paddle.nn.LayerList()[3], IndexError), (lambda: paddle.nn.LayerDict()["a"], KeyError)]
)
def test_errors_are_called_what_they_are(wrong, kind):
    with pytest.raises(kind) as caught:
        wrong()
    assert type(caught.value).__name__ == kind.__name__
    again = pickle.loads(pickle.dumps(caught.value))  # as between processes
    assert type(again) is type(caught.value) and str(again) == str(caught.value)
