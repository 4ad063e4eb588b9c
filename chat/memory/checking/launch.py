"""Starts a run in a process and a temporary data directory of its own, and follows it: the site's data stay closed."""

import json
import os
import secrets
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from django.conf import settings

from chat.memory.checking.brought import RESERVE
from chat.memory.checking.history import UnusableHistory
from chat.memory.checking.run import Options
from chat.memory.checking.stopping import Stopped, Stopping
from chat.memory.checking.values import Report, Value
from chat.memory.checking.worker import CASES

Progress = Callable[[int, int, str], None]
"""Called with steps done, steps in all, and what is being done."""


# Seconds that a process which was asked to end has to tell what it has measured.
LAST_WORDS = 5.0


class RunFailed(Exception):
    """The run ended without a result; the text gives the last line of its errors."""


@dataclass(frozen=True)
class Result:
    """What was measured, and the prompts that a model may be asked with."""

    report: Report
    cases: Mapping[str, Any]


def run(
    options: Options,
    progress: Progress = lambda *_: None,
    *,
    nice: int = 0,
    embeddings: bool = True,
    stopping: Stopping | None = None,
) -> Result:
    """Run and wait. Raises RunFailed, and Stopped when `stopping` was asked to end it."""
    with _place() as folder:
        asked = asdict(options) | {"nice": nice, "embeddings": embeddings}
        told = _told(asked, folder, progress, stopping or Stopping())
        return Result(_report(told["report"]), json.loads((folder / CASES).read_text()))


def show(conversation: Path, budget: int) -> dict[str, Any]:
    """The parts of the prompt for a history in a file. Raises UnusableHistory and RunFailed."""
    with _place() as folder:
        asked = {"conversation": str(conversation.resolve()), "budget": budget}
        told = _told(asked, folder, lambda *_: None, Stopping(), LLM_MAX_REPLY_TOKENS=str(RESERVE))
    if "refused" in told:
        raise UnusableHistory(told["refused"])
    shown: dict[str, Any] = told["shown"]
    return shown


@contextmanager
def _place() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="memory-check-") as place:
        folder = Path(place, "data")
        folder.mkdir()
        yield folder


def _told(asked: dict[str, Any], folder: Path, progress: Progress, stopping: Stopping, **extra: str) -> dict[str, Any]:
    """What the process tells at last."""
    asked["folder"] = str(folder)
    with (folder.parent / "errors").open("w+b") as errors, _process(asked, _environment(folder) | extra, errors) as run:
        with _ended_by(stopping, run):
            told = _follow(run, progress)
            run.wait()
        if stopping.is_wanted:
            raise Stopped(_report(told["report"]) if told and told["report"] else None)
        if run.returncode or told is None:
            errors.seek(0)
            last = errors.read().decode(errors="replace").strip().splitlines()[-1:]
            raise RunFailed(f"The run ended with {run.returncode}: {''.join(last) or 'no reason given'}")
    return told


@contextmanager
def _process(asked: dict[str, Any], environment: dict[str, str], errors: Any) -> Iterator[subprocess.Popen[str]]:
    """The process, ended in any case."""
    command = [sys.executable, str(settings.BASE_DIR / "manage.py"), "memory_check", "--worker", json.dumps(asked)]
    with subprocess.Popen(  # noqa: S603 - our own command
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors, text=True, env=environment
    ) as process:
        try:
            yield process
        finally:
            process.kill()


@contextmanager
def _ended_by(stopping: Stopping, process: subprocess.Popen[str]) -> Iterator[None]:
    """Inside, who wishes the end asks the process for it, and kills it if it does not come."""
    kill = threading.Timer(LAST_WORDS, process.kill)
    kill.daemon = True

    def end(at_once: bool) -> None:
        if at_once:
            process.kill()
        elif not kill.is_alive():
            process.terminate()
            kill.start()

    with stopping.ended_by(end):
        yield
    kill.cancel()


def _environment(folder: Path) -> dict[str, str]:
    """This process's own, with another place for data, no model of its own, and nothing that reaches out."""
    own = {
        "DATA_DIR": str(folder),
        "SECRET_KEY": secrets.token_hex(32),
        "LLM_MODEL_PATH": str(settings.LLM_MODEL_PATH),
        "EMBED_MODEL_PATH": str(settings.EMBED_MODEL_PATH),
        "LLM_MAX_REPLY_TOKENS": str(settings.LLM_MAX_REPLY_TOKENS),
        "CHAT_SYSTEM_PROMPT": settings.CHAT_SYSTEM_PROMPT,
        "LLM_AUTOSTART": "0",
        "LOG_LEVEL": "ERROR",
    }
    closed = dict.fromkeys(("DATABASE_URL", "REDIS_URL", "METRICS_TOKEN", "LLM_SCRIPT"), "")
    return {**os.environ, **closed, **own}


def _follow(process: subprocess.Popen[str], progress: Progress) -> dict[str, Any] | None:
    assert process.stdout is not None
    for line in process.stdout:
        told = json.loads(line)
        if "done" not in told:
            return dict(told)
        progress(told["done"], told["of"], told["what"])
    return None


def _report(figures: dict[str, Any]) -> Report:
    own = {key: value for key, value in figures.items() if key in Report.__dataclass_fields__}
    return Report(**own | {"values": [Value.of(value) for value in figures["values"]]})
