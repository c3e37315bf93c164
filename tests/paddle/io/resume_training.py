"""A training of some steps, for test_resume.py: prints all its bits.

`python resume_training.py save|load FOLDER`: makes 10 steps and saves a checkpoint after 5, or goes on from there; once
with batches made in this process, once with workers.
"""

import os
import sys

import numpy as np

import paddle
from paddle import nn


class Noisy(paddle.io.Dataset):
    """Samples with random noise, drawn where they are made."""

    def __getitem__(self, i):
        x = np.random.RandomState(i).standard_normal(16).astype("float32")
        return x + 0.1 * np.random.standard_normal(16).astype("float32"), i % 4

    def __len__(self):
        return 26


def train(workers, load, path):
    paddle.seed(99 if load else 3)
    np.random.seed(99 if load else 3)
    model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Dropout(0.3), nn.BatchNorm1D(32), nn.Linear(32, 4))
    schedule = paddle.optimizer.lr.CosineAnnealingDecay(1e-2, T_max=20)
    optimizer = paddle.optimizer.AdamW(schedule, parameters=model.parameters(), grad_clip=nn.ClipGradByGlobalNorm(1.0))
    scaler = paddle.amp.GradScaler(init_loss_scaling=1024.0, incr_every_n_steps=3)
    loader = paddle.io.DataLoader(Noisy(), batch_size=4, shuffle=True, num_workers=workers)
    loss_of = nn.CrossEntropyLoss()
    if load:
        state = paddle.load(path)
        model.set_state_dict(state["model"])
        optimizer.set_state_dict(state["optimizer"])  # with the schedule
        scaler.load_state_dict(state["scaler"])
        paddle.set_rng_state(state["generator"])
        loader.set_state_dict(state["loader"])
    step = 5 if load else 0
    while step < 10:
        for x, y in loader:
            loss = loss_of(model(x), y)
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
            optimizer.clear_grad()
            schedule.step()
            step += 1
            print(workers, step, float(loss).hex())
            parts = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "scaler": scaler.state_dict()}
            if step == 5:
                paddle.save({**parts, "generator": paddle.get_rng_state(), "loader": loader.state_dict()}, path)
            if step == 10:
                break
    for part in parts.values():
        for name, value in part.items():
            print(workers, name, value.numpy().tobytes().hex() if hasattr(value, "numpy") else value)


def main(what, folder):
    for workers in (0, 2):
        with paddle.utils.unique_name.guard():
            train(workers, what == "load", os.path.join(folder, f"checkpoint{workers}"))


if __name__ == "__main__":
    main(*sys.argv[1:])
