"""Where a tuning is kept: `FINGERPRINT.json` and, beside it, the rewritten weights that it names.

The weights come first and under a name of their own, then the record replaces the one before in one step, and only
then older weights are deleted: whenever the process ends, there is a whole tuning or none. The original is not touched.
"""

import contextlib
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from chat.inference.model_file import fingerprint
from chat.inference.tuning.choice import Measured
from chat.inference.tuning.machine import Machine, this_machine

_WORKSHOP = "unfinished-"


class NotUsable(Exception):
    """There is a tuning, but it is not to be used; the text says why."""


@dataclass(frozen=True)
class Tuning:
    """What was found for a model on a machine.

    `fingerprint` is the original file's. `weights` is the name of the file to load in its place, "" for the original
    itself. A setting of 0 was not measured: the usual one holds. `notes` say what was left out and why.
    """

    model: str
    fingerprint: str
    machine: Machine
    made: str
    by: str
    format: str = ""
    weights: str = ""
    weights_fingerprint: str = ""
    threads: int = 0
    micro_batch: int = 0
    busy_batch: int = 0
    flash_attention: bool = True
    formats: tuple[Measured, ...] = ()
    settings: tuple[Measured, ...] = ()
    notes: tuple[str, ...] = ()


_AS_JSON = TypeAdapter(Tuning)


def read(folder: Path, original: str) -> Tuning | None:
    """The tuning of the model with this fingerprint, None where there is none. Raises NotUsable for a broken record."""
    file = _record(folder, original)
    try:
        return _AS_JSON.validate_json(file.read_bytes())
    except FileNotFoundError:
        return None
    except OSError as error:
        raise NotUsable(f"{file} cannot be read: {error.strerror}.") from error
    except ValidationError:
        raise NotUsable(f"{file} is no record of a tuning. Run: python manage.py tune") from None


def find(folder: Path, original: str, machine: Machine) -> Tuning | None:
    """The tuning of a model for this machine, None where there is none.

    Raises NotUsable for one that was made elsewhere or whose weights are not what it says.
    """
    tuning = read(folder, original)
    if not tuning:
        return None
    if tuning.fingerprint != original:
        raise NotUsable("It is of another model. Run: python manage.py tune")
    if tuning.machine != machine:
        raise NotUsable(f"It was measured elsewhere ({tuning.machine}; here: {machine}). Run: python manage.py tune")
    if tuning.weights and not _is_whole(folder, tuning):
        raise NotUsable(f"{folder / tuning.weights} is missing or damaged. Run: python manage.py tune")
    return tuning


def keep(folder: Path, tuning: Tuning, written: Path | None) -> None:
    """Make this the model's tuning; `written` holds the weights that it names, and is moved. Raises OSError."""
    if written:
        written.replace(folder / tuning.weights)
    _replace(_record(folder, tuning.fingerprint), _AS_JSON.dump_json(tuning, indent=2))
    _remove_weights(folder, tuning.fingerprint, but=tuning.weights)


def remove(folder: Path, original: str) -> bool:
    """Go back to the original; True when there was anything to remove. Raises OSError."""
    record = _record(folder, original)
    had = record.exists()
    record.unlink(missing_ok=True)
    return _remove_weights(folder, original, but="") or had


def decline(folder: Path, model: str, original: str) -> None:
    """Note that a model is wanted as it is, so that nothing tunes it unasked on this machine. Raises OSError."""
    keep(folder, Tuning(model, original, this_machine(), today(), by="remove"), None)


@contextlib.contextmanager
def workshop(folder: Path) -> Iterator[Path]:
    """A directory for unfinished files, gone afterwards; what killed processes left is cleared away.

    Raises OSError when nothing can be written, BlockingIOError while another process has it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        for left in folder.glob(f"{_WORKSHOP}*"):
            shutil.rmtree(left, ignore_errors=True)
        with tempfile.TemporaryDirectory(prefix=_WORKSHOP, dir=folder) as made:
            yield Path(made)


def today() -> str:
    """The time of a record."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def _record(folder: Path, original: str) -> Path:
    return folder / f"{original}.json"


def _is_whole(folder: Path, tuning: Tuning) -> bool:
    file = folder / Path(tuning.weights).name
    with contextlib.suppress(OSError):
        return fingerprint(file) == tuning.weights_fingerprint
    return False


def _replace(file: Path, content: bytes) -> None:
    """Write a file in one step: afterwards it has the old content or the new one, even if the power fails."""
    new = file.with_suffix(".new")
    with new.open("wb") as handle:
        handle.write(content)
        handle.flush()
        os.fsync(handle.fileno())
    new.replace(file)


def _remove_weights(folder: Path, original: str, *, but: str) -> bool:
    old = [file for file in folder.glob(f"{original}.*.gguf") if file.name != but]
    for file in old:
        file.unlink(missing_ok=True)
    return bool(old)
