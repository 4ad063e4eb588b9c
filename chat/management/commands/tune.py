"""`manage.py tune`: fits the model to this machine, and tells what is in use and why."""

from argparse import ArgumentParser
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from tqdm import tqdm  # type: ignore[import-untyped]

from chat.inference import tuning
from chat.inference.model_file import ModelNotLoaded, check_file, fingerprint
from chat.inference.tuning.choice import MAX_KL, Measured
from chat.inference.tuning.fitting import PARTS
from chat.inference.tuning.formats import DEFAULT_FORMATS, FORMATS
from chat.inference.tuning.work import CannotTune, Options, tune
from chat.management.commands import get_model

_MIB = 1024 * 1024


class Command(BaseCommand):
    help = "Measure weight formats and settings on this machine, keep the best, and use it from the next start on."
    requires_system_checks: list[str] = []  # noqa: RUF012 (as Django declares it)

    def add_arguments(self, parser: ArgumentParser) -> None:
        only = parser.add_mutually_exclusive_group()
        only.add_argument("--check", action="store_true", help="Measure nothing; tell what is in use and why.")
        only.add_argument("--remove", action="store_true", help="Go back to the original file and the usual settings.")
        parser.add_argument(
            "--formats", default=",".join(DEFAULT_FORMATS), help=f"Formats to try, of {', '.join(FORMATS)}."
        )
        parser.add_argument(
            "--max-kl", type=float, default=MAX_KL, help="How far predictions may be from the original's, in nats."
        )
        parser.add_argument("--seconds", type=float, default=110, help="Begin nothing new after this time.")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["check"]:
            self._check()
        elif options["remove"]:
            self._remove()
        else:
            self._tune(_options(options))

    def _tune(self, options: Options) -> None:
        steps = [*options.formats, *PARTS]
        with tqdm(total=len(steps), unit="step", disable=None) as bar:

            def tell(doing: str) -> None:
                bar.update(steps.index(doing) - bar.n)
                bar.set_description(doing)

            try:
                found = tune(settings.LLM_MODEL_PATH, _folder(), options, tell)
            except CannotTune as error:
                raise CommandError(f"{error} Nothing was changed.") from error
            except KeyboardInterrupt:
                raise CommandError("Interrupted. Nothing was changed.", returncode=130) from None
            bar.update(len(steps) - bar.n)
        self._tell_all(found)
        self.stdout.write("It is used from the next start on." if settings.LLM_TUNED else _SWITCHED_OFF)

    def _check(self) -> None:
        try:
            found = tuning.find(_folder(), _fingerprint(), tuning.this_machine())
        except tuning.NotUsable as reason:
            self.stdout.write(f"{settings.LLM_MODEL_PATH.name} is used as it is: the tuning is left aside. {reason}")
            return
        if not found:
            self.stdout.write(f"{settings.LLM_MODEL_PATH.name} is used as it is: it has not been tuned.")
            return
        self._tell_all(found)
        self.stdout.write("It is in use." if settings.LLM_TUNED else _SWITCHED_OFF)

    def _remove(self) -> None:
        name = _fingerprint()
        try:
            had = tuning.remove(_folder(), name)
            if had and name == get_model.FINGERPRINT:
                # Or the next start would prepare it again.
                tuning.decline(_folder(), settings.LLM_MODEL_PATH.stem, name)
        except OSError as error:
            raise CommandError(f"Cannot write to {_folder()}: {error.strerror}.") from error
        self.stdout.write("The original is used from the next start on." if had else "There is no tuning to remove.")

    def _tell_all(self, found: tuning.Tuning) -> None:
        self.stdout.write(f"{found.model} on {found.machine}; {found.by}, {found.made}")
        self._tell_table("weights", found.formats)
        self._tell_table("settings", found.settings)
        for note in found.notes:
            self.stdout.write(note)
        chosen = [f"weights: {found.format or 'the original'}"]
        chosen += [f"{name.replace('_', ' ')}: {asdict(found)[name]}" for name in _SETTINGS if asdict(found)[name]]
        chosen += [] if found.flash_attention else ["no flash attention"]
        self.stdout.write("Chosen: " + ", ".join(chosen))

    def _tell_table(self, title: str, lines: Iterable[Measured]) -> None:
        """Speeds in tokens a second, with the score that the choice is made by."""
        rows = [_row(line) for line in lines]
        if not rows:
            return
        self.stdout.write(f"\n{title:<19}{'read':>6}{'write':>7}{'x 8':>7}{'score':>7}{'KL':>8}{'top':>8}{'size':>10}")
        for row in rows:
            self.stdout.write(row)
        self.stdout.write("")


_SETTINGS = ("threads", "micro_batch", "busy_batch")
_SWITCHED_OFF = "It is not used: LLM_TUNED is off."


def _row(line: Measured) -> str:
    speeds, size = line.speeds, f"{line.size_bytes // _MIB} MiB" if line.size_bytes else ""
    row = f"{line.name:<19}{speeds.reading:>6.0f}{speeds.writing:>7.1f}{speeds.writing_many:>7.1f}"
    row += f"{line.ratio.score:>7.2f}"
    return f"{row}{line.divergence.kl:>8.4f}{line.divergence.same_top:>8.1%}{size:>10}" if size else row


def _folder() -> Any:
    return settings.DATA_DIR / "tuned"


def _fingerprint() -> str:
    try:
        check_file(settings.LLM_MODEL_PATH)
        return fingerprint(settings.LLM_MODEL_PATH)
    except (ModelNotLoaded, OSError) as error:
        raise CommandError(str(error)) from error


def _options(options: dict[str, Any]) -> Options:
    """What was asked for. Raises CommandError for what makes no sense."""
    formats = [name.strip().upper() for name in options["formats"].split(",") if name.strip()]
    if unknown := [name for name in formats if name not in FORMATS]:
        raise CommandError(f"There is no format {unknown[0]!r}. Choose of {', '.join(FORMATS)}.")
    if not formats:
        raise CommandError("Name one format at least.")
    if not options["max_kl"] >= 0:
        raise CommandError("--max-kl must be 0 or more.")
    if not 1 <= options["seconds"] <= 86_400:
        raise CommandError("--seconds must be from 1 to 86400.")
    return Options(tuple(dict.fromkeys(formats)), options["max_kl"], options["seconds"])
