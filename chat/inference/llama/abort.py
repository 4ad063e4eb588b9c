"""The flag that ends a running decode."""

import ctypes
import ctypes.util
from typing import Any

import llama_cpp


class AbortFlag:
    """A flag that llama.cpp reads between the nodes of its graph without entering Python.

    The callback is the C library's strlen on a buffer of ours: its length, 0 or 1, is the answer. A callback in Python
    would have to take the interpreter's lock some hundred times a step, against the threads of the web server.
    """

    def __init__(self, context: Any) -> None:
        self._buffer = ctypes.create_string_buffer(b"", 2)
        libc = ctypes.CDLL(ctypes.util.find_library("c"))
        # Kept, since llama.cpp holds a bare pointer to it.
        self._callback = ctypes.cast(libc.strlen, llama_cpp.ggml_abort_callback)
        llama_cpp.llama_set_abort_callback(context, self._callback, ctypes.cast(self._buffer, ctypes.c_void_p))

    def set(self, *, wanted: bool) -> None:
        """From any thread: end the running decode, and those to come, or let them run."""
        self._buffer[0] = b"\x01" if wanted else b"\x00"
