"""Files of PaddlePaddle: states that it saved are gone on from with the numbers that it had; ours are like its own."""

import importlib.util
import io
import json
import zipfile
from pathlib import Path

import numpy as np
import pytest

import paddle

HERE = Path(__file__).parent
_spec = importlib.util.spec_from_file_location("exchange", HERE / "exchange.py")
exchange = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(exchange)
FILES = zipfile.ZipFile(HERE / "upstream.zip")
RECORD = json.loads(FILES.read("record.json"))


def load(name):
    return paddle.load(io.BytesIO(FILES.read(name)))


def plain(state):
    return {k: v.astype("float32").numpy() for k, v in state.items() if isinstance(v, paddle.Tensor)}


@pytest.mark.parametrize("name", exchange.OPTIMIZERS)
def test_training_goes_on(name):
    np.testing.assert_allclose(exchange.continued(name, load), RECORD[name], rtol=1e-5)


@pytest.mark.parametrize("name", exchange.SCHEDULES)
def test_schedules_go_on(name):
    np.testing.assert_allclose(exchange.continued(f"lr_{name}", load), RECORD[f"lr_{name}"], rtol=1e-6)


@pytest.mark.parametrize("name", exchange.WITH_MASTERS)
def test_float32_copies_are_taken_over(name):
    found, expected = exchange.masters_taken(name, load), load(f"masters_{name}.pdopt")
    assert set(found) == set(expected)
    for k, t in found["master_weights"].items():
        assert t.name == expected["master_weights"][k].name and t.dtype == paddle.float32
    of_start = exchange.with_masters(name)[1].state_dict()
    assert set(of_start) == set(expected)
    for k, a in plain(of_start).items():
        assert a.shape == tuple(expected[k].shape)


@pytest.mark.parametrize("name", ["adam", "rmsprop", "lamb", "asgd"])
def test_what_we_save_is_what_upstream_saves(name):
    net = exchange.network()
    with paddle.utils.unique_name.guard():
        optimizer = exchange.OPTIMIZERS[name](net.parameters(), 0.05)
        exchange.train(net, optimizer, range(3))
    for ours, theirs in ((net.state_dict(), load(f"{name}.pdparams")), (optimizer.state_dict(), load(f"{name}.pdopt"))):
        f = io.BytesIO()
        paddle.save(ours, f)
        f.seek(0)
        ours = paddle.load(f)
        assert list(ours) == list(theirs)
        for k, t in theirs.items():
            assert (ours[k].dtype, ours[k].shape, ours[k].name) == (t.dtype, t.shape, t.name)
            np.testing.assert_allclose(ours[k].numpy(), t.numpy(), rtol=2e-5, atol=1e-6)
