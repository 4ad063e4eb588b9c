"""The group of administrators: who looks after people and may see, but not read, what they talk about."""

from django.contrib.auth.models import Group, Permission

# Reading another person's conversation (chat.read_any_conversation) is left out: it is given by hand.
_PERMISSIONS = (
    ("accounts", "view_user"),
    ("accounts", "add_user"),
    ("accounts", "change_user"),
    ("accounts", "view_invitation"),
    ("accounts", "add_invitation"),
    ("accounts", "delete_invitation"),
    ("accounts", "view_apikey"),
    ("accounts", "revoke_any_api_key"),
    ("chat", "view_conversation"),
    ("chat", "view_look"),
)


def administrators() -> Group:
    """The group with its permissions, made when it is first needed."""
    group, made = Group.objects.get_or_create(name="Administrators")
    if made:
        for app, codename in _PERMISSIONS:
            group.permissions.add(Permission.objects.get(content_type__app_label=app, codename=codename))
    return group
