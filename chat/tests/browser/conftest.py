"""A real Chromium, and what it looks at: the pages with a socket that the test plays, or the whole site."""

import json
import os
from types import SimpleNamespace

import pytest
from django.conf import settings
from playwright.sync_api import expect, sync_playwright

from chat import runtime
from chat.models import Conversation
from chat.tests.server.process import ServerProcess

from .driving import PASSWORD, FakeSocket, Person

CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
_cookies = []  # of the first login to the site, which is slow on purpose
expect.set_options(timeout=20_000)
SCRIPT = {
    "name": "Scripted",
    "step_seconds": 0.02,
    "replies": [
        {"when": "^count", "say": " ".join(str(number) for number in range(1, 101)) + "."},
        {"when": "^code", "say": "Here:\n\n```python\nprint('hi')\n```\n\nThat is **all**."},
        {"when": "^nothing", "say": ""},
        {"when": "^break", "say": "It began", "error": "The model fell over."},
    ],
}


def pytest_collection_modifyitems(items):
    """Whatever uses a page here drives a browser."""
    for item in items:
        if "page" in getattr(item, "fixturenames", ()) and "tests/browser" in item.path.as_posix():
            item.add_marker(pytest.mark.browser)


# pytest-playwright keeps its browser, and with it a running event loop, for the whole session; tests with a loop of
# their own could not run after it. Here it lives as long as a module.


@pytest.fixture(scope="module")
def playwright():
    """Playwright's driver."""
    with sync_playwright() as driver:
        yield driver


@pytest.fixture(scope="module")
def browser(playwright):
    """Debian's Chromium."""
    browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
    yield browser
    browser.close()


@pytest.fixture(scope="module")
def browser_context_args():
    """As on a laptop."""
    return {"viewport": {"width": 1280, "height": 800}}


@pytest.fixture(scope="module", autouse=True)
def _database_beside_playwright():
    """Playwright's loop seems to run in this thread, but nothing asynchronous uses the database here."""
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"
    yield
    del os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"]


@pytest.fixture(scope="session", autouse=True)
def _static_directory():
    """The server of the tests outlives each of them, and WhiteNoise warns when this is missing as it starts."""
    settings.STATIC_ROOT.mkdir(parents=True, exist_ok=True)


@pytest.fixture
def page(page):
    """A page that fails the test if its scripts fail or break the site's rules for content."""
    complaints = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda line: "Content Security" in line.text and complaints.append(line.text))
    yield page
    assert complaints == []


# --- Pages with a socket that the test plays --------------------------------------------------------------------------


@pytest.fixture
def conversation(transactional_db, alice):
    """Alice's, with one question and its answer."""
    from .driving import say

    conversation = Conversation.begin(alice)
    say(conversation, "What is a leaf?", "A **green** part of a plant.")
    return conversation


@pytest.fixture
def socket(page, conversation):
    """The server's end of the conversation's socket."""
    return FakeSocket(page, conversation)


@pytest.fixture
def open_page(page, live_server, conversation, client, alice, monkeypatch):
    """Opens the conversation's page as Alice."""
    monkeypatch.setattr(runtime, "status", lambda: SimpleNamespace(ready=True, reason="", model="Scripted"))
    client.force_login(alice, backend="django.contrib.auth.backends.ModelBackend")
    page.context.add_cookies(
        [{"name": "sessionid", "value": client.cookies["sessionid"].value, "url": live_server.url}]
    )

    def opened(shown=conversation):
        page.goto(live_server.url + shown.get_absolute_url())
        return page

    return opened


# --- The whole site ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def live_site(tmp_path_factory):
    """The site in a process of its own, with a model that follows SCRIPT and one person, the owner."""
    directory = tmp_path_factory.mktemp("site")
    with scripted_site(directory) as site:
        yield site


@pytest.fixture
def person(page, live_site):
    """The owner, logged in, in a new conversation."""
    person = Person(page, live_site.url)
    if _cookies:
        page.context.add_cookies(_cookies)
        page.goto(live_site.url)
    else:
        person.log_in()
        _cookies.extend(page.context.cookies())
    return person.begin()


def scripted_site(directory):
    """A prepared site; entering it starts it."""
    script = directory / "script.json"
    script.write_text(json.dumps(SCRIPT))
    site = ServerProcess(
        directory,
        LLM_SCRIPT=str(script),
        LLM_AUTOSTART="1",
        LLM_MODEL_PATH=str(directory / "none.gguf"),
        EMBED_MODEL_PATH="off",
        CHAT_OWNER_USERNAME="olivia",
        CHAT_OWNER_PASSWORD=PASSWORD,
    )
    done = site.manage("prepare")
    assert done.returncode == 0, done.stderr
    return site
