"""The two ways to tune a model: `prepare`, some seconds for the default one, and `tune`, up to two minutes for any."""

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from chat.inference.config import available_memory
from chat.inference.model_file import ModelNotLoaded, check_file, fingerprint
from chat.inference.tuning import keeping
from chat.inference.tuning.choice import MAX_KL, Measured, Speeds, choose_format
from chat.inference.tuning.divergence import Logits, compare
from chat.inference.tuning.fitting import Settings, fit_settings
from chat.inference.tuning.formats import DEFAULT_FORMATS, bytes_needed
from chat.inference.tuning.keeping import Tuning
from chat.inference.tuning.machine import Machine, this_machine
from chat.inference.tuning.measuring import QUICK, TEXT, THOROUGH, Sizes, fitting, in_turn, share_of_processors, speeds
from chat.inference.tuning.probe import Probe
from chat.inference.tuning.quantizing import NotWritten, rewrite

PREPARED = "Q8_0"
ORIGINAL = "original"
# Weights may take this share of the memory that is free; the rest is for caches and the system.
_MEMORY_SHARE = 0.6
# Settings are fitted on a machine that is free, which the process notices by the processor time that it gets.
_LEAST_SHARE = 0.8
# The part of the time that is left for settings, once there are formats to choose from.
_SETTINGS_SHARE = 0.3

_ROUNDS = 3
# After this time no further round of `prepare` begins, however busy the machine is.
_PREPARE_SECONDS = 15
# A file that was begun may take as long as this, or a busy machine would begin it at every start.
_LEAST_WRITE_SECONDS = 60.0
_NOT_MEASURED = Measured(ORIGINAL, Speeds(0, 0, 0), Speeds(1, 1, 1))

Tell = Callable[[str], None]


class CannotTune(Exception):
    """Nothing was changed; the text says why, for people."""


@dataclass(frozen=True)
class Options:
    """What `tune` tries, how far predictions may be from the original's (nats), and when it stops to try more."""

    formats: Sequence[str] = DEFAULT_FORMATS
    max_kl: float = MAX_KL
    seconds: float = 110.0


def prepare(model: Path, folder: Path, tell: Tell = lambda _: None) -> Tuning:
    """Write a model as Q8_0 unless that is slower here, and keep it. Takes seconds for a small one.

    Returns what is kept: what was there, where it is valid. Raises CannotTune, and then everything is as it was.
    """
    check = _checked(model)
    with contextlib.suppress(keeping.NotUsable):
        if found := keeping.find(folder, check, this_machine()):
            return found
    options = Options(formats=(PREPARED,), seconds=_PREPARE_SECONDS)
    with _work(model, folder, options, QUICK, tell) as work:
        best = work.choose_weights()
        if work.notes:
            raise CannotTune(" ".join(work.notes))  # the next start tries again
        return work.finish(best, Settings(), by="prepare")


def tune(model: Path, folder: Path, options: Options, tell: Tell = lambda _: None) -> Tuning:
    """Measure weight formats, then settings with the best of them, and keep what was found in place of what was there.

    tell is given what is being done, once for each format and once for each of fit_settings' three parts. Raises
    CannotTune, and then everything is as it was.
    """
    _checked(model)
    with _work(model, folder, options, THOROUGH, tell) as work:
        weights = work.choose_weights()
        return work.finish(weights, work.fit(weights), by="tune")


@dataclass
class _Work:
    """One tuning while it is made. `table` grows; its first line is the original."""

    original: Probe
    folder: Path
    shop: Path
    options: Options
    sizes: Sizes
    tokens: list[int]
    tell: Tell
    machine: Machine = field(default_factory=this_machine)
    began: float = field(default_factory=time.monotonic)
    table: list[Measured] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def choose_weights(self) -> Measured:
        """Measure every format; afterwards the chosen one's file is in the workshop, unless that is the original."""
        expected = self.original.predictions(self.tokens[: self.sizes.comparing])
        self.table = [replace(_NOT_MEASURED, size_bytes=self.original.path.stat().st_size)]
        for name in self.options.formats:
            self.tell(name)
            try:
                self._check_room(name)
                self._write(name)
                self.table.append(self._measure(name, expected))
            except (NotWritten, ModelNotLoaded, ValueError) as reason:
                self.notes.append(f"{name}: {reason}")
            self._clear(but=self._best().name)
        best = self._best()
        if best.name != ORIGINAL and not self._file(best.name).exists():
            self._write(best.name)  # cleared away while another one looked better
        return best

    def fit(self, best: Measured) -> Settings:
        """The settings that suit these weights."""
        left = self.options.seconds - (time.monotonic() - self.began)
        share = share_of_processors(self.original, self.tokens[: self.sizes.reading], self.machine.cores)
        if share < _LEAST_SHARE:
            # Fewer threads would win, since none waits for one that a neighbour keeps from running.
            return Settings(notes=(f"Settings: not measured, the machine is busy (we got {share:.0%} of it).",))
        if best.name == ORIGINAL:
            return fit_settings(self.original, self.tokens, self.sizes, self.machine, self.tell, left)
        with Probe(self._file(best.name)) as probe:
            return fit_settings(probe, self.tokens, self.sizes, self.machine, self.tell, left)

    def finish(self, best: Measured, settings: Settings, *, by: str) -> Tuning:
        """Keep it."""
        original = fingerprint(self.original.path)
        written = None if best.name == ORIGINAL else self._file(best.name)
        tuning = Tuning(
            model=self.original.path.stem,
            fingerprint=original,
            machine=self.machine,
            made=keeping.today(),
            by=by,
            format=best.name if written else "",
            weights=f"{original}.{best.name}.gguf" if written else "",
            weights_fingerprint=fingerprint(written) if written else "",
            threads=settings.threads,
            micro_batch=settings.micro_batch,
            busy_batch=settings.busy_batch,
            flash_attention=settings.flash_attention,
            formats=tuple(self.table),
            settings=settings.table,
            notes=(*self.notes, *settings.notes),
        )
        keeping.keep(self.folder, tuning, written)
        return tuning

    def _check_room(self, name: str) -> None:
        if time.monotonic() - self.began > self.options.seconds * (1 - _SETTINGS_SHARE):
            raise NotWritten("not tried, the time is up.")
        needed, free = bytes_needed(name, self.original.num_weights), available_memory()
        if needed > free * _MEMORY_SHARE:
            raise NotWritten(f"not tried, it may take {needed >> 20} MiB of the {free >> 20} MiB of free memory.")

    def _write(self, name: str) -> None:
        left = max(_LEAST_WRITE_SECONDS, self.options.seconds - (time.monotonic() - self.began))
        rewrite(self.original.path, self._file(name), name, num_weights=self.original.num_weights, seconds=left)

    def _measure(self, name: str, expected: Logits) -> Measured:
        """One that is too far from the original is measured once, for the table; the others in three rounds."""
        file = self._file(name)
        with Probe(file).set_up(threads=self.machine.cores) as probe:
            divergence = compare(expected, probe.predictions(self.tokens[: self.sizes.comparing]))
            trials = {
                ORIGINAL: lambda: speeds(self.original, self.tokens, self.sizes),
                name: lambda: speeds(probe, self.tokens, self.sizes),
            }
            rounds = _ROUNDS if divergence.kl <= self.options.max_kl else 1
            original, line = in_turn(trials, rounds, ends=self.began + self.options.seconds)
        if self.table[0].speeds == _NOT_MEASURED.speeds:
            self.table[0] = replace(self.table[0], speeds=original.speeds)
        return replace(line, divergence=divergence, size_bytes=file.stat().st_size)

    def _best(self) -> Measured:
        return choose_format(self.table, max_kl=self.options.max_kl)

    def _file(self, name: str) -> Path:
        return self.shop / f"{name}.gguf"

    def _clear(self, *, but: str) -> None:
        for file in self.shop.glob("*.gguf"):
            if file != self._file(but):
                file.unlink()


@contextlib.contextmanager
def _work(model: Path, folder: Path, options: Options, most: Sizes, tell: Tell) -> Iterator[_Work]:
    """Everything that a tuning needs, given back afterwards. Raises CannotTune for whatever goes wrong."""
    try:
        with keeping.workshop(folder) as shop, Probe(model).set_up(threads=this_machine().cores) as original:
            tokens = original.tokens(TEXT)
            yield _Work(original, folder, shop, options, fitting(original, tokens, most), tokens, tell)
    except BlockingIOError:
        raise CannotTune("Another process is tuning at the moment.") from None
    except (ModelNotLoaded, NotWritten) as error:
        raise CannotTune(str(error)) from error
    except OSError as error:
        raise CannotTune(f"Cannot write to {folder}: {error.strerror or error}.") from error


def _checked(model: Path) -> str:
    """The model's fingerprint. Raises CannotTune for a file that is no model."""
    try:
        check_file(model)
        return fingerprint(model)
    except (ModelNotLoaded, OSError) as error:
        raise CannotTune(str(error)) from error
