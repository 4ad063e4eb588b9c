"""The values that the memory must reach, what was measured, and the table of both."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

MOST_MISSES = 12


@dataclass
class Tally:
    """How often something held; what it did not hold for."""

    hits: int = 0
    total: int = 0
    misses: list[str] = field(default_factory=list)

    def count(self, holds: bool, case: str) -> None:
        """One more case."""
        self.hits += holds
        self.total += 1
        if not holds:
            self.misses.append(case)

    @property
    def share(self) -> float:
        """NaN when nothing was counted."""
        return self.hits / self.total if self.total else math.nan


@dataclass
class Value:
    """One measure of this site's memory and of others, and what is good.

    `good` is the least value where `more_is_better`, else the most. `short` is what the window must stay below (or
    above), so that one sees that the measure tells them apart. A value that could not be measured is not met; one
    without `good` is only shown.
    """

    name: str
    unit: str  # "%", "" for counts, "x" for ratios
    ours: float
    good: float | None = None
    more_is_better: bool = False
    window: float = math.nan
    summary_only: float = math.nan
    full_history: float = math.nan
    short: float | None = None
    note: str = ""
    misses: list[str] = field(default_factory=list)

    @property
    def met(self) -> bool | None:
        """None when nothing is demanded."""
        if self.good is None:
            return None
        return self._reaches(self.ours, self.good)

    @property
    def tells_apart(self) -> bool | None:
        """Whether the window falls short of it as it should; None where nothing is expected."""
        if self.short is None or math.isnan(self.window):
            return None
        return not self._reaches(self.window, self.short) or self.window == self.short

    def figures(self) -> dict[str, Any]:
        """For JSON: what was not measured is null."""
        own = asdict(self) | {"met": self.met, "misses": self.misses[:MOST_MISSES]}
        return {key: None if isinstance(value, float) and math.isnan(value) else value for key, value in own.items()}

    @classmethod
    def of(cls, figures: dict[str, Any]) -> "Value":
        """From `figures`."""
        floats = ("ours", "window", "summary_only", "full_history")
        own: dict[str, Any] = {key: value for key, value in figures.items() if key != "met"}
        own |= {key: math.nan for key in floats if own[key] is None}
        return cls(**own)

    def _reaches(self, value: float, limit: float) -> bool:
        return value >= limit if self.more_is_better else value <= limit


@dataclass
class Report:
    """A run: by what tokens were counted, its options, and its values."""

    tokens_by: str
    options: dict[str, Any]
    values: list[Value]
    model: str = ""
    embedder: str = ""
    notes: list[str] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def demanded(self) -> list[Value]:
        """Values with a limit."""
        return [value for value in self.values if value.good is not None]

    @property
    def num_met(self) -> int:
        """Of those that are demanded."""
        return sum(bool(value.met) for value in self.demanded)

    @property
    def all_met(self) -> bool:
        """Every value is met, and the measure tells a window apart."""
        return bool(self.demanded) and self.num_met == len(self.demanded)

    @property
    def summary(self) -> str:
        """The last line."""
        line = f"{self.num_met} of {len(self.demanded)} values met"
        missing = [value.name for value in self.demanded if not value.met]
        return line if not missing else f"{line}; not: {', '.join(missing)}"

    def figures(self) -> dict[str, Any]:
        """For JSON."""
        own = {key: value for key, value in asdict(self).items() if key != "values"}
        values = [value.figures() for value in self.values]
        return own | {"values": values, "met": self.num_met, "of": len(self.demanded), "summary": self.summary}


def table(values: Sequence[Value]) -> str:
    """Measure, ours, good, window, summary only, full history, met; for a terminal and for Markdown alike."""
    head = ["measure", "ours", "good", "window", "summary only", "full history", "met"]
    rows = [head, *(cells(value) for value in values)]
    widths = [max(len(row[at]) for row in rows) for at in range(len(head))]
    lines = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |" for row in rows
    ]
    return "\n".join([lines[0], "|" + "|".join("-" * (width + 2) for width in widths) + "|", *lines[1:]])


def cells(value: Value) -> list[str]:
    """A row of the table."""
    good = (
        "-" if value.good is None else ("at least " if value.more_is_better else "at most ") + _text(value, value.good)
    )
    if value.good == 0 and not value.more_is_better:
        good = "0"
    met = {None: "", True: "yes", False: "not measured" if math.isnan(value.ours) else "NO"}[value.met]
    others = (_text(value, other) for other in (value.window, value.summary_only, value.full_history))
    return [value.name, _text(value, value.ours), good, *others, met]


def _text(value: Value, figure: float) -> str:
    if math.isnan(figure):
        return "-"
    if value.unit == "%":
        return f"{figure:.0f} %" if float(figure).is_integer() else f"{figure:.1f} %"
    if value.unit == "x":
        return f"{figure:.2f} times"
    return f"{figure:g}" if float(figure).is_integer() else f"{figure:.1f}" + (f" {value.unit}" if value.unit else "")
