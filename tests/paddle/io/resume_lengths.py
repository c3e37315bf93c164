"""A training on sentences of many lengths, for test_resume.py: prints the loss of every step.

`python resume_lengths.py save|load FOLDER`: makes all steps and saves a checkpoint in between, or goes on from there.
Some lengths come often enough for their programs to be compiled, after the checkpoint; most come once.
"""

import os
import sys

import numpy as np

import paddle
from paddle import nn

STEPS, SAVED = 170, 110


def lengths():
    rng = np.random.RandomState(0)
    others = iter(rng.permutation(np.arange(10, 180)).tolist())
    often = lambda i: i % 4 and i % SAVED >= 10  # after some others: a template would take them
    return [(20, 33)[i // 2 % 2] if often(i) else next(others) for i in range(STEPS)]


def main(what, folder):
    path = os.path.join(folder, "lengths")
    paddle.seed(1)
    model = nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.LayerNorm(16), nn.Linear(16, 1))
    optimizer = paddle.optimizer.Adam(1e-3, parameters=model.parameters())
    first = 0
    if what == "load":
        state = paddle.load(path)
        model.set_state_dict(state["model"])
        optimizer.set_state_dict(state["optimizer"])
        paddle.set_rng_state(state["generator"])
        first = SAVED
    for i, n in list(enumerate(lengths()))[first:]:
        x = paddle.to_tensor(np.random.RandomState(i).standard_normal((2, n, 8)).astype("float32"))
        loss = nn.functional.softmax(model(x), axis=1).square().mean() + nn.functional.dropout(x, 0.5).mean()
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        print(i, float(loss).hex())
        if what == "save" and i == SAVED - 1:
            parts = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
            paddle.save({**parts, "generator": paddle.get_rng_state()}, path)
    from paddle.engine.eager import family, materialize

    print("tiers", materialize.statistics()["compiled"]["runs"] > 0, family.statistics["resized"] > 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
