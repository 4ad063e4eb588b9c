"""A server in a process of its own, as tests start, ask and end it."""

import http.client
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


class ServerProcess:
    """A child that says "Serving on ADDRESS"; `url` is that address, `seen` what it printed until then."""

    def __init__(self, data_dir, *command, **variables):
        self.env = (
            os.environ
            | {"DATA_DIR": str(data_dir), "PORT": "0", "LLM_AUTOSTART": "0", "EMBED_MODEL_PATH": "off"}
            | variables
        )
        self.log = Path(data_dir) / "server.log"
        self.command = command or ("manage.py", "serve")

    def __enter__(self):
        with self.log.open("ab") as log:
            self.child = subprocess.Popen(
                [sys.executable, *self.command], cwd=ROOT, env=self.env, text=True, stdout=subprocess.PIPE, stderr=log
            )
        self.seen = ""
        for line in self.child.stdout:
            self.seen += line
            if found := re.search(r"Serving on (http://\S+?)\.?(?:\s|$)", line):
                self.url = found[1]
                self.host, port = self.url.removeprefix("http://").rsplit(":", 1)
                self.port = int(port)
                return self
        raise AssertionError(f"The server ended with {self.child.wait()}:\n{self.seen}{self.log.read_text()}")

    def __exit__(self, *_):
        if self.child.poll() is None:
            self.child.kill()
        self.child.wait()
        self.child.stdout.close()

    def end(self, number=signal.SIGTERM):
        """Send the signal; returns the exit code and the seconds until the process was gone."""
        began = time.monotonic()
        self.child.send_signal(number)
        return self.child.wait(timeout=10), time.monotonic() - began

    def get(self, path):
        """Ask for a page; returns its status."""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=20)
        connection.request("GET", path)
        status = connection.getresponse().status
        connection.close()
        return status

    def wait_until_ready(self):
        """Until the model is loaded."""
        deadline = time.monotonic() + 60
        while self.get("/readyz") != 200:
            assert time.monotonic() < deadline, self.log.read_text()

    def manage(self, *arguments):
        """Run a management command on the same data."""
        return subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=ROOT,
            env=self.env,
            text=True,
            capture_output=True,
            timeout=60,
            check=False,
        )
