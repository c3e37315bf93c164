import zipfile

import numpy as np
import pytest

import paddle
from paddle.amp import debugging
from paddle.amp.debugging import DebugMode, check_layer_numerics, check_numerics

BAD = [1.0, np.nan, np.inf, 0.0]


def test_counts_and_values():
    counts, values = check_numerics(paddle.to_tensor([1.0, 0.0, 3.0, 0.2]), "op", "v")
    assert counts.dtype is paddle.int64 and counts.tolist() == [0, 0, 1]
    assert values.dtype is paddle.float32
    np.testing.assert_allclose(values.numpy(), [3.0, 0.0, 1.05], rtol=1e-6)
    counts, values = check_numerics(paddle.to_tensor(BAD), "op", "v", DebugMode.CHECK_NAN_INF)
    assert counts.tolist() == [1, 1, 1]
    assert np.isnan(values.numpy()[2])
    assert check_numerics(paddle.zeros([0]), "op", "v")[0].tolist() == [0, 0, 0]
    assert check_numerics(paddle.to_tensor(2.0).astype("bfloat16"), "op", "v")[1].tolist() == [2.0, 2.0, 2.0]


def test_what_is_reported(capsys):
    with pytest.raises(RuntimeError, match=r"relu: there are NaN or infinities \(num_nan=1, num_inf=1, num_zero=1\)"):
        check_numerics(paddle.to_tensor(BAD), "relu", "h")
    assert capsys.readouterr().out.startswith("[PRECISION] [ERROR] in [device=cpu, op=relu, tensor=h, dtype=fp32]")
    large = paddle.to_tensor([1e6])
    for mode, said in ((DebugMode.CHECK_NAN_INF, False), (DebugMode.CHECK_ALL_FOR_OVERFLOW, True),
                       (DebugMode.CHECK_ALL, True)):  # fmt: skip
        check_numerics(large, "relu", "h", mode)
        assert ("op=relu, tensor=h, dtype=fp32" in capsys.readouterr().out) is said
    check_numerics(paddle.to_tensor(BAD), "relu", "h", DebugMode.CHECK_NAN_INF)
    assert "[ERROR]" in capsys.readouterr().out


def test_layers():
    class Log(paddle.nn.Layer):
        @check_layer_numerics
        def forward(self, x):
            return x.log(), "kept"

    assert Log()(paddle.ones([2]))[0].tolist() == [0.0, 0.0]
    with pytest.raises(RuntimeError, match="Log: there are NaN"):
        Log()(paddle.zeros([2]))
    with pytest.raises(RuntimeError, match=r"input"):
        Log()(paddle.to_tensor([np.nan]))
    with pytest.raises(RuntimeError, match="first input"):
        Log()(3)
    with pytest.raises(ValueError, match="not a Tensor"):
        check_numerics(3, "op", "v")


@pytest.fixture
def checking():
    yield lambda **k: debugging.enable_tensor_checker(debugging.TensorCheckerConfig(enable=True, **k))
    debugging.disable_tensor_checker()
    debugging.TensorCheckerConfig.current_step_id = 0


def test_checker_prints(checking, capsys):
    checking(debug_mode=DebugMode.CHECK_NAN_INF)
    x = paddle.to_tensor([1.0, 0.0, -1.0], stop_gradient=False)
    (x / paddle.to_tensor([0.0, 1.0, 2.0])).sum().backward()  # nobody reads the sum
    assert x.grad.tolist() == [np.inf, 1.0, 0.5]
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "AMP Debugging TensorCheckerConfig: seed  123"
    assert lines[1] == (
        "[PRECISION] [ERROR] in [device=cpu, op=divide, tensor=, dtype=fp32], numel=3, num_nan=0, num_inf=1, "
        "num_zero=1, max=inf, min=-5.000000e-01, mean=inf"
    )
    assert "op=sum" in lines[2] and all("[ERROR]" in line for line in lines[1:])
    assert (x * 2.0).tolist() == [2.0, 0.0, -2.0] and capsys.readouterr().out == ""


def test_checker_raises_at_the_line(checking, capsys):
    checking()
    zero = paddle.zeros([2])
    with pytest.raises(RuntimeError, match="log: there are NaN or infinities") as e:
        zero.log().tolist()
    assert "test_debugging.py" in str(e.value) and capsys.readouterr().out.count("[ERROR]") == 1
    debugging.disable_tensor_checker()
    assert zero.log().tolist() == [-np.inf, -np.inf]


@pytest.mark.parametrize(
    ("lists", "found"),
    [
        (dict(checked_op_list=["elementwise_div"]), ["divide"]),
        (dict(checked_op_list=("exp",)), []),
        (dict(skipped_op_list=["divide"]), ["multiply"]),
    ],
)
def test_checker_looks_at_what_is_listed(checking, capsys, lists, found):
    checking(debug_mode=DebugMode.CHECK_NAN_INF, **lists)
    (paddle.ones([1]) / 0.0 * 2.0).item()
    assert [line.split("op=")[1].split(",")[0] for line in capsys.readouterr().out.splitlines()[1:]] == found


def test_checker_steps(checking):
    config = debugging.TensorCheckerConfig(True, DebugMode.CHECK_NAN_INF, debug_step=(1, 3))
    assert [config.update_and_check_step_id() for _ in range(5)] == [False, True, True, False, False]
    assert not debugging.TensorCheckerConfig(False).update_and_check_step_id()
    for arguments, error in [
        (dict(debug_step=3), ValueError), (dict(debug_step=(3, 1)), AssertionError),
        (dict(debug_mode=3), AttributeError), (dict(checked_op_list=3), ValueError),
    ]:  # fmt: skip
        with pytest.raises(error, match="expected"):
            debugging.TensorCheckerConfig(True, **arguments)
    with pytest.raises(TypeError, match="folder"):
        checking(output_dir=3)
    with pytest.raises(AttributeError, match="configuration"):
        debugging.enable_tensor_checker(None)


def calls(printed):
    rows = [line.split("|") for line in printed.splitlines() if line.startswith("  ")]
    return {name.strip(): [int(n) for n in counts] for name, *counts in rows}


def test_operators_are_counted(capsys):
    x = paddle.ones([2, 2])
    x.stop_gradient = False
    for _ in range(2):  # the second time the program is known
        with debugging.collect_operator_stats():
            with paddle.amp.auto_cast(dtype="bfloat16"):
                assert paddle.amp.get_autocast_dtype() == "bfloat16"
                loss = paddle.nn.functional.gelu((x @ x).exp() + x).sum()
                loss.backward()  # gradients do not count
            (paddle.arange(3) + 1).tolist()
        found = calls(capsys.readouterr().out)
        assert found["matmul_v2"] == [0, 1, 0, 0] and found["exp"] == [0, 0, 1, 0] and found["gelu"] == [0, 0, 1, 0]
        assert found["elementwise_add"] == [0, 0, 1, 1] and "erf" not in found
        x.clear_grad()
    with debugging.collect_operator_stats():
        pass
    table = capsys.readouterr().out.splitlines()
    assert table[0].strip("<->") == " op list " and len(table[0]) == len(table[1]) == len(table[2]) == 122
    debugging.disable_operator_stats_collection()
    assert capsys.readouterr().out == "" and not paddle.amp.is_autocast_enabled()


def test_two_runs_are_compared(checking, tmp_path):
    def run(dtype):
        folder = tmp_path / dtype
        checking(debug_mode=DebugMode.CHECK_ALL, output_dir=str(folder), checked_op_list=["multiply"])
        x = paddle.full([2], 300.0).astype(dtype)
        (x * x).astype("float32").tolist(), (x * 0.5).astype("float32").tolist()
        debugging.disable_tensor_checker()
        return str(folder)

    book = tmp_path / "found.xlsx"
    debugging.compare_accuracy(run("float32"), run("float16"), str(book), loss_scale=1)
    with zipfile.ZipFile(book) as parts:
        assert 'name="worker_cpu"' in parts.read("xl/workbook.xml").decode()
        rows = parts.read("xl/worksheets/sheet1.xml").decode().split("<row>")[3:]
    assert len(rows) == 2 and all("multiply" in row and "fp16" in row for row in rows)
    assert "<v>90000.0</v>" in rows[0] and 's="1"' in rows[0] and "inf" in rows[0] and 's="1"' not in rows[1]
    with pytest.raises(AssertionError, match="dump_all_tensors"):
        debugging.compare_accuracy("a", "b", "c", dump_all_tensors=True)
