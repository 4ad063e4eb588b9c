"""NUL and half of a surrogate pair, which PostgreSQL cannot store, are refused or left out wherever text comes in."""

import json

import pytest
from django.test import Client

from accounts.models import ApiKey
from chat import sessions
from chat.models import Conversation

NUL, HALF = "\0", "\ud800"
NAMES = [
    *("q", "title", "text", "username", "name", "password", "first_name", "last_name", "reason", "note", "next"),
    *("current", "before", "kind", "last_day"),
]
FIELDS = dict.fromkeys(NAMES, "a\0b")


@pytest.fixture
def talk(owner):
    """With one finished turn."""
    here = Conversation.make(owner)
    here.post(parent=None, text="Hi.", client_id=here.pk).reply.finish("complete", text="Hello.")
    return here


@pytest.fixture
def browser(owner):
    """The owner's, who reaches everything."""
    client = Client(raise_request_exception=False)
    client.force_login(owner, backend="django.contrib.auth.backends.ModelBackend")
    return client


@pytest.mark.parametrize(
    "path",
    [
        *("/", "/login/", "/account/", "/account/facts/", "/account/keys/", "/conversations/", "/invitations/a%00b/"),
        *("/conversations/{pk}/", "/conversations/{pk}/rename/", "/conversations/{pk}/memory/", "/%00/"),
        *("/admin/accounts/user/", "/admin/accounts/user/add/", "/admin/accounts/user/%00/", "/admin/accounts/apikey/"),
        *("/admin/accounts/invitation/add/", "/admin/auth/group/add/", "/admin/login/"),
        *("/admin/chat/conversation/", "/admin/chat/conversation/{pk}/change/", "/admin/chat/look/"),
    ],
)
def test_pages_answer_without_an_error(browser, talk, path):
    path = path.format(pk=talk.pk)
    assert browser.get(path, FIELDS).status_code < 500
    assert browser.post(path, FIELDS).status_code < 500
    assert browser.post(path + "?next=%00&q=%00", FIELDS).status_code < 500


def test_a_cookie_with_them_is_no_session(db):
    cookie = r'sessionid="\000bcdefghijkl"'
    assert Client(raise_request_exception=False).get("/account/", headers={"cookie": cookie}).status_code == 302
    assert sessions.person_of(sessions.key_of({"headers": [(b"cookie", cookie.encode())]})) is None


def test_a_failed_login_with_them_is_a_failed_login(owner):
    stranger = Client(raise_request_exception=False)
    for query in ("", "?next=%00", "?a%00=b"):
        answer = stranger.post(
            "/login/" + query, {"username": "olivia", "password": "a\0b"}, headers={"user-agent": "a\0b"}
        )
        assert answer.status_code == 200


@pytest.mark.parametrize("bad", [NUL, HALF])
@pytest.mark.parametrize(
    ("method", "path"), [("post", ""), ("patch", "/{pk}"), ("post", "/{pk}/messages"), ("get", "?after=AGE")]
)
def test_programs_get_no_server_error(owner, talk, bad, method, path):
    _, key = ApiKey.issue(owner, "test")
    body = json.dumps({"title": f"a{bad}b", "text": f"a{bad}b"} if "messages" not in path else {"text": f"{bad}"})
    program = Client(raise_request_exception=False, headers={"Authorization": f"Bearer {key}"})
    path = "/v1/conversations" + path.format(pk=talk.pk)
    answer = getattr(program, method)(path, *([body] if method != "get" else []), content_type="application/json")
    assert answer.status_code < 500 or answer.json()["error"]["code"] == "model_unavailable", answer.content
