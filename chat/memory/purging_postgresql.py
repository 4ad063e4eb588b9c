"""PostgreSQL's files without what was deleted: dead rows vacuumed soon, tables and indexes written anew on demand.

Vacuuming takes deleted texts out of everybody's reach, but their bytes stay in the free room of a page until something
else is written there, and words stay in the index as keys without rows: VACUUM FULL alone removes those. It locks a
table while it copies it. The planner's statistics hold no samples of texts (migrations/0004_search_postgresql.py).
"""

from typing import Any

from django.db import OperationalError, connection

_TEXTS = ("chat_message", "chat_search", "chat_vector", "chat_summary", "chat_fact", "chat_conversation")
# Somebody whose view of the data is older than this transaction may still see what was deleted before it.
_OLDER_VIEWS = """
    SELECT EXISTS (
        SELECT FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'
        AND age(backend_xmin) > age(pg_current_xact_id()::xid)
    )
"""


def clean() -> bool:
    """Vacuum the tables that hold texts. False while somebody can still see what was deleted."""
    is_seen = _is_seen()
    with connection.cursor() as cursor:
        cursor.execute(f"VACUUM (INDEX_CLEANUP on) {', '.join(_TEXTS)}")
    return not is_seen


def rewrite() -> bool:
    """Write every table of ours anew with its indexes. False when somebody is in the way."""
    if _is_seen():
        return False
    tables = [*connection.introspection.django_table_names(only_existing=True), "chat_search"]
    try:
        with connection.cursor() as cursor:
            for table in tables:
                cursor.execute(f"VACUUM (FULL) {connection.ops.quote_name(table)}")
    except OperationalError as error:
        if _is_locked(error):
            return False
        raise
    return True


def size() -> int:
    """Bytes of the database on its server."""
    return int(_value("SELECT pg_database_size(current_database())"))


def done(before: int) -> str:
    """For people."""
    return (
        f"Wrote every table and index anew: {before:,} bytes, now {size():,}.\n"
        "The server's write-ahead log keeps what was written until it is recycled; replicas and archives have it too."
    )


def _is_seen() -> bool:
    return bool(_value(_OLDER_VIEWS))


def _value(statement: str) -> Any:
    with connection.cursor() as cursor:
        cursor.execute(statement)
        return cursor.fetchone()[0]


def _is_locked(error: OperationalError) -> bool:
    """Whether somebody held a lock for as long as we wait for one."""
    return getattr(error.__cause__, "sqlstate", None) == "55P03"
