"""Tests of the settings and their readers."""
