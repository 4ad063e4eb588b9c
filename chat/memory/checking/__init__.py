"""Measures the memory: seeded conversations, our system and worse ones, and the values that they must reach."""
