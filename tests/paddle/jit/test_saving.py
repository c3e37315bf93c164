"""Saved programs: what is written, read and refused."""

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import paddle
from paddle.jit import files
from paddle.static import InputSpec

nn, F = paddle.nn, paddle.nn.functional


class Small(nn.Layer):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(3, 4)
        self.b = nn.BatchNorm1D(4)
        self.register_buffer("shift", paddle.ones([4]), persistable=False)

    def forward(self, x):
        return F.dropout(F.relu(self.b(self.a(x))), 0.5, training=self.training) + self.shift

    @paddle.jit.to_static(input_spec=[InputSpec([None, 3], name="rows")])
    def twice(self, x):
        return {"b": self.a(x) * 2, "a": [x + 1, 3]}


class Plain(nn.Layer):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(3, 4), nn.Linear(4, 2)

    def forward(self, x):
        return self.b(paddle.tanh(self.a(x)))


class Tagger(nn.Layer):
    def __init__(self):
        super().__init__()
        self.e, self.l, self.f = nn.Embedding(20, 8), nn.LSTM(8, 12, direction="bidirect"), nn.Linear(24, 5)

    def forward(self, ids):
        y, (h, _) = self.l(self.e(ids))
        return self.f(y), h


class Encoder(nn.Layer):
    def __init__(self):
        super().__init__()
        self.e, self.p = nn.Embedding(50, 16), nn.Embedding(300, 16)
        self.t = nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 2, 32), 1)

    def forward(self, ids, mask):
        where = paddle.arange(ids.shape[1]).unsqueeze(0)
        hidden = (1 - mask.unsqueeze([1, 2]).astype("float32")) * -1e4
        return self.t(self.e(ids) + self.p(where), hidden)


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "model" / "m")


def ids(*shape):
    return paddle.to_tensor(np.random.default_rng(len(shape)).integers(0, 20, shape))


def resnet():
    return paddle.vision.models.resnet18(num_classes=7)


CASES = {
    "resnet": (resnet, [InputSpec([None, 3, None, None])], lambda n, s: [paddle.rand([n, 3, 30 + s, 33])]),
    "tagger": (Tagger, [InputSpec([None, None], "int64")], lambda n, s: [ids(n, s)]),
    "encoder": (
        Encoder,
        [InputSpec([None, None], "int64", "ids"), InputSpec([None, None], "int64", "mask")],
        lambda n, s: [ids(n, s), paddle.ones([n, s], "int64")],
    ),
}
READ = """
import sys, numpy as np, paddle
loaded = paddle.jit.load(sys.argv[1], verify=True)
data = np.load(sys.argv[2])
out = {}
for k in range(3):
    found = loaded(*[paddle.to_tensor(data[f"{k}.{i}"]) for i in range(8) if f"{k}.{i}" in data])
    out.update({f"{k}.{i}": t.numpy() for i, t in enumerate(found if isinstance(found, list) else [found])})
np.savez(sys.argv[3], **out)
"""


@pytest.mark.parametrize("name", CASES)
def test_models_in_a_new_process(name, path, tmp_path):
    make, spec, inputs = CASES[name]
    model = make()
    model.eval()
    paddle.jit.save(model, path, spec)
    given, wanted = {}, []
    for k, (n, s) in enumerate(((1, 1), (2, 7), (3, 12))):
        x = inputs(n, s)
        given.update({f"{k}.{i}": t.numpy() for i, t in enumerate(x)})
        found = model(*x)
        wanted.append([t.numpy() for t in (found if isinstance(found, tuple) else [found])])
    np.savez(tmp_path / "in.npz", **given)
    subprocess.run([sys.executable, "-c", READ, path, tmp_path / "in.npz", tmp_path / "out.npz"], check=True)
    found = np.load(tmp_path / "out.npz")
    for k, arrays in enumerate(wanted):
        for i, a in enumerate(arrays):
            np.testing.assert_allclose(found[f"{k}.{i}"], a, 1e-4, 1e-5)


def test_a_layer_its_methods_and_its_state(path):
    model = Small()
    x = paddle.rand([8, 3])
    model(x)  # statistics of their own
    paddle.jit.save(Plain(), path, [InputSpec([None, 3])])
    model.forward = paddle.jit.to_static(model.forward, input_spec=[InputSpec([None, 3])])
    paddle.jit.save(model, path)
    loaded = paddle.jit.load(path, verify=True)
    assert type(loaded).__name__ == "PirTranslatedLayer" and isinstance(loaded, paddle.jit.TranslatedLayer)
    assert not loaded.training and model.training
    assert set(loaded.state_dict()) == set(model.state_dict())
    assert not loaded.set_state_dict(model.state_dict())[0]
    model.eval()  # as in Paddle, what is saved is for inference
    np.testing.assert_allclose(loaded(x).numpy(), model(x).numpy(), 1e-5, 1e-6)
    a, b = loaded.twice(x[:1])  # of a table, by the order of keys
    np.testing.assert_array_equal(a.numpy(), x[:1].numpy() + 1)
    np.testing.assert_allclose(b.numpy(), 2 * model.a(x[:1]).numpy(), 1e-6)
    assert [s.name for s in loaded._input_spec("twice")] == ["rows"] and loaded._input_spec()[0].shape == (-1, 3)
    assert [s.name for s in loaded._input_spec()] == ["x"] and [s.shape for s in loaded._output_spec()] == [(-1, 4)]
    assert "matmul" in str(loaded.program())
    with pytest.raises(ValueError, match="no such method"):
        loaded.program("nope")
    with pytest.raises(ValueError, match="input_spec for several"):
        paddle.jit.save(model, path, [InputSpec([None, 3])])


def test_training_goes_on(path):
    model, x, y = Plain(), paddle.rand([6, 3]), paddle.rand([6, 2])
    paddle.jit.save(model, path, [InputSpec([None, 3])])
    loaded = paddle.jit.load(path)
    loaded.train()
    assert loaded.training
    losses = []
    for net in (model, loaded):
        adam = paddle.optimizer.Adam(0.05, parameters=net.parameters())
        for _ in range(4):
            loss = F.mse_loss(net(x), y)
            loss.backward()
            adam.step()
            adam.clear_grad()
        losses.append(float(loss))
    assert losses[0] == pytest.approx(losses[1], rel=1e-5)
    paddle.jit.save(loaded, path + "2", [InputSpec([None, 3])])
    np.testing.assert_array_equal(paddle.jit.load(path + "2")(x).numpy(), loaded(x).numpy())


def test_control_flow_of_tensors(path):
    def f(x):
        if x.sum() > 0:
            y = x * 2
        else:
            y = x - x.shape[0]
        i = paddle.to_tensor(0)
        while i < 3:
            y = y + paddle.arange(x.shape[0], dtype="float32") / x.shape[0]
            i = i + 1
        return y.reshape([-1, 1])

    paddle.jit.save(f, path, [InputSpec([None])])
    loaded = paddle.jit.load(path, verify=True)
    p = paddle.inference.create_predictor(paddle.inference.Config(path + ".json", path + ".pdiparams"))
    for n in (1, 2, 9):
        for x in (paddle.ones([n]), -paddle.ones([n])):
            for found in (loaded(x), p.run([x])[0]):
                np.testing.assert_allclose(found.numpy(), f(x).numpy(), 1e-6, 1e-6)


def test_no_grad_and_stop_gradient_stay(path):
    def f(x, w):
        with paddle.no_grad():
            a = x * 2
        return a * w + x.detach() + x**2

    paddle.jit.save(f, path, [InputSpec([None]), InputSpec([None])])
    grads = []
    for g in (f, paddle.jit.load(path)):
        x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
        g(x, paddle.to_tensor([3.0, 4.0])).sum().backward()
        grads.append(x.grad.tolist())
    assert grads[0] == grads[1] == [2.0, 4.0]


def test_random_numbers_are_fresh(path):
    paddle.jit.save(lambda x: x + paddle.rand(x.shape), path, [InputSpec([None])])
    loaded = paddle.jit.load(path, verify=True)
    a, b = (loaded(paddle.zeros([9])).numpy() for _ in range(2))
    assert (a != b).all() and (a >= 0).all() and (b < 1).all()
    paddle.seed(3)
    a = loaded(paddle.zeros([9])).numpy()
    paddle.seed(3)
    np.testing.assert_array_equal(a, loaded(paddle.zeros([9])).numpy())


def test_what_a_function_changes_outside(path):
    class Counter(nn.Layer):
        def __init__(self):
            super().__init__()
            self.register_buffer("count", paddle.zeros([1]))

        def forward(self, x):
            self.count.add_(paddle.ones([1]))
            return x + self.count

    model = Counter()
    paddle.jit.save(model, path, [InputSpec([None])])
    assert model.count.tolist() == [0.0]
    loaded = paddle.jit.load(path)
    assert [loaded(paddle.zeros([2])).tolist() for _ in range(2)] == [[1.0, 1.0], [2.0, 2.0]]
    assert loaded.state_dict()["count"].tolist() == [2.0]


def test_where_the_inputs_are_known_from(path):
    model, x = Plain(), paddle.rand([5, 3])
    with pytest.raises(ValueError, match="not known what the inputs are"):
        paddle.jit.save(model, path)
    model(x)
    with pytest.raises(ValueError, match="not known what the inputs are"):
        paddle.jit.save(model, path)
    paddle.jit.save(model, path, [x])
    assert paddle.jit.load(path)._input_spec()[0].shape == (5, 3)
    static = paddle.jit.to_static(Plain(), full_graph=True)
    static(x)
    paddle.jit.save(static, path)
    np.testing.assert_allclose(paddle.jit.load(path)(x).numpy(), static(x).numpy(), 1e-6)

    def f(a, table, k, other=None):
        return a * table["w"][0] + k + (0 if other is None else other)

    paddle.jit.save(f, path, [InputSpec([None]), {"w": [InputSpec([None])]}, 5])
    loaded = paddle.jit.load(path)
    assert loaded(paddle.ones([2]), paddle.full([2], 3.0)).tolist() == [8.0, 8.0]
    assert [s.name for s in loaded._input_spec()] == ["a", "table_0"]
    paddle.jit.save(f, path, [x[0], {"w": [x[0]]}, x[0], x[0]], output_spec=[0])
    assert len(paddle.jit.load(path)._input_spec()) == 4


def test_some_of_the_results(path):
    f = lambda x: (x + 1, x * 2, x - 1)
    paddle.jit.save(f, path, [InputSpec([None])], output_spec=[2, 0])
    found = paddle.jit.load(path, verify=True)(paddle.ones([2]))
    assert [t.tolist() for t in found] == [[0.0, 0.0], [2.0, 2.0]]
    with pytest.raises(ValueError, match="output_spec"):
        paddle.jit.save(f, path, [InputSpec([None])], output_spec=[3])


def test_hooks_are_part_of_it_where_that_is_asked_for(path):
    model, x = Plain(), paddle.rand([2, 3])
    model.register_forward_post_hook(lambda layer, inputs, out: out * 10)
    for with_hook in (False, True):
        paddle.jit.save(model, path, [InputSpec([None, 3])], with_hook=with_hook)
        found = paddle.jit.load(path)(x).numpy() * (1 if with_hook else 10)
        np.testing.assert_allclose(found, model(x).numpy(), 1e-5)


def test_wrong_inputs_are_told(path):
    paddle.jit.save(Plain(), path, [InputSpec([None, 3], name="rows")])
    loaded = paddle.jit.load(path)
    assert loaded(np.ones((2, 3), "float32")).shape == [2, 2]
    with pytest.raises(ValueError, match=r"type of rows does not fit.*\n.*float32\[-1, 3\].*\n.*float32\[2, 4\]"):
        loaded(paddle.ones([2, 4]))
    with pytest.raises(ValueError, match="astype"):
        loaded(paddle.ones([2, 3], "int32"))
    with pytest.raises(ValueError, match="number of inputs"):
        loaded()
    with pytest.raises(ValueError, match="number of inputs"):
        loaded(paddle.ones([2, 3]), paddle.ones([2, 3]))
    with pytest.raises(TypeError, match="unexpected keyword"):
        loaded(rows=paddle.ones([2, 3]))


def test_wrong_calls(path, tmp_path):
    spec = [InputSpec([None, 3])]
    for args, kwargs, error, text in (
        ((3, path), {}, TypeError, "neither captured nor called|neither"),
        ((Plain(), path, 3), {}, TypeError, "no list"),
        ((Plain(), str(tmp_path) + os.sep, spec), {}, ValueError, "names no file"),
        ((Plain(), path, spec), {"foo": 1}, ValueError, "configuration foo"),
        ((Plain(), 3, spec), {}, TypeError, "no text"),
        ((lambda x: 3, path, spec), {}, ValueError, "gives no Tensor"),
        ((lambda x: x.item(), path, [InputSpec([])]), {}, RuntimeError, "one program"),
    ):
        with pytest.raises(error, match=text):
            paddle.jit.save(*args, **kwargs)
    assert not os.path.exists(path + ".json")
    with pytest.raises(ValueError, match="no such model"):
        paddle.jit.load("/nope/nope")
    with pytest.raises(ValueError, match="configuration foo"):
        paddle.jit.load(path, foo=2)


def test_other_names_of_files(path, tmp_path):
    paddle.jit.save(Plain(), path, [InputSpec([None, 3])])
    os.rename(path + ".json", tmp_path / "model" / "a.x")
    os.rename(path + ".pdiparams", tmp_path / "model" / "b.y")
    loaded = paddle.jit.load(str(tmp_path / "model"), model_filename="a.x", params_filename="b.y")
    assert loaded(paddle.ones([1, 3])).shape == [1, 2]


def test_the_weights_are_safetensors(path):
    model = Plain()
    paddle.jit.save(model, path, [InputSpec([None, 3])])
    found = paddle.load(path + ".pdiparams", safetensors=True)
    np.testing.assert_array_equal(found["a.weight"].numpy(), model.a.weight.numpy())
    text = Path(path + ".json").read_text(encoding="utf-8")
    assert "test_saving.py" in text and os.path.dirname(__file__) not in text


def test_writing_that_fails_leaves_what_was_there(path, monkeypatch):
    paddle.jit.save(Plain(), path, [InputSpec([None, 3])])
    before = [Path(path + end).read_bytes() for end in (".json", ".pdiparams")]
    replace = os.replace

    def full(a, b):
        if b.endswith(".pdiparams"):
            raise OSError(28, "No space left on device", a)
        replace(a, b)

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="No space"):
        paddle.jit.save(Plain(), path, [InputSpec([None, 3])])
    assert before == [Path(path + end).read_bytes() for end in (".json", ".pdiparams")]
    assert sorted(os.listdir(os.path.dirname(path))) == ["m.json", "m.pdiparams"]


def test_what_paddle_wrote_is_recognized(path, tmp_path):
    os.makedirs(tmp_path / "model")
    for text in (b'{"base_code":{"magic":"pir","trainable":true,"version":4},"program":{}}', b"\x0a\xf3\x08\x08\x00"):
        Path(path + ".json").write_bytes(text)
        Path(path + ".pdiparams").write_bytes(bytes(40))
        with pytest.raises(NotImplementedError, match="Paddle has written"):
            paddle.jit.load(path)
    os.rename(path + ".json", path + ".pdmodel")
    with pytest.raises(NotImplementedError, match="Paddle has written"):
        paddle.jit.load(path)


def test_files_that_do_not_belong_together(path):
    paddle.jit.save(Plain(), path, [InputSpec([None, 3])])
    paddle.jit.save(Plain(), path + "2", [InputSpec([None, 3])])
    with pytest.raises(ValueError, match="another save"):
        files.read_files(path + ".json", path + "2.pdiparams")
    os.remove(path + ".pdiparams")
    with pytest.raises(ValueError, match="weights are missing"):
        paddle.jit.load(path)


def rehashed(body, path):
    """Writes a program that is what it says, whatever it says."""
    import hashlib

    text = files._text(body)
    head = {"format": files.FORMAT, "version": files.VERSION, "sha256": hashlib.sha256(text).hexdigest(), "body": body}
    Path(path).write_text(json.dumps(head), encoding="utf-8")


def places(data, at=()):
    yield at
    for k, v in data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ():
        yield from places(v, (*at, k))


def test_mutated_files_are_refused_or_read_whole(path):
    paddle.jit.save(Plain(), path, [InputSpec([None, 3])])
    text, data = (Path(path + end).read_bytes() for end in (".json", ".pdiparams"))
    rng = random.Random(0)
    for k in range(300):
        whole = [text, data]
        which = k % 2
        a = bytearray(whole[which])
        kind = rng.randrange(4)
        if kind == 0:
            del a[rng.randrange(len(a)) :]
        elif kind == 1:
            a[rng.randrange(len(a))] ^= 1 << rng.randrange(8)
        elif kind == 2:
            a.insert(rng.randrange(len(a)), rng.randrange(256))
        else:
            start = rng.randrange(len(a))
            a[start : start + 8] = rng.randbytes(8)
        whole[which] = bytes(a)
        if whole == [text, data]:
            continue
        try:
            files.read_bytes(*whole)
        except (ValueError, NotImplementedError) as e:
            assert "load: " in str(e)
        else:  # such as a space in the header of a format that allows it
            assert which == 1 or json.loads(whole[0])["body"] == json.loads(text)["body"]


HOSTILE = (
    None,
    -1,
    10**30,
    "x",
    [],
    {},
    [[]],
    True,
    1.5,
    {"$n": [0, 1, 0, 1]},
    {"g": {}},
    {"t": [1, "a"]},
    "../../x",
    1 << 40,
)


def test_hostile_programs_are_refused_or_do_no_harm(path):
    paddle.jit.save(Plain(), path, [InputSpec([None, 3])])
    text, data = (Path(path + end).read_bytes() for end in (".json", ".pdiparams"))
    rng = random.Random(1)
    spots = [p for p in places(json.loads(text)["body"]) if p]
    refused = 0
    for _ in range(300):
        body = json.loads(text)["body"]
        *way, last = rng.choice(spots)
        at = body
        for k in way:
            at = at[k]
        at[last] = rng.choice(HOSTILE)
        rehashed(body, path + ".json")
        try:
            loaded = paddle.jit.load(path)
        except (ValueError, NotImplementedError) as e:
            assert "load: " in str(e)
            refused += 1
        else:
            try:
                loaded(paddle.ones([2, 3]))
            except (ValueError, AttributeError) as e:
                assert str(e)
    assert refused > 150
