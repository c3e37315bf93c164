import paddle
from paddle.vision.models import LeNet


def test_lenet_has_upstreams_names_and_shapes():
    state = {name: list(v.shape) for name, v in LeNet().state_dict().items()}
    assert state == {
        "features.0.weight": [6, 1, 3, 3], "features.0.bias": [6],
        "features.3.weight": [16, 6, 5, 5], "features.3.bias": [16],
        "fc.0.weight": [400, 120], "fc.0.bias": [120], "fc.1.weight": [120, 84], "fc.1.bias": [84],
        "fc.2.weight": [84, 10], "fc.2.bias": [10],
    }  # fmt: skip
    assert LeNet(4)(paddle.ones([2, 1, 28, 28])).shape == [2, 4]
    assert LeNet(0)(paddle.ones([1, 1, 28, 28])).shape == [1, 16, 5, 5]
