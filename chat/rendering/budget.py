"""How much processor time one rendering may use before it falls back to plain text."""

from time import thread_time

from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline

# Seconds on the processor, not on the clock: a busy machine must not change what a reply looks like.
TOTAL = 0.8
BLOCK = 0.2
# markdown-it drops what is nested deeper than its own limit without a word, so ours comes first.
MAX_NESTING = 40
_CALLS_PER_LOOK = 32


class TooCostly(Exception):
    """This text takes too long, or is nested too deeply, to be rendered as Markdown."""


class Budget:
    """The time of one rendering and, within it, of one block. Not for use by two threads."""

    def __init__(self, total: float = TOTAL) -> None:
        """Begin to count; `total` is in seconds of processor time."""
        self._end = self._block_end = thread_time() + total
        self._calls = 0

    @property
    def is_spent(self) -> bool:
        """True when nothing is left for further blocks."""
        return thread_time() > self._end

    def begin_block(self) -> None:
        """Give the next block its share."""
        self._block_end = min(self._end, thread_time() + BLOCK)

    def check(self) -> None:
        """Raise TooCostly when the block's share is used up."""
        if thread_time() > self._block_end:
            raise TooCostly

    def tick(self) -> None:
        """As check, but cheap enough for the innermost loop."""
        self._calls += 1
        if self._calls % _CALLS_PER_LOOK == 0:
            self.check()


def guard_block(state: StateBlock, _start: int, _end: int, _silent: bool) -> bool:
    """A block rule that comes before all others, never matches, and keeps depth and time within bounds."""
    if state.level >= MAX_NESTING:
        raise TooCostly
    state.env["budget"].tick()
    return False


def guard_inline(state: StateInline, _silent: bool) -> bool:
    """The same among the inline rules."""
    state.env["budget"].tick()
    return False
