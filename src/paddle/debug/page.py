"""The page that `Recorded.html` writes: every program before and after each pass, in one file."""

from __future__ import annotations

import linecache
import os
from collections import Counter
from html import escape
from typing import TYPE_CHECKING

from ..engine.ir.drawing import STYLE, place_of

if TYPE_CHECKING:
    from .recorded import Recording


def page(programs: list[Recording], limit: int | None) -> str:
    """The page as text.

    Args:
        programs: what is shown, one below the other.
        limit (int, optional): boxes for operations in a picture.
    """
    title = escape(programs[0].title.split(",")[0])
    body = "\n".join(section(p, limit) for p in programs)
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>\n'
        f"<style>{STYLE}{_CSS}</style></head>\n<body>\n{body}\n<script>{_SCRIPT}</script>\n</body></html>\n"
    )


def section(program: Recording, limit: int | None) -> str:
    """One program: the user's lines, and a figure for each stage."""
    from .recorded import STAGES

    tabs, figures = [], []
    before: Counter[str] | None = None
    for i, (stage, about) in enumerate(STAGES.items()):
        tabs.append(f'<button data-stage="{i}">{i + 1}. {stage}</button>')
        counts = operations(program, stage)
        change = changed(before, counts) if before is not None and counts is not None else ""
        before = counts
        figures.append(
            f'<figure data-stage="{i}"><figcaption><b>{stage}</b> {about} {change}</figcaption>'
            f'<div class="view">{program.drawn(stage, limit, False)}</div>'
            f"<details><summary>as text</summary><pre>{escape(program.text(stage))}</pre></details></figure>"
        )
    return (
        f"<section><header><h1>{escape(program.title)}</h1><nav>{''.join(tabs)}"
        '<label><input type="checkbox" class="both" checked> with the stage before it</label></nav>'
        "<p>Wheel: zoom. Drag: move. Double click: whole picture. Point at a box: what it is joined to. "
        "Click a line of your program: what it became.</p></header>"
        f'<div class="main"><aside><h2>Your lines</h2>{lines_of(program)}</aside>'
        f'<div class="figures">{"".join(figures)}</div></div></section>'
    )


def operations(program: Recording, stage: str) -> Counter[str] | None:
    """How often each operator occurs; None for a stage that is no graph."""
    if stage in ("kernels", "memory"):
        return None
    return Counter(n.op.name for n in program.stage_graph(stage).nodes)


def changed(before: Counter[str], after: Counter[str]) -> str:
    """What a pass changed, in counts of operators."""
    names = sorted(set(before) | set(after), key=lambda n: (-abs(after[n] - before[n]), n))
    told = [f"{n} {before[n]} → {after[n]}" for n in names if after[n] != before[n]]
    if not told:
        return "<i>Nothing changed.</i>"
    more = f" and {len(told) - 12} more" if len(told) > 12 else ""
    return f"<i>{before.total()} operations → {after.total()}: {escape(', '.join(told[:12]))}{more}.</i>"


def lines_of(program: Recording) -> str:
    """The user's lines in the order in which they first occur, with how many operations each recorded."""
    counts = Counter(n.line for n in program.graph.nodes if n.line)
    rows = []
    for (file, number), count in counts.items():
        text = linecache.getline(file, number).strip()
        place = place_of((file, number))
        rows.append(
            f'<li data-line="{escape(place)}" title="{escape(os.path.abspath(file))}">'
            f"<code>{escape(text) or escape(place)}</code><span>{escape(place)}, {count} operations</span></li>"
        )
    return f"<ol>{''.join(rows)}</ol>" if rows else "<p>No lines are known.</p>"


_CSS = """
body { margin: 0; font: 14px/1.45 system-ui, sans-serif; color: #20242f; background: #f6f7f9; }
section { padding: 12px 18px; }
h1 { font-size: 18px; margin: 0 0 6px; } h2 { font-size: 13px; margin: 6px 0; color: #6d7485; }
header p, figcaption i, aside span { color: #6d7485; font-size: 12px; }
header p { margin: 6px 0; }
nav { display: flex; flex-wrap: wrap; gap: 6px; align-items: center; }
nav button { font: inherit; padding: 4px 10px; border: 1px solid #c6cbd6; border-radius: 6px; background: #fff;
  cursor: pointer; }
nav button.on { background: #2662c4; border-color: #2662c4; color: #fff; }
.main { display: grid; grid-template-columns: minmax(180px, 280px) 1fr; gap: 14px; }
aside ol { list-style: none; padding: 0; margin: 0; max-height: 78vh; overflow: auto; }
aside li { padding: 4px 6px; border-radius: 5px; cursor: pointer; border-left: 3px solid transparent; }
aside li:hover, aside li.on { background: #e9eefb; border-color: #2662c4; }
aside code { display: block; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; font-size: 12px; }
aside span { display: block; }
.figures { display: flex; gap: 12px; min-width: 0; }
figure { margin: 0; flex: 1; min-width: 0; background: #fff; border: 1px solid #dfe3ea; border-radius: 8px;
  padding: 10px; }
figure.off { display: none; }
figcaption { min-height: 62px; }
.view { height: 70vh; overflow: hidden; border-top: 1px solid #eceef2; cursor: grab; }
.view svg { width: 100%; height: 100%; display: block; user-select: none; }
pre { overflow: auto; max-height: 50vh; font-size: 12px; }
.drawing .box.lit rect { stroke: #e0218a; stroke-width: 3; }
.drawing .edge.lit { stroke: #e0218a; stroke-width: 2.2; }
"""

_SCRIPT = """
for (const section of document.querySelectorAll('section')) {
  const all = (what) => [...section.querySelectorAll(what)];
  const buttons = all('nav button'), figures = all('figure'), both = section.querySelector('.both');
  let stage = 0;
  const show = () => {
    buttons.forEach((b, i) => b.classList.toggle('on', i === stage));
    figures.forEach((f, i) => f.classList.toggle('off', !(i === stage || (both.checked && i === stage - 1))));
  };
  buttons.forEach((b, i) => b.addEventListener('click', () => { stage = i; show(); }));
  both.addEventListener('change', show);
  show();
  for (const li of all('aside li')) {
    li.addEventListener('click', () => {
      const on = !li.classList.contains('on');
      all('.lit').forEach((e) => e.classList.remove('lit'));
      all('aside li').forEach((e) => e.classList.toggle('on', on && e === li));
      if (on) all('.box').forEach((b) =>
        b.classList.toggle('lit', (b.dataset.lines || '').split(' ').includes(li.dataset.line)));
    });
  }
  for (const svg of all('svg')) {
    const whole = svg.viewBox.baseVal, [w, h] = [whole.width, whole.height];
    let box = [0, 0, w, h], from = null;
    const set = () => svg.setAttribute('viewBox', box.join(' '));
    svg.addEventListener('wheel', (e) => {
      e.preventDefault();
      const m = svg.getScreenCTM().inverse(), x = m.a * e.clientX + m.e, y = m.d * e.clientY + m.f;
      const k = Math.exp(e.deltaY * 0.0015);
      box = [x + (box[0] - x) * k, y + (box[1] - y) * k, box[2] * k, box[3] * k];
      set();
    }, { passive: false });
    svg.addEventListener('pointerdown', (e) => { from = [e.clientX, e.clientY]; });
    svg.addEventListener('pointermove', (e) => {
      if (!from || !e.buttons) return;
      const k = svg.getScreenCTM().inverse().a;
      box[0] -= (e.clientX - from[0]) * k; box[1] -= (e.clientY - from[1]) * k;
      from = [e.clientX, e.clientY];
      set();
    });
    svg.addEventListener('dblclick', () => { box = [0, 0, w, h]; set(); });
    const edges = [...svg.querySelectorAll('.edge')];
    for (const b of svg.querySelectorAll('.box[data-i]')) {
      const mark = (on) => edges.forEach((e) => {
        if (e.dataset.a === b.dataset.i || e.dataset.b === b.dataset.i) e.classList.toggle('lit', on);
      });
      b.addEventListener('mouseenter', () => mark(true));
      b.addEventListener('mouseleave', () => mark(false));
    }
  }
}
"""
