"""The engine: llama.cpp with several sequences in one batch; a library that knows nothing of the web."""
