"""Brings everything that serving needs up to date, in one process."""

from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError

from chat.database import PLACE, fault
from chat.management.commands import get_model


class Command(BaseCommand):
    help = "Migrate the database, fetch and prepare the default models, collect static files, ensure there is an owner."
    requires_system_checks = ()

    def handle(self, *args: Any, **options: Any) -> None:
        if reason := fault():
            raise CommandError(f"The database cannot be opened: {reason}. {PLACE}")
        call_command("migrate", interactive=False, verbosity=0)
        for command in ("get_model", "get_embedding_model"):
            try:
                call_command(command)
            except CommandError as error:
                # The site is of use without a model: history can be read, and /readyz tells what is wrong.
                self.stderr.write(self.style.WARNING(str(error)))
        self._prepare_model()
        call_command("collectstatic", interactive=False, verbosity=0)
        call_command("ensure_owner")

    def _prepare_model(self) -> None:
        """Write the default model as what this machine reads fastest. Whatever goes wrong, the file serves as it is."""
        if not _is_wanted():
            return
        from chat.inference.tuning.work import CannotTune, prepare

        self.stdout.write("Preparing the default model for this machine, some seconds ...")
        self.stdout.flush()
        try:
            found = prepare(settings.LLM_MODEL_PATH, settings.DATA_DIR / "tuned")
        except CannotTune as error:
            self.stderr.write(self.style.WARNING(f"The model is used as it is: {error}"))
        except KeyboardInterrupt:
            raise CommandError("Interrupted; the model stays as it is.", returncode=130) from None
        else:
            how = f"as {found.format}" if found.format else "as it is, since nothing else is clearly faster"
            self.stdout.write(f"It is used {how}.")


def _is_wanted() -> bool:
    """Only the default model is prepared unasked, and not again while what was found holds."""
    from chat.inference.model_file import fingerprint
    from chat.inference.tuning import NotUsable, find, this_machine

    if settings.LLM_SCRIPT or not (settings.LLM_TUNED and settings.LLM_AUTOSTART):
        return False
    try:
        name = fingerprint(settings.LLM_MODEL_PATH)
        return name == get_model.FINGERPRINT and not find(settings.DATA_DIR / "tuned", name, this_machine())
    except NotUsable:
        return True
    except OSError:
        return False
