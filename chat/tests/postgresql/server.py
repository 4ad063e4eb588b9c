"""A PostgreSQL server for tests: new, in a temporary directory, behind a socket there, ended by its process id."""

import contextlib
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from urllib.parse import quote

import psycopg

MISSING = "PostgreSQL's server is not installed. On Debian or Ubuntu: apt-get install postgresql"
# It need not survive anything.
_QUICK = ("fsync=off", "synchronous_commit=off", "full_page_writes=off", "listen_addresses=")


class PostgresServer:
    """`with PostgresServer() as server: server.url("name")`; `stop` and `start` in between keep the data."""

    def __enter__(self):
        self._programs = _programs()
        self._account = _account()
        self.directory = Path(tempfile.mkdtemp(prefix="postgres-"))
        if self._account:
            shutil.chown(self.directory, self._account, pwd.getpwnam(self._account).pw_gid)
        self._run("initdb", "-D", self._data, "-U", "chat", "--auth=trust", "-E", "UTF8", "--no-locale", "--no-sync")
        self.start()
        return self

    def __exit__(self, *_):
        self.stop()
        shutil.rmtree(self.directory)

    def start(self):
        """Start, and wait until it answers."""
        options = [
            word for setting in (*_QUICK, f"unix_socket_directories={self.directory}") for word in ("-c", setting)
        ]
        with (self.directory / "log").open("ab") as log:
            self.child = subprocess.Popen(
                [self._programs / "postgres", "-D", self._data, *options], stdout=log, stderr=log, **self._as()
            )
        deadline = time.monotonic() + 60
        while True:
            with contextlib.suppress(psycopg.OperationalError):
                psycopg.connect(self.url("postgres"), connect_timeout=5).close()
                return
            assert self.child.poll() is None, (self.directory / "log").read_text()
            assert time.monotonic() < deadline, "it did not answer within a minute"
            time.sleep(0.05)

    def stop(self):
        """End it, and every connection to it, at once."""
        if self.child.poll() is None:
            self.child.send_signal(signal.SIGINT)
        self.child.wait(timeout=60)

    def url(self, name):
        """The address of one of its databases."""
        return f"postgresql://chat@{quote(str(self.directory), safe='')}/{name}"

    def make(self, name, template="template1"):
        """A new database, empty or a copy; returns its address."""
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}"')
        return self.url(name)

    @property
    def _data(self):
        return self.directory / "data"

    def _run(self, program, *arguments):
        done = subprocess.run(
            [self._programs / program, *arguments], text=True, capture_output=True, check=False, **self._as()
        )
        assert done.returncode == 0, done.stderr

    def _as(self):
        """It refuses to run as root."""
        found = {"cwd": self.directory}
        if self._account:
            found |= {"user": self._account, "group": pwd.getpwnam(self._account).pw_gid, "extra_groups": []}
        return found


def is_installed():
    """Whether there is a server to start."""
    return bool(_found())


def _programs():
    if not (found := _found()):
        raise SystemExit(MISSING)
    return found[-1]


def _found():
    """Directories with its programs, the newest version last."""
    there = [Path(program).resolve().parent] if (program := shutil.which("postgres")) else []
    debian = Path("/usr/lib/postgresql").glob("*/bin/postgres")
    return sorted((path.parent for path in debian), key=lambda path: int(path.parent.name)) + there


def _account():
    """Whose rights it gets when root runs the tests."""
    if os.geteuid():
        return None
    with contextlib.suppress(KeyError):
        return pwd.getpwnam("postgres").pw_name
    return "nobody"
