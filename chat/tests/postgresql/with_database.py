"""A plugin of pytest: of the tests that are collected, those that use the database."""

from django.test import TransactionTestCase

_FIXTURES = {"db", "transactional_db"}


def pytest_collection_modifyitems(config, items):
    """Leave the others out."""
    chosen = [item for item in items if _uses_database(item)]
    config.hook.pytest_deselected(items=[item for item in items if not _uses_database(item)])
    items[:] = chosen


def _uses_database(item):
    in_class = getattr(item, "cls", None)
    return bool(
        item.get_closest_marker("django_db")
        or _FIXTURES.intersection(item.fixturenames)
        or (in_class and issubclass(in_class, TransactionTestCase))
    )
