"""People log in, log out, and look after their own name and password."""

from django.test import Client
from django.urls import reverse

from accounts.models import User

NEW = {
    "old_password": "correct horse battery",
    "new_password1": "a quite different phrase",
    "new_password2": "a quite different phrase",
}


def test_logging_in_leads_to_where_one_wanted_to_go_but_never_away(client, alice):
    form = {"username": "alice", "password": "correct horse battery"}
    assert client.post("/login/", form | {"next": "/account/"})["Location"] == "/account/"
    for elsewhere in ("https://evil.example/", "//evil.example/", "javascript:alert(1)"):
        client.logout()
        assert client.post("/login/", form | {"next": elsewhere})["Location"] == reverse("home")


def test_a_failed_login_does_not_tell_which_part_was_wrong(client, alice):
    texts = []
    for username in ("alice", "nobody"):
        answer = client.post("/login/", {"username": username, "password": "wrong"})
        texts.append(list(answer.context["form"].non_field_errors()))
    User.objects.filter(pk=alice.pk).update(is_active=False)
    answer = client.post("/login/", {"username": "alice", "password": "correct horse battery"})
    texts.append(list(answer.context["form"].non_field_errors()))
    assert texts[0]
    assert texts[0] == texts[1] == texts[2]


def test_logging_out_takes_a_post(client, alice):
    client.force_login(alice)
    assert client.get("/logout/").status_code == 405
    assert "_auth_user_id" in client.session
    assert client.post("/logout/")["Location"] == "/login/"
    assert "_auth_user_id" not in client.session


def test_forms_need_their_token(alice):
    client = Client(enforce_csrf_checks=True)
    client.force_login(alice)
    assert client.post("/logout/").status_code == 403
    assert client.post("/account/", {"first_name": "Mallory"}).status_code == 403


def test_a_new_password_keeps_this_session_and_ends_the_others(client, alice):
    other = Client()
    for browser in (client, other):
        browser.post("/login/", {"username": "alice", "password": "correct horse battery"})
    assert client.post("/account/", NEW).status_code == 302
    assert "no longer" in client.get("/account/").content.decode()
    assert other.get("/account/").status_code == 302
    alice.refresh_from_db()
    assert alice.check_password("a quite different phrase")


def test_a_wrong_old_or_a_weak_new_password_changes_nothing(client, alice):
    client.force_login(alice)
    assert "entered incorrectly" in client.post("/account/", NEW | {"old_password": "x"}).content.decode()
    weak = {"new_password1": "12345", "new_password2": "12345"}
    assert "too short" in client.post("/account/", NEW | weak).content.decode()
    alice.refresh_from_db()
    assert alice.check_password("correct horse battery")


def test_a_name_is_saved_and_nothing_else_is(client, alice):
    client.force_login(alice)
    client.post("/account/", {"first_name": "Ali", "last_name": "Ce", "is_superuser": "on", "username": "root"})
    alice.refresh_from_db()
    assert (alice.first_name, alice.username, alice.is_superuser) == ("Ali", "alice", False)


def test_a_deactivated_person_is_out_at_once(client, alice):
    client.force_login(alice)
    assert client.get("/account/").status_code == 200
    alice.is_active = False
    alice.save()
    assert client.get("/account/").status_code == 302
