"""The small helpers of paddle.utils: versions, imports, nested structures."""

import collections
import warnings

import pytest

import paddle
from paddle import utils
from paddle.utils.deprecated import VisibleDeprecationWarning


def test_require_version():
    for good in (("3.3.1",), ("3",), ("0.1", "10"), ("3.3.1.0", "3.3.1")):
        assert utils.require_version(*good) is None
    for lacking in (("3.3.2",), ("0.1", "3.3.0"), ("3.4", "3.2"), ("3.3.1.1",)):
        with pytest.raises(Exception, match="VersionError: PaddlePaddle version .* required, but 3.3.1 installed"):
            utils.require_version(*lacking)
    for bad in ((1,), ("1.2", 3)):
        with pytest.raises(TypeError):
            utils.require_version(*bad)
    for bad in (("a",), ("",), ("1.2.3.4.5",), ("1.0", "x"), ("1.0\n",)):
        with pytest.raises(ValueError):
            utils.require_version(*bad)


def test_try_import():
    assert utils.try_import("os.path").join("a", "b")
    with pytest.raises(ImportError, match="pip install nosuch`"):
        utils.try_import("nosuch.module")
    with pytest.raises(ImportError, match="^mine$"):
        utils.try_import("nosuch", "mine")


def function(level, since=""):
    @utils.deprecated(update_to="paddle.add", since=since, reason="old", level=level)
    def plus(x, y):
        """The sum."""
        return x + y

    return plus


def test_deprecated():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert function(0)(1, 2) == function(1, since="9.0")(1, 2) == 3
    with pytest.warns(
        VisibleDeprecationWarning, match="is deprecated since 2.0 .* Reason: old|is deprecated since 2.0"
    ):
        assert function(1, since="2.0")(1, 2) == 3
    with pytest.raises(RuntimeError, match="has been deprecated"):
        function(2)(1, 2)
    f = function(1)
    assert f.__name__ == "plus" and f.__doc__.startswith("\n\nWarning:\n    API ") and f.__doc__.endswith("The sum.")
    for wrong in ({"update_to": "other.add"}, {"level": 3}, {"since": 3}):
        with pytest.raises(AssertionError):
            utils.deprecated(**wrong)


def test_strtobool():
    assert [utils.strtobool(w) for w in ("Y", "true", "1", "OFF", "no")] == [True, True, True, False, False]
    with pytest.raises(ValueError, match="Invalid truth value 'maybe'"):
        utils.strtobool("maybe")


Pair = collections.namedtuple("Pair", "a b")


def test_structures():
    nested = {"b": 1, "a": [2, (3, Pair(4, 5))]}
    assert utils.flatten(nested) == [2, 3, 4, 5, 1]
    assert utils.pack_sequence_as(nested, [1, 2, 3, 4, 5]) == {"b": 5, "a": [1, (2, Pair(3, 4))]}
    assert utils.pack_sequence_as([0, 0], [[1], [2, 3]]) == [[1], [2, 3]]  # what the leaves are does not matter
    assert utils.pack_sequence_as(0, [[7]]) == [7] and utils.pack_sequence_as([0, 0], {"y": 1, "x": 2}) == [1, 2]
    assert utils.map_structure(lambda *x: sum(x), Pair(1, [2]), Pair(10, [20])) == Pair(11, [22])
    assert utils.is_sequence({}) and not utils.is_sequence("ab") and not utils.is_sequence(paddle.ones([2]))
    assert utils.to_sequence(3) == [3] and utils.to_sequence((3,)) == (3,)
    with pytest.raises(TypeError, match="not a sequence"):
        utils.pack_sequence_as([0], 3)
    with pytest.raises(ValueError, match="number of leaves"):
        utils.pack_sequence_as([0, 0], [1])
    with pytest.raises(ValueError, match="number of leaves"):
        utils.map_structure(max, [1, 2], [3])
    with pytest.raises(TypeError, match="cannot be sorted"):
        utils.flatten({1: 2, "a": 3})


def test_same_structure():
    same = utils.assert_same_structure
    same([1, {"a": (2,)}], [3, {"a": (4,)}])
    same([1], (2,), check_types=False)
    same([1, [2]], [3, 4], skip_if=lambda x: x == 4)
    for a, b in (([1], [2, 3]), ({"a": 1}, {"b": 1}), (1, [1]), ([1, [2]], [[1], 2])):
        with pytest.raises(ValueError):
            same(a, b)
    with pytest.raises(TypeError, match="list and tuple"):
        same([1], (2,))


def test_convert_to_list():
    to = utils.convert_to_list
    assert to(3, 2, "k") == [3, 3] and to((1, 2), 2, "k") == [1, 2] and to((1.5, 2), 2, "k") == [1.5, 2]
    for bad in ([1], "ab", None, [1, "x"], 2.5):
        with pytest.raises(ValueError, match="^\\(InvalidArgument\\) k "):
            to(bad, 2, "k")
    with pytest.raises(TypeError):
        to(paddle.ones([2]), 2, "k")
