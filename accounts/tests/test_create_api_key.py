"""`manage.py create_api_key` prints a new key as its last word."""

from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from accounts.keys import ApiKey, authenticate


def create(*args):
    """Both outputs as a terminal shows them."""
    out = StringIO()
    call_command("create_api_key", *args, stdout=out, stderr=out)
    return out.getvalue()


def test_the_last_word_is_a_key_that_works(alice):
    output = create("alice", "--name", "My script")
    assert authenticate(output.split()[-1], "10.0.0.1") == alice
    assert "My script" in output
    row = ApiKey.objects.get()
    assert (row.name, row.expires_at) == ("My script", None)


def test_the_standard_output_is_the_key_alone(alice):
    out = StringIO()
    call_command("create_api_key", "alice", "--name", "Script", stdout=out, stderr=StringIO())
    assert authenticate(out.getvalue().removesuffix("\n"), "10.0.0.1") == alice


def test_a_key_may_have_an_end(alice):
    create("alice", "--name", "Script", "--days", "7")
    row = ApiKey.objects.get()
    assert abs(row.expires_at - row.created_at - timedelta(days=7)) < timedelta(seconds=5)


@pytest.mark.parametrize(
    ("args", "reason"),
    [
        (["carol", "--name", "Script"], "no person"),
        (["bob", "--name", "Script"], "deactivated"),
        (["alice", "--name", " "], "required"),
        (["alice", "--name", "x" * 101], "100 characters"),
        (["alice", "--name", "Script", "--days", "0"], "--days"),
        (["alice", "--name", "Script", "--days", "99999999"], "--days"),
        (["alice"], "--name"),
    ],
)
def test_what_cannot_be_done_is_refused_with_a_reason(alice, bob, args, reason):
    bob.is_active = False
    bob.save()
    with pytest.raises(CommandError, match=reason):
        create(*args)
    assert not ApiKey.objects.exists()
