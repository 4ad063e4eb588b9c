"""Runs pytest with these arguments beside a PostgreSQL server of its own; without any, what uses the database."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from chat.tests.postgresql.server import PostgresServer

ROOT = Path(__file__).resolve().parents[3]
# Not again: what starts processes, which get a database of their own, needs a model, or asks nothing new of a database.
_LEFT_OUT = (
    *("chat/tests/api", "chat/tests/browser", "chat/tests/inference", "chat/tests/rendering", "chat/tests/server"),
    *("*/test_checking_*", "*/test_access_walk.py", "*/test_memory_on_the_engine.py", "*/test_panel_*"),
)
EVERYTHING = (
    *("accounts", "chat", "-m", "not (model or server or browser or sqlite or postgresql)"),
    *(f"--ignore-glob={pattern}" for pattern in _LEFT_OUT),
    *("-p", "chat.tests.postgresql.with_database"),
)


def main(arguments):
    """The exit status of pytest."""
    with PostgresServer() as server, tempfile.TemporaryDirectory() as data:
        environment = os.environ | {"DATABASE_URL": server.make("chat"), "DATA_DIR": data}
        # Threads of tests keep connections, so the test database could not be dropped; it goes with the server.
        command = [sys.executable, "-m", "pytest", "--reuse-db", "-m", "not sqlite", *(arguments or EVERYTHING)]
        return subprocess.call(command, cwd=ROOT, env=environment)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
