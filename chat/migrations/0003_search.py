"""The full-text index of messages, and what keeps deleted and forgotten words out of it.

Rows are put in by chat.memory.search, which makes windows of a text and spaces out scripts that have no spaces; SQL
alone cannot. Rows are taken out by triggers, so that nothing that deletes or changes a message can leave its words
behind. SQLite drops a table's triggers when a migration rebuilds the table: a later one that alters chat_message has to
run `make_triggers` again (chat/tests/memory/test_search_forgets.py tells).
"""

from typing import ClassVar

from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps

_TABLE = """
CREATE VIRTUAL TABLE chat_search USING fts5(
    conversation, text, marks, columnsize = 0,
    tokenize = "porter unicode61 remove_diacritics 2 categories 'L* N* Co Mc Mn'"
)
"""
# A message has the rowids from 4096 times its id on, one for each window of its text.
_TRIGGERS = {
    "chat_search_deleted": """
    CREATE TRIGGER IF NOT EXISTS chat_search_deleted AFTER DELETE ON chat_message BEGIN
        DELETE FROM chat_search WHERE rowid BETWEEN old.id * 4096 AND old.id * 4096 + 4095;
    END
    """,
    "chat_search_changed": """
    CREATE TRIGGER IF NOT EXISTS chat_search_changed AFTER UPDATE OF text ON chat_message
    WHEN old.status NOT IN ('queued', 'streaming') AND new.text <> old.text BEGIN
        DELETE FROM chat_search WHERE rowid BETWEEN old.id * 4096 AND old.id * 4096 + 4095;
        DELETE FROM chat_vector WHERE message_id = old.id;
    END
    """,
}


def make_table(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """The index, empty: a conversation's messages are put in before it is searched for the first time."""
    del apps
    if schema_editor.connection.vendor == "sqlite":
        schema_editor.execute(_TABLE)


def make_triggers(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """What takes rows out of the index, unless it is there."""
    del apps
    if schema_editor.connection.vendor == "sqlite":
        for statement in _TRIGGERS.values():
            schema_editor.execute(statement)


def _drop_table(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    del apps
    if schema_editor.connection.vendor == "sqlite":
        schema_editor.execute("DROP TABLE chat_search")


def _drop_triggers(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    del apps
    if schema_editor.connection.vendor == "sqlite":
        for name in _TRIGGERS:
            schema_editor.execute(f"DROP TRIGGER IF EXISTS {name}")


class Migration(migrations.Migration):
    """Does nothing in PostgreSQL, for which 0004 has an index."""

    dependencies: ClassVar = [("chat", "0002_remembering")]
    operations: ClassVar = [
        migrations.RunPython(make_table, _drop_table),
        migrations.RunPython(make_triggers, _drop_triggers),
    ]
