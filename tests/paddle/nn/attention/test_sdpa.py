import pytest

import paddle
from paddle.nn.attention import SDPBackend, sdpa_kernel
from paddle.nn.attention.sdpa import _cur_sdpa_kernel_backends


def test_kernels_are_chosen_for_a_block():
    every = _cur_sdpa_kernel_backends(True)
    q = paddle.ones([1, 3, 2, 4])
    want = paddle.nn.functional.scaled_dot_product_attention(q, q, q).tolist()
    for backend in (SDPBackend.MATH, SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION):
        with sdpa_kernel(backend):
            assert _cur_sdpa_kernel_backends() == [backend]
            assert paddle.nn.functional.scaled_dot_product_attention(q, q, q).tolist() == want
    with sdpa_kernel([SDPBackend.MATH, SDPBackend.FLASH_ATTENTION], set_priority=True):
        assert _cur_sdpa_kernel_backends(True) == [SDPBackend.MATH, SDPBackend.FLASH_ATTENTION]
    with pytest.raises(KeyError), sdpa_kernel(SDPBackend.MATH):
        raise KeyError
    assert _cur_sdpa_kernel_backends(True) == every


@pytest.mark.parametrize(
    ("given", "error"),
    [([], ValueError), (3, AssertionError), ((SDPBackend.MATH,), AssertionError), ([0], TypeError),
     (SDPBackend.ERROR, RuntimeError)],
)  # fmt: skip
def test_what_is_no_kernel(given, error):
    with pytest.raises(error, match="expected"), sdpa_kernel(given):
        pass
