import io
import subprocess
import sys
import zlib

import numpy as np
import pytest

from paddle.__main__ import main
from paddle.quickstart import report
from paddle.quickstart.main import run
from paddle.utils import font, png
from paddle.utils.canvas import Canvas


@pytest.mark.parametrize("shape", [(5, 7, 3), (4, 9), (1, 1, 3)])
def test_a_png_reads_back(shape):
    pixels = np.random.default_rng(0).integers(0, 256, shape).astype(np.uint8)
    file = png.encode(pixels)
    assert file.startswith(b"\x89PNG")
    image = pytest.importorskip("PIL.Image")
    np.testing.assert_array_equal(np.asarray(image.open(io.BytesIO(file))), pixels)


def test_png_chunks_carry_their_checksum():
    file = png.encode(np.zeros((2, 2), np.uint8))
    assert file[12:16] == b"IHDR" and zlib.crc32(file[12:29]) == int.from_bytes(file[29:33], "big")


def test_every_glyph_draws():
    for c in font.GLYPHS:
        cover, x, y = font.coverage(c, 12, 1.5)
        assert (cover.max() > 0.5) == (c != " ") and 0 <= cover.min() and cover.max() <= 1
        assert font.width_of(c, 12) == pytest.approx(font.GLYPHS[c][0] * 2)
    assert font.width_of("", 12) == 0.0


def test_what_lies_outside_is_cut_off():
    c = Canvas(20, 10)
    c.text(-5, 3, "abc", 12)
    c.text(15, 9, "abc", 12)
    c.curve(np.array([0.0, 30.0]), np.array([0.0, 20.0]), (0, 0, 0))
    assert c.bytes().shape == (10, 20, 3)


def test_the_report_of_few_and_perfect_predictions():
    for labels, predicted in ((np.arange(3), np.arange(3)), (np.arange(3), np.array([0, 2, 1]))):
        picture = report.draw(np.zeros((3, 28, 28)), labels, predicted, np.array([2.0, 1.0]), [("1", "one")])
        assert picture.dtype == np.uint8 and picture.ndim == 3


def test_it_learns_saves_loads_elsewhere_and_draws(tmp_path, capsys):
    result = run(str(tmp_path), epochs=1, seed=0)
    assert result["accuracy"] > 0.9 and result["step_s"] > 0
    assert (tmp_path / "report.png").read_bytes().startswith(b"\x89PNG") and (tmp_path / "digits.pdparams").exists()
    text = capsys.readouterr().out
    assert "accuracy" in text and "in compiled programs" in text and "100.0% of the digits" in text


def test_command_line(capsys):
    for arguments, status in ((["--version"], 0), (["--help"], 0), (["no"], 2), (["quickstart", "--epochs", "0"], 2)):
        with pytest.raises(SystemExit) as left:
            main(arguments)
        assert left.value.code == status
    assert "quickstart" in capsys.readouterr().out
    assert main([]) == 0
    told = capsys.readouterr().out
    assert told.startswith("usage: paddle") and "quickstart" in told and "check" in told


def test_as_a_module():
    done = subprocess.run([sys.executable, "-m", "paddle", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("OpenPaddle ")
