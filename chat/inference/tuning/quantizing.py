"""Writes a model's weights in another format, in a process of its own.

So Ctrl-C ends it at once, a crash of the library is an error message, and the memory is given back. The child ends
when its standard input is closed, hence with its parent, however that was killed.
"""

import ctypes
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

from chat.inference.tuning.formats import FORMATS, bytes_needed

# Left free for the database, whatever else wants the disk.
_SPARE = 64 * 1024 * 1024


class NotWritten(Exception):
    """The weights could not be written again; the text says why."""


def rewrite(source: Path, target: Path, name: str, *, num_weights: int, seconds: float | None = None) -> None:
    """Write `source` in the format of this name to `target`, completely on the disk.

    Raises NotWritten, after which `target` may hold anything, for lack of space, a broken source, or the time limit.
    """
    check_space(target.parent, bytes_needed(name, num_weights))
    command = [sys.executable, "-m", __name__, str(source), str(target), str(FORMATS[name].number)]
    try:
        with subprocess.Popen(  # noqa: S603
            command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd=_root(), env=_env()
        ) as child:
            try:
                child.wait(seconds)
            except BaseException:
                child.kill()
                raise
            said = child.stderr.read().decode(errors="replace").strip() if child.stderr else ""
    except subprocess.TimeoutExpired:
        raise NotWritten(f"{name} was not written within {seconds:.0f} s.") from None
    except OSError as error:
        raise NotWritten(f"{name} cannot be written: {error.strerror or error}.") from error
    if child.returncode or not target.is_file():
        reason = said.splitlines()[-1] if said else f"the process ended with {child.returncode}"
        raise NotWritten(f"{source.name} cannot be written as {name}: {reason}")
    _sync(target)


def check_space(folder: Path, needed: int) -> None:
    """Raise NotWritten unless so many bytes can be written there without filling the disk."""
    free = shutil.disk_usage(folder).free
    if free < needed + _SPARE:
        mib = 1024 * 1024
        raise NotWritten(f"{folder} has {free // mib} MiB free; {(needed + _SPARE) // mib} MiB are needed.")


def _sync(file: Path) -> None:
    handle = os.open(file, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _root() -> Path:
    return Path(__file__).resolve().parents[3]


def _env() -> dict[str, str]:
    return os.environ | {"GGML_NO_BACKTRACE": "1"}


def _main(source: str, target: str, number: str) -> int:
    import llama_cpp

    from chat.inference.llama.log import CapturedLog

    threading.Thread(target=_end_with_parent, daemon=True).start()
    llama_cpp.llama_backend_init()
    params = llama_cpp.llama_model_quantize_default_params()
    params.ftype = int(number)
    params.allow_requantize = True
    params.nthread = 0  # all
    with CapturedLog() as log:
        code = llama_cpp.llama_model_quantize(source.encode(), target.encode(), ctypes.byref(params))
    if code:
        print(log.reason() or "llama.cpp gave no reason", file=sys.stderr)  # noqa: T201
    return int(code)


def _end_with_parent() -> None:
    sys.stdin.read()
    os._exit(1)


if __name__ == "__main__":
    sys.exit(_main(*sys.argv[1:]))
