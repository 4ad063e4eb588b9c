"""What llama.cpp says: kept where a reason is wanted, else left to our own log."""

import logging
from typing import Any

import llama_cpp

logger = logging.getLogger(__name__)

_ERROR = 4  # GGML_LOG_LEVEL_ERROR


def _to_log(level: int, text: bytes, _: Any) -> None:
    if level == _ERROR:
        logger.debug("llama.cpp: %s", text.decode("utf-8", errors="replace").strip())


_TO_LOG = llama_cpp.llama_log_callback(_to_log)


class CapturedLog:
    """While it is open, llama.cpp's warnings are kept, since its functions return no reason for a failure."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._callback = llama_cpp.llama_log_callback(self._take)

    def __enter__(self) -> "CapturedLog":
        llama_cpp.llama_log_set(self._callback, None)
        return self

    def __exit__(self, *_: object) -> None:
        llama_cpp.llama_log_set(_TO_LOG, None)

    def reason(self) -> str:
        """The first error that llama.cpp told, without the name of its function."""
        for line in self._lines:
            text = line.strip().rpartition("error loading model: ")[2]
            if text := text.partition(": ")[2] or text:
                return text.rstrip(".")
        return ""

    def _take(self, level: int, text: bytes, _: Any) -> None:
        if level == _ERROR:
            self._lines.append(text.decode("utf-8", errors="replace"))
