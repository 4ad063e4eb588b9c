"""What a model's file says about its tokens: words for fresh prompts, and the tokens that end or structure a reply."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from random import Random

from gguf import GGUFReader

_CONTROL, _USER_DEFINED = 3, 4  # token types of llama.cpp
_SPACE = ("Ġ", "▁")  # how vocabularies write the space in front of a word


@dataclass(frozen=True)
class Vocabulary:
    """`tokens` and `types` as the file has them, by token id."""

    tokens: list[str]
    types: list[int]

    @classmethod
    def of(cls, model: Path) -> "Vocabulary":
        """Read it from a GGUF file. Raises ValueError for files without one."""
        fields = GGUFReader(model).fields
        if "tokenizer.ggml.tokens" not in fields:
            raise ValueError(f"{model} has no vocabulary.")
        return cls(fields["tokenizer.ggml.tokens"].contents(), fields["tokenizer.ggml.token_type"].contents())

    @cached_property
    def words(self) -> list[str]:
        """Plain words that are one token each when a space stands before them."""
        words = [token[1:] for token in self.tokens if token.startswith(_SPACE)]
        return [word for word in words if word.isascii() and word.isalpha() and word.islower() and len(word) > 2]

    def text(self, rng: Random, count: int) -> str:
        """A text of so many random words, hence of nearly as many tokens."""
        return " ".join(rng.choices(self.words, k=count))

    @property
    def no_end(self) -> dict[str, float]:
        """A `logit_bias` under which a reply goes on until its `max_tokens`."""
        special = {_CONTROL, _USER_DEFINED}
        return {str(token): -100.0 for token, kind in enumerate(self.types) if kind in special}
