"""The peer in a process of its own: llama-server's code from the xllamacpp wheel, with its best settings for this work.

`python -m benchmarks.peer MODEL SLOTS CONTEXT THREADS` prints its address and serves until its standard input ends.
"""

import sys

import xllamacpp


def settings(model: str, slots: int, context: int, threads: int) -> xllamacpp.CommonParams:
    """Batches, prompt caches of slots and of the host's memory; `context` is tokens a slot."""
    params = xllamacpp.CommonParams()
    params.model.path = model
    params.n_ctx = context * slots
    params.n_parallel = slots
    params.kv_unified = False  # a stream a slot, as ours: faster with several of them
    params.n_gpu_layers = 0
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
    params.cont_batching = True
    params.cache_prompt = True
    params.n_cache_reuse = 256  # moves what it has when a conversation's beginning was dropped
    params.cache_ram_mib = 8192
    params.fit_params = False
    params.port = 0
    params.verbosity = 1
    return params


def main() -> None:
    """Serve."""
    model, *numbers = sys.argv[1:]
    slots, context, threads = map(int, numbers)
    server = xllamacpp.Server(settings(model, slots, context, threads))
    sys.stdout.write(f"Serving on {server.listening_address}\n")
    sys.stdout.flush()
    sys.stdin.read()


if __name__ == "__main__":
    main()
