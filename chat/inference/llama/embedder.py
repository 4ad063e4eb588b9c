"""An embedding model through llama.cpp, in a small context of its own beside the chat model."""

import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import llama_cpp
import numpy as np

from chat.inference.embedding import EmbeddingInfo, Vectors
from chat.inference.llama.log import CapturedLog
from chat.inference.llama.tokens import tokens_of
from chat.inference.model_file import ModelNotLoaded, check_file, fingerprint
from chat.inference.request import EngineFailed

# Tokens of a window with its marks, whatever more the model can read: whoever is more urgent waits for one window, and
# the default model was trained on texts of this length.
MAX_CONTEXT = 256
# Short texts are computed together, which is half as fast again as one by one.
_SEQUENCES, _BATCH = 8, 128


class LlamaEmbedding:
    """A GGUF model whose vectors are pooled as its file says, or by the mean where it says nothing; one thread.

    Implements chat.inference.embedding.EmbeddingModel. Raises ModelNotLoaded.
    """

    def __init__(self, path: Path) -> None:
        check_file(path, setting="EMBED_MODEL_PATH")
        self._context: Any = None
        with CapturedLog() as log:
            self._model = _load(path, log)
            self._vocab = llama_cpp.llama_model_get_vocab(self._model)
            self._is_wordpiece = llama_cpp.llama_vocab_type(self._vocab) == llama_cpp.LLAMA_VOCAB_TYPE_WPM
            try:
                self._context = self._open_context(path, log)
                self._begin, self._end = self._marks(path)
                self.info = self._describe(path)
                self._batch = llama_cpp.llama_batch_init(self._window, 0, 1)
            except ModelNotLoaded:
                self._free()
                raise
        self._memory = llama_cpp.llama_get_memory(self._context)
        self.vectors([self.tokenize("warm") or [0]])

    def tokenize(self, text: str) -> list[int]:
        """Token ids of a text, without marks of its beginning and end; no text becomes a special token.

        With WordPiece, llama.cpp takes letters apart by tables that know the first part of a Hangul syllable only.
        """
        text = unicodedata.normalize("NFD", text) if self._is_wordpiece else text
        return tokens_of(self._vocab, text, marks=False)

    def vectors(self, windows: Sequence[Sequence[int]]) -> Vectors:
        """The pooled vector of each window, not normalised: (len(windows), dims). Raises EngineFailed.

        Windows are 1 of at most `info.context` tokens, or up to `info.sequences` with `info.batch` tokens in all.
        """
        self._fill(windows)
        if self._memory:
            llama_cpp.llama_memory_clear(self._memory, True)
        if code := llama_cpp.llama_decode(self._context, self._batch):
            raise EngineFailed(f"The embedding model refused {self._batch.n_tokens} tokens (llama_decode: {code}).")
        rows = [llama_cpp.llama_get_embeddings_seq(self._context, row) for row in range(len(windows))]
        return np.stack([np.ctypeslib.as_array(row, (self.info.dims,)) for row in rows]).astype(np.float32)

    def close(self) -> None:
        """Free the model; nothing may be called afterwards."""
        llama_cpp.llama_batch_free(self._batch)
        self._free()

    @property
    def _window(self) -> int:
        """Tokens that one step of the context takes, marks included."""
        return int(llama_cpp.llama_n_ubatch(self._context))

    def _fill(self, windows: Sequence[Sequence[int]]) -> None:
        """Write the windows into the C batch, one sequence each."""
        marked = [[*self._begin, *window, *self._end] for window in windows]
        if not windows or len(windows) > _SEQUENCES or sum(map(len, marked)) > self._window:
            raise EngineFailed(f"{len(windows)} texts of {sum(map(len, windows))} tokens are too much for one batch.")
        batch, at = self._batch, 0
        for sequence, tokens in enumerate(marked):
            for position, token in enumerate(tokens):
                batch.token[at], batch.pos[at] = token, position
                batch.n_seq_id[at], batch.seq_id[at][0] = 1, sequence
                batch.logits[at] = 1
                at += 1
        batch.n_tokens = at

    def _open_context(self, path: Path, log: CapturedLog) -> Any:
        trained = int(llama_cpp.llama_model_n_ctx_train(self._model)) or MAX_CONTEXT
        params = llama_cpp.llama_context_default_params()
        params.embeddings = True
        # A text is read in one piece: without a causal mask every token looks at all the others.
        params.n_batch = params.n_ubatch = min(trained, MAX_CONTEXT)
        params.n_seq_max = _SEQUENCES
        params.n_ctx = params.n_ubatch * _SEQUENCES
        params.n_threads = params.n_threads_batch = 1
        params.no_perf = True
        opened = llama_cpp.llama_init_from_model(self._model, params)
        if opened and llama_cpp.llama_pooling_type(opened) == llama_cpp.LLAMA_POOLING_TYPE_NONE:
            llama_cpp.llama_free(opened)
            params.pooling_type = llama_cpp.LLAMA_POOLING_TYPE_MEAN
            opened = llama_cpp.llama_init_from_model(self._model, params)
        if not opened:
            raise ModelNotLoaded(f"{path.name}: {log.reason() or 'there is not enough memory'}.")
        return opened

    def _marks(self, path: Path) -> tuple[list[int], list[int]]:
        """What the model wants before and behind each text. Raises ModelNotLoaded when that leaves no room for one."""
        bare, marked = tokens_of(self._vocab, "a", marks=False), tokens_of(self._vocab, "a", marks=True)
        starts = (at for at in range(len(marked)) if marked[at : at + len(bare)] == bare)
        at = next(starts, None)
        if not bare or at is None:
            raise ModelNotLoaded(f"{path.name} has a vocabulary that cannot be used for single texts.")
        return marked[:at], marked[at + len(bare) :]

    def _describe(self, path: Path) -> EmbeddingInfo:
        if llama_cpp.llama_pooling_type(self._context) == llama_cpp.LLAMA_POOLING_TYPE_RANK:
            raise ModelNotLoaded(f"{path.name} compares pairs of texts; it gives no vectors.")
        room = self._window - len(self._begin) - len(self._end)
        return EmbeddingInfo(
            name=path.stem,
            fingerprint=fingerprint(path),
            dims=int(llama_cpp.llama_model_n_embd_out(self._model)),
            context=room,
            batch=min(_BATCH, self._window - _SEQUENCES * (self._window - room)),
            sequences=_SEQUENCES,
            vocabulary_size=int(llama_cpp.llama_vocab_n_tokens(self._vocab)),
        )

    def _free(self) -> None:
        if self._context:
            llama_cpp.llama_free(self._context)
        llama_cpp.llama_model_free(self._model)


def _load(path: Path, log: CapturedLog) -> Any:
    llama_cpp.llama_backend_init()
    params = llama_cpp.llama_model_default_params()
    model = llama_cpp.llama_model_load_from_file(str(path).encode(), params)
    if not model:
        raise ModelNotLoaded(f"{path} could not be loaded: {log.reason() or 'llama.cpp gave no reason'}.")
    return model
