"""Losses of training runs, step by step, as PaddlePaddle 3.3.1 gives them.

The numbers are the output of `python tests/numerics/curves.py` under PaddlePaddle 3.3.1 (CPU, x86-64).
"""

import curves
import pytest

import paddle

PADDLE = {
    "lenet": [2.3208933, 2.2769136, 2.2874107, 2.2928977, 2.2630725, 2.2693596, 2.2302518, 2.1968353, 2.1983724,
              2.1371369, 2.1457014, 2.098371, 2.0764139, 1.9875599, 1.9903423, 1.9035226, 1.7307446, 1.8237913,
              1.7094381, 1.6977475],
    "perceptron": [1.3864447, 1.3950195, 1.4004114, 1.3636209, 1.3666841, 1.3587641, 1.3316733, 1.3503019, 1.3499229,
                   1.3313348, 1.340802, 1.2919699, 1.2867334, 1.2939159, 1.2571988, 1.2397704, 1.2212894, 1.2374054,
                   1.2586837, 1.2289822],
    "normalized": [1.3720759, 1.3382143, 1.4139909, 1.3549932, 1.3403744, 1.2998792, 1.4340301, 1.1910051, 1.3941045,
                   1.2853216, 1.3638645, 1.398001, 1.3555564, 1.3336225, 1.3399968, 1.2169561, 1.1581011, 1.368955,
                   1.2410444, 1.2074815, 1.224157],
    "wide_and_deep": [0.7134168, 0.6656128, 0.6075937, 0.4955236, 0.4811289, 0.4654949, 0.3945581, 0.6610343,
                      0.5536904, 0.5190198, 0.5125708, 0.474407, 0.4992875, 0.4927741, 0.4977357, 0.432923, 0.3775021,
                      0.5179733, 0.3427943, 0.5324953],
}  # fmt: skip


@pytest.mark.parametrize("tier", ["never", "always", "auto"])
@pytest.mark.parametrize("name", PADDLE)
def test_curve(name, tier):
    before = paddle.get_flags("FLAGS_eager_compile")
    paddle.set_flags({"FLAGS_eager_compile": tier})
    try:
        got = curves.RUNS[name]()
    finally:
        paddle.set_flags(before)
    assert got == pytest.approx(PADDLE[name], rel=0, abs=1e-4)
