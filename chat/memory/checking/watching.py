"""A system watched over the turns of a talk: tokens, what the cache gives, what is over the budget or not covered."""

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

import numpy as np
from langchain_core.messages import AIMessage

from chat.memory.budget import Budget
from chat.memory.checking.looking import common, num_uncovered, num_unquoted
from chat.memory.checking.reading import Reader
from chat.memory.checking.systems import Shown, System
from chat.memory.checking.talks import Exchange

# Turns between which the growth of what is read counts.
STEADY, LONG = 50, 200


@dataclass
class Watch:
    """What came of one talk with one system."""

    system: System
    reader: Reader
    budget: Budget
    shown_tokens: list[int] = field(default_factory=list)
    read_tokens: list[int] = field(default_factory=list)
    num_over: int = 0
    num_uncovered: int = 0
    num_unquoted: int = 0
    prompts: list[Shown] = field(default_factory=list)
    _cached: Sequence[Hashable] = ()

    async def say(self, exchange: Exchange, attacks: Sequence[str] = ()) -> None:
        """One turn."""
        shown = await self.system.say(exchange)
        assert shown is not None, "it was asked for"
        self.look(shown, attacks)
        # The reply as well is in the cache when the next prompt comes.
        self._cached = self.reader.tokens([*shown.messages, AIMessage(exchange.assistant)])

    def look(self, shown: Shown, attacks: Sequence[str] = ()) -> None:
        """Take a prompt's measures."""
        tokens = self.reader.tokens(shown.messages)
        self.shown_tokens.append(len(tokens))
        self.prompts.append(shown)
        self.read_tokens.append(len(tokens) - common(self._cached, tokens))
        self.num_over += len(tokens) > self.budget.prompt
        self.num_uncovered += num_uncovered(shown)
        self.num_unquoted += num_unquoted(shown, attacks)


def share_reused(watches: Sequence[Watch]) -> float:
    """The share of all prompts' tokens that the cache held already."""
    shown = sum(sum(watch.shown_tokens) for watch in watches)
    return 1 - sum(sum(watch.read_tokens) for watch in watches) / shown if shown else math.nan


def growth(watches: Sequence[Watch]) -> float:
    """By what share of their mean the tokens that are read in a turn grow from turn STEADY to turn LONG.

    The line of least squares through the means of all talks; 0 where its slope lies within two standard errors of
    none. NaN where no talk is that long.
    """
    rows = [watch.read_tokens[STEADY:LONG] for watch in watches if len(watch.read_tokens) >= LONG]
    if not rows:
        return math.nan
    read = np.mean(np.array(rows, float), axis=0)
    turns = np.arange(len(read), dtype=float)
    (slope, start), ((variance, _), _) = np.polyfit(turns, read, 1, cov=True)
    del start
    if abs(slope) <= 2 * math.sqrt(variance):
        return 0.0
    return float(slope * len(read) / max(1.0, read.mean()))
