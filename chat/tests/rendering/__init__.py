"""Tests of chat.rendering."""
