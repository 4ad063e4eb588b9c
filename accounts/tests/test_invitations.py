"""A link makes one account, once, with the rights it was made for."""

from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from accounts.models import AlreadyAccepted, Invitation, User

GOOD = {"username": "carol", "password1": "a long enough phrase", "password2": "a long enough phrase"}


def link(role=Invitation.Role.MEMBER, name="accept_invitation"):
    invitation, token = Invitation.issue(role)
    return invitation, reverse(name, args=[token])


def test_a_link_makes_an_account_and_logs_its_person_in(client, db):
    invitation, url = link()
    assert client.get(url).status_code == 200
    answer = client.post(url, GOOD)
    assert answer.status_code == 302
    assert answer["Location"] == reverse("home")
    carol = User.objects.get(username="carol")
    assert client.session["_auth_user_id"] == str(carol.pk)
    assert carol.check_password("a long enough phrase")
    assert not carol.is_staff
    invitation.refresh_from_db()
    assert invitation.accepted_by == carol


def test_the_roles_give_their_rights(client, db):
    client.post(link(Invitation.Role.OWNER, "setup")[1], GOOD)
    client.post(link(Invitation.Role.ADMINISTRATOR)[1], GOOD | {"username": "dave"})
    carol, dave = User.objects.get(username="carol"), User.objects.get(username="dave")
    assert carol.is_superuser
    assert dave.is_staff
    assert not dave.is_superuser
    assert dave.has_perm("accounts.change_user")
    assert not dave.has_perm("chat.read_any_conversation")


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"password1": "12345678", "password2": "12345678"}, "too common"),
        ({"username": "caroline", "password1": "caroline1", "password2": "caroline1"}, "too similar"),
        ({"password2": "another long phrase"}, "match"),
        ({"username": "ALICE"}, "already exists"),
        ({"username": "<b>x</b>"}, "valid username"),
        ({"username": ""}, "required"),
    ],
)
def test_a_mistake_is_named_and_leaves_the_link_usable(client, alice, wrong, told):
    invitation, url = link()
    answer = client.post(url, GOOD | wrong)
    assert told in answer.content.decode()
    assert User.objects.count() == 1
    assert Invitation.objects.usable().filter(pk=invitation.pk).exists()


def test_unknown_used_and_old_links_look_alike(client, db):
    _, url_of_used = link()
    client.post(url_of_used, GOOD)
    client.logout()
    old, url_of_old = link()
    Invitation.objects.filter(pk=old.pk).update(expires_at=timezone.now() - timedelta(seconds=1))
    urls = [url_of_used, url_of_old, reverse("accept_invitation", args=["x" * 32]), reverse("setup", args=["x"])]
    for ask in (client.get, lambda url: client.post(url, GOOD | {"username": "eve"})):
        answers = [ask(url) for url in urls]
        assert {answer.status_code for answer in answers} == {404}
        assert len({answer.content for answer in answers}) == 1
    assert not User.objects.filter(username="eve").exists()


def test_only_the_quicker_of_two_gets_in(db):
    invitation, _ = Invitation.issue()
    second = Invitation.objects.get()
    invitation.accept(User(username="quick"))
    with pytest.raises(AlreadyAccepted):
        second.accept(User(username="slow"))
    assert [user.username for user in User.objects.all()] == ["quick"]


def test_a_name_taken_at_the_last_moment_leaves_the_link_usable(client, alice, monkeypatch):
    monkeypatch.setattr("accounts.forms.AcceptForm.clean_username", lambda form: form.cleaned_data["username"])
    monkeypatch.setattr("accounts.forms.AcceptForm.validate_unique", lambda form: None)
    _, url = link()
    assert "already exists" in client.post(url, GOOD | {"username": "alice"}).content.decode()
    assert Invitation.objects.usable().exists()


@pytest.mark.parametrize("change", [{"is_active": False}, {"is_staff": False}])
def test_links_of_a_sender_who_lost_his_post_are_dead(db, owner, change):
    invitation, token = Invitation.issue()
    Invitation.objects.update(created_by=owner)
    assert Invitation.objects.with_token(token).exists()
    User.objects.filter(pk=owner.pk).update(**change)
    assert not Invitation.objects.with_token(token).exists()
    with pytest.raises(AlreadyAccepted):
        invitation.accept(User(username="eve"))


def test_the_token_is_neither_stored_nor_cached_nor_sent_on(client, db):
    _, url = link()
    token = url.split("/")[-2]
    assert token not in str(list(Invitation.objects.values()))
    answer = client.get(url)
    assert "no-store" in answer["Cache-Control"]
    assert answer["Referrer-Policy"] == "same-origin"
    answer = client.post(url, GOOD)
    assert token not in str(dict(client.session))
