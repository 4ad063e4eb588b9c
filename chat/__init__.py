"""Conversations with a local model, and the memory of them."""
