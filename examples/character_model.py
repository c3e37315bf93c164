"""A language model of characters: a transformer that sees only what came before, and writes on by sampling.

It learns from the text files of this repository.

Usage: python examples/character_model.py [--small] [--temperature 0.7] [--prompt "The engine"]
"""

import argparse
import math
import re
from pathlib import Path

import numpy as np

import paddle
from paddle import nn

ROOT = Path(__file__).parents[1]


def read_text(small):
    """The licence, which is plain prose; with it the documentation."""
    files = [ROOT / "LICENSE"] if small else [ROOT / "LICENSE", ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md"))]
    return "\n".join(re.sub(" +", " ", f.read_text(encoding="utf-8")) for f in files)


class Windows(paddle.io.Dataset):
    """Pieces of the text, and the same pieces one character on."""

    def __init__(self, numbers, length, step):
        super().__init__()
        self.numbers, self.length, self.step = numbers, length, step

    def __getitem__(self, index):
        start = index * self.step
        piece = self.numbers[start : start + self.length + 1]
        return piece[:-1], piece[1:]

    def __len__(self):
        return (len(self.numbers) - self.length - 1) // self.step + 1


class Writer(nn.Layer):
    """Scores of the next character at each place of [N, L] characters."""

    def __init__(self, characters, length, width, layers):
        super().__init__()
        self.length = length
        self.character = nn.Embedding(characters, width)
        self.place = nn.Embedding(length, width)
        layer = nn.TransformerEncoderLayer(
            width, nhead=4, dim_feedforward=4 * width, dropout=0.1, activation="gelu", normalize_before=True
        )
        self.blocks = nn.TransformerEncoder(layer, layers, nn.LayerNorm(width))
        self.head = nn.Linear(width, characters)

    def forward(self, characters):
        n = characters.shape[1]
        ahead = paddle.triu(paddle.full([n, n], -1e9), diagonal=1)  # no place sees those after it
        x = self.character(characters) + self.place(paddle.arange(n))
        return self.head(self.blocks(x, ahead))

    @paddle.no_grad()
    def write(self, start, count, temperature):
        """`start` [1, L] with `count` characters more, drawn from the model's chances."""
        self.eval()
        text = start
        for _ in range(count):
            scores = self(text[:, -self.length :])[:, -1]
            chances = nn.functional.softmax(scores / temperature)
            text = paddle.concat([text, paddle.multinomial(chances, 1)], axis=1)
        self.train()
        return text


@paddle.no_grad()
def loss_on(model, loader):
    model.eval()
    loss = np.mean([nn.functional.cross_entropy(model(x), y).item() for x, y in loader])
    model.train()
    return float(loss)


def main(small, temperature, prompt):
    paddle.seed(5)
    np.random.seed(5)
    text = read_text(small)
    characters = sorted(set(text))
    number = {c: i for i, c in enumerate(characters)}
    numbers = np.array([number[c] for c in text], "int64")
    length, width, layers, epochs = (32, 48, 2, 5) if small else (64, 96, 3, 12)

    held = len(numbers) // 10
    train = Windows(numbers[held:], length, step=4 if small else 16)
    test = Windows(numbers[:held], length, step=length)
    train_loader = paddle.io.DataLoader(train, batch_size=32, shuffle=True, drop_last=True)
    test_loader = paddle.io.DataLoader(test, batch_size=len(test))

    model = Writer(len(characters), length, width, layers)
    rate = paddle.optimizer.lr.CosineAnnealingDecay(5e-3 if small else 2e-3, T_max=epochs * len(train_loader))
    optimizer = paddle.optimizer.AdamW(
        rate, parameters=model.parameters(), weight_decay=0.05, grad_clip=nn.ClipGradByGlobalNorm(1.0)
    )
    counts = np.bincount(numbers[held:]) / (len(numbers) - held)
    single = -sum(p * math.log2(p) for p in counts if p)
    print(f"{len(text)} characters, {len(characters)} different; by their frequency alone {single:.2f} bits each")
    for epoch in range(epochs):
        losses = []
        for x, y in train_loader:
            loss = nn.functional.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
            rate.step()
            losses.append(loss.item())
        bits = [v / math.log(2) for v in (np.mean(losses), loss_on(model, test_loader))]
        print(f"epoch {epoch + 1}: {bits[0]:.3f} bits per character, {bits[1]:.3f} on text that was held back")

    start = paddle.to_tensor([[number[c] for c in prompt if c in number]])
    written = model.write(start, 60 if small else 400, temperature)
    print("".join(characters[i] for i in written[0].tolist()))
    print(f"bits        {bits[1]:.4f} per character on text that was held back, {single:.4f} by frequency alone")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--small", action="store_true", help="less text, a smaller network: seconds")
    parser.add_argument("--temperature", type=float, default=0.7, help="low: the likeliest; high: more varied (0.7)")
    parser.add_argument("--prompt", default="The ", help="what the text begins with")
    given = parser.parse_args()
    main(given.small, given.temperature, given.prompt)
