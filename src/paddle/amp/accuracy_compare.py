"""Two runs beside each other: what the tensor checker wrote in float32 and in 16 bits, as a spreadsheet."""

from __future__ import annotations

import html
import os
import re
from typing import Any

from ..engine import errors

__all__ = ["compare_accuracy"]

_FIELD = re.compile(r"(\w+)=([^,\]\s]*)")
_RED, _YELLOW, _ORANGE, _HEAD = 1, 2, 3, 4  # styles of cells


class Line:
    """One line of a tensor checker.

    Attributes:
        op, tensor, dtype (str): of the operator and its result.
        numel, num_nan, num_inf, num_zero (int): counts.
        max, min, mean (float): of the elements.
    """

    def __init__(self, text: str) -> None:
        found = dict(_FIELD.findall(text))
        self.op, self.tensor, self.dtype = (found.get(k, "") for k in ("op", "tensor", "dtype"))
        self.numel, self.num_nan, self.num_inf, self.num_zero = (
            int(found.get(k, 0)) for k in ("numel", "num_nan", "num_inf", "num_zero")
        )
        self.max, self.min, self.mean = (float(found.get(k, "nan")) for k in ("max", "min", "mean"))

    @property
    def finite(self) -> bool:
        return not (self.num_nan or self.num_inf)


def lines_of(path: str) -> list[Line]:
    with open(path, encoding="utf-8") as file:
        return [Line(text) for text in file if text.startswith("[PRECISION]")]


def compare_accuracy(
    dump_path: str,
    another_dump_path: str,
    output_filename: str,
    loss_scale: float = 1,
    dump_all_tensors: bool = False,
) -> None:
    """Writes a spreadsheet that puts the lines of two tensor checkers beside each other.

    Both runs have written to an `output_dir` of `TensorCheckerConfig`; each file becomes a sheet, each result a row.
    Red cells hold NaN or infinities, yellow ones the 16-bit types, and orange ones a quotient of 16 bits to float32
    that is off by more than a tenth.

    Args:
        dump_path (str): the folder of the run in float32.
        another_dump_path (str): the folder of the run in 16 bits.
        output_filename (str): the file to write, .xlsx.
        loss_scale (float, optional): by which the loss of the second run was scaled. Default: 1.
        dump_all_tensors (bool, optional): True is not possible. Default: False.

    Raises:
        AssertionError: dump_all_tensors is True.
    """
    if dump_all_tensors:
        raise errors.asserted(
            "compare_accuracy: Tensors themselves are not compared.", expected="dump_all_tensors=False", received="True"
        )
    names = sorted(set(os.listdir(dump_path)) | set(os.listdir(another_dump_path)))
    sheets = []
    for name in names:
        pair = [os.path.join(folder, name) for folder in (dump_path, another_dump_path)]
        wide, low = (lines_of(path) if os.path.isfile(path) else [] for path in pair)
        sheets.append((name, rows(wide, low, loss_scale)))
    write_book(output_filename, sheets)


def paired(wide: list[Line], low: list[Line]) -> list[tuple[Line | None, Line | None]]:
    """The lines of both runs, those of the same operator and Tensor in the order of their calls."""
    waiting: dict[tuple[str, str], list[Line]] = {}
    for line in wide:
        waiting.setdefault((line.op, line.tensor), []).append(line)
    found: list[tuple[Line | None, Line | None]] = []
    for line in low:
        queue = waiting.get((line.op, line.tensor))
        found.append((queue.pop(0) if queue else None, line))
    return found + [(line, None) for queue in waiting.values() for line in queue]


def rows(wide: list[Line], low: list[Line], scale: float) -> list[list[Any]]:
    """Cells of a sheet: a value, or a pair of a value and a style."""
    low_titles = ["dtype", "scaled_max", "scaled_min", "scaled_mean", "num_zero", "has_inf", "has_nan"]
    titles = ["op_type", "tensor_name", "numel", "infinite", "fp32 dtype", "fp32 max", "fp32 min", "fp32 mean",
              "fp32 num_zero"]  # fmt: skip
    titles += [f"16-bit {t}" for t in low_titles] + [f"{k}: 16-bit / fp32" for k in ("max", "min", "mean")]
    out: list[list[Any]] = [[f"loss scale: {scale}"], [(t, _HEAD) for t in titles]]
    for a, b in paired(wide, low):
        either = a or b
        assert either is not None
        infinite = not all(t.finite for t in (a, b) if t is not None)
        row: list[Any] = [either.op, either.tensor, either.numel, (1, _RED) if infinite else 0]
        row += ["--"] * 5 if a is None else [a.dtype, _number(a.max), _number(a.min), _number(a.mean), a.num_zero]
        if b is None:
            row += ["--"] * 7
        else:
            dtype = (b.dtype, _YELLOW) if b.dtype in ("fp16", "bf16") else b.dtype
            row += [dtype, _number(b.max), _number(b.min), _number(b.mean), b.num_zero]
            row += [(1, _RED) if n else 0 for n in (b.num_inf, b.num_nan)]
        for kind in ("max", "min", "mean"):
            row.append("--" if a is None or b is None else _quotient(getattr(b, kind), getattr(a, kind), scale))
        out.append(row)
    return out


def _number(value: float) -> Any:
    return value if abs(value) < float("inf") else (str(value), _RED)


def _quotient(low: float, wide: float, scale: float) -> Any:
    if not (abs(low) < float("inf") and abs(wide) < float("inf")):
        return "--"
    quotient = 1.0 if low == wide == 0 else low / (wide * scale) if wide else float("inf")
    return quotient if abs(quotient - 1.0) <= 0.1 else (str(quotient) if wide == 0 else quotient, _ORANGE)


# ---- the file: a zip of a few XML parts, as in ECMA-376 ----------------------------------------
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'


def write_book(path: str, sheets: list[tuple[str, list[list[Any]]]]) -> None:
    import zipfile

    sheets = sheets or [("empty", [])]
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    parts = [("/xl/workbook.xml", "sheet.main"), ("/xl/styles.xml", "styles")]
    parts += [(f"/xl/worksheets/sheet{i}.xml", "worksheet") for i, _ in enumerate(sheets, 1)]
    types = "".join(f'<Override PartName="{p}" ContentType="{kind}.{k}+xml"/>' for p, k in parts)
    listed = "".join(
        f'<sheet name="{html.escape(_title(name, i))}" sheetId="{i}" r:id="rId{i}"/>'
        for i, (name, _) in enumerate(sheets, 1)
    )
    links = [(f"rId{i}", "worksheet", f"worksheets/sheet{i}.xml") for i, _ in enumerate(sheets, 1)]
    links.append(("styles", "styles", "styles.xml"))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as book:

        def put(name: str, body: str) -> None:
            book.writestr(name, _XML + body)

        put(
            "[Content_Types].xml",
            f'<Types xmlns="{_PACKAGE}/content-types"><Default Extension="rels" '
            'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
            f"{types}</Types>",
        )
        put("_rels/.rels", _links([("rId1", "officeDocument", "xl/workbook.xml")]))
        put("xl/workbook.xml", f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets>{listed}</sheets></workbook>')
        put("xl/_rels/workbook.xml.rels", _links(links))
        put("xl/styles.xml", _styles())
        for i, (_, cells) in enumerate(sheets, 1):
            put(f"xl/worksheets/sheet{i}.xml", _sheet(cells))


def _title(name: str, i: int) -> str:
    """The name of a sheet: at most 31 characters, none of those that are not allowed."""
    return re.sub(r"[\[\]:*?/\\]", "_", name)[:26] + (f" ({i})" if len(name) > 26 else "")


def _links(links: list[tuple[str, str, str]]) -> str:
    body = "".join(f'<Relationship Id="{i}" Type="{_OFFICE}/{kind}" Target="{to}"/>' for i, kind, to in links)
    return f'<Relationships xmlns="{_PACKAGE}/relationships">{body}</Relationships>'


def _styles() -> str:
    colours = ["FFFF8080", "FFFFFF80", "FFFFC080", "FFD9D9D9"]
    fills = "".join(
        f'<fill><patternFill patternType="solid"><fgColor rgb="{c}"/></patternFill></fill>' for c in colours
    )
    formats = "".join(f'<xf fillId="{i}" applyFill="1"/>' for i in range(2, 2 + len(colours)))
    plain = '<fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill>'
    return (
        f'<styleSheet xmlns="{_MAIN}"><fonts count="1"><font/></fonts>'
        f'<fills count="{2 + len(colours)}">{plain}{fills}</fills><borders count="1"><border/></borders>'
        f'<cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs count="{1 + len(colours)}"><xf/>{formats}</cellXfs>'
        "</styleSheet>"
    )


def _sheet(cells: list[list[Any]]) -> str:
    body = []
    for row in cells:
        out = []
        for cell in row:
            value, style = cell if isinstance(cell, tuple) else (cell, 0)
            look = f' s="{style}"' if style else ""
            if isinstance(value, str):
                out.append(f'<c t="inlineStr"{look}><is><t>{html.escape(value)}</t></is></c>')
            else:
                out.append(f"<c{look}><v>{value}</v></c>")
        body.append(f"<row>{''.join(out)}</row>")
    return f'<worksheet xmlns="{_MAIN}"><sheetData>{"".join(body)}</sheetData></worksheet>'
