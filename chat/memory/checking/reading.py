"""How many tokens a prompt has and which: by the configured model's own vocabulary, else by a stated rule."""

import re
from collections.abc import Hashable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Protocol

from langchain_core.messages import BaseMessage

ROLES = {"human": "user", "ai": "assistant", "system": "system"}
_PIECE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|\w{1,6}|[^\w\s]|\n")


class Reader(Protocol):
    """Turns prompts into tokens; `name` says how, for people."""

    name: str
    fingerprint: str

    def tokens(self, messages: Sequence[BaseMessage]) -> Sequence[Hashable]:
        """All tokens of the rendered prompt, the beginning of the reply included."""


class RuleReader:
    """Without a model: pieces of up to six letters, each mark and each CJK character, and four tokens a message."""

    name = "a rule: pieces of six letters, four tokens a message"
    fingerprint = "rule"

    def tokens(self, messages: Sequence[BaseMessage]) -> Sequence[Hashable]:
        """Three more begin the reply."""
        found: list[str] = []
        for message in messages:
            found += ("<begin>", message.type, "<line>", *_pieces(message.text), "<end>")
        return [*found, "<begin>", "assistant", "<line>"]


class ModelReader:
    """By a model file's vocabulary and chat template; its weights are not read."""

    def __init__(self, path: Path) -> None:
        """Raises ModelNotLoaded."""
        from chat.inference.llama.vocabulary import Vocabulary
        from chat.inference.prompt import PromptEncoder

        vocabulary = Vocabulary(path)
        self._prompts = PromptEncoder(vocabulary)
        self.name = f"the vocabulary of {vocabulary.info.name}"
        self.fingerprint = vocabulary.info.fingerprint

    def tokens(self, messages: Sequence[BaseMessage]) -> Sequence[Hashable]:
        """As the engine encodes them."""
        plain = [{"role": ROLES[message.type], "content": message.text} for message in messages]
        return self._prompts.encode(plain).tokens


def reader_for(path: Path) -> Reader:
    """The reader for a configured model; the rule where there is none or it cannot be read."""
    from chat.inference.model_file import ModelNotLoaded

    try:
        return ModelReader(path)
    except ModelNotLoaded:
        return RuleReader()


@lru_cache(8192)
def _pieces(text: str) -> tuple[str, ...]:
    return tuple(_PIECE.findall(text))
