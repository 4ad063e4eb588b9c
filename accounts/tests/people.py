"""Everybody who may come along, for tests of who may do what."""

from django.contrib.auth.models import Permission

from accounts.groups import administrators
from accounts.models import User

PASSWORD = "correct horse battery"


def administrator(name="adam", *, reads=False):
    """A member of the group of administrators; `reads` adds the right to read any conversation."""
    person = User.objects.create_user(name, password=PASSWORD, is_staff=True)
    person.groups.add(administrators())
    if reads:
        person.user_permissions.add(Permission.objects.get(codename="read_any_conversation"))
    return person
