"""A model file before it is loaded: whether it can be one, and the name of its weights."""

import hashlib
from pathlib import Path


class ModelNotLoaded(Exception):
    """The file is no model that can be used; the text names the file and the reason."""


def check_file(path: Path, *, setting: str = "LLM_MODEL_PATH") -> None:
    """Raise ModelNotLoaded, with the reason, for a file that cannot be a GGUF model."""
    if not path.exists():
        raise ModelNotLoaded(f"There is no model file at {path}. Set {setting}, or run bin/run to fetch one.")
    if not path.is_file():
        raise ModelNotLoaded(f"{path} is no file.")
    try:
        with path.open("rb") as file:
            head = file.read(8)
    except OSError as error:
        raise ModelNotLoaded(f"{path} cannot be read: {error.strerror}.") from error
    if len(head) < 8 and b"GGUF".startswith(head[:4]):
        raise ModelNotLoaded(f"{path} is cut short: it has {len(head)} bytes. Fetch it again.")
    if head[:4] != b"GGUF":
        raise ModelNotLoaded(f"{path} is no GGUF file (it does not begin with GGUF). Other formats must be converted.")
    if (version := int.from_bytes(head[4:8], "little")) not in (2, 3):
        raise ModelNotLoaded(f"{path} has GGUF version {version}; versions 2 and 3 can be read.")


def fingerprint(path: Path) -> str:
    """A name for the weights: 32 hexadecimal digits over the file's size, its first 8 MiB and its last MiB.

    The beginning holds vocabulary and template, the end is different for every training; reading a large file whole
    would take longer than loading it.
    """
    size = path.stat().st_size
    digest = hashlib.sha256(str(size).encode())
    with path.open("rb") as file:
        digest.update(file.read(8 * 1024 * 1024))
        file.seek(max(0, size - 1024 * 1024))
        digest.update(file.read())
    return digest.hexdigest()[:32]
