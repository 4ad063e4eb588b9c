"""Five wrong passwords of one person from one address in a quarter of an hour, then one has to wait."""

import asyncio
from datetime import timedelta

import pytest
from axes.models import AccessAttempt, AccessLog
from django.core import checks
from django.db.models import F
from django.test import AsyncClient, RequestFactory
from django.urls import reverse

from accounts.guessing import client_address

LOGIN = "/login/"


def attempt(client, username="alice", password="wrong", **extra):
    return client.post(LOGIN, {"username": username, "password": password}, **extra)


def test_after_five_failures_even_the_right_password_waits(client, alice):
    assert [attempt(client).status_code for _ in range(5)] == [200, 200, 200, 200, 429]
    answer = attempt(client, password="correct horse battery")
    assert answer.status_code == 429
    assert 890 < int(answer["Retry-After"]) <= 900
    assert "15 minutes" in answer.content.decode()
    assert "_auth_user_id" not in client.session


def test_trying_while_locked_out_does_not_lengthen_the_wait(client, alice):
    for _ in range(5):
        attempt(client)
    AccessAttempt.objects.update(attempt_time=F("attempt_time") - timedelta(minutes=10))
    assert 290 < int(attempt(client)["Retry-After"]) <= 300
    AccessAttempt.objects.update(attempt_time=F("attempt_time") - timedelta(minutes=5, seconds=1))
    assert attempt(client, password="correct horse battery").status_code == 302


def test_failures_from_several_browsers_add_up_and_the_wait_ends_with_the_oldest(client, alice):
    for _ in range(4):
        attempt(client, headers={"user-agent": "one"})
    AccessAttempt.objects.update(attempt_time=F("attempt_time") - timedelta(minutes=10))
    answer = attempt(client, headers={"user-agent": "two"})
    assert answer.status_code == 429
    assert 290 < int(answer["Retry-After"]) <= 300


def test_others_and_other_addresses_are_not_locked_out(client, alice, bob):
    for _ in range(6):
        attempt(client)
    assert attempt(client, "bob", "correct horse battery").status_code == 302
    client.logout()
    assert attempt(client, "alice", "correct horse battery", REMOTE_ADDR="10.1.1.1").status_code == 302


def test_unknown_people_are_locked_out_just_so(client, db):
    assert [attempt(client, "nobody").status_code for _ in range(5)] == [200, 200, 200, 200, 429]


def test_success_forgets_the_failures(client, alice):
    for _ in range(4):
        attempt(client)
    attempt(client, password="correct horse battery")
    client.logout()
    assert attempt(client).status_code == 200


def test_guessing_the_old_password_on_the_account_page_counts(client, alice):
    client.force_login(alice)
    form = {"old_password": "wrong", "new_password1": "a long enough phrase", "new_password2": "a long enough phrase"}
    answers = [client.post(reverse("account"), form).status_code for _ in range(5)]
    assert answers == [200, 200, 200, 200, 429]


def test_the_panel_has_no_login_of_its_own(client, owner):
    answer = client.post("/admin/login/", {"username": "olivia", "password": "correct horse battery"})
    assert answer.status_code == 302
    assert answer["Location"] == "/login/?next=/admin/"
    assert "_auth_user_id" not in client.session
    for _ in range(5):
        attempt(client, "olivia")
    assert attempt(client, "olivia", "correct horse battery").status_code == 429


@pytest.mark.django_db(transaction=True)
async def test_it_holds_under_asgi_with_tries_at_once(transactional_db):
    async def one():
        return await AsyncClient().post(LOGIN, {"username": "alice", "password": "wrong"})

    answers = [await one() for _ in range(4)] + await asyncio.gather(*[one() for _ in range(4)])
    assert [answer.status_code for answer in answers].count(429) == 4
    assert all("Retry-After" in answer.headers for answer in answers if answer.status_code == 429)


@pytest.mark.parametrize(
    ("proxies", "forwarded", "address"),
    [
        (0, "6.6.6.6", "10.0.0.1"),
        (1, "6.6.6.6", "6.6.6.6"),
        (1, "1.1.1.1, 6.6.6.6", "6.6.6.6"),
        (2, "1.1.1.1, 6.6.6.6, 10.0.0.2", "6.6.6.6"),
        (2, "6.6.6.6", "10.0.0.1"),
        (1, "", "10.0.0.1"),
        (1, "nonsense", "10.0.0.1"),
        (1, "2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
        (1, "::ffff:6.6.6.6", "6.6.6.6"),
    ],
)
def test_forwarded_addresses_are_believed_as_far_as_our_proxies_wrote_them(settings, proxies, forwarded, address):
    settings.TRUSTED_PROXIES = proxies
    request = RequestFactory().get("/", REMOTE_ADDR="10.0.0.1", HTTP_X_FORWARDED_FOR=forwarded)
    assert client_address(request) == address


def test_an_invented_forwarded_address_gives_no_more_tries(client, alice):
    answers = [attempt(client, headers={"x-forwarded-for": f"10.9.9.{n}"}).status_code for n in range(5)]
    assert answers[-1] == 429


def test_a_socket_without_address_is_counted_too(settings):
    assert client_address(RequestFactory().get("/", REMOTE_ADDR="")) is None


def test_logins_leave_no_log_of_who_came_from_where(client, alice):
    attempt(client, password="correct horse battery")
    assert not AccessLog.objects.exists()


def test_the_checks_are_silent():
    assert checks.run_checks() == []
