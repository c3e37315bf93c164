"""`paddle quickstart`."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

import paddle

from ..hapi.progressbar import ProgressBar
from ..io import DataLoader
from ..utils import png
from ..vision.datasets import Digits
from . import report
from .network import DigitNet
from .predict import predict

BATCH = 64


def train(epochs: int, seed: int) -> tuple[DigitNet, np.ndarray, np.ndarray]:
    """Trains on the 8,000 digits.

    Returns:
        The network, the loss of each step, and the seconds that each step took.
    """
    paddle.seed(seed)
    np.random.seed(seed)
    model = DigitNet()
    loader = DataLoader(Digits("train"), batch_size=BATCH, shuffle=True, drop_last=True)
    rate = paddle.optimizer.lr.CosineAnnealingDecay(2e-3, T_max=epochs * len(loader))
    optimizer = paddle.optimizer.Adam(rate, parameters=model.parameters())
    loss_of = paddle.nn.CrossEntropyLoss()
    losses, seconds = [], []
    for epoch in range(epochs):
        bar = ProgressBar(len(loader), f"epoch {epoch + 1}/{epochs}")
        for step, (x, y) in enumerate(loader, 1):
            start = time.perf_counter()
            loss = loss_of(model(x), y)
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
            rate.step()
            losses.append(float(loss))
            seconds.append(time.perf_counter() - start)
            if bar.wants(step):
                bar.update(step, {"loss": float(np.mean(losses[-20:]))})
        bar.finish(len(loader), {"loss": float(np.mean(losses[-len(loader) :]))})
    return model, np.array(losses), np.array(seconds)


def predict_elsewhere(path: Path, out: Path) -> np.ndarray:
    """Scores of the test images from the saved network, by a new process."""
    subprocess.run([sys.executable, "-m", "paddle.quickstart.predict", str(path), str(out)], check=True)
    scores = np.load(out)
    out.unlink()
    return scores


def tiers() -> dict[str, float]:
    """Seconds spent in each tier of the engine so far."""
    from ..engine.eager import materialize

    return {name: entry["seconds"] for name, entry in materialize.statistics().items()}


def run(out: str = "quickstart", epochs: int = 5, seed: int = 0) -> dict[str, Any]:
    """Trains, tests, saves, loads in a new process, predicts and draws.

    Args:
        out (str): Folder for the network and the picture.
        epochs (int): Passes over the training images.
        seed (int): Of weights and order.

    Returns:
        dict: accuracy, step_s, train_s, tiers, picture.
    """
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    print("8,000 handwritten digits to learn from, 2,000 to test on (MNIST)")
    start = time.perf_counter()
    model, losses, seconds = train(epochs, seed)
    train_s = time.perf_counter() - start
    spent = tiers()
    total = sum(spent.values()) or 1.0

    test = Digits("test")
    scores = predict(model, test.images)
    accuracy = float((scores.argmax(1) == test.labels).mean())
    saved = folder / "digits.pdparams"
    paddle.save(model.state_dict(), str(saved))
    again = predict_elsewhere(saved, folder / "scores.npy")
    same = float((again.argmax(1) == scores.argmax(1)).mean())

    step_s = float(np.median(seconds[len(seconds) // 2 :]))
    shares = {name: s / total for name, s in spent.items()}
    compiled = shares.get("compiled", 0.0)
    facts = [
        (f"{accuracy:.1%}", f"accuracy on {len(test):,} test images"),
        (f"{step_s * 1e3:.3g} ms", f"per training step, batch {BATCH}"),
        (f"{train_s:.1f} s", f"training, {epochs} epochs"),
        (f"{compiled:.0%}", "of run time in compiled programs"),
    ]
    picture = folder / "report.png"
    png.write(picture, report.draw(test.images[:, 0], test.labels, again.argmax(1), losses, facts))

    print(f"accuracy    {accuracy:.4f} on {len(test):,} test images")
    print(f"step        {step_s * 1e3:.3g} ms, median of the second half; {len(losses)} steps in {train_s:.1f} s")
    print(
        f"computing   {compiled:.0%} of the time in compiled programs, a whole training step each; "
        f"{1 - compiled:.0%} operation by operation, before they were compiled"
    )
    print(f"saved       {saved}; a new process loads it and tells {same:.1%} of the digits as this one does")
    print(f"picture     {picture}")
    if same < 1.0:
        raise RuntimeError("the loaded network does not predict as the trained one")
    return {"accuracy": accuracy, "step_s": step_s, "train_s": train_s, "tiers": spent, "picture": str(picture)}
