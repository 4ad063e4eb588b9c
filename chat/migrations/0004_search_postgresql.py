"""The full-text index of messages in PostgreSQL; 0003 has SQLite's.

Rows are put in by chat.memory.search_postgresql, which cuts and spaces the words; here is what stems them. Rows are taken
out by triggers, so that nothing that deletes or changes a message can leave its words behind.
"""

from typing import ClassVar

from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps

# Porter's stemmer, which SQLite's FTS5 has as well. It has no stop words unless it is given some.
_MAKE = """
CREATE TEXT SEARCH DICTIONARY chat_porter (TEMPLATE = snowball, LANGUAGE = porter);

-- No foreign key: Django's flush could not empty chat_message then. The triggers do as much.
CREATE TABLE chat_search (
    message_id bigint NOT NULL, number smallint NOT NULL, words tsvector NOT NULL, PRIMARY KEY (message_id, number)
);
-- Without a pending list, in which words would wait beside the index.
CREATE INDEX chat_search_words ON chat_search USING gin (words) WITH (fastupdate = off);

CREATE FUNCTION chat_search_remove() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF tg_op = 'TRUNCATE' THEN
        TRUNCATE chat_search;
    ELSE
        DELETE FROM chat_search WHERE message_id = old.id;
    END IF;
    IF tg_op = 'UPDATE' THEN
        DELETE FROM chat_vector WHERE message_id = old.id;
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER chat_search_deleted AFTER DELETE ON chat_message
    FOR EACH ROW EXECUTE FUNCTION chat_search_remove();
CREATE TRIGGER chat_search_changed AFTER UPDATE OF text ON chat_message
    FOR EACH ROW WHEN (old.status NOT IN ('queued', 'streaming') AND new.text <> old.text)
    EXECUTE FUNCTION chat_search_remove();
CREATE TRIGGER chat_search_truncated AFTER TRUNCATE ON chat_message
    FOR EACH STATEMENT EXECUTE FUNCTION chat_search_remove();
"""
# The planner's statistics keep samples of what stands in a column. Of texts they must not.
_UNSAMPLED = {
    "chat_conversation": ("title",),
    "chat_message": ("text", "reasoning", "error", "token_ids"),
    "chat_summary": ("text",),
    "chat_vector": ("values",),
    "chat_fact": ("text",),
    "chat_search": ("words",),
}
_DROP = """
DROP TRIGGER chat_search_deleted ON chat_message;
DROP TRIGGER chat_search_changed ON chat_message;
DROP TRIGGER chat_search_truncated ON chat_message;
DROP FUNCTION chat_search_remove;
DROP TABLE chat_search;
DROP TEXT SEARCH DICTIONARY chat_porter;
"""


def make(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """The index, empty: a conversation's messages are put in before it is searched for the first time."""
    del apps
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(_MAKE, params=None)
        for table, columns in _UNSAMPLED.items():
            for column in columns:
                schema_editor.execute(f'ALTER TABLE {table} ALTER COLUMN "{column}" SET STATISTICS 0')


def _drop(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    del apps
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(_DROP, params=None)


class Migration(migrations.Migration):
    """Does nothing in SQLite."""

    dependencies: ClassVar = [("chat", "0003_search")]
    operations: ClassVar = [migrations.RunPython(make, _drop)]
