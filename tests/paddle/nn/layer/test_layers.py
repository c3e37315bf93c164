"""Layer: registration, names, state, hooks, types, printing, calling."""

import copy
import pickle
import threading

import numpy as np
import pytest

import paddle
from paddle import nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(2, 3)
        self.b = nn.Sequential(nn.ReLU(), nn.Linear(3, 1, bias_attr=False))
        self.w = self.create_parameter([2])
        self.register_buffer("buf", paddle.to_tensor([1.0, 2.0]))
        self.register_buffer("tmp", paddle.to_tensor([3.0]), persistable=False)

    def forward(self, x, k=1.0):
        return self.b(self.a(x + self.w * self.buf)) * k


def test_names_of_parameters_count_by_class():
    with paddle.utils.unique_name.guard():
        net = Net()
        other = nn.Linear(1, 1)
    assert [(n, p.name) for n, p in net.named_parameters()] == [
        ("w", "net_0.w_0"),
        ("a.weight", "linear_0.w_0"),
        ("a.bias", "linear_0.b_0"),
        ("b.1.weight", "linear_1.w_0"),
    ]
    assert other.full_name() == "linear_2"


@pytest.mark.parametrize(
    "name, text",
    [("Conv2DTranspose", "conv2d_transpose"), ("BatchNorm1D", "batch_norm1d"), ("LSTMCell", "lstm_cell"),
     ("GELU", "gelu"), ("MultiHeadAttention", "multi_head_attention")],
)  # fmt: skip
def test_snake_case(name, text):
    from paddle.nn.layer.members import snake_case

    assert snake_case(name) == text


def test_walking():
    net = Net()
    assert [n for n, _ in net.named_sublayers()] == ["a", "b", "b.0", "b.1"]
    assert [n for n, _ in net.named_sublayers(prefix="m", include_self=True)][:2] == ["m", "m.a"]
    assert [n for n, _ in net.named_children()] == ["a", "b"]
    assert [n for n, _ in net.named_buffers()] == ["buf", "tmp"]
    assert len(net.parameters(include_sublayers=False)) == 1
    assert net.get_sublayer("b.1") is net.b[1] and net.get_parameter("a.bias") is net.a.bias
    assert net.get_buffer("buf") is net.buf
    with pytest.raises(AttributeError):
        net.get_sublayer("b.9")


def test_shared_layers_and_parameters_count_once():
    net = nn.Layer()
    net.a = nn.Linear(2, 2)
    net.b = net.a
    net.c = nn.Linear(2, 2)
    net.c.weight = net.a.weight
    assert len(net.parameters()) == 3
    assert len(net.state_dict()) == 6
    assert [n for n, _ in net.named_sublayers(remove_duplicate=False)] == ["a", "b", "c"]


def test_attributes_move_between_tables():
    net = Net()
    net.a = nn.Identity()
    assert "a.weight" not in net.state_dict() and isinstance(net.a, nn.Identity)
    net.w = None
    assert net.w is None and net._parameters["w"] is None
    net.w = paddle.create_parameter([1], "float32")
    assert net.state_dict()["w"].shape == [1]
    del net.w
    assert not hasattr(net, "w") and "w" not in net.state_dict()
    net.t = paddle.ones([2])
    assert "t" in net._buffers and "t" not in net.state_dict()
    net._parameters["late"] = paddle.create_parameter([1], "float32")
    assert net.late is net._parameters["late"]
    net.plain = 3
    net.plain = nn.ReLU()
    assert "plain" in net._sub_layers


@pytest.mark.parametrize(
    "call, kind",
    [
        (lambda n: setattr(n.a, "weight", 3), TypeError),
        (lambda n: setattr(n, "a", 3), TypeError),
        (lambda n: setattr(n, "buf", "x"), TypeError),
        (lambda n: n.add_parameter("a.b", None), KeyError),
        (lambda n: n.add_parameter("", None), KeyError),
        (lambda n: n.add_parameter("a", None), KeyError),
        (lambda n: n.add_parameter(3, None), TypeError),
        (lambda n: n.add_parameter("q", 3), TypeError),
        (lambda n: n.register_buffer("q", 3), TypeError),
        (lambda n: n.register_buffer("a", paddle.ones([1])), KeyError),
        (lambda n: n.add_sublayer("q", 3), AssertionError),
        (lambda n: n.nope, AttributeError),
        (lambda n: n.backward(), ValueError),
        (lambda n: nn.Layer()(1), NotImplementedError),
        (lambda n: n.create_parameter(["x"]), TypeError),
        (lambda n: n.create_parameter([2], attr=3), TypeError),
        (lambda n: n.to("no such device"), ValueError),
    ],
)
def test_bad_registrations(call, kind):
    with pytest.raises(kind):
        call(Net())


def test_a_layer_needs_super_init():
    class Bad(nn.Layer):
        def __init__(self):
            self.fc = nn.Linear(1, 1)

    with pytest.raises(ValueError, match="super"):
        Bad()


def test_state_dict_round_trip():
    net, other = Net(), Net()
    assert list(net.state_dict()) == ["w", "buf", "a.weight", "a.bias", "b.1.weight"]
    assert "tmp" in net.to_static_state_dict()
    assert net.state_dict()["w"] is net.w
    assert net.state_dict(keep_vars=False)["w"].stop_gradient
    assert other.set_state_dict(net.state_dict()) == ([], [])
    x = paddle.ones([2, 2])
    np.testing.assert_array_equal(net(x).numpy(), other(x).numpy())
    assert net.a.weight is not other.a.weight


def test_what_does_not_fit_is_skipped_and_named():
    net = nn.Linear(2, 3)
    before = net.weight.numpy()
    with pytest.warns(UserWarning, match="Skip loading for") as seen:
        result = net.set_state_dict({"weight": np.ones([3, 3], "float32"), "extra": 1})
    assert result == (["weight", "bias"], ["weight", "extra"])
    assert "receives a shape [3, 3], but the expected shape is [2, 3]" in str(seen[0].message)
    np.testing.assert_array_equal(net.weight.numpy(), before)


def test_names_of_tensors_can_be_the_keys():
    net, other = nn.Linear(2, 2), nn.Linear(2, 2)
    state = {other.weight.name: net.weight, other.bias.name: net.bias}
    assert other.set_state_dict(state, use_structured_name=False) == ([], [])
    np.testing.assert_array_equal(net.weight.numpy(), other.weight.numpy())


def test_load_state_dict_is_strict():
    net = nn.Linear(2, 2)
    with pytest.raises(RuntimeError, match="missing"):
        net.load_state_dict({"weight": net.weight})


def test_hooks():
    net = Net()
    x = paddle.ones([1, 2])
    plain = net(x).numpy()
    calls = []
    h1 = net.register_forward_pre_hook(lambda layer, i: calls.append(("pre", len(i))))
    h2 = net.register_forward_post_hook(lambda layer, i, o: o * 2)
    np.testing.assert_allclose(net(x).numpy(), plain * 2, rtol=1e-6)
    assert calls == [("pre", 1)]
    h2.remove()
    h3 = net.register_forward_pre_hook(lambda layer, i: i[0] * 0)
    assert not np.allclose(net(x).numpy(), plain)
    h3.remove()
    h1.remove()
    h1.remove()
    net.register_forward_pre_hook(lambda layer, i, kw: (i, {**kw, "k": 3.0}), with_kwargs=True)
    np.testing.assert_allclose(net(x).numpy(), plain * 3, rtol=1e-6)


def test_hooks_can_go_first_and_be_called_always():
    order = []
    net = nn.Identity()
    net.register_forward_post_hook(lambda layer, i, o: order.append("b"))
    net.register_forward_post_hook(lambda layer, i, o: order.append("a"), prepend=True)
    net(1)
    assert order == ["a", "b"]

    class Broken(nn.Layer):
        def forward(self):
            raise KeyError("no")

    broken = Broken()
    broken.register_forward_post_hook(lambda layer, i, o: order.append(o), always_call=True)
    with pytest.raises(KeyError):
        broken()
    assert order[-1] is None


def test_state_dict_hooks():
    net = nn.Linear(1, 1)
    h = net.register_state_dict_hook(lambda d: d.pop("bias"))
    assert list(net.state_dict()) == ["weight"]
    h.remove()
    assert len(net.state_dict()) == 2


def test_train_eval_apply():
    net = Net()
    seen = []
    assert net.apply(lambda layer: seen.append(type(layer).__name__)) is net
    assert seen == ["Linear", "ReLU", "Linear", "Sequential", "Net"]
    assert net.eval() is net and not net.b[0].training
    assert net.train() is net and net.a.training


def test_types():
    net = Net()
    net(paddle.ones([1, 2])).sum().backward()
    assert net.to(dtype="float64") is net
    assert {str(t.dtype) for t in net.state_dict().values()} == {"paddle.float64"}
    assert str(net.a.weight.grad.dtype) == "paddle.float64" and not net.a.weight.stop_gradient
    assert str(net(paddle.ones([1, 2], "float64")).dtype) == "paddle.float64"
    assert net.float().a.weight.dtype == paddle.float32
    assert net.bfloat16().a.weight.dtype == paddle.bfloat16
    assert net.to(paddle.ones([1])).a.weight.dtype == paddle.float32
    assert net.astype("float64").a.weight.dtype == paddle.float32  # as upstream: nothing changes
    assert net.create_parameter([1]).dtype == paddle.float32  # as upstream: always the default type


@pytest.mark.parametrize(
    ("convert", "ints"),
    [
        (lambda net: net.float(), "int64"),
        (lambda net: net.bfloat16(), "int64"),
        (lambda net: net.half(), "float16"),
        (lambda net: net.double(), "float64"),
        (lambda net: net.to(dtype="float64"), "float64"),
        (lambda net: net.type("int32"), "int32"),
    ],
)
def test_integer_buffers_are_converted_by_some(convert, ints):
    net = nn.Layer()
    net.register_buffer("ids", paddle.arange(3))
    assert convert(net) is net and net.ids.dtype.name.lower().endswith(ints)


def test_variables_are_named_after_the_layer():
    net = nn.Linear(1, 1)
    assert net.create_variable("v").name == "linear_0.v"
    assert net.create_tensor(persistable=True).name.startswith("linear_0._generated_var")
    assert net.create_variable(dtype="float64").shape == [] and net._get_name() == "Linear"


def test_a_parameter_is_not_replaced_by_a_layer():
    net = nn.Linear(1, 1)
    with pytest.raises(TypeError, match="registered parameter"):
        net.weight = nn.Linear(1, 1)
    assert net.weight.shape == [1, 1]


def test_gradients_are_cleared():
    net = Net()
    net(paddle.ones([1, 2])).sum().backward()
    net.clear_gradients()
    np.testing.assert_array_equal(net.a.weight.grad.numpy(), np.zeros([2, 3]))
    net.clear_gradients(set_to_zero=False)
    assert net.a.weight.grad is None
    net.requires_grad_(False)
    assert all(p.stop_gradient for p in net.parameters())


def test_copies_are_independent():
    net = Net()
    twin = copy.deepcopy(net)
    assert twin.a.weight is twin.a._parameters["weight"] and twin.a.weight is not net.a.weight
    assert twin.a.weight.name.startswith(net.a.weight.name + "_deepcopy")
    x = paddle.ones([2, 2])
    np.testing.assert_array_equal(net(x).numpy(), twin(x).numpy())
    with paddle.no_grad():
        twin.w.add_(paddle.ones([2]))
    assert not np.allclose(net(x).numpy(), twin(x).numpy())


def test_layers_are_pickled():
    net = Net()
    twin = pickle.loads(pickle.dumps(net))
    x = paddle.ones([2, 2])
    np.testing.assert_array_equal(net(x).numpy(), twin(x).numpy())
    assert twin.w is twin._parameters["w"]


def test_printing():
    assert repr(Net()) == (
        "Net(\n  (a): Linear(in_features=2, out_features=3, dtype=float32)\n  (b): Sequential(\n    (0): ReLU()\n"
        "    (1): Linear(in_features=3, out_features=1, dtype=float32)\n  )\n)"
    )


def test_inference_is_one_program_that_repeats():
    from paddle.engine.eager import trace as tracing

    net = Net()
    x = paddle.ones([2, 2])
    with paddle.no_grad():
        for i in range(6):
            before = tracing.trie.size
            y = net(x)
            if i > 2:
                assert tracing.trie.size == before
            x = x + 0.0
    assert y.stop_gradient


def test_threads_share_a_layer():
    net = Net()
    x = paddle.ones([4, 2])
    expected = net(x).numpy()
    out = []

    def work():
        with paddle.no_grad():
            for _ in range(5):
                out.append(net(paddle.ones([4, 2])).numpy())

    threads = [threading.Thread(target=work) for _ in range(3)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(out) == 15
    for o in out:
        np.testing.assert_array_equal(o, expected)


def test_lazy_guard():
    with paddle.LazyGuard():
        fc = nn.Linear(3, 4)
    assert not fc.weight.numpy().any()
    for p in fc.parameters():
        p.initialize()
    assert fc.weight.numpy().any()


def test_parameters_take_the_default_type_of_the_moment():
    before = paddle.get_default_dtype()
    try:
        paddle.set_default_dtype("float64")
        for layer in (nn.Linear(2, 3), nn.Conv2D(1, 2, 3), nn.BatchNorm2D(3), nn.LayerNorm(4), nn.Embedding(3, 4),
                      nn.LSTM(2, 3), nn.Conv2DTranspose(1, 2, 3), nn.PReLU()):  # fmt: skip
            assert {p.dtype for p in layer.parameters()} == {paddle.float64}, layer
            assert {v.dtype for v in layer.state_dict().values()} == {paddle.float64}, layer
        x = paddle.rand([2, 1, 5, 5])
        y = nn.BatchNorm2D(2)(nn.Conv2D(1, 2, 3)(x))
        assert y.dtype == paddle.float64
        y.sum().backward()
    finally:
        paddle.set_default_dtype(before)
    assert nn.Linear(2, 3).weight.dtype == paddle.float32


def test_sequential_keeps_names():
    def names(net):
        return [n for n, _ in net.named_children()]

    net = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
    del net[1]
    assert names(net) == ["0", "2"] and type(net[1]) is nn.Linear and list(net(paddle.ones([1, 2])).shape) == [1, 1]
    assert names(net.append(nn.Tanh())) == ["0", "2", "3"]
    assert names(net.append(nn.GELU())) == ["0", "2", "3", "4"]
    net["act"] = nn.ReLU()
    del net["2"], net[-2:]
    assert names(net) == ["0", "3"]
    whole = nn.Sequential(nn.ReLU(), nn.Tanh())
    assert names(whole.insert(1, nn.GELU())) == ["0", "1", "2"] and type(whole[1]) is nn.GELU
    whole[3] = nn.Sigmoid()
    whole[-1] = nn.Softmax()
    assert names(whole) == ["0", "1", "2", "3"] and type(whole[3]) is nn.Softmax
    named = nn.Sequential(("a", nn.ReLU()), ("b", nn.Tanh()))
    assert names(named.insert(1, nn.GELU())) == ["a", "2", "b"]


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        (lambda net: net.__delitem__(5), AssertionError), (lambda net: net.__delitem__("x"), AssertionError),
        (lambda net: net.__setitem__(0, 3), AssertionError), (lambda net: net.append(3), AssertionError),
        (lambda net: net.insert(9, nn.ReLU()), IndexError), (lambda net: net["x"], KeyError),
        (lambda net: nn.LayerList([net]).__setitem__(0, 3), AssertionError),
        (lambda net: nn.ParameterList().append(3), TypeError),
    ],
)  # fmt: skip
def test_wrong_entries(wrong, error):
    net = nn.Sequential(nn.ReLU())
    with pytest.raises(error, match="expected"):
        wrong(net)
    assert type(net[0]) is nn.ReLU
