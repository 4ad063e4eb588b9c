"""Tests of the measuring itself; nothing here needs a model."""
