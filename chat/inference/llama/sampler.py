"""Chooses a reply's tokens: llama.cpp's samplers in a chain, with a grammar and log probabilities where asked for."""

import ctypes
import secrets
from functools import lru_cache
from typing import Any

import llama_cpp
import numpy as np
from llama_cpp.llama_grammar import json_schema_to_gbnf

from chat.inference.batch import Sampled
from chat.inference.request import SamplingParams, UnusableGrammar

# The converter lets line breaks stand in strings, which no JSON parser takes.
_ANY_CHARACTER = r'char ::= [^"\\] |'
_JSON_CHARACTER = r'char ::= [^"\\\x00-\x1F\x7F] |'
_CANDIDATE = np.dtype([("id", "<i4"), ("logit", "<f4"), ("p", "<f4")])


class Sampler:
    """One reply's way of choosing. Raises UnusableGrammar. `close` gives its memory back."""

    def __init__(self, vocab: Any, vocabulary_size: int, params: SamplingParams) -> None:
        self._size = vocabulary_size
        self._num_top = params.logprobs
        # The likeliest token needs no chain, which makes a table of the whole vocabulary first (0.15 ms a token).
        self._is_greedy = _is_plainly_greedy(params)
        self._bias = dict(params.logit_bias)
        self._chain = llama_cpp.llama_sampler_chain_init(llama_cpp.llama_sampler_chain_default_params())
        self._grammar = None
        if params.grammar:
            self._grammar = llama_cpp.llama_sampler_init_grammar(vocab, params.grammar.encode(), b"root")
            if not self._grammar:
                self.close()
                raise UnusableGrammar("This schema cannot be turned into a grammar for the model.")
        for sampler in _chain(params, vocabulary_size):
            llama_cpp.llama_sampler_chain_add(self._chain, sampler)

    def sample(self, context: Any, row: int) -> Sampled:
        """The next token from the logits of this row of the batch that was decoded last."""
        if self._grammar is None and self._num_top is None and not self._is_greedy:
            return Sampled(llama_cpp.llama_sampler_sample(self._chain, context, row))
        logits = _array_at(ctypes.addressof(llama_cpp.llama_get_logits_ith(context, row).contents), self._size)
        if self._is_greedy:
            return Sampled(self._likeliest(logits))
        token = self._choose(logits)
        llama_cpp.llama_sampler_accept(self._chain, token)
        if self._grammar is not None:
            llama_cpp.llama_sampler_accept(self._grammar, token)
        return Sampled(token) if self._num_top is None else _with_logprobs(token, logits, self._num_top)

    def close(self) -> None:
        """Free it."""
        llama_cpp.llama_sampler_free(self._chain)
        if self._grammar:
            llama_cpp.llama_sampler_free(self._grammar)

    def _likeliest(self, logits: "np.ndarray[Any, Any]") -> int:
        token = int(logits.argmax())
        # Where nothing else is made likelier, a token without a bias stays the likeliest.
        if not self._bias or (token not in self._bias and max(self._bias.values()) <= 0):
            return token
        biased = logits.copy()
        for other, amount in self._bias.items():
            biased[other] += amount
        return int(biased.argmax())

    def _choose(self, logits: "np.ndarray[Any, Any]") -> int:
        """Sample freely first, and ask the grammar about that one token: it takes long over a whole vocabulary."""
        candidates = _Candidates(logits)
        token = candidates.choose(self._chain)
        if self._grammar is None or _Candidates.of_one(token).survives(self._grammar):
            return token
        candidates = _Candidates(logits)
        llama_cpp.llama_sampler_apply(self._grammar, ctypes.byref(candidates.array))
        return candidates.choose(self._chain)


class _Candidates:
    """Tokens with their logits as llama.cpp's samplers take them."""

    def __init__(self, logits: "np.ndarray[Any, Any]") -> None:
        self._data = np.zeros(len(logits), _CANDIDATE)
        self._data["id"] = np.arange(len(logits))
        self._data["logit"] = logits
        pointer = self._data.ctypes.data_as(llama_cpp.llama_token_data_p)
        self.array = llama_cpp.llama_token_data_array(pointer, len(logits), -1, False)

    @classmethod
    def of_one(cls, token: int) -> "_Candidates":
        one = cls(np.ones(1))
        one._data["id"] = token
        return one

    def choose(self, chain: Any) -> int:
        llama_cpp.llama_sampler_apply(chain, ctypes.byref(self.array))
        return int(self.array.data[self.array.selected].id)

    def survives(self, grammar: Any) -> bool:
        llama_cpp.llama_sampler_apply(grammar, ctypes.byref(self.array))
        return bool(np.isfinite(self._data["logit"][0]))


def grammar_of(schema_json: str) -> str:
    """The grammar of a JSON Schema that chat.inference.schema has checked. Raises UnusableGrammar."""
    try:
        grammar = str(json_schema_to_gbnf(schema_json))
    except Exception as error:  # the converter's own errors are of many kinds
        raise UnusableGrammar(f"This schema cannot be turned into a grammar: {error}.") from error
    return grammar.replace(_ANY_CHARACTER, _JSON_CHARACTER)


def _with_logprobs(token: int, logits: "np.ndarray[Any, Any]", num_top: int) -> Sampled:
    """Natural logarithms of the model's own probabilities, before any sampling parameter."""
    shifted = logits - logits.max()
    logprobs = shifted - np.log(np.exp(shifted).sum())
    top = np.argpartition(logprobs, -num_top)[-num_top:] if num_top else np.empty(0, int)
    ranked = sorted(((int(one), float(logprobs[one])) for one in top), key=lambda pair: -pair[1])
    return Sampled(token, float(logprobs[token]), tuple(ranked))


def _has_penalties(params: SamplingParams) -> bool:
    return params.repeat_penalty != 1 or params.frequency_penalty != 0 or params.presence_penalty != 0


def _is_plainly_greedy(params: SamplingParams) -> bool:
    return params.temperature == 0 and not _has_penalties(params) and not params.grammar and params.logprobs is None


@lru_cache(maxsize=256)
def _array_at(address: int, size: int) -> "np.ndarray[Any, Any]":
    """The 32-bit floats at an address of llama.cpp's, not copied; kept, since making it costs more than using it."""
    floats: Any = (ctypes.c_float * size).from_address(address)
    return np.frombuffer(floats, np.float32)


def _chain(params: SamplingParams, vocabulary_size: int) -> list[Any]:
    chain = []
    if params.logit_bias:
        biases = (llama_cpp.llama_logit_bias * len(params.logit_bias))()
        for place, (token, bias) in enumerate(params.logit_bias):
            biases[place] = llama_cpp.llama_logit_bias(token, bias)
        chain.append(llama_cpp.llama_sampler_init_logit_bias(vocabulary_size, len(params.logit_bias), biases))
    if _has_penalties(params):
        chain.append(
            llama_cpp.llama_sampler_init_penalties(
                vocabulary_size,
                params.penalty_window,
                params.repeat_penalty,
                params.frequency_penalty,
                params.presence_penalty,
            )
        )
    if params.temperature == 0:
        return [*chain, llama_cpp.llama_sampler_init_greedy()]
    if params.top_k:
        chain.append(llama_cpp.llama_sampler_init_top_k(params.top_k))
    chain.append(llama_cpp.llama_sampler_init_top_p(params.top_p, 1))
    chain.append(llama_cpp.llama_sampler_init_min_p(params.min_p, 1))
    chain.append(llama_cpp.llama_sampler_init_temp(params.temperature))
    seed = secrets.randbelow(2**32 - 1) if params.seed is None else params.seed
    chain.append(llama_cpp.llama_sampler_init_dist(seed))
    return chain
