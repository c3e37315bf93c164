"""Training runs that PaddlePaddle and this project do alike. `python curves.py` under either prints their losses.

The numbers in test_curves.py were printed under PaddlePaddle 3.3.1 on x86-64. Weights and data are numpy's
RandomState, by the shapes of the parameters, or the digits in src/paddle/vision/datasets; nothing else is random.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import paddle
from paddle import nn

STEPS = 20
DIGITS = Path(__file__).parents[2] / "src/paddle/vision/datasets/digits/mnist10k.npz"


def fixed_weights(model: nn.Layer, seed: int) -> nn.Layer:
    """Weights that depend on the shapes alone; scales and means of normalizations stay."""
    state = np.random.RandomState(seed)
    for p in model.parameters():
        shape = tuple(p.shape)
        if len(shape) > 1:
            fan_in = math.prod(shape[1:]) if len(shape) == 4 else shape[0]
            p.set_value(state.uniform(-1, 1, shape).astype("float32") / math.sqrt(fan_in))
        else:
            p.set_value(p.numpy() + state.uniform(-0.1, 0.1, shape).astype("float32"))
    return model


def digits(batch: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    with np.load(DIGITS) as file:
        x, y = file["x"], file["y"]
    order = np.random.RandomState(0).permutation(len(x))
    for i in range(STEPS):
        rows = order[i * batch : (i + 1) * batch]
        yield x[rows].reshape(-1, 1, 28, 28).astype("float32") / 255, y[rows].astype("int64")


def noise(batch: int, *shape: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Random inputs, labelled by the sign of sums of theirs."""
    state = np.random.RandomState(1)
    for _ in range(STEPS):
        x = state.standard_normal((batch, *shape)).astype("float32")
        flat = x.reshape(batch, -1)
        half = flat.shape[1] // 2
        yield x, ((flat[:, :half].sum(1) > 0) * 2 + (flat[:, half:].sum(1) > 0)).astype("int64")


def train(model: nn.Layer, optimizer, data, schedule=None) -> list[float]:
    losses = []
    loss_of = nn.CrossEntropyLoss()
    for x, y in data:
        loss = loss_of(model(paddle.to_tensor(x)), paddle.to_tensor(y))
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        if schedule is not None:
            schedule.step()
        losses.append(float(loss))
    return losses


class LeNet(nn.Layer):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2D(1, 6, 3, stride=1, padding=1), nn.ReLU(), nn.MaxPool2D(2, 2),
            nn.Conv2D(6, 16, 5, stride=1, padding=0), nn.ReLU(), nn.MaxPool2D(2, 2),
        )  # fmt: skip
        self.fc = nn.Sequential(nn.Linear(400, 120), nn.Linear(120, 84), nn.Linear(84, 10))

    def forward(self, x):
        return self.fc(paddle.flatten(self.features(x), 1))


def lenet() -> list[float]:
    """LeNet on digits, batch 64, Adam."""
    model = fixed_weights(LeNet(), 0)
    return train(model, paddle.optimizer.Adam(1e-3, parameters=model.parameters()), digits(64))


def perceptron() -> list[float]:
    """Three linear layers, dropout of nothing, Momentum with weight decay."""
    model = nn.Sequential(nn.Linear(30, 64), nn.ReLU(), nn.Dropout(0.0), nn.Linear(64, 32), nn.Tanh(), nn.Linear(32, 4))
    fixed_weights(model, 1)
    optimizer = paddle.optimizer.Momentum(
        0.05, momentum=0.9, parameters=model.parameters(), weight_decay=paddle.regularizer.L2Decay(1e-2)
    )
    return train(model, optimizer, noise(50, 30))


def normalized() -> list[float]:
    """Convolutions with batch normalization, AdamW, clipping by the global norm, warm-up and cosine decay.

    There are no biases before a normalization: their gradients are rounding errors, which Adam makes large.
    """
    model = nn.Sequential(
        nn.Conv2D(3, 8, 3, padding=1, bias_attr=False), nn.BatchNorm2D(8), nn.ReLU(),
        nn.Conv2D(8, 16, 3, stride=2, padding=1, bias_attr=False), nn.BatchNorm2D(16), nn.GELU(), nn.AvgPool2D(2),
        nn.Flatten(), nn.Linear(64, 24, bias_attr=False), nn.BatchNorm1D(24), nn.Sigmoid(), nn.Linear(24, 4),
    )  # fmt: skip
    fixed_weights(model, 2)
    cosine = paddle.optimizer.lr.CosineAnnealingDecay(1e-2, T_max=20)
    schedule = paddle.optimizer.lr.LinearWarmup(cosine, warmup_steps=5, start_lr=0.0, end_lr=1e-2)
    clip = nn.ClipGradByGlobalNorm(0.5)
    optimizer = paddle.optimizer.AdamW(schedule, parameters=model.parameters(), weight_decay=0.05, grad_clip=clip)
    losses = train(model, optimizer, noise(17, 3, 8, 8), schedule)
    model.eval()  # and with the running statistics
    x, y = next(noise(17, 3, 8, 8))
    return [*losses, float(nn.CrossEntropyLoss()(model(paddle.to_tensor(x)), paddle.to_tensor(y)))]


class WideAndDeep(nn.Layer):
    """Numbers of rows in `slots` columns of the input, numbers as such in the others; two classes."""

    def __init__(self, rows: int, slots: int, numbers: int):
        super().__init__()
        self.slots = slots
        self.wide = nn.Embedding(rows, 2, sparse=True)
        self.deep = nn.Embedding(rows, 8, sparse=True)
        self.fc = nn.Sequential(nn.Linear(slots * 8 + numbers, 32), nn.ReLU(), nn.Linear(32, 2))

    def forward(self, x):
        ids, numbers = paddle.cast(x[:, : self.slots], "int64"), x[:, self.slots :]
        deep = paddle.flatten(self.deep(ids), 1)
        return self.wide(ids).sum(1) + self.fc(paddle.concat([deep, numbers], 1))


def clicks(batch: int, rows: int, slots: int, numbers: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Rows, few of them often, and numbers, labelled by a sum over both."""
    state = np.random.RandomState(3)
    liking = state.standard_normal(rows)
    for _ in range(STEPS):
        ids = (rows * state.uniform(size=(batch, slots)) ** 4).astype("int64")
        x = state.standard_normal((batch, numbers))
        yield np.concatenate([ids, x], 1).astype("float32"), (liking[ids].sum(1) + x.sum(1) > 0).astype("int64")


def wide_and_deep() -> list[float]:
    """Two tables with gradients by rows under perceptrons, Adagrad, clipping by the global norm."""
    model = fixed_weights(WideAndDeep(500, 6, 4), 4)
    clip = nn.ClipGradByGlobalNorm(0.5)
    optimizer = paddle.optimizer.Adagrad(
        0.1, parameters=model.parameters(), initial_accumulator_value=0.1, grad_clip=clip
    )
    return train(model, optimizer, clicks(32, 500, 6, 4))


RUNS = {"lenet": lenet, "perceptron": perceptron, "normalized": normalized, "wide_and_deep": wide_and_deep}

if __name__ == "__main__":
    for name, run in RUNS.items():
        print(f'    "{name}": {[round(x, 7) for x in run()]},')
