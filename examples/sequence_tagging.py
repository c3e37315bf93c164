"""Parts of speech with an LSTM in both directions, on sentences of different lengths.

The sentences are made here, from a grammar in which half of the words can be a noun or a verb: what a word is follows
from its neighbours, so a look-up of words alone must fail.

Usage: python examples/sequence_tagging.py [--small]
"""

import argparse

import numpy as np

import paddle
from paddle import nn

TAGS = ["determiner", "adjective", "noun", "verb", "adverb"]
BOTH = "fish run walk dream guess drink cook plant watch cut play work".split()  # nouns and verbs
WORDS = {
    "determiner": "the a my this".split(),
    "adjective": "old small red happy odd early light".split(),
    "noun": "dog house river king apple idea".split() + BOTH,
    "verb": "sees finds takes hears meets".split() + BOTH,
    "adverb": "often never slowly today early light".split(),
}
VOCABULARY = ["[pad]", *sorted({w for words in WORDS.values() for w in words})]
NUMBER = {w: i for i, w in enumerate(VOCABULARY)}
NO_TAG = -1


def sentence(rng):
    """Words and their tags: some (determiner adjective* noun), now and then an adverb, a verb, and again."""

    def thing():
        return ["determiner"] + ["adjective"] * rng.integers(0, 3) + ["noun"]

    def deed():
        return ["adverb"] * (rng.random() < 0.3) + ["verb"] + ["adverb"] * (rng.random() < 0.2)

    tags = thing() + deed()
    for _ in range(rng.integers(0, 3)):
        tags += thing() + deed()
    tags += thing() * (rng.random() < 0.7)
    return [rng.choice(WORDS[t]) for t in tags], tags


def collate(samples):
    """A batch: words [N, L] and tags [N, L], padded, and the lengths [N]."""
    lengths = np.array([len(words) for words, _ in samples], "int64")
    words = np.zeros((len(samples), max(lengths)), "int64")
    tags = np.full(words.shape, NO_TAG, "int64")
    for row, (w, t) in enumerate(samples):
        words[row, : len(w)] = [NUMBER[x] for x in w]
        tags[row, : len(t)] = [TAGS.index(x) for x in t]
    return words, tags, lengths


class Sentences(paddle.io.Dataset):
    def __init__(self, count, seed):
        super().__init__()
        rng = np.random.default_rng(seed)
        self.samples = [sentence(rng) for _ in range(count)]

    def __getitem__(self, index):
        return self.samples[index]

    def __len__(self):
        return len(self.samples)


class Tagger(nn.Layer):
    """Scores of the tags for each word [N, L, tags]."""

    def __init__(self, width, layers):
        super().__init__()
        self.embed = nn.Embedding(len(VOCABULARY), width, padding_idx=0)
        self.lstm = nn.LSTM(width, width, num_layers=layers, direction="bidirect")
        self.head = nn.Linear(2 * width, len(TAGS))

    def forward(self, words, lengths):
        states, _ = self.lstm(self.embed(words), sequence_length=lengths)
        return self.head(states)


@paddle.no_grad()
def evaluate(model, loader):
    """Share of tags that are right: of all words, and of those that can be noun or verb."""
    model.eval()
    right, ambiguous = [], []
    both = np.array([NUMBER[w] for w in BOTH])
    for words, tags, lengths in loader:
        found = model(words, lengths).argmax(-1).numpy()
        words, tags = words.numpy(), tags.numpy()
        right.append((found == tags)[tags != NO_TAG])
        ambiguous.append((found == tags)[np.isin(words, both)])
    model.train()
    return np.concatenate(right).mean(), np.concatenate(ambiguous).mean()


def main(small):
    paddle.seed(7)
    np.random.seed(7)
    width, layers, epochs, count = (16, 1, 3, 640) if small else (48, 2, 3, 1600)
    train = paddle.io.DataLoader(Sentences(count, 1), batch_size=32, shuffle=True, collate_fn=collate)
    test = paddle.io.DataLoader(Sentences(count // 4, 2), batch_size=80, collate_fn=collate)

    model = Tagger(width, layers)
    optimizer = paddle.optimizer.Adam(1e-2, parameters=model.parameters(), grad_clip=nn.ClipGradByNorm(1.0))
    loss_of = nn.CrossEntropyLoss(ignore_index=NO_TAG)
    for epoch in range(epochs):
        losses = []
        for words, tags, lengths in train:
            loss = loss_of(model(words, lengths), tags)
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
            losses.append(loss.item())
        right, ambiguous = evaluate(model, test)
        print(f"epoch {epoch + 1}: loss {np.mean(losses):.3f}, right {right:.3f}, of ambiguous words {ambiguous:.3f}")

    model.eval()
    text = "my dog often walk the early fish early".split()
    words, _, lengths = (paddle.to_tensor(a) for a in collate([(text, [])]))
    found = model(words, lengths).argmax(-1)[0].tolist()
    print(", ".join(f"{w} {TAGS[t]}" for w, t in zip(text, found)))
    print(f"accuracy    {right:.4f} of all words, {ambiguous:.4f} of those that can be noun or verb")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--small", action="store_true", help="less data, a smaller network: seconds")
    main(parser.parse_args().small)
