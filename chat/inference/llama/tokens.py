"""Token ids of a text, by llama.cpp's tokenizer."""

from typing import Any

import llama_cpp


def tokens_of(vocab: Any, text: str, *, marks: bool, special: bool = False) -> list[int]:
    """The ids, from any thread; `marks` adds the tokens for beginning and end that the vocabulary wants.

    `special` lets the text of control tokens become these tokens. A lone half of a surrogate pair becomes a `?`.
    """
    raw = text.encode("utf-8", errors="replace")
    size = len(raw) + 8
    ids = (llama_cpp.llama_token * size)()
    count = llama_cpp.llama_tokenize(vocab, raw, len(raw), ids, size, marks, special)
    if count < 0:
        ids = (llama_cpp.llama_token * -count)()
        count = llama_cpp.llama_tokenize(vocab, raw, len(raw), ids, -count, marks, special)
    return [int(token) for token in ids[:count]]
