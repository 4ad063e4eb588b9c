"""Administrators look after people and never raise anybody above themselves."""

import pytest
from django.contrib.auth.models import Group, Permission
from django.urls import reverse

from accounts.groups import administrators
from accounts.models import User
from accounts.tests.people import PASSWORD, administrator

PEOPLE = "/admin/accounts/user/"


@pytest.fixture
def adam(client, db):
    person = administrator()
    client.force_login(person)
    return person


def change(client, person, **fields):
    return client.post(f"{PEOPLE}{person.pk}/change/", {"username": person.username, "is_active": "on"} | fields)


def test_an_administrator_adds_and_deactivates_people(client, adam):
    new = {"username": "carol", "usable_password": "true", "password1": "a long phrase", "password2": "a long phrase"}
    assert client.post(f"{PEOPLE}add/", new).status_code == 302
    carol = User.objects.get(username="carol")
    assert carol.check_password("a long phrase")
    change(client, carol, is_active="")
    carol.refresh_from_db()
    assert not carol.is_active


def test_deactivation_and_passwords_go_through_save(client, owner, alice, monkeypatch):
    saved = []
    monkeypatch.setattr(User, "save", lambda user, **_: saved.append((user.username, user.is_active)))
    client.force_login(owner)
    saved.clear()
    change(client, alice, is_active="")
    new = {"usable_password": "true", "password1": "another long phrase", "password2": "another long phrase"}
    client.post(f"{PEOPLE}{alice.pk}/password/", new)
    assert [name for name, _ in saved] == ["alice", "alice"]
    assert saved[0] == ("alice", False)


def test_an_administrator_cannot_make_an_owner_of_himself_or_others(client, adam, alice):
    every = [str(pk) for pk in Permission.objects.values_list("pk", flat=True)]
    for person in (adam, alice):
        change(client, person, is_staff="on", is_superuser="on", user_permissions=every)
        person.refresh_from_db()
        assert not person.is_superuser
        assert not person.user_permissions.exists()


def test_an_administrator_gives_no_group_that_can_do_more_than_he(client, adam, alice):
    readers = Group.objects.create(name="Readers")
    readers.permissions.add(Permission.objects.get(codename="read_any_conversation"))
    answer = change(client, alice, groups=[str(readers.pk)])
    assert "not one of the available choices" in answer.content.decode()
    assert not alice.groups.exists()
    change(client, alice, groups=[str(administrators().pk)])
    assert alice.groups.get() == administrators()


@pytest.mark.parametrize("is_active", [True, False])
def test_an_administrator_does_not_touch_who_can_do_more(client, adam, owner, is_active):
    reader = administrator("rita", reads=True)
    for person in (owner, reader):
        User.objects.filter(pk=person.pk).update(is_active=is_active)
        assert change(client, person, is_active="on" if not is_active else "").status_code == 403
        person.refresh_from_db()
        assert person.is_active == is_active


def test_only_owners_set_passwords_and_delete_people(client, adam, alice, owner):
    for path in (f"{PEOPLE}{alice.pk}/password/", f"{PEOPLE}{alice.pk}/delete/"):
        assert client.get(path).status_code == 403
        assert client.post(path, {"post": "yes", "password1": PASSWORD, "password2": PASSWORD}).status_code == 403
    client.post(PEOPLE, {"action": "delete_selected", "_selected_action": [alice.pk], "post": "yes"})
    assert User.objects.filter(pk=alice.pk).exists()
    client.force_login(owner)
    assert client.get(f"{PEOPLE}{alice.pk}/password/").status_code == 200


def test_groups_are_changed_by_owners_alone(client, adam):
    adam.user_permissions.add(*Permission.objects.filter(content_type__model="group"))
    group = administrators()
    assert client.get(f"/admin/auth/group/{group.pk}/change/").status_code == 200
    reading = Permission.objects.get(codename="read_any_conversation")
    answer = client.post(f"/admin/auth/group/{group.pk}/change/", {"name": "x", "permissions": [reading.pk]})
    assert answer.status_code == 403
    assert client.post("/admin/auth/group/add/", {"name": "x"}).status_code == 403
    assert reading not in group.permissions.all()


def test_nobody_locks_himself_out(client, owner):
    client.force_login(owner)
    for lost in ("is_active", "is_staff", "is_superuser"):
        kept = {"is_active": "on", "is_staff": "on", "is_superuser": "on"} | {lost: ""}
        assert "take this from yourself" in change(client, owner, **kept).content.decode()
    assert client.post(f"{PEOPLE}{owner.pk}/delete/", {"post": "yes"}).status_code == 403
    owner.refresh_from_db()
    assert owner.is_superuser
    assert owner.is_active


def test_deleting_a_person_says_how_much_goes_but_not_what(client, owner, alice):
    conversation = alice.conversations.create(title="SECRET plans")
    conversation.messages.create(role="user", status="complete", text="SECRET words")
    client.force_login(owner)
    page = client.get(f"{PEOPLE}{alice.pk}/delete/").content.decode()
    assert "<li>1 conversation</li>" in page
    assert "<li>1 message</li>" in page
    assert "SECRET" not in page
    client.post(f"{PEOPLE}{alice.pk}/delete/", {"post": "yes"})
    assert not User.objects.filter(pk=alice.pk).exists()


def test_names_that_differ_in_case_only_are_refused(client, owner, alice, bob):
    client.force_login(owner)
    assert "already exists" in change(client, bob, username="ALICE").content.decode()


def test_the_address_cannot_ask_about_password_hashes(client, adam):
    assert client.get(PEOPLE, {"password__startswith": "md5"}).status_code == 400


def test_an_administrator_who_is_no_member_of_the_site_any_more_is_out(client, adam):
    adam.is_staff = False
    adam.save()
    assert client.get("/admin/", follow=True).status_code == 403


def test_the_panel_leads_back_to_the_chat(client, adam):
    page = client.get("/admin/").content.decode()
    assert f'href="{reverse("home")}"' in page
    assert "Team chat" in page
