"""A model file's vocabulary and chat template without its weights: counts tokens, and is loaded in a moment."""

from pathlib import Path

import llama_cpp

from chat.inference.batch import ModelInfo
from chat.inference.llama.log import CapturedLog
from chat.inference.llama.runner import LlamaRunner
from chat.inference.model_file import ModelNotLoaded, check_file, fingerprint


class Vocabulary(LlamaRunner):
    """What LlamaRunner knows of texts and tokens; it can neither decode nor sample. Raises ModelNotLoaded."""

    def __init__(self, path: Path) -> None:
        check_file(path)
        params = llama_cpp.llama_model_default_params()
        params.vocab_only = True
        with CapturedLog() as log:
            llama_cpp.llama_backend_init()
            self._model = llama_cpp.llama_model_load_from_file(str(path).encode(), params)
        if not self._model:
            raise ModelNotLoaded(f"{path} could not be read: {log.reason() or 'llama.cpp gave no reason'}.")
        self._vocab = llama_cpp.llama_model_get_vocab(self._model)
        self._pieces = {}
        self._newline = self._tokenize("\n") if self._begins_with_space("a") else []
        self.info = self._describe_vocabulary(path)

    def close(self) -> None:
        """Free it; nothing may be called afterwards."""
        llama_cpp.llama_model_free(self._model)

    def _describe_vocabulary(self, path: Path) -> ModelInfo:
        trained = llama_cpp.llama_model_n_ctx_train(self._model)
        template = llama_cpp.llama_model_chat_template(self._model, None)
        return ModelInfo(
            name=path.stem,
            fingerprint=fingerprint(path),
            architecture=self._meta("general.architecture"),
            vocabulary_size=llama_cpp.llama_vocab_n_tokens(self._vocab),
            context=trained,
            trained_context=trained,
            slots=1,
            batch=1,
            chat_template=template.decode("utf-8", errors="replace") if template else "",
            bos=self._special_text(llama_cpp.llama_vocab_bos(self._vocab)),
            eos=self._special_text(llama_cpp.llama_vocab_eos(self._vocab)),
            adds_bos=bool(llama_cpp.llama_vocab_get_add_bos(self._vocab)),
            can_trim=False,
        )
