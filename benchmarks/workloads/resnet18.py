"""ResNet-18 at 224x224: training with momentum at batch 8, inference at batch 8 and 1 on two batches by turns."""

from __future__ import annotations

import functools

import numpy as np

from . import Step, Workload

BATCH, STAGES = 8, ((64, 1), (128, 2), (256, 2), (512, 2))


def _data(batch: int = BATCH, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.standard_normal((batch, 3, 224, 224)).astype("float32"), rng.integers(0, 1000, batch)


def paddle_model():
    from paddle import nn

    class Block(nn.Layer):
        def __init__(self, inner, outer, stride):
            super().__init__()
            self.a = nn.Conv2D(inner, outer, 3, stride, 1, bias_attr=False)
            self.na = nn.BatchNorm2D(outer)
            self.b = nn.Conv2D(outer, outer, 3, 1, 1, bias_attr=False)
            self.nb = nn.BatchNorm2D(outer)
            self.relu = nn.ReLU()
            self.short = None
            if stride != 1 or inner != outer:
                self.short = nn.Sequential(nn.Conv2D(inner, outer, 1, stride, bias_attr=False), nn.BatchNorm2D(outer))

        def forward(self, x):
            y = self.nb(self.b(self.relu(self.na(self.a(x)))))
            return self.relu(y + (x if self.short is None else self.short(x)))

    layers = [nn.Conv2D(3, 64, 7, 2, 3, bias_attr=False), nn.BatchNorm2D(64), nn.ReLU(), nn.MaxPool2D(3, 2, 1)]
    width = 64
    for outer, stride in STAGES:
        layers += [Block(width, outer, stride), Block(outer, outer, 1)]
        width = outer
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2D(1), nn.Flatten(), nn.Linear(512, 1000))


def torch_model():
    from torch import nn

    class Block(nn.Module):
        def __init__(self, inner, outer, stride):
            super().__init__()
            self.a = nn.Conv2d(inner, outer, 3, stride, 1, bias=False)
            self.na = nn.BatchNorm2d(outer)
            self.b = nn.Conv2d(outer, outer, 3, 1, 1, bias=False)
            self.nb = nn.BatchNorm2d(outer)
            self.relu = nn.ReLU()
            self.short = None
            if stride != 1 or inner != outer:
                self.short = nn.Sequential(nn.Conv2d(inner, outer, 1, stride, bias=False), nn.BatchNorm2d(outer))

        def forward(self, x):
            y = self.nb(self.b(self.relu(self.na(self.a(x)))))
            return self.relu(y + (x if self.short is None else self.short(x)))

    layers = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    width = 64
    for outer, stride in STAGES:
        layers += [Block(width, outer, stride), Block(outer, outer, 1)]
        width = outer
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 1000))


def paddle_training() -> Step:
    import paddle

    paddle.seed(0)
    x, y = (paddle.to_tensor(a) for a in _data())
    model = paddle_model()
    optimizer = paddle.optimizer.Momentum(0.01, 0.9, parameters=model.parameters())
    loss_of = paddle.nn.CrossEntropyLoss()

    def step(i: int) -> float:
        loss = loss_of(model(x), y)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        return float(loss)

    return step


def torch_training(compile: bool) -> Step:
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


def paddle_inference(batch: int = BATCH) -> Step:
    import paddle

    paddle.seed(0)
    batches = [paddle.to_tensor(_data(batch, seed)[0]) for seed in range(2)]
    model = paddle_model()
    model.eval()

    def step(i: int) -> float:
        with paddle.no_grad():
            return float(model(batches[i % 2])[0, 0])

    return step


def torch_inference(compile: bool, batch: int = BATCH) -> Step:
    import torch

    torch.manual_seed(0)
    batches = [torch.from_numpy(_data(batch, seed)[0]) for seed in range(2)]
    model = torch_model().eval()
    forward = torch.compile(model) if compile else model

    def step(i: int) -> float:
        with torch.no_grad():
            return float(forward(batches[i % 2])[0, 0])

    return step


def onnxruntime_inference() -> Step:
    from .resnet18_onnx import inference

    return inference(_data()[0], STAGES)


INFERENCE = 2 * BATCH * 1.814e9  # multiply-adds of one image, by layer shapes
WORKLOADS = {
    "resnet18_training": Workload(paddle_training, torch_training, 4, 1, 7, 3 * INFERENCE, bound=0.8),
    "resnet18_inference": Workload(
        paddle_inference,
        torch_inference,
        4,
        1,
        11,
        INFERENCE,
        bound=0.85,
        rivals=("torch", "compiled", "onnxruntime"),
        onnxruntime_step=onnxruntime_inference,
    ),  # fmt: skip
    "resnet18_inference_1": Workload(
        functools.partial(paddle_inference, batch=1),
        functools.partial(torch_inference, batch=1),
        10,
        2,
        15,
        INFERENCE / BATCH,
        bound=0.8,
    ),  # fmt: skip
}
