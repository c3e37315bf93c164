"""Which advertisements are clicked: tables of embeddings with gradients by rows, lazy Adam, area under the curve.

Only the rows that a batch reads are updated, so the size of the tables does not matter to the time of a step. The
visits are made here: users and items have hidden tastes, and some pairs of item and hour go together.

Usage: python examples/wide_and_deep.py [--small]
"""

import argparse

import numpy as np

import paddle
from paddle import nn

HOURS = 24


class Clicks(paddle.io.Dataset):
    """(user, item, hour) [3], numbers known of the visit [2], clicked or not [1]."""

    def __init__(self, count, users, items, seed):
        super().__init__()
        world = np.random.default_rng(0)  # the same for training and test
        taste, kind = world.normal(size=(users, 2)), world.normal(size=(items, 2))
        best_hour = world.integers(0, HOURS, items)
        rng = np.random.default_rng(seed)
        user, hour = (users * rng.random(count) ** 2).astype("int64"), rng.integers(0, HOURS, count)
        item = (items * rng.random(count) ** 3).astype("int64")  # few are seen often
        numbers = rng.normal(size=(count, 2))
        liking = 2.0 * (taste[user] * kind[item]).sum(1) + numbers @ [1.0, -0.5]
        liking += 2.0 * (abs(best_hour[item] - hour) < 4)
        self.ids = np.stack([user, item, hour], 1)
        self.numbers = numbers.astype("float32")
        self.clicked = (liking + rng.logistic(size=count) > 1.0).astype("float32")[:, None]

    def __getitem__(self, index):
        return self.ids[index], self.numbers[index], self.clicked[index]

    def __len__(self):
        return len(self.ids)


class WideAndDeep(nn.Layer):
    """A weight for each (item, hour) on the wide side; embeddings under a perceptron on the deep side.

    Source: Cheng et al. 2016, arXiv:1606.07792.
    """

    def __init__(self, users, items, width):
        super().__init__()
        small = paddle.ParamAttr(initializer=nn.initializer.Normal(0.0, 0.1))
        self.wide = nn.Embedding(items * HOURS, 1, sparse=True, weight_attr=nn.initializer.Constant(0.0))
        self.tables = nn.LayerList(
            nn.Embedding(rows, width, sparse=True, weight_attr=small) for rows in (users, items, HOURS)
        )
        self.deep = nn.Sequential(
            nn.Linear(3 * width + 2, 4 * width), nn.ReLU(), nn.Linear(4 * width, 2 * width), nn.ReLU(),
            nn.Linear(2 * width, 1),
        )  # fmt: skip

    def forward(self, ids, numbers):
        wide = self.wide(ids[:, 1] * HOURS + ids[:, 2])
        deep = [table(ids[:, i]) for i, table in enumerate(self.tables)]
        return wide + self.deep(paddle.concat([*deep, numbers], axis=1))


@paddle.no_grad()
def area(model, loader):
    """Area under the curve: the chance that a click scores higher than a visit without one."""
    model.eval()
    metric = paddle.metric.Auc()
    for ids, numbers, clicked in loader:
        chance = nn.functional.sigmoid(model(ids, numbers))
        metric.update(paddle.concat([1.0 - chance, chance], axis=1), clicked.astype("int64"))
    model.train()
    return metric.accumulate()


def main(small):
    paddle.seed(11)
    np.random.seed(11)
    users, items, width, count, epochs = (200, 50, 8, 20000, 3) if small else (5000, 1000, 8, 300000, 3)
    train = paddle.io.DataLoader(Clicks(count, users, items, 1), batch_size=128, shuffle=True, drop_last=True)
    test = paddle.io.DataLoader(Clicks(count // 8, users, items, 2), batch_size=1000)

    model = WideAndDeep(users, items, width)
    size = sum(p.size for p in model.parameters())
    tables = sum(p.size for layer in [model.wide, *model.tables] for p in layer.parameters())
    print(f"{size} parameters, {tables} of them in tables; of the visits {train.dataset.clicked.mean():.1%} are clicks")
    optimizer = paddle.optimizer.Adam(5e-3, parameters=model.parameters(), lazy_mode=True)
    loss_of = nn.BCEWithLogitsLoss()
    for epoch in range(epochs):
        losses = []
        for ids, numbers, clicked in train:
            loss = loss_of(model(ids, numbers), clicked)
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
            losses.append(loss.item())
        found = area(model, test)
        print(f"epoch {epoch + 1}: loss {np.mean(losses):.4f}, area under the curve {found:.4f}")
    print(f"area        {found:.4f} under the curve, on visits that were not trained on")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--small", action="store_true", help="less data, a smaller network: seconds")
    main(parser.parse_args().small)
