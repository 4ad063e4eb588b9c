"""llama.cpp alone, in a process of its own: how fast it reads and writes with nothing around it.

`python -m benchmarks.bare MODEL SLOTS CONTEXT THREADS`, then lines of "BATCH DEPTH STEPS" on standard input. Each is
answered by a line with the tokens a second of reading DEPTH tokens, and of writing in BATCH sequences that hold them.
"""

import ctypes
import sys
import time
from typing import Any

import llama_cpp

from benchmarks.servers import Setup

_AT_ONCE = 512  # tokens of a prompt that one step reads


class Bare:
    """A model with the context that the site's runner opens, and the plainest loop around `llama_decode`."""

    def __init__(self, model: str, setup: Setup) -> None:
        log = llama_cpp.llama_log_callback(lambda *_: None)
        llama_cpp.llama_log_set(log, ctypes.c_void_p(0))
        self._log = log  # kept, or llama.cpp would call what is gone
        llama_cpp.llama_backend_init()
        self._model = llama_cpp.llama_model_load_from_file(model.encode(), llama_cpp.llama_model_default_params())
        params = llama_cpp.llama_context_default_params()
        params.n_ctx, params.n_seq_max = setup.context * setup.slots, setup.slots
        params.n_batch = params.n_ubatch = _AT_ONCE
        params.n_threads = params.n_threads_batch = setup.threads
        params.kv_unified, params.swa_full, params.no_perf = False, True, True
        self._context = llama_cpp.llama_init_from_model(self._model, params)
        if not self._context:
            raise SystemExit(f"{model} could not be loaded.")
        self._memory = llama_cpp.llama_get_memory(self._context)
        self._batch = llama_cpp.llama_batch_init(_AT_ONCE, 0, 1)
        self._greedy = llama_cpp.llama_sampler_init_greedy()

    def measure(self, batch: int, depth: int, steps: int) -> tuple[float, float]:
        """Tokens a second while `depth` tokens are read, and while `batch` sequences write `steps` tokens each."""
        llama_cpp.llama_memory_clear(self._memory, True)
        began = time.monotonic()
        for start in range(0, depth, _AT_ONCE):
            self._decode([(0, position, 100 + position) for position in range(start, min(depth, start + _AT_ONCE))])
        read = depth / (time.monotonic() - began)
        for slot in range(1, batch):
            llama_cpp.llama_memory_seq_cp(self._memory, 0, slot, -1, -1)
        tokens = [100 + slot for slot in range(batch)]
        began = time.monotonic()
        for step in range(steps):
            self._decode([(slot, depth + step, token) for slot, token in enumerate(tokens)], all_rows=True)
            tokens = [llama_cpp.llama_sampler_sample(self._greedy, self._context, row) for row in range(batch)]
        return read, batch * steps / (time.monotonic() - began)

    def _decode(self, rows: list[tuple[int, int, int]], *, all_rows: bool = False) -> None:
        batch: Any = self._batch
        for row, (slot, position, token) in enumerate(rows):
            batch.token[row], batch.pos[row], batch.n_seq_id[row] = token, position, 1
            batch.seq_id[row][0] = slot
            batch.logits[row] = int(all_rows or row == len(rows) - 1)
        batch.n_tokens = len(rows)
        if code := llama_cpp.llama_decode(self._context, batch):
            raise SystemExit(f"llama_decode: {code}")
        llama_cpp.llama_synchronize(self._context)


def main() -> None:
    """Answer lines until there are no more."""
    model, *numbers = sys.argv[1:]
    bare = Bare(model, Setup(*map(int, numbers)))
    bare.measure(1, 64, 8)
    for line in sys.stdin:
        batch, depth, steps = map(int, line.split())
        read, write = bare.measure(batch, depth, steps)
        sys.stdout.write(f"{read} {write}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
