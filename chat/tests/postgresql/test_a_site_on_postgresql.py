"""A whole site on PostgreSQL: it answers, survives being killed and its database going away, forgets and purges."""

import json
import shutil
import signal
import time
import uuid

import psycopg
import pytest
from websockets.sync.client import connect

from chat.tests.postgresql.server import PostgresServer
from chat.tests.server.process import ServerProcess

pytestmark = [pytest.mark.postgresql, pytest.mark.server, pytest.mark.timeout(300)]

PERSON = """
from django.test import Client
from accounts.models import User
from chat.models import Conversation
alice, _ = User.objects.get_or_create(username="alice")
client = Client()
client.force_login(alice, backend="django.contrib.auth.backends.ModelBackend")
print("ready", client.cookies["sessionid"].value, Conversation.begin(alice).pk)
"""
FORGET = """
from accounts.models import User
from chat.models import Message
from chat.services import remembering
message = Message.objects.get(text__contains="Zyxquolian", role="user")
remembering.forget(message.conversation_id, message.conversation.owner_id, message=message.pk, with_answers=True)
"""
SAY = """
from uuid import uuid4
from chat.memory import search
from chat.models import Conversation
here = Conversation.objects.get()
here.post(parent=here.head_id, text="A tulip.", client_id=uuid4()).reply.finish("complete", text="Oh.")
search.add_missing(here.pk)
"""
CALL = "from django.core.management import call_command"
COUNT = """
from django.db import connection
with connection.cursor() as cursor:
    cursor.execute("SELECT count(*) FROM chat_search")
    print("indexed", cursor.fetchone()[0])
"""
# As docs/self-hosting.md has it.
LEFT_OUT = ("--natural-foreign", "-e", "contenttypes", "-e", "auth.permission", "-e", "sessions")
WORD = "Zyxquolian"


@pytest.fixture(scope="module")
def postgres():
    with PostgresServer() as server:
        yield server


@pytest.fixture(scope="module")
def prepared(postgres, tmp_path_factory):
    """A prepared site with Alice in it, and a model that takes its time; each test has a copy."""
    data = tmp_path_factory.mktemp("prepared")
    replies = [{"say": f"{WORD} " + "goes on " * 2000}]
    (data / "script.json").write_text(json.dumps({"step_seconds": 0.02, "replies": replies}))
    server = ServerProcess(data, DATABASE_URL=postgres.make("prepared"))
    done = server.manage("prepare")
    assert done.returncode == 0, done.stderr
    session, conversation = server.manage("shell", "-c", PERSON).stdout.split()[-2:]
    return data, session, conversation


@pytest.fixture
def site(postgres, prepared, tmp_path):
    """Not yet started."""
    prepared, session, conversation = prepared
    data = shutil.copytree(prepared, tmp_path / "data")
    url = postgres.make(f"site{uuid.uuid4().hex[:8]}", template="prepared")
    server = ServerProcess(data, LLM_AUTOSTART="1", LLM_SCRIPT=str(data / "script.json"), DATABASE_URL=url)
    server.database, server.session, server.conversation = url, session, conversation
    return server


def ask(site, text):
    """Send a message, and wait for the first words of the reply."""
    address = f"ws://127.0.0.1:{site.port}/ws/conversations/{site.conversation}/"
    cookie = {"Cookie": f"sessionid={site.session}", "Origin": site.url}
    with connect(address, additional_headers=cookie) as socket:
        frame = {"type": "message.send", "client_id": str(uuid.uuid4()), "parent": None, "text": text}
        socket.send(json.dumps(frame))
        while (answer := json.loads(socket.recv(timeout=20)))["type"] != "reply.delta":
            assert answer["type"] != "error", answer


def rows(site, query):
    with psycopg.connect(site.database) as connection:
        return connection.execute(query).fetchall()


def run(site, statement):
    with psycopg.connect(site.database, autocommit=True) as connection:
        connection.execute(statement)


def wait_for(condition, what):
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.1)


def bytes_with(postgres, site, word):
    """The files of this database that hold a word."""
    oid = rows(site, "SELECT oid FROM pg_database WHERE datname = current_database()")[0][0]
    folder = postgres.directory / "data" / "base" / str(oid)
    return [path.name for path in folder.iterdir() if word.lower() in path.read_bytes().lower()]


def test_it_is_killed_and_goes_on_and_what_it_forgets_leaves_the_files(postgres, site):
    with site:
        site.wait_until_ready()
        ask(site, f"What is {WORD}?")
        saved = "SELECT count(*) FROM chat_message WHERE status = 'streaming' AND text <> ''"
        wait_for(lambda: rows(site, saved) == [(1,)], "the reply is saved while it grows")
        site.end(signal.SIGKILL)
    with site:
        site.wait_until_ready()
        assert rows(site, "SELECT role, status, text <> '' FROM chat_message ORDER BY id") == [
            ("user", "complete", True),
            ("assistant", "interrupted", True),
        ]
        run(site, "ANALYZE")
        run(site, "CHECKPOINT")
        assert bytes_with(postgres, site, WORD.encode())
        assert site.manage("shell", "-c", FORGET).returncode == 0
        done = site.manage("purge")
        assert done.returncode == 0, done.stderr
        assert "replicas and archives" in done.stdout
        run(site, "CHECKPOINT")
        assert bytes_with(postgres, site, WORD[2:].encode()) == []
        assert site.get("/readyz") == 200


def test_it_is_not_ready_while_the_database_is_away_and_comes_back_by_itself(postgres, site):
    with site:
        site.wait_until_ready()
        postgres.stop()
        try:
            assert site.get("/readyz") == 503
            assert site.get("/healthz") == 200
        finally:
            postgres.start()
        wait_for(lambda: site.get("/readyz") == 200, "it is ready again")
        ask(site, "Are you there?")
        site.end()


@pytest.mark.parametrize("command", ["prepare", "serve"])
def test_without_its_database_it_says_so_in_one_line_without_the_password(tmp_path, command):
    url = "postgresql://chat:sekret@127.0.0.1:1/nowhere"
    done = ServerProcess(tmp_path, DATABASE_URL=url).manage(command)
    assert done.returncode == 1
    assert "DATABASE_URL" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert "sekret" not in done.stderr


def test_what_sqlite_had_is_moved_by_dumpdata_and_loaddata(site, tmp_path):
    before, dump = ServerProcess(tmp_path, DATABASE_URL=""), repr(str(tmp_path / "chat.json"))
    out = f'call_command("dumpdata", *{LEFT_OUT}, "-o", {dump})'
    told = before.manage("shell", "-c", "\n".join([CALL, 'call_command("migrate", verbosity=0)', PERSON, SAY, out]))
    assert told.returncode == 0, told.stderr
    over = f'call_command("flush", "--no-input")\n{COUNT}\ncall_command("loaddata", {dump}, verbosity=0)'
    told = site.manage("shell", "-c", "\n".join([CALL, SAY, COUNT, over, SAY, COUNT]))
    assert told.returncode == 0, told.stderr
    assert [line for line in told.stdout.splitlines() if line.startswith("indexed")] == [
        "indexed 2",
        "indexed 0",  # flushed
        "indexed 4",  # and the ids go on after those that were moved
    ]
    texts = [("A tulip.",), ("Oh.",)]
    assert rows(site, "SELECT text FROM chat_message ORDER BY id") == texts + texts


def test_a_purge_waits_for_whoever_may_still_see_what_was_deleted(site):
    with psycopg.connect(site.database) as reader:
        reader.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        reader.execute("SELECT count(*) FROM accounts_user")
        run(site, "DELETE FROM chat_conversation")
        refused = site.manage("purge", "--wait", "0")
    assert refused.returncode == 1
    assert "kept reading" in refused.stderr
    assert site.manage("purge", "--wait", "0").returncode == 0
