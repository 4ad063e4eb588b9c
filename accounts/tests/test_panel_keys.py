"""Administrators see whose keys there are and revoke any of them, and never see a key."""

import importlib

import pytest
from django.apps import apps
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission

from accounts.groups import administrators
from accounts.keys import ApiKey, WrongKey, authenticate
from accounts.models import User
from accounts.tests.people import administrator

KEYS = "/admin/accounts/apikey/"


@pytest.fixture
def adam(client, db):
    person = administrator()
    client.force_login(person)
    return person


def revoke(client, *rows):
    form = {"action": "revoke", "_selected_action": [row.pk for row in rows]}
    return client.post(KEYS, form, follow=True)


def test_the_list_tells_whose_what_and_when(client, adam, alice, bob):
    row, key = ApiKey.issue(alice, "Editor")
    authenticate(key, "10.0.0.1")
    text = client.get(KEYS).content.decode()
    for told in ("Editor", "alice", row.shown, "Active"):
        assert told in text
    change = client.get(f"{KEYS}{row.pk}/change/").content.decode()
    for page in (text, change):
        assert key not in page
        assert row.key_hash not in page


def test_the_list_is_filtered_by_state(client, adam, alice):
    ApiKey.issue(alice, "Active")
    ApiKey.issue(alice, "Expired", days=-1)
    ApiKey.issue(alice, "Revoked")[0].revoke()
    for state in ("active", "expired", "revoked"):
        found = client.get(KEYS, {"state": state}).context["cl"].queryset
        assert [key.name for key in found] == [state.title()]
        assert found[0].state == state.title()


def test_a_key_of_a_deactivated_person_says_so(client, adam, alice):
    ApiKey.issue(alice, "Editor")
    User.objects.filter(pk=alice.pk).update(is_active=False)
    assert "Account deactivated" in client.get(KEYS).content.decode()


def test_an_administrator_revokes_any_key_at_once_and_that_is_kept(client, adam, owner, alice):
    rows, keys = zip(*(ApiKey.issue(person, "Editor") for person in (owner, alice)), strict=True)
    assert "2 keys revoked." in revoke(client, *rows).content.decode()
    for key in keys:
        with pytest.raises(WrongKey):
            authenticate(key, "10.0.0.1")
    assert LogEntry.objects.filter(user=adam, change_message="Revoked.").count() == 2
    assert "0 keys revoked." in revoke(client, *rows).content.decode()


def test_who_may_only_look_cannot_revoke(client, adam, alice):
    row, _ = ApiKey.issue(alice, "Editor")
    adam.groups.clear()
    adam.user_permissions.set(Permission.objects.filter(codename="view_apikey"))
    assert "Editor" in client.get(KEYS).content.decode()
    revoke(client, row)
    client.post(KEYS, {"action": "delete_selected", "_selected_action": [row.pk], "post": "yes"})
    assert ApiKey.objects.usable().filter(pk=row.pk).exists()


def test_the_address_cannot_ask_about_hashes(client, adam):
    for lookup in ("key_hash__startswith", "owner__password__startswith"):
        assert client.get(KEYS, {lookup: "a"}).status_code == 400


def test_with_a_person_the_keys_go(client, owner, alice):
    client.force_login(owner)
    ApiKey.issue(alice, "Editor")
    assert "API key" in client.get(f"/admin/accounts/user/{alice.pk}/delete/").content.decode()
    client.post(f"/admin/accounts/user/{alice.pk}/delete/", {"post": "yes"})
    assert not ApiKey.objects.exists()


def test_a_group_of_administrators_from_before_gets_the_rights(db):
    group = administrators()
    group.permissions.remove(*Permission.objects.filter(codename__in=["view_apikey", "revoke_any_api_key"]))
    Permission.objects.filter(codename="revoke_any_api_key").delete()
    importlib.import_module("accounts.migrations.0003_administrators_revoke_keys").give(apps, None)
    assert group.permissions.filter(codename__in=["view_apikey", "revoke_any_api_key"]).count() == 2
