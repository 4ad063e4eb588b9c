"""Tests, one behaviour a file."""
