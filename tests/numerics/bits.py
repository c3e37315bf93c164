"""A training run that prints a hash of all its bits, and how many programs ran in each tier."""

import hashlib
import json

import curves
import numpy as np

import paddle
from paddle import nn
from paddle.engine.cpu.executor import statistics

STEPS = 56


def main() -> None:
    paddle.seed(7)
    model = nn.Sequential(
        nn.Conv2D(1, 6, 3, padding=1), nn.BatchNorm2D(6), nn.ReLU(), nn.MaxPool2D(2, 2),
        nn.Conv2D(6, 16, 5), nn.ReLU(), nn.AvgPool2D(2, 2), nn.Flatten(), nn.Dropout(0.3),
        nn.Linear(400, 96), nn.LayerNorm(96), nn.GELU(), nn.Linear(96, 10),
    )  # fmt: skip
    curves.fixed_weights(model, 3)
    clip = nn.ClipGradByGlobalNorm(1.0)
    optimizer = paddle.optimizer.AdamW(1e-3, parameters=model.parameters(), grad_clip=clip)
    loss_of = nn.CrossEntropyLoss()
    state = np.random.RandomState(5)
    bits = hashlib.sha256()
    for _ in range(STEPS):
        x, y = state.rand(48, 1, 28, 28).astype("float32"), state.randint(0, 10, 48)
        loss = loss_of(model(paddle.to_tensor(x)), paddle.to_tensor(y))
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        bits.update(loss.numpy().tobytes())
    for value in model.state_dict().values():
        bits.update(value.numpy().tobytes())
    runs = [statistics["first_runs"], statistics["compiled_runs"]]
    print(json.dumps({"bits": bits.hexdigest(), "runs": runs, "loss": float(loss)}))


if __name__ == "__main__":
    main()
