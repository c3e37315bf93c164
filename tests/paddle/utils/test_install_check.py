"""run_check: what it tells, and that it fails where something is wrong."""

import numpy as np
import pytest

import paddle
from paddle.__main__ import main
from paddle.engine import flags
from paddle.utils import install_check

SENTENCE = "PaddlePaddle is installed successfully! Let's start deep learning with PaddlePaddle now."


def test_it_tells_what_it_runs_on(capsys):
    paddle.seed(1)
    expected = paddle.rand([2]).tolist()
    paddle.seed(1)
    name = paddle.utils.unique_name.generate("run_check_test")
    assert main(["check"]) == 0
    lines = capsys.readouterr().out.splitlines()
    told = {line[:10].strip(): line[11:] for line in lines[1:-2]}
    assert list(told) == ["versions", "processor", "code for", "threads", "measured", "cache", "compiler", "training"]
    assert "Python" in told["versions"] and "LLVM" in told["versions"] and "Gflop/s" in told["measured"]
    assert lines[0] == "Running verify PaddlePaddle program ..." and lines[-1] == SENTENCE
    # what it trains takes no names and no random numbers from the user's program
    assert paddle.utils.unique_name.generate("run_check_test") == name[:-1] + str(int(name[-1]) + 1)
    assert paddle.rand([2]).tolist() == expected
    assert flags.get("FLAGS_eager_compile") == "auto"


def test_wrong_values_are_found(monkeypatch):
    right = install_check.train_by_numpy
    monkeypatch.setattr(install_check, "train_by_numpy", lambda *a: [w * 1.01 for w in right(*a)])
    with pytest.raises(RuntimeError, match="differ from numpy's"):
        install_check.check_training()
    assert flags.get("FLAGS_eager_compile") == "auto"


def test_wrong_code_is_found(monkeypatch):
    from paddle.engine.cpu import jit

    compile_object = jit.compile_object
    monkeypatch.setattr(jit, "compile_object", lambda text: compile_object(text.replace("3", "5")))
    with pytest.raises(RuntimeError, match="compiled code gives a wrong result"):
        install_check.check_compiler()


def test_the_numpy_training_is_a_training():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(6, 3)), rng.normal(size=(6, 1))
    start = [rng.normal(size=s) for s in ((3, 4), (4,), (4, 1), (1,))]

    def loss(w):
        return ((np.tanh(x @ w[0] + w[1]) @ w[2] + w[3] - y) ** 2).mean()

    assert loss(install_check.train_by_numpy(x, y, start)) < loss(start)


def test_the_cache_is_described(tmp_path, monkeypatch):
    kept = flags.get("FLAGS_cache_dir"), flags.get("FLAGS_cache_bytes")
    try:
        flags.set_("FLAGS_cache_dir", str(tmp_path))
        assert "cannot be used" in install_check.cache_text()  # nothing was put there yet
        (tmp_path / "objects").mkdir()
        (tmp_path / "objects" / "a.o").write_bytes(bytes(2048))
        assert f"{tmp_path / 'objects'}: 2.0 KiB in 1 files" in install_check.cache_text()
        flags.set_("FLAGS_cache_bytes", 0)
        assert install_check.cache_text().startswith("off")
    finally:
        flags.set_("FLAGS_cache_dir", kept[0])
        flags.set_("FLAGS_cache_bytes", kept[1])


def test_the_processor_has_a_name():
    assert install_check.cpu_name().strip()
