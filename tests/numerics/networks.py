"""Training runs of larger networks, as in curves.py. `python networks.py` under either project prints their losses.

Weights are numpy's RandomState, by the name and shape of each parameter.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterator

import numpy as np
from curves import STEPS, noise, train

import paddle
from paddle import nn
from paddle.nn import functional as F


def named_weights(model: nn.Layer) -> nn.Layer:
    """Weights that depend on structured names and shapes; scales and means of normalizations are near 1 and 0."""
    for name, p in model.named_parameters():
        if p.stop_gradient:  # running statistics stay
            continue
        shape = tuple(p.shape)
        state = np.random.RandomState(zlib.crc32(name.encode()))
        if len(shape) > 1:
            fan_in = math.prod(shape[1:]) if len(shape) == 4 else shape[0]
            value = state.uniform(-1, 1, shape) * math.sqrt(3 / fan_in)
        else:
            value = name.endswith("weight") + state.uniform(-0.1, 0.1, shape)
        p.set_value(value.astype("float32").astype(p.numpy().dtype))
    return model


def pictures(batch: int, size: int, dtype: str) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """One of four patterns under noise, labelled by the pattern."""
    state = np.random.RandomState(1)
    patterns = state.standard_normal((4, 3, size, size)) / 2
    for _ in range(STEPS):
        y = state.permutation(np.arange(batch) % 4)
        x = 0.7 * (patterns[y] + state.standard_normal((batch, 3, size, size)))
        yield x.astype("float32").astype(dtype), y.astype("int64")


def train_resnet(model: nn.Layer, dtype: str) -> list[float]:
    optimizer = paddle.optimizer.Momentum(5e-4, momentum=0.9, parameters=model.parameters(), weight_decay=1e-4)
    return train(named_weights(model), optimizer, pictures(8, 32, dtype))


def resnet() -> list[float]:
    """ResNet-18 on small pictures, Momentum with weight decay, in float64.

    In float32 this curve is not defined to 1e-4: among half a million arguments of ReLU, one in a few steps is so close
    to 0 that rounding decides its sign, and the gradients jump. PaddlePaddle's own curves in both types part as soon.
    """
    before = paddle.get_default_dtype()
    paddle.set_default_dtype("float64")
    try:
        return train_resnet(paddle.vision.models.resnet18(num_classes=4), "float64")
    finally:
        paddle.set_default_dtype(before)


def smooth_resnet() -> list[float]:
    """The same in float32, with functions that have no corners in place of ReLU and the greatest of a window."""
    model = paddle.vision.models.resnet18(num_classes=4)
    model.maxpool = nn.AvgPool2D(3, 2, 1)
    for layer in model.sublayers(include_self=True):
        if hasattr(layer, "relu"):
            layer.relu = nn.Silu()
    return train_resnet(model, "float32")


def relu_resnet() -> list[float]:
    """ResNet-18 as it is, in float32 with ReLU: SGD with a rate of 1e-3 on 16 pictures of 64 x 64 a step.

    Weights are drawn as He et al. 2015 (arXiv:1502.01852) do it, those of the last layer with deviation 0.01. So many
    pictures and so slow steps leave the sign of few arguments of ReLU to rounding: weights that are moved by one unit
    in the last place move PaddlePaddle's own curve by 3.5e-5 (in batches of 8 by 1.4e-4, with Momentum by 5.7e-4).
    """
    state, model = np.random.RandomState(0), paddle.vision.models.resnet18(num_classes=10)
    for name, p in model.named_parameters():
        shape = tuple(p.shape)
        if len(shape) > 1:
            deviation = math.sqrt(2 / math.prod(shape[1:])) if len(shape) == 4 else 0.01
            value = state.standard_normal(shape) * deviation
        else:
            value = np.full(shape, float("weight" in name and len(shape) == 1))
        p.set_value(value.astype("float32"))
    x = state.standard_normal((4, 16, 3, 64, 64)).astype("float32")
    y = state.randint(0, 10, (4, 16))
    optimizer = paddle.optimizer.SGD(1e-3, parameters=model.parameters())
    return train(model, optimizer, [(x[i % 4], y[i % 4]) for i in range(STEPS)])


class Encoder(nn.Layer):
    """Numbers of words in, scores of four classes out; the word 0 is padding, which nobody attends to."""

    def __init__(self, words: int, length: int, width: int):
        super().__init__()
        self.word, self.place = nn.Embedding(words, width), nn.Embedding(length, width)
        layer = nn.TransformerEncoderLayer(width, 4, 2 * width, dropout=0.0, activation="gelu", normalize_before=True)
        self.encoder = nn.TransformerEncoder(layer, 2, nn.LayerNorm(width))
        self.head = nn.Linear(width, 4)

    def forward(self, words):
        x = self.word(words) + self.place(paddle.arange(words.shape[1]))
        mask = paddle.cast(words == 0, "float32")[:, None, None, :] * -1e9
        return self.head(self.encoder(x, mask).mean(1))


def sentences(batch: int, words: int, length: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Words, the last of each sentence padding, labelled by their sum modulo 4."""
    state = np.random.RandomState(6)
    for _ in range(STEPS):
        x = state.randint(1, words, (batch, length))
        x[np.arange(length) >= state.randint(length // 2, length + 1, (batch, 1))] = 0
        yield x.astype("int64"), (x.sum(1) % 4).astype("int64")


def transformer() -> list[float]:
    """Two encoder layers under embeddings, AdamW, clipping by the global norm, the schedule of Vaswani et al. 2017."""
    model = named_weights(Encoder(40, 12, 32))
    schedule = paddle.optimizer.lr.NoamDecay(32, warmup_steps=8, learning_rate=0.5)
    clip = nn.ClipGradByGlobalNorm(1.0)
    optimizer = paddle.optimizer.AdamW(schedule, parameters=model.parameters(), weight_decay=0.05, grad_clip=clip)
    return train(model, optimizer, sentences(16, 40, 12), schedule)


class Tagger(nn.Layer):
    """A class for each sequence, from the last state of two recurrent layers in both directions."""

    def __init__(self, size: int, width: int):
        super().__init__()
        self.lstm = nn.LSTM(size, width, num_layers=2, direction="bidirect")
        self.head = nn.Linear(4 * width, 4)

    def forward(self, x):
        length = paddle.cast(x[:, 0, 0], "int64")
        out, (h, _) = self.lstm(x[:, 1:], sequence_length=length)
        return self.head(paddle.concat([h[-2], h[-1], out.sum(1)], 1))


def sequences(batch: int, length: int, size: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Random sequences whose first element tells their length."""
    state = np.random.RandomState(8)
    for x, y in noise(batch, length + 1, size):
        x[:, 0] = state.randint(2, length + 1, (batch, 1))
        yield x, y


def lstm() -> list[float]:
    """Two layers of LSTM over sequences of several lengths, Adam."""
    model = named_weights(Tagger(6, 16))
    return train(model, paddle.optimizer.Adam(1e-2, parameters=model.parameters()), sequences(12, 7, 6))


def gan() -> list[float]:
    """A generator with transposed convolutions against a discriminator, an optimizer each; both losses by turns."""
    make = nn.Sequential(
        nn.Linear(8, 256), nn.Unflatten(1, [16, 4, 4]), nn.BatchNorm2D(16), nn.ReLU(),
        nn.Conv2DTranspose(16, 8, 4, stride=2, padding=1, bias_attr=False), nn.BatchNorm2D(8), nn.ReLU(),
        nn.Conv2DTranspose(8, 1, 4, stride=2, padding=1), nn.Tanh(),
    )  # fmt: skip
    judge = nn.Sequential(
        nn.Conv2D(1, 8, 4, stride=2, padding=1), nn.LeakyReLU(0.2),
        nn.Conv2D(8, 16, 4, stride=2, padding=1, bias_attr=False), nn.BatchNorm2D(16), nn.LeakyReLU(0.2),
        nn.Flatten(), nn.Linear(256, 1),
    )  # fmt: skip
    named_weights(make)
    named_weights(judge)
    maker = paddle.optimizer.Adam(2e-3, beta1=0.5, parameters=make.parameters())
    judging = paddle.optimizer.Adam(2e-3, beta1=0.5, parameters=judge.parameters())
    state, losses = np.random.RandomState(9), []
    ones, zeros = paddle.ones([10, 1]), paddle.zeros([10, 1])
    for x, _ in noise(10, 1, 16, 16):
        fake = make(paddle.to_tensor(state.standard_normal((10, 8)).astype("float32")))
        loss = F.binary_cross_entropy_with_logits(judge(paddle.to_tensor(x)), ones)
        loss = loss + F.binary_cross_entropy_with_logits(judge(fake.detach()), zeros)
        loss.backward()
        judging.step()
        judging.clear_grad()
        fooled = F.binary_cross_entropy_with_logits(judge(fake), ones)
        fooled.backward()
        maker.step()
        maker.clear_grad()
        judging.clear_grad()
        losses += [float(loss), float(fooled)]
    return losses


RUNS = {
    "resnet": resnet,
    "relu_resnet": relu_resnet,
    "smooth_resnet": smooth_resnet,
    "transformer": transformer,
    "lstm": lstm,
    "gan": gan,
}

if __name__ == "__main__":
    for name, run in RUNS.items():
        print(f'    "{name}": {[round(x, 7) for x in run()]},')
