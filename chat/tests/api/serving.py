"""A real server that answers by a script or with the model, and keys of people for it."""

import json
from contextlib import contextmanager

from chat.tests.server.process import ServerProcess

PEOPLE = """
from accounts.models import ApiKey, User
for name in {names!r}:
    person = User.objects.create_user(name, f"{{name}}@example.org", "correct horse battery")
    print("key", ApiKey.issue(person, "test")[1])
"""


@contextmanager
def serving(data, *, script=None, people=("alice",), **variables):
    """A server that is ready; it has `keys`, one a person."""
    if script is not None:
        path = data / "script.json"
        path.write_text(json.dumps(script))
        variables["LLM_SCRIPT"] = str(path)
    server = ServerProcess(data, LLM_AUTOSTART="1", **variables)
    printed = server.manage("shell", "-c", PEOPLE.format(names=list(people))).stdout
    server.keys = [line.split()[1] for line in printed.splitlines() if line.startswith("key ")]
    assert len(server.keys) == len(people), printed
    with server:
        server.wait_until_ready()
        yield server
