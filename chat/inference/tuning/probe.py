"""One model opened for measuring: how fast it reads and writes, and what it predicts."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import llama_cpp
import numpy as np

from chat.inference.llama.log import CapturedLog
from chat.inference.llama.tokens import tokens_of
from chat.inference.model_file import ModelNotLoaded, check_file
from chat.inference.tuning.divergence import Logits

SLOTS = 8
CONTEXT = 768  # tokens a slot: what is measured is short
_ROWS = 64  # predictions that are wanted of one step; each takes a vocabulary's width of memory


class Probe:
    """A model with eight empty slots, set up as the engine would. Raises ModelNotLoaded. Close it after use."""

    def __init__(self, path: Path) -> None:
        check_file(path)
        self.path = path
        self._context: Any = None
        with CapturedLog() as log:
            llama_cpp.llama_backend_init()
            self._model = llama_cpp.llama_model_load_from_file(
                str(path).encode(), llama_cpp.llama_model_default_params()
            )
            if not self._model:
                raise ModelNotLoaded(f"{path} could not be loaded: {log.reason() or 'llama.cpp gave no reason'}.")
        self._vocab = llama_cpp.llama_model_get_vocab(self._model)
        self._batch = llama_cpp.llama_batch_init(CONTEXT, 0, 1)
        self.num_weights = int(llama_cpp.llama_model_n_params(self._model))
        self.vocabulary_size = int(llama_cpp.llama_vocab_n_tokens(self._vocab))

    def set_up(self, *, threads: int, micro_batch: int = 512, flash_attention: bool = True) -> "Probe":
        """Open the caches with these settings, in place of those that were open. Raises ModelNotLoaded."""
        self._free_context()
        params = llama_cpp.llama_context_default_params()
        params.n_ctx, params.n_seq_max = CONTEXT * SLOTS, SLOTS
        params.n_batch, params.n_ubatch = 512, micro_batch
        params.n_threads = params.n_threads_batch = threads
        params.kv_unified, params.swa_full, params.no_perf = False, True, True
        if not flash_attention:
            params.flash_attn_type = llama_cpp.LLAMA_FLASH_ATTN_TYPE_DISABLED
        with CapturedLog() as log:
            self._context = llama_cpp.llama_init_from_model(self._model, params)
        if not self._context:
            raise ModelNotLoaded(f"{self.path.name}: {log.reason() or 'there is not enough memory'}.")
        return self

    def set_threads(self, threads: int) -> None:
        """Compute with so many threads from now on."""
        llama_cpp.llama_set_n_threads(self._context, threads, threads)

    def tokens(self, text: str) -> list[int]:
        """Token ids of a text."""
        return tokens_of(self._vocab, text, marks=True)

    def predictions(self, tokens: Sequence[int]) -> Logits:
        """What the model expects behind each of these tokens: a row for each, a column for each of the vocabulary."""
        self._empty(0)
        found = np.empty((len(tokens), self.vocabulary_size), np.float32)
        for at in range(0, len(tokens), _ROWS):
            part = tokens[at : at + _ROWS]
            self._decode([(token, at + i, 0, True) for i, token in enumerate(part)])
            for row in range(len(part)):
                logits = llama_cpp.llama_get_logits_ith(self._context, row)
                found[at + row] = np.ctypeslib.as_array(logits, shape=(self.vocabulary_size,))
        return found

    def read(self, tokens: Sequence[int]) -> float:
        """Seconds until a prompt is read into an empty slot."""
        self._empty(0)
        rows = [(token, at, 0, at == len(tokens) - 1) for at, token in enumerate(tokens)]
        began = time.perf_counter()
        self._decode(rows)
        return time.perf_counter() - began

    def write(self, slots: int, steps: int, tokens: Sequence[int], *, beside: int = 0) -> float:
        """Seconds for one step in which so many slots write a token each, after these tokens each.

        beside: tokens of somebody else's prompt that are read in the same step.
        """
        for slot in range(SLOTS):
            self._empty(slot)
        for slot in range(slots):
            self._decode([(token, at, slot, False) for at, token in enumerate(tokens)])
        length, reader = len(tokens), SLOTS - 1
        began = time.perf_counter()
        for step in range(steps):
            rows = [(tokens[step % length], length + step, slot, True) for slot in range(slots)]
            rows += [(tokens[i % length], step * beside + i, reader, False) for i in range(beside)]
            self._decode(rows)
        return (time.perf_counter() - began) / steps

    def close(self) -> None:
        """Free everything."""
        self._free_context()
        llama_cpp.llama_batch_free(self._batch)
        llama_cpp.llama_model_free(self._model)

    def __enter__(self) -> "Probe":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _empty(self, slot: int) -> None:
        llama_cpp.llama_memory_seq_rm(llama_cpp.llama_get_memory(self._context), slot, -1, -1)

    def _decode(self, rows: Sequence[tuple[int, int, int, bool]]) -> None:
        """Read (token, position, slot, whether its prediction is wanted) of each row."""
        batch: Any = self._batch
        for i, (token, position, slot, wanted) in enumerate(rows):
            batch.token[i], batch.pos[i], batch.n_seq_id[i] = token, position, 1
            batch.seq_id[i][0], batch.logits[i] = slot, int(wanted)
        batch.n_tokens = len(rows)
        if code := llama_cpp.llama_decode(self._context, batch):
            raise ModelNotLoaded(f"{self.path.name} cannot be measured: llama_decode returned {code}.")
        llama_cpp.llama_synchronize(self._context)

    def _free_context(self) -> None:
        if self._context:
            llama_cpp.llama_free(self._context)
            self._context = None
