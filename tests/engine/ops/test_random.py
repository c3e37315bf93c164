"""Philox: the published test vectors, and that elements depend on key and index alone."""

import numpy as np
import pytest

from paddle.engine import types
from paddle.engine.ops import random as ops

# Source: Salmon et al., Random123 1.09, kat_vectors, philox4x32 with 10 rounds.
VECTORS = [
    ((0, 0), 0, (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
]


@pytest.mark.parametrize("key, index, want", VECTORS)
def test_known_answers(key, index, want):
    got = ops.words(np.array(key), index, index + 1)
    assert tuple(int(w[0]) for w in got) == want


def test_known_answer_with_all_bits_set():
    ones = np.uint64(0xFFFFFFFF)
    got = ops.rounds((ones,) * 4, (ones, ones), np.uint64)
    assert [int(w) for w in got] == [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]


def test_an_element_does_not_depend_on_how_many_there_are():
    key = np.array([5, 9])
    few, many = ops.RandomUniform((10,), types.float32), ops.RandomUniform((40_000,), types.float32)
    np.testing.assert_array_equal(few.numpy(key), many.numpy(key)[:10])


def test_keys_differ_in_seed_and_offset():
    draw = lambda *key: ops.RandomUniform((4,), types.float32).numpy(np.array(key))  # noqa: E731
    assert not np.array_equal(draw(1, 0), draw(1, 1))
    assert not np.array_equal(draw(1, 0), draw(2, 0))
    assert not np.array_equal(draw(1, 0), draw(-1, 0))


@pytest.mark.parametrize("dtype", [types.float32, types.float64])
def test_uniform_fills_its_range(dtype):
    x = ops.RandomUniform((100_000,), dtype).numpy(np.array([3, 1]))
    assert x.min() >= 0 and x.max() < 1
    counts = np.histogram(x, 20, (0, 1))[0]
    assert np.abs(counts - 5000).max() < 5 * np.sqrt(5000)


@pytest.mark.parametrize("dtype", [types.float32, types.float64])
def test_normal_has_the_moments_of_a_normal(dtype):
    x = ops.RandomNormal((100_000,), dtype).numpy(np.array([3, 1])).astype("float64")
    assert abs(x.mean()) < 0.015 and abs(x.std() - 1) < 0.01
    assert abs((x**3).mean()) < 0.05 and abs((x**4).mean() - 3) < 0.15
    assert np.isfinite(x).all()


@pytest.mark.parametrize("low, high", [(0, 3), (-5, 5), (-(1 << 62), 1 << 62)])
def test_integers_fill_their_range(low, high):
    x = ops.RandomInt((3000,), types.int64, low, high).numpy(np.array([3, 1]))
    assert x.min() >= low and x.max() < high
    if high - low < 100:
        assert set(x) == set(range(low, high))


def test_permutation_holds_each_number_once():
    x = ops.RandomPermutation(100, types.int64).numpy(np.array([3, 1]))
    assert sorted(x) == list(range(100)) and list(x) != list(range(100))


def test_multinomial_without_replacement_follows_the_weights():
    p = np.tile(np.array([1.0, 2.0, 5.0]), (4000, 1))
    first = ops.Multinomial(1, False).numpy(p, np.array([3, 1]))[:, 0]
    share = np.bincount(first, minlength=3) / 4000
    np.testing.assert_allclose(share, [0.125, 0.25, 0.625], atol=0.04)


def test_multinomial_never_draws_what_has_no_weight():
    drawn = ops.Multinomial(2000, True).numpy(np.array([0.0, 1.0, 0.0, 1.0, 0.0]), np.array([3, 1]))
    assert set(drawn) == {1, 3}


@pytest.mark.parametrize("p", [[-1.0, 1.0], [0.0, 0.0], [np.nan, 1.0]])
def test_multinomial_rejects_what_is_no_distribution(p):
    with pytest.raises(IndexError):
        ops.Multinomial(1, True).numpy(np.array(p), np.array([3, 1]))


def test_what_is_no_key_is_refused():
    with pytest.raises(ValueError, match="key"):
        ops.RandomUniform((2,), types.float32).infer(types.TensorType((3,), types.int64))
