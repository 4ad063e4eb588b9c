"""A lock for what no row stands for, such as that there is no owner yet."""

from django.db import connection


def hold(name: str) -> None:
    """Until the transaction ends, nobody else holds this name. SQLite's transactions exclude each other anyway."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [name])
