"""Starts the site and the peer as processes on free loopback ports, and lets only one of them run at a time."""

import os
import re
import secrets
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from benchmarks.client import ServerFailed

ROOT = Path(__file__).resolve().parent.parent
# The spinning that the site chooses for the threads of its model, for both: the default burns a shared machine's time.
_SAME_FOR_BOTH = {"GOMP_SPINCOUNT": "1000"}
_PERSON = "bench"


@dataclass(frozen=True)
class Setup:
    """How a server is set up; `context` is tokens a slot."""

    slots: int
    context: int
    threads: int


@dataclass
class Server:
    """A running server. It may be paused, so that it takes nothing from the others."""

    url: str
    key: str
    child: "subprocess.Popen[str]"

    def pause(self) -> None:
        """Stop its threads where they are."""
        self.child.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Let it run."""
        self.child.send_signal(signal.SIGCONT)


@dataclass(frozen=True)
class Home:
    """A data directory with a database, one person and his key, to be copied for each server."""

    path: Path
    key: str

    @classmethod
    def made(cls, path: Path) -> "Home":
        """Make it by the commands that an operator would use."""
        path.mkdir()
        _manage(path, "migrate", "--verbosity", "0")
        _manage(path, "ensure_owner")
        return cls(path, _manage(path, "create_api_key", _PERSON, "--name", "bench").split()[-1])


@contextmanager
def ours(home: Home, model: Path, setup: Setup, more: Mapping[str, str] = MappingProxyType({})) -> Iterator[Server]:
    """The site with this file, exactly as it is, and `more` settings. Raises ServerFailed."""
    data = home.path.with_name(f"data-{secrets.token_hex(4)}")
    shutil.copytree(home.path, data)
    chosen = {
        "LLM_MODEL_PATH": str(model),
        "LLM_TUNED": "off",
        "LLM_SLOTS": str(setup.slots),
        "LLM_CONTEXT": str(setup.context),
        "LLM_THREADS": str(setup.threads),
        "LLM_QUEUE_LIMIT_PERSON": "100",
        "LOG_LEVEL": "WARNING",
        **more,
    }
    with _running([sys.executable, "manage.py", "serve"], environment(data) | chosen, home.key) as server:
        _wait_until_ready(f"{server.url}/readyz", server.child)
        yield server


@contextmanager
def peer(home: Home, model: Path, setup: Setup) -> Iterator[Server]:
    """The peer with this file. Raises ServerFailed."""
    numbers = [str(number) for number in (setup.slots, setup.context, setup.threads)]
    command = [sys.executable, "-m", "benchmarks.peer", str(model), *numbers]
    with _running(command, environment(home.path), key="") as server:
        _wait_until_ready(f"{server.url}/health", server.child)
        yield server


def environment(data: Path) -> dict[str, str]:
    """Ours without the settings of whoever runs this, which are not what is measured."""
    foreign = ("LLM_", "DATABASE_", "REDIS_", "CHAT_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
    own = {
        "DATA_DIR": str(data),
        "HOST": "127.0.0.1",
        "PORT": "0",
        "CHAT_OWNER_USERNAME": _PERSON,
        "CHAT_OWNER_PASSWORD": secrets.token_urlsafe(24),
        "SECRET_KEY": secrets.token_urlsafe(48),
    }
    return _SAME_FOR_BOTH | kept | own


@contextmanager
def _running(command: list[str], environment: dict[str, str], key: str) -> Iterator[Server]:
    log = Path(environment["DATA_DIR"]) / "server.log"
    with (
        log.open("ab") as errors,
        subprocess.Popen(
            command,
            cwd=ROOT,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        ) as child,
    ):
        try:
            yield Server(_address(child, log), key, child)
        finally:
            for number in (signal.SIGTERM, signal.SIGCONT):
                child.send_signal(number)
            with suppress(subprocess.TimeoutExpired):
                child.wait(timeout=10)
            child.kill()


def _address(child: "subprocess.Popen[str]", log: Path) -> str:
    assert child.stdout, "it is a pipe"
    for line in child.stdout:
        if found := re.search(r"Serving on (http://[\w.:]+\w)", line):
            return found[1]
    raise ServerFailed(f"A server ended with {child.wait()}:\n{log.read_text(errors='replace')[-2000:]}")


def _wait_until_ready(url: str, child: "subprocess.Popen[str]") -> None:
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and child.poll() is None:
        with suppress(OSError), urllib.request.urlopen(url, timeout=5) as answer:  # noqa: S310 (our own address)
            if answer.status == 200:
                return
        time.sleep(0.05)
    raise ServerFailed(f"{url} is not ready.")


def _manage(data: Path, *arguments: str) -> str:
    command = [sys.executable, "manage.py", *arguments]
    done = subprocess.run(command, cwd=ROOT, env=environment(data), capture_output=True, text=True, check=False)
    if done.returncode:
        raise ServerFailed(f"manage.py {arguments[0]}: {done.stderr.strip()[-2000:]}")
    return done.stdout
