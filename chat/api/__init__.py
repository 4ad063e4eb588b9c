"""The HTTP API for programs: OpenAI's interface, a plain one, and conversations with memory (docs/api.md)."""
