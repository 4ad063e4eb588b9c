"""Tests with real server processes on loopback."""
