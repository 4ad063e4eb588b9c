"""Invitations are made in the panel, shown once, and revoked by deleting them."""

import re

import pytest
from django.contrib.auth.models import Permission

from accounts.models import Invitation, User
from accounts.tests.people import administrator

INVITATIONS = "/admin/accounts/invitation/"


@pytest.fixture
def adam(client, db):
    person = administrator()
    client.force_login(person)
    return person


def invite(client, role="member", note="For Carol"):
    return client.post(f"{INVITATIONS}add/", {"role": role, "note": note})


def link_in(answer):
    return re.search(r'value="(http://testserver/(?:invitations|setup)/[\w-]+/)"', answer.content.decode())[1]


def test_the_link_is_shown_once_and_works(client, adam):
    answer = invite(client)
    assert "no-store" in answer["Cache-Control"]
    link = link_in(answer)
    invitation = Invitation.objects.get()
    assert invitation.created_by == adam
    token = link.split("/")[-2]
    for path in ("", f"{invitation.pk}/change/", f"{invitation.pk}/history/"):
        assert token not in client.get(INVITATIONS + path).content.decode()
    assert token not in str(dict(client.session))
    form = {"username": "carol", "password1": "a long enough phrase", "password2": "a long enough phrase"}
    client.post(link, form)
    assert User.objects.get(username="carol").invitation == invitation


def test_the_list_tells_what_became_of_each(client, adam):
    used, _ = Invitation.issue(note="used")
    used.accept(User(username="carol"))
    old, _ = Invitation.issue(note="old")
    Invitation.objects.filter(pk=old.pk).update(expires_at=old.created_at)
    Invitation.issue(note="open")
    page = client.get(INVITATIONS).content.decode()
    for told in ("Used by carol", "Expired", "Open until"):
        assert told in page
    for state in ("used", "expired", "open"):
        assert client.get(INVITATIONS, {"state": state}).context["cl"].result_count == 1


def test_deleting_revokes(client, adam):
    link = link_in(invite(client))
    invitation = Invitation.objects.get()
    assert client.post(f"{INVITATIONS}{invitation.pk}/delete/", {"post": "yes"}).status_code == 302
    assert client.get(link).status_code == 404


@pytest.mark.parametrize(("role", "status"), [("member", True), ("administrator", True), ("owner", False)])
def test_an_administrator_invites_nobody_above_himself(client, adam, role, status):
    invite(client, role)
    assert Invitation.objects.filter(role=role).exists() is status


def test_who_holds_less_than_the_administrators_invites_members_only(client, adam):
    adam.groups.clear()
    adam.user_permissions.set(Permission.objects.filter(codename__in=["add_invitation", "view_invitation"]))
    invite(client, "administrator")
    assert not Invitation.objects.exists()


def test_owners_invite_owners_and_administrators_do_not_see_it(client, adam, owner):
    client.force_login(owner)
    assert "/setup/" in link_in(invite(client, "owner"))
    invitation = Invitation.objects.get()
    client.force_login(adam)
    assert client.get(INVITATIONS).context["cl"].result_count == 0
    client.post(f"{INVITATIONS}{invitation.pk}/delete/", {"post": "yes"})
    client.post(INVITATIONS, {"action": "delete_selected", "_selected_action": [invitation.pk], "post": "yes"})
    assert Invitation.objects.usable().filter(pk=invitation.pk).exists()


def test_the_address_cannot_ask_about_hashes_of_tokens(client, adam):
    assert client.get(INVITATIONS, {"token_hash__startswith": "a"}).status_code == 400
