"""What is measured and what must come of it, as ratios of ours to the peer's."""

from dataclasses import dataclass

from benchmarks import scenarios
from benchmarks.scenarios import Scenario


@dataclass(frozen=True)
class Target:
    """One figure of a scenario. `same` and `tuned` bound its ratio with the same and with prepared weights.

    `unit` is "s" or "tokens/s"; for tokens a second more is better, for seconds less. None: no bound, only shown.
    """

    title: str
    figure: str
    unit: str
    same: float | None = None
    tuned: float | None = None

    @property
    def more_is_better(self) -> bool:
        """Whether bounds are the least and not the most."""
        return self.unit == "tokens/s"

    def is_met(self, ratio: float, bound: float) -> bool:
        """Whether a ratio keeps to a bound."""
        return ratio >= bound if self.more_is_better else ratio <= bound


@dataclass(frozen=True)
class Work:
    """A scenario, by its name on the command line, and on how many slots of how many tokens it runs."""

    name: str
    run: Scenario
    targets: tuple[Target, ...]
    slots: int = 8
    context: int = 4096


WORKS = (
    Work(
        "one",
        scenarios.one_client,
        (
            Target("one client: time to first token", "first", "s", 1.05, 0.5),
            Target("one client: tokens a second while writing", "speed", "tokens/s", 0.95, 0.9),
        ),
    ),
    Work(
        "eight",
        scenarios.eight_at_once,
        (
            Target("8 at once: tokens a second", "speed", "tokens/s", 1.0, 1.6),
            Target("8 at once: median time to first token", "first", "s", 0.6, 0.35),
        ),
    ),
    Work(
        "conversation",
        scenarios.long_conversation,
        (Target("one conversation, turns 9 to 12: time to first token", "first", "s", 1.0, 0.65),),
    ),
    Work(
        "beside",
        scenarios.side_by_side,
        (
            Target(
                "6 conversations side by side: median time to first token after the first turn", "first", "s", 0.8, 0.45
            ),
        ),
    ),
    Work(
        "typing",
        scenarios.long_prompt_beside,
        (
            Target("typing while another's long prompt is read: longest gap between tokens", "gap", "s", 0.2, 0.1),
            Target("the same: time to the first token of the long prompt", "first", "s"),
        ),
    ),
    Work(
        "thirty",
        scenarios.thirty_in_turn,
        (Target("30 conversations on 4 slots, second round: time to first token", "first", "s", 1.0, 0.65),),
        slots=4,
    ),
)
