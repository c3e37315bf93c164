"""Opinions in sentences with a small transformer: vocabulary, padding, attention mask, warm-up, clipping.

The sentences are made here, from a grammar in which "not" turns an opinion round and "but" makes the second one count.

Usage: python examples/text_classification.py [--small]
"""

import argparse

import numpy as np

import paddle
from paddle import nn

GOOD = "good great lovely fine superb funny clever warm".split()
BAD = "bad awful dull poor weak boring silly cold".split()
NOUNS = "film story acting music ending plot cast book song dance scene joke".split()
HOW = "very really quite so rather".split()
LENGTH = 14


def opinion(rng):
    """Words about one thing, and whether they praise it."""
    praise = rng.random() < 0.5
    turned = rng.random() < 0.4
    words = ["the", rng.choice(NOUNS), "was"] + ["not"] * turned + [rng.choice(HOW)] * (rng.random() < 0.5)
    return [*words, rng.choice(GOOD if praise != turned else BAD)], praise


def sentence(rng):
    words, praise = opinion(rng)
    if rng.random() < 0.5:
        more, praise = opinion(rng)
        words = [*words, "but", *more]
    return " ".join(words), int(praise)


class Vocabulary:
    """Words and their numbers; 0 is padding, 1 is what is not known."""

    def __init__(self, texts):
        self.words = ["[pad]", "[unk]", *sorted({w for text in texts for w in text.split()})]
        self.number = {w: i for i, w in enumerate(self.words)}

    def __call__(self, text):
        numbers = [self.number.get(w, 1) for w in text.split()][:LENGTH]
        return np.array(numbers + [0] * (LENGTH - len(numbers)), "int64")


class Opinions(paddle.io.Dataset):
    def __init__(self, samples, vocabulary):
        super().__init__()
        self.samples = [(vocabulary(text), np.int64(praise)) for text, praise in samples]

    def __getitem__(self, index):
        return self.samples[index]

    def __len__(self):
        return len(self.samples)


class Classifier(nn.Layer):
    """Embeddings of words and places, an encoder, the mean over the words, two scores."""

    def __init__(self, words, width, layers):
        super().__init__()
        self.word = nn.Embedding(words, width, padding_idx=0)
        self.place = nn.Embedding(LENGTH, width)
        layer = nn.TransformerEncoderLayer(width, nhead=4, dim_feedforward=2 * width, dropout=0.1, activation="gelu")
        self.encoder = nn.TransformerEncoder(layer, layers)
        self.head = nn.Linear(width, 2)

    def forward(self, words):
        known = (words != 0).astype("float32")  # [N, LENGTH]
        mask = (known - 1.0).unsqueeze([1, 2]) * 1e9  # 0 where attention may go
        x = self.word(words) + self.place(paddle.arange(words.shape[1]))
        x = self.encoder(x, mask) * known.unsqueeze(-1)
        return self.head(x.sum(1) / known.sum(1, keepdim=True))


@paddle.no_grad()
def accuracy(model, loader):
    model.eval()
    metric = paddle.metric.Accuracy()
    for words, praise in loader:
        metric.update(metric.compute(model(words), praise.unsqueeze(1)))
    model.train()
    return float(metric.accumulate())


def main(small):
    paddle.seed(3)
    np.random.seed(3)
    rng = np.random.default_rng(0)
    samples = [sentence(rng) for _ in range(2000 if small else 4000)]
    held = len(samples) // 5
    vocabulary = Vocabulary(text for text, _ in samples[held:])
    train = paddle.io.DataLoader(Opinions(samples[held:], vocabulary), batch_size=32, shuffle=True, drop_last=True)
    test = paddle.io.DataLoader(Opinions(samples[:held], vocabulary), batch_size=100)

    model = Classifier(len(vocabulary.words), width=32 if small else 64, layers=2)
    epochs = 4 if small else 3
    peak = 4e-3 if small else 2e-3
    decay = paddle.optimizer.lr.PolynomialDecay(peak, decay_steps=epochs * len(train), end_lr=0.0)
    rate = paddle.optimizer.lr.LinearWarmup(decay, warmup_steps=20, start_lr=0.0, end_lr=peak)
    optimizer = paddle.optimizer.AdamW(
        rate,
        parameters=model.parameters(),
        weight_decay=0.01,
        apply_decay_param_fun=lambda name: ".b_" not in name,  # no decay of biases
        grad_clip=nn.ClipGradByGlobalNorm(1.0),
    )
    loss_of = nn.CrossEntropyLoss()
    for epoch in range(epochs):
        losses = []
        for words, praise in train:
            loss = loss_of(model(words), praise)
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
            rate.step()
            losses.append(loss.item())
        print(f"epoch {epoch + 1}: loss {np.mean(losses):.3f}, accuracy {accuracy(model, test):.3f}")

    model.eval()
    for text in [
        "the plot was very clever",
        "the plot was not very clever",
        "the music was great but the ending was awful",
        "the music was awful but the ending was not dull",
    ]:
        chance = nn.functional.softmax(model(paddle.to_tensor(vocabulary(text)).unsqueeze(0)))[0, 1]
        print(f"{float(chance):5.1%} praise: {text}")
    print(f"accuracy    {accuracy(model, test):.4f} on {held} sentences that were not trained on")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--small", action="store_true", help="less data, a smaller network: seconds")
    main(parser.parse_args().small)
