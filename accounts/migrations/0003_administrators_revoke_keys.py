"""Gives the rights over API keys to a group of administrators that was made before there were any."""

from django.db import migrations

RIGHTS = {"view_apikey": "Can view API key", "revoke_any_api_key": "Can revoke anybody's API key"}


def give(apps, schema_editor):
    for group in apps.get_model("auth", "Group").objects.filter(name="Administrators"):
        kind, _ = apps.get_model("contenttypes", "ContentType").objects.get_or_create(app_label="accounts", model="apikey")
        for codename, name in RIGHTS.items():  # Django itself makes them only after all migrations.
            right, _ = apps.get_model("auth", "Permission").objects.get_or_create(
                content_type=kind, codename=codename, defaults={"name": name}
            )
            group.permissions.add(right)


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0002_api_keys"),
        ("auth", "0012_alter_user_first_name_max_length"),
        ("contenttypes", "0002_remove_content_type_name"),
    ]

    operations = [migrations.RunPython(give, migrations.RunPython.noop)]
