"""The engine: llama.cpp with several sequences in one batch; a library that knows nothing of the web.

engine = Engine(LlamaRunner(config), config)
engine.start()
prompt = engine.prompts.encode([{"role": "user", "content": "Hello"}])
async for event in engine.generate(Request(prompt.tokens, SamplingParams())): ...
"""

import os

# llama.cpp's threads wait for each other some hundred times a token. By default OpenMP lets them spin for long while
# they wait, and on a machine that has anything else to do they then burn the time of the thread that they wait for.
# A short spin, then sleep, costs little on an idle machine (docs/adr/0005-waiting-threads-sleep.md has the figures).
# Read when the library is loaded, hence here; whoever sets OMP_WAIT_POLICY has decided for himself.
if "OMP_WAIT_POLICY" not in os.environ:
    os.environ.setdefault("GOMP_SPINCOUNT", "1000")

from chat.inference.config import EngineConfig
from chat.inference.engine import Engine
from chat.inference.observer import Stats
from chat.inference.request import (
    GREEDY,
    Chunk,
    EngineFailed,
    Event,
    Finished,
    FinishReason,
    Preempted,
    Priority,
    PromptTooLong,
    Queued,
    QueueFull,
    Request,
    SamplingParams,
    TokenLogprob,
    UnusableGrammar,
    Usage,
)
from chat.inference.schema import UnusableSchema

__all__ = [
    "GREEDY",
    "Chunk",
    "Engine",
    "EngineConfig",
    "EngineFailed",
    "Event",
    "FinishReason",
    "Finished",
    "Preempted",
    "Priority",
    "PromptTooLong",
    "QueueFull",
    "Queued",
    "Request",
    "SamplingParams",
    "Stats",
    "TokenLogprob",
    "UnusableGrammar",
    "UnusableSchema",
    "Usage",
]
