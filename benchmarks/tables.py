"""Results as tables for the terminal and for docs/performance.md."""

import re
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from benchmarks.comparing import Comparison
from benchmarks.targets import Target

Rows = list[list[str]]


def comparison_rows(comparisons: Sequence[Comparison]) -> Rows:
    """A head and a row for each target; the columns of prepared weights only where they were measured."""
    has_tuned = any(comparison.tuned for comparison in comparisons)
    head = ["work", "peer", "ours", "ratio", "bound", ""]
    rows = [head + (["tuned", "ratio", "bound", ""] if has_tuned else [])]
    for comparison in comparisons:
        target = comparison.target
        row = [target.title, _figure(median(comparison.peer), target.unit)]
        row += _side(comparison, comparison.ours, target.same)
        if has_tuned:
            row += _side(comparison, comparison.tuned, target.tuned)
        rows.append(row)
    return rows


def missed(comparisons: Sequence[Comparison]) -> list[str]:
    """The titles of targets that were not reached."""
    return [
        comparison.target.title
        for comparison in comparisons
        for own, bound in ((comparison.ours, comparison.target.same), (comparison.tuned, comparison.target.tuned))
        if own and bound is not None and not comparison.target.is_met(comparison.ratio(own), bound)
    ]


def as_text(rows: Rows) -> str:
    """Columns under each other."""
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )


def as_markdown(rows: Rows) -> str:
    """A table of Markdown."""
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([lines[0], "|---" * len(rows[0]) + "|", *lines[1:]])


def update(file: Path, part: str, text: str) -> None:
    """Put the text between `<!-- part -->` and `<!-- end of part -->`. Raises ValueError when they are not there."""
    begin, end = f"<!-- {part} -->", f"<!-- end of {part} -->"
    before = file.read_text(encoding="utf-8")
    pattern = re.compile(re.escape(begin) + ".*?" + re.escape(end), re.DOTALL)
    if not pattern.search(before):
        raise ValueError(f"{file} has no place for it: {begin} ... {end}")
    file.write_text(pattern.sub(lambda _: f"{begin}\n{text}\n{end}", before), encoding="utf-8")


def _side(comparison: Comparison, own: list[float], bound: float | None) -> list[str]:
    if not own:
        return ["", "", "", ""]
    target, ratios = comparison.target, comparison.ratios(own)
    spread = f" ({min(ratios):.2f} to {max(ratios):.2f})" if len(ratios) > 1 else ""
    shown = [_figure(median(own), target.unit), f"{comparison.ratio(own):.2f}{spread}"]
    return [*shown, *_verdict(target, comparison.ratio(own), bound)]


def _verdict(target: Target, ratio: float, bound: float | None) -> list[str]:
    if bound is None:
        return ["", ""]
    sign = ">=" if target.more_is_better else "<="
    return [f"{sign} {bound:g}", "met" if target.is_met(ratio, bound) else "NOT met"]


def _figure(value: float, unit: str) -> str:
    if unit == "s":
        return f"{value * 1000:.0f} ms" if value < 1 else f"{value:.2f} s"
    return f"{value:.0f} {unit}"
