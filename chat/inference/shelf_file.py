"""One parked conversation as a file: how it is named, written, checked and read.

The file is: 8 bytes of magic; four digests of 16 bytes (what it is bound to, the conversation's key, the tokens, the
state); how many tokens there are and how many bytes the state has, 8 bytes each; the tokens, 4 bytes each; the state.
Numbers are little-endian. Digests are BLAKE2b: files are read beside the engine's thread, so that a check which lets
nothing through costs nobody anything (60 ms for 1,500 tokens of the default model).
"""

import hashlib
import logging
import mmap
import os
import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from chat.inference.parking import Parked

logger = logging.getLogger(__name__)

SUFFIX = ".parked"
UNFINISHED = ".unfinished"
_MAGIC = b"PARKED\x00\x01"
_HEAD = struct.Struct("<8s16s16s16s16sQQ")


@dataclass(eq=False)
class Listed:
    """A file on the shelf: whose it is (by a digest of the key), what it holds and takes."""

    path: Path
    owner: bytes
    tokens: list[int]
    size: int
    parked_at: float

    def is_of(self, key: str) -> bool:
        """Whether it holds a part of this conversation."""
        return bool(key) and self.owner == _digest(key.encode())

    def is_continued_by(self, other: "Listed") -> bool:
        """Whether the other file has all that this one has."""
        return self.owner == other.owner and other.tokens[: len(self.tokens)] == self.tokens


def name_of(parked: Parked) -> str:
    """The file's name without its ending: digests of key and tokens, so that a directory tells no names."""
    return f"{_digest(parked.key.encode()).hex()}-{_digest(_packed(parked.tokens)).hex()[:8]}"


def write_file(path: Path, parked: Parked, binding: str) -> Listed:
    """Write a copy; returns how it is listed under its final name. Raises OSError.

    Without a flush to the disk: after a power cut the file may be incomplete, and its checksum tells.
    """
    tokens = _packed(parked.tokens)
    key, bound = _digest(parked.key.encode()), _digest(binding.encode())
    head = _HEAD.pack(
        _MAGIC, bound, key, _digest(tokens), _digest(parked.state), len(parked.tokens), parked.state.nbytes
    )
    path.unlink(missing_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        for part in (head, tokens, parked.state):
            _write_all(descriptor, memoryview(part))
        os.utime(descriptor, (parked.parked_at, parked.parked_at))
        size = os.fstat(descriptor).st_size
    finally:
        os.close(descriptor)
    final = path.with_name(path.name.removesuffix(UNFINISHED) + SUFFIX)
    return Listed(final, key, parked.tokens, size, parked.parked_at)


def list_file(path: Path, binding: str) -> Listed | None:
    """What a file holds, without its state; None for one that cannot be used with this binding."""
    try:
        with path.open("rb") as file:
            status = os.fstat(file.fileno())
            magic, bound, key, of_tokens, _, count, size = _HEAD.unpack(file.read(_HEAD.size))
            if magic != _MAGIC or bound != _digest(binding.encode()):
                return None
            if status.st_size != _HEAD.size + 4 * count + size:
                return None
            tokens = file.read(4 * count)
    except (OSError, struct.error):
        return None
    if _digest(tokens) != of_tokens:
        return None
    return Listed(path, key, np.frombuffer(tokens, "<i4").tolist(), status.st_size, status.st_mtime)


def read_file(listed: Listed, binding: str, key: str) -> Parked | None:
    """The copy that a file holds; None when it is gone, damaged, or not what was listed."""
    fresh = list_file(listed.path, binding)
    if not fresh or fresh.tokens != listed.tokens or not fresh.is_of(key):
        return None
    try:
        with listed.path.open("rb", buffering=0) as file:
            head = _HEAD.unpack(file.read(_HEAD.size))
            of_state, size = head[4], head[6]
            file.seek(_HEAD.size + 4 * len(listed.tokens))
            state = memoryview(mmap.mmap(-1, size))
            done = 0
            while done < size and (count := file.readinto(state[done:])):
                done += count
    except (OSError, ValueError, struct.error) as error:
        logger.warning("A parked conversation could not be read: %s", error)
        return None
    is_whole = done == size and _digest(state) == of_state
    return Parked(key, listed.tokens, state, listed.parked_at) if is_whole else None


def _packed(tokens: list[int]) -> bytes:
    return np.asarray(tokens, "<i4").tobytes()


def _digest(data: bytes | memoryview) -> bytes:
    return hashlib.blake2b(data, digest_size=16).digest()


def _write_all(descriptor: int, data: memoryview) -> None:
    while data:
        data = data[os.write(descriptor, data) :]
