"""Which rights a person holds and may hand on: nobody raises himself or others above himself."""

from django.contrib.auth.models import Group, Permission
from django.db.models import Q, QuerySet

from accounts.models import User


def held_by(person: User) -> QuerySet[Permission]:
    """Everything that was granted to the person, even while the account is inactive."""
    if person.is_superuser:
        return Permission.objects.all()
    return Permission.objects.filter(Q(user=person) | Q(group__user=person)).distinct()


def may_change(editor: User, person: User) -> bool:
    """Owners may change everybody; others only those who can do no more than they."""
    if editor.is_superuser:
        return True
    return not person.is_superuser and not held_by(person).exclude(pk__in=held_by(editor)).exists()


def groups_to_give(editor: User) -> QuerySet[Group]:
    """The groups whose permissions the editor holds, every one."""
    return Group.objects.exclude(permissions__in=Permission.objects.exclude(pk__in=held_by(editor)))
