"""Predictors run saved programs."""

import gc
import subprocess
import sys
import threading

import numpy as np
import pytest

import paddle
from paddle import inference
from paddle.static import InputSpec

nn = paddle.nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(3, 8), nn.Linear(8, 2)

    def forward(self, x, ids):
        return self.b(paddle.tanh(self.a(x))), ids * 2


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    path = str(tmp_path_factory.mktemp("model") / "m")
    net = Net()
    net.eval()
    paddle.jit.save(net, path, [InputSpec([None, 3], "float32", "rows"), InputSpec([None], "int64")])
    return path, net


def config(path):
    made = inference.Config(path + ".json", path + ".pdiparams")
    made.disable_gpu()
    made.disable_glog_info()
    return made


def run(predictor, x, ids):
    for name, a in zip(predictor.get_input_names(), (x, ids)):
        predictor.get_input_handle(name).copy_from_cpu(a)
    assert predictor.run() is None
    return [predictor.get_output_handle(n).copy_to_cpu() for n in predictor.get_output_names()]


def rows(n, seed=0):
    return np.random.default_rng(seed).standard_normal((n, 3)).astype("float32"), np.arange(n)


def test_handles(saved):
    path, net = saved
    p = inference.create_predictor(config(path))
    assert p.get_input_names() == ["rows", "ids"] and len(p.get_output_names()) == 2
    h = p.get_input_handle("rows")
    assert type(h).__name__ == "PaddleInferTensor" and isinstance(h, inference.Tensor)
    assert h.shape() == [-1, 3] and h.type() is inference.DataType.FLOAT32
    for n in (1, 2, 7, 1):
        x, ids = rows(n, n)
        a, b = run(p, x, ids)
        np.testing.assert_allclose(a, net(paddle.to_tensor(x), paddle.to_tensor(ids))[0].numpy(), 1e-5, 1e-6)
        np.testing.assert_array_equal(b, 2 * ids)
        assert h.shape() == [n, 3] and p.get_output_handle("fetch_name_1").type() == inference.DataType.INT64
    a[:] = 7  # copies: what comes out next is not touched
    assert (p.get_output_handle("fetch_name_0").copy_to_cpu() != 7).any()


def test_results_are_the_same_once_compiled(saved):
    path, net = saved
    x, ids = rows(4)
    p = inference.create_predictor(config(path))
    every = [run(p, x, ids)[0] for _ in range(70)]
    wanted = net(paddle.to_tensor(x), paddle.to_tensor(ids))[0].numpy()
    for a in every:
        np.testing.assert_allclose(a, wanted, 1e-5, 1e-6)
    program = p._model.program([x, ids])[0]
    assert program.compiled is not None and any(program.compiled.compiled_for)
    plain = config(path)
    plain.switch_ir_optim(False)
    q = inference.create_predictor(plain)
    for _ in range(70):
        np.testing.assert_allclose(run(q, x, ids)[0], wanted, 1e-5, 1e-6)
    assert all(program.compiled is None for program, _ in q._model.programs.values())


def test_lists_of_tensors(saved):
    path, net = saved
    p = inference.create_predictor(config(path))
    x, ids = (paddle.to_tensor(a) for a in rows(3))
    a, b = p.run([x, ids])
    assert isinstance(a, paddle.Tensor)
    np.testing.assert_allclose(a.numpy(), net(x, ids)[0].numpy(), 1e-5, 1e-6)
    for given, error, text in (
        ([x.numpy(), ids.numpy()], TypeError, "no Tensors"),
        ([x], ValueError, "number of inputs"),
        ([paddle.ones([2, 4]), ids], ValueError, "type of rows does not fit"),
        ([x.astype("float64"), ids], ValueError, "astype"),
        (x, TypeError, "no Tensors"),
    ):
        with pytest.raises(error, match=text):
            p.run(given)
    np.testing.assert_allclose(p.run([x, ids])[0].numpy(), a.numpy())


def test_wrong_use_of_handles(saved):
    p = inference.create_predictor(config(saved[0]))
    for get in (p.get_input_handle, p.get_output_handle):
        with pytest.raises(RuntimeError, match="nope"):
            get("nope")
    with pytest.raises(RuntimeError, match="rows has no value"):
        p.run()
    with pytest.raises(RuntimeError, match="has no value"):
        p.get_output_handle("fetch_name_0").copy_to_cpu()
    h = p.get_input_handle("rows")
    for bad in ([1, 2], paddle.ones([2]), np.array(["a"])):
        with pytest.raises(TypeError, match="rows cannot have this value"):
            h.copy_from_cpu(bad)
    with pytest.raises(TypeError, match="cannot have this value"):
        h.share_external_data(np.ones(3))
    for bad, error in (([1.5], TypeError), (3, TypeError), ("x", TypeError), ([-1, 3], ValueError)):
        with pytest.raises(error, match="cannot have this shape"):
            h.reshape(bad)
    h.reshape([2, 3])
    assert h.shape() == [2, 3]
    h.copy_from_cpu(np.ones((2, 3)))
    p.get_input_handle("ids").copy_from_cpu(np.arange(2))
    with pytest.raises(ValueError, match="float64"):
        p.run()


def test_shared_memory_counts_when_it_runs(saved):
    path, net = saved
    p = inference.create_predictor(config(path))
    x, ids = (paddle.to_tensor(a) for a in rows(3))
    p.get_input_handle("rows").share_external_data(x)
    p.get_input_handle("ids").share_external_data(ids)
    p.run()
    x.add_(paddle.ones([3, 3]))
    p.run()
    found = p.get_output_handle("fetch_name_0").copy_to_cpu()
    np.testing.assert_allclose(found, net(x, ids)[0].numpy(), 1e-5, 1e-6)


def test_clones_run_at_the_same_time(saved):
    path, net = saved
    pool = inference.PredictorPool(config(path), 4)
    assert len({id(pool.retrieve(i)._model) for i in range(4)}) == 1
    for bad in (4, -1, "a"):
        with pytest.raises(ValueError, match="no such Predictor"):
            pool.retrieve(bad)
    with pytest.raises(ValueError, match="size"):
        inference.PredictorPool(config(path), 0)
    wanted = {}
    for n in range(1, 5):
        x, ids = rows(n, n)
        wanted[n] = net(paddle.to_tensor(x), paddle.to_tensor(ids))[0].numpy()
    failed = []

    def work(i):
        try:
            for k in range(40):
                n = (i + k) % 4 + 1
                np.testing.assert_allclose(run(pool.retrieve(i), *rows(n, n))[0], wanted[n], 1e-5, 1e-6)
        except BaseException as e:
            failed.append(e)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not failed


def test_many_sizes_are_not_kept(saved):
    p = inference.create_predictor(config(saved[0]))
    for n in range(1, 60):
        run(p, *rows(n))
    assert len(p._model.programs) == 16
    assert p.try_shrink_memory() >= 0 and not p._model.programs
    p.clear_intermediate_tensor()
    run(p, *rows(3))
    gc.collect()


def test_models_from_memory_and_from_folders(saved, tmp_path):
    path, _ = saved
    x, ids = rows(2)
    wanted = run(inference.create_predictor(config(path)), x, ids)[0]
    folder = path.rsplit("/", 1)[0]
    text, weights = (open_bytes(path + end) for end in (".json", ".pdiparams"))
    buffers = inference.Config()
    buffers.set_model_buffer(text, len(text), weights, len(weights))
    assert buffers.model_from_memory()
    for c in (inference.Config(folder), inference.Config(folder, "m"), buffers, inference.Config(config(path))):
        np.testing.assert_array_equal(run(inference.create_predictor(c), x, ids)[0], wanted)
    with pytest.raises(RuntimeError, match="which model of a folder"):
        inference.create_predictor(inference.Config(str(tmp_path)))


def open_bytes(path):
    with open(path, "rb") as f:
        return f.read()


def test_models_that_cannot_be_opened(saved, tmp_path):
    path, _ = saved
    for c in (inference.Config("no/m.json", "no/m.pdiparams"), inference.Config(path + ".json", "no")):
        with pytest.raises(RuntimeError, match="NotFound"):
            inference.create_predictor(c)
    with pytest.raises(RuntimeError, match="names no model"):
        inference.create_predictor(inference.Config())
    with pytest.raises(TypeError, match="no Config"):
        inference.create_predictor(3)
    bad = tmp_path / "bad.json"
    for text, error in (
        (b"{", RuntimeError),
        (b'{"base_code":{}}', NotImplementedError),
        (b"\x0a\x01", NotImplementedError),
    ):
        bad.write_bytes(text)
        with pytest.raises(error, match="load: "):
            inference.create_predictor(inference.Config(str(bad), path + ".pdiparams"))


def test_state_and_random_numbers(tmp_path):
    class Counter(nn.Layer):
        def __init__(self):
            super().__init__()
            self.register_buffer("count", paddle.zeros([1]))

        def forward(self, x):
            self.count.add_(paddle.ones([1]))
            return x + self.count, paddle.rand(x.shape)

    path = str(tmp_path / "c")
    paddle.jit.save(Counter(), path, [InputSpec([None])])
    p = inference.create_predictor(config(path))
    found = [[t.numpy() for t in p.run([paddle.zeros([2])])] for _ in range(12)]
    assert [a[0] for a, _ in found] == list(range(1, 13))
    assert len({b[0] for _, b in found}) == 12


def test_config(saved):
    c = config(saved[0])
    assert not c.use_gpu() and not c.use_xpu() and not c.tensorrt_engine_enabled() and c.ir_optim()
    assert c.glog_info_disabled() and c.mkldnn_enabled() and not c.specify_input_name()
    c.disable_mkldnn(), c.enable_memory_optim(), c.switch_specify_input_names(), c.switch_use_feed_fetch_ops(False)
    assert not c.onednn_enabled() and c.specify_input_name() and not c.use_feed_fetch_ops_enabled()
    for ask in (lambda: c.enable_use_gpu(100, 0), c.enable_xpu, c.enable_tensorrt_engine):
        with pytest.raises(RuntimeError, match="there is no"):
            ask()
    assert saved[0] in c.summary() and c.summary().count("+") >= 6
    for bad in ((3,), ("a", "b", "c"), ("a", 3)):
        with pytest.raises(TypeError, match="names of files"):
            inference.Config(*bad)
    for bad, error in ((0, ValueError), ("2", TypeError), (True, TypeError)):
        with pytest.raises(error):
            c.set_cpu_math_library_num_threads(bad)
    with pytest.raises(TypeError, match="no buffer"):
        c.set_model_buffer(3, 1, b"", 0)


def test_threads(saved):
    before = paddle.get_flags("FLAGS_cpu_threads")
    try:
        c = config(saved[0])
        assert c.cpu_math_library_num_threads() >= 1
        x, ids = rows(5)
        found = []
        for n in (1, 2, 3):
            c.set_cpu_math_library_num_threads(n)
            assert c.cpu_math_library_num_threads() == n
            found.append(run(inference.create_predictor(c), x, ids)[0])
            assert paddle.get_flags("FLAGS_cpu_threads")["FLAGS_cpu_threads"] == n
        assert all((a == found[0]).all() for a in found)
    finally:
        paddle.set_flags(before)


def test_kinds():
    sizes = {k: inference.get_num_bytes_of_data_type(k) for k in inference.DataType}
    assert sizes[inference.DataType.FLOAT32] == 4 and sizes[inference.DataType.BFLOAT16] == 2
    with pytest.raises(TypeError, match="DataType"):
        inference.get_num_bytes_of_data_type(3)
    assert inference.Config.Precision is inference.PrecisionType and inference.PlaceType.CPU == 0
    assert inference.get_version().startswith("version: ") and inference.get_trt_compile_version() == (0, 0, 0)


def test_import_paddle_leaves_it_out():
    code = "import sys, paddle; assert not {'paddle.inference', 'paddle.jit.files'} & set(sys.modules); paddle.jit.save"
    subprocess.run([sys.executable, "-c", code + "; paddle.inference.Config"], check=True)


def test_bfloat16(tmp_path):
    net = nn.Linear(3, 2)
    net.to(dtype="bfloat16")
    path = str(tmp_path / "b")
    paddle.jit.save(net, path, [InputSpec([None, 3], "bfloat16", "x")])
    x = paddle.rand([4, 3]).astype("bfloat16")
    wanted = net(x).numpy()
    assert wanted.dtype == np.uint16
    np.testing.assert_array_equal(paddle.jit.load(path, verify=True)(x).numpy(), wanted)
    p = inference.create_predictor(config(path))
    np.testing.assert_array_equal(p.run([x])[0].numpy(), wanted)
    h = p.get_input_handle("x")
    h.copy_from_cpu(x.numpy())
    p.run()
    assert h.type() is inference.DataType.BFLOAT16
    np.testing.assert_array_equal(p.get_output_handle(p.get_output_names()[0]).copy_to_cpu(), wanted)
