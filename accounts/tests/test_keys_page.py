"""A person makes keys on a page of his own, sees each once, and revokes them there."""

import re
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from accounts.keys import ApiKey, authenticate

KEYS = "/account/keys/"


@pytest.fixture
def listed(client, alice):
    """Reads the page as Alice."""
    client.force_login(alice)

    def read():
        return client.get(KEYS).content.decode()

    return read


def make(client, name="Editor", last_day=""):
    return client.post(KEYS, {"name": name, "last_day": last_day})


def key_in(answer):
    return re.search(r'value="(chat_[\w-]{43})"', answer.content.decode())[1]


def revoke(client, key):
    return client.post(f"{KEYS}{key.pk}/revoke/")


def test_a_new_key_is_shown_once_and_works(client, alice, listed):
    answer = make(client)
    key = key_in(answer)
    assert authenticate(key, "10.0.0.1") == alice
    assert "no-store" in answer["Cache-Control"]
    assert key not in listed()
    assert key not in str(dict(client.session))
    assert key not in str(answer.cookies)


def test_the_list_tells_keys_apart_and_when_they_were_used(client, alice, listed):
    assert "You have no key yet." in listed()
    _, key = ApiKey.issue(alice, "Editor")
    text = listed()
    assert f"{key[:9]}…{key[-4:]}" in text
    assert "never used" in text
    authenticate(key, "10.0.0.1")
    assert "last used 0\xa0minutes ago" in listed()


def test_a_key_works_to_the_end_of_its_last_day(client, alice, listed):
    today = timezone.localdate()
    make(client, last_day=today.isoformat())
    end = ApiKey.objects.get().expires_at
    assert timezone.localtime(end).isoformat().startswith(f"{today + timedelta(days=1)}T00:00:00")


@pytest.mark.parametrize(
    ("form", "reason"),
    [
        ({"name": " "}, "This field is required."),
        ({"name": "x" * 101}, "at most 100 characters"),
        ({"name": "a\x00b"}, "Null characters"),
        ({"name": "Editor", "last_day": "2020-01-01"}, "That day is over."),
        ({"name": "Editor", "last_day": "9999-12-31"}, "more than ten years away"),
        ({"name": "Editor", "last_day": "soon"}, "Enter a valid date."),
    ],
)
def test_what_cannot_be_a_key_is_refused_with_a_reason(client, listed, form, reason):
    assert reason in client.post(KEYS, form).content.decode()
    assert not ApiKey.objects.exists()


def test_nobody_piles_up_keys(client, alice, listed):
    rows = [ApiKey.issue(alice, f"Key {n}")[0] for n in range(50)]
    assert "Revoke one" in make(client).content.decode()
    revoke(client, rows[0])
    assert key_in(make(client))


def test_revoking_asks_first_and_then_ends_the_key(client, alice, listed):
    row, _ = ApiKey.issue(alice, "Editor")
    assert "cannot be undone" in client.get(f"{KEYS}{row.pk}/revoke/").content.decode()
    assert ApiKey.objects.usable().exists()
    assert revoke(client, row)["Location"] == KEYS
    assert not ApiKey.objects.usable().exists()
    text = listed()
    assert "“Editor” is revoked." in text
    assert "Revoked on" in text


def test_an_expired_key_is_listed_as_such(alice, listed):
    ApiKey.issue(alice, "Editor", days=-1)
    assert "Expired on" in listed()


def test_others_keys_are_not_there(client, alice, bob, listed):
    row, _ = ApiKey.issue(bob, "Bob's key")
    assert "Bob" not in listed()
    assert revoke(client, row).status_code == 404
    assert ApiKey.objects.usable().filter(pk=row.pk).exists()


def test_names_are_text(client, listed):
    text = make(client, "<script>x</script>").content.decode()
    assert "&lt;script&gt;x" in text
    assert "<script>x" not in text


def test_forms_need_their_token(alice):
    client = Client(enforce_csrf_checks=True)
    client.force_login(alice)
    row, _ = ApiKey.issue(alice, "Editor")
    assert make(client).status_code == 403
    assert revoke(client, row).status_code == 403


def test_the_account_page_leads_there(client, listed):
    assert f'href="{KEYS}"' in client.get("/account/").content.decode()


def test_the_last_day_is_that_of_the_sites_time_zone(client, alice, listed, settings):
    settings.TIME_ZONE = "Pacific/Kiritimati"  # UTC+14
    day = timezone.localdate()
    answer = make(client, last_day=day.isoformat())
    assert "Pacific/Kiritimati" in answer.content.decode()
    assert ApiKey.objects.get().expires_at.hour == 10
