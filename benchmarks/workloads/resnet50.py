"""ResNet-50 at 224x224, batch 8, training with momentum: the first step, and the memory of ten."""

from __future__ import annotations

import numpy as np

from . import Step, Workload

BATCH, STAGES = 8, ((64, 3), (128, 4), (256, 6), (512, 3))


def _data() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return rng.standard_normal((BATCH, 3, 224, 224)).astype("float32"), rng.integers(0, 1000, BATCH)


def torch_model():
    from torch import nn

    def convolution(inner, outer, size, stride=1):
        return nn.Sequential(nn.Conv2d(inner, outer, size, stride, size // 2, bias=False), nn.BatchNorm2d(outer))

    class Block(nn.Module):
        def __init__(self, inner, width, stride):
            super().__init__()
            self.a, self.b = convolution(inner, width, 1), convolution(width, width, 3, stride)
            self.c = convolution(width, 4 * width, 1)
            self.relu = nn.ReLU(inplace=True)
            self.short = convolution(inner, 4 * width, 1, stride) if inner != 4 * width else None

        def forward(self, x):
            y = self.c(self.relu(self.b(self.relu(self.a(x)))))
            return self.relu(y + (x if self.short is None else self.short(x)))

    layers = [convolution(3, 64, 7, 2), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1)]
    inner = 64
    for width, count in STAGES:
        for i in range(count):
            layers.append(Block(inner, width, 2 if i == 0 and width != 64 else 1))
            inner = 4 * width
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(2048, 1000))


def paddle_step() -> Step:
    import paddle

    paddle.seed(0)
    x, y = (paddle.to_tensor(a) for a in _data())
    model = paddle.vision.models.resnet50()
    optimizer = paddle.optimizer.Momentum(0.01, 0.9, parameters=model.parameters())
    loss_of = paddle.nn.CrossEntropyLoss()

    def step(i: int) -> float:
        loss = loss_of(model(x), y)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        return float(loss)

    return step


def torch_step(compile: bool) -> Step:
    import torch

    torch.manual_seed(0)
    x, y = (torch.from_numpy(a) for a in _data())
    model = torch_model()
    optimizer = torch.optim.SGD(model.parameters(), 0.01, 0.9)
    forward = torch.compile(model) if compile else model
    loss_of = torch.nn.CrossEntropyLoss()

    def step(i: int) -> float:
        loss = loss_of(forward(x), y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        return float(loss)

    return step


# Bounds of the first steps: ours with an empty cache beside torch.compile's, with a filled one beside eager PyTorch's;
# and our compiled program, which comes in the background, has run within half of the time of torch.compile's first.
WORKLOADS = {
    "resnet50_first_step_cold": Workload(
        paddle_step, torch_step, 0, bound=0.15, rivals=("compiled",), measure="first_step", cache="cold"
    ),
    "resnet50_first_step_warm": Workload(
        paddle_step, torch_step, 0, bound=2.0, rivals=("torch",), measure="first_step", cache="warm"
    ),
    "resnet50_compiled_tier": Workload(
        paddle_step, torch_step, 0, bound=0.5, rivals=("compiled",), measure="compiled_tier", cache="cold"
    ),
    "resnet50_memory": Workload(paddle_step, torch_step, 10, bound=1.0, rivals=("torch",), measure="memory"),
}
