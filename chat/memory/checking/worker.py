"""A run without a model, in a process and a data directory of its own: `manage.py memory_check --worker OPTIONS`.

It writes lines of JSON: `{"done", "of", "what"}` as it goes on, and at last `{"report"}`; with a `conversation` to
show, `{"shown"}` or `{"refused"}`. SIGTERM ends it with the report of what has been measured, null before there is
any. The site's database is not even open here: `DATA_DIR` names an empty directory.
"""

import asyncio
import json
import os
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.core.management import call_command

from chat import runtime
from chat.memory.budget import MessageTooLong
from chat.memory.checking import brought, history
from chat.memory.checking.reading import reader_for
from chat.memory.checking.run import Options, Run
from chat.memory.checking.values import Report

if TYPE_CHECKING:
    from chat.inference.embedding import Embedder

CASES = "cases.json"
"""In the data directory afterwards: prompts with their questions, for a model to answer."""


def main(options: dict[str, Any]) -> None:
    """Make the database, run, and report. Refuses to touch a directory in which something is already."""
    os.nice(options.get("nice", 0))
    folder = Path(str(settings.DATABASES["default"]["NAME"])).resolve().parent
    if folder != Path(options["folder"]).resolve() or any(folder.iterdir()):
        raise SystemExit("This is for memory_check itself, with an empty directory of its own.")
    call_command("migrate", interactive=False, verbosity=0)
    asyncio.run(_show(options) if "conversation" in options else _run(options, folder))


async def _run(options: dict[str, Any], folder: Path) -> None:
    began = time.monotonic()
    runtime.use_embedder(_embedder(options))
    run = Run(_options(options), folder, tell=lambda **what: print(json.dumps(what), flush=True))  # noqa: T201
    report = await _unless_terminated(run)
    if report:
        report.seconds = round(time.monotonic() - began, 1)
        (folder / CASES).write_text(json.dumps(run.cases()))
    print(json.dumps({"report": report.figures() if report else None}), flush=True)  # noqa: T201


async def _unless_terminated(run: Run) -> Report | None:
    work = asyncio.ensure_future(run.report())
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, work.cancel)
    try:
        return await work
    except asyncio.CancelledError:
        return run.so_far()


async def _show(options: dict[str, Any]) -> None:
    runtime.use_embedder(_embedder(options))
    try:
        past = history.read(Path(options["conversation"]))
        shown = await brought.show(past, options["budget"], reader_for(settings.LLM_MODEL_PATH))
        print(json.dumps({"shown": shown}), flush=True)  # noqa: T201
    except (history.UnusableHistory, MessageTooLong) as error:
        print(json.dumps({"refused": str(error)}), flush=True)  # noqa: T201


def _options(options: dict[str, Any]) -> Options:
    return Options(**{key: value for key, value in options.items() if key in Options.__dataclass_fields__})


def _embedder(options: dict[str, Any]) -> "Embedder | None":
    """The configured embedding model, if it is there."""
    from chat.inference.embedding import Embedder
    from chat.inference.embedding_testing import ScriptedEmbedder
    from chat.inference.model_file import ModelNotLoaded

    path = settings.EMBED_MODEL_PATH
    if path == Path("scripted"):
        return ScriptedEmbedder()
    if path == Path("off") or not options.get("embeddings", True):
        return None
    from chat.inference.llama.embedder import LlamaEmbedding

    try:
        return Embedder(LlamaEmbedding(path))
    except ModelNotLoaded:
        return None
