"""A new site tells how to become its owner, an owned one is silent."""

import re

import pytest
from django.core.management import CommandError, call_command

from accounts.models import Invitation, User


def run(capsys, **options):
    call_command("ensure_owner", **options)
    return capsys.readouterr().out


def test_a_new_site_prints_a_link_that_works(db, client, capsys):
    said = run(capsys, address="http://127.0.0.1:8123/")
    path = re.search(r"http://127\.0\.0\.1:8123(/setup/[\w-]+/)\n", said)[1]
    client.post(
        path, {"username": "olivia", "password1": "correct horse battery", "password2": "correct horse battery"}
    )
    assert User.objects.get().is_superuser
    assert run(capsys) == ""


def test_a_new_start_replaces_the_link(db, client, capsys):
    first, second = (re.search(r"/setup/[\w-]+/", run(capsys))[0] for _ in range(2))
    assert Invitation.objects.count() == 1
    assert client.get(first).status_code == 404
    assert client.get(second).status_code == 200


@pytest.mark.parametrize(
    ("host", "origins", "address"),
    [
        ("0.0.0.0", [], "http://127.0.0.1:9000/"),
        ("10.0.0.5", [], "http://10.0.0.5:9000/"),
        ("::1", [], "http://[::1]:9000/"),
        ("0.0.0.0", ["https://chat.example.org"], "https://chat.example.org/"),
    ],
)
def test_the_link_leads_to_where_the_site_is(db, capsys, settings, host, origins, address):
    settings.HOST, settings.PORT, settings.ORIGINS = host, 9000, origins
    assert f"{address}setup/" in run(capsys)


def test_the_environment_makes_the_owner_without_a_person(db, capsys, settings):
    settings.OWNER_USERNAME, settings.OWNER_PASSWORD = "olivia", "correct horse battery"
    assert "/setup/" not in run(capsys)
    olivia = User.objects.get()
    assert olivia.is_superuser
    assert olivia.check_password("correct horse battery")
    assert run(capsys) == ""
    assert not Invitation.objects.exists()


@pytest.mark.parametrize(
    ("username", "password", "told"),
    [
        ("olivia", "12345", "CHAT_OWNER_PASSWORD cannot be used: This password is too short"),
        ("oli via", "correct horse battery", "CHAT_OWNER_USERNAME cannot be used"),
        ("alice", "correct horse battery", "already exists"),
        ("olivia", "", "both"),
        ("", "correct horse battery", "both"),
    ],
)
def test_what_is_wrong_is_said_loudly_without_the_password(alice, settings, username, password, told):
    settings.OWNER_USERNAME, settings.OWNER_PASSWORD = username, password
    with pytest.raises(CommandError, match=told) as error:
        call_command("ensure_owner")
    assert "correct horse" not in str(error.value)
    assert User.objects.count() == 1


def test_invite_prints_a_link_for_the_role_that_was_asked(db, client, capsys):
    call_command("invite", "--administrator", "--note", "Dave", "--address", "https://chat.example.org")
    url = capsys.readouterr().out.strip()
    assert url.startswith("https://chat.example.org/invitations/")
    assert client.get(url.removeprefix("https://chat.example.org")).status_code == 200
    assert Invitation.objects.get().role == Invitation.Role.ADMINISTRATOR
    assert str(Invitation.objects.get()) == "Dave"
