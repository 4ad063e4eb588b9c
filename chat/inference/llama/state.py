"""Copies of what one sequence of a context holds, out of it and back."""

import ctypes
import mmap
from pathlib import Path
from typing import Any

import llama_cpp
import numpy as np

_LIBRARIES = Path(llama_cpp.__file__).parent / "lib"


def state_size(context: Any, slot: int) -> int:
    """Bytes that `read_state` takes."""
    return int(llama_cpp.llama_state_seq_get_size(context, slot))


def read_state(context: Any, slot: int) -> memoryview | None:
    """A copy of all that the sequence holds; None when it could not be made.

    The memory is mapped: states are large, and what is given back then really goes back to the system.
    """
    size = state_size(context, slot)
    if not size:
        return None
    state = memoryview(mmap.mmap(-1, size))
    return state if llama_cpp.llama_state_seq_get_data(context, _address(state), size, slot) == size else None


def write_state(context: Any, slot: int, state: memoryview) -> bool:
    """Put a copy in place of what an empty sequence holds; False when llama.cpp does not take it."""
    taken = llama_cpp.llama_state_seq_set_data(context, _address(state), state.nbytes, slot)
    return int(taken) == state.nbytes


def layout_of(params: Any) -> str:
    """A name for how states are written: the library, and the parameters of a context that change its cache."""
    cache = (params.n_ctx, params.n_seq_max, params.type_k, params.type_v, params.flash_attn_type, params.swa_full)
    # Two builds of the same version are hardly ever of the same size.
    sizes = sorted(library.stat().st_size for library in _LIBRARIES.glob("libllama.*"))
    return " ".join(map(str, (llama_cpp.__version__, *sizes, *cache)))


def _address(state: memoryview) -> Any:
    return np.frombuffer(state, np.uint8).ctypes.data_as(ctypes.POINTER(ctypes.c_uint8))
