"""An embedder without a model, for tests: texts that share words are near each other."""

import re
import zlib
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from chat.inference.embedding import Embedder, EmbeddingInfo, Vectors

_WORD = re.compile(r"\w+")


class HashedWords:
    """Implements chat.inference.embedding.EmbeddingModel: each word adds one direction, whatever its place.

    `alike` are groups of words that mean the same, so that a test can ask in other words: `[("dog", "pet")]`. With
    `fails`, an exception, every batch raises it. `batches` keeps the numbers of windows of all batches.
    """

    def __init__(
        self,
        *,
        alike: Iterable[Sequence[str]] = (),
        dims: int = 64,
        context: int = 64,
        fails: Exception | None = None,
        name: str = "hashed-words",
    ) -> None:
        self._means = {word: group[0] for group in alike for word in group}
        self.fails = fails
        self.batches: list[int] = []
        self.closed = False
        self.info = EmbeddingInfo(
            name=name,
            fingerprint=f"{name}-{dims}",
            dims=dims,
            context=context,
            batch=context,
            sequences=8,
            vocabulary_size=1 << 31,
        )

    def tokenize(self, text: str) -> list[int]:
        """A number for each word; the same in every process."""
        words = (word.casefold() for word in _WORD.findall(text))
        return [zlib.crc32(self._means.get(word, word).encode()) >> 1 for word in words]

    def vectors(self, windows: Sequence[Sequence[int]]) -> Vectors:
        """The mean of the words' directions. Raises `fails`."""
        if self.fails:
            raise self.fails
        self.batches.append(len(windows))
        return np.stack([np.mean([self._direction(word) for word in window], axis=0) for window in windows])

    def close(self) -> None:
        """Nothing to free."""
        self.closed = True

    def _direction(self, word: int) -> Vectors:
        return np.random.default_rng(word).standard_normal(self.info.dims, dtype=np.float32)


class ScriptedEmbedder(Embedder):
    """An embedder on hashed words; the options are HashedWords' own."""

    model: HashedWords

    def __init__(
        self,
        *,
        is_writing: Callable[[], bool] = lambda: False,
        alike: Iterable[Sequence[str]] = (),
        dims: int = 64,
        context: int = 64,
        fails: Exception | None = None,
    ) -> None:
        self.model = HashedWords(alike=alike, dims=dims, context=context, fails=fails)
        super().__init__(self.model, is_writing)
