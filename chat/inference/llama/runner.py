"""Loads a GGUF file, tokenises, decodes batches and samples."""

import ctypes
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import llama_cpp

from chat.inference.batch import Batch, ModelInfo, Outcome, StepFailed
from chat.inference.config import EngineConfig, choose_context, choose_slots, choose_threads
from chat.inference.llama.abort import AbortFlag
from chat.inference.llama.log import CapturedLog
from chat.inference.llama.sampler import Sampler, grammar_of
from chat.inference.llama.state import layout_of, read_state, state_size, write_state
from chat.inference.llama.tokens import tokens_of
from chat.inference.model_file import ModelNotLoaded, check_file, fingerprint
from chat.inference.request import SamplingParams

_ABORTED = 2
_FILE_TYPE = "LLAMA_FTYPE_"
# How `general.file_type` numbers the formats of weights.
_FORMATS = {
    str(getattr(llama_cpp, name)): name.removeprefix(_FILE_TYPE).removeprefix("MOSTLY_").removeprefix("ALL_")
    for name in dir(llama_cpp)
    if name.startswith(_FILE_TYPE)
}
_LOOKS_LIKE_MARKER = re.compile(r"<\S+>|\[[A-Z_/]+\]")


class LlamaRunner:
    """A model loaded once, with one cache stream a slot (`kv_unified=False`: neighbours cost and change nothing).

    Raises ModelNotLoaded. Implements chat.inference.batch.Runner.
    """

    def __init__(self, config: EngineConfig) -> None:
        check_file(config.model_path)
        self._loaded = config.weights_path or config.model_path
        check_file(self._loaded)
        with CapturedLog() as log:
            self._model = _load(self._loaded, log)
            self._vocab = llama_cpp.llama_model_get_vocab(self._model)
            trained = llama_cpp.llama_model_n_ctx_train(self._model)
            context = choose_context(config, trained)
            slots = choose_slots(config, context, self._bytes_a_token())
            self._context = self._open_context(config, context, slots, log)
        self._memory = llama_cpp.llama_get_memory(self._context)
        self.info = self._describe(config, trained, slots)
        self._samplers: dict[int, Sampler] = {}
        self._pieces: dict[tuple[int, bool], bytes] = {}
        self._newline = self._tokenize("\n") if self._begins_with_space("a") else []
        self._batch = llama_cpp.llama_batch_init(self.info.batch, 0, 1)
        self._abort = AbortFlag(self._context)
        self._warm_up()

    def tokenize(self, text: str, *, special: bool) -> list[int]:
        """Token ids of a text, without a token for the beginning; safe from any thread.

        Some vocabularies put a space before whatever they tokenise. A prompt is tokenised in parts, so that space
        would come in the middle of it: such a text is tokenised behind a line break, which is then taken off.
        """
        if self._newline and text:
            ids = self._tokenize("\n" + text, special=special)
            if ids[: len(self._newline)] == self._newline:
                return ids[len(self._newline) :]
        return self._tokenize(text, special=special)

    def _tokenize(self, text: str, *, special: bool = False) -> list[int]:
        return tokens_of(self._vocab, text, marks=False, special=special)

    def piece(self, token: int, *, special: bool = False) -> bytes:
        """The bytes of a token; a control token has none unless `special`."""
        known = self._pieces.get((token, special))
        if known is None:
            known = self._pieces[token, special] = self._read_piece(token, special=special)
        return known

    def is_end(self, token: int) -> bool:
        """True for every token that ends a turn."""
        return bool(llama_cpp.llama_vocab_is_eog(self._vocab, token))

    def is_control(self, token: int) -> bool:
        """True for tokens that structure the prompt."""
        return bool(llama_cpp.llama_vocab_is_control(self._vocab, token))

    def markers(self) -> dict[int, str]:
        """Control tokens and those that look like `<...>` or `[...]`, with their text."""
        found = {}
        for token in range(self.info.vocabulary_size):
            attributes = llama_cpp.llama_vocab_get_attr(self._vocab, token)
            if attributes & (llama_cpp.LLAMA_TOKEN_ATTR_CONTROL | llama_cpp.LLAMA_TOKEN_ATTR_USER_DEFINED):
                text = self.piece(token, special=True).decode("utf-8", errors="replace")
                if attributes & llama_cpp.LLAMA_TOKEN_ATTR_CONTROL or _LOOKS_LIKE_MARKER.fullmatch(text):
                    found[token] = text
        return found

    def grammar_of(self, schema_json: str) -> str:
        """The grammar of a checked JSON Schema; safe from any thread. Raises UnusableGrammar."""
        return grammar_of(schema_json)

    def open_sampler(self, slot: int, params: SamplingParams, prompt: Sequence[int]) -> None:
        """Prepare a slot's sampling. Penalties look at the reply alone: to use a person's words again is no fault."""
        del prompt
        self.close_sampler(slot)
        self._samplers[slot] = Sampler(self._vocab, self.info.vocabulary_size, params)

    def close_sampler(self, slot: int) -> None:
        """Free the slot's sampler, if it has one."""
        if sampler := self._samplers.pop(slot, None):
            sampler.close()

    def trim(self, slot: int, keep: int) -> int:
        """Cut a slot's cache back to `keep` tokens; a model whose state cannot be cut loses all: then 0."""
        if llama_cpp.llama_memory_seq_rm(self._memory, slot, keep, -1) and self._held(slot) == keep:
            return keep
        llama_cpp.llama_memory_seq_rm(self._memory, slot, -1, -1)
        return 0

    def state_size(self, slot: int) -> int:
        """Bytes that `park` would take; 0 for an empty slot."""
        return state_size(self._context, slot) if self._held(slot) else 0

    def park(self, slot: int) -> memoryview | None:
        """A copy of all that a slot holds; None when there is none."""
        return read_state(self._context, slot) if self._held(slot) else None

    def unpark(self, slot: int, state: memoryview) -> int:
        """Put a parked state in place of a slot's cache; returns how many tokens it holds now, 0 on failure."""
        self.trim(slot, 0)
        return self._held(slot) if write_state(self._context, slot, state) else self.trim(slot, 0)

    def decode(self, batch: Batch) -> Outcome:
        """Read a step's tokens and sample where that is asked for. Raises StepFailed."""
        if not 0 < batch.num_tokens <= self.info.batch:
            raise StepFailed(f"A step of {batch.num_tokens} tokens does not fit into {self.info.batch}.")
        rows = self._fill(batch)
        code = llama_cpp.llama_decode(self._context, self._batch)
        if code == _ABORTED:
            return Outcome(held={work.slot: self._after_abort(work.slot, work.start) for work in batch.works})
        if code != 0:
            raise StepFailed(f"The model refused a step of {batch.num_tokens} tokens (llama_decode: {code}).")
        outcome = Outcome(held={work.slot: work.start + len(work.tokens) for work in batch.works})
        for slot, row in rows.items():
            outcome.sampled[slot] = self._samplers[slot].sample(self._context, row)
        return outcome

    def logits(self, slot: int, tokens: Sequence[int], start: int = 0) -> list[float]:
        """For tests: the logits behind these tokens, read behind `start` others; `vocabulary_size` numbers."""
        self.trim(slot, start)
        for at in range(0, len(tokens), self.info.batch):
            part = tokens[at : at + self.info.batch]
            self._put(0, slot, start + at, part, samples=True)
            self._batch.n_tokens = len(part)
            if code := llama_cpp.llama_decode(self._context, self._batch):
                raise StepFailed(f"llama_decode: {code}")
        return list(llama_cpp.llama_get_logits_ith(self._context, -1)[: self.info.vocabulary_size])

    def interrupt(self) -> None:
        """From any thread: end the running decode within milliseconds. Cleared by `resume`."""
        self._abort.set(wanted=True)

    def resume(self) -> None:
        """Let the next decode run."""
        self._abort.set(wanted=False)

    def close(self) -> None:
        """Free the model and its caches; nothing may be called afterwards."""
        for slot in list(self._samplers):
            self.close_sampler(slot)
        llama_cpp.llama_batch_free(self._batch)
        llama_cpp.llama_free(self._context)
        llama_cpp.llama_model_free(self._model)

    def _fill(self, batch: Batch) -> dict[int, int]:
        """Write the works into the C batch; returns which row's logits belong to which slot."""
        rows, at = {}, 0
        for work in batch.works:
            self._put(at, work.slot, work.start, work.tokens, samples=work.samples)
            at += len(work.tokens)
            if work.samples:
                rows[work.slot] = at - 1
        self._batch.n_tokens = at
        return rows

    def _put(self, at: int, slot: int, start: int, tokens: Sequence[int], *, samples: bool) -> None:
        batch = self._batch
        for offset, token in enumerate(tokens):
            row = at + offset
            batch.token[row] = token
            batch.pos[row] = start + offset
            batch.n_seq_id[row] = 1
            batch.seq_id[row][0] = slot
            batch.logits[row] = 0
        batch.logits[at + len(tokens) - 1] = int(samples)

    def _held(self, slot: int) -> int:
        return int(llama_cpp.llama_memory_seq_pos_max(self._memory, slot)) + 1

    def _after_abort(self, slot: int, start: int) -> int:
        """What a slot holds after an interruption, never past where its next step must begin again.

        A token whose logits were wanted is read once more, since its logits are lost: the slot is cut to `start` if
        everything had got in.
        """
        held = self._held(slot)
        return self.trim(slot, max(start, held - 1)) if held > start else held

    def _begins_with_space(self, text: str) -> bool:
        return self._read_piece(self._tokenize(text)[0], special=False).startswith(b" ")

    def _read_piece(self, token: int, *, special: bool) -> bytes:
        size = 64
        while True:
            buffer = ctypes.create_string_buffer(size)
            count = llama_cpp.llama_token_to_piece(self._vocab, token, buffer, size, 0, special)
            if count >= 0:
                return buffer.raw[:count]
            size = -count

    def _bytes_a_token(self) -> int:
        """Cache bytes a token: keys and values of every layer as 16-bit numbers."""
        heads = max(1, llama_cpp.llama_model_n_head(self._model))
        width = llama_cpp.llama_model_n_embd(self._model) // heads * llama_cpp.llama_model_n_head_kv(self._model)
        return 2 * 2 * int(width) * int(llama_cpp.llama_model_n_layer(self._model))

    def _open_context(self, config: EngineConfig, context: int, slots: int, log: "CapturedLog") -> Any:
        params = llama_cpp.llama_context_default_params()
        params.n_ctx = context * slots
        params.n_seq_max = slots
        params.n_batch = max(config.batch, slots)
        params.n_ubatch = min(config.micro_batch, params.n_batch)
        if not config.flash_attention:
            params.flash_attn_type = llama_cpp.LLAMA_FLASH_ATTN_TYPE_DISABLED
        params.n_threads = params.n_threads_batch = choose_threads(config)
        params.kv_unified = False
        params.swa_full = True  # a window that forgets would make every cut of a cache a full new reading
        params.no_perf = True
        self._layout = layout_of(params)
        opened = llama_cpp.llama_init_from_model(self._model, params)
        if not opened:
            reason = log.reason() or "there is not enough memory"
            raise ModelNotLoaded(f"{config.model_path.name} with {slots} times {context} tokens: {reason}.")
        return opened

    def _describe(self, config: EngineConfig, trained: int, slots: int) -> ModelInfo:
        recurrent = llama_cpp.llama_model_is_recurrent(self._model) or llama_cpp.llama_model_is_hybrid(self._model)
        template = llama_cpp.llama_model_chat_template(self._model, None)
        weights = fingerprint(self._loaded)
        return ModelInfo(
            # What a file says of itself is often the name of a training run; its own name is what people chose.
            name=config.model_path.stem,
            fingerprint=fingerprint(config.model_path),
            architecture=self._meta("general.architecture"),
            vocabulary_size=llama_cpp.llama_vocab_n_tokens(self._vocab),
            context=llama_cpp.llama_n_ctx_seq(self._context),
            trained_context=trained,
            slots=slots,
            batch=llama_cpp.llama_n_batch(self._context),
            chat_template=template.decode("utf-8", errors="replace") if template else "",
            bos=self._special_text(llama_cpp.llama_vocab_bos(self._vocab)),
            eos=self._special_text(llama_cpp.llama_vocab_eos(self._vocab)),
            adds_bos=bool(llama_cpp.llama_vocab_get_add_bos(self._vocab)),
            can_trim=not recurrent,
            size_bytes=llama_cpp.llama_model_size(self._model),
            # Caches that other weights computed are not this model's.
            layout=f"{self._layout} {weights}",
            weights=weights,
            format=_FORMATS.get(self._meta("general.file_type"), ""),
        )

    def _meta(self, key: str) -> str:
        buffer = ctypes.create_string_buffer(512)
        count = llama_cpp.llama_model_meta_val_str(self._model, key.encode(), buffer, 512)
        return buffer.value.decode("utf-8", errors="replace").strip() if count > 0 else ""

    def _special_text(self, token: int) -> str:
        return self._read_piece(token, special=True).decode("utf-8", errors="replace") if token >= 0 else ""

    def _warm_up(self) -> None:
        """Touch every weight once, so that the first person does not wait for the disk."""
        start = max(0, llama_cpp.llama_vocab_bos(self._vocab))
        self.logits(0, [start])
        self.trim(0, 0)


def _load(path: Path, log: "CapturedLog") -> Any:
    llama_cpp.llama_backend_init()
    model = llama_cpp.llama_model_load_from_file(str(path).encode(), llama_cpp.llama_model_default_params())
    if not model:
        raise ModelNotLoaded(f"{path} could not be loaded: {log.reason() or 'llama.cpp gave no reason'}.")
    return model
