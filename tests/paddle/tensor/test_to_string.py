import numpy as np
import pytest

import paddle


def body(x):
    return repr(paddle.to_tensor(x)).split("\n", 1)[1][7:-1]


@pytest.mark.parametrize(
    "x, text",
    [
        (1.5, "1.50000000"),
        (3.0, "3."),
        (True, "True"),
        ([1, -2, 300], "[ 1 , -2 , 300]"),
        ([1, 2.5], "[1.        , 2.50000000]"),
        ([1.5, -2], "[1.50000000, -2.       ]"),
        ([float("nan"), float("inf"), -float("inf"), 1.0], "[ nan ,  inf., -inf.,  1.  ]"),
        ([True, False], "[True , False]"),
        ([], "[]"),
        ([[]], "[[]]"),
        (np.zeros((2, 0)), "[[],\n        []]"),
        ([1 + 2j], "[(1.00000000+2.00000000j)]"),
        ([[1, 2], [3, 4]], "[[1, 2],\n        [3, 4]]"),
        (np.arange(2000), "[0   , 1   , 2   , ..., 1997, 1998, 1999]"),
    ],
)
def test_values(x, text):
    assert body(x) == text


def test_long_rows_are_broken():
    assert body(np.arange(100000, 100010)) == (
        "[100000, 100001, 100002, 100003, 100004, 100005, 100006, 100007, 100008,\n        100009]"
    )


def test_head():
    x = paddle.to_tensor([1.0], stop_gradient=False)
    assert str(x) == "Tensor(shape=[1], dtype=float32, place=Place(cpu), stop_gradient=False,\n       [1.])"


def test_options():
    paddle.set_printoptions(precision=3, threshold=5, edgeitems=2, linewidth=40)
    try:
        assert body([1.23456]) == "[1.235]"
        assert body(np.arange(20)) == "[0 , 1 , ..., 18, 19]"
        paddle.set_printoptions(sci_mode=True)
        assert body([100.0]) == "[1.000e+02]"
    finally:
        paddle.set_printoptions(precision=8, threshold=1000, edgeitems=3, linewidth=80, sci_mode=False)
    with pytest.raises(TypeError):
        paddle.set_printoptions(precision="a")


def test_columns_are_as_wide_as_the_edges_need():
    text = str(paddle.to_tensor([1.0, 1.0, 1.0, 1000.0, 1.0, 1.0, 1.0]))
    assert text.endswith("[1., 1., 1., 1000., 1., 1., 1.])")


def test_complex_numbers_leave_room_for_a_sign():
    text = str(paddle.to_tensor([-1.0 + 1.0j, 0.0j]))
    assert text.endswith("[(-1.00000000+1.00000000j),  (0.00000000+0.00000000j)])")
