"""Trains with each optimizer and schedule, saves in the middle, and goes on from saved files.

It runs under this package and under PaddlePaddle alike; no test needs the latter. By hand, with both interpreters:

    python exchange.py start FOLDER     # trains, saves after 3 steps, writes FOLDER/record.json
    python exchange.py go-on FOLDER     # goes on from the files in FOLDER, says where it differs from record.json

`upstream.zip` is such a folder, written by PaddlePaddle 3.3.1; `test_exchange.py` goes on from it.
"""

import json
import os
import sys

import numpy as np

import paddle
from paddle import nn
from paddle import optimizer as O
from paddle.optimizer import lr

OPTIMIZERS = {
    "sgd": lambda p, r: O.SGD(r, parameters=p),
    "momentum": lambda p, r: O.Momentum(r, 0.9, parameters=p, use_nesterov=True, weight_decay=0.01),
    "adam": lambda p, r: O.Adam(r, parameters=p),
    "amsgrad": lambda p, r: O.Adam(r, parameters=p, amsgrad=True),
    "adamw": lambda p, r: O.AdamW(r, parameters=p, weight_decay=0.1),
    "adamax": lambda p, r: O.Adamax(r, parameters=p),
    "adagrad": lambda p, r: O.Adagrad(r, parameters=p, initial_accumulator_value=0.1),
    "adadelta": lambda p, r: O.Adadelta(r, parameters=p),
    "rmsprop": lambda p, r: O.RMSProp(r, parameters=p, momentum=0.9, centered=True),
    "lamb": lambda p, r: O.Lamb(r, parameters=p),
    "nadam": lambda p, r: O.NAdam(r, parameters=p),
    "radam": lambda p, r: O.RAdam(r, parameters=p),
    "asgd": lambda p, r: O.ASGD(r, batch_num=2, parameters=p),
    "rprop": lambda p, r: O.Rprop(r, parameters=p),
}
SCHEDULES = {
    "step": lambda: lr.StepDecay(0.1, 2),
    "multi_step": lambda: lr.MultiStepDecay(0.1, [2, 5]),
    "piecewise": lambda: lr.PiecewiseDecay([2, 5], [0.1, 0.05, 0.01]),
    "cosine": lambda: lr.CosineAnnealingDecay(0.1, 10),
    "warm_restarts": lambda: lr.CosineAnnealingWarmRestarts(0.1, 3),
    "warmup": lambda: lr.LinearWarmup(lr.StepDecay(0.1, 2), 4, 0.0, 0.1),
    "noam": lambda: lr.NoamDecay(64, 5),
    "polynomial": lambda: lr.PolynomialDecay(0.1, 10),
    "exponential": lambda: lr.ExponentialDecay(0.1, 0.9),
    "natural": lambda: lr.NaturalExpDecay(0.1, 0.5),
    "inverse": lambda: lr.InverseTimeDecay(0.1, 0.5),
    "lambda": lambda: lr.LambdaDecay(0.1, lambda e: 0.9**e),
    "multiplicative": lambda: lr.MultiplicativeDecay(0.1, lambda e: 0.9),
    "one_cycle": lambda: lr.OneCycleLR(0.1, 20),
    "cyclic": lambda: lr.CyclicLR(0.01, 0.1, 3),
    "linear": lambda: lr.LinearLR(0.1, 5),
    "plateau": lambda: lr.ReduceOnPlateau(0.1, patience=0),
}
WITH_MASTERS = ("sgd", "momentum", "adam", "adamw", "rmsprop", "lamb", "nadam")


def numbers(seed, *shape):
    return np.random.RandomState(seed).standard_normal(shape).astype("float32")


def network():
    with paddle.utils.unique_name.guard():
        net = nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 2))
    for i, p in enumerate(net.parameters()):
        p.set_value(numbers(i, *p.shape))
    return net


def train(net, optimizer, steps):
    losses = []
    for i in steps:
        loss = (net(paddle.to_tensor(numbers(100 + i, 5, 4))) ** 2).mean()
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        losses.append(float(loss))
    return losses


def rates(name, schedule, steps):
    found = []
    for i in steps:
        schedule.step(*([[1.0, 0.5, 0.7, 0.6, 0.4, 0.4, 0.4, 0.4, 0.3][i]] if name == "plateau" else []))
        found.append(float(schedule()))
    return found


def with_masters(name):
    """An optimizer with float32 copies of bfloat16 parameters, all its states made."""
    with paddle.utils.unique_name.guard():
        layer = nn.Linear(2, 3)
        layer.to(dtype="bfloat16")
        optimizer = OPTIMIZERS[name](layer.parameters(), 0.1)
        optimizer._multi_precision = True
        sum(p.astype("float32").sum() for p in layer.parameters()).backward()
        try:
            optimizer.step()
        except RuntimeError as e:  # upstream makes the states and then has no kernel for bfloat16
            assert "is not registered" in str(e)
    return layer, optimizer


def start(folder):
    os.makedirs(folder, exist_ok=True)
    record = {}
    for name, make in OPTIMIZERS.items():
        net = network()
        with paddle.utils.unique_name.guard():
            optimizer = make(net.parameters(), 0.05)
            train(net, optimizer, range(3))
        paddle.save(net.state_dict(), f"{folder}/{name}.pdparams")
        paddle.save(optimizer.state_dict(), f"{folder}/{name}.pdopt")
        record[name] = train(net, optimizer, range(3, 6))
    for name, make in SCHEDULES.items():
        schedule = make()
        optimizer = O.SGD(schedule, parameters=network().parameters())
        rates(name, schedule, range(3))
        paddle.save(optimizer.state_dict(), f"{folder}/lr_{name}.pdopt")
        record[f"lr_{name}"] = rates(name, schedule, range(3, 9))
    for name in WITH_MASTERS:
        paddle.save(with_masters(name)[1].state_dict(), f"{folder}/masters_{name}.pdopt")
    with open(f"{folder}/record.json", "w") as f:
        json.dump(record, f)


def continued(name, load):
    """What comes after the saved state; `load` gives what a file holds."""
    if name.startswith("lr_"):
        schedule = SCHEDULES[name[3:]]()
        O.SGD(schedule, parameters=network().parameters()).set_state_dict(load(f"{name}.pdopt"))
        return rates(name[3:], schedule, range(3, 9))
    net = network()
    with paddle.utils.unique_name.guard():
        optimizer = OPTIMIZERS[name](net.parameters(), 0.05)
        net.set_state_dict(load(f"{name}.pdparams"))
        optimizer.set_state_dict(load(f"{name}.pdopt"))
        return train(net, optimizer, range(3, 6))


def masters_taken(name, load):
    """The states of an optimizer with float32 copies, after it took over a saved one."""
    with paddle.utils.unique_name.guard():
        layer = nn.Linear(2, 3)
        layer.to(dtype="bfloat16")
        optimizer = OPTIMIZERS[name](layer.parameters(), 0.1)
        optimizer._multi_precision = True
        optimizer.set_state_dict(load(f"masters_{name}.pdopt"))
        sum(p.astype("float32").sum() for p in layer.parameters()).backward()
        try:
            optimizer.step()
        except RuntimeError as e:
            assert "is not registered" in str(e)
    return optimizer.state_dict()


def go_on(folder):
    def load(name):
        return paddle.load(f"{folder}/{name}")

    with open(f"{folder}/record.json") as f:
        record = json.load(f)
    bad = 0
    for name, expected in record.items():
        found = continued(name, load)
        if not np.allclose(found, expected, rtol=1e-5, atol=1e-7):
            bad += 1
            print(name, found, expected)
    for name in WITH_MASTERS:
        found, expected = masters_taken(name, load), load(f"masters_{name}.pdopt")
        if set(found) != set(expected):
            bad += 1
            print("masters of", name, sorted(set(found) ^ set(expected)))
    print(f"{len(record) + len(WITH_MASTERS) - bad} of {len(record) + len(WITH_MASTERS)} agree")
    return bad


if __name__ == "__main__":
    action, where = sys.argv[1:]
    sys.exit(start(where) if action == "start" else go_on(where))
