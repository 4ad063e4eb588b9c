"""What speeds depend on beside the model: processor, cores and the version of the library."""

import os
import platform
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from chat.inference.config import EngineConfig, choose_threads

# What llama.cpp has kernels of its own for.
_FEATURES = frozenset(
    {"avx", "avx2", "f16c", "fma", "bmi2", "avx_vnni", "avx512f", "avx512bw", "avx512_vnni", "avx512_vbmi"}
    | {"avx512_bf16", "amx_int8", "amx_tile", "asimddp", "asimdhp", "i8mm", "bf16", "sve", "sve2", "sme"}
)


@dataclass(frozen=True)
class Machine:
    """Where something was measured. `cores` are those that this process may use, `threads` count siblings too."""

    processor: str
    features: str
    cores: int
    threads: int
    library: str

    def __str__(self) -> str:
        return f"{self.processor}, {self.cores} cores, llama-cpp-python {self.library}"


def this_machine() -> Machine:
    """The machine that this runs on, as this process may use it."""
    lines = _cpuinfo()
    flags = lines.get("flags") or lines.get("Features") or ""
    family = " ".join(
        f"{name} {lines[key]}" for name, key in (("family", "cpu family"), ("model", "model")) if key in lines
    )
    name = lines.get("model name") or platform.processor() or platform.machine()
    return Machine(
        processor=f"{name} ({family})" if family else name,
        features=" ".join(sorted(_FEATURES.intersection(flags.split()))),
        cores=choose_threads(EngineConfig(Path())),
        threads=logical_threads(),
        library=metadata.version("llama-cpp-python"),
    )


def logical_threads() -> int:
    """Threads that run at the same time here, siblings of one core included."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _cpuinfo() -> dict[str, str]:
    """What the system says of its first processor; nothing where there is no such file."""
    try:
        first = Path("/proc/cpuinfo").read_text().split("\n\n", 1)[0]
    except OSError:
        return {}
    pairs = (line.partition(":") for line in first.splitlines())
    return {key.strip(): value.strip() for key, _, value in pairs}
