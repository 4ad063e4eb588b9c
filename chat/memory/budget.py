"""How a conversation's context is shared out: reply, summary, turns, and the marks between which turns are folded."""

from dataclasses import dataclass


class MessageTooLong(Exception):
    """A message that cannot fit, whatever else is left out; `needed` and `available` are tokens."""

    def __init__(self, needed: int, available: int) -> None:
        """Keep both numbers; the text is for people."""
        super().__init__(f"The message has {needed} tokens, and {available} fit into the model's context.")
        self.needed = needed
        self.available = available


@dataclass(frozen=True)
class Budget:
    """Tokens of one conversation's context. A prompt never has more than `prompt`."""

    context: int
    reserve: int  # kept free for the reply
    high: int  # when system, summary and turns have more than this after a reply, the oldest turns are folded
    low: int  # and so many that the rest has no more than this
    summary: int  # the most that a summary may add to a prompt, its frame included
    recall: int  # the most that recalled passages may add, where there is room
    pinned: int  # the most that pinned messages may add
    facts: int  # the most that facts about the person may add

    @property
    def prompt(self) -> int:
        """What a prompt may have at most."""
        return self.context - self.reserve

    @classmethod
    def of(cls, context_tokens: int, max_reply_tokens: int) -> "Budget":
        """The shares that suit a context, from a few hundred to tens of thousands of tokens.

        Far apart marks make summaries rare: half of the prompt is folded at once. Above the high mark there is room for
        a new message, a tenth of the prompt or, in a small context, up to 64 tokens: few messages come before a fold.
        """
        reserve = max(1, min(max_reply_tokens, context_tokens // 4))
        prompt = context_tokens - reserve
        headroom = max(prompt // 10, min(64, prompt // 4))
        summary = min(1024, max(prompt // 5, min(128, prompt // 4)))  # a longer one would take a processor minutes
        return cls(
            context_tokens,
            reserve,
            high=prompt - headroom,
            low=prompt * 2 // 5,
            summary=summary,
            recall=min(1024, prompt // 4),
            pinned=prompt // 4,
            facts=min(256, prompt // 10),
        )
