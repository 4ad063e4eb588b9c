"""Tests against a real PostgreSQL: `python -m chat.tests.postgresql` runs pytest beside a server of its own."""
